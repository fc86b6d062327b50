// SPDX-License-Identifier: BSD-3-Clause
#include "advise/usual_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/statistics.hpp"

namespace advise {
namespace {

constexpr CallChoiceRules of_calls;

} // namespace

void UsualTime::add(double seconds) {
  if (last_.size() == most_) last_.erase(last_.begin());
  last_.push_back(seconds);
}

double UsualTime::least_s() const {
  return last_.empty() ? std::numeric_limits<double>::quiet_NaN() : *std::min_element(last_.begin(), last_.end());
}

double UsualTime::seconds() const {
  return last_.size() < UsualRules().few ? least_s() : base::median(last_);
}

double UsualTime::error_s() const {
  constexpr double of_one = 1.4826, of_median = 1.2533;
  if (last_.size() < 2) return 0;
  const double middle = base::median(last_);
  std::vector<double> off;
  for (const double s : last_) off.push_back(std::abs(s - middle));
  return of_one * of_median * base::median(std::move(off)) / std::sqrt(static_cast<double>(last_.size()));
}

double UsualTime::quartile_s() const {
  if (last_.size() < of_calls.quartile_of) return least_s();
  std::vector<double> sorted = last_;
  std::sort(sorted.begin(), sorted.end());
  const double where = of_calls.quartile * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(where);
  return sorted[below] + (where - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

double UsualTime::quartile_error_s() const {
  const auto n = static_cast<double>(last_.size());
  const double usual_s = quartile_s();
  return std::max(of_calls.unsure_of_quartile * (usual_s - least_s()) / std::sqrt(n),
                  of_calls.unsure_of_one / n * usual_s);
}

} // namespace advise
