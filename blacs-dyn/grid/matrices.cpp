// SPDX-License-Identifier: BSD-3-Clause
#include "grid/matrices.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <tuple>

#include <fmt/format.h>

#include "base/fnv1a.hpp"
#include "dyngrid/balance.h"
#include "grid/registered_name.hpp"
#include "processes/mpi_util.hpp"
#include "redist/descriptor.hpp"

// What of a matrix goes to those that join.
namespace gridmap {
template <class Archive> void fields(Archive& a, Axis& axis) {
  a(axis.n, axis.src, axis.nprocs, axis.sizes, axis.owners);
}
} // namespace gridmap
namespace redist {
template <class Archive> void fields(Archive& a, Grid& grid) {
  a(grid.nprow, grid.npcol, grid.ranks);
}
template <class Archive> void fields(Archive& a, Layout& layout) {
  a(layout.rows, layout.cols, layout.grid, layout.rows_replicated, layout.cols_replicated);
}
} // namespace redist
/// Rules are each process's own.
template <class Archive> void fields(Archive& a, dyngrid_matrix& matrix) {
  a(matrix.name, matrix.type, matrix.order, matrix.relayouts, matrix.made, matrix.is_adopted, matrix.lies_on);
  a(matrix.rows.nb, matrix.cols.nb, matrix.rows.field, matrix.cols.field, matrix.layout);
}

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;

/// What has to be the same on all processes of the grid, and room to compare it.
struct Form {
  std::vector<std::pair<std::string, std::int64_t>> mine;
  std::vector<std::int64_t> range, extremes;
};

Form form_of(const Matrix& a) {
  Form form;
  auto& mine = form.mine;
  mine = {{"name", base::Fnv1a().text(a.name).positive()}, {"type", a.type}};
  gridmap::FieldDimensions field = a.field_dimensions();
  mine.emplace_back("dims", field.size());
  field.resize(DYNGRID_FIELD_DIMS); // also of a matrix that is no field: as many numbers on all processes
  for (std::size_t d = 0; d < field.size(); ++d) {
    mine.emplace_back(fmt::format("extents[{}]", d), field[d].extent);
    mine.emplace_back(fmt::format("blocks[{}]", d), field[d].block);
    mine.emplace_back(fmt::format("process_dims[{}]", d), field[d].parts);
  }
  mine.insert(mine.end(), {{"m", a.rows.n},
                           {"n", a.cols.n},
                           {"mb", a.rows.has_rule() ? 0 : a.rows.nb},
                           {"nb", a.cols.has_rule() ? 0 : a.cols.nb},
                           {"having a rule for the rows", a.rows.has_rule()},
                           {"having a rule for the columns", a.cols.has_rule()},
                           {"order", a.order},
                           {"shape", static_cast<std::int64_t>(a.lies_on.kind)},
                           {"nprow_at_most", a.lies_on.most.nprow},
                           {"npcol_at_most", a.lies_on.most.npcol}});
  for (const auto& [what, value] : mine) {
    form.range.push_back(value);
    form.range.push_back(-value);
  }
  form.extremes.resize(form.range.size());
  return form;
}

/// Collective. @throws agreed Error{rank_mismatch}
void compare_forms(const Matrix& a, Form& form, MPI_Comm grid) {
  auto& [mine, range, extremes] = form;
  check_mpi(MPI_Allreduce(range.data(), extremes.data(), static_cast<int>(range.size()), MPI_INT64_T, MPI_MAX, grid),
            "MPI_Allreduce");
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const std::int64_t most = extremes[2 * i], least = -extremes[2 * i + 1];
    if (most == least) continue;
    const std::string values = i == 0   ? fmt::format("\"{}\" here", a.name)
                               : i == 1 ? fmt::format("{} .. {}", static_cast<char>(least), static_cast<char>(most))
                                        : fmt::format("{} .. {}", least, most);
    throw Error(Status::rank_mismatch, "blacs-dyn: {}: {} differs between the processes of the grid ({})",
                a.is_field() ? "dyngrid_field_create" : "dyngrid_matrix_create", mine[i].first, values);
  }
}

} // namespace

void make_field(Matrix& made, const gridmap::FieldDimensions& all) {
  std::tie(made.rows.field, made.cols.field) = gridmap::rows_and_columns(all);
  for (AxisRule* axis : {&made.rows, &made.cols}) {
    axis->n = 1;
    axis->nb = 1;
    for (const gridmap::FieldDimension& d : axis->field) axis->n *= d.extent;
  }
  // one dimension that is cut goes over all processes of the grid
  if (gridmap::count_cut(all) < 2) made.lies_on.kind = MatrixGrid::Kind::column;
}

void Matrices::check_new(Matrix& made, const Asked& asked) {
  check_registered_name("dyngrid_matrix_create", asked.name);
  if (asked.lacks) throw Error(Status::null_pointer, "blacs-dyn: dyngrid_matrix_create: {} is null", asked.lacks);
  const char type = asked.type;
  if (element_bytes(type) == 0)
    throw Error(Status::bad_type, "blacs-dyn: dyngrid_matrix_create: type is '{}', expected s, d, c, z or i", type);
  asked.rows.check("dyngrid_matrix_create");
  asked.cols.check("dyngrid_matrix_create");
  asked.lies_on.check("dyngrid_matrix_create_on");
  if (asked.order && (*asked.order < DYNGRID_ORDER_BLOCK || *asked.order > DYNGRID_ORDER_FACTOR))
    throw Error(Status::bad_argument,
                "blacs-dyn: dyngrid_matrix_create_weighted: order is {}, expected DYNGRID_ORDER_BLOCK ({}), "
                "DYNGRID_ORDER_CYCLIC ({}) or DYNGRID_ORDER_FACTOR ({})",
                *asked.order, static_cast<int>(DYNGRID_ORDER_BLOCK), static_cast<int>(DYNGRID_ORDER_CYCLIC),
                static_cast<int>(DYNGRID_ORDER_FACTOR));
  if (find(asked.name))
    throw Error(Status::bad_argument, "blacs-dyn: dyngrid_matrix_create: there is a matrix \"{}\" already", asked.name);
  made.name = asked.name;
  made.type = static_cast<char>(type >= 'A' && type <= 'Z' ? type - 'A' + 'a' : type);
  made.rows = asked.rows;
  made.cols = asked.cols;
  made.order = asked.order.value_or(0);
  made.lies_on = asked.lies_on;
  if (asked.field) make_field(made, asked.field->read());
}

Matrix* Matrices::keep(std::unique_ptr<Matrix> matrix) {
  matrices_.push_back(std::move(matrix));
  matrices_.back()->made = ++made_;
  ++revision_;
  return matrices_.back().get();
}

/// On a new process, or outside the first grid: declared now, placed when this process joins.
Matrix* Matrices::declare(std::unique_ptr<Matrix> matrix) {
  const auto entry = [](std::int64_t value) { return static_cast<int>(value); };
  const AxisRule &rows = matrix->rows, &cols = matrix->cols;
  matrix->desc = {1, -1, entry(rows.n), entry(cols.n), entry(rows.nb), entry(cols.nb), 0, 0, 1, 0};
  return keep(std::move(matrix));
}

Matrix* Matrices::create(const Asked& asked, const Site& site) {
  std::unique_ptr<Matrix> a;
  Form form;
  const auto check = [&] {
    a = std::make_unique<Matrix>();
    check_new(*a, asked);
    form = form_of(*a);
    matrices_.reserve(matrices_.size() + 1);
  };
  if (site.grid == MPI_COMM_NULL) {
    check();
    return declare(std::move(a));
  }
  together(site.grid, check);
  compare_forms(*a, form, site.grid);

  redist::Layout layout;
  redist::LocalSize size;
  LocalArray local;
  const auto laid_out = [&] {
    int at = 0;
    MPI_Comm_rank(site.grid, &at);
    layout = a->on(*site.map);
    size = a->local_size_on(layout, at);
    local = a->array_of(size);
    return fingerprint({&layout});
  };
  together_on_number(
      site.grid, laid_out,
      "blacs-dyn: dyngrid_matrix_create: the rules give different block sizes or owners on different processes");
  together(site.grid, [&] { a->place(std::move(layout), size, std::move(local), site.context); });
  return keep(std::move(a));
}

namespace {

constexpr const char* adopt_routine = "blacs-dyn: dyngrid_matrix_adopt";

/// Of the process at rank `at` of the grid, -1 on a process outside. @throws Error
redist::Descriptor read_adopted(const int* desc, int at, const Matrices::Site& site) {
  redist::GridPosition position;
  if (at >= 0) position = {site.shape.nprow, site.shape.npcol, at / site.shape.npcol, at % site.shape.npcol};
  redist::Descriptor read = redist::read_descriptor(desc, redist::Descriptor::fixed, position);
  if (read.dtype != redist::Descriptor::block_cyclic)
    throw Error(Status::bad_descriptor, "{}: DTYPE_ is {}, expected {}", adopt_routine, read.dtype,
                int{redist::Descriptor::block_cyclic});
  if (at >= 0 && read.ctxt != site.context)
    throw Error(Status::bad_descriptor, "{}: CTXT_ is {}, expected {}, which dyngrid_context() returns", adopt_routine,
                read.ctxt, site.context);
  if (read.rows.src != 0 || read.cols.src != 0)
    throw Error(Status::bad_descriptor, "{}: RSRC_ and CSRC_ are {} and {}, expected 0 and 0", adopt_routine,
                read.rows.src, read.cols.src);
  return read;
}

/// @throws Error{shape_mismatch} when the array is too small
void check_array(const Matrix& a, const Matrices::Adopted& array, redist::LocalSize size, std::int64_t lld) {
  const bool has_elements = size.rows > 0 && size.cols > 0;
  // the last column may end with its last row
  const std::int64_t elements = has_elements ? lld * (size.cols - 1) + size.rows : 0;
  const std::size_t needed = bytes_of(elements, a.type);
  if (array.bytes < needed || (needed > 0 && !array.local))
    throw Error(Status::shape_mismatch,
                "{}: the local array of \"{}\" has {} bytes{}, expected at least {} for {} x {} elements of type {} "
                "with LLD_ {}",
                adopt_routine, a.name, array.bytes, array.local ? "" : " at a null pointer", needed, size.rows,
                size.cols, a.type, lld);
}

} // namespace

Matrix* Matrices::adopt(Asked asked, const Adopted& array, const Site& site) {
  std::unique_ptr<Matrix> a;
  Form form;
  const bool is_in_grid = site.grid != MPI_COMM_NULL;
  int at = -1;
  if (is_in_grid) MPI_Comm_rank(site.grid, &at);
  redist::Descriptor desc;
  const auto check = [&] {
    a = std::make_unique<Matrix>();
    if (!asked.lacks) {
      desc = read_adopted(array.desc, at, site);
      asked.rows = {'R', desc.rows.n, desc.rows.sizes[0]};
      asked.cols = {'C', desc.cols.n, desc.cols.sizes[0]};
    }
    check_new(*a, asked);
    form = form_of(*a);
    matrices_.reserve(matrices_.size() + 1);
  };
  if (is_in_grid)
    together(site.grid, check);
  else
    check();
  a->is_adopted = true;
  if (!is_in_grid) {
    a->owner = array.owner;
    a->local = LocalArray(array.owner, array.local); // which is freed when the first one that counts is there
    return declare(std::move(a));
  }
  compare_forms(*a, form, site.grid);
  together(site.grid, [&] {
    redist::Layout layout = a->on(*site.map);
    const redist::LocalSize size = a->local_size_on(layout, at);
    check_array(*a, array, size, desc.lld);
    a->place(std::move(layout), size, LocalArray(array.owner, array.local), site.context, desc.lld);
  });
  a->owner = array.owner; // not before it is placed: nothing was replaced, and the allocator is not to be called
  return keep(std::move(a));
}

void Matrices::free(Matrix* matrix) {
  if (has(matrix) && matrix->is_factored)
    throw Error(Status::bad_state,
                "blacs-dyn: dyngrid_matrix_free: a factorization of \"{}\" is under way, expected a matrix on which "
                "none works; free it after dyngrid_lu or dyngrid_cholesky has returned",
                matrix->name);
  const auto is_it = [&](const std::unique_ptr<Matrix>& a) { return a.get() == matrix; };
  for (auto* list : {&matrices_, &retired_}) {
    const auto at = std::find_if(list->begin(), list->end(), is_it);
    if (at == list->end()) continue;
    list->erase(at);
    if (list == &matrices_) ++revision_; // the others have no retired one, and keep what they keep of the living
    return;
  }
  throw Error(Status::not_found, "blacs-dyn: dyngrid_matrix_free: the handle is of no living matrix");
}

std::int64_t Matrices::check_copy(const char* call, redist::Op op, const Matrix* from, const Matrix* to) const {
  base::Fnv1a hash;
  hash.number(static_cast<std::int64_t>(op));
  for (const Matrix* a : {from, to}) {
    const char* which = a == from ? "first" : "second";
    if (!a) throw Error(Status::null_pointer, "blacs-dyn: {}: the {} matrix is null", call, which);
    if (!has(a)) throw Error(Status::not_found, "blacs-dyn: {}: the {} handle is of no living matrix", call, which);
    hash.text(a->name).number(0);
  }
  if (from->type != to->type)
    throw Error(Status::bad_type, "blacs-dyn: {}: \"{}\" is of type '{}' and \"{}\" of type '{}', expected the same",
                call, from->name, from->type, to->name, to->type);
  const bool is_transposed = op != redist::Op::none;
  if (!copied_as(*from, is_transposed, *to))
    throw Error(Status::shape_mismatch, "blacs-dyn: {}: \"{}\" is {} and \"{}\" {}, expected {}", call, from->name,
                from->extents_text(), to->name, to->extents_text(),
                is_transposed ? fmt::format("{} x {}", from->cols.n, from->rows.n) : from->extents_text());
  return hash.positive();
}

std::vector<Matrix*> Matrices::list() const {
  std::vector<Matrix*> list;
  for (const auto& a : matrices_) list.push_back(a.get());
  return list;
}

bool Matrices::has(const Matrix* matrix) const {
  return std::any_of(matrices_.begin(), matrices_.end(), [&](const auto& a) { return a.get() == matrix; });
}

void Matrices::require(const char* routine, const Matrix* matrix) const {
  if (!matrix) throw Error(Status::null_pointer, "blacs-dyn: {}: the matrix is null", routine);
  if (!has(matrix)) throw Error(Status::not_found, "blacs-dyn: {}: the handle is of no living matrix", routine);
}

void Matrices::written(const Matrix* matrix) {
  require("dyngrid_matrix_written", matrix);
  for (const auto& a : matrices_)
    if (a.get() == matrix) ++a->writes;
}

Matrix* Matrices::find(const std::string& name) {
  for (const auto& a : matrices_)
    if (a->name == name) return a.get();
  return nullptr;
}

std::int64_t Matrices::bytes_of_mine() const {
  std::int64_t sum = 0;
  for (const auto& a : matrices_) sum += static_cast<std::int64_t>(a->bytes(a->local_size));
  return sum;
}

namespace {

double bytes_of(const Matrix& a) {
  return static_cast<double>(a.rows.n) * static_cast<double>(a.cols.n) * static_cast<double>(element_bytes(a.type));
}

} // namespace

double Matrices::bytes() const {
  double sum = 0;
  for (const auto& a : matrices_)
    if (!a->lies_on.is_copied()) sum += bytes_of(*a);
  return sum;
}

double Matrices::bytes_of_copies(Shape grid) const {
  double sum = 0;
  for (const auto& a : matrices_)
    if (a->lies_on.is_copied()) sum += a->lies_on.copies_on(grid) * bytes_of(*a);
  return sum;
}

Matrix* Matrices::largest() const {
  Matrix* largest = nullptr;
  for (const auto& a : matrices_)
    if (a->lies_on.is_whole() && (!largest || bytes_of(*a) > bytes_of(*largest))) largest = a.get();
  return largest;
}

void Matrices::write(Packet& packet) const {
  packet.put(made_).put(static_cast<int>(matrices_.size()));
  for (const auto& a : matrices_) packet.put(*a).put(a->rows.has_rule()).put(a->cols.has_rule());
}

bool Matrices::may_lack_rules(bool some_wake) const {
  return std::any_of(matrices_.begin(), matrices_.end(), [&](const auto& a) {
    return (a->rows.has_rule() || a->cols.has_rule()) && (some_wake || a->is_rule_missing);
  });
}

void Matrices::compare_rules(MPI_Comm gathered) {
  std::vector<int> missing;
  together(gathered, [&] {
    for (const auto& a : matrices_) missing.push_back(a->lacks_rule() ? 1 : 0);
  });
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, missing.data(), static_cast<int>(missing.size()), MPI_INT, MPI_MAX, gathered),
            "MPI_Allreduce");
  for (std::size_t k = 0; k < missing.size(); ++k) matrices_[k]->is_rule_missing = missing[k] != 0;
}

Matrices::Layouts Matrices::missing_layouts(MPI_Comm comm, const std::vector<Matrix*>& list, const GridMap& map) {
  Layouts received;
  if (std::none_of(list.begin(), list.end(), [](const Matrix* a) { return a->is_rule_missing; })) return received;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<Matrix*> asked;
  std::vector<int> sender;
  std::vector<Packet> packets;
  together(comm, [&] {
    for (Matrix* a : list) {
      if (!a->is_rule_missing) continue;
      asked.push_back(a);
      sender.push_back(a->lacks_rule() ? INT_MAX : rank);
    }
    packets.resize(asked.size());
  });
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sender.data(), static_cast<int>(sender.size()), MPI_INT, MPI_MIN, comm),
            "MPI_Allreduce");
  together(comm, [&] {
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (sender[i] == INT_MAX)
        throw Error(Status::not_found,
                    "blacs-dyn: no process of the grid has the rule of matrix \"{}\": it was set while they slept, and "
                    "the processes that have it sleep now or have left; call dyngrid_matrix_set_rule again, or wake a "
                    "process that has it",
                    asked[i]->name);
      if (sender[i] != rank) continue;
      packets[i].put(asked[i]->on(map));
    }
  });
  for (std::size_t i = 0; i < asked.size(); ++i) broadcast(packets[i].bytes(), sender[i], comm);
  together(comm, [&] {
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (asked[i]->lacks_rule()) received.emplace(asked[i], packets[i].get<redist::Layout>());
  });
  return received;
}

namespace {

/// A matrix as the others have it.
struct Received {
  std::unique_ptr<Matrix> matrix;
  bool rows_have_rule = false, cols_have_rule = false;
  redist::Layout layout;
  Matrix* known = nullptr; ///< this process's of that name

  bool has_rule() const { return rows_have_rule || cols_have_rule; }
};

Received receive_matrix(Packet& packet) {
  Received received;
  received.matrix = std::make_unique<Matrix>();
  Matrix& a = *received.matrix;
  packet.get(a);
  received.rows_have_rule = packet.get<bool>();
  received.cols_have_rule = packet.get<bool>();
  received.layout = std::move(a.layout);
  a.rows.n = received.layout.rows.n;
  a.cols.n = received.layout.cols.n;
  return received;
}

/// The matrix follows the others; their rules are this process's own functions. @throws Error{rank_mismatch} when the
/// forms differ.
void compare_with_known(const Received& received, bool is_new, bool is_newcomer) {
  Matrix &a = *received.matrix, &known = *received.known;
  const bool is_made_again = !is_new && a.made != known.made; // a new process counted its own
  const bool missed_one = !is_newcomer && (is_made_again || a.relayouts != known.relayouts);
  if (a.relayouts > 0 || is_made_again) known.follow(a, received.rows_have_rule, received.cols_have_rule, missed_one);
  known.relayouts = a.relayouts;
  known.made = a.made;
  const auto take_rule = [](AxisRule& axis, const AxisRule& from) {
    axis.rule = from.rule;
    axis.owner_rule = from.owner_rule;
  };
  if (received.rows_have_rule) take_rule(a.rows, known.rows); // the forms differ when it has none
  if (received.cols_have_rule) take_rule(a.cols, known.cols);
  if (!known.has_same_form(a) || received.rows_have_rule != known.rows.has_rule() ||
      received.cols_have_rule != known.cols.has_rule())
    throw Error(Status::rank_mismatch, "blacs-dyn: matrix \"{}\" is {} on a {} process and {}{} on the others", a.name,
                known.form(), is_newcomer ? "new" : "woken", a.form(), received.has_rule() ? " with a rule" : "");
  if (is_newcomer && known.is_adopted && !a.is_adopted)
    throw Error(Status::rank_mismatch,
                "blacs-dyn: a new process adopted matrix \"{}\", which the others made by dyngrid_matrix_create",
                a.name);
}

} // namespace

void Matrices::read(Packet& packet, bool is_new, bool is_newcomer) {
  // nothing is changed before nothing can fail: a process that was woken sleeps on after a refusal, with its matrices
  std::vector<Received> all;
  const auto made = packet.get<std::int64_t>();
  for (int count = packet.get<int>(); count > 0; --count) {
    Received received = receive_matrix(packet);
    Matrix& a = *received.matrix;
    received.known = find(a.name);
    if (received.known) {
      compare_with_known(received, is_new, is_newcomer);
    } else if (!is_newcomer) {
      if (received.rows_have_rule) a.rows.rule = rule_of_others;
      if (received.cols_have_rule) a.cols.rule = rule_of_others;
    } else if (received.has_rule()) {
      throw Error(Status::rank_mismatch,
                  "blacs-dyn: matrix \"{}\" lies as a rule says, which a new process has to give by "
                  "dyngrid_matrix_create_by or _create_owned before its first resize point",
                  a.name);
    }
    all.push_back(std::move(received));
  }
  const auto is_told = [&](const Matrix& a) {
    return std::any_of(all.begin(), all.end(), [&](const Received& one) { return one.known == &a; });
  };
  for (const auto& a : matrices_)
    if (is_new && !is_told(*a))
      throw Error(Status::rank_mismatch, "blacs-dyn: a new process made matrix \"{}\", which the others do not have",
                  a->name);
  retired_.reserve(retired_.size() + matrices_.size());
  std::vector<std::unique_ptr<Matrix>> known = std::move(matrices_);
  matrices_.clear();
  matrices_.reserve(all.size());

  for (Received& one : all) {
    const bool is_adopted = one.matrix->is_adopted;
    if (one.known)
      one.matrix =
          std::move(*std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.get() == one.known; }));
    if (!is_adopted) one.matrix->owner = {}; // freed and made again while this process slept, with the library's memory
    one.matrix->is_adopted = is_adopted;
    one.matrix->layout = std::move(one.layout);
    matrices_.push_back(std::move(one.matrix));
    ++revision_;
  }
  for (auto& k : known)
    if (k) retired_.push_back(std::move(k)); // freed by the others while this process slept
  made_ = made;
}

void Matrices::set_contexts(const std::function<int(const Matrix&)>& context_of) {
  for (const auto& a : matrices_)
    if (!a->desc.empty()) a->desc[1] = context_of(*a);
}

void Matrices::leave() {
  for (const auto& a : matrices_) a->unplace();
}

void Matrices::clear() {
  matrices_.clear();
  retired_.clear();
}

} // namespace blacs_dyn
