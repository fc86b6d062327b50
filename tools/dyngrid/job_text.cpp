// SPDX-License-Identifier: BSD-3-Clause
#include "job_text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "base/status.hpp"
#include "command.hpp"
#include "control/runtime_dir.hpp"
#include "shared/text.hpp"

namespace command {

using base::Json;

std::vector<std::string> running_jobs() {
  std::vector<std::string> jobs;
  for (const control::FoundJob& found : control::find_jobs())
    if (found.is_alive) jobs.push_back(found.name);
  return jobs;
}

Json status_of(const std::string& job) {
  try {
    return control::Client::to_job(job, 2).call("status", {}, 2);
  } catch (const std::exception& error) {
    return {{"job", job}, {"error", error.what()}};
  }
}

std::string job_or_only(const std::string& job) {
  if (!job.empty()) return job;
  const std::vector<std::string> running = running_jobs();
  if (running.empty()) throw Failure("no job is running in " + control::runtime_directory(), 1);
  if (running.size() > 1)
    throw Failure(fmt::format("several jobs are running, expected one of {}", fmt::join(running, ", ")));
  return running[0];
}

control::Client connect_to(const std::string& job) {
  const std::string name = job_or_only(job);
  try {
    return control::Client::to_job(name);
  } catch (const base::Error& error) {
    throw Failure(error.what(), error.status() == base::Status::bad_argument ? 2 : 1);
  }
}

void throw_outcome(const Json& answer) {
  const std::string outcome = answer.value("outcome", ""), reason = answer.value("reason", "");
  if (outcome == "declined") throw Failure("declined: " + reason, declined_status);
  throw Failure(outcome + (reason.empty() ? "" : ": " + reason), 1);
}

std::string grid_text(const Json& grid) {
  if (!grid.is_array() || grid.size() != 2) return "-";
  return fmt::format("{}x{}", grid[0].get<int>(), grid[1].get<int>());
}

std::string seconds_text(const Json& value) {
  return value.is_number() ? duration_text(value.get<double>()) : "-";
}

std::string bytes_text(const Json& value) {
  if (!value.is_number()) return "-";
  const double bytes = value.get<double>();
  if (bytes >= 1e9) return fmt::format("{:.2f} GB", bytes / 1e9);
  return fmt::format("{:.1f} MB", bytes / 1e6);
}

std::string waiting_text(const Json& status) {
  const int kept = status.value("kept", 0), parked = std::max(status.value("parked", 0), kept);
  std::string text = parked > 0 ? fmt::format("{} parked", parked) : "";
  if (kept > 0) text += fmt::format(" ({} kept)", kept);
  for (const auto& [kind, shown] : without_id)
    if (const int count = status.value(kind, 0); count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, shown);
  return text;
}

std::string change_text(const Json& r) {
  const auto part = [&](const char* name) {
    return r.contains(name) ? duration_text(r.at(name).get<double>()) : duration_text(0);
  };
  double other_s = r.value("total_s", 0.0);
  for (const char* name : {"spawn_s", "merge_s", "plan_s", "exchange_s"}) other_s -= r.value(name, 0.0);
  return fmt::format("{} -> {} in {}, {} moved: spawn {}, merge {}, plan {}, exchange {}, other {}",
                     grid_text(r.value("from", Json())), grid_text(r.value("grid", Json())), part("total_s"),
                     bytes_text(r.value("moved_bytes", Json())), part("spawn_s"), part("merge_s"), part("plan_s"),
                     part("exchange_s"), duration_text(std::max(0.0, other_s)));
}

std::string balance_text(const Json& e) {
  const std::string action = e.value("action", "");
  if (e.value("event", "") == "balanced")
    return fmt::format("balanced by {} in {} (predicted {}): a step took {}, takes {} (predicted {})", action,
                       seconds_text(e.value("change_s", Json())), seconds_text(e.value("predicted_change_s", Json())),
                       seconds_text(e.value("before_s", Json())), seconds_text(e.value("after_s", Json())),
                       seconds_text(e.value("predicted_after_s", Json())));
  const auto list = [&](const char* word, const char* member) {
    std::string text;
    for (const Json& id : e.value(member, Json::array())) text += (text.empty() ? "" : ", ") + base::json_text(id);
    return text.empty() ? text : fmt::format("; {} {}", word, text);
  };
  return fmt::format("{}{}: {}{}{}", e.value("done", true) || action == "stay" ? "" : "would ", action,
                     e.value("why", ""), list("sleeps", "leaves"), list("wakes", "comes"));
}

std::string phases_text(const Json& e) {
  std::string text = fmt::format("phases planned: {} a cycle", duration_text(e.value("cycle_s", 0.0)));
  for (const Json& step : e.value("steps", Json::array()))
    text +=
        fmt::format("; {} on {}", base::printable(step.value("phase", "")), base::printable(step.value("layouts", "")));
  return text;
}

} // namespace command
