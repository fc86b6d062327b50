// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "base/parse_json.hpp"
#include "command.hpp"
#include "control/runtime_dir.hpp"
#include "job_text.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

std::string runs_text(const base::Json& status) {
  const std::string waiting = waiting_text(status);
  return waiting.empty() ? "runs" : "runs, " + waiting;
}

void run(bool as_json) {
  std::vector<base::Json> jobs;
  int removed = 0;
  for (const control::FoundJob& found : control::find_jobs()) {
    if (!found.is_alive) {
      removed += control::remove_stale(found) ? 1 : 0;
      continue;
    }
    jobs.push_back(status_of(found.name));
    jobs.back().erase("id");
    jobs.back().erase("ok");
  }
  if (print_json(as_json, {{"jobs", jobs}, {"removed", removed}})) return;
  if (jobs.empty()) {
    std::printf("no jobs\n");
  } else {
    std::vector<std::vector<std::string>> rows{
        {"JOB", "PID", "APP", "SIZE", "GRID", "STEP", "STEP TIME", "MEMORY", "STATE"}};
    for (const auto& s : jobs) {
      if (s.contains("error")) {
        rows.push_back({s.at("job").get<std::string>(), "", "", "", "", "", "", "", "no answer"});
        continue;
      }
      const auto steps = s.value("steps", std::int64_t{0});
      const auto& pending = s.value("pending", Json());
      rows.push_back(
          {s.at("job").get<std::string>(), std::to_string(s.at("pid").get<int>()), s.at("app").get<std::string>(),
           s.at("size").get<std::string>(), grid_text(s.value("grid", Json())),
           std::to_string(s.at("step").get<std::int64_t>()) + (steps > 0 ? "/" + std::to_string(steps) : ""),
           seconds_text(s.value("mean_step_s", Json())), bytes_text(s.value("matrix_bytes", Json())),
           pending.is_object()
               ? (pending.value("late", false) ? "late for " : "asked for ") + grid_text(pending.value("grid", Json()))
           : s.value("resizable", true) ? runs_text(s)
                                        : "cannot be resized"});
    }
    std::printf("%s", table(rows).c_str());
  }
  if (removed > 0) std::fprintf(stderr, "took away %d socket%s of dead jobs\n", removed, removed == 1 ? "" : "s");
}

/// Every process of a job: its position, or that it sleeps.
void show_processes(const std::string& job, bool as_json) {
  const base::Json status = connect_to(job).call("status", {{"processes", true}}, 2);
  if (print_json(as_json, status)) return;
  const base::Json units = status.value("units", base::Json::array());
  const auto is_kept = [&](std::int64_t number) {
    return std::any_of(units.begin(), units.end(),
                       [&](const auto& unit) { return unit.at("unit") == number && unit.at("active") == 0; });
  };
  std::vector<std::vector<std::string>> rows{{"PROCESS", "PLACE", "HOST", "GROUP", "SPEED"}};
  for (const auto& p : status.value("processes", base::Json::array())) {
    const auto& place = p.value("place", Json());
    const auto unit = p.at("unit").get<std::int64_t>();
    rows.push_back({std::to_string(p.at("process").get<int>()),
                    place.is_array() ? fmt::format("({},{})", place[0].get<int>(), place[1].get<int>())
                    : is_kept(unit)  ? "kept"
                                     : "parked",
                    p.at("host").get<std::string>(), unit == 0 ? "mpirun" : std::to_string(unit),
                    fmt::format("{:g}", p.at("speed").get<double>())});
  }
  for (const auto& [kind, shown] : without_id)
    for (int count = status.value(kind, 0); count > 0; --count)
      rows.push_back({"-", shown, status.at("host").get<std::string>(), "-", "-"});
  std::printf("%s", table(rows).c_str());
}

} // namespace

void add_ps(CommandLine& root) {
  CommandLine& app = root.add_command("ps", "Running jobs of this user on this host");
  auto as_json = std::make_shared<bool>(false);
  auto job = std::make_shared<std::string>();
  app.add_option(
      "JOB", *job,
      "show its processes instead: their numbers, their positions, and which of them sleep, are kept or spare");
  app.add_flag("--json", *as_json, "print one JSON object");
  app.footer("Memory is that of all matrices. Parked: in no grid; kept: of them those that leave after a while (run "
             "--keep); spare: started in advance (run --warm). Sockets that dead jobs left behind are removed.");
  app.action([as_json, job] { job->empty() ? run(*as_json) : show_processes(*job, *as_json); });
}

} // namespace command
