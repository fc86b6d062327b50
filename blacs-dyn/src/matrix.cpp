// SPDX-License-Identifier: BSD-3-Clause
#include "matrix.hpp"

#include <algorithm>
#include <climits>

#include <fmt/format.h>

#include "base/fnv1a.hpp"
#include "base/status.hpp"
#include "redist/descriptor.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;
using gridmap::Axis;

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
  base::Fnv1a hash;
  for (const Lay& one : lays)
    for (const Axis* axis : {&one.rows, &one.cols}) {
      hash.number(static_cast<std::int64_t>(axis->sizes.size()));
      for (const std::int64_t size : axis->sizes) hash.number(size);
    }
  return hash.positive();
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
