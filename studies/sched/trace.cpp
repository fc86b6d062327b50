// SPDX-License-Identifier: BSD-3-Clause
#include "trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <ostream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "workload.hpp"

namespace sched {
namespace {

constexpr std::size_t fields_of_a_line = 18;
constexpr std::array<const char*, fields_of_a_line> field_names{"job number",
                                                                "submit time",
                                                                "wait time",
                                                                "run time",
                                                                "processors allocated",
                                                                "CPU time",
                                                                "memory used",
                                                                "processors asked for",
                                                                "time asked for",
                                                                "memory asked for",
                                                                "status",
                                                                "user",
                                                                "group",
                                                                "program",
                                                                "queue",
                                                                "partition",
                                                                "preceding job",
                                                                "think time"};
using Fields = std::array<double, fields_of_a_line>;

/// Reads a trace line by line, and counts what is no plain job.
class SwfReader {
public:
  SwfReader(std::string_view where, int procs) : where_(where), asked_procs_(procs) {}

  Trace read(std::string_view text) {
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      ++line_;
      const std::string_view line = base::trimmed(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.empty()) continue;
      if (line[0] == ';')
        read_header(line.substr(1));
      else
        read_job(line);
    }
    finish();
    return std::move(trace_);
  }

private:
  void read_header(std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view name = base::trimmed(line.substr(0, colon));
    int* const at = name == "MaxProcs" ? &max_procs_ : name == "MaxNodes" ? &max_nodes_ : nullptr;
    if (at == nullptr) return;
    const std::string_view value = base::trimmed(line.substr(colon + 1));
    // the archives have remarks behind the number
    const auto number = base::whole_number<int>(value.substr(0, value.find_first_not_of("0123456789")));
    if (number) *at = *number;
  }

  Fields fields_of(std::string_view line) const {
    Fields fields{};
    std::size_t count = 0;
    while (!line.empty()) {
      const auto end = std::min(line.find_first_of(" \t"), line.size());
      const std::string_view word = line.substr(0, end);
      line.remove_prefix(std::min(line.find_first_not_of(" \t", end), line.size()));
      if (count < fields_of_a_line) {
        const auto [last, failed] = std::from_chars(word.data(), word.data() + word.size(), fields[count]);
        if (failed != std::errc() || last != word.data() + word.size() || !std::isfinite(fields[count]))
          refuse_input(fmt::format("line {} of {}: field {} ({}) is '{}', expected a number", line_, where_, count + 1,
                                   field_names[count], word.substr(0, 40)));
      }
      ++count;
    }
    if (count != fields_of_a_line)
      refuse_input(fmt::format("line {} of {} has {} fields, expected the {} of the Standard Workload Format", line_,
                               where_, count, fields_of_a_line));
    return fields;
  }

  void remark(const char* what, bool is_left_out, std::int64_t line) {
    const auto same = [&](const TraceRemark& r) { return r.what == what; };
    auto at = std::find_if(trace_.remarks.begin(), trace_.remarks.end(), same);
    if (at == trace_.remarks.end()) at = trace_.remarks.insert(at, {what, is_left_out, 0, line});
    ++at->jobs;
  }
  void left_out(const char* why) { remark(why, true, line_); }
  void kept(const char* what) { remark(what, false, line_); }

  void read_job(std::string_view line) {
    const Fields f = fields_of(line);
    ++trace_.lines;
    TraceJob job;
    job.id = static_cast<std::int64_t>(f[0]);
    job.submit_s = f[1];
    job.run_s = f[3];
    job.estimate_s = f[8];
    const double procs = f[7] > 0 ? f[7] : f[4];
    const auto status = static_cast<int>(f[10]);
    if (status >= 2 && status <= 4) return left_out("parts of a job whose whole is a line of its own (status 2 to 4)");
    if (status == 5 && job.run_s <= 0) return left_out("cancelled before they ran (status 5)");
    if (job.submit_s < 0) return left_out("no submit time, or a negative one");
    if (job.run_s < 0) return left_out("no run time, or a negative one");
    if (procs < 1) return left_out("no number of processors");
    if (procs > std::numeric_limits<int>::max()) return left_out("larger than the machine");
    job.procs = static_cast<int>(procs);
    if (status == 0) kept("failed (status 0), after the time that they ran");
    if (status == 5) kept("cancelled while they ran (status 5), after the time that they ran");
    if (job.run_s < 1) kept("ran for less than a second: taken as 1 s");
    job.run_s = std::max(job.run_s, 1.0);
    if (job.estimate_s <= 0)
      kept("no estimate: the run time is taken");
    else if (job.estimate_s < job.run_s)
      kept("ran longer than estimated: the estimate is raised to the run time");
    job.estimate_s = std::max(job.estimate_s, job.run_s);
    if (!trace_.jobs.empty() && job.submit_s < trace_.jobs.back().submit_s)
      kept("came earlier than the line before: sorted");
    trace_.jobs.push_back(job);
    lines_.push_back(line_);
  }

  // The header may name the machine behind the first jobs, so what is too large for it is known here.
  void finish() {
    trace_.procs = asked_procs_ > 0 ? asked_procs_ : max_procs_ > 0 ? max_procs_ : max_nodes_;
    if (trace_.procs <= 0)
      refuse_input(
          fmt::format("{} names no machine: the header has neither MaxProcs nor MaxNodes, and --processors is not "
                      "given",
                      where_));
    std::size_t kept_jobs = 0;
    for (std::size_t i = 0; i < trace_.jobs.size(); ++i) {
      if (trace_.jobs[i].procs > trace_.procs)
        remark("larger than the machine", true, lines_[i]);
      else
        trace_.jobs[kept_jobs++] = trace_.jobs[i];
    }
    trace_.jobs.resize(kept_jobs);
    std::stable_sort(trace_.jobs.begin(), trace_.jobs.end(),
                     [](const TraceJob& a, const TraceJob& b) { return a.submit_s < b.submit_s; });
  }

  std::string_view where_;
  int asked_procs_, max_procs_ = 0, max_nodes_ = 0;
  std::int64_t line_ = 0;
  Trace trace_;
  std::vector<std::int64_t> lines_; ///< of trace_.jobs
};

} // namespace

Trace parse_swf(std::string_view text, std::string_view where, int procs) {
  return SwfReader(where, procs).read(text);
}

void write_swf(std::ostream& out, const Trace& trace, std::string_view note) {
  out << "; Version: 2\n; Note: " << note << fmt::format("\n; MaxJobs: {}\n", trace.jobs.size())
      << fmt::format("; MaxNodes: {}\n; MaxProcs: {}\n", trace.procs, trace.procs);
  for (const TraceJob& job : trace.jobs)
    out << fmt::format("{} {} -1 {} {} -1 -1 {} {} -1 1 -1 -1 -1 -1 -1 -1 -1\n", job.id, job.submit_s, job.run_s,
                       job.procs, job.procs, job.estimate_s);
}

double offered_load(const Trace& trace) {
  if (trace.jobs.size() < 2) return 0;
  double work = 0;
  for (const TraceJob& job : trace.jobs) work += job.procs * job.run_s;
  const double span_s = trace.jobs.back().submit_s - trace.jobs.front().submit_s;
  return span_s > 0 ? work / (trace.procs * span_s) : 0;
}

void set_offered_load(Trace& trace, double load) {
  const double now = offered_load(trace);
  if (now <= 0) refuse_input("the load cannot be set: all jobs come at once");
  const double first_s = trace.jobs.front().submit_s;
  for (TraceJob& job : trace.jobs) job.submit_s = first_s + (job.submit_s - first_s) * now / load;
}

} // namespace sched
