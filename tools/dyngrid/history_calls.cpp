// SPDX-License-Identifier: BSD-3-Clause
#include "history_calls.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "control/call_report.hpp"
#include "control/history.hpp"
#include "job_text.hpp"
#include "shared/failure.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

struct RunCalls {
  std::string job, app;
  bool is_running = false;
  control::CallReport report;
};

RunCalls calls_of_job(const std::string& name) {
  const std::string job = job_or_only(name);
  const control::Json answer = connect_to(job).call("calls", {});
  return {job, answer.at("app").get<std::string>(), true, control::call_report_from(answer)};
}

/// The last run of each program, or of the one with that name, or the last of that job.
std::vector<RunCalls> kept(const std::string& name) {
  std::vector<RunCalls> found;
  for (const auto& [key, history] : control::read_all_history(control::history_file())) {
    const control::CallReport* last = nullptr;
    for (const control::CallReport& run : history.calls)
      if (name.empty() || key.app == name || run.job == name) last = &run;
    if (last != nullptr) found.push_back({last->job, key.app, false, *last});
  }
  return found;
}

std::vector<RunCalls> look_up(const std::string& name) {
  const std::vector<std::string> running = running_jobs();
  const bool is_running = std::find(running.begin(), running.end(), name) != running.end();
  if (is_running || (name.empty() && !running.empty())) return {calls_of_job(name)};
  std::vector<RunCalls> entries = kept(name);
  if (entries.empty() && !name.empty())
    throw Failure(
        fmt::format("no job {} is running, and no calls of a job or program of that name are in the history", name), 1);
  return entries;
}

void print(const RunCalls& e) {
  const control::CallReport& r = e.report;
  const double ago_s = base::unix_time_s() - static_cast<double>(r.when);
  std::string text = fmt::format("{}{}{}\n", e.app, e.job.empty() ? "" : ", job " + e.job,
                                 e.is_running ? ", runs" : fmt::format(", ended {} ago", duration_text(ago_s)));
  text += describe(r);
  if (r.calls.empty())
    text += r.is_on ? "no calls of routines that are looked at yet\n"
                    : "calls are not looked at: start it with DYNGRID_CALLS (dyngrid run --calls)\n";
  if (r.measured > 0) text += fmt::format("{} places were measured\n", r.measured);
  std::istringstream lines(text); // its text may come from other processes
  for (std::string line; std::getline(lines, line);) std::printf("%s\n", base::printable(line).c_str());
}

} // namespace

void show_calls(const std::string& job, bool as_json) {
  const std::vector<RunCalls> entries = look_up(job);
  if (as_json) {
    Json all = Json::array();
    for (const RunCalls& e : entries) {
      Json one = members_of(e.report, e.report.calls.size());
      one.update({{"job", e.job}, {"app", e.app}, {"running", e.is_running}});
      one["when"] = e.is_running ? Json(nullptr) : Json(e.report.when);
      all.push_back(std::move(one));
    }
    print_json(true, {{"runs", all}});
    return;
  }
  if (entries.empty()) std::printf("no calls in %s\n", control::history_file().c_str());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) std::printf("\n");
    print(entries[i]);
  }
}

} // namespace command
