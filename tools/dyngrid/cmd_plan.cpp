// SPDX-License-Identifier: BSD-3-Clause
// dyngrid plan SUBJECT: what-if questions. They change nothing, and most need no running job.
#include "command.hpp"

namespace command {

void add_plan(CommandLine& root) {
  CommandLine& plan =
      root.add_command("plan", "What-if questions: shapes, placement, exchange, decision, balance, ...");
  plan.require_command();
  add_plan_shapes(plan);
  add_plan_placement(plan);
  add_plan_exchange(plan);
  add_plan_decision(plan);
  add_plan_balance(plan);
  add_plan_phases(plan);
  add_plan_mapping(plan);
  add_plan_selection(plan);
  add_plan_hosts(plan);
  plan.footer("dyngrid plan SUBJECT --help says more.");
}

} // namespace command
