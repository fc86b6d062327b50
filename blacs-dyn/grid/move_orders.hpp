// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>

#include "redist/plan.hpp"

namespace blacs_dyn {

class ChangeRoutines;
class Checkpoints;
class MachineFigures;
struct Settings;

/// How matrices are to move. The same on all processes but for the functions.
struct MoveOrders {
  redist::Schedule schedule = redist::Schedule::automatic;
  redist::Machine machine;                       ///< by which an automatic one is chosen
  bool is_low = false;                           ///< in slabs, though there may be memory for a second copy
  std::function<void()> before_slabs = [] {};    ///< before a move in slabs, which cannot be taken back. @throws
                                                 ///< Error, on any process, to refuse it
  std::function<void()> before_exchange = [] {}; ///< when nothing can refuse the move any more
};

/// As the settings say. On a process that has data, which are those of the old grid, with a checkpoint before slabs
/// where one is configured, and with the program's routines. The others outlive it.
MoveOrders move_orders(const Settings& settings, const MachineFigures& machine, bool has_data, Checkpoints& checkpoints,
                       ChangeRoutines& routines);

} // namespace blacs_dyn
