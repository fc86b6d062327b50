// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.hpp"
#include "gridmap/mapping.hpp"

namespace gridmap {

enum class Strategy { best = 0, global = 1, local = 2, mixed = 3 };
/// In the order of their numbers.
inline const base::Names& strategy_names() {
  static const base::Names names{"best", "global", "local", "mixed"};
  return names;
}
const char* to_string(Strategy strategy);
/// @throws Error{bad_argument} "<where> is "x", expected best, global, local or mixed".
Strategy parse_strategy(std::string_view text, std::string_view where);

struct SelectionRequest {
  int nprow = 1, npcol = 1;      ///< grid in use
  std::vector<double> grid;      ///< row-major, its speeds where they are now, from 1e-150 to 1e150 as all speeds
  std::vector<double> available; ///< speeds of the free processors, any order; may be empty
  double tpp = 0;                ///< largest total speed of the processors that may be chosen
  std::int64_t m = 0, n = 0;     ///< the matrix that is spread, in elements
  Strategy strategy = Strategy::best;
  /// `best` only: longer side of the new grid over its shorter one, for the shapes that the search looks at. A
  /// single row of processors can always be loaded in full, so without a limit 1 x N would win every time: this
  /// measure does not see what such a grid costs in communication. The old grid's own aspect ratio is always
  /// allowed, and so are the grids of the three published strategies, which best is never slower than.
  double max_aspect = 3;
  /// `best` only: grids that it may choose, beside the one in use; empty: any. The published strategies do not ask.
  std::function<bool(int nprow, int npcol)> permits{};
  /// `best` only: cost of changing to a grid, in the unit of t_continuous; empty: 0. The least sum of both
  /// is best. Of a shape and its transposed the cheaper one is looked at. Infinite: only where there is nothing else.
  std::function<double(int nprow, int npcol)> price{};
};

struct Selection {
  std::vector<int> chosen; ///< indices into `available`, ascending
  /// New grid. Its `order` names processor k of the old grid by k and free processor i by nprow*npcol + i.
  Mapping mapping;
  double tpp_used = 0, tpp_left = 0;
  std::string unused_because; ///< one line: why tpp_left was not used
  Strategy found_by = Strategy::best;
};

/// Chooses processors from the list, their speeds together at most tpp, and maps old and new ones onto a
/// grid. Pure; the same answer everywhere. Times are t_continuous of the mapping, m*n / (sum r * sum c).
///
/// - global: descending, skipping what does not fit; grid nearest to square with nprow <= npcol (a prime count above 3
///   is avoided: instead of the last one two that share the rest), mapped by `svd`. Then the new processor used least
///   gives way to the smallest free speed that its place needs and the rest is filled again, as long as that is faster.
/// - local: whole new rows or columns, each proportional to the shares of the grid it joins; only new
///   processors change places.
/// - mixed: the processors and the grid of local, all of them mapped by `svd`.
/// - best: these three and a search over grid shapes and sets (fixed random sequence), all mapped by `best`;
///   the fastest.
///
/// Source: Chinnusamy 2004, section 6.3.1, which leaves points open. These readings reproduce table 6.7, except for the
/// entries that REFERENCES.md calls wrong: a replacement considers new processors used less than a third; a new row is
/// proportional to the column shares. Tables 6.17 and 6.20 cannot be fitted: one needs a processor that is not in the
/// list, the other has no list.
/// @throws Error{bad_argument, shape_mismatch}
Selection select_processors(const SelectionRequest& request);

} // namespace gridmap
