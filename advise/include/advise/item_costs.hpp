// SPDX-License-Identifier: BSD-3-Clause
// Rows, or columns, of unequal work: what lies in a stretch of them. Pure.
#pragma once
#include <cstdint>
#include <vector>

namespace advise {

/// Costs of the items of an axis, in groups of neighbours.
struct ItemCosts {
  std::vector<double> costs; ///< of each group, in order, relative; finite, at least 0; empty: all items are alike
  std::int64_t group = 1;    ///< items of each group; the last one may have fewer

  bool are_alike() const { return costs.empty(); }
};

/// Where the work of n items lies.
class WorkAlong {
public:
  /// All costs 0: the items are alike. @throws Error{bad_argument, shape_mismatch}
  WorkAlong(std::int64_t n, const ItemCosts& items);
  /// The part of all work that lies before item i, 0 .. 1; within a group its items are alike. 0 <= i <= n
  double before(std::int64_t i) const;
  /// The part that lies in each of these stretches, one after the other from item 0 on.
  std::vector<double> parts(const std::vector<std::int64_t>& stretches) const;

private:
  std::int64_t n_, group_;
  std::vector<double> before_; ///< each group, and the end; empty: all items are alike
};

/// Where the work of a matrix lies: an element costs its row times its column.
struct WorkOnGrid {
  WorkAlong rows, cols;
  /// The part of all work at each place of a grid with these rows and columns, row-major.
  std::vector<double> parts(const std::vector<std::int64_t>& grid_rows,
                            const std::vector<std::int64_t>& grid_cols) const;
};

} // namespace advise
