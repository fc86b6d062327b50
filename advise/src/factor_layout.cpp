// SPDX-License-Identifier: BSD-3-Clause
#include "advise/factor_layout.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "advise/payoff.hpp"
#include "base/index.hpp"
#include "gridmap/dealing.hpp"

namespace advise {
namespace {

using base::at;

/// What each position has of the indices from one on, which goes down.
class Left {
public:
  explicit Left(const Axis& axis) : owners_(at(axis.n)), left_(at(axis.nprocs), 0), from_(axis.n) {
    for (int p = 0; p < axis.nprocs; ++p)
      for (const Axis::Stretch& s : axis.stretches(p))
        std::fill(&owners_[at(s.first)], &owners_[at(s.first)] + s.last - s.first, p);
  }
  const std::vector<double>& from(std::int64_t index) {
    while (from_ > index) ++left_[at(owners_[at(--from_)])];
    return left_;
  }

private:
  std::vector<int> owners_;
  std::vector<double> left_;
  std::int64_t from_;
};

/// From all steps, or from the last panel, whichever is less. Where shares get uneven towards the end, the work seems
/// to be more than it is.
double seconds_of_unit(const FactorLayoutRequest& r) {
  const double alike = gridmap::factor_work(r.rows.n, r.cols.n, r.last, r.next);
  const double slowest = factor_time(r.rows, r.cols, r.speeds, r.last, r.next);
  return std::min(r.work_s, slowest > 0 ? r.step_s * alike / slowest : 0) / r.first_work;
}

} // namespace

double factor_time(const Axis& rows, const Axis& cols, const std::vector<double>& speeds, std::int64_t first,
                   std::int64_t end) {
  constexpr std::int64_t most_columns = 4096;
  end = std::min({end, rows.n, cols.n});
  if (end <= first) return 0;
  const std::int64_t stride = (end - first + most_columns - 1) / most_columns;
  Left rows_left(rows), cols_left(cols);
  double sum = 0;
  for (std::int64_t j = first + (end - 1 - first) / stride * stride; j >= first; j -= stride) {
    const std::vector<double>&m = rows_left.from(j), &n = cols_left.from(j);
    double slowest = 0;
    for (std::size_t place = 0; place < speeds.size(); ++place)
      slowest = std::max(slowest, m[place / n.size()] * n[place % n.size()] / speeds[place]);
    sum += slowest * static_cast<double>(std::min(stride, end - j));
  }
  return sum;
}

FactorLayoutDecision decide_factor_layout(const FactorLayoutRequest& r, const Balance& stays) {
  const std::int64_t end = std::min(r.rows.n, r.cols.n);
  FactorLayoutDecision d;
  d.unit_s = seconds_of_unit(r);
  d.now_s = d.unit_s * factor_time(r.rows, r.cols, r.speeds, r.next, end);
  d.then_s = d.unit_s * factor_time(r.rows_then, r.cols_then, r.speeds, r.next, end);
  const double saved = d.now_s - d.then_s;
  const bool pays = saved > r.rules.gain * d.now_s && saved - r.change.total() > r.rules.worth * d.now_s;
  if (!pays) return d;
  Balance balance = stays;
  balance.action = BalanceAction::rebalance;
  balance.steps = static_cast<double>(std::max<std::int64_t>(1, r.panels_left));
  balance.now.step = {{{"work", d.now_s / balance.steps}}};
  balance.then = balance.now;
  balance.then.step = {{{"work", d.then_s / balance.steps}}};
  balance.then.change = r.change;
  balance.then.moved_elements = r.moved_elements;
  balance.then.rows = r.rows_then.local_sizes();
  balance.then.cols = r.cols_then.local_sizes();
  balance.payoff_steps = payoff_point(r.change.total(), balance.now.step_s(), balance.then.step_s());
  balance.why = fmt::format("the rest of \"{}\" is predicted to take {:.3g} s in the order for factorizations, "
                            "{:.3g} s without it",
                            r.name, d.then_s, d.now_s);
  d.balance = std::move(balance);
  return d;
}

GridShape grid_for_rest(GridShape now, std::int64_t m, std::int64_t n, const FactorRules& rules) {
  const auto enough = [&](int processes, std::int64_t length) {
    return static_cast<int>(std::clamp<std::int64_t>(length / rules.least_width, 1, processes));
  };
  const GridShape rest{enough(now.nprow, m), enough(now.npcol, n)};
  return rules.times_fewer * rest.size() <= now.size() ? rest : now;
}

} // namespace advise
