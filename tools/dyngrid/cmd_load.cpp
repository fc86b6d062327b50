// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "command.hpp"
#include "control/load_reader.hpp"
#include "job_balance.hpp"
#include "job_text.hpp"
#include "load_by_host.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

struct LoadOptions {
  std::string job, balance;
  double seconds = 1, timeout_s = 30;
  bool all = false, self_test = false, json = false;
};

/// One thread that computes meanwhile: its share is the one that a process of a grid would get here.
control::Load measure(control::LoadSource source, double seconds) {
  control::LoadReader reader(source);
  const base::Deadline end(seconds);
  while (!end.is_over()) {
  }
  return reader.look();
}

constexpr double short_answer_s = 2, long_answer_s = 10, ask_again_s = 0.2;

/// Whether all processes of the grid have been measured recently.
bool is_complete(const Json& answer) {
  constexpr double lately_s = 3;
  const Json loads = answer.value("loads", Json::array()), age_s = answer.value("age_s", Json());
  return age_s.is_number() && age_s.get<double>() <= lately_s && !loads.empty() &&
         std::all_of(loads.begin(), loads.end(), [](const Json& load) {
           return load.at("samples").get<int>() > 0 || load.value("place", Json()).is_null();
         });
}

std::string no_resize_point(const std::string& job, double seconds) {
  return fmt::format("job {} did not come to a resize point within {:g} s, where loads are gathered", job, seconds);
}

/// The complete answer of a job, or the one at the time limit. The first question only starts the measurement.
Json loads_of(const LoadOptions& o) {
  const std::string job = job_or_only(o.job);
  control::Client client = connect_to(job);
  const base::Deadline end(o.timeout_s);
  for (;;) {
    Json answer = client.call("load", {}, std::clamp(end.left_s(), short_answer_s, long_answer_s));
    if (is_complete(answer)) return answer;
    if (end.is_over()) {
      if (answer.value("loads", Json::array()).empty()) throw Failure(no_resize_point(job, o.timeout_s), 1);
      return answer; // the present state
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(ask_again_s));
  }
}

void show_job(const LoadOptions& o) {
  const Json answer = loads_of(o);
  if (print_json(o.json, answer)) return;
  const auto percent = [](const Json& part) { return fmt::format("{:.0f} %", 100 * part.get<double>()); };
  std::vector<std::vector<std::string>> rows{
      {"process", "host", "place", "share", "speed", "competing", "waited", "no quota", "stolen", "since"}};
  for (const Json& load : answer.at("loads")) {
    const bool is_known = load.at("samples").get<int>() > 0;
    rows.push_back(
        {std::to_string(load.at("process").get<int>()), load.at("host").get<std::string>(),
         load.value("place", Json()).is_null() ? "parked" : std::to_string(load.at("place").get<int>()),
         is_known ? fmt::format("{:.2f}", load.at("share").get<double>()) : "-",
         fmt::format("{:.3g}", load.at("speed").get<double>()),
         load.value("competing", Json()).is_null() ? "-" : fmt::format("{:.3g}", load.at("competing").get<double>()),
         is_known ? percent(load.value("waited", Json())) : "-",
         is_known ? percent(load.value("throttled", Json())) : "-",
         is_known ? percent(load.value("stolen", Json())) : "-",
         is_known ? duration_text(load.at("held_s").get<double>()) : "-"});
  }
  std::printf("%s", table(std::move(rows)).c_str());
  for (const Json& load : answer.at("loads"))
    if (const double stopped_s = load.value("stopped_s", 0.0); stopped_s > 0)
      std::printf("process %d was stopped for %s\n", load.at("process").get<int>(), duration_text(stopped_s).c_str());
  std::printf("balance %s%s\n", answer.at("mode").get<std::string>().c_str(),
              answer.value("age_s", Json()).is_number()
                  ? fmt::format("; {} ago", duration_text(answer.at("age_s").get<double>())).c_str()
                  : "");
  if (const Json& last = answer.value("last_balance", Json()); last.is_object())
    std::printf("%s\n", balance_text(last).c_str());
}

/// All running jobs, by host. They are asked in turns until the loads of each are complete: a job that is not asked for
/// a while measures no more.
void show_all(const LoadOptions& o) {
  std::map<std::string, control::Client> asked;
  std::map<std::string, Json> loads;
  Json silent = Json::array();
  const auto leave_out = [&](const std::string& job, const std::string& why) {
    std::fprintf(stderr, "dyngrid load: %s\n", base::printable(why).c_str());
    silent.push_back(job);
  };
  const auto does_not_answer = [&](const std::string& job, const std::exception& error) { // it ends, or it is stopped
    leave_out(job, fmt::format("job {} does not answer: {}", job, error.what()));
  };
  for (const std::string& job : running_jobs()) {
    try {
      asked.emplace(job, control::Client::to_job(job, short_answer_s));
    } catch (const std::exception& error) {
      does_not_answer(job, error);
    }
  }
  const base::Deadline end(o.timeout_s);
  while (!asked.empty()) {
    const bool is_last = end.is_over();
    for (auto at = asked.begin(); at != asked.end();) {
      const std::string& job = at->first;
      bool is_done = true;
      try {
        const Json answer = at->second.call("load", {}, short_answer_s);
        const Json list = answer.value("loads", Json::array());
        is_done = is_last || is_complete(answer);
        if (is_done && list.empty())
          leave_out(job, no_resize_point(job, o.timeout_s));
        else if (is_done)
          loads[job] = list;
      } catch (const std::exception& error) {
        does_not_answer(job, error);
      }
      at = is_done ? asked.erase(at) : std::next(at);
    }
    if (!asked.empty()) std::this_thread::sleep_for(std::chrono::duration<double>(ask_again_s));
  }
  const Json rows = load_by_host(loads);
  if (print_json(o.json, {{"hosts", rows}, {"silent", silent}})) return;
  if (rows.empty()) {
    std::printf("%s\n", silent.empty() ? "no jobs" : "no job has reported its load");
    return;
  }
  const auto number = [](const Json& value) {
    return value.is_null() ? std::string("-") : fmt::format("{:.2f}", value.get<double>());
  };
  std::vector<std::vector<std::string>> lines{
      {"JOB", "host", "processes", "parked", "share", "least", "competing", "beside"}};
  for (const Json& row : rows)
    lines.push_back({row.at("job").get<std::string>(), row.at("host").get<std::string>(),
                     std::to_string(row.at("processes").get<int>()), std::to_string(row.at("asleep").get<int>()),
                     number(row.at("share")), number(row.at("least_share")), number(row.at("competing")),
                     fmt::format("{}", fmt::join(row.at("beside").get<std::vector<std::string>>(), ", "))});
  std::printf("%s", table(std::move(lines)).c_str());
}

void run(const LoadOptions& o) {
  if (o.all) {
    if (o.self_test || !o.balance.empty() || !o.job.empty())
      throw Failure(fmt::format("got --all and {}, expected one of them", o.self_test         ? "--self-test"
                                                                          : o.balance.empty() ? "job " + o.job
                                                                                              : "--balance"));
    return show_all(o);
  }
  if (!o.balance.empty()) {
    if (o.self_test) throw Failure("got --balance and --self-test, expected one of them");
    return ask_for_balance({o.job, o.balance, o.timeout_s, o.json});
  }
  if (!o.self_test) {
    show_job(o);
    return;
  }
  if (!o.job.empty()) throw Failure(fmt::format("got job {} and --self-test, expected one of them", o.job));
  const control::LoadSources sources = control::test_load_sources();
  const control::Load load = measure(sources.share, o.seconds);
  if (print_json(o.json, {{"source", to_string(sources.share)},
                          {"text", sources.text},
                          {"throttling", sources.has_throttling},
                          {"steal", sources.has_steal},
                          {"competitors", sources.has_competitors},
                          {"share", load.share},
                          {"waited", load.waited},
                          {"throttled", load.throttled},
                          {"stolen", load.stolen},
                          {"competing", load.competing}}))
    return;
  const auto known = [](bool is_known) { return is_known ? "known" : "not known here"; };
  std::printf("share       from %s\n", sources.text.c_str());
  std::printf("quota       %s (cpu.stat of the control group)\n", known(sources.has_throttling));
  std::printf("stolen      %s (/proc/stat)\n", known(sources.has_steal));
  std::printf("competitors %s (/proc/stat)\n", known(sources.has_competitors));
  std::printf(
      "here        %.2f of a processor: %.0f %% of the time in the queue, %.0f %% without quota, %.0f %% stolen, "
      "%.3g processes compete\n",
      load.share, 100 * load.waited, 100 * load.throttled, 100 * load.stolen, load.competing);
}

} // namespace

void add_load(CommandLine& root) {
  CommandLine& app =
      root.add_command("load", "What part of a processor each process of a job gets; balances the job by it");
  auto o = std::make_shared<LoadOptions>();
  app.add_option("JOB", o->job, "name of the job, as dyngrid ps shows it; without it, the only one that runs");
  app.add_flag(
      "--all", o->all,
      "every running job, a line for each of its hosts: the share that its processes get, and which other jobs "
      "have processes there");
  app.add_option("--timeout", o->timeout_s,
                 "time to wait until all processes have been measured, or for the answer to --balance")
      .type_name("SECONDS")
      .check(base::positive_number())
      .show_default();
  app.add_option("--balance", o->balance,
                 "now: the job does at its next resize point what dyngrid plan balance JOB advises, if the time saved "
                 "exceeds the cost; auto, advise or off: its mode from here on (DYNGRID_BALANCE)")
      .check(base::one_of({"now", "auto", "advise", "off"}));
  app.add_flag("--self-test", o->self_test, "which of the kernel's figures can be trusted, and what this process gets");
  app.add_option("--seconds", o->seconds, "time that it computes to find that out")
      .check(base::in_range(0.01, 3600.0))
      .show_default();
  app.add_flag("--json", o->json, "print one JSON object");
  app.footer("share: what a process got of the time that it was ready to run; of one that sleeps, what it would get. "
             "competing: "
             "processes of the\nhost that were ready to run beside it. waited: the part of its ready time in the run "
             "queue. no quota: its control group\nstood still. speed: by which weighted matrices are dealt out. A job "
             "without DYNGRID_BALANCE begins to measure with the first\nquestion, and goes on for 5 s after the last.\n"
             "With --balance: status 3 where the job declined.");
  app.action([o] { run(*o); });
}

} // namespace command
