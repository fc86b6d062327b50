// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/grid_shape.hpp"

namespace advise {

using base::GridShape;

/// The list of shapes grows as procs * log(procs) where all counts are looked at.
constexpr int most_procs = 10'000'000;

/// Which of two equally good shapes the application prefers.
enum class Dominance { columns = 0, rows = 1 }; ///< columns: nprow <= npcol (2x3 rather than 3x2)

/// A measured time of the application.
struct ShapeTime {
  int nprow = 0, npcol = 0;
  double seconds = 0;
};

class StepModel;

struct TopologyRequest {
  int procs = 0;                      ///< available in all, those in use included
  double aspect_p = 0;                ///< npcol <= aspect_p * nprow; 0: no limit
  double aspect_q = 0;                ///< nprow <= aspect_q * npcol; 0: no limit
  int from_nprow = 0, from_npcol = 0; ///< > 0: the local form, rows and columns are only added to this grid
  Dominance prefer = Dominance::columns;
  std::int64_t data_m = 0, data_n = 0;     ///< > 0: the matrix; local pieces should be square, m/nprow ~ n/npcol
  double data_aspect = 2;                  ///< longest side of a local piece over its shortest
  std::vector<int> valid_procs;            ///< allowed nprow * npcol; empty: all
  std::vector<int> valid_rows, valid_cols; ///< allowed nprow, npcol; empty: all
  std::vector<ShapeTime> times; ///< not empty: the shape with the best time wins, not the one with the most processes
  const StepModel* steps = nullptr; ///< in place of times, with their errors and the hosts' cores; borrowed
};

struct Topology {
  int nprow = 0, npcol = 0;
  int used = 0, idle = 0;    ///< processes used .. procs-1 are the idle ones
  double seconds = -1;       ///< measured or interpolated time, -1 without a table
  bool interpolated = false; ///< no measurement of this very shape
  std::string why;           ///< one line: why this shape, and why processes stay idle
};

/// The shape with the most processes within the limits. Of equally many: the pieces nearest to square (with
/// data_m and data_n), then the grid nearest to square, then the preferred dominance. Pure.
///
/// The limits hold for the new grid, also in the local form: as published, for the increments, they would forbid a
/// single new row or column. The published count of new processes holds for square grids only. With a table of times:
/// the measured time of the shape, or for shapes between measured ones that of StepModel (advise/step_time.hpp),
/// clipped to the measured times; shapes outside the measured range are not guessed. The grid to start from is a
/// candidate of the local form even when it breaks the limits itself: nothing is taken away. Source: Chinnusamy 2004,
/// sections 5.1.1 and 5.2.1; data and valid sets: Moreira and Naik 1997 (DRMS).
/// @throws Error{bad_argument, shape_mismatch}; not_found when no shape is allowed.
Topology choose_topology(const TopologyRequest& request);

/// Whether a grid keeps to the aspects and the valid sets of a request.
bool is_within(const TopologyRequest& request, GridShape shape);

double aspect(GridShape shape); ///< longer side over shorter side

/// "1,2,4,9", "4:32" (step 1), "4:32:4" (step 4), "4:32:*2" (4, 8, 16, 32), and lists of these. Ascending,
/// each once; all at least 1.
/// @throws Error{bad_argument}
std::vector<int> parse_set(const std::string& text);

} // namespace advise
