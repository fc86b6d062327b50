// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "base/command_line.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "command.hpp"
#include "job_text.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

struct CheckpointOptions {
  std::string job;
  bool stop = false, json = false;
};

void run(const CheckpointOptions& o) {
  const Json answer = connect_to(o.job).call("checkpoint", {{"stop", o.stop}}, -1);
  const bool is_printed = print_json(o.json, answer);
  if (answer.value("outcome", "") != "done") throw_outcome(answer);
  if (!is_printed) std::printf("%s\n", base::printable(answer.value("file", "")).c_str());
}

} // namespace

void add_checkpoint(CommandLine& root) {
  CommandLine& app = root.add_command("checkpoint", "Have a running job write a checkpoint at its next resize point");
  auto o = std::make_shared<CheckpointOptions>();
  app.add_option("JOB", o->job, "its name; without it, the only one that runs");
  app.add_flag("--stop", o->stop, "and end the run after it");
  app.add_flag("--json", o->json, "print one JSON object");
  app.footer("Waits for it and prints its path, which the job's DYNGRID_CHECKPOINT names. dyngrid restart goes on from "
             "there.\nStatus 3: the job declined.");
  app.action([o] { run(*o); });
}

} // namespace command
