// SPDX-License-Identifier: BSD-3-Clause
#include "control/checkpoint_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file_descriptor.hpp"
#include "base/files.hpp"
#include "base/status.hpp"
#include "hdf5_lazy.hpp"

namespace control {
namespace {

using base::Error;
using base::Status;

constexpr const char* format_name = "dyngrid checkpoint";
constexpr int format_version = 1;

/// HDF5's own printing of errors is off while one of these lives: the text goes into our status. The user's setting
/// comes back afterwards.
class Quiet {
public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  std::string text;
  const auto keep_first = [](unsigned n, const H5E_error2_t* error, void* kept) -> herr_t { // where it went wrong
    if (n == 0 && error->desc) *static_cast<std::string*>(kept) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  throw Error(Status::io_failure, "blacs-dyn: checkpoint {}: {}{}{}", path, what, text.empty() ? "" : ": ", text);
}

/// HDF5 locks a file that it opens, and fails where the file system has no locks, such as some NFS and Lustre.
/// kind: NFS gives LOCK_SH of a file that can be read, LOCK_EX of one that can be written.
void leave_out_locks(int fd, int kind, hid_t access) {
  if (flock(fd, kind | LOCK_NB) == 0) {
    flock(fd, LOCK_UN); // a fork may still have the descriptor
    return;
  }
  if (errno == EWOULDBLOCK || errno == EINTR) return;
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  H5Pset_file_locking(access, false, true); // HDF5_USE_FILE_LOCKING counts more
#else
  (void)access;
#endif
}

/// Owner of one HDF5 identifier.
class Id {
public:
  Id() = default;
  Id(hid_t id, herr_t (*close)(hid_t), const std::string& path, const char* what) : id_(id), close_(close) {
    if (id < 0) fail(path, std::string("HDF5 cannot ") + what);
  }
  Id(Id&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Id& operator=(Id&& other) noexcept {
    if (this != &other) {
      reset();
      std::swap(id_, other.id_);
      close_ = other.close_;
    }
    return *this;
  }
  ~Id() { reset(); }
  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// Negative when closing failed, which is where HDF5 reports a full disk.
  herr_t reset() {
    const herr_t result = id_ >= 0 ? close_(id_) : 0;
    id_ = -1;
    return result;
  }

private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

Id complex_type(hid_t part, std::size_t bytes, const std::string& path) {
  Id type(H5Tcreate(H5T_COMPOUND, 2 * bytes), H5Tclose, path, "make a complex type");
  // the names that h5py and Julia know
  if (H5Tinsert(type.get(), "r", 0, part) < 0 || H5Tinsert(type.get(), "i", bytes, part) < 0)
    fail(path, "HDF5 cannot make a complex type");
  return type;
}

Id element_type(char type, const std::string& path) {
  const auto copy = [&](hid_t id) { return Id(H5Tcopy(id), H5Tclose, path, "copy a type"); };
  switch (type) {
  case 's':
    return copy(H5T_NATIVE_FLOAT);
  case 'd':
    return copy(H5T_NATIVE_DOUBLE);
  case 'c':
    return complex_type(H5T_NATIVE_FLOAT, sizeof(float), path);
  case 'z':
    return complex_type(H5T_NATIVE_DOUBLE, sizeof(double), path);
  case 'i':
    return copy(H5T_NATIVE_INT32);
  default:
    throw Error(Status::io_failure, "blacs-dyn: checkpoint {}: a matrix of type '{}', expected s, d, c, z or i", path,
                type);
  }
}

void put_number(hid_t at, const char* name, std::int64_t value, const std::string& path) {
  const Id space(H5Screate(H5S_SCALAR), H5Sclose, path, "make an attribute");
  const Id attribute(H5Acreate2(at, name, H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, path,
                     "make an attribute");
  if (H5Awrite(attribute.get(), H5T_NATIVE_INT64, &value) < 0) fail(path, "HDF5 cannot write an attribute");
}

void put_text(hid_t at, const char* name, const std::string& value, const std::string& path) {
  const Id type(H5Tcopy(H5T_C_S1), H5Tclose, path, "make a text type");
  H5Tset_size(type.get(), value.size() + 1);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  const Id space(H5Screate(H5S_SCALAR), H5Sclose, path, "make an attribute");
  const Id attribute(H5Acreate2(at, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, path,
                     "make an attribute");
  if (H5Awrite(attribute.get(), type.get(), value.c_str()) < 0) fail(path, "HDF5 cannot write an attribute");
}

std::int64_t get_number(hid_t at, const char* name, const std::string& path) {
  const Id attribute(H5Aopen(at, name, H5P_DEFAULT), H5Aclose, path, (std::string("find attribute ") + name).c_str());
  std::int64_t value = 0;
  if (H5Aread(attribute.get(), H5T_NATIVE_INT64, &value) < 0)
    fail(path, std::string("HDF5 cannot read attribute ") + name);
  return value;
}

std::string get_text(hid_t at, const char* name, const std::string& path) {
  const Id attribute(H5Aopen(at, name, H5P_DEFAULT), H5Aclose, path, (std::string("find attribute ") + name).c_str());
  const Id type(H5Aget_type(attribute.get()), H5Tclose, path, "read the type of an attribute");
  const Id space(H5Aget_space(attribute.get()), H5Sclose, path, "read the shape of an attribute");
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0 ||
      H5Sget_simple_extent_npoints(space.get()) != 1)
    fail(path, std::string("attribute ") + name + " is not a text");
  std::vector<char> text(H5Tget_size(type.get()) + 1, '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0)
    fail(path, std::string("HDF5 cannot read attribute ") + name);
  return text.data();
}

/// The name of a link cannot be "." or contain '/'.
std::string link_of(const std::string& name) {
  std::string link;
  for (const char c : name) {
    if (c == '/' || c == '%' || c == '.')
      link += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      link += c;
  }
  return link;
}

/// A dataset in checksummed chunks; an empty one is only a name.
Id make_dataset(hid_t group, const std::string& name, hid_t type, const std::vector<hsize_t>& shape,
                const std::vector<hsize_t>& chunk, const std::string& path) {
  const bool is_empty = std::find(shape.begin(), shape.end(), hsize_t{0}) != shape.end();
  const Id space(is_empty ? H5Screate(H5S_NULL)
                          : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                 H5Sclose, path, "make a shape");
  const Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, path, "make a property list");
  if (!is_empty && (H5Pset_chunk(how.get(), static_cast<int>(chunk.size()), chunk.data()) < 0 ||
                    H5Pset_fletcher32(how.get()) < 0 || H5Pset_fill_time(how.get(), H5D_FILL_TIME_NEVER) < 0))
    fail(path, "HDF5 cannot set chunks");
  return {H5Dcreate2(group, link_of(name).c_str(), type, space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT), H5Dclose,
          path, (std::string("make dataset ") + name).c_str()};
}

/// Everything written to a file or a folder so far is on the disk when this returns. @throws Error{io_failure}
void make_durable(const std::string& name, const std::string& path) {
  const base::FileDescriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  const int failed = !file || fsync(file.get()) != 0 ? errno : 0;
  // some file systems have no fsync for a folder; the rename is as safe there as they make it
  if (failed && failed != EINVAL && failed != ENOTSUP)
    throw Error(Status::io_failure, "blacs-dyn: checkpoint {}: cannot sync {}: {}", path, name, std::strerror(failed));
}

Id open_checkpoint(const std::string& path); ///< the file, of dyngrid, of this format, finished

/// Two pools of a program that were given one path: each would replace what the other has written.
void refuse_file_of_other_pool(const std::string& path, const std::string& pool) {
  if (pool.empty()) return;
  std::string writer;
  try {
    const Id file = open_checkpoint(path);
    if (H5Aexists(file.get(), "pool") > 0) writer = get_text(file.get(), "pool", path);
  } catch (const Error&) { // there is no whole checkpoint
  }
  if (!writer.empty() && writer != pool)
    throw Error(Status::bad_argument,
                "blacs-dyn: checkpoint {}: pool \"{}\" has written it, expected a path of pool \"{}\" alone; remove "
                "the file where it is not needed",
                path, writer, pool);
}

} // namespace

// ---- writing

struct CheckpointWriter::File {
  std::string pool;
  std::string path, partial;
  dev_t device = 0; ///< of the partial file, which another program may replace by its own
  ino_t inode = 0;  ///< 0: not made yet
  Id file, matrices, dataset, type;
  bool is_committed = false;

  ~File();
  void begin(hid_t access);
  void finish(const Id& of);
  [[noreturn]] void give_up(const std::string& what);
  void discard() noexcept;
  bool is_ours() const {
    struct stat now {};
    return lstat(partial.c_str(), &now) == 0 && now.st_dev == device && now.st_ino == inode;
  }
};

/// Also where the constructor of the writer throws, before begin() perhaps because there is no HDF5.
CheckpointWriter::File::~File() {
  if (is_committed || inode == 0) return;
  const Quiet quiet;
  if (file && H5Fflush(file.get(), H5F_SCOPE_LOCAL) < 0) discard();
  dataset.reset();
  type.reset();
  matrices.reset();
  file.reset();
  if (is_ours()) unlink(partial.c_str());
}

/// HDF5 keeps up to 1 MiB of a dataset, and a close that cannot write that loses it. @throws Error{io_failure}
void CheckpointWriter::File::finish(const Id& of) {
  if (of && H5Dflush(of.get()) < 0) give_up("HDF5 cannot write a dataset (is the disk full?)");
}

/// Before anything is closed. @throws Error{io_failure}
void CheckpointWriter::File::give_up(const std::string& what) {
  try {
    fail(path, what);
  } catch (const Error&) {
    discard();
    throw;
  }
}

/// What HDF5 has still to write goes nowhere: a close that fails frees an object and keeps its identifier, and the
/// process ends by SIGSEGV at its exit (h5py issue 914, HDF5 1.10).
void CheckpointWriter::File::discard() noexcept {
  void* descriptor = nullptr; // the address of HDF5's own
  if (H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &descriptor) < 0 || descriptor == nullptr) return;
  try {
    const base::FileDescriptor nowhere = base::memory_file("dyngrid");
    dup3(nowhere.get(), *static_cast<int*>(descriptor), O_CLOEXEC);
  } catch (const Error&) { // there is nothing to write to
  }
}

void CheckpointWriter::File::begin(hid_t access) {
  const base::FileDescriptor made = base::new_file(partial, 0666); // HDF5 would follow a link, and says less of errors
  struct stat info {};
  if (!made || fstat(made.get(), &info) != 0)
    throw Error(Status::io_failure, "blacs-dyn: checkpoint {}: cannot write {}: {}", path, partial,
                std::strerror(errno));
  device = info.st_dev;
  inode = info.st_ino;
  leave_out_locks(made.get(), LOCK_EX, access);
}

CheckpointWriter::CheckpointWriter(std::string path) : file_(std::make_unique<File>()) {
  const Quiet quiet;
  File& f = *file_;
  f.path = std::move(path);
  f.partial = f.path + ".writing";
  struct stat info {};
  if (stat(f.path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    throw Error(Status::io_failure, "blacs-dyn: checkpoint {}: there is something of that name that is not a file",
                f.path);
  const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, f.path, "make a property list");
  // the newest format has checksums on everything HDF5 writes of its own; strong: closing the file closes all that is
  // open in it
  if (H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_LATEST) < 0 ||
      H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) < 0)
    fail(f.path, "HDF5 cannot set the file format");
  f.begin(access.get());
  f.file = Id(H5Fcreate(f.partial.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose, f.path, "create it");
  f.matrices =
      Id(H5Gcreate2(f.file.get(), "matrices", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, f.path, "make a group");
}

CheckpointWriter::CheckpointWriter(CheckpointWriter&&) noexcept = default;

CheckpointWriter::~CheckpointWriter() = default;

void CheckpointWriter::describe(const SavedState& state) {
  const Quiet quiet;
  file_->pool = state.pool;
  refuse_file_of_other_pool(file_->path, state.pool);
  const std::string& path = file_->path;
  const hid_t root = file_->file.get();
  put_text(root, "format", format_name, path);
  put_number(root, "format_version", format_version, path);
  put_text(root, "dyngrid_version", state.dyngrid_version, path);
  put_text(root, "written", state.written, path);
  put_number(root, "resize_points", state.resize_points, path);
  put_number(root, "nprow", state.nprow, path);
  put_number(root, "npcol", state.npcol, path);
  put_number(root, "started", state.started, path);
  if (!state.pool.empty()) put_text(root, "pool", state.pool, path);
  if (!state.speeds.empty()) put_text(root, "speeds", fmt::format("{}", fmt::join(state.speeds, " ")), path);
  put_text(root, "folder", state.folder, path);
  put_number(root, "matrices", static_cast<std::int64_t>(state.matrices.size()), path);
  put_number(root, "shared", static_cast<std::int64_t>(state.shared.size()), path);

  const auto put_bytes = [&](hid_t group, const std::string& name, const void* content, hsize_t size) {
    Id data = make_dataset(group, name, H5T_STD_U8LE, {size}, {std::min<hsize_t>(size, 1 << 20)}, path);
    put_text(data.get(), "name", name, path);
    if (size > 0 && H5Dwrite(data.get(), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, content) < 0)
      file_->give_up("HDF5 cannot write \"" + name + "\"");
    file_->finish(data);
  };
  std::vector<char> words;
  for (const std::string& word : state.command) {
    words.insert(words.end(), word.begin(), word.end());
    words.push_back('\0');
  }
  put_bytes(root, "command", words.data(), words.size());
  const Id group(H5Gcreate2(root, "shared", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, path, "make a group");
  for (const SavedShared& s : state.shared) put_bytes(group.get(), s.name, s.data, static_cast<hsize_t>(s.bytes));
}

void CheckpointWriter::begin_matrix(const SavedMatrix& a, const Slab& first) {
  const Quiet quiet;
  File& f = *file_;
  f.finish(f.dataset);
  f.dataset.reset();
  f.type = element_type(a.type, f.path);
  // column-major, so the axes stand in the file the other way round
  f.dataset =
      make_dataset(f.matrices.get(), a.name, f.type.get(), {static_cast<hsize_t>(a.n), static_cast<hsize_t>(a.m)},
                   {static_cast<hsize_t>(first.cols), static_cast<hsize_t>(first.rows)}, f.path);
  const hid_t at = f.dataset.get();
  put_text(at, "name", a.name, f.path);
  put_text(at, "type", std::string(1, a.type), f.path);
  put_text(at, "order", "column-major: element (i, j) is [j][i]", f.path);
  put_number(at, "m", a.m, f.path);
  put_number(at, "n", a.n, f.path);
  put_number(at, "mb", a.mb, f.path);
  put_number(at, "nb", a.nb, f.path);
  put_number(at, "shape", a.shape, f.path);
  put_number(at, "nprow_at_most", a.nprow, f.path);
  put_number(at, "npcol_at_most", a.npcol, f.path);
  if (a.order != 0) put_number(at, "by_speed", a.order, f.path);
  if (a.field.empty()) return;
  put_number(at, "dims", static_cast<std::int64_t>(a.field.size()), f.path);
  for (std::size_t d = 0; d < a.field.size(); ++d) {
    put_number(at, fmt::format("extent_{}", d).c_str(), a.field[d].extent, f.path);
    put_number(at, fmt::format("block_{}", d).c_str(), a.field[d].block, f.path);
    put_number(at, fmt::format("process_dim_{}", d).c_str(), a.field[d].parts, f.path);
  }
}

namespace {
/// Reads or writes one slab of a dataset.
template <class Action> void with_slab(hid_t dataset, const Slab& slab, const std::string& path, Action&& action) {
  const hsize_t start[] = {static_cast<hsize_t>(slab.j), static_cast<hsize_t>(slab.i)};
  const hsize_t count[] = {static_cast<hsize_t>(slab.cols), static_cast<hsize_t>(slab.rows)};
  const Id in_file(H5Dget_space(dataset), H5Sclose, path, "read a shape");
  const Id in_memory(H5Screate_simple(2, count, nullptr), H5Sclose, path, "make a shape");
  if (H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start, nullptr, count, nullptr) < 0)
    fail(path, "HDF5 cannot select a part of a matrix");
  action(in_memory.get(), in_file.get());
}
} // namespace

void CheckpointWriter::write(const Slab& slab, const void* column_major) {
  const Quiet quiet;
  File& f = *file_;
  with_slab(f.dataset.get(), slab, f.path, [&](hid_t memory, hid_t file) {
    if (H5Dwrite(f.dataset.get(), f.type.get(), memory, file, H5P_DEFAULT, column_major) < 0)
      fail(f.path, "HDF5 cannot write a part of a matrix");
  });
}

void CheckpointWriter::commit() {
  const Quiet quiet;
  File& f = *file_;
  put_number(f.file.get(), "complete", 1, f.path);
  if (H5Fflush(f.file.get(), H5F_SCOPE_LOCAL) < 0) f.give_up("HDF5 cannot write it (is the disk full?)");
  if (f.dataset.reset() < 0 || f.matrices.reset() < 0 || f.file.reset() < 0)
    fail(f.path, "HDF5 cannot close it (is the disk full?)");
  make_durable(f.partial, f.path);
  refuse_file_of_other_pool(f.path, f.pool); // it may have come since
  if (!f.is_ours())
    throw Error(Status::io_failure,
                "blacs-dyn: checkpoint {}: another program has replaced {} meanwhile, expected one writer at a time; "
                "give each program a path of its own",
                f.path, f.partial);
  if (std::rename(f.partial.c_str(), f.path.c_str()) != 0)
    throw Error(Status::io_failure, "blacs-dyn: checkpoint {}: cannot rename {} to it: {}", f.path, f.partial,
                std::strerror(errno));
  f.is_committed = true;
  make_durable(base::folder_of(f.path), f.path);
}

// ---- reading

struct CheckpointReader::File {
  std::string path;
  Id file;
  std::vector<Id> shared, datasets, types;
};

namespace {

Id open_checkpoint(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0)
    throw Error(errno == ENOENT || errno == ENOTDIR ? Status::not_found : Status::io_failure,
                "blacs-dyn: checkpoint {}: {}", path, std::strerror(errno));
  const base::FileDescriptor readable(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!readable) throw Error(Status::io_failure, "blacs-dyn: checkpoint {}: {}", path, std::strerror(errno));
  const Id how(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, path, "make a property list");
  H5Pset_fclose_degree(how.get(), H5F_CLOSE_STRONG);
  leave_out_locks(readable.get(), LOCK_SH, how.get());
  Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, how.get()), H5Fclose, path,
          "open it; it is not a checkpoint, or not a whole one");
  const hid_t root = file.get();
  if (H5Aexists(root, "format") <= 0 || get_text(root, "format", path) != format_name)
    fail(path, "this HDF5 file is not a checkpoint of dyngrid");
  const std::int64_t version = get_number(root, "format_version", path);
  if (version != format_version)
    throw Error(Status::io_failure, "blacs-dyn: checkpoint {}: format {} of dyngrid {}, this dyngrid reads {}", path,
                version, get_text(root, "dyngrid_version", path), format_version);
  if (H5Aexists(root, "complete") <= 0) fail(path, "it was never finished");
  return file;
}

std::int64_t count_bytes(hid_t data, const std::string& path) {
  const Id space(H5Dget_space(data), H5Sclose, path, "read a shape");
  const hssize_t size =
      H5Sget_simple_extent_type(space.get()) == H5S_NULL ? 0 : H5Sget_simple_extent_npoints(space.get());
  if (size < 0) fail(path, "HDF5 cannot read a shape");
  return size;
}

void get_bytes(hid_t data, std::int64_t bytes, void* to, const std::string& path) {
  if (bytes > 0 && H5Dread(data, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) < 0)
    fail(path, "HDF5 cannot read shared state");
}

/// All that is neither shared state nor a matrix.
void get_application(hid_t root, const std::string& path, SavedState& state) {
  state.dyngrid_version = get_text(root, "dyngrid_version", path);
  state.written = get_text(root, "written", path);
  state.resize_points = get_number(root, "resize_points", path);
  state.nprow = static_cast<int>(get_number(root, "nprow", path));
  state.npcol = static_cast<int>(get_number(root, "npcol", path));
  state.started = static_cast<int>(get_number(root, "started", path));
  if (H5Aexists(root, "pool") > 0) state.pool = get_text(root, "pool", path);
  state.folder = get_text(root, "folder", path);
  if (H5Aexists(root, "speeds") > 0) {
    std::istringstream words(get_text(root, "speeds", path));
    for (double speed = 0; words >> speed;) state.speeds.push_back(speed);
  }
  const Id command(H5Dopen2(root, "command", H5P_DEFAULT), H5Dclose, path, "find the command");
  std::vector<char> words(static_cast<std::size_t>(count_bytes(command.get(), path)));
  get_bytes(command.get(), static_cast<std::int64_t>(words.size()), words.data(), path);
  for (std::size_t at = 0; at < words.size();) {
    state.command.emplace_back(words.data() + at, strnlen(words.data() + at, words.size() - at));
    at += state.command.back().size() + 1;
  }
}

/// The datasets of a group, which must be as many as the file says.
std::vector<Id> datasets_of(hid_t root, const char* group_name, const std::string& path) {
  const Id group(H5Gopen2(root, group_name, H5P_DEFAULT), H5Gclose, path, "find a group");
  H5G_info_t what{};
  if (H5Gget_info(group.get(), &what) < 0) fail(path, "HDF5 cannot read a group");
  if (static_cast<std::int64_t>(what.nlinks) != get_number(root, group_name, path))
    fail(path, "a part of it is missing");
  std::vector<Id> datasets;
  for (hsize_t k = 0; k < what.nlinks; ++k)
    datasets.emplace_back(H5Oopen_by_idx(group.get(), ".", H5_INDEX_NAME, H5_ITER_INC, k, H5P_DEFAULT), H5Oclose, path,
                          "open a dataset");
  return datasets;
}

/// The dimensions of a matrix that is a field.
void get_field(hid_t data, const std::string& path, SavedMatrix& a) {
  const std::int64_t dims = get_number(data, "dims", path);
  for (std::int64_t d = 0; d < dims; ++d) {
    const auto of_dim = [&](const char* what) { return get_number(data, fmt::format("{}_{}", what, d).c_str(), path); };
    const std::int64_t extent = of_dim("extent"), block = of_dim("block"), parts = of_dim("process_dim");
    if (extent < 0 || block < 0 || parts < 0 || parts > INT32_MAX)
      fail(path, fmt::format("field \"{}\": dimension {} has extent {}, block {} and {} parts, expected none below 0",
                             a.name, d, extent, block, parts));
    a.field.push_back({extent, block, static_cast<int>(parts)});
  }
  const auto [rows, columns] = gridmap::rows_and_columns(a.field);
  const auto is_length = [](const gridmap::FieldDimensions& all, std::int64_t length) {
    for (const gridmap::FieldDimension& one : all) {
      if (one.extent == 0) return length == 0;
      if (length % one.extent != 0) return false;
      length /= one.extent;
    }
    return length == 1;
  };
  if (!is_length(rows, a.m) || !is_length(columns, a.n))
    fail(path, fmt::format("field \"{}\" of {} is {} x {} elements, expected products of its extents", a.name,
                           gridmap::extents_text(a.field), a.m, a.n));
}

SavedMatrix get_matrix(hid_t data, const std::string& path) {
  SavedMatrix a;
  a.name = get_text(data, "name", path);
  const std::string type = get_text(data, "type", path);
  a.type = type.size() == 1 ? type[0] : '?';
  a.m = get_number(data, "m", path);
  a.n = get_number(data, "n", path);
  a.mb = get_number(data, "mb", path);
  a.nb = get_number(data, "nb", path);
  for (const std::int64_t size : {a.m, a.n, a.mb, a.nb})
    if (size < 0 || size > INT32_MAX) // which no descriptor can hold
      fail(path, fmt::format("matrix \"{}\" is {} x {} in blocks of {} x {}, expected sizes of 0 .. {}", a.name, a.m,
                             a.n, a.mb, a.nb, INT32_MAX));
  if (H5Aexists(data, "shape") > 0) { // older files have none: all matrices lay over the whole grid
    a.shape = static_cast<int>(get_number(data, "shape", path));
    a.nprow = static_cast<int>(get_number(data, "nprow_at_most", path));
    a.npcol = static_cast<int>(get_number(data, "npcol_at_most", path));
  }
  if (H5Aexists(data, "by_speed") > 0) a.order = static_cast<int>(get_number(data, "by_speed", path));
  if (H5Aexists(data, "dims") > 0) get_field(data, path, a);
  const Id space(H5Dget_space(data), H5Sclose, path, "read a shape");
  hsize_t shape[2] = {0, 0};
  if (H5Sget_simple_extent_ndims(space.get()) == 2) H5Sget_simple_extent_dims(space.get(), shape, nullptr);
  if (a.m > 0 && a.n > 0 && (shape[0] != static_cast<hsize_t>(a.n) || shape[1] != static_cast<hsize_t>(a.m)))
    fail(path,
         fmt::format("matrix \"{}\" is {} x {} in the file, expected {} x {}", a.name, shape[1], shape[0], a.m, a.n));
  return a;
}

} // namespace

CheckpointReader::CheckpointReader(const std::string& path) : file_(std::make_unique<File>()) {
  const Quiet quiet;
  File& f = *file_;
  f.path = path;
  f.file = open_checkpoint(path);
  const hid_t root = f.file.get();
  get_application(root, path, state_);
  f.shared = datasets_of(root, "shared", path);
  for (const Id& data : f.shared)
    state_.shared.push_back({get_text(data.get(), "name", path), count_bytes(data.get(), path)});
  f.datasets = datasets_of(root, "matrices", path);
  for (const Id& data : f.datasets) {
    state_.matrices.push_back(get_matrix(data.get(), path));
    f.types.push_back(element_type(state_.matrices.back().type, path));
  }
}

CheckpointReader::~CheckpointReader() {
  const Quiet quiet;
  file_.reset();
}

void CheckpointReader::read_shared(std::size_t item, void* to) {
  const Quiet quiet;
  get_bytes(file_->shared.at(item).get(), state_.shared[item].bytes, to, file_->path);
}

void CheckpointReader::read(std::size_t matrix, const Slab& slab, void* column_major) {
  const Quiet quiet;
  File& f = *file_;
  with_slab(f.datasets.at(matrix).get(), slab, f.path, [&](hid_t memory, hid_t file) {
    if (H5Dread(f.datasets[matrix].get(), f.types[matrix].get(), memory, file, H5P_DEFAULT, column_major) < 0)
      fail(f.path, fmt::format("matrix \"{}\" cannot be read, columns {} .. {}", state_.matrices[matrix].name, slab.j,
                               slab.j + slab.cols - 1));
  });
}

std::string checkpoint_library() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

} // namespace control
