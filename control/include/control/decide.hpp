// SPDX-License-Identifier: BSD-3-Clause
// Whether to change the grid, and to which. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/allowed.hpp"
#include "control/history.hpp"
#include "control/offer.hpp"
#include "control/without.hpp"

namespace control {

/// Processes that came together and leave together; not those that the application began with.
struct GroupInfo {
  std::int64_t number = 0; ///< DYNGRID_UNIT_NUMBER of what started it
  int processes = 0;
  int active = 0; ///< in the grid; the others sleep
};

/// What is known of an application at one moment; its cost model has what was measured.
struct Situation : gridmap::CostModel {
  gridmap::GridShape grid;
  Allowed allowed;
  std::vector<GroupInfo> groups;
  std::vector<ProcessInfo> processes; ///< empty: not known
  int parked = 0;                     ///< processes that sleep and are used again before any is started
  std::int64_t steps_left = -1;       ///< -1: not known
  int per_core = 0;                   ///< processes that a core may get at most; 0: any number
  double gain = 0;                    ///< of a larger grid by the speeds of its processors; 0: by their number
  /// Most processes that may be asked for without force; 0: any number.
  std::int64_t most() const { return std::int64_t{cores} * per_core; }
  /// What moving all matrices costs, by redist's plan; may be empty.
  std::function<gridmap::Cost(gridmap::GridShape from, gridmap::GridShape to)> planned_exchange;
  /// The part of a grid whose processes would have elements of a matrix, by redist's layouts; may be empty: all of it.
  std::function<gridmap::GridShape(gridmap::GridShape)> used_grid;
};

using gridmap::Forecast;

struct Decision {
  bool is_accepted = false;
  gridmap::GridShape to;
  std::string why; ///< one line: why this grid, or why not
  std::optional<Forecast> forecast;
  std::optional<Choice> choice; ///< of an offer with hosts
};

/// What going to `to` would cost.
gridmap::Cost change_cost(const Situation& s, gridmap::GridShape to);

/// What going to `to` would cost and bring; empty when no step was measured.
std::optional<Forecast> forecast(const Situation& s, gridmap::GridShape to);

/// A grid given by its shape. Declined: it is the grid there is, it is not allowed, it has more processes than the
/// cores may get, or it is larger and no gain is to be had: the cores are filled already and nothing else was measured,
/// it would give new processes no part of any matrix, or it cannot pay off (in the steps that are left, where their
/// number is known), not even when the prediction errs in its favour. `force` leaves out all but the first.
Decision decide_resize(const Situation& s, gridmap::GridShape to, bool force);

/// The same without some processes, be it the grid there is. Never declined for its price: they are to leave. Declined
/// when nobody is called so, when one may not leave, and when too few are left.
Decision decide_resize_without(const Situation& s, gridmap::GridShape to, const Without& without, bool force);

/// Up to `by` processes more, and without force no more than there are cores, unless more were measured to be quicker.
/// With measurements that reach that far: the quickest grid among and between the measured ones, declined when none
/// larger is quicker. Otherwise the largest allowed. Then as decide_resize.
Decision decide_grow(const Situation& s, std::int64_t by, bool force);

/// What is taken of processors that are offered by host, number and speed, under a total power: as decide_grow, but by
/// speeds. `best` takes the processors and the grid on which the steps left, where their number is known, and the
/// change together take least.
Decision decide_offer(const Situation& s, const Offer& offer, bool force);

/// At least `by` processes fewer: the largest allowed grid of the rest, or, if measured, the quickest. One process
/// stays. Never declined for its price.
Decision decide_shrink(const Situation& s, std::int64_t by);

/// So that these groups leave and as few others as can be, whatever is lost by that: the largest allowed grid, be it
/// the slower one; when none is small enough, the largest that is. Declined when none of them is there.
Decision decide_leave(const Situation& s, const std::vector<std::int64_t>& groups);

} // namespace control
