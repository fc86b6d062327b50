// SPDX-License-Identifier: BSD-3-Clause
// Whether to change the grid, and to which. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advise/allowed.hpp"
#include "advise/cost.hpp"
#include "advise/offer.hpp"
#include "advise/without.hpp"

namespace advise {

/// Processes that joined together and leave together; not those that the application began with.
struct GroupInfo {
  std::int64_t number = 0; ///< DYNGRID_UNIT_NUMBER of the command that started it
  int processes = 0;
  int active = 0; ///< in the grid; the others sleep
};

/// The state of an application at one moment; its cost model contains the measurements.
struct Situation : CostModel {
  base::GridShape grid;
  Allowed allowed;
  std::vector<GroupInfo> groups;
  std::vector<ProcessInfo> processes; ///< empty: not known
  int parked = 0;                     ///< processes that sleep; they are used again before new ones are started
  std::int64_t steps_left = -1;       ///< -1: not known
  int per_core = 0;                   ///< the most processes that a core may get; 0: any number
  double gain = 0;                    ///< of a larger grid by the speeds of its processors; 0: by their number
  /// The most processes that may be requested without force; 0: any number.
  std::int64_t most() const { return std::int64_t{cores} * per_core; }
  /// The cost of moving all matrices, by redist's plan; may be empty.
  std::function<Cost(base::GridShape from, base::GridShape to)> planned_exchange;
  /// The part of a grid whose processes would have elements of a matrix, by redist's layouts. When empty: all of it.
  std::function<base::GridShape(base::GridShape)> used_grid;
};

struct Decision {
  bool is_accepted = false;
  base::GridShape to;
  std::string why; ///< one line: why this grid, or why not
  std::optional<Forecast> forecast;
  std::optional<Choice> choice; ///< of an offer with hosts
};

/// local: rows and columns are only added to the present grid. Others concern the places in the new grid alone.
using Form = std::optional<gridmap::Strategy>;

/// The cost of a change to `to`.
Cost change_cost(const Situation& s, base::GridShape to);

/// The cost and the gain of a change to `to`; empty when no step was measured.
std::optional<Forecast> forecast(const Situation& s, base::GridShape to);

/// For a grid given by its shape. Declined when one of these holds; `force` overrides all but the first two:
/// - it is the present grid;
/// - with `form` local it has fewer rows or fewer columns than the present one;
/// - it is not allowed;
/// - it has more processes than the cores may get;
/// - it is larger, the cores are filled already, and nothing else was measured;
/// - it would give new processes no part of any matrix;
/// - its cost exceeds the time saved (in the steps left, where their number is known), even when the prediction errs in
///   its favour.
Decision decide_resize(const Situation& s, base::GridShape to, bool force, Form form = {});

/// The same without some processes; the present grid is permitted too. Never declined for its price, since they are to
/// leave. Declined when there is no such process, when one must not leave, when too few remain, and, with `form` local,
/// when a row or a column would go.
Decision decide_resize_without(const Situation& s, base::GridShape to, const Without& without, bool force,
                               Form form = {});

/// Up to `by` processes more; without force no more than there are cores, unless more were measured to be faster. With
/// measurements up to that size: the fastest grid among and between the measured ones, declined when no larger one is
/// faster. Otherwise the largest allowed. Then as decide_resize. With `form` local only grids that add rows and columns
/// to the present one, also with force.
Decision decide_grow(const Situation& s, std::int64_t by, bool force, Form form = {});

/// Chooses among processors that are offered by host, number and speed, under a total power: as decide_grow, but by
/// speeds. `best` takes the processors and the grid with the least total time of the change and of the steps left,
/// where their number is known.
Decision decide_offer(const Situation& s, const Offer& offer, bool force);

/// At least `by` processes fewer: the largest allowed grid of the rest, or, if measured, the fastest. One process
/// stays. Never declined for its price.
Decision decide_shrink(const Situation& s, std::int64_t by);

/// Removes these groups and as few other processes as possible, whatever the cost. Takes the largest allowed grid, even
/// if it is slower; when none is small enough, the largest possible. Declined when none of the groups is there.
Decision decide_leave(const Situation& s, const std::vector<std::int64_t>& groups);

} // namespace advise
