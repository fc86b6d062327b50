// SPDX-License-Identifier: BSD-3-Clause
#include "grid/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/memory.hpp"
#include "grid/matrix.hpp"
#include "processes/mpi_util.hpp"
#include "processes/packet.hpp"

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;
using control::CheckpointReader;
using control::CheckpointWriter;

constexpr int root = 0; ///< reads and writes the file
constexpr std::int64_t slab_bytes = 8 << 20;
using base::tag_slab;

/// The part of a slab on one process: a rectangle of its local array, since local indices grow with global ones.
struct Part {
  std::int64_t i = 0, j = 0, rows = 0, cols = 0; ///< local
  std::int64_t count() const { return rows * cols; }
};

/// Of all copies the first goes to the file and comes from it.
Part part_of(const SpreadMatrix& a, const Slab& slab, int rank) {
  const gridmap::Axis &rows = a.layout.rows, &cols = a.layout.cols;
  const auto [p, q] = a.layout.grid.position_of(rank);
  const bool is_other_copy = (a.layout.rows_replicated && p > 0) || (a.layout.cols_replicated && q > 0);
  if (p < 0 || is_other_copy) return {};
  Part part;
  part.i = rows.count_before(p, slab.i);
  part.j = cols.count_before(q, slab.j);
  part.rows = rows.count_before(p, slab.i + slab.rows) - part.i;
  part.cols = cols.count_before(q, slab.j + slab.cols) - part.j;
  return part;
}

/// Copies between the local array and a packed part.
void pack_or_unpack(const SpreadMatrix& a, const Part& part, char* packed, bool into_packed) {
  const std::size_t bytes = element_bytes(a.saved.type), column = static_cast<std::size_t>(part.rows) * bytes;
  for (std::int64_t k = 0; k < part.cols && part.rows > 0; ++k) {
    char* x = static_cast<char*>(a.local) + static_cast<std::size_t>(part.i + (part.j + k) * a.lld) * bytes;
    char* y = packed + static_cast<std::size_t>(k) * column;
    if (into_packed)
      std::memcpy(y, x, column);
    else
      std::memcpy(x, y, column);
  }
}

/// Two buffers in turn, so that one slab travels while the one before is worked on.
struct Lane {
  std::vector<char> packed;
  std::vector<std::size_t> offsets; ///< by rank; root only
  std::vector<MPI_Request> requests;

  /// Lays out the parts of all ranks one behind the other. On root.
  void lay_out(const SpreadMatrix& a, const Slab& slab, int size) {
    offsets.assign(static_cast<std::size_t>(size) + 1, 0);
    for (int r = 0; r < size; ++r)
      offsets[static_cast<std::size_t>(r) + 1] =
          offsets[static_cast<std::size_t>(r)] +
          static_cast<std::size_t>(part_of(a, slab, r).count()) * element_bytes(a.saved.type);
    packed.resize(offsets.back());
  }
  char* of(int rank) { return packed.data() + offsets[static_cast<std::size_t>(rank)]; }
  int bytes_of(int rank) const {
    return static_cast<int>(offsets[static_cast<std::size_t>(rank) + 1] - offsets[static_cast<std::size_t>(rank)]);
  }
  void wait() {
    check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    requests.clear();
  }
};

/// HDF5 1.10 writes to null pointers where it gets no memory while it opens a file.
void require_memory_of_hdf5() {
  constexpr std::size_t enough = 16 << 20;
  base::require_addresses("HDF5", enough);
}

/// The slabs of all matrices between the ranks and root, with all the memory that they take: it is there before the
/// first message.
class SlabTransfer {
public:
  SlabTransfer(MPI_Comm comm, const std::vector<SpreadMatrix>& matrices);

  const std::vector<Slab>& slabs_of(std::size_t matrix) const { return slabs_[matrix]; }
  /// From all ranks to root, which hands each slab to `take(slab, bytes)`. Collective.
  template <class Take> void gather(std::size_t matrix, Take&& take);
  /// From root, which gets each slab by `give(slab, bytes)`, to all ranks. Collective.
  template <class Give> void scatter(std::size_t matrix, Give&& give);

  /// The first one of reading or writing the file, on root. It goes through all steps whatever happened, because the
  /// others wait for its messages.
  std::optional<Error> error;

private:
  void send_part(Lane& lane, const SpreadMatrix& a, const Slab& slab);
  void receive_part(Lane& lane, const SpreadMatrix& a, const Slab& slab);
  void receive_parts(Lane& lane, const SpreadMatrix& a, const Slab& slab);
  void send_part_of(int rank, Lane& lane);
  void resize_whole(const SpreadMatrix& a, const Slab& slab);
  void copy_part_of(int rank, Lane& lane, const SpreadMatrix& a, const Slab& slab, bool into_slab);
  void wait();

  MPI_Comm comm_;
  int rank_ = 0, size_ = 0;
  const std::vector<SpreadMatrix>& matrices_;
  std::vector<std::vector<Slab>> slabs_; ///< of each matrix
  std::array<Lane, 2> lanes_;
  std::vector<char> whole_; ///< a slab; root only
};

SlabTransfer::SlabTransfer(MPI_Comm comm, const std::vector<SpreadMatrix>& matrices)
    : comm_(comm), matrices_(matrices) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
  std::size_t packed = 0;
  for (const SpreadMatrix& a : matrices) {
    const std::size_t bytes = element_bytes(a.saved.type);
    slabs_.push_back(blacs_dyn::slabs_of(a.saved.m, a.saved.n, static_cast<std::int64_t>(bytes), slab_bytes));
    for (const Slab& slab : slabs_.back()) {
      const std::int64_t count = rank_ == root ? slab.rows * slab.cols : part_of(a, slab, rank_).count();
      packed = std::max(packed, static_cast<std::size_t>(count) * bytes);
    }
  }
  for (Lane& lane : lanes_) {
    lane.packed.reserve(packed);
    lane.offsets.reserve(static_cast<std::size_t>(size_) + 1);
    lane.requests.reserve(static_cast<std::size_t>(size_));
  }
  if (rank_ == root) whole_.reserve(packed);
}

/// Of this rank, to root.
void SlabTransfer::send_part(Lane& lane, const SpreadMatrix& a, const Slab& slab) {
  lane.wait();
  const Part mine = part_of(a, slab, rank_);
  if (mine.count() == 0) return;
  lane.packed.resize(static_cast<std::size_t>(mine.count()) * element_bytes(a.saved.type));
  pack_or_unpack(a, mine, lane.packed.data(), true);
  lane.requests.resize(1);
  check_mpi(MPI_Isend(lane.packed.data(), static_cast<int>(lane.packed.size()), MPI_BYTE, root, tag_slab, comm_,
                      &lane.requests[0]),
            "MPI_Isend");
}

/// The same, from root.
void SlabTransfer::receive_part(Lane& lane, const SpreadMatrix& a, const Slab& slab) {
  const Part mine = part_of(a, slab, rank_);
  if (mine.count() == 0) return;
  lane.packed.resize(static_cast<std::size_t>(mine.count()) * element_bytes(a.saved.type));
  lane.requests.resize(1);
  check_mpi(MPI_Irecv(lane.packed.data(), static_cast<int>(lane.packed.size()), MPI_BYTE, root, tag_slab, comm_,
                      &lane.requests[0]),
            "MPI_Irecv");
}

/// On root: those of all others.
void SlabTransfer::receive_parts(Lane& lane, const SpreadMatrix& a, const Slab& slab) {
  lane.lay_out(a, slab, size_);
  for (int r = 0; r < size_; ++r) {
    if (r == root || lane.bytes_of(r) == 0) continue;
    lane.requests.emplace_back();
    check_mpi(MPI_Irecv(lane.of(r), lane.bytes_of(r), MPI_BYTE, r, tag_slab, comm_, &lane.requests.back()),
              "MPI_Irecv");
  }
}

/// On root.
void SlabTransfer::send_part_of(int rank, Lane& lane) {
  if (rank == root || lane.bytes_of(rank) == 0) return;
  lane.requests.emplace_back();
  check_mpi(MPI_Isend(lane.of(rank), lane.bytes_of(rank), MPI_BYTE, rank, tag_slab, comm_, &lane.requests.back()),
            "MPI_Isend");
}

void SlabTransfer::resize_whole(const SpreadMatrix& a, const Slab& slab) {
  whole_.resize(static_cast<std::size_t>(slab.rows * slab.cols) * element_bytes(a.saved.type));
}

/// Copies between the packed part of one process (column-major, no gaps) and the slab: runs of neighbouring rows in one
/// piece each. Allocates no memory: others wait for its result.
void SlabTransfer::copy_part_of(int rank, Lane& lane, const SpreadMatrix& a, const Slab& slab, bool into_slab) {
  const Part part = part_of(a, slab, rank);
  const std::size_t bytes = element_bytes(a.saved.type);
  const int p = a.layout.axes_of(rank).first, q = a.layout.axes_of(rank).second; // a lambda may not capture such names
  struct Run {
    std::int64_t from, to, length; ///< from: row of the part, to: row of the slab
  };
  std::array<Run, 256> runs{};
  const std::int64_t row_end = slab.i + slab.rows;
  gridmap::StretchWalk rows(a.layout.rows, p, slab.i);
  for (std::int64_t row = 0; row < part.rows;) {
    std::size_t count = 0;
    while (row < part.rows && count < runs.size()) {
      const gridmap::Axis::Stretch next = rows.next();
      const std::int64_t length = std::min(next.last, row_end) - next.first;
      runs[count++] = {row, next.first - slab.i, length};
      row += length;
    }
    gridmap::StretchWalk columns(a.layout.cols, q, slab.j);
    gridmap::Axis::Stretch near; // columns of this process
    for (std::int64_t k = 0, column_of_matrix = 0; k < part.cols; ++k, ++column_of_matrix) {
      if (column_of_matrix == near.last) {
        near = columns.next();
        column_of_matrix = near.first;
      }
      const std::int64_t column = column_of_matrix - slab.j;
      char* x = lane.of(rank) + static_cast<std::size_t>(k * part.rows) * bytes;
      char* y = whole_.data() + static_cast<std::size_t>(column * slab.rows) * bytes;
      for (std::size_t r = 0; r < count; ++r) {
        char* in_part = x + static_cast<std::size_t>(runs[r].from) * bytes;
        char* in_slab = y + static_cast<std::size_t>(runs[r].to) * bytes;
        if (into_slab)
          std::memcpy(in_slab, in_part, static_cast<std::size_t>(runs[r].length) * bytes);
        else
          std::memcpy(in_part, in_slab, static_cast<std::size_t>(runs[r].length) * bytes);
      }
    }
  }
}

void SlabTransfer::wait() {
  for (Lane& lane : lanes_) lane.wait();
}

template <class Take> void SlabTransfer::gather(std::size_t matrix, Take&& take) {
  const SpreadMatrix& a = matrices_[matrix];
  const std::vector<Slab>& slabs = slabs_[matrix];
  const auto begin = [&](std::size_t k) {
    if (rank_ == root)
      receive_parts(lanes_[k % 2], a, slabs[k]);
    else
      send_part(lanes_[k % 2], a, slabs[k]);
  };
  if (!slabs.empty()) begin(0);
  for (std::size_t k = 0; k < slabs.size(); ++k) {
    if (k + 1 < slabs.size()) begin(k + 1);
    if (rank_ != root) continue;
    Lane& lane = lanes_[k % 2];
    const Slab& slab = slabs[k];
    pack_or_unpack(a, part_of(a, slab, root), lane.of(root), true);
    lane.wait();
    resize_whole(a, slab);
    for (int r = 0; r < size_; ++r) copy_part_of(r, lane, a, slab, true);
    if (!error) error = attempt([&] { take(slab, whole_.data()); });
  }
  wait();
}

template <class Give> void SlabTransfer::scatter(std::size_t matrix, Give&& give) {
  const SpreadMatrix& a = matrices_[matrix];
  const std::vector<Slab>& slabs = slabs_[matrix];
  if (rank_ != root && !slabs.empty()) receive_part(lanes_[0], a, slabs[0]);
  for (std::size_t k = 0; k < slabs.size(); ++k) {
    Lane& lane = lanes_[k % 2];
    const Slab& slab = slabs[k];
    if (rank_ != root) {
      if (k + 1 < slabs.size()) receive_part(lanes_[(k + 1) % 2], a, slabs[k + 1]);
      const bool has_part = !lane.requests.empty();
      lane.wait();
      if (has_part) pack_or_unpack(a, part_of(a, slab, rank_), lane.packed.data(), false);
      continue;
    }
    lane.wait();
    lane.lay_out(a, slab, size_);
    resize_whole(a, slab);
    if (!error) error = attempt([&] { give(slab, whole_.data()); });
    for (int r = 0; r < size_; ++r) {
      copy_part_of(r, lane, a, slab, false);
      send_part_of(r, lane);
    }
    pack_or_unpack(a, part_of(a, slab, root), lane.of(root), false);
  }
  wait();
}

/// The first copy to all others, each part among the processes that have it. Collective.
void spread_copies(const Comm& comm, const SpreadMatrix& a) {
  const auto [p, q] = a.layout.axes_of(comm.rank());
  const redist::LocalSize size = a.layout.local_size_of(comm.rank());
  const std::int64_t bytes = size.rows * size.cols * static_cast<std::int64_t>(element_bytes(a.saved.type));
  MPI_Comm split = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm.get(), p * a.layout.grid.npcol + q, comm.rank(), &split), "MPI_Comm_split");
  Comm with_part = Comm::adopt(split);
  broadcast(a.local, static_cast<std::size_t>(bytes), 0, with_part.get());
  with_part.close();
}

} // namespace

std::vector<Slab> slabs_of(std::int64_t m, std::int64_t n, std::int64_t element_bytes, std::int64_t limit_bytes) {
  std::vector<Slab> slabs;
  if (m <= 0 || n <= 0) return slabs;
  const std::int64_t most = std::max<std::int64_t>(1, limit_bytes / element_bytes);
  // of equal size as nearly as can be, since the file keeps room for whole ones
  const auto even = [](std::int64_t all, std::int64_t at_most) {
    const std::int64_t count = (all + at_most - 1) / at_most;
    return (all + count - 1) / count;
  };
  const std::int64_t rows = even(m, std::min(m, most)), cols = even(n, std::clamp<std::int64_t>(most / m, 1, n));
  for (std::int64_t j = 0; j < n; j += cols)
    for (std::int64_t i = 0; i < m; i += rows) slabs.push_back({i, j, std::min(rows, m - i), std::min(cols, n - j)});
  return slabs;
}

void write_checkpoint(MPI_Comm grid, const std::string& path, SavedState state,
                      const std::vector<SpreadMatrix>& matrices) {
  Comm comm = Comm::duplicate(grid);
  const bool writes = comm.rank() == root;
  std::optional<CheckpointWriter> writer;
  std::optional<SlabTransfer> slabs;
  try {
    together(comm.get(), [&] { // first what fails most often: a folder that is not there
      slabs.emplace(comm.get(), matrices);
      if (!writes) return;
      require_memory_of_hdf5();
      writer.emplace(path);
      state.matrices.clear();
      for (const SpreadMatrix& a : matrices) state.matrices.push_back(a.saved);
      writer->describe(state);
    });
    for (std::size_t k = 0; k < matrices.size(); ++k) {
      const std::vector<Slab>& all = slabs->slabs_of(k);
      if (writes && !slabs->error)
        slabs->error = attempt([&] { writer->begin_matrix(matrices[k].saved, all.empty() ? Slab{} : all[0]); });
      slabs->gather(k, [&](const Slab& slab, const void* bytes) { writer->write(slab, bytes); });
    }
    together(comm.get(), [&] {
      if (slabs->error) throw *slabs->error;
      if (writes) writer->commit();
    });
  } catch (const Error& error) {
    if (error.status() != Status::mpi_failure) comm.close();
    throw;
  }
  comm.close();
}

SavedState look_into_checkpoint(MPI_Comm grid, const std::string& path) {
  int rank = 0;
  MPI_Comm_rank(grid, &rank);
  Packet packet;
  together(grid, [&] {
    if (rank != root) return;
    require_memory_of_hdf5();
    packet.put(CheckpointReader(path).state());
  });
  broadcast(packet.bytes(), root, grid);
  SavedState state;
  together(grid, [&] { state = Packet(packet.bytes()).get<SavedState>(); });
  return state;
}

void read_checkpoint(MPI_Comm grid, const std::string& path, const std::vector<SpreadMatrix>& matrices,
                     const std::vector<SavedShared>& shared) {
  Comm comm = Comm::duplicate(grid);
  const bool reads = comm.rank() == root;
  std::optional<CheckpointReader> reader;
  std::vector<std::size_t> at(matrices.size(), 0); // of each matrix in the file
  std::optional<SlabTransfer> slabs;
  try {
    together(comm.get(), [&] {
      slabs.emplace(comm.get(), matrices);
      if (!reads) return;
      require_memory_of_hdf5();
      reader.emplace(path);
      const std::vector<SavedMatrix>& known = reader->state().matrices;
      for (std::size_t k = 0; k < matrices.size(); ++k) {
        const SavedMatrix& a = matrices[k].saved;
        const auto found =
            std::find_if(known.begin(), known.end(), [&](const SavedMatrix& s) { return s.name == a.name; });
        if (found == known.end())
          throw Error(Status::not_found, "blacs-dyn: checkpoint {} has no matrix \"{}\"", path, a.name);
        if (found->type != a.type || found->m != a.m || found->n != a.n)
          throw Error(Status::rank_mismatch,
                      "blacs-dyn: checkpoint {}: matrix \"{}\" is '{}' {} x {} there and '{}' {} x {} in the program",
                      path, a.name, found->type, found->m, found->n, a.type, a.m, a.n);
        const std::string there = gridmap::extents_text(found->field), here = gridmap::extents_text(a.field);
        if (!found->field.empty() && !a.field.empty() && there != here)
          throw Error(Status::rank_mismatch, "blacs-dyn: checkpoint {}: field \"{}\" is {} there and {} in the program",
                      path, a.name, there, here);
        at[k] = static_cast<std::size_t>(found - known.begin());
      }
      for (std::size_t k = 0; k < shared.size(); ++k) {
        const SavedShared& there = reader->state().shared.at(k);
        if (there.name != shared[k].name || there.bytes != shared[k].bytes)
          throw Error(Status::io_failure, "blacs-dyn: checkpoint {} changed while it was read", path);
        reader->read_shared(k, shared[k].data);
      }
    });
    for (std::size_t k = 0; k < matrices.size(); ++k) {
      slabs->scatter(k, [&](const Slab& slab, void* bytes) { reader->read(at[k], slab, bytes); });
      if (matrices[k].layout.is_replicated()) spread_copies(comm, matrices[k]);
    }
    together(comm.get(), [&] {
      if (slabs->error) throw *slabs->error;
    });
  } catch (const Error& error) {
    if (error.status() != Status::mpi_failure) comm.close();
    throw;
  }
  comm.close();
}

} // namespace blacs_dyn
