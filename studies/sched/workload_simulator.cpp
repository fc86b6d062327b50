// SPDX-License-Identifier: BSD-3-Clause
// workload_simulator: scheduling policies on simulated time; README.md beside this file has examples.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/command_line.hpp"
#include "base/files.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "plot.hpp"
#include "shared/failure.hpp"
#include "shared/text.hpp"
#include "simulate.hpp"
#include "simulate_trace.hpp"

namespace command {
namespace {

struct Options {
  std::string policies = "ls,as,rs,tp", mixes = "all", utilizations = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8";
  std::string jobs, share = "even", serial, small, csv, plot;
  sched::SimulationOptions simulation;
  TraceOptions trace;
  bool has_procs = false; ///< given, and not the default
  double error_percent = 1, ignoring = 0, crashing = 0, resize_scale = 1;
  std::int64_t seed = 1;
  int threads = 0;
  bool payoff = false, resize_small = false, json = false, events = false;
};

struct Point {
  sched::Mix mix{};
  double utilization = 0;
  std::string policy;
  sched::SimulationResult result;
};

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');)
    if (!word.empty()) list.push_back(word);
  return list;
}

sched::DrmsChoices choices_of(const Options& o) {
  sched::DrmsChoices choices;
  if (!o.serial.empty()) {
    const auto serial = parse_numbers("--serial", o.serial);
    if (serial.size() != 3) throw Failure("--serial: expected three factors, one for each category");
    std::copy(serial.begin(), serial.end(), choices.serial);
  }
  if (!o.small.empty()) {
    const auto range = parse_numbers("--small", o.small);
    if (range.size() != 2 || range[0] <= 0 || range[1] < range[0])
      throw Failure("--small: expected the shortest and the longest time, in seconds");
    choices.small_shortest_s = range[0];
    choices.small_longest_s = range[1];
  }
  choices.resize_scale = o.resize_scale;
  choices.resize_small = o.resize_small;
  return choices;
}

sched::PolicyOptions policy_options(const Options& o) {
  sched::PolicyOptions options;
  options.share = o.share == "first" ? sched::PolicyOptions::Share::first : sched::PolicyOptions::Share::even;
  options.payoff = o.payoff;
  return options;
}

std::string shown(const sched::SimulationResult& r) {
  if (r.overloaded) return "overloaded";
  return fmt::format("{:.0f}{}", r.response_s, r.converged ? "" : "?");
}

Json json_of(const sched::SimulationResult& r) {
  Json categories = Json::array();
  for (const auto& c : r.categories)
    categories.push_back(
        {{"jobs", c.jobs}, {"response_s", c.response_s}, {"wait_s", c.wait_s}, {"service_s", c.service_s}});
  return {{"response_s", r.response_s},
          {"error_s", r.error_s},
          {"wait_s", r.wait_s},
          {"service_s", r.service_s},
          {"jobs", r.jobs},
          {"batches", r.batches},
          {"batch_correlation", r.correlation},
          {"converged", r.converged},
          {"overloaded", r.overloaded},
          {"processors_used", r.used},
          {"resizes_per_job", r.resizes_per_job},
          {"requests_ignored", r.ignored},
          {"jobs_crashed", r.crashed},
          {"categories", categories}};
}

void write_csv(const Options& o, const std::vector<Point>& points) {
  auto file = open_file("--csv", o.csv);
  file << "mix,utilization,policy,response_s,error_s,wait_s,service_s,jobs,converged,overloaded,used,"
          "resizes_per_job,response_1_s,response_2_s,response_3_s\n";
  for (const Point& p : points) {
    const auto& r = p.result;
    file << fmt::format("{},{:g},{},{:.6g},{:.4g},{:.6g},{:.6g},{},{:d},{:d},{:.4f},{:.4f}", to_string(p.mix),
                        p.utilization, p.policy, r.response_s, r.error_s, r.wait_s, r.service_s, r.jobs, r.converged,
                        r.overloaded, r.used, r.resizes_per_job);
    for (std::size_t c = 0; c < 3; ++c)
      file << fmt::format(",{:.6g}", c < r.categories.size() ? r.categories[c].response_s : 0.0);
    file << '\n';
  }
}

/// A picture by gnuplot: a panel for each mix, response time over utilization, a line for each policy.
void draw(const Options& o, const std::vector<Point>& points, const std::vector<sched::Mix>& mixes,
          const std::vector<std::string>& policies) {
  const auto columns = std::min<std::size_t>(mixes.size(), 3), rows = (mixes.size() + columns - 1) / columns;
  std::string script;
  for (std::size_t m = 0; m < mixes.size(); ++m)
    for (const auto& policy : policies) {
      script += fmt::format("$m{}_{} << EOD\n", m, policy);
      for (const Point& p : points)
        if (p.policy == policy && to_string(p.mix) == to_string(mixes[m]) && !p.result.overloaded)
          script += fmt::format("{} {} {}\n", p.utilization, p.result.response_s, p.result.error_s);
      script += "EOD\n";
    }
  script += fmt::format("set multiplot layout {},{} title 'Mean response time, {} processors'\n", rows, columns,
                        o.simulation.procs);
  script += "set key top left\nset grid\nset xlabel 'utilization'\nset ylabel 'seconds'\nset yrange [0:*]\n";
  for (std::size_t m = 0; m < mixes.size(); ++m) {
    script += fmt::format("set title 'mix {}'\nplot ", to_string(mixes[m]));
    for (std::size_t k = 0; k < policies.size(); ++k) {
      std::string title = policies[k];
      for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      script += fmt::format("{}$m{}_{} using 1:2 with linespoints lw 2 pt {} lc {} title '{}'", k == 0 ? "" : ", ", m,
                            policies[k], 5 + 2 * k, k + 1, title);
    }
    script += "\n";
  }
  plot(o.plot, 120 + 360 * columns, 60 + 300 * rows, script + "unset multiplot\n");
}

void run_recorded(const Options& o, const std::vector<std::string>& policies) {
  if (!std::ifstream(o.jobs)) throw Failure(fmt::format("--jobs: cannot read '{}'", o.jobs));
  const auto recorded = sched::parse_jobs(base::content_of(o.jobs), o.jobs);
  if (recorded.arrivals.empty()) throw Failure(fmt::format("--jobs: no job in '{}'", o.jobs));
  auto simulation = o.simulation;
  simulation.to_the_end = true;
  simulation.warm_up = 0;
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows{
      {"policy", "response s", "wait s", "service s", "end s", "jobs", "crashed", "used", "changes"}};
  for (const auto& name : policies) {
    const auto policy = sched::make_policy(name, policy_options(o));
    sched::RecordedArrivals arrivals(recorded.arrivals);
    Json events = Json::array();
    std::string lines;
    const auto watch = [&](const sched::SimulationEvent& e) {
      constexpr const char* words_of[] = {"arrives", "starts", "is asked", "has", "ignored", "crashes", "ends"};
      const char* word = words_of[static_cast<int>(e.kind)];
      events.push_back({{"at_s", e.at_s}, {"job", e.job}, {"name", e.app->name}, {"event", word}, {"procs", e.procs}});
      lines += fmt::format("{:12.3f}  {:4} {:16} {} {}\n", e.at_s, e.job, e.app->name, word,
                           e.procs > 0 ? std::to_string(e.procs) : "");
    };
    const auto r = sched::simulate(*policy, arrivals, simulation, watch);
    Json one = json_of(r);
    one["policy"] = name;
    one["end_s"] = r.simulated_s;
    const auto left = static_cast<std::int64_t>(recorded.arrivals.size()) - r.jobs;
    one["never_started"] = left;
    if (o.events) one["events"] = events;
    list.push_back(one);
    if (o.events && !o.json) std::printf("%s:\n%s", name.c_str(), lines.c_str());
    if (left > 0 && !o.json)
      std::printf("%s: %lld jobs never started: their smallest size is more than %d processors\n", name.c_str(),
                  static_cast<long long>(left), o.simulation.procs);
    rows.push_back({name, fmt::format("{:.1f}", r.response_s), fmt::format("{:.1f}", r.wait_s),
                    fmt::format("{:.1f}", r.service_s), fmt::format("{:.1f}", r.simulated_s), std::to_string(r.jobs),
                    std::to_string(r.crashed), fmt::format("{:.3f}", r.used),
                    fmt::format("{:.0f}", r.resizes_per_job * static_cast<double>(r.jobs))});
  }
  if (print_json(o.json, {{"procs", o.simulation.procs}, {"policies", list}})) return;
  std::printf("%s", table(rows).c_str());
}

/// Simulates all points, several at once. Returns the seconds it took.
double simulate_all(const Options& o, std::vector<Point>& points) {
  const auto apps = sched::drms_apps(choices_of(o));
  const double start = base::monotonic_s();
  std::atomic<std::size_t> next{0}, done{0};
  const bool progress = isatty(2) != 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < points.size(); i = next++) {
      Point& p = points[i];
      sched::RandomArrivals arrivals(apps, sched::rates_for(apps, p.mix, p.utilization, o.simulation.procs),
                                     static_cast<std::uint64_t>(o.seed), o.ignoring, o.crashing);
      p.result = sched::simulate(*sched::make_policy(p.policy, policy_options(o)), arrivals, o.simulation);
      const auto count = ++done;
      if (progress) std::fprintf(stderr, "\r%zu of %zu", count, points.size());
    }
  };
  const auto count =
      o.threads > 0 ? static_cast<unsigned>(o.threads) : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < count; ++t) threads.emplace_back(work);
  work();
  for (auto& thread : threads) thread.join();
  if (progress) std::fprintf(stderr, "\r                \r");
  return base::monotonic_s() - start;
}

/// One table for each mix: a row for each utilization, a column for each policy.
void print_tables(const std::vector<Point>& points, const std::vector<sched::Mix>& mixes,
                  const std::vector<double>& utilizations, const std::vector<std::string>& policies) {
  const auto ratio_of = [&](const Point* a, const Point* b) {
    if (a == nullptr || b == nullptr || a->result.overloaded || b->result.overloaded) return std::string("-");
    return fmt::format("{:.2f}", a->result.response_s / b->result.response_s);
  };
  for (const auto& mix : mixes) {
    std::printf("mix %s: mean response time in seconds\n", to_string(mix).c_str());
    std::vector<std::vector<std::string>> rows{{"utilization"}};
    for (const auto& policy : policies) rows[0].push_back(policy);
    rows[0].insert(rows[0].end(), {"ls/as", "ls/rs", "as/rs", "largest error %"});
    for (const double u : utilizations) {
      std::vector<std::string> row{fmt::format("{:g}", u)};
      const Point *ls = nullptr, *as = nullptr, *rs = nullptr;
      double worst = 0;
      for (const Point& p : points) {
        if (to_string(p.mix) != to_string(mix) || p.utilization != u) continue;
        row.push_back(shown(p.result));
        if (p.policy == "ls") ls = &p;
        if (p.policy == "as") as = &p;
        if (p.policy == "rs") rs = &p;
        worst = std::max(worst, 100 * p.result.error_s / p.result.response_s);
      }
      row.insert(row.end(), {ratio_of(ls, as), ratio_of(ls, rs), ratio_of(as, rs), fmt::format("{:.2f}", worst)});
      rows.push_back(row);
    }
    std::printf("%s\n", table(rows).c_str());
  }
}

void run_trace_of(const Options& o, const std::vector<std::string>& policies) {
  if (!o.trace.swf.empty() && !o.trace.synthetic.empty())
    throw Failure("got --swf and --synthetic, expected one of them");
  TraceRun run;
  run.policies = policies;
  run.policy_options = policy_options(o);
  run.simulation = o.simulation;
  run.procs = o.has_procs || o.trace.swf.empty() ? o.simulation.procs : 0;
  run.seed = static_cast<std::uint64_t>(o.seed);
  run.csv = o.csv;
  run.plot = o.plot;
  run.json = o.json;
  constexpr std::int64_t most_jobs = 10'000'000;
  if (!o.trace.synthetic.empty())
    run.jobs = base::parse_whole_number(o.jobs, "--jobs (with --synthetic)", 1, most_jobs);
  run_trace(o.trace, run);
}

void run(Options o) {
  o.simulation.relative_error = o.error_percent / 100;
  const auto policies = words(o.policies);
  if (policies.empty()) throw Failure("--policy: the list is empty");
  if (o.trace.is_wanted()) return run_trace_of(o, policies);
  for (const auto& name : policies) sched::make_policy(name);
  if (!o.jobs.empty()) return run_recorded(o, policies);

  std::vector<sched::Mix> mixes;
  if (o.mixes == "all")
    mixes = sched::drms_mixes();
  else
    for (const auto& word : words(o.mixes)) mixes.push_back(sched::parse_mix(word));
  const auto utilizations = parse_numbers("--utilization", o.utilizations);
  for (const double u : utilizations)
    if (!(u > 0 && u < 2)) throw Failure(fmt::format("--utilization: {:g} is not above 0 and below 2", u));
  constexpr std::size_t most_points = 1000;
  if (const std::size_t all = mixes.size() * utilizations.size() * policies.size(); all > most_points)
    throw Failure(fmt::format("{} mixes, {} utilizations and {} policies are {} simulations, expected at most {}",
                              mixes.size(), utilizations.size(), policies.size(), all, most_points));
  std::vector<Point> points;
  for (const auto& mix : mixes)
    for (const double u : utilizations)
      for (const auto& policy : policies) points.push_back({mix, u, policy, {}});
  if (points.empty()) throw Failure("nothing to simulate: no mix or no utilization");

  const double wall_s = simulate_all(o, points);
  std::int64_t jobs = 0;
  for (const Point& p : points) jobs += p.result.jobs_run;
  const double per_minute = static_cast<double>(jobs) / std::max(wall_s, 1e-9) * 60;
  if (!o.csv.empty()) write_csv(o, points);
  if (!o.plot.empty()) draw(o, points, mixes, policies);
  Json list = Json::array();
  for (const Point& p : points) {
    Json one{{"mix", to_string(p.mix)}, {"utilization", p.utilization}, {"policy", p.policy}};
    one.update(json_of(p.result));
    list.push_back(one);
  }
  if (print_json(o.json, {{"procs", o.simulation.procs},
                          {"relative_error", o.simulation.relative_error},
                          {"seed", o.seed},
                          {"job_executions", jobs},
                          {"seconds", wall_s},
                          {"job_executions_per_minute", per_minute},
                          {"points", list}}))
    return;
  print_tables(points, mixes, utilizations, policies);
  std::printf("%s job executions in %.1f s: %s a minute\n", grouped(jobs).c_str(), wall_s,
              grouped(static_cast<std::int64_t>(per_minute)).c_str());
}

/// What the modelled jobs are like.
void add_job_options(base::CommandLine& app, Options& o) {
  app.add_option("--serial", o.serial, "factors on the serial fraction of the three categories (default 8,4,1)")
      .type_name("LIST");
  app.add_option("--small", o.small, "shortest and longest small job, seconds on one processor (default 100,1480)")
      .type_name("LIST");
  app.add_flag("--resize-small", o.resize_small, "small jobs may change their size too");
  app.add_option("--resize-scale", o.resize_scale, "factor on what a change costs")
      .check(base::non_negative_number())
      .show_default();
  app.add_option("--ignoring", o.ignoring, "part of the jobs that look at no request")
      .check(base::in_range(0.0, 1.0))
      .show_default();
  app.add_option("--crashing", o.crashing, "part of the jobs that crash on the way")
      .check(base::in_range(0.0, 1.0))
      .show_default();
  app.add_option("--deadline", o.simulation.deadline_s, "seconds a job has to answer a request")
      .check(base::positive_number())
      .show_default();
}

void add_options(base::CommandLine& app, Options& o) {
  o.simulation.most_jobs = 10'000'000; // seconds to a minute for a point that does not come to its error
  app.add_option("--policy", o.policies,
                 "ls lazy, as adaptive, rs reconfigurable, tp throughput, qos finish-by times; for traces easy, "
                 "conservative too")
      .type_name("LIST")
      .show_default();
  app.add_option("--mix", o.mixes,
                 "percent of the load from small, medium and large jobs: 25:25:50,...; "
                 "all: the six published ones")
      .type_name("LIST")
      .show_default();
  app.add_option("--utilization", o.utilizations, "arriving work over what the machine can do")
      .type_name("LIST")
      .show_default();
  app.add_option("--procs,--processors", o.simulation.procs, "processors; of --swf: those of its header")
      .check(base::in_range(1, 1 << 20))
      .show_default();
  app.add_option("--cores", o.simulation.cores, "cores: on more processors a step is no quicker; 0: --procs of them")
      .check(base::in_range(0, 1 << 20))
      .show_default();
  app.add_option("--error", o.error_percent, "stop at this standard error of the mean, in percent")
      .check(base::in_range(0.1, 100.0))
      .show_default();
  app.add_option("--warm-up", o.simulation.warm_up, "jobs left out at the start")
      .check(base::in_range(0, 1'000'000'000))
      .show_default();
  app.add_option("--max-jobs", o.simulation.most_jobs, "jobs after which a point is given up (shown with a '?')")
      .check(base::in_range(1, 1'000'000'000))
      .show_default();
  app.add_option("--seed", o.seed, "of the random numbers; all policies get the same jobs").show_default();
  app.add_option("--share", o.share, "the jobs that get processors left over: even, or the first of the queue")
      .check(base::one_of({"even", "first"}))
      .show_default();
  app.add_flag("--payoff", o.payoff, "rs: grow only where the time left saves more than the change costs");
  add_job_options(app, o);
  app.add_option("--jobs", o.jobs,
                 "recorded jobs instead of modelled ones: lines of name,arrival_s,sizes,steps,"
                 "step times (see studies/sched/README.md); with --synthetic: how many")
      .type_name("FILE");
  app.add_flag("--events", o.events, "with --jobs: everything that happens");
  app.add_option("--threads", o.threads, "points simulated at a time; 0: one for each core")
      .check(base::in_range(0, 1024))
      .show_default();
  app.add_option("--csv", o.csv, "write the points").type_name("FILE");
  app.add_option("--plot", o.plot, "draw them with gnuplot: FILE.svg or FILE.png").type_name("FILE");
  app.add_flag("--json", o.json, "print one JSON object");
  add_trace_options(app, o.trace);
}

int fail(const std::exception& error, int status) {
  std::string line = error.what();
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "workload_simulator: %s\n", base::printable(line).c_str());
  return status;
}

} // namespace
} // namespace command

int main(int argc, char** argv) {
  base::CommandLine app("Scheduling policies on simulated time: how long jobs take under each", "workload_simulator");
  command::Options o;
  command::add_options(app, o);
  if (const auto status = base::read_command_line(app, argc, argv)) return *status;
  try {
    o.has_procs = app.count("--procs") > 0;
    command::refuse_without_trace(app, o.trace);
    command::run(o);
  } catch (const command::Failure& error) {
    return command::fail(error, error.status());
  } catch (const base::Error& error) {
    return command::fail(error, 2);
  } catch (const std::exception& error) {
    return command::fail(error, 1);
  }
  return 0;
}
