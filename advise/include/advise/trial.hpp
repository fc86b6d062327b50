// SPDX-License-Identifier: BSD-3-Clause
// Steps on a grid, the judgement of a change by them, and grids to try. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/cost.hpp"
#include "advise/rules.hpp"
#include "advise/usual_time.hpp"

namespace advise {

/// Steps since the last change of the grid.
struct Stay {
  std::int64_t steps = 0;
  std::optional<double> cold_s; ///< the first one: counts only where there is no other
  StepTimes others;
  /// @return whether it counts: it is not the first one
  bool add(double step_s);
  std::optional<double> mean_s() const { return others.count > 0 ? others.mean : cold_s; }
};

/// Grids to try in the first steps, e.g. "2x2,2x3,3x3@3": three steps on each (a first one on a new grid does not
/// count). The experiment ends on the fastest.
struct Experiment {
  std::vector<base::GridShape> grids;
  int steps = 2;
  /// @throws base::Error{bad_argument} naming `where`
  static Experiment parse(const std::string& text, const std::string& where);
};

/// Judges a change by the steps before it and after it. Pure.
struct Trial {
  base::GridShape from, to;
  std::int64_t number = 0; ///< of the request
  UsualTime before, after; ///< steps, without the first one on the grid

  enum class Decision { open, stays, slower };
  /// Slower: the usual time by more than TrialRules asks for. Judged again after every step until it is slower, or
  /// there are TrialRules::most steps.
  Decision decision() const;
};

} // namespace advise
