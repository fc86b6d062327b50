// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/status.hpp"
#include "gridmap/mapping.hpp"
#include "shares.hpp"

namespace gridmap {

using base::Error;
using base::Status;
namespace {
using base::at;

constexpr int exact_rows = 12;          // subsets: 4096
constexpr double exhaustive_work = 4e6; // steps

using Counts = std::vector<std::vector<std::int64_t>>;

/// One side of the grid: its old axis and the sizes of its new rows.
struct Side {
  const Axis& from;
  const std::vector<std::int64_t>& sizes;
  int count() const { return static_cast<int>(sizes.size()); }
  std::vector<int> identity() const {
    std::vector<int> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
};

/// How many elements old position p has in each new row, when the rows come in this order: [p][row].
Counts overlaps(const Side& side, const std::vector<int>& order) {
  Counts table(at(side.from.nprocs), std::vector<std::int64_t>(side.sizes.size(), 0));
  for (int p = 0; p < side.from.nprocs; ++p) {
    std::int64_t start = 0, before = 0;
    for (const int row : order) {
      start += side.sizes[at(row)];
      const std::int64_t next = side.from.count_before(p, start);
      table[at(p)][at(row)] = next - before;
      before = next;
    }
  }
  return table;
}

/// Positions: old positions of the process of (row, col) of the new grid on this side and on the other
/// one, -1 for new ones.
struct Cell {
  int here, there;
};
using CellTable = std::vector<std::vector<Cell>>; // [row][col]

/// weight[row][p]: what an element of old position p on this side is worth in new row `row`: the columns that
/// stay with it.
Counts weights(const CellTable& cells, int positions, const Counts& other) {
  Counts table(cells.size(), std::vector<std::int64_t>(at(positions), 0));
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (std::size_t j = 0; j < cells[i].size(); ++j)
      if (cells[i][j].here >= 0) table[i][at(cells[i][j].here)] += other[at(cells[i][j].there)][j];
  return table;
}

std::int64_t value_of(const Side& side, const std::vector<int>& order, const Counts& weight) {
  const Counts table = overlaps(side, order);
  std::int64_t sum = 0;
  for (std::size_t row = 0; row < side.sizes.size(); ++row)
    for (std::size_t p = 0; p < table.size(); ++p) sum += weight[row][p] * table[p][row];
  return sum;
}

/// Exact: which rows come first decides where the next one starts, not their order. `before[p][subset]`.
std::int64_t best_order_exact(const Side& side, const Counts& weight, const Counts& before, std::vector<int>& order) {
  const int rows = side.count();
  std::vector<std::int64_t> best(at(1) << rows, -1);
  std::vector<signed char> last(best.size(), -1);
  best[0] = 0;
  for (std::size_t subset = 0; subset < best.size(); ++subset)
    for (int row = 0; row < rows; ++row) {
      if (subset >> row & 1) continue;
      const std::size_t next = subset | at(1) << row;
      std::int64_t value = best[subset];
      for (std::size_t p = 0; p < before.size(); ++p)
        if (weight[at(row)][p] > 0) value += weight[at(row)][p] * (before[p][next] - before[p][subset]);
      if (value > best[next]) {
        best[next] = value;
        last[next] = static_cast<signed char>(row);
      }
    }
  order.clear();
  for (std::size_t subset = best.size() - 1; subset != 0; subset &= ~(at(1) << order.back()))
    order.push_back(last[subset]);
  std::reverse(order.begin(), order.end());
  return best.back();
}

Counts before_subsets(const Side& side) {
  const std::size_t subsets = at(1) << side.count();
  std::vector<std::int64_t> start(subsets, 0);
  for (std::size_t subset = 1; subset < subsets; ++subset) {
    const int row = __builtin_ctzll(subset);
    start[subset] = start[subset & (subset - 1)] + side.sizes[at(row)];
  }
  Counts table(at(side.from.nprocs), std::vector<std::int64_t>(subsets));
  for (int p = 0; p < side.from.nprocs; ++p)
    for (std::size_t subset = 0; subset < subsets; ++subset)
      table[at(p)][subset] = side.from.count_before(p, start[subset]);
  return table;
}

/// Moves of one row at a time while they help.
std::int64_t best_order_moves(const Side& side, const Counts& weight, std::vector<int>& order) {
  std::int64_t best = value_of(side, order, weight);
  for (bool improved = true; improved;) {
    improved = false;
    for (int a = 0; a < side.count(); ++a)
      for (int b = 0; b < side.count(); ++b) {
        if (a == b) continue;
        std::vector<int> next = order;
        next.erase(next.begin() + a);
        next.insert(next.begin() + b, order[at(a)]);
        const std::int64_t value = value_of(side, next, weight);
        if (value > best) {
          best = value;
          order = std::move(next);
          improved = true;
        }
      }
  }
  return best;
}

CellTable turned(const CellTable& cells) {
  CellTable result(cells[0].size(), std::vector<Cell>(cells.size(), Cell{-1, -1}));
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (std::size_t j = 0; j < cells[i].size(); ++j) result[j][i] = {cells[i][j].there, cells[i][j].here};
  return result;
}

/// New rows in the order of the middle of the old rows that their processes come from.
std::vector<int> natural_order(const Side& side, const CellTable& cells) {
  std::vector<double> middle(side.sizes.size(), 0);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    int known = 0;
    for (const Cell& cell : cells[i])
      if (cell.here >= 0) {
        middle[i] +=
            static_cast<double>((std::int64_t{cell.here} - side.from.src + side.from.nprocs) % side.from.nprocs);
        ++known;
      }
    middle[i] = known > 0 ? middle[i] / known : side.from.nprocs;
  }
  std::vector<int> order = side.identity();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return middle[at(a)] < middle[at(b)]; });
  return order;
}

double factorial(int n) {
  double product = 1;
  for (int k = 2; k <= n && std::isfinite(product); ++k) product *= k;
  return product;
}

void check_side(const char* name, const Axis& from, const std::vector<std::int64_t>& sizes) {
  from.validate();
  if (sizes.empty()) throw Error(Status::bad_argument, "gridmap: order: no {}, expected at least one", name);
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0) throw Error(Status::bad_argument, "gridmap: order: {} has {}, expected at least 0", name, size);
    if (__builtin_add_overflow(sum, size, &sum))
      throw Error(Status::bad_argument, "gridmap: order: {} add up to 2^63 or more, expected {} as before", name,
                  from.n);
  }
  if (sum != from.n)
    throw Error(Status::shape_mismatch, "gridmap: order: {} add up to {}, expected {} as before", name, sum, from.n);
}

/// Where each process of the new grid is in the old one; {-1, -1} for a new process. @throws Error
CellTable cells_of(const GridOrderRequest& request, const Side& rows, const Side& cols) {
  if (request.grid.size() != request.rows.size() * request.cols.size())
    throw Error(Status::shape_mismatch, "gridmap: order: {} processes for a {}x{} grid, expected {}",
                request.grid.size(), rows.count(), cols.count(), request.rows.size() * request.cols.size());
  const int old_count = rows.from.nprocs * cols.from.nprocs;
  std::vector<char> seen(at(old_count), 0);
  CellTable cells(request.rows.size(), std::vector<Cell>(request.cols.size(), Cell{-1, -1}));
  for (std::size_t k = 0; k < request.grid.size(); ++k) {
    const int process = request.grid[k];
    if (process < 0) throw Error(Status::bad_argument, "gridmap: order: process {}, expected at least 0", process);
    if (process >= old_count) continue;
    if (seen[at(process)]++) throw Error(Status::bad_argument, "gridmap: order: process {} is named twice", process);
    cells[k / request.cols.size()][k % request.cols.size()] = {process / cols.from.nprocs, process % cols.from.nprocs};
  }
  return cells;
}

/// Rows or columns, and the same cells seen from them.
struct Half {
  const Side& side;
  CellTable cells;
  bool is_exact;
  Counts before; ///< of an exact one

  Half(const Side& of, CellTable seen)
      : side(of), cells(std::move(seen)), is_exact(of.count() <= exact_rows),
        before(is_exact ? before_subsets(of) : Counts{}) {}
  /// With the other half in that order. order: begun with, and made better; @return what stays then
  std::int64_t best_order(const Side& other, const std::vector<int>& other_order, std::vector<int>& order) const {
    const Counts weight = weights(cells, side.from.nprocs, overlaps(other, other_order));
    return is_exact ? best_order_exact(side, weight, before, order) : best_order_moves(side, weight, order);
  }
};

double exhaustive_work_of(const Side& few, const Side& many) {
  return factorial(few.count()) * std::ldexp(1.0, many.count()) * many.count() *
         std::min(many.from.nprocs, few.count());
}

/// All orders of the short side, the other one exact for each. @return what stays by the best
std::int64_t exhaust(const Side& few, const Half& many, std::vector<int>& few_order, std::vector<int>& many_order) {
  std::int64_t retained = -1;
  std::vector<int> order = few.identity(), other;
  do {
    const std::int64_t value = many.best_order(few, order, other);
    if (value <= retained) continue;
    retained = value;
    few_order = order;
    many_order = other;
  } while (std::next_permutation(order.begin(), order.end()));
  return retained;
}

} // namespace

GridOrder order_grid(const GridOrderRequest& request) {
  check_side("rows", request.rows_from, request.rows);
  check_side("cols", request.cols_from, request.cols);
  check_counts(request.rows_from, request.cols_from, "order: the old");
  const Side row_side{request.rows_from, request.rows}, col_side{request.cols_from, request.cols};
  const CellTable cells = cells_of(request, row_side, col_side);
  const Half rows(row_side, cells), cols(col_side, turned(cells));
  const auto pays = [](const Side& few, const Half& many) {
    return many.is_exact && exhaustive_work_of(few, many.side) <= exhaustive_work;
  };
  const bool rows_are_less_work =
      !cols.is_exact || exhaustive_work_of(col_side, row_side) <= exhaustive_work_of(row_side, col_side);
  GridOrder best;
  if (rows_are_less_work && pays(col_side, rows)) {
    best.retained_elements = exhaust(col_side, rows, best.col_order, best.row_order);
    return best;
  }
  if (pays(row_side, cols)) {
    best.retained_elements = exhaust(row_side, cols, best.row_order, best.col_order);
    return best;
  }
  best.row_order = natural_order(row_side, rows.cells);
  best.col_order = natural_order(col_side, cols.cells);
  best.retained_elements = -1;
  for (;;) { // rows and columns in turn
    std::vector<int> row_order = best.row_order, col_order = best.col_order;
    rows.best_order(col_side, col_order, row_order);
    const std::int64_t value = cols.best_order(row_side, row_order, col_order);
    if (value <= best.retained_elements) return best;
    best.retained_elements = value;
    best.row_order = std::move(row_order);
    best.col_order = std::move(col_order);
  }
}

} // namespace gridmap
