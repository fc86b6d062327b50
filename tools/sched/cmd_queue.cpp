// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "base/status.hpp"
#include "commands.hpp"
#include "control/runtime_dir.hpp"
#include "shared/failure.hpp"
#include "shared/text.hpp"
#include "timeline.hpp"

namespace command {
namespace {

struct QueueOptions {
  bool json = false, all = false, timeline = false;
  std::string svg;
  double last_s = 0;
};

sched::Timeline timeline_of(const base::Json& answer) {
  sched::Timeline t;
  t.procs = answer.at("procs").get<int>();
  t.end_s = answer.at("now_s").get<double>();
  t.begin_s = t.end_s;
  double last_s = 0;
  for (const auto& s : answer.at("segments")) {
    sched::Segment segment;
    segment.job = s.at("job").get<std::int64_t>();
    segment.begin_s = s.at("begin_s").get<double>();
    segment.end_s = s.at("end_s").get<double>();
    segment.processors = s.at("processors").get<std::vector<int>>();
    t.begin_s = std::min(t.begin_s, segment.begin_s);
    last_s = segment.end_s == 0 || last_s < 0 ? -1 : std::max(last_s, segment.end_s);
    for (const int id : segment.processors) t.procs = std::max(t.procs, id + 1); // there were more before
    t.segments.push_back(std::move(segment));
  }
  if (last_s > 0) t.end_s = last_s; // no job runs: without the idle time since
  for (const auto& [id, name] : answer.at("names").items())
    t.names[std::stoll(id)] = base::printable(name.get<std::string>());
  return t;
}

std::string time_text(double s) {
  if (s < 1) return duration_text(s);
  if (s < 120) return fmt::format("{:.1f} s", s);
  if (s < 7200) return fmt::format("{:.1f} min", s / 60);
  return fmt::format("{:.1f} h", s / 3600);
}

/// A paged answer, joined; `page` moves a request on to the next page, or returns that there is none.
template <class Page>
base::Json all_pages(control::Client& scheduler, const char* op, base::Json request, const char* list, Page page) {
  auto answer = scheduler.call(op, request);
  for (auto last = answer; page(last, request);) {
    last = scheduler.call(op, request);
    for (auto& element : last.at(list)) answer[list].push_back(element);
    if (last.contains("names")) answer["names"].update(last["names"]);
  }
  for (const char* of_page : {"more", "next"}) answer.erase(of_page);
  return answer;
}

void show_timeline(const QueueOptions& o, control::Client& scheduler) {
  const auto to_next = [](const auto& last, auto& request) {
    if (!last.contains("next") || !last.at("next").is_number_integer()) return false;
    request["from"] = last.at("next");
    return true;
  };
  const auto answer = all_pages(scheduler, "timeline", base::Json::object(), "segments", to_next);
  auto timeline = timeline_of(answer);
  if (o.last_s > 0 && timeline.end_s - timeline.begin_s > o.last_s) {
    timeline.begin_s = timeline.end_s - o.last_s;
    auto& list = timeline.segments;
    list.erase(std::remove_if(list.begin(), list.end(),
                              [&](const sched::Segment& s) { return s.end_s > 0 && s.end_s <= timeline.begin_s; }),
               list.end());
    for (auto& segment : list) segment.begin_s = std::max(segment.begin_s, timeline.begin_s);
  }
  if (!o.svg.empty()) {
    std::ofstream file(o.svg);
    file << sched::timeline_svg(timeline);
    file.close();
    if (!file) throw Failure(fmt::format("--svg: cannot write '{}'", o.svg), 1);
  }
  if (!print_json(o.json, answer) && o.timeline) std::printf("%s", sched::timeline_text(timeline).c_str());
}

/// A row of the table of jobs.
std::vector<std::string> row_of(const base::Json& job, double now) {
  const std::string phase = job.value("phase", "");
  std::string state = phase, procs = "-", grid = "-", step = "-", time;
  if (phase == "ended") {
    state = job.value("why", "").empty() ? "done" : job.value("why", "");
    const std::string status = job.value("status", "-");
    if (status != "0" && status != "-") state += " (" + status + ")";
    time = job.value("started_s", Json()).is_null()
               ? "-"
               : time_text(job.value("ended_s", 0.0) - job.value("started_s", 0.0));
  } else if (phase == "running") {
    if (job.value("cancelled", false)) state = "ending";
    procs = std::to_string(job.value("procs", 0));
    if (!job.value("asked", Json()).is_null()) procs += fmt::format(" -> {}", job.at("asked").get<int>());
    if (job.contains("grid")) grid = fmt::format("{}x{}", job.at("grid")[0].get<int>(), job.at("grid")[1].get<int>());
    if (job.contains("step")) {
      step = std::to_string(job.at("step").get<std::int64_t>());
      if (job.contains("steps") && job.at("steps").get<std::int64_t>() > 0)
        step += fmt::format("/{}", job.at("steps").get<std::int64_t>());
    }
    time = time_text(now - job.value("started_s", now));
  } else {
    time = time_text(now - job.value("submitted_s", now));
  }
  const std::string allow = job.value("allow", "");
  return {std::to_string(job.value("job", std::int64_t{0})),
          job.value("name", ""),
          state,
          std::to_string(job.value("priority", 0)),
          procs,
          grid,
          step,
          time,
          std::to_string(job.value("changes", 0)),
          allow.empty() ? "-" : allow,
          phase == "waiting" ? job.value("why", "") : ""};
}

void run(const QueueOptions& o) {
  const bool has_timeline = o.timeline || !o.svg.empty();
  if (!has_timeline && o.last_s > 0) throw Failure("--last is given without --timeline or --svg, expected one of them");
  control::Client client = scheduler();
  if (has_timeline) {
    show_timeline(o, client);
    return;
  }
  const auto answer = all_pages(client, "queue", {{"all", o.all}}, "jobs", [](const auto& last, auto& request) {
    if (!last.value("more", false) || last.at("jobs").empty()) return false;
    request["after"] = last.at("jobs").back().at("job");
    return true;
  });
  if (print_json(o.json, answer)) return;
  const double now = answer.at("now_s").get<double>();
  std::vector<std::vector<std::string>> rows{
      {"job", "name", "state", "priority", "processors", "grid", "step", "time", "changes", "sizes", "waits because"}};
  for (const auto& job : answer.at("jobs")) rows.push_back(row_of(job, now));
  std::printf("%d processors, %d free, policy %s\n%s", answer.value("procs", 0), answer.value("free", 0),
              base::printable(answer.value("policy", "")).c_str(), rows.size() > 1 ? table(rows).c_str() : "no jobs\n");
}

} // namespace

control::Client scheduler() {
  const std::string socket = control::runtime_directory() + "/sched.sock";
  try {
    return control::Client::to_socket(socket);
  } catch (const base::Error& error) {
    if (error.status() != base::Status::not_found) throw;
    throw Failure(fmt::format("no scheduler answers at {}; start dyngrid-sched", socket), 1);
  }
}

void add_queue(base::CommandLine& root) {
  base::CommandLine& app = root.add_command("queue", "The jobs of the scheduler, and which processors each had");
  auto o = std::make_shared<QueueOptions>();
  app.add_flag("--all", o->all, "all that have ended, not the last 30 only");
  app.add_flag("--timeline", o->timeline, "which processors each job had, and when");
  app.add_option("--svg", o->svg, "the same as a picture").type_name("FILE");
  app.add_option("--last", o->last_s, "of the timeline the last N seconds only").check(base::positive_number());
  app.add_flag("--json", o->json, "print one JSON object");
  app.action([o] { run(*o); });
}

} // namespace command
