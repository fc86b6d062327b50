// SPDX-License-Identifier: BSD-3-Clause
// When a running application redistributes its work, parks processes or takes them back: one function from observations
// and a memory to a decision. Pure: times are passed in, in seconds on one clock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "advise/balance.hpp"
#include "advise/process_load.hpp"
#include "advise/step_terms.hpp"
#include "advise/usual_time.hpp"
#include "advise/waiting.hpp"

namespace advise {

/// A decision, with what it was made from.
struct BalanceDecision {
  std::optional<Balance> balance; ///< empty while no step was measured, or not all loads are known
  std::string why_not;            ///< the reason, where it is empty
  BalanceRequest request;         ///< terms of a step, its time, speeds, errors
};

/// The predicted and the measured effect of a balance: medians of steps.
struct BalanceOutcome {
  BalanceAction action = BalanceAction::stay;
  double predicted_before_s = 0, predicted_after_s = 0;
  double before_s = 0, after_s = 0; ///< measured; before_s 0: no complete step was measured
  double predicted_change_s = 0, change_s = 0;
  int steps = 0; ///< measured after it
};

/// What is known from earlier steps, loads and decisions.
struct BalanceMemory {
  // ---- steps
  /// size: of this step, where sizes differ. The value recorded is step_s / size. Nothing is recorded of a step much
  /// smaller than the others, whose time no longer depends on work.
  void step(double ended_s, double step_s, double size = 1);
  /// Steps of another kind follow, of which nothing is known yet: panels of a factorization. Until end_panels(),
  /// steps_left and all predictions refer to panels. After it the earlier knowledge applies again.
  void begin_panels(double now_s);
  void end_panels();
  void grid_changed(double now_s); ///< grid or parts have changed: the step under way is not measured

  // ---- loads: those in the grid by place, then those that sleep
  void take(std::vector<ProcessLoad> newest, double now_s);
  /// Whether decide_balance() may give a new result: speeds have changed, or have been the same for longer than at the
  /// last one, or a parked process can be examined again.
  bool is_due(double now_s) const;
  /// A decision that ended at now_s took so long. None is due until that is a small part of the time since.
  void decision_took(double seconds, double now_s);
  /// No share is changing: the last sample of each process is near the median of its last ones. Also true when nothing
  /// has changed for so long that this does not matter. A load that begins on all processes at once is not seen by all
  /// at once.
  bool is_settled(double now_s) const;

  int id_of(int process) const { return loads.at(static_cast<std::size_t>(process)).process; }
  /// The speed of a process under its load: its speed alone, times its share.
  double speed_of(const ProcessLoad& load) const;
  double alone_speed_of(const ProcessLoad& load) const; ///< without load
  void speed_given(int id, double speed);               ///< by a balance; it is not the speed of the process alone

  // ---- afterwards
  void carried_out(const BalanceDecision& decision, double change_s, double now_s);
  void forget_trial() { known.trial.reset(); } ///< the grid has changed since
  bool has_outcome() const { return known.trial && known.trial->after.count() >= BalanceRules().judged_steps; }
  /// Not empty once, when enough steps have ended since the balance to judge it.
  std::optional<BalanceOutcome> outcome(double now_s);

  // ---- the state: loads, and what is known of processes and of steps
  struct Step {
    double begun_s, ended_s, step_s; ///< of the last step, scaled to size 1
  };
  struct Alone {
    double speed = 1, given = 0;
  };
  /// The time of a step in one layout with one set of speeds.
  struct Measured {
    MeasuredStep step;          ///< with ids, in order
    std::vector<double> speeds; ///< in this order
    double work = 0;            ///< of the slowest, as in StepObservation: the cost of rows may have changed since
  };
  struct Decided {
    double at_s = 0, held_s = 0;
    std::vector<double> speeds;
  };
  struct Trial {
    BalanceOutcome outcome;
    UsualTime after{BalanceRules().judged_steps};
    std::vector<double> speeds; ///< of all
    Measured from, to;          ///< without measured steps
  };
  /// What is known of steps of one kind.
  struct Learned {
    std::int64_t m = 0, n = 0; ///< the matrix of these steps; 0: nothing was decided yet
    std::deque<Step> steps;    ///< on this grid, without the first one
    double changed_s = 0;      ///< since when the grid is unchanged
    bool is_cold = true;
    std::vector<StepObservation> observed;
    std::vector<Measured> measured; ///< the newest last
    std::optional<Trial> trial;
    Waiting waiting;
    bool rows_were_cut = false, cols_were_cut = false; ///< by a grid on which steps were measured
    bool one_process_ran = false;                      ///< and steps were measured
  };
  std::vector<ProcessLoad> loads; ///< those in the grid by place, then those that sleep
  std::map<int, Alone> alone;
  std::map<int, double> left_s; ///< when a process left the grid
  std::optional<Decided> decided;
  double next_s = 0;          ///< the next decision is not due before: see decision_took()
  bool are_costs_new = false; ///< of the subject's items: the next decision does not wait for another load
  Learned known;
  std::optional<Learned> outside;                         ///< while panels are under way: of the program's own steps
  double error = BalanceRules().usual_error, error_s = 0; ///< of the last predictions of a step, and since when
  /// What the last changes took beyond their plans: all processes agree, and the loaded ones are waited for.
  UsualTime beyond_plan;
};

/// Whether to give out the work anew, to park processes or to take them back.
/// subject: what is balanced, in its present state: grid, matrix, parts, costs of items, steps left, allowed shapes,
/// the price of a change. The memory adds processes, terms of a step, and for how long the speeds have been the same.
/// Process 0 never leaves: it answers for the application, and programs print and have files open there.
BalanceDecision decide_balance(BalanceRequest subject, BalanceMemory& memory, double now_s);

} // namespace advise
