// SPDX-License-Identifier: BSD-3-Clause
#include "grid/move_orders.hpp"

#include <string>

#include <fmt/format.h>

#include "grid/change_routines.hpp"
#include "grid/checkpoints.hpp"
#include "grid/machine_figures.hpp"
#include "grid/settings.hpp"

namespace blacs_dyn {

MoveOrders move_orders(const Settings& settings, const MachineFigures& machine, bool has_data, Checkpoints& checkpoints,
                       ChangeRoutines& routines) {
  MoveOrders orders;
  orders.schedule = settings.exchange_order;
  orders.machine = machine.agreed();
  orders.is_low = settings.is_exchange_low;
  if (!has_data) return orders;
  orders.before_slabs = [&settings, &checkpoints] {
    if (settings.checkpoint.empty()) return;
    const std::string why = checkpoints.save();
    if (!why.empty())
      throw base::Error(base::Status::io_failure,
                        fmt::format("blacs-dyn: the matrices would move in slabs, and the checkpoint before it was not "
                                    "written: {}",
                                    why));
  };
  orders.before_exchange = [&routines] { routines.call_before(); };
  return orders;
}

} // namespace blacs_dyn
