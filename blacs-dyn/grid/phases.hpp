// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advise/phase_trials.hpp"
#include "advise/phases.hpp"
#include "advise/rules.hpp"
#include "advise/usual_time.hpp"
#include "control/phase_times.hpp"
#include "dyngrid.h"
#include "dyngrid/phases.h"
#include "grid/grid.hpp"
#include "grid/matrices.hpp"
#include "redist/exchange.hpp"
#include "redist/plan.hpp"
#include "redist/rank_plan.hpp"

namespace blacs_dyn {

/// How a phase can use a matrix, on every grid.
struct OfferedLayout {
  AxisRule rows{'R'}, cols{'C'};
  int order = 0; ///< DYNGRID_ORDER_*: dealt out by speed; 0: it is not
};

} // namespace blacs_dyn

/// One part of a program's cycle, as it declared it. The handle of the C interface.
struct dyngrid_phase {
  struct Use {
    blacs_dyn::Matrix* matrix = nullptr;
    std::int64_t number = 0; ///< of the matrix: another one may get the address
    std::string matrix_name;
    int use = 0;                                   ///< DYNGRID_READ | DYNGRID_WRITE
    std::vector<blacs_dyn::OfferedLayout> offered; ///< empty: any that another phase offers
  };
  std::string name;
  std::vector<Use> uses;
};

namespace blacs_dyn {

class Control;
class Copier;
class MachineFigures;
using Phase = dyngrid_phase;

/// The phases of a program: which layout each has, by gridmap's plan (docs/decisions/0063), and the valid copies of
/// their matrices, which it owns. Each candidate is tried twice, unless the history knows it, then all are planned, and
/// again when later measurements require it. Grid and matrices being the same, times and copies are kept; any other
/// change of them begins anew.
class Phases {
public:
  Phases(const Grid& grid, const Matrices& matrices, MachineFigures& machine, Copier& copier,
         const std::unique_ptr<Control>& control)
      : grid_(grid), matrices_(matrices), machine_(machine), copier_(copier), control_(control) {}

  // local, the same on all processes
  Phase* create(const char* name);
  void use(Phase* phase, Matrix* matrix, int use);
  void offer(Phase* phase, Matrix* matrix, AxisRule rows, AxisRule cols, int order = 0);
  void keep(std::int64_t bytes) { keep_bytes_ = bytes; } ///< of copies beside those in use, on all processes; -1: any
  void freed(const Matrix* matrix);                      ///< before it is
  const dyngrid_phase_report& last() const { return last_; }

  // collective over the grid. @throws agreed Error: every matrix lies whole as before, or as it was to
  void begin(Phase* phase);
  void end(Phase* phase); ///< local; its time is sent at the next begin or plan
  void plan(std::int64_t cycles);
  void grid_changes() { forget(); } ///< local: copies and times go; what the matrices hold now stays
  void clear();                     ///< local

private:
  /// A matrix in one layout. The array of the one in use is the matrix's own. On another grid the matrix lies as it was
  /// declared, whichever is in use.
  struct Copy {
    redist::Layout layout;
    redist::Layout spare; ///< the same while it is not in use: the matrix takes it without memory
    redist::LocalSize size;
    LocalArray array;
    bool is_valid = false, is_allocated = false; ///< the same on all processes
  };
  struct Shared {
    Matrix* matrix = nullptr;
    std::vector<Copy> copies;
    int now = 0;
    std::int64_t writes = 0; ///< of the matrix, when the copies were last known to be valid
    std::int64_t copy_bytes() const;
    void was_written(); ///< what was copied of it before is not valid
  };
  struct Candidate {
    std::vector<int> layouts;                             ///< of each of shared_; -1 where the phase does not use it
    advise::UsualTime seconds{advise::PhaseRules().kept}; ///< on this process; none: as the history has it
  };
  struct Move { ///< between two layouts of one matrix
    redist::RankPlan plan;
    std::vector<const redist::RankPlan*> plans; ///< this one
    std::vector<redist::Pointers> pointers;     ///< of one exchange: one, made beforehand
    std::optional<redist::Exchange> exchange;
    double predicted_s = 0; ///< of the process that takes longest, on all processes
    std::int64_t moved_bytes = 0;
  };
  using MoveKey = advise::PhaseMoveKey; ///< which of shared_, from, to
  struct Ended {                        ///< a phase whose time only this process knows
    int phase, candidate;
    double seconds;
  };

  bool is_living(const Phase::Use& use) const;
  std::size_t shared_of(const Matrix* matrix) const;
  bool is_laid_out() const;
  bool has_order() const; ///< a layout that looks at speeds
  std::vector<double> shares_now() const;
  int index_of(const Phase* phase) const;
  Phase& known(const char* routine, Phase* phase) const;
  Phase::Use& use_of(const char* routine, Phase* phase, Matrix* matrix) const;
  void forget();
  void lay_out();
  int layout_number(Shared& shared, const OfferedLayout& offered);
  void list_candidates();
  std::int64_t fingerprint_of_all() const;
  void check_begin(const Phase* phase) const;
  void settle();
  void recall();
  void plan_for(std::int64_t cycles);
  std::size_t step_behind(std::size_t step) const;
  int choose(int phase);
  std::string layout_name(int shared, int layout) const;
  std::string layouts_name(const Candidate& candidate) const;
  control::PhaseKey key_of(int phase, int candidate) const;
  control::PhaseKey key_of(const MoveKey& move) const;
  void remember_single_runs();
  void tell_of_plan() const;
  void go_to(int phase, const Candidate& candidate);
  void fill_and_take(int phase, const Candidate& candidate);
  void give_back_spare_of_program();
  void make_room(int phase, const Candidate& candidate);
  double longest_of(double mine) const;
  void fill(int shared, int from, int to);
  void take(int shared, int to);
  void trim();
  int next_use(int shared, int layout) const;
  Move& move_between(int shared, int from, int to);
  redist::Plan plan_between(int shared, int from, int to) const;
  static std::vector<double> predicted_seconds(const redist::Plan& plan, int processes);
  std::vector<std::vector<int>> known() const;
  advise::PhaseProblem problem(const std::vector<double>& seconds, int processes) const;
  std::vector<double> move_seconds(int shared, int from, int to, int processes) const;

  const Grid& grid_;
  const Matrices& matrices_;
  MachineFigures& machine_;
  Copier& copier_;
  const std::unique_ptr<Control>& control_; ///< of process 0; null on others
  std::vector<std::unique_ptr<Phase>> phases_;
  std::int64_t keep_bytes_ = -1;

  // of this grid and these matrices
  std::vector<Shared> shared_;
  std::vector<double> shares_; ///< of rows and columns of the grid; none where no layout looks at them
  std::vector<std::vector<Candidate>> candidates_; ///< of each phase
  std::map<MoveKey, Move> moves_;
  advise::PhaseTrials trials_; ///< the same on all processes
  std::optional<Ended> ended_;
  advise::PhasePlan plan_;     ///< no steps: none yet
  bool is_endless_ = false;    ///< it was planned for a run without an end: it may be replaced
  std::size_t cursor_ = 0;     ///< the next step of the plan
  std::vector<int> copy_from_; ///< of each of shared_, as that step has it; -1: no copy is planned

  int open_ = -1, chosen_ = 0; ///< the phase that was begun and not ended, and its candidate
  double begun_s_ = 0;
  dyngrid_phase_report last_{};
};

} // namespace blacs_dyn
