// SPDX-License-Identifier: BSD-3-Clause
#include "grid/matrix.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>
#include <mutex>
#include <new>

#include <fmt/format.h>

#include "base/memory.hpp"
#include "base/status.hpp"
#include "gridmap/dealing.hpp"
#include "redist/descriptor.hpp"
#include "redist/element.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;
using gridmap::Axis;

std::int64_t rule_of_others(void*, char, std::int64_t, int, int, std::int64_t*) {
  return -1;
}

std::size_t element_bytes(char type) {
  return redist::element_bytes(static_cast<char>(std::tolower(static_cast<unsigned char>(type))));
}

std::size_t bytes_of(std::int64_t elements, char type) {
  std::size_t bytes = 0;
  return __builtin_mul_overflow(elements, element_bytes(type), &bytes) ? SIZE_MAX : bytes;
}

void AxisRule::check(const char* routine) const {
  const bool is_rows = which == 'R';
  const auto in_range = [&](const char* what, std::int64_t value, std::int64_t least) {
    if (value < least || value > INT_MAX)
      throw Error(Status::bad_argument, "blacs-dyn: {}: {} is {}, expected {} .. {}", routine, what, value, least,
                  INT_MAX);
  };
  in_range(is_rows ? "m" : "n", n, 0);
  if (!has_rule()) in_range(is_rows ? "mb" : "nb", nb, 1);
}

namespace {

thread_local const GridMap* asked_for = nullptr; ///< the grid for which a rule is asked

struct Asking {
  explicit Asking(const GridMap& map) { asked_for = &map; }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() { asked_for = nullptr; }
};

} // namespace

double rule_speed(int row, int col) {
  if (!asked_for || row < 0 || row >= asked_for->shape.nprow || col < 0 || col >= asked_for->shape.npcol) return 0;
  if (asked_for->speeds.empty()) return 1;
  return asked_for->speeds[static_cast<std::size_t>(row) * static_cast<std::size_t>(asked_for->shape.npcol) +
                           static_cast<std::size_t>(col)];
}

Axis AxisRule::on(const GridMap& map) const {
  const Shape grid = map.shape;
  const int nprocs = which == 'R' ? grid.nprow : grid.npcol;
  if (!field.empty()) return gridmap::field_axis(field, nprocs);
  if (!has_rule()) return Axis::block_cyclic(n, nb, nprocs);
  const Asking asking(map);
  const char* axis_name = which == 'R' ? "rows" : "columns";
  const auto ask = [&](std::int64_t* sizes, int* owners) {
    return owner_rule ? owner_rule(context, which, n, grid.nprow, grid.npcol, sizes, owners)
                      : rule(context, which, n, grid.nprow, grid.npcol, sizes);
  };
  const std::int64_t count = ask(nullptr, nullptr);
  if (count < 1 || count > Axis::most_sizes)
    throw Error(Status::bad_argument,
                "blacs-dyn: the rule for the {} of a matrix gives {} block sizes on a grid of {}, expected 1 .. {}",
                axis_name, count, to_string(grid), Axis::most_sizes);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count));
  std::vector<int> owners(owner_rule ? sizes.size() : 0);
  if (const std::int64_t filled = ask(sizes.data(), owners.data()); filled != count)
    throw Error(
        Status::bad_argument,
        "blacs-dyn: the rule for the {} of a matrix gave {} block sizes on a grid of {} when asked how many, then {}",
        axis_name, count, to_string(grid), filled);
  for (const std::int64_t size : sizes)
    if (size > INT_MAX) // which no descriptor can hold
      throw Error(
          Status::bad_argument,
          "blacs-dyn: the rule for the {} of a matrix gives a block size of {} on a grid of {}, expected at most {}",
          axis_name, size, to_string(grid), INT_MAX);
  Axis axis = owner_rule ? Axis::owned(std::move(sizes), std::move(owners), nprocs)
                         : Axis::heterogeneous(n, std::move(sizes), nprocs);
  axis.validate();
  if (axis.n != n)
    throw Error(Status::bad_argument,
                "blacs-dyn: the owner rule for the {} of a matrix gives block sizes that add up to {} on a grid of {}, "
                "expected {}",
                axis_name, axis.n, to_string(grid), n);
  return axis;
}

std::optional<MatrixExtents> copied_as(const Matrix& from, bool is_transposed, const Matrix& to) {
  const MatrixExtents of_to{to.rows.n, to.cols.n}, of_from{from.rows.n, from.cols.n};
  for (const MatrixExtents& extents : {of_to, is_transposed ? of_from.transposed() : of_from})
    if (to.can_be(extents) && from.can_be(is_transposed ? extents.transposed() : extents)) return extents;
  return {};
}

} // namespace blacs_dyn

using base::Error;
using base::Status;

std::int64_t dyngrid_matrix::next_number() {
  static std::int64_t last = 0;
  return ++last;
}

bool dyngrid_matrix::has_same_form(const dyngrid_matrix& other) const {
  const auto same = [](const blacs_dyn::AxisRule& a, const blacs_dyn::AxisRule& b) {
    return a.n == b.n && a.has_rule() == b.has_rule() && (a.has_rule() || a.nb == b.nb) && a.field == b.field;
  };
  return type == other.type && order == other.order && lies_on == other.lies_on && same(rows, other.rows) &&
         same(cols, other.cols);
}

void dyngrid_matrix::follow(const dyngrid_matrix& others, bool rows_have_rule, bool cols_have_rule, bool missed_one) {
  const auto take = [&](blacs_dyn::AxisRule& mine, const blacs_dyn::AxisRule& theirs, bool have_rule) {
    if (have_rule && !missed_one) return;
    mine.rule = have_rule ? blacs_dyn::rule_of_others : nullptr;
    mine.owner_rule = nullptr;
    mine.nb = theirs.nb;
  };
  take(rows, others.rows, rows_have_rule);
  take(cols, others.cols, cols_have_rule);
  order = others.order;
  is_rule_missing = false;
}

gridmap::FieldDimensions dyngrid_matrix::field_dimensions() const {
  gridmap::FieldDimensions all = rows.field;
  all.insert(all.end(), cols.field.begin(), cols.field.end());
  return all;
}

std::optional<std::size_t> dyngrid_matrix::split_of(const blacs_dyn::MatrixExtents& extents) const {
  if (rows.n == extents.m && cols.n == extents.n) return rows.field.size();
  if (!is_field()) return {};
  const gridmap::FieldDimensions all = field_dimensions();
  for (std::size_t split = 0; split <= all.size(); ++split) {
    std::int64_t of_rows = 1, of_cols = 1;
    for (std::size_t d = 0; d < all.size(); ++d) (d < split ? of_rows : of_cols) *= all[d].extent;
    if (of_rows == extents.m && of_cols == extents.n) return split;
  }
  return {};
}

dyngrid_matrix::View dyngrid_matrix::as(const blacs_dyn::MatrixExtents& extents, int rank) const {
  const std::size_t split = split_of(extents).value();
  if (split == rows.field.size()) return {layout, lld()};
  redist::Layout other = blacs_dyn::split_at(split, rows.field, cols.field, layout);
  const std::int64_t lld = other.local_size_of(rank).lld();
  return {std::move(other), lld};
}

std::string dyngrid_matrix::extents_text() const {
  return is_field() ? gridmap::extents_text(field_dimensions()) : fmt::format("{} x {}", rows.n, cols.n);
}

std::string dyngrid_matrix::form() const {
  if (is_field()) return fmt::format("'{}' {}", type, blacs_dyn::field_text(field_dimensions()));
  const auto blocks = [](const blacs_dyn::AxisRule& axis) {
    return axis.has_rule() ? std::string("rule-sized") : std::to_string(axis.nb);
  };
  return fmt::format("'{}' {} x {} in {} x {} blocks{}{}", type, rows.n, cols.n, blocks(rows), blocks(cols),
                     order != 0 ? " by speed" : "", lies_on.text());
}

redist::Layout blacs_dyn::layout_on(const GridMap& grid, const AxisRule& rows, const AxisRule& cols, int order,
                                    const MatrixGrid& lies_on) {
  if (!lies_on.is_whole())
    return lies_on.layout(rows.on(lies_on.map_on(grid, 'R')), cols.on(lies_on.map_on(grid, 'C')), grid.shape);
  if (order == 0) return redist::Layout::row_major(rows.on(grid), cols.on(grid));
  const auto how = static_cast<gridmap::DealOrder>(order);
  return redist::Layout::row_major(gridmap::deal_out(rows.n, rows.nb, grid.shape.nprow, grid.row_shares, how),
                                   gridmap::deal_out(cols.n, cols.nb, grid.shape.npcol, grid.col_shares, how));
}

redist::Layout dyngrid_matrix::on(const blacs_dyn::GridMap& grid) const {
  try {
    return blacs_dyn::layout_on(grid, rows, cols, order, lies_on);
  } catch (const Error& error) {
    if (!is_field()) throw;
    throw Error(error.status(), "blacs-dyn: field \"{}\" on a {} grid: {}", name, to_string(grid.shape), error.what());
  }
}

redist::LocalSize dyngrid_matrix::local_size_on(const redist::Layout& on_grid, int rank) const {
  const redist::LocalSize size = on_grid.local_size_of(rank);
  if (size.rows > INT_MAX)
    throw Error(Status::shape_mismatch,
                "blacs-dyn: matrix \"{}\" has {} local rows on a {}x{} grid, more than LLD_ can hold ({})", name,
                size.rows, on_grid.grid.nprow, on_grid.grid.npcol, INT_MAX);
  return size;
}

std::size_t dyngrid_matrix::bytes(redist::LocalSize size) const {
  return blacs_dyn::bytes_of(size.lld() * std::max<std::int64_t>(1, size.cols), type);
}

blacs_dyn::LocalArray dyngrid_matrix::array_of(redist::LocalSize size) const {
  const std::size_t needed = bytes(size);
  try {
    return {owner, needed, size};
  } catch (const std::bad_alloc&) {
    throw base::out_of_memory(fmt::format("matrix \"{}\" ({} x {}, type {}) on this process{}", name, rows.n, cols.n,
                                          type, owner.allocate ? ", from the program's allocator" : ""),
                              needed);
  }
}

void dyngrid_matrix::place(redist::Layout on_grid, redist::LocalSize size, blacs_dyn::LocalArray array, int context,
                           std::int64_t lld) {
  ++placements;
  layout = std::move(on_grid);
  local_size = size;
  adopted_lld_ = lld;
  stretches_ = {};
  field_part_ = {};
  std::swap(local, array);
  // long lists are written when they are asked for: a change that is agreed takes no memory for them
  const gridmap::Axis &rows_now = layout.rows, &cols_now = layout.cols;
  const bool has_lists = !(rows_now.is_uniform() && cols_now.is_uniform());
  desc.resize(entries_of_desc); // its address stays
  desc[0] = has_lists ? redist::Descriptor::heterogeneous : redist::Descriptor::block_cyclic;
  desc[1] = context;
  if (!has_lists) {
    const auto entry = [](std::int64_t value) { return static_cast<int>(value); }; // checked when it was laid out
    const std::array<int, 7> rest{entry(rows_now.n),        entry(cols_now.n), entry(rows_now.sizes[0]),
                                  entry(cols_now.sizes[0]), rows_now.src,      cols_now.src,
                                  entry(this->lld())};
    std::copy(rest.begin(), rest.end(), desc.begin() + 2);
  }
  is_descriptor_whole_ = !has_lists;
  is_placed = true;
  // last, so that the program's allocator finds all as it is from here on. With null where it had none: it learns so
  // that the new array counts
  if (owner.allocate) {
    void* const old = array.leave_to_program();
    if (old || local.data()) owner.give_back(old);
  }
}

std::vector<int> dyngrid_matrix::written_descriptor(int context) const {
  redist::Descriptor descriptor;
  descriptor.rows = layout.rows.in_turn();
  descriptor.cols = layout.cols.in_turn();
  const bool is_uniform = descriptor.rows.is_uniform() && descriptor.cols.is_uniform(); // ScaLAPACK takes it
  descriptor.dtype = is_uniform ? redist::Descriptor::block_cyclic : redist::Descriptor::heterogeneous;
  descriptor.ctxt = context;
  descriptor.lld = static_cast<int>(lld());
  return redist::write_descriptor(descriptor);
}

const std::vector<int>& dyngrid_matrix::descriptor() const {
  if (is_descriptor_whole_) return desc;
  static std::mutex writing;
  const std::lock_guard lock(writing);
  if (!is_descriptor_whole_) desc = written_descriptor(desc[1]);
  is_descriptor_whole_ = true;
  return desc;
}

const std::vector<gridmap::Axis::Stretch>& dyngrid_matrix::stretches(bool is_row, int rank) const {
  Known& known = stretches_[is_row ? 0 : 1];
  const auto [p, q] = is_placed ? layout.axes_of(rank) : std::pair{-1, -1};
  if (!known.is_known && p >= 0) known.list = is_row ? layout.rows.stretches(p) : layout.cols.stretches(q);
  known.is_known = true;
  return known.list;
}

redist::HaloPlan dyngrid_matrix::halo_plan(const std::vector<redist::HaloSides>& sides,
                                           redist::Neighbours neighbours) const {
  if (!is_field()) return redist::HaloPlan(layout, {sides[0], sides[1], neighbours});
  auto next = sides.begin();
  const auto dimensions = [&next](const gridmap::FieldDimensions& of, int nprocs) {
    const std::vector<int> parts = gridmap::parts_of(of, nprocs);
    std::vector<redist::HaloDimension> all;
    for (std::size_t d = 0; d < of.size(); ++d) all.push_back({gridmap::axis_of(of[d], parts[d]), *next++});
    return all;
  };
  const auto of_rows = dimensions(rows.field, layout.rows.nprocs);
  return {of_rows, dimensions(cols.field, layout.cols.nprocs), layout.grid, neighbours};
}

const blacs_dyn::FieldPart& dyngrid_matrix::field_part(int rank) const {
  if (field_part_.parts.empty()) {
    const auto [p, q] = is_placed ? layout.axes_of(rank) : std::pair{-1, -1};
    field_part_.add(rows.field, layout.rows.nprocs, p);
    field_part_.add(cols.field, layout.cols.nprocs, q);
  }
  return field_part_;
}

void dyngrid_matrix::unplace() {
  local.clear();
  local_size = {};
  adopted_lld_ = 0;
  stretches_ = {};
  field_part_ = {};
  if (!desc.empty()) desc[1] = -1;
}
