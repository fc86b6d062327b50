// SPDX-License-Identifier: BSD-3-Clause
// When a running application gives out its work anew, sends processes to sleep or takes them back: what is gathered for
// gridmap::decide_balance, and when it is asked. Pure: times are handed in, in seconds on one clock.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "control/balance_mode.hpp"
#include "control/load_monitor.hpp"
#include "control/waiting.hpp"
#include "gridmap/balance.hpp"
#include "gridmap/step_terms.hpp"

namespace control {

using base::Json;

/// What is balanced, as it is now. The Balancer knows the rest of the request: processes, terms of a step, how long a
/// step takes, and for how long the speeds have been the same.
struct BalanceSubject : gridmap::BalanceRequest {
  std::vector<int> must_stay; ///< processes
};

/// What a balance was to bring, and what it brought: medians of steps.
struct BalanceOutcome {
  gridmap::BalanceAction action = gridmap::BalanceAction::stay;
  double predicted_before_s = 0, predicted_after_s = 0;
  double before_s = 0, after_s = 0; ///< measured; before_s 0: no step was whole
  double predicted_change_s = 0, change_s = 0;
  int steps = 0; ///< measured after it
};

class Balancer {
public:
  // ---- steps
  /// size: of this step, where they are not alike. What is kept of it is step_s / size; of one that is much smaller
  /// than the others, where work does not count any more, nothing.
  void step(double ended_s, double step_s, double size = 1);
  /// Steps of another kind come, of which nothing is known yet: panels of a factorization. Until end_panels()
  /// steps_left and all predictions are of these, and after it what was known before counts again.
  void begin_panels(double now_s);
  void end_panels();
  void grid_changed(double now_s); ///< grid or parts are others: a step that is under way says nothing

  // ---- loads: those in the grid by place, then those that sleep
  void take(std::vector<ProcessLoad> loads, double now_s);
  const std::vector<ProcessLoad>& loads() const { return loads_; }
  /// Whether decide() may say something else than it did: speeds are others, or have been the same for twice as long,
  /// or a sleeper can be looked at again.
  bool is_due(double now_s) const;
  /// No share is on its way: the last sample of each process is near the median of its last ones, or nothing has
  /// changed for so long that this does not matter. A load that all get at once is not seen by all at once.
  bool is_settled(double now_s) const;

  /// Empty while no step was measured, or not all loads are known; `why_not` says which.
  std::optional<gridmap::Balance> decide(const BalanceSubject& subject, double now_s);
  const std::string& why_not() const { return why_not_; }
  /// The request of the last decision, for those who want to see what it was made from.
  const gridmap::BalanceRequest& request() const { return request_; }
  int id_of(int process) const { return loads_.at(static_cast<std::size_t>(process)).process; }
  /// The speed of a process under its load: what it can do alone, times its share.
  double speed_of(const ProcessLoad& load) const;
  double alone_speed_of(const ProcessLoad& load) const; ///< what it can do alone
  /// The subject's items were told to cost something else: the next decision does not wait for another load.
  void costs_told() { are_costs_new_ = true; }
  void speed_given(int id, double speed); ///< by a balance: what it can do alone is not that

  // ---- afterwards
  void carried_out(const gridmap::Balance& balance, double change_s, double now_s);
  void forget_trial() { known_.trial.reset(); } ///< the grid is another one by now
  bool has_outcome() const { return known_.trial && known_.trial->after.size() >= steps_judged; }
  /// When so many steps have ended since that it can be said; once.
  std::optional<BalanceOutcome> outcome();

  static constexpr std::size_t steps_judged = 5;

private:
  struct Step {
    double begun_s, ended_s, step_s; ///< the last: of one of size 1
  };
  struct Alone {
    double speed = 1, given = 0;
  };
  /// How long a step took in one layout with one set of speeds.
  struct Measured {
    gridmap::MeasuredStep step; ///< in order: ids
    std::vector<double> speeds; ///< in this order
    double work = 0;            ///< of the slowest, as in StepObservation: rows may cost something else by now
  };
  void remember(const BalanceSubject& subject, double step_s);
  void remember(Measured now);
  Measured measured(const gridmap::BalanceChoice& choice) const;
  std::vector<gridmap::MeasuredStep> remembered(const BalanceSubject& subject) const;
  std::vector<double> all_speeds() const;
  double steady_since(double now_s) const;
  double error_at(double now_s) const;
  std::vector<double> steady_steps(double now_s, double until) const;
  void observe(const BalanceSubject& subject, double now_s);
  void learn(gridmap::BalanceRequest& request, double now_s);
  gridmap::StepObservation conditions(const BalanceSubject& subject) const;

  std::vector<ProcessLoad> loads_;
  double ended_s_ = 0; ///< the last step
  std::map<int, Alone> alone_;
  std::map<int, double> left_s_; ///< when a process left the grid
  struct Decided {
    double at_s = 0, held_s = 0;
    std::vector<double> speeds;
    std::size_t steps = 0;
  };
  std::optional<Decided> decided_;
  gridmap::BalanceRequest request_;
  std::string why_not_;
  bool are_costs_new_ = false;
  struct Trial {
    BalanceOutcome outcome;
    std::vector<double> after;
    std::vector<double> speeds; ///< of all
    Measured from, to;          ///< without what was measured
  };
  /// What is known of steps of one kind.
  struct Learned {
    std::deque<Step> steps; ///< on this grid, without the first one
    double changed_s = 0;   ///< since when the grid is what it is
    bool is_cold = true;
    std::vector<gridmap::StepObservation> observed;
    std::vector<Measured> measured; ///< the newest last
    std::optional<Trial> trial;
    Waiting waiting;
    bool rows_were_cut = false, cols_were_cut = false; ///< by a grid on which steps were measured
  };
  Learned known_;
  std::optional<Learned> outside_;    ///< of the panels that are under way
  double error_ = 0.03, error_s_ = 0; ///< of the last predictions of a step, and since when
};

Json to_json(const ProcessLoad& load);
/// A decision for people and programs; processes by their ids.
Json to_json(const gridmap::Balance& balance, const std::vector<int>& ids);
Json to_json(const BalanceOutcome& outcome);

} // namespace control
