// SPDX-License-Identifier: BSD-3-Clause
#include "advise/cells.hpp"

#include <algorithm>
#include <string_view>

#include "base/index.hpp"
#include "base/status.hpp"
#include "refusal.hpp"

namespace advise {
namespace {

using base::at;

/// Rows and columns of a grid, cut in turn: each exactly for the present cut of the other.
class CellBalance {
public:
  explicit CellBalance(const CellsRequest& request) : r_(request), sums_(at((request.m + 1) * (request.n + 1)), 0.0) {
    for (std::int64_t i = 0; i < r_.m; ++i) {
      double row = 0;
      for (std::int64_t j = 0; j < r_.n; ++j) {
        row += r_.costs[at(i * r_.n + j)];
        sums_[at((i + 1) * (r_.n + 1) + j + 1)] = sum(i, j + 1) + row;
      }
    }
  }

  /// All alike in their numbers of rows and of columns.
  Cells evenly() {
    cells_.first_row = evenly(r_.m, r_.nprow);
    cells_.first_col = evenly(r_.n, r_.npcol);
    cells_.seconds =
        base::time_of([this](int i, auto from, auto to) { return row_time(i, from, to); }, cells_.first_row);
    return cells_;
  }

  /// From `start` on, until there is no improvement.
  Cells better(const Cells& start, bool rows_first) {
    cells_ = start;
    Cells best = start;
    for (int round = 0; round < 100; ++round) {
      const double before = best.seconds;
      for (const bool rows : {rows_first, !rows_first}) {
        cut(rows);
        if (cells_.seconds < best.seconds) best = cells_;
      }
      if (best.seconds >= before * (1 - 1e-12)) break;
    }
    return best;
  }

private:
  /// Of all cells above and to the left.
  double sum(std::int64_t i, std::int64_t j) const { return sums_[at(i * (r_.n + 1) + j)]; }
  static Borders evenly(std::int64_t items, int parts) {
    Borders first;
    for (int k = 0; k <= parts; ++k) first.push_back(items * k / parts);
    return first;
  }
  double time(int i, int j, std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right) const {
    const std::size_t place = at(i * r_.npcol + j);
    const double work = sum(bottom, right) - sum(top, right) - (sum(bottom, left) - sum(top, left));
    return std::max(work, 0.0) / r_.speeds[place];
  }
  // of a grid row the slowest process counts, and so of a column
  double row_time(int i, std::int64_t from, std::int64_t to) const {
    double seconds = 0;
    for (int j = 0; j < r_.npcol; ++j)
      seconds = std::max(seconds, time(i, j, from, to, cells_.first_col[at(j)], cells_.first_col[at(j) + 1]));
    return seconds;
  }
  double col_time(int j, std::int64_t from, std::int64_t to) const {
    double seconds = 0;
    for (int i = 0; i < r_.nprow; ++i)
      seconds = std::max(seconds, time(i, j, cells_.first_row[at(i)], cells_.first_row[at(i) + 1], from, to));
    return seconds;
  }
  void cut(bool rows) {
    const auto time_of_row = [this](int i, auto from, auto to) { return row_time(i, from, to); };
    const auto time_of_col = [this](int j, auto from, auto to) { return col_time(j, from, to); };
    if (rows)
      cells_.first_row = base::cut(time_of_row, r_.nprow, r_.m);
    else
      cells_.first_col = base::cut(time_of_col, r_.npcol, r_.n);
    cells_.seconds = rows ? base::time_of(time_of_row, cells_.first_row) : base::time_of(time_of_col, cells_.first_col);
  }

  const CellsRequest& r_;
  std::vector<double> sums_;
  Cells cells_;
};

void check_count(std::string_view what, const std::vector<double>& values, std::int64_t count) {
  if (static_cast<std::int64_t>(values.size()) != count)
    throw base::Error(base::Status::shape_mismatch, "advise: cells: {} {}s, expected {}", values.size(), what, count);
}

void check(const CellsRequest& r) {
  if (r.m < 0 || r.n < 0 || r.nprow < 1 || r.npcol < 1)
    refuse("cells: {} x {} cells on a {}x{} grid, expected cells from 0 and a grid from 1x1", r.m, r.n, r.nprow,
           r.npcol);
  check_count("cost", r.costs, r.m * r.n);
  check_all("cells: cost", r.costs, true);
  check_count("speed", r.speeds, std::int64_t{r.nprow} * r.npcol);
  check_all("cells: speed", r.speeds, false);
}

} // namespace

Cells balance_cells(const CellsRequest& request) {
  check(request);
  CellBalance balance(request);
  const Cells start = balance.evenly();
  Cells by_rows = balance.better(start, true), by_cols = balance.better(start, false);
  return by_cols.seconds < by_rows.seconds ? by_cols : by_rows;
}

} // namespace advise
