// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "advise/rules.hpp"

namespace advise {

/// What a step, a phase or a call usually takes: the last times under the same conditions. A single disturbed time
/// changes it little. Calls are judged by the lower quartile, since a disturbance only makes a call longer: with the
/// median of eight, calls on a disturbed machine lost up to 10 %; the quartile keeps that below 2 %.
class UsualTime {
public:
  /// most: times that count; older ones are forgotten.
  explicit UsualTime(std::size_t most = UsualRules().kept) : most_(most) {}
  void add(double seconds);
  void forget() { last_.clear(); } ///< the conditions have changed
  std::size_t count() const { return last_.size(); }

  /// The median; of fewer than three the least, since a first one may fill caches. Not a number when there is none.
  double seconds() const;
  /// Standard error of that median: 1.2533 / sqrt(n) times the standard deviation, which is 1.4826 times the median
  /// distance from the median if the times are normally distributed. 0 of fewer than two.
  double error_s() const;
  double least_s() const; ///< not a number when there is none

  /// The lower quartile, with CallChoiceRules; of fewer than five the least. Not a number when there is none.
  double quartile_s() const;
  /// What that may be off by: twice its standard error, from the least one.
  double quartile_error_s() const;

private:
  std::size_t most_;
  std::vector<double> last_;
};

} // namespace advise
