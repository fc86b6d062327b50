// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/json.hpp"
#include "command.hpp"
#include "control/client.hpp"
#include "control/runtime_dir.hpp"
#include "text.hpp"

namespace command {
namespace {

struct CancelOptions {
  std::vector<std::int64_t> jobs;
  bool json = false;
};

void run(const CancelOptions& o) {
  auto scheduler = control::Client::to_socket(control::runtime_directory() + "/sched.sock");
  Json list = Json::array();
  std::string late;
  for (const auto id : o.jobs) {
    const auto answer = scheduler.call("cancel", {{"job", id}});
    const bool cancelled = answer.value("cancelled", false);
    list.push_back({{"job", id}, {"cancelled", cancelled}});
    if (!cancelled) late += fmt::format("{}{}", late.empty() ? "" : ", ", id);
  }
  print_json(o.json, {{"jobs", list}});
  if (!late.empty()) throw Failure(fmt::format("ended before: {}", late), 1);
}

} // namespace

void add_cancel(CommandLine& root) {
  CommandLine& app = root.add_command("cancel", "End jobs of the scheduler, whether they wait or run");
  auto o = std::make_shared<CancelOptions>();
  app.add_option("jobs", o->jobs, "their numbers (dyngrid queue)")
      .type_name("NUMBERS")
      .required()
      .check(base::positive_number());
  app.add_flag("--json", o->json, "print one JSON object");
  app.action([o] { run(*o); });
}

} // namespace command
