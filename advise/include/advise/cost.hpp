// SPDX-License-Identifier: BSD-3-Clause
// Costs and gains of changes of the grid. Together with machine.hpp (an exchange) and step_time.hpp (a step) the one
// model by which a shape is chosen, a change is decided on and a plan's seconds are predicted. Pure.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "advise/machine.hpp"
#include "advise/step_time.hpp"

namespace advise {

/// Measured times of one change of the grid. Seconds as in dyngrid_resize_report.
struct ChangeCost {
  GridShape from, to;
  int spawned = 0;
  double spawn_s = 0, merge_s = 0, plan_s = 0, exchange_s = 0;
  std::int64_t moved_bytes = 0;
  double predicted_exchange_s = 0;                       ///< by redist's plan, before; 0: not known
  std::int64_t asked_at_step = -1, changed_at_step = -1; ///< -1: by a call of the program
};

/// Seconds to start n processes where none was ever started: docs/results.md "Groups", one group.
double usual_spawn_s(int n);

/// Seconds to start n processes: a line through the measured growths, `otherwise` when there are none.
double predict_spawn(const std::vector<ChangeCost>& growths, int n, double otherwise);

/// Predicted cost and gain of a change.
struct Forecast {
  Prediction now, then;             ///< seconds of a step before and after
  Cost change;                      ///< all of it
  std::int64_t payoff_steps = -1;   ///< payoff_point; -1 never
  std::int64_t payoff_at_best = -1; ///< the same when the new step is shorter, the old one longer, by one error each

  double resize_s() const { return change.total(); }
  double spawn_s() const { return change.of("spawn"); }
  double other_s() const { return change.of("merge") + change.of("plan"); }
  double exchange_s() const; ///< the terms that are left
};

/// Measured times of an application, and predictions from them.
struct CostModel {
  int cores = 0;                           ///< of the hosts; 0: not known
  StepTable steps;                         ///< this run and earlier ones
  std::vector<ChangeCost> changes, spawns; ///< of this application; growths of any application on this machine
  /// Seconds to start n processes when none was ever measured; may be empty: nothing.
  std::function<double(int n)> usual_spawn_s;

  /// Empty when no step was measured.
  std::optional<Prediction> step(GridShape shape) const { return predict_step(steps, shape, cores); }
  /// Terms: "spawn", "merge", "plan" as they were measured; and those of `planned`, which are exchange_cost of all
  /// matrices, corrected by the median of measured over planned; or "exchange", the mean of those measured from -> to.
  /// @param started processes that do not exist yet.
  Cost change(GridShape from, GridShape to, int started, const Cost& planned) const;
  /// After how many steps the change pays. Empty when no step was measured.
  std::optional<Forecast> forecast(GridShape from, GridShape to, int started, const Cost& planned) const;
};

} // namespace advise
