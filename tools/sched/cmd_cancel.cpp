// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/parse_json.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "shared/failure.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

struct CancelOptions {
  std::vector<std::string> jobs;
  bool json = false;
};

void run(const CancelOptions& o) {
  control::Client client = scheduler();
  Json list = Json::array();
  std::string late;
  std::vector<std::int64_t> ids; // a job of the scheduler is s1 in dyngrid ps
  for (const std::string& job : o.jobs)
    ids.push_back(base::parse_whole_number(job.substr(job[0] == 's' ? 1 : 0), "dyngrid cancel: a job", 1));
  for (const auto id : ids) {
    const auto answer = client.call("cancel", {{"job", id}});
    const bool cancelled = answer.value("cancelled", false);
    list.push_back({{"job", id}, {"cancelled", cancelled}});
    if (!cancelled) late += fmt::format("{}{}", late.empty() ? "" : ", ", id);
  }
  print_json(o.json, {{"jobs", list}});
  if (!late.empty()) throw Failure(fmt::format("ended before: {}", late), 1);
}

} // namespace

void add_cancel(base::CommandLine& root) {
  base::CommandLine& app = root.add_command("cancel", "End jobs of the scheduler, whether they wait or run");
  auto o = std::make_shared<CancelOptions>();
  app.add_option("jobs", o->jobs, "their numbers (dyngrid queue), or their names in dyngrid ps: 1 or s1")
      .type_name("NUMBERS")
      .required();
  app.add_flag("--json", o->json, "print one JSON object");
  app.action([o] { run(*o); });
}

} // namespace command
