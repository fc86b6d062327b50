// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"
#include "job_text.hpp"

namespace command {

void add_shrink(CommandLine& root) {
  CommandLine& app = root.add_command("shrink", "Take at least N processes from a running job: dyngrid shrink JOB 4");
  const auto wish = add_wish(app, "PROCESSES", "how many, at least, e.g. 4");
  app.footer("The job chooses the grid among those that it allows. Status 3: it declined.");
  app.action([wish] { ask_for_processes(*wish, "shrink", parse_count(wish->what)); });
}

} // namespace command
