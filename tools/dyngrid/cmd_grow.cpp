// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"
#include "job_text.hpp"

namespace command {

void add_grow(CommandLine& root) {
  CommandLine& app = root.add_command("grow", "Give a running job up to N processes more: dyngrid grow JOB +5");
  const auto wish = add_wish(app, "PROCESSES", "how many more, at most, e.g. +5");
  app.add_flag("--force", wish->force, "also when it cannot pay off, or the cores are full; and whatever it measures");
  app.add_flag("--no-undo", wish->no_undo, "keep the new grid also when it measures slower");
  app.add_option("--hosts", wish->hosts, "where, how many and how fast they are: node1:8:1.4,node2:4; the job chooses")
      .type_name("LIST");
  app.add_option("--tpp", wish->tpp, "with --hosts: the total speed that it may take")
      .type_name("SPEED")
      .check(base::positive_number());
  add_form(app, wish,
           "with --hosts: how it chooses, and the position of each process, as dyngrid select; best (default) takes "
           "the least time");
  app.add_flag("--ask", wish->ask_only, "only ask which grid the job would use");
  app.footer("The job chooses the grid among those that it allows, without --force of no more processes than cores. "
             "One whose steps measure slower than before is left again. Status 3: it declined.");
  app.action([wish] { ask_for_processes(*wish, wish->ask_only ? "offer" : "grow", parse_count(wish->what)); });
}

} // namespace command
