// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <memory>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "command.hpp"
#include "control/client.hpp"
#include "control/runtime_dir.hpp"
#include "text.hpp"

namespace command {
namespace {

struct SubmitOptions {
  std::string name, allow, folder;
  std::vector<std::string> command, variables;
  int priority = 0;
  std::int64_t steps = 0;
  bool rigid = false, wait = false, json = false;
};

void run(const SubmitOptions& o) {
  nlohmann::json fields{{"command", o.command}, {"priority", o.priority}, {"rigid", o.rigid}};
  if (!o.name.empty()) fields["name"] = o.name;
  if (!o.allow.empty()) fields["allow"] = o.allow;
  if (o.steps > 0) fields["steps"] = o.steps;
  if (!o.variables.empty()) fields["variables"] = o.variables;
  char here[4096];
  fields["folder"] = !o.folder.empty() && o.folder[0] == '/' ? o.folder
                     : getcwd(here, sizeof here) == nullptr  ? throw Failure("cannot tell where we are", 1)
                     : o.folder.empty()                      ? std::string(here)
                                                             : std::string(here) + "/" + o.folder;
  auto scheduler = control::Client::to_socket(control::runtime_directory() + "/sched.sock");
  auto answer = scheduler.call("submit", fields);
  const auto id = answer.at("job").get<std::int64_t>();
  if (!o.wait) {
    if (print_json(o.json, {{"job", id}, {"out", answer["out"]}, {"err", answer["err"]}})) return;
    std::printf("%lld\n", static_cast<long long>(id));
    return;
  }
  if (!o.json) {
    std::printf("%lld\n", static_cast<long long>(id));
    std::fflush(stdout);
  }
  const auto job = scheduler.call("wait", {{"job", id}}, -1).at("job");
  print_json(o.json, job);
  const std::string status = job.value("status", "-");
  if (status == "0") return;
  throw Failure(fmt::format("job {} ended with status {}{}{}", id, status, job.value("why", "").empty() ? "" : ", ",
                            job.value("why", "")),
                1);
}

} // namespace

void add_submit(CommandLine& root) {
  CommandLine& app =
      root.add_command("submit", "Give a job to the scheduler, dyngrid-sched: submit -- PROGRAM ARGUMENTS");
  auto o = std::make_shared<SubmitOptions>();
  app.add_option("command", o->command, "program and arguments, without mpirun and its options; after --")
      .type_name("WORDS")
      .required();
  app.add_option("--allow", o->allow, "sizes it can use, as dyngrid_allow: 4:16:*2, '2x2,3x3', any").type_name("TEXT");
  app.add_option("--priority", o->priority, "larger goes first").show_default();
  app.add_option("--name", o->name, "for people, without control characters (default: the program's)");
  app.add_option("--steps", o->steps, "how many steps it will do, if it does not say so itself");
  app.add_option("--folder", o->folder, "where it runs (default: here)").type_name("PATH");
  app.add_option("--env", o->variables, "NAME=value for its environment; may be repeated")
      .type_name("VAR")
      .repeatable();
  app.add_flag("--rigid", o->rigid, "never ask it to change its size");
  app.add_flag("--wait", o->wait, "until it has ended; status 1 when it failed");
  app.add_flag("--json", o->json, "print one JSON object");
  app.footer("Prints the number of the job. Its output is in the scheduler's folder, jobs/NUMBER.out and .err.");
  app.action([o] { run(*o); });
}

} // namespace command
