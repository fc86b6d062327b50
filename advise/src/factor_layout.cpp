// SPDX-License-Identifier: BSD-3-Clause
#include "advise/factor_layout.hpp"

#include <algorithm>

#include "base/index.hpp"

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

FactorLayoutDecision decide_factor_layout(const FactorLayoutRequest& r) {
  const std::int64_t end = std::min(r.rows.n, r.cols.n);
  FactorLayoutDecision d;
  d.now_s = r.unit_s * factor_time(r.rows, r.cols, r.speeds, r.next, end);
  d.then_s = r.unit_s * factor_time(r.rows_then, r.cols_then, r.speeds, r.next, end);
  const double saved = d.now_s - d.then_s;
  d.pays = saved > r.rules.gain * d.now_s && saved - r.change_s > r.rules.worth * d.now_s;
  return d;
}

} // namespace advise
