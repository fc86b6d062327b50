// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gridmap/axis.hpp"

namespace gridmap {

enum class Placement { optimal = 0, global = 1, local1 = 2, local2 = 3 }; ///< numbers of dyngrid/gridmap.h

const char* to_string(Placement placement);
/// "optimal", "global", "local1", "local2", in the order of their numbers.
const std::vector<std::string>& placement_names();
/// @throws Error{bad_argument} "<where> is "x", expected optimal, global, local1 or local2".
Placement parse_placement(std::string_view text, std::string_view where);

/// How many elements of one axis lie on each pair of an old and a new position: count(p, p') for the same
/// axis before and after.
struct Overlap {
  int from = 0, to = 0;
  std::vector<std::int64_t> counts; ///< row-major, from x to

  std::int64_t count(int p, int p_new) const {
    return counts[static_cast<std::size_t>(p) * static_cast<std::size_t>(to) + static_cast<std::size_t>(p_new)];
  }
};

/// Exact counts, by walking both lists of blocks once through one common period (or through n when that is shorter).
/// @throws Error{bad_argument, shape_mismatch}
Overlap overlap(const Axis& from, const Axis& to);

/// Old processes are numbered row-major 0 .. P-1 in the old grid; new ones P, P+1, ...
struct PlacementRequest {
  Axis rows_from, cols_from; ///< of the matrix that counts, on the old grid (nprocs = its rows, columns)
  Axis rows_to, cols_to;     ///< the same matrix on the new grid
  Placement method = Placement::optimal;
  /// Elements that it is worth to keep old process i in the new grid when the grid shrinks (huge: must stay;
  /// beyond max(m*n, 2^58 / processes of both grids) all are equally huge); negative: worth to see it leave;
  /// empty: 0 for all. `optimal` only.
  std::vector<std::int64_t> stay_bonus{};
  /// Old process 0, which stands at (0,0), stands at (0,0) of the new grid too: it has the open files. What
  /// that costs: docs/decisions/0033.
  bool keep_first = true;
  /// Old processes that are not in the new grid, whatever that moves; each once. The others stay as long as there are
  /// positions for them, and `optimal` is exact among the placements without these.
  std::vector<int> leave{};
};

struct PlacementResult {
  std::vector<int> grid;                ///< row-major, number of the process at each position of the new grid
  std::int64_t moved_elements = 0;      ///< whose owner changes
  std::int64_t retained_elements = 0;   ///< whose owner stays
  std::int64_t max_in = 0, max_out = 0; ///< elements, largest over processes
  std::vector<std::int64_t> kept, in,
      out; ///< elements, per process; processes of both grids, the ones that leave included
};

/// Any grid to any grid: growth, shrinking, one axis up and the other down, the same number of processes.
/// Pure; the same answer everywhere. All old processes that may stay do as long as there are positions for them; of
/// more new positions the free ones get P, P+1, ... row-major. Where one of `leave` stood a rule puts the next one of
/// those that have no position yet.
///
/// - global: position k (row-major) gets process k; shrinking keeps the first ones.
/// - local1: per axis, the old rows keep their order and new ones come after the last; shrinking drops the last.
/// - local2: per axis, of r new rows among p the i-th (0-based) has floor(((2i+1) p + r) / (2r)) old ones before it,
///   that is (2i+1)p/(2r) rounded half up; r > p is fine. Shrinking takes out the rows that the growth back would put
///   in. 'Row' 0 of both local methods is the one that holds the first block (src), so that the amount moved does not
///   depend on src. Where a local method drops processes although there are positions for them (2x8 -> 4x4), they take
///   the free ones row-major, ascending.
/// - optimal: exact assignment of old processes to positions, most elements (plus stay_bonus) kept; never worse than
///   the others. Up to `max_assignment_arcs` pairs with common elements; beyond that the exact assignment per axis,
///   improved, or another method if better. Of equally good placements the product of the best row and column
///   assignment is preferred, because it keeps old rows and columns together.
/// - keep_first: where a local method puts another row or column at 0 (local2 with r > p, any with sources
///   that are not 0), the two change places; `optimal` is the exact optimum of the placements that keep it.
/// Source: Chinnusamy 2004, sections 4.2-4.5; we differ in the rounding, in r > p and in `optimal`, see
/// docs/decisions/0032.
/// @throws Error{bad_argument, shape_mismatch}
PlacementResult place(const PlacementRequest& request);

/// The figures of a placement that is given, numbered as in PlacementResult::grid; of the request only the axes count.
/// @throws Error{bad_argument, shape_mismatch}
PlacementResult figures_of(const PlacementRequest& request, const std::vector<int>& grid);

inline constexpr std::int64_t max_assignment_arcs = 1'000'000;

} // namespace gridmap
