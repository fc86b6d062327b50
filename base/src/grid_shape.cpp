// SPDX-License-Identifier: BSD-3-Clause
#include "base/grid_shape.hpp"

#include <fmt/format.h>

#include "base/status.hpp"
#include "base/text.hpp"

namespace base {
namespace {

bool is_within(std::int64_t nprow, std::int64_t npcol) {
  return nprow >= 1 && npcol >= 1 && nprow <= max_grid_axis && npcol <= max_grid_axis && nprow * npcol <= max_processes;
}

} // namespace

std::string to_string(GridShape shape) {
  return fmt::format("{}x{}", shape.nprow, shape.npcol);
}

std::optional<GridShape> grid_shape_from(std::string_view text) {
  text = trimmed(text);
  const std::size_t x = text.find_first_of("xX");
  if (x == std::string_view::npos) return std::nullopt;
  const auto nprow = whole_number<int>(text.substr(0, x));
  const auto npcol = whole_number<int>(text.substr(x + 1));
  if (!nprow || !npcol || !is_within(*nprow, *npcol)) return std::nullopt;
  return GridShape{*nprow, *npcol};
}

GridShape parse_grid_shape(std::string_view text, std::string_view where) {
  if (const auto shape = grid_shape_from(text)) return *shape;
  throw Error(Status::bad_argument, "{} is \"{}\", expected rows x columns as in 3x4", where, text);
}

std::pair<GridShape, GridShape> parse_grid_change(std::string_view text, std::string_view where) {
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto from = grid_shape_from(text.substr(0, dash)), to = grid_shape_from(text.substr(dash + 1));
    if (from && to) return {*from, *to};
  }
  throw Error(Status::bad_argument, "{} is \"{}\", expected two grids as in 2x2-3x3", where, text);
}

void check_grid_shape(GridShape shape, std::string_view where) {
  if (is_within(shape.nprow, shape.npcol)) return;
  throw Error(Status::bad_argument, "{}: grid is {}, expected rows and columns from 1 and at most {} processes", where,
              to_string(shape), max_processes);
}

GridShape squarest(int nprocs) {
  int nprow = 1;
  for (int r = 1; r * r <= nprocs; ++r)
    if (nprocs % r == 0) nprow = r;
  return {nprow, nprocs / nprow};
}

} // namespace base
