// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/parse_json.hpp"
#include "base/status.hpp"
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
  std::string late, unknown;
  std::vector<std::int64_t> ids; // a job of the scheduler is s1 in dyngrid ps
  for (const std::string& job : o.jobs)
    ids.push_back(base::parse_whole_number(job.substr(job[0] == 's' ? 1 : 0), "dyngrid cancel: a job", 1));
  for (const auto id : ids) {
    bool cancelled = false;
    std::string* others = &late;
    try {
      cancelled = client.call("cancel", {{"job", id}}).value("cancelled", false);
    } catch (const base::Error& error) { // the jobs after it are cancelled, too
      if (error.status() != base::Status::not_found) throw;
      others = &unknown;
    }
    list.push_back({{"job", id}, {"cancelled", cancelled}});
    if (!cancelled) *others += fmt::format("{}{}", others->empty() ? "" : ", ", id);
  }
  print_json(o.json, {{"jobs", list}});
  std::string trouble = late.empty() ? "" : "ended before: " + late;
  if (!unknown.empty()) trouble += (late.empty() ? "there is no job " : "; there is no job ") + unknown;
  if (!trouble.empty()) throw Failure(trouble, unknown.empty() ? 1 : 2);
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
