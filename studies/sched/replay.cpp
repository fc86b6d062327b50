// SPDX-License-Identifier: BSD-3-Clause
#include "replay.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "backfill.hpp"
#include "workload.hpp"

namespace sched {
namespace {

constexpr double bound_s = 10; ///< of bounded slowdowns

/// The kinds of jobs of a trace by size and by whether they are malleable. A step is a second on the size asked for.
class TraceApps {
public:
  TraceApps(const Trace& trace, const ReplayOptions& options) : trace_(trace), options_(options) {}

  const App& of(const TraceJob& job) {
    std::unique_ptr<App>& app = apps_[{job.procs, job.is_malleable}];
    if (app) return *app;
    app = std::make_unique<App>();
    app->name = fmt::format("{}", job.procs);
    app->sizes = job.is_malleable ? malleable_sizes(job.procs, trace_.procs) : Sizes({job.procs});
    const double asked = options_.speedup.at(job.procs, job.procs);
    for (const int n : app->sizes.list()) app->step_s.push_back(asked / options_.speedup.at(n, job.procs));
    app->resizable = job.is_malleable;
    app->resize_base_s = options_.resize_s;
    return *app;
  }

private:
  const Trace& trace_;
  const ReplayOptions& options_;
  std::map<std::pair<int, bool>, std::unique_ptr<App>> apps_;
};

class TraceArrivals : public Arrivals {
public:
  TraceArrivals(const Trace& trace, TraceApps& apps) : trace_(trace), apps_(apps) {}
  bool next(Newcomers& arrival) override {
    if (at_ == trace_.jobs.size()) return false;
    const TraceJob& job = trace_.jobs[at_++];
    arrival = {job.submit_s, &apps_.of(job), job.run_s, false, -1};
    arrival.finish_by_s = job.finish_by_s;
    return true;
  }

private:
  const Trace& trace_;
  TraceApps& apps_;
  std::size_t at_ = 0;
};

/// When each job of a trace began and ended.
struct Course {
  std::vector<double> start_s, end_s;
};

Course run_backfill(const Trace& trace, Backfill kind, ReplayResult& result) {
  Course course{backfill(trace.jobs, trace.procs, kind), {}};
  double work_s = 0;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    course.end_s.push_back(course.start_s[i] + trace.jobs[i].run_s);
    work_s += trace.jobs[i].run_s * trace.jobs[i].procs;
  }
  result.used = work_s;
  return course;
}

Course run_policy(const Trace& trace, std::string_view name, const ReplayOptions& options, TraceApps& apps,
                  ReplayResult& result) {
  Course course{std::vector<double>(trace.jobs.size()), std::vector<double>(trace.jobs.size())};
  TraceArrivals arrivals(trace, apps);
  SimulationOptions simulation = options.simulation;
  simulation.procs = trace.procs;
  simulation.to_the_end = true;
  simulation.warm_up = 0;
  simulation.longest_queue = static_cast<std::int64_t>(trace.jobs.size()) + 1;
  const auto r = simulate(*make_policy(name, options.policy), arrivals, simulation, [&](const SimulationEvent& event) {
    const auto i = static_cast<std::size_t>(event.job - 1); // they are counted as they arrive
    if (event.kind == SimulationEvent::Kind::start) course.start_s[i] = event.at_s;
    if (event.kind == SimulationEvent::Kind::end) course.end_s[i] = event.at_s;
    if (event.kind == SimulationEvent::Kind::resized) ++result.resizes;
  });
  result.used = r.used * r.simulated_s * trace.procs;
  return course;
}

/// Values of the jobs of one class.
struct Values {
  std::vector<double> wait_s, response_s, slowdown;
};

std::string size_class(int procs) {
  if (procs == 1) return "1";
  if (procs < 10) return "2-9";
  int least = 10;
  while (procs >= 10LL * least && least < 10000) least *= 10;
  return least == 10000 ? "10000-" : fmt::format("{}-{}", least, 10 * least - 1);
}

void judge(const Trace& trace, const Course& course, ReplayResult& result) {
  const bool has_malleable =
      std::any_of(trace.jobs.begin(), trace.jobs.end(), [](const TraceJob& job) { return job.is_malleable; });
  std::map<std::string, Values> by_name;
  std::set<std::pair<int, std::string>> sizes;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const TraceJob& job = trace.jobs[i];
    const double wait_s = course.start_s[i] - job.submit_s, response_s = course.end_s[i] - job.submit_s;
    const std::string size = size_class(job.procs);
    sizes.emplace(job.procs == 1 ? 0 : static_cast<int>(std::log10(job.procs)) + 1, size);
    for (const std::string& name : {std::string("all"), size, std::string(job.is_malleable ? "malleable" : "rigid")}) {
      Values& values = by_name[name];
      values.wait_s.push_back(wait_s);
      values.response_s.push_back(response_s);
      values.slowdown.push_back(bounded_slowdown(response_s, job.run_s));
    }
  }
  std::vector<std::string> order{"all"};
  for (const auto& [power, name] : sizes)
    if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
  if (has_malleable) order.insert(order.end(), {"rigid", "malleable"});
  for (const std::string& name : order) {
    Values& values = by_name[name];
    if (values.wait_s.empty()) continue;
    result.classes.push_back({name, static_cast<std::int64_t>(values.wait_s.size()), spread_of(values.wait_s),
                              spread_of(values.response_s), spread_of(values.slowdown)});
  }
}

void count_kept(const Trace& trace, const Course& course, TraceApps& apps, ReplayResult& result) {
  constexpr double rounding_s = 1e-6;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const TraceJob& job = trace.jobs[i];
    if (std::isinf(job.finish_by_s)) continue;
    const std::vector<double>& step_s = apps.of(job).step_s;
    const double least_s = job.run_s * *std::min_element(step_s.begin(), step_s.end());
    if (job.submit_s + least_s > job.finish_by_s + rounding_s) {
      ++result.infeasible;
      continue;
    }
    ++result.feasible;
    result.kept += course.end_s[i] <= job.finish_by_s + rounding_s;
  }
}

} // namespace

double bounded_slowdown(double response_s, double run_s) {
  return std::max(1.0, response_s / std::max(run_s, bound_s));
}

Sizes malleable_sizes(int asked, int procs) {
  std::vector<int> sizes;
  for (const int n : {asked / 4, asked / 2, asked})
    if (n >= 1 && (sizes.empty() || n > sizes.back())) sizes.push_back(n);
  for (const std::int64_t n : {2LL * asked, 4LL * asked})
    if (n <= procs) sizes.push_back(static_cast<int>(n));
  return Sizes(sizes);
}

Spread spread_of(std::vector<double>& values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  const auto n = static_cast<double>(values.size());
  const auto rank = [&](double part) { return values[static_cast<std::size_t>(std::ceil(part * n)) - 1]; };
  return {sum / n, rank(0.5), rank(0.95), rank(0.99), values.back()};
}

ReplayResult replay(const Trace& trace, std::string_view policy, const ReplayOptions& options) {
  if (trace.jobs.empty()) refuse_input("the trace has no job that can run");
  ReplayResult result;
  TraceApps apps(trace, options);
  const Course course = policy == "easy"           ? run_backfill(trace, Backfill::easy, result)
                        : policy == "conservative" ? run_backfill(trace, Backfill::conservative, result)
                                                   : run_policy(trace, policy, options, apps, result);
  const double first_s = trace.jobs.front().submit_s;
  result.span_s = *std::max_element(course.end_s.begin(), course.end_s.end()) - first_s;
  result.used /= result.span_s * trace.procs;
  judge(trace, course, result);
  count_kept(trace, course, apps, result);
  return result;
}

} // namespace sched
