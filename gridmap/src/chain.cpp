// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "base/index.hpp"
#include "base/status.hpp"

namespace gridmap {

using base::Error;
using base::Status;
namespace {

constexpr double out_of_reach = std::numeric_limits<double>::infinity();

using base::at;

[[noreturn]] void bad_chain(const std::string& message) {
  throw Error(Status::bad_argument, "gridmap: balance: " + message);
}

void check_all(std::string_view what, const std::vector<double>& values, bool may_be_0) {
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]) || values[k] < 0 || (values[k] == 0 && !may_be_0))
      bad_chain(
          fmt::format("{} {} is {}, expected a finite number {}", what, k, values[k], may_be_0 ? "from 0" : "above 0"));
}

void check_processes(const std::vector<double>& speeds, const std::vector<double>& fixed_s) {
  if (speeds.empty()) bad_chain("the list of speeds is empty, expected one per process");
  check_all("speed", speeds, false);
  if (!fixed_s.empty() && fixed_s.size() != speeds.size())
    throw Error(Status::shape_mismatch,
                fmt::format("gridmap: balance: {} fixed times for {} processes, expected one each", fixed_s.size(),
                            speeds.size()));
  check_all("fixed time", fixed_s, true);
}

void check(const ChainRequest& request) {
  check_processes(request.speeds, request.fixed_s);
  check_all("cost", request.costs, true);
}

/// Seconds of stretches on processes. A longer stretch is never faster, in floating point neither: prefix sums only.
class Times {
public:
  explicit Times(const ChainRequest& request)
      : prefix_(request.costs.size() + 1, 0.0), speeds_(request.speeds), fixed_(request.fixed_s) {
    std::partial_sum(request.costs.begin(), request.costs.end(), prefix_.begin() + 1);
    fixed_.resize(speeds_.size(), 0.0);
  }
  std::int64_t items() const { return static_cast<std::int64_t>(prefix_.size()) - 1; }
  int processes() const { return static_cast<int>(speeds_.size()); }
  double operator()(int process, std::int64_t from, std::int64_t to) const {
    return (prefix_[at(to)] - prefix_[at(from)]) / speeds_[at(process)] + fixed_[at(process)];
  }

private:
  std::vector<double> prefix_, speeds_, fixed_;
};

/// The end of the longest stretch from `from` that takes at most `seconds`; -1 when not even an empty one does.
template <class Time>
std::int64_t longest(const Time& time, int process, std::int64_t from, std::int64_t items, double seconds) {
  if (time(process, from, from) > seconds) return -1;
  std::int64_t fits = from, too_long = items + 1;
  while (too_long - fits > 1) {
    const std::int64_t middle = fits + (too_long - fits) / 2;
    (time(process, from, middle) <= seconds ? fits : too_long) = middle;
  }
  return fits;
}

template <class Time> double time_of(const Time& time, const std::vector<std::int64_t>& first) {
  double seconds = 0;
  for (std::size_t i = 0; i + 1 < first.size(); ++i)
    seconds = std::max(seconds, time(static_cast<int>(i), first[i], first[i + 1]));
  return seconds;
}

/// Each process in turn takes as much as fits; false when something is left over.
template <class Time>
bool probe(const Time& time, int processes, std::int64_t items, double seconds, std::vector<std::int64_t>& first) {
  first.assign(1, 0);
  for (int i = 0; i < processes; ++i) {
    const std::int64_t end = longest(time, i, first.back(), items, seconds);
    if (end < 0) return false;
    first.push_back(end);
  }
  return first.back() == items;
}

/// The least time that can be reached, from one that was. reach(seconds) gives what really takes so long or less, or
/// infinity. Ends when nothing reaches the next smaller double.
template <class Reach> double least_time(double reached, Reach reach) {
  for (double missed = 0; reached > 0;) {
    const double below = std::nextafter(reached, 0.0);
    double middle = missed + (reached - missed) / 2;
    if (middle >= below || reached - missed <= 1e-15 * reached) middle = below;
    const double seconds = reach(middle);
    if (seconds <= middle)
      reached = seconds;
    else if (middle == below)
      break;
    else
      missed = middle;
  }
  return reached;
}

template <class Time> Chain solve(const Time& time, int processes, std::int64_t items) {
  // all to the first process is possible, whatever the others' fixed times are
  std::vector<std::int64_t> first(at(processes) + 1, items);
  first[0] = 0;
  Chain chain;
  chain.first = first;
  chain.seconds = least_time(time_of(time, first), [&](double seconds) {
    if (!probe(time, processes, items, seconds, first)) return out_of_reach;
    chain.first = first;
    return time_of(time, first);
  });
  return chain;
}

} // namespace

Chain balance_chain(const ChainRequest& request) {
  check(request);
  const Times time(request);
  return solve(time, time.processes(), time.items());
}

namespace {

void check(const CellsRequest& request) {
  const std::int64_t m = request.m, n = request.n;
  if (m < 0 || n < 0) bad_chain(fmt::format("matrix is {} x {}, expected at least 0 x 0", m, n));
  if (request.nprow < 1 || request.npcol < 1)
    bad_chain(fmt::format("grid is {}x{}, expected at least 1x1", request.nprow, request.npcol));
  if (static_cast<std::int64_t>(request.costs.size()) != m * n ||
      static_cast<std::int64_t>(request.speeds.size()) != std::int64_t{request.nprow} * request.npcol)
    throw Error(Status::shape_mismatch,
                fmt::format("gridmap: balance: {} costs and {} speeds for a {} x {} matrix on a {}x{} grid",
                            request.costs.size(), request.speeds.size(), m, n, request.nprow, request.npcol));
  check_processes(request.speeds, request.fixed_s);
  check_all("cost", request.costs, true);
}

/// Rows and columns of a grid, cut in turn: each exactly for the other as it is.
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
    cells_.seconds = time_of([this](int i, auto from, auto to) { return row_time(i, from, to); }, cells_.first_row);
    return cells_;
  }

  /// From `start` on, until nothing gets better.
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
  static std::vector<std::int64_t> evenly(std::int64_t items, int parts) {
    std::vector<std::int64_t> first;
    for (int k = 0; k <= parts; ++k) first.push_back(items * k / parts);
    return first;
  }
  double time(int i, int j, std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right) const {
    const std::size_t place = at(i * r_.npcol + j);
    const double work = sum(bottom, right) - sum(top, right) - (sum(bottom, left) - sum(top, left));
    return std::max(work, 0.0) / r_.speeds[place] + (r_.fixed_s.empty() ? 0.0 : r_.fixed_s[place]);
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
    Chain chain = rows ? solve([this](int i, auto from, auto to) { return row_time(i, from, to); }, r_.nprow, r_.m)
                       : solve([this](int j, auto from, auto to) { return col_time(j, from, to); }, r_.npcol, r_.n);
    (rows ? cells_.first_row : cells_.first_col) = std::move(chain.first);
    cells_.seconds = chain.seconds;
  }

  const CellsRequest& r_;
  std::vector<double> sums_;
  Cells cells_;
};

} // namespace

Cells balance_cells(const CellsRequest& request) {
  check(request);
  CellBalance balance(request);
  const Cells start = balance.evenly();
  Cells by_rows = balance.better(start, true), by_cols = balance.better(start, false);
  return by_cols.seconds < by_rows.seconds ? by_cols : by_rows;
}

} // namespace gridmap
