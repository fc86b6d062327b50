// SPDX-License-Identifier: BSD-3-Clause
#include "holdings.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>

#include <fmt/format.h>

#include "mpi_util.hpp"
#include "redist/descriptor.hpp"

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;
using gridmap::Axis;

constexpr std::size_t longest_name = 63;
constexpr std::uint64_t fnv_start = 1469598103934665603u;

void mix(std::uint64_t& hash, std::uint64_t word) { // FNV-1a, a byte at a time
  for (int byte = 0; byte < 8; ++byte) hash = (hash ^ ((word >> (8 * byte)) & 0xff)) * 1099511628211u;
}

std::int64_t hash_of(std::string_view text) {
  std::uint64_t hash = fnv_start;
  for (const char c : text) mix(hash, static_cast<unsigned char>(c));
  return static_cast<std::int64_t>(hash >> 1);
}

void check_name(const char* what, const char* name) {
  if (!name) throw Error(Status::null_pointer, fmt::format("blacs-dyn: {}: name is null", what));
  const std::size_t length = std::string_view(name).size();
  if (length < 1 || length > longest_name)
    throw Error(Status::bad_argument,
                fmt::format("blacs-dyn: {}: name has {} characters, wanted 1 .. {}", what, length, longest_name));
}

void check_axis(const AxisRule& axis) {
  const bool is_rows = axis.which == 'R';
  const auto in_range = [&](const char* what, std::int64_t value, std::int64_t least) {
    if (value < least || value > INT_MAX)
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_matrix_create: {} is {}, wanted {} .. {}", what,
                                                    value, least, INT_MAX));
  };
  in_range(is_rows ? "m" : "n", axis.n, 0);
  if (!axis.rule) in_range(is_rows ? "mb" : "nb", axis.nb, 1);
}

void put_axis(Packet& packet, const Axis& axis) {
  packet.put(axis.n).put(axis.src).put(axis.nprocs).put(axis.sizes);
}

Axis get_axis(Packet& packet) {
  Axis axis;
  axis.n = packet.get<std::int64_t>();
  axis.src = packet.get<int>();
  axis.nprocs = packet.get<int>();
  axis.sizes = packet.get_vector<std::int64_t>();
  return axis;
}

/// The same on all processes of the grid? Collective. @throws agreed Error{rank_mismatch}
void compare_forms(const Matrix& a, MPI_Comm grid) {
  const std::array<std::int64_t, 8> mine{hash_of(a.name),
                                         a.type,
                                         a.rows.n,
                                         a.cols.n,
                                         a.rows.rule ? 0 : a.rows.nb,
                                         a.cols.rule ? 0 : a.cols.nb,
                                         a.rows.rule != nullptr,
                                         a.cols.rule != nullptr};
  static const char* const names[] = {
      "name", "type", "m", "n", "mb", "nb", "having a rule for the rows", "having a rule for the columns"};
  std::array<std::int64_t, 16> range{}, extremes{};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    range[2 * i] = mine[i];
    range[2 * i + 1] = -mine[i];
  }
  check_mpi(MPI_Allreduce(range.data(), extremes.data(), static_cast<int>(range.size()), MPI_INT64_T, MPI_MAX, grid),
            "MPI_Allreduce");
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const std::int64_t most = extremes[2 * i], least = -extremes[2 * i + 1];
    if (most == least) continue;
    const std::string values = i == 0   ? fmt::format("\"{}\" here", a.name)
                               : i == 1 ? fmt::format("{} .. {}", static_cast<char>(least), static_cast<char>(most))
                                        : fmt::format("{} .. {}", least, most);
    throw Error(Status::rank_mismatch,
                fmt::format("blacs-dyn: dyngrid_matrix_create: {} differs between the processes of the grid ({})",
                            names[i], values));
  }
}

} // namespace

// ---- one matrix
// -------------------------------------------------------------------------------------------------------------

std::size_t element_bytes(char type) {
  switch (type) {
  case 's':
  case 'S':
  case 'i':
  case 'I':
    return 4;
  case 'd':
  case 'D':
  case 'c':
  case 'C':
    return 8;
  case 'z':
  case 'Z':
    return 16;
  default:
    return 0;
  }
}

Axis AxisRule::on(Shape grid) const {
  const int nprocs = which == 'R' ? grid.nprow : grid.npcol;
  if (!rule) return Axis::block_cyclic(n, nb, nprocs);
  const char* axis_name = which == 'R' ? "rows" : "columns";
  const std::int64_t count = rule(context, which, n, grid.nprow, grid.npcol, nullptr);
  if (count < 1 || count > Axis::most_sizes)
    throw Error(
        Status::bad_argument,
        fmt::format("blacs-dyn: the rule for the {} of a matrix gives {} block sizes on a grid of {}, wanted 1 .. {}",
                    axis_name, count, to_string(grid), Axis::most_sizes));
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count));
  if (const std::int64_t filled = rule(context, which, n, grid.nprow, grid.npcol, sizes.data()); filled != count)
    throw Error(Status::bad_argument, fmt::format("blacs-dyn: the rule for the {} of a matrix gave {} block sizes on a "
                                                  "grid of {} when asked how many, then {}",
                                                  axis_name, count, to_string(grid), filled));
  Axis axis = Axis::heterogeneous(n, std::move(sizes), nprocs);
  axis.validate();
  return axis;
}

std::int64_t fingerprint(const std::vector<Lay>& lays) {
  std::uint64_t hash = fnv_start;
  for (const Lay& one : lays)
    for (const Axis* axis : {&one.rows, &one.cols}) {
      mix(hash, axis->sizes.size());
      for (const std::int64_t size : axis->sizes) mix(hash, static_cast<std::uint64_t>(size));
    }
  return static_cast<std::int64_t>(hash >> 1);
}

} // namespace blacs_dyn

using base::Error;
using base::Status;
using blacs_dyn::Lay;

bool dyngrid_matrix::has_same_form(const dyngrid_matrix& other) const {
  const auto same = [](const blacs_dyn::AxisRule& a, const blacs_dyn::AxisRule& b) {
    return a.n == b.n && (a.rule != nullptr) == (b.rule != nullptr) && (a.rule || a.nb == b.nb);
  };
  return type == other.type && same(rows, other.rows) && same(cols, other.cols);
}

std::string dyngrid_matrix::form() const {
  const auto blocks = [](const blacs_dyn::AxisRule& axis) {
    return axis.rule ? std::string("rule-sized") : std::to_string(axis.nb);
  };
  return fmt::format("'{}' {} x {} in {} x {} blocks", type, rows.n, cols.n, blocks(rows), blocks(cols));
}

Lay dyngrid_matrix::on(blacs_dyn::Shape shape, int at) const {
  Lay there{rows.on(shape), cols.on(shape)};
  if (at >= 0 && at < shape.size()) {
    there.m_loc = there.rows.local_size(at / shape.npcol);
    there.n_loc = there.cols.local_size(at % shape.npcol);
  }
  if (there.m_loc > INT_MAX)
    throw Error(Status::shape_mismatch,
                fmt::format("blacs-dyn: matrix \"{}\" has {} local rows on a {} grid, more than LLD_ can hold ({})",
                            name, there.m_loc, blacs_dyn::to_string(shape), INT_MAX));
  return there;
}

std::size_t dyngrid_matrix::bytes(const Lay& on_grid) const {
  return static_cast<std::size_t>(on_grid.lld() * std::max<std::int64_t>(1, on_grid.n_loc)) *
         blacs_dyn::element_bytes(type);
}

void dyngrid_matrix::place(Lay new_lay, redist::SharedArray array, int context) {
  lay = std::move(new_lay);
  local = std::move(array);
  redist::Descriptor descriptor;
  descriptor.dtype = has_rule() ? redist::Descriptor::heterogeneous : redist::Descriptor::block_cyclic;
  descriptor.ctxt = context;
  descriptor.rows = lay.rows;
  descriptor.cols = lay.cols;
  descriptor.lld = static_cast<int>(lay.lld());
  const std::vector<int> written = redist::write_descriptor(descriptor);
  desc.resize(std::max<std::size_t>(10, written.size())); // of a matrix without a rule always ten: its address stays
  std::copy(written.begin(), written.end(), desc.begin());
  is_placed = true;
}

void dyngrid_matrix::unplace() {
  local.clear();
  lay.m_loc = lay.n_loc = 0;
  if (!desc.empty()) desc[1] = -1;
}

namespace blacs_dyn {

// ---- matrices
// -----------------------------------------------------------------------------------------------------------------

Matrix* Holdings::create(const char* name, char type, AxisRule rows, AxisRule cols, bool has_handle, const Site& site) {
  auto a = std::make_unique<Matrix>();
  const bool is_in_grid = site.grid != MPI_COMM_NULL;
  const auto check = [&] {
    check_name("dyngrid_matrix_create", name);
    if (!has_handle)
      throw Error(Status::null_pointer,
                  "blacs-dyn: dyngrid_matrix_create: matrix is null, wanted where to put the handle");
    if (element_bytes(type) == 0)
      throw Error(Status::bad_type,
                  fmt::format("blacs-dyn: dyngrid_matrix_create: type is '{}', wanted s, d, c, z or i", type));
    check_axis(rows);
    check_axis(cols);
    if (find(name))
      throw Error(Status::bad_argument,
                  fmt::format("blacs-dyn: dyngrid_matrix_create: there is a matrix \"{}\" already", name));
    a->name = name;
    a->type = static_cast<char>(type >= 'A' && type <= 'Z' ? type - 'A' + 'a' : type);
    a->rows = rows;
    a->cols = cols;
  };
  if (!is_in_grid) { // a newcomer, or outside the first grid: declared now, placed when this process joins
    check();
    a->desc = {1,
               -1,
               static_cast<int>(rows.n),
               static_cast<int>(cols.n),
               static_cast<int>(rows.nb),
               static_cast<int>(cols.nb),
               0,
               0,
               1,
               0};
    matrices_.push_back(std::move(a));
    ++revision_;
    return matrices_.back().get();
  }
  together(site.grid, check);
  compare_forms(*a, site.grid);

  Lay lay;
  redist::SharedArray local;
  std::int64_t print = 0;
  together(site.grid, [&] {
    int at = 0;
    MPI_Comm_rank(site.grid, &at);
    lay = a->on(site.shape, at);
    print = fingerprint({lay});
    local = redist::SharedArray(a->bytes(lay));
  });
  if (a->has_rule())
    check_same(site.grid, print,
               "blacs-dyn: dyngrid_matrix_create: the rules give different block sizes on different processes");
  together(site.grid, [&] { a->place(std::move(lay), std::move(local), site.context); });
  matrices_.push_back(std::move(a));
  ++revision_;
  return matrices_.back().get();
}

void Holdings::free(Matrix* matrix) {
  const auto is_it = [&](const std::unique_ptr<Matrix>& a) { return a.get() == matrix; };
  for (auto* list : {&matrices_, &retired_}) {
    const auto at = std::find_if(list->begin(), list->end(), is_it);
    if (at == list->end()) continue;
    list->erase(at);
    ++revision_;
    return;
  }
  throw Error(Status::not_found, "blacs-dyn: dyngrid_matrix_free: the handle is of no living matrix");
}

std::int64_t Holdings::check_copy(const Matrix* from, const Matrix* to) const {
  std::uint64_t hash = fnv_start;
  for (const Matrix* a : {from, to}) {
    const char* which = a == from ? "first" : "second";
    if (!a) throw Error(Status::null_pointer, fmt::format("blacs-dyn: dyngrid_copy: the {} matrix is null", which));
    const auto is_it = [&](const std::unique_ptr<Matrix>& one) { return one.get() == a; };
    if (std::none_of(matrices_.begin(), matrices_.end(), is_it))
      throw Error(Status::not_found,
                  fmt::format("blacs-dyn: dyngrid_copy: the {} handle is of no living matrix", which));
    for (const char c : a->name) mix(hash, static_cast<unsigned char>(c));
    mix(hash, 0);
  }
  if (from->type != to->type)
    throw Error(Status::bad_type,
                fmt::format("blacs-dyn: dyngrid_copy: \"{}\" is of type '{}' and \"{}\" of type '{}', wanted the same",
                            from->name, from->type, to->name, to->type));
  if (from->rows.n != to->rows.n || from->cols.n != to->cols.n)
    throw Error(Status::shape_mismatch,
                fmt::format("blacs-dyn: dyngrid_copy: \"{}\" is {} x {} and \"{}\" {} x {}, wanted the same",
                            from->name, from->rows.n, from->cols.n, to->name, to->rows.n, to->cols.n));
  return static_cast<std::int64_t>(hash >> 1);
}

Matrix* Holdings::find(const std::string& name) {
  for (const auto& a : matrices_)
    if (a->name == name) return a.get();
  return nullptr;
}

double Holdings::bytes() const {
  double sum = 0;
  for (const auto& a : matrices_)
    sum +=
        static_cast<double>(a->rows.n) * static_cast<double>(a->cols.n) * static_cast<double>(element_bytes(a->type));
  return sum;
}

const Matrix* Holdings::largest() const {
  const Matrix* largest = nullptr;
  const auto bytes = [](const Matrix& a) {
    return static_cast<double>(a.rows.n) * static_cast<double>(a.cols.n) * static_cast<double>(element_bytes(a.type));
  };
  for (const auto& a : matrices_)
    if (!largest || bytes(*a) > bytes(*largest)) largest = a.get();
  return largest;
}

// ---- shared state
// ---------------------------------------------------------------------------------------------------------------

void Holdings::share(const char* name, void* data, std::size_t bytes, MPI_Comm grid) {
  const auto check = [&] {
    check_name("dyngrid_share", name);
    if (bytes > PTRDIFF_MAX)
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_share: \"{}\" has {} bytes, wanted 0 .. {}",
                                                    name, bytes, PTRDIFF_MAX));
    if (!data && bytes > 0)
      throw Error(Status::null_pointer, fmt::format("blacs-dyn: dyngrid_share: data of \"{}\" is null", name));
    for (const Shared& s : shared_) {
      if (s.name != name) continue;
      if (s.data)
        throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_share: \"{}\" is shared already", name));
      if (s.bytes != bytes)
        throw Error(Status::rank_mismatch,
                    fmt::format("blacs-dyn: dyngrid_share: \"{}\" has {} bytes here and {} on the others", name, bytes,
                                s.bytes));
    }
  };
  // what came with the join before its name was known here: no collective, the others have long done theirs
  for (Shared& s : shared_) {
    if (!name || s.name != name || s.data || s.early.empty()) continue;
    check();
    std::copy(s.early.begin(), s.early.end(), static_cast<char*>(data));
    s.data = data;
    s.early.clear();
    return;
  }
  if (grid == MPI_COMM_NULL) {
    check();
  } else {
    together(grid, check);
    check_same(
        grid, hash_of(name),
        fmt::format("blacs-dyn: dyngrid_share: name differs between the processes of the grid (\"{}\" here)", name)
            .c_str());
    check_same(
        grid, static_cast<std::int64_t>(bytes),
        fmt::format("blacs-dyn: dyngrid_share: bytes of \"{}\" differ between the processes of the grid ({} here)",
                    name, bytes)
            .c_str());
  }
  shared_.push_back({name, data, {}, bytes});
}

void Holdings::unshare(const char* name) {
  check_name("dyngrid_unshare", name);
  const auto at = std::find_if(shared_.begin(), shared_.end(), [&](const Shared& s) { return s.name == name; });
  if (at == shared_.end())
    throw Error(Status::not_found, fmt::format("blacs-dyn: dyngrid_unshare: nothing is shared as \"{}\"", name));
  shared_.erase(at);
}

// ---- for those that join
// ----------------------------------------------------------------------------------------------------------

void Holdings::write(Packet& packet) const {
  packet.put(static_cast<int>(shared_.size()));
  for (const Shared& s : shared_) {
    const auto* first = static_cast<const char*>(s.data);
    packet.put(s.name).put(s.data ? std::vector<char>(first, first + s.bytes) : s.early);
  }
  packet.put(static_cast<int>(matrices_.size()));
  for (const auto& a : matrices_) {
    packet.put(a->name).put(a->type);
    packet.put(a->rows.rule != nullptr).put(a->rows.nb);
    packet.put(a->cols.rule != nullptr).put(a->cols.nb);
    put_axis(packet, a->lay.rows);
    put_axis(packet, a->lay.cols);
  }
}

void Holdings::read(Packet& packet, bool is_new) {
  read_shared(packet); // first, since a rule may look at it
  read_matrices(packet, is_new);
}

void Holdings::read_shared(Packet& packet) {
  for (int count = packet.get<int>(); count > 0; --count) {
    const std::string name = packet.get_text();
    std::vector<char> content = packet.get_vector<char>();
    const auto at = std::find_if(shared_.begin(), shared_.end(), [&](const Shared& s) { return s.name == name; });
    if (at == shared_.end()) {
      const std::size_t bytes = content.size();
      shared_.push_back({name, nullptr, std::move(content), bytes});
    } else if (at->bytes != content.size()) {
      throw Error(Status::rank_mismatch,
                  fmt::format("blacs-dyn: shared \"{}\" has {} bytes on a new process and {} on the others", name,
                              at->bytes, content.size()));
    } else if (at->data) {
      std::copy(content.begin(), content.end(), static_cast<char*>(at->data));
    }
  }
}

void Holdings::check_shared(const std::vector<SavedShared>& saved) const {
  for (const Shared& s : shared_) {
    const auto at =
        std::find_if(saved.begin(), saved.end(), [&](const SavedShared& one) { return one.name == s.name; });
    if (at == saved.end())
      throw Error(Status::not_found, fmt::format("blacs-dyn: the checkpoint has no shared \"{}\"", s.name));
    if (at->content.size() != s.bytes)
      throw Error(Status::rank_mismatch,
                  fmt::format("blacs-dyn: shared \"{}\" has {} bytes in the program and {} in the checkpoint", s.name,
                              s.bytes, at->content.size()));
  }
}

void Holdings::take_shared(const std::vector<SavedShared>& saved) {
  for (const SavedShared& one : saved) {
    const auto at = std::find_if(shared_.begin(), shared_.end(), [&](const Shared& s) { return s.name == one.name; });
    if (at == shared_.end())
      shared_.push_back({one.name, nullptr, one.content, one.content.size()});
    else if (at->data)
      std::copy(one.content.begin(), one.content.end(), static_cast<char*>(at->data));
    else
      at->early = one.content;
  }
}

void Holdings::read_matrices(Packet& packet, bool is_new) {
  std::vector<std::unique_ptr<Matrix>> known = std::move(matrices_);
  matrices_.clear();
  for (int count = packet.get<int>(); count > 0; --count) {
    auto a = std::make_unique<Matrix>();
    a->name = packet.get_text();
    a->type = packet.get<char>();
    const auto rows_have_rule = packet.get<bool>();
    a->rows.nb = packet.get<std::int64_t>();
    const auto cols_have_rule = packet.get<bool>();
    a->cols.nb = packet.get<std::int64_t>();
    Axis rows = get_axis(packet), cols = get_axis(packet);
    a->rows.n = rows.n;
    a->cols.n = cols.n;
    const auto at = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k && k->name == a->name; });
    if (at != known.end()) {
      if (rows_have_rule)
        a->rows.rule =
            (*at)->rows.rule; // a rule is a function of each process's own; the forms differ when it has none
      if (cols_have_rule) a->cols.rule = (*at)->cols.rule;
      if (!(*at)->has_same_form(*a) || rows_have_rule != ((*at)->rows.rule != nullptr) ||
          cols_have_rule != ((*at)->cols.rule != nullptr))
        throw Error(Status::rank_mismatch,
                    fmt::format("blacs-dyn: matrix \"{}\" is {} on a new process and {}{} on the others", a->name,
                                (*at)->form(), a->form(), rows_have_rule || cols_have_rule ? " with a rule" : ""));
      a = std::move(*at);
    } else if (rows_have_rule || cols_have_rule) {
      throw Error(Status::rank_mismatch, fmt::format("blacs-dyn: matrix \"{}\" lies as a rule says, which a new "
                                                     "process has to give by dyngrid_matrix_create_by before "
                                                     "its first resize point",
                                                     a->name));
    }
    a->lay.rows = std::move(rows);
    a->lay.cols = std::move(cols);
    matrices_.push_back(std::move(a));
    ++revision_;
  }
  for (auto& k : known) {
    if (!k) continue;
    if (is_new)
      throw Error(Status::rank_mismatch,
                  fmt::format("blacs-dyn: a new process made matrix \"{}\", which the others do not have", k->name));
    retired_.push_back(std::move(k)); // freed by the others while this process slept
  }
}

void Holdings::set_context(int context) {
  for (const auto& a : matrices_)
    if (!a->desc.empty()) a->desc[1] = context;
}

void Holdings::leave() {
  for (const auto& a : matrices_) a->unplace();
}

void Holdings::clear() {
  matrices_.clear();
  retired_.clear();
  shared_.clear();
}

} // namespace blacs_dyn
