// SPDX-License-Identifier: BSD-3-Clause
// Times of the candidates of phases in a running program: which one is tried next, the planned times, and when a
// plan is to be made anew. Pure; the same on all processes if they get the same figures.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "advise/phases.hpp"
#include "advise/rules.hpp"
#include "advise/usual_time.hpp"
#include "base/index.hpp"

namespace advise {

/// Which matrix, from which of its layouts to which.
using PhaseMoveKey = std::tuple<int, int, int>;

class PhaseTrials {
public:
  PhaseTrials() = default;
  /// candidates: of each phase, how many.
  explicit PhaseTrials(const std::vector<std::size_t>& candidates);

  /// Times of an earlier run: no trial is needed, and measurements of this run replace them.
  void knows(int phase, int candidate, double seconds) { of(phase, candidate).known = seconds; }
  void took(int phase, int candidate, double seconds) { of(phase, candidate).last.add(seconds); }

  /// Before there is a plan: the candidate to try next, the one that ran least often. A candidate that took three times
  /// as long as another at its first try is not tried again. None: all were tried.
  std::optional<int> next(int phase) const;
  bool is_all_tried() const;
  bool has_times(int phase, int candidate) const { return typical_s(phase, candidate) >= 0; }
  /// UsualTime::seconds() of the last ones. -1: not known.
  double typical_s(int phase, int candidate) const { return of(phase, candidate).typical(); }
  /// The time to plan with, as a part of the typical time. After nine runs it is 1. Before, it is somewhat below the
  /// least measured time: a candidate that was slow by chance is tried again where its time and its moves could pay.
  double hope(int phase, int candidate) const;

  /// A copy of a matrix was made, in `times_predicted` times the predicted seconds.
  void moved(const PhaseMoveKey& move, double times_predicted) { moves_[move].last.add(times_predicted); }
  /// The same, of an earlier run.
  void knows_move(const PhaseMoveKey& move, double times_predicted) { moves_[move].known = times_predicted; }
  /// How many times the predicted seconds that copy takes: as measured, else as the others took, else 1.
  double move_factor(const PhaseMoveKey& move) const;

  /// A plan was made. layouts: of a phase's candidate, by matrix.
  template <class Layouts> void planned(const std::vector<PhaseStep>& steps, Layouts layouts) {
    used_.clear();
    used_moves_.clear();
    for (const PhaseStep& step : steps) {
      use(step.phase, step.candidate);
      for (std::size_t m = 0; m < step.copied_from.size(); ++m)
        if (step.copied_from[m] >= 0)
          use({static_cast<int>(m), step.copied_from[m], layouts(step.phase, step.candidate)[m]});
    }
  }
  /// The times of the plan are better known than when it was made, or have changed by 5 %.
  bool is_outdated() const;

private:
  struct Times {
    UsualTime last{PhaseRules().kept};
    double known = -1;
    std::size_t runs() const;
    double typical() const;
  };
  struct AsPlanned {
    std::size_t runs;
    double value;
  };
  template <class Key> struct Used {
    Key key;
    AsPlanned then;
  };
  bool has_changed(const AsPlanned& then, std::size_t runs, double now) const;
  void use(int phase, int candidate);
  void use(const PhaseMoveKey& move);
  std::size_t move_runs(const PhaseMoveKey& move) const;
  Times& of(int phase, int candidate) { return times_[base::at(phase)][base::at(candidate)]; }
  const Times& of(int phase, int candidate) const { return times_[base::at(phase)][base::at(candidate)]; }
  bool wants_try(int phase, int candidate) const;

  std::vector<std::vector<Times>> times_;
  std::map<PhaseMoveKey, Times> moves_; ///< in times of what was predicted
  std::vector<Used<std::pair<int, int>>> used_;
  std::vector<Used<PhaseMoveKey>> used_moves_;
};

} // namespace advise
