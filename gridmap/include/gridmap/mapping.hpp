// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "gridmap/axis.hpp"

namespace gridmap {

/// How processors of different speed are put into a grid. Speeds are relative (no unit): twice the
/// speed, half the time.
enum class MapMethod {
  best = 0,    ///< svd, exact shares, search over arrangements; the true optimum on small grids
  svd = 1,     ///< the published heuristic
  natural = 2, ///< descending row-major, shares from the sums of rows and columns of the grid
};

struct MappingRequest {
  std::vector<double> speeds; ///< one per processor, from 1e-150 to 1e150
  int nprow = 1, npcol = 1;   ///< nprow * npcol = number of speeds
  std::int64_t m = 0, n = 0;  ///< the matrix that is spread, in elements
  MapMethod method = MapMethod::best;
  double search_work = 5e7; ///< floating-point operations that `best` may spend on its search; about 0.1 s
};

/// r_i * c_j never exceeds the speed at (i, j), except for `natural`, which scales only the sums.
struct Mapping {
  int nprow = 0, npcol = 0;
  std::vector<int> order;     ///< row-major, index into the given speeds at each grid position
  std::vector<double> speeds; ///< row-major, the speed at each grid position
  std::vector<double> r,
      c; ///< continuous shares of rows and columns, in square roots of speeds; only their product counts
  std::vector<std::int64_t> rows,
      cols;                ///< integers that add up to m and n; at least 1 each where m, n are large enough
  double t_continuous = 0; ///< m*n / (sum r * sum c), largest time of a processor with shares that need not be integers
  double t_theory = 0;     ///< largest rows*cols/speed over the grid
  bool proved = false;     ///< the arrangement and the shares are the true optimum of t_continuous

  double t_opt(int i, int j) const { return r[static_cast<std::size_t>(i)] * c[static_cast<std::size_t>(j)]; }
  double speed(int i, int j) const {
    return speeds[static_cast<std::size_t>(i) * static_cast<std::size_t>(npcol) + static_cast<std::size_t>(j)];
  }
  double utilization(int i, int j) const { return t_opt(i, j) / speed(i, j); } ///< busy part of the time, 0 .. 1
  double mean_utilization() const; ///< sum r * sum c / sum of speeds: the used part of all speed
};

/// Arranges the processors in an nprow x npcol grid and gives every grid row and column its share. Pure; the
/// same answer everywhere.
///
/// - svd: Beaumont et al. 2001 as Chinnusamy 2004, section 6.2.1 uses it, in the reading that reproduces its tables:
///   speeds descending row-major; r = leading left singular vector of the speeds, c_j = min_i P_ij/r_i, r_i = min_j
///   P_ij/c_j; the k-th largest speed goes where r_i*c_j is k-th largest, until nothing moves, an arrangement comes
///   back or 200 rounds; the best arrangement seen is the answer, with its own vector or the one that has led to it.
/// - best: from that and from the column-major and transposed starts, coordinate-wise exact shares and re-sorting in
///   turn, which never makes it worse, and kicks out of local optima by a fixed random sequence; with nprow or npcol up
///   to 4 and at most 16 processors a branch and bound over all arrangements, each solved exactly (`proved`, unless it
///   ran into its limit of work). Never slower than svd.
/// - natural: Chinnusamy 2004, section 3.5.2, once per dimension.
///
/// Integer rows and columns: largest remainder, at least one each (svd, natural); best improves them by exact turns of
/// rows and columns.
/// @throws Error{bad_argument, shape_mismatch}
Mapping map_processors(const MappingRequest& request);

/// The same for processors whose places are given (speeds row-major): only the shares are worked out. `best` is the
/// exact optimum (`proved`) for nprow or npcol up to 4 where that takes at most a few million steps, otherwise an
/// optimum no single share can improve.
Mapping map_in_place(const MappingRequest& request);

/// Natural block decomposition of one axis: n * speed / sum of speeds, rounded by largest remainder, at least
/// 1 each when n allows.
/// @throws Error{bad_argument}
std::vector<std::int64_t> natural_blocks(std::int64_t n, const std::vector<double>& speeds);

/// A new grid of uneven rows and columns whose order is still free: which processes share a row or a column
/// is settled, where they stand is not.
struct GridOrderRequest {
  Axis rows_from, cols_from; ///< of the matrix on the old grid, any distribution
  std::vector<std::int64_t> rows,
      cols; ///< sizes of the new grid rows and columns, in any order; they add up to the old axes
  /// Row-major, the process at each place: 0 .. P-1 row-major in the old grid, P and up are new.
  std::vector<int> grid;
};

struct GridOrder {
  std::vector<int> row_order,
      col_order;                      ///< index of the row (column) of the request that comes first, second, ...
  std::int64_t retained_elements = 0; ///< whose owner stays
};

/// The order of grid rows and columns in which most elements stay where they are.
///
/// Rows for given columns are exact up to 12 rows (dynamic programming over subsets), otherwise moves of single rows
/// while they help; rows and columns in turn until nothing improves. Where one side is short (all its orders times
/// 2^rows * rows are at most a few million steps) all its orders are tried, and no other order keeps more.
/// @throws Error{bad_argument, shape_mismatch}
GridOrder order_grid(const GridOrderRequest& request);

} // namespace gridmap
