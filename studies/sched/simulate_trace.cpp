// SPDX-License-Identifier: BSD-3-Clause
#include "simulate_trace.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/parse_json.hpp"
#include "plot.hpp"
#include "shared/failure.hpp"
#include "shared/text.hpp"
#include "synthetic.hpp"

namespace command {
namespace {

/// One policy on the trace.
struct Replayed {
  std::string policy;
  sched::ReplayResult result;
  double cpu_s = 0;
};

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

sched::Trace trace_of(const TraceOptions& o, const TraceRun& run, const sched::Speedup& speedup) {
  sched::Trace trace;
  if (!o.swf.empty()) {
    if (!std::ifstream(o.swf)) throw Failure(fmt::format("--swf: cannot read '{}'", o.swf));
    trace = sched::parse_swf(base::content_of(o.swf), o.swf, run.procs);
  } else if (o.synthetic == "lublin") {
    trace = sched::lublin_trace(run.jobs, run.procs, run.seed);
  } else {
    trace = sched::downey_trace(run.jobs, run.procs, speedup, run.seed);
  }
  if (trace.jobs.empty())
    throw Failure(fmt::format("'{}' has no job that can be run, of {} lines", o.swf, trace.lines));
  if (o.load > 0) sched::set_offered_load(trace, o.load);
  // seeds of their own: the same jobs are malleable whatever else is asked for
  if (o.malleable > 0) sched::set_malleable(trace, o.malleable, run.seed + 1);
  if (o.estimates > 0) sched::set_estimates(trace, o.estimates, run.seed + 2);
  if (!o.finish_by.empty()) {
    const auto colon = o.finish_by.find(':');
    const auto least = parse_numbers("--finish-by", o.finish_by.substr(0, colon));
    const auto most = colon == std::string::npos ? least : parse_numbers("--finish-by", o.finish_by.substr(colon + 1));
    if (least.size() != 1 || most.size() != 1 || least[0] <= 0 || most[0] < least[0])
      throw Failure(
          fmt::format("--finish-by is '{}', expected LEAST:MOST times the run time, e.g. 1.5:4", o.finish_by));
    sched::set_finish_by(trace, least[0], most[0], run.seed + 3);
  }
  return trace;
}

Json json_of(const sched::Spread& s) {
  return {{"mean", s.mean}, {"median", s.median}, {"p95", s.p95}, {"p99", s.p99}, {"max", s.most}};
}

Json json_of(const Replayed& one) {
  Json classes = Json::array();
  for (const sched::JobClass& c : one.result.classes)
    classes.push_back({{"class", c.name},
                       {"jobs", c.jobs},
                       {"wait_s", json_of(c.wait_s)},
                       {"response_s", json_of(c.response_s)},
                       {"bounded_slowdown", json_of(c.slowdown)}});
  Json fields{{"policy", one.policy},        {"utilization", one.result.used},
              {"span_s", one.result.span_s}, {"changes", one.result.resizes},
              {"cpu_s", one.cpu_s},          {"classes", classes}};
  if (one.result.feasible + one.result.infeasible > 0)
    fields["finish_by"] = {
        {"feasible", one.result.feasible}, {"kept", one.result.kept}, {"infeasible", one.result.infeasible}};
  return fields;
}

Json json_of(const TraceOptions& o, const sched::Trace& trace, const std::vector<Replayed>& all) {
  Json remarks = Json::array(), policies = Json::array();
  for (const sched::TraceRemark& r : trace.remarks)
    remarks.push_back({{"what", r.what}, {"left_out", r.is_left_out}, {"jobs", r.jobs}, {"first_line", r.first_line}});
  for (const Replayed& one : all) policies.push_back(json_of(one));
  return {{"trace", o.swf.empty() ? o.synthetic : o.swf},
          {"procs", trace.procs},
          {"lines", trace.lines},
          {"jobs", trace.jobs.size()},
          {"offered_load", sched::offered_load(trace)},
          {"remarks", remarks},
          {"policies", policies}};
}

void write_csv(const std::string& path, const std::vector<Replayed>& all) {
  auto file = open_file("--csv", path);
  file << "policy,class,jobs,utilization";
  for (const char* what : {"wait", "response", "slowdown"})
    for (const char* figure : {"mean", "median", "p95", "p99", "max"}) file << ',' << what << '_' << figure;
  file << ",cpu_s\n";
  for (const Replayed& one : all)
    for (const sched::JobClass& c : one.result.classes) {
      file << fmt::format("{},{},{},{:.6g}", one.policy, c.name, c.jobs, one.result.used);
      for (const sched::Spread* s : {&c.wait_s, &c.response_s, &c.slowdown})
        file << fmt::format(",{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}", s->mean, s->median, s->p95, s->p99, s->most);
      file << fmt::format(",{:.3f}\n", one.cpu_s);
    }
}

/// Two panels by gnuplot: wait and bounded slowdown of all jobs, mean and tail, by policy.
void draw(const std::string& path, const std::vector<Replayed>& all) {
  std::string script = "$d << EOD\n";
  for (const Replayed& one : all) {
    const sched::JobClass& c = one.result.classes.front();
    script += fmt::format("{}", one.policy);
    for (const sched::Spread* s : {&c.wait_s, &c.slowdown}) // a logarithmic axis has no 0
      script += fmt::format(" {} {} {}", std::max(s->mean, 1.0), std::max(s->p95, 1.0), std::max(s->p99, 1.0));
    script += "\n";
  }
  script += "EOD\nset multiplot layout 1,2\nset style data histograms\nset style fill solid\nset logscale y\n"
            "set grid ytics\nset yrange [1:*]\nset key top left\n";
  const char* panels[] = {"wait, seconds", "bounded slowdown"};
  for (int k = 0; k < 2; ++k)
    script += fmt::format("set title '{}'\nplot $d using {}:xtic(1) title 'mean', $d using {} title '95 %', $d using "
                          "{} title '99 %'\n",
                          panels[k], 2 + 3 * k, 3 + 3 * k, 4 + 3 * k);
  plot(path, 900, 420, script + "unset multiplot\n");
}

void print(const sched::Trace& trace, const std::vector<Replayed>& all) {
  std::printf("%s jobs on %s processors, load %.3f\n", grouped(static_cast<std::int64_t>(trace.jobs.size())).c_str(),
              grouped(trace.procs).c_str(), sched::offered_load(trace));
  for (const sched::TraceRemark& r : trace.remarks)
    std::printf("  %s %s%s; first in line %lld\n", grouped(r.jobs).c_str(), r.is_left_out ? "left out: " : "",
                r.what.c_str(), static_cast<long long>(r.first_line));
  const auto spread = [](std::vector<std::string>& row, const sched::Spread& s) {
    for (const double value : {s.mean, s.median, s.p95, s.p99, s.most})
      row.push_back(fmt::format("{:.{}f}", value, value < 100 ? 2 : 0));
  };
  const auto section = [&](const char* what, auto of) {
    std::vector<std::vector<std::string>> rows{{"policy", "class", "jobs", "mean", "median", "95 %", "99 %", "max"}};
    for (const Replayed& one : all)
      for (const sched::JobClass& c : one.result.classes) {
        rows.push_back({one.policy, c.name, grouped(c.jobs)});
        spread(rows.back(), of(c));
      }
    std::printf("\n%s\n%s", what, table(rows).c_str());
  };
  section("wait, seconds", [](const sched::JobClass& c) { return c.wait_s; });
  section("response, seconds", [](const sched::JobClass& c) { return c.response_s; });
  section("bounded slowdown (run times below 10 s count as 10 s)", [](const sched::JobClass& c) { return c.slowdown; });
  std::vector<std::vector<std::string>> rows{
      {"policy", "utilization", "span s", "changes", "finish-by kept", "feasible", "not feasible", "CPU s"}};
  for (const Replayed& one : all)
    rows.push_back({one.policy, fmt::format("{:.4f}", one.result.used), fmt::format("{:.0f}", one.result.span_s),
                    grouped(one.result.resizes), grouped(one.result.kept), grouped(one.result.feasible),
                    grouped(one.result.infeasible), fmt::format("{:.2f}", one.cpu_s)});
  std::printf("\n%s", table(rows).c_str());
}

} // namespace

void add_trace_options(base::CommandLine& app, TraceOptions& o) {
  app.add_option("--swf", o.swf, "a trace in the Standard Workload Format instead; policies easy and conservative too")
      .type_name("FILE");
  app.add_option("--synthetic", o.synthetic,
                 "a trace after a published model instead, --jobs of them: lublin (2003) or downey (1997)")
      .check(base::one_of({"lublin", "downey"}))
      .type_name("MODEL");
  app.add_option("--load", o.load, "of a trace: stretch the times between arrivals until this much work comes")
      .check(base::positive_number());
  app.add_option("--malleable", o.malleable, "of a trace: part of the jobs that can change their size")
      .check(base::in_range(0.0, 1.0));
  app.add_option("--speedup", o.speedup,
                 "of malleable jobs: linear, amdahl:SERIAL, downey:A:SIGMA (A times what was asked for), or "
                 "table:1=1,2=1.9,8=6")
      .type_name("MODEL")
      .show_default();
  app.add_option("--estimates", o.estimates,
                 "of a trace: estimates of once to N times the run time (default: the trace's own)")
      .check(base::in_range(1.0, 1e6));
  app.add_option("--resize-seconds", o.resize_s, "of a trace: what a change of size costs")
      .check(base::non_negative_number())
      .show_default();
  app.add_option("--finish-by", o.finish_by,
                 "of a trace: jobs are to have ended LEAST:MOST times their run time after they came")
      .type_name("RANGE");
  app.add_option("--write-swf", o.write_swf, "write the trace that is simulated").type_name("FILE");
}

void refuse_without_trace(const base::CommandLine& app, const TraceOptions& o) {
  if (o.is_wanted()) return;
  for (const char* name :
       {"--load", "--malleable", "--speedup", "--estimates", "--resize-seconds", "--finish-by", "--write-swf"})
    if (app.count(name) > 0)
      throw Failure(fmt::format("got {}, which is for traces: expected --swf FILE or --synthetic MODEL with it", name));
}

void run_trace(const TraceOptions& o, const TraceRun& run) {
  for (const std::string& policy : run.policies) // before anything runs for minutes
    if (policy != "easy" && policy != "conservative") sched::make_policy(policy);
  const sched::Speedup speedup = sched::Speedup::parse(o.speedup);
  const sched::Trace trace = trace_of(o, run, speedup);
  if (!o.write_swf.empty()) {
    auto file = open_file("--write-swf", o.write_swf);
    sched::write_swf(file, trace,
                     o.swf.empty() ? fmt::format("workload_simulator --synthetic {} --seed {}", o.synthetic, run.seed)
                                   : "from another trace, by workload_simulator");
    if (!file.flush()) throw Failure(fmt::format("--write-swf: cannot write '{}'", o.write_swf), 1);
  }
  sched::ReplayOptions options;
  options.speedup = speedup;
  options.resize_s = o.resize_s;
  options.policy = run.policy_options;
  options.simulation = run.simulation;
  std::vector<Replayed> all;
  for (const std::string& policy : run.policies) {
    const double begun_s = cpu_seconds();
    sched::ReplayResult result = sched::replay(trace, policy, options);
    all.push_back({policy, std::move(result), cpu_seconds() - begun_s});
  }
  if (!run.csv.empty()) write_csv(run.csv, all);
  if (!run.plot.empty()) draw(run.plot, all);
  if (print_json(run.json, json_of(o, trace, all))) return;
  print(trace, all);
}

} // namespace command
