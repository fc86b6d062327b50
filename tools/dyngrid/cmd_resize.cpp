// SPDX-License-Identifier: BSD-3-Clause
#include "base/grid_shape.hpp"
#include "command.hpp"
#include "job_text.hpp"
#include "shared/text.hpp"

namespace command {

void add_resize(CommandLine& root) {
  CommandLine& app = root.add_command("resize", "Change the grid of a running job: dyngrid resize JOB 3x3");
  const auto wish = add_wish(app, "GRID", "the new grid, e.g. 3x3");
  app.add_flag("--force", wish->force,
               "also a grid that the job does not allow, that cannot pay off, or of any number of processes a core; "
               "and whatever it measures");
  app.add_flag("--no-undo", wish->no_undo, "keep a larger grid also when it measures slower");
  app.add_option(
         "--without", wish->without,
         "processes that shall not be in the new grid: ids as dyngrid ps JOB shows them, host:NAME for all of a "
         "host, slowest or slowest:2; joined by commas. They sleep or leave, and no new ones are started for "
         "them; never declined for its price")
      .type_name("ID,...|host:NAME|slowest");
  add_form(app, wish,
           "positions in a larger grid whose processors differ in speed: local, only those that join are "
           "arranged; global or mixed, all are; best, as steps and move take less");
  app.footer("Status 3: the job declined. Without --wait the answer comes at once; the change comes at the job's next "
             "resize point. A larger grid whose steps measure slower than before is left again.");
  app.action([wish] { ask_for_grid(*wish, base::parse_grid_shape(wish->what, "GRID")); });
}

} // namespace command
