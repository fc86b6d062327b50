// SPDX-License-Identifier: BSD-3-Clause
// Processes have become slower or faster: whether to give out the work anew, to send processes to sleep, or to take
// them back. Pure.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "advise/cost.hpp"
#include "advise/item_costs.hpp"
#include "advise/rules.hpp"

namespace advise {

/// A process that is in the grid, or sleeps and could be.
struct BalanceProcess {
  double speed = 1;      ///< work per second that it does now, relative; finite, above 0
  double share = 1;      ///< part of its processor that it gets, above 0, at most 1: its messages wait for that, too
  double waits_s = 0;    ///< of a step, beside its work, however little that is; not on a grid of one process
  int place = -1;        ///< in the grid there is, row-major; -1: it sleeps
  bool may_leave = true; ///< false: it stays in every grid
  double away_s = std::numeric_limits<double>::infinity(); ///< sleeps since so long
  double calm_s = std::numeric_limits<double>::infinity(); ///< seconds without a competitor
};

/// One way to spread the work: over which processes, on which grid, in which parts.
struct BalanceLayout {
  GridShape grid;
  std::vector<int> order;               ///< row-major, index of the process at each place
  std::vector<std::int64_t> rows, cols; ///< elements of each grid row and column

  bool operator==(const BalanceLayout& other) const {
    return grid == other.grid && order == other.order && rows == other.rows && cols == other.cols;
  }
};

/// With the step there, and what going there costs.
struct BalanceChoice : BalanceLayout {
  double power = 0; ///< speed that can be used: all work / time of the slowest part
  Cost step;        ///< predicted seconds of the slowest process: "fixed", "work", "messages", and "waiting" if it does
  std::int64_t moved_elements = 0; ///< whose owner changes
  Cost change;                     ///< what going there costs
  bool is_measured = false;        ///< the step is not predicted: see BalanceRequest::measured

  double step_s() const { return step.total(); }
};

/// A step that was measured: where it ran, with the speeds that processes have now.
struct MeasuredStep : BalanceLayout {
  double step_s = 0;
};

struct BalanceRequest {
  std::vector<BalanceProcess> processes;
  GridShape grid;              ///< there is now; every place is that of one process
  std::int64_t m = 0, n = 0;   ///< the matrix that is spread, in elements, at least 1 x 1
  std::int64_t mb = 0, nb = 0; ///< equal parts: block-cyclic, 0: one block for each process; unequal: whole ones
  std::vector<std::int64_t> rows, cols; ///< parts there are now; empty: equal
  bool is_weighted = false;             ///< parts may be unequal: the application's matrices can be dealt out by speed
  /// For unequal parts, each of which is one stretch: an element costs its row times its column. Groups are
  /// of whole blocks.
  ItemCosts row_costs, col_costs;

  /// A step: fixed_s + the slowest process's work + its messages, border_s + volume_s (1/p + 1/q) + messages_s (p + q),
  /// none on one process (but see one_process_ran). work_s is all work of a step at speed 1; the others are the terms
  /// of StepModel, and borders that are as long on every grid.
  double fixed_s = 0, work_s = 0, border_s = 0, volume_s = 0, messages_s = 0;
  double processor_part = 0; ///< of messages, 0 .. 1: what a process with a share s takes 1/s times as long for
  double step_s = 0;         ///< measured on the grid there is; corrects all predictions. 0: not known
  std::vector<MeasuredStep> measured; ///< counts more than a prediction, and can be gone back to
  double error = 0;                   ///< of a prediction, relative: what was never measured has to save twice as much
  double measured_error = 0;          ///< of step_s, relative: what was measured has to save twice as much

  /// Whether a grid ran whose rows, whose columns were several: else the cost of cutting that axis is not known, and a
  /// choice that does counts for twice the error longer than it is predicted.
  bool rows_were_cut = true, cols_were_cut = true;
  /// Whether a step ran on one process. Else it is not known that what is called messages ends there: it counts as on
  /// the grid there is.
  bool one_process_ran = true;

  std::int64_t steps_left = -1; ///< -1: not known
  /// Seconds for which the speeds have not changed. A load is expected to last as long as it has lasted, so nothing is
  /// moved for one that comes and goes before a move has saved its cost.
  double held_s = std::numeric_limits<double>::infinity();
  bool may_remove = true, may_return = true;
  /// Longer side of a new grid over its shorter one, where the grid there is is not longer; 0: any.
  double max_aspect = GridRules().aspect;
  std::function<bool(GridShape)> allowed;           ///< empty: all
  std::function<Cost(const BalanceChoice&)> change; ///< empty: exchange_cost of what moves, on `machine`
  Machine machine;
  std::int64_t element_bytes = 8;
  BalanceRules rules;
};

enum class BalanceAction { stay = 0, rebalance = 1, remove = 2, take_back = 3, replace = 4 };
const char* to_string(BalanceAction action); ///< "stay", "rebalance", "remove", "take back", "replace"

struct Balance {
  BalanceAction action = BalanceAction::stay;
  BalanceChoice now, then;        ///< the same where nothing is done
  std::vector<int> leaves, comes; ///< processes
  std::int64_t payoff_steps = -1; ///< payoff_point of the change; -1: nothing is done
  double steps = 0;               ///< that were counted on: those left, or fewer for a load that is new
  std::string why;                ///< one line: the gain, or the reason for no change
  /// The quickest step that was found and not taken, where it is shorter by the least gain; why says why not.
  std::optional<BalanceChoice> refused;

  double gain() const { return now.step_s() > 0 ? 1 - then.step_s() / now.step_s() : 0; }
};

/// One optimization: over sets of processes (the strongest k, for every k), shapes of the grid, arrangements and
/// shares. The choice with the least steps * step + change, among those that save rules.gain of a step, and their
/// cost in time: within rules.payoff_part of the steps where their number is a guess (not known, or a load that is
/// new), so that rules.worth of the time left is saved where it is known. Equal parts: the slowest process counts, so
/// that removal is what helps. Unequal ones: map_in_place where all stay, map_processors and order_grid otherwise;
/// where items have costs, rows and columns are then cut by balance_chain, in turn: on 1 x P and P x 1 grids exact, for
/// each order of processes that is looked at.
///
/// A grid of 16 processes takes some 0.1 s, one of 64 or 256 about a second, one of 1,024 some five. Choices are looked
/// at in the order of a bound, as long as the bound can win.
/// @throws Error{bad_argument, shape_mismatch} for speeds that are 0, negative or no number, among others
Balance decide_balance(const BalanceRequest& request);

} // namespace advise
