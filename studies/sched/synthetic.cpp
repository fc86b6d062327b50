// SPDX-License-Identifier: BSD-3-Clause
#include "synthetic.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "random.hpp"
#include "workload.hpp"

namespace sched {
namespace {

/// Parameters of Lublin and Feitelson 2003 for all jobs together, not parted into batch and interactive ones.
namespace lublin {
constexpr double serial = 0.244, power_of_two = 0.576;                           // parts of the jobs
constexpr double log2_least = 0.8, log2_below_most = 2.5, in_first_stage = 0.86; // log2 of the size
constexpr double shape1 = 4.2, scale1 = 0.94, shape2 = 312, scale2 = 0.03;       // ln of the run time
constexpr double first_by_size = -0.0054, first_at_0 = 0.78;                     // weight of the first gamma
constexpr double ln_longest_run = 12, ln_longest_gap = 13;
constexpr double gap_shape = 10.2303 * 1.0225, gap_scale = 0.4871; // ln of seconds between arrivals
constexpr double day_shape = 8.1737, day_scale = 3.9631;           // arrivals over the day, in half hours
constexpr int half_hours = 48, day_begins = 11;                    // the cycle is fitted from 5:30 on
} // namespace lublin

constexpr double half_hour_s = 1800;

/// Arrivals in each half hour of the day, as a factor on the mean.
std::array<double, lublin::half_hours> daily_cycle() {
  using namespace lublin;
  std::array<double, half_hours> weights{};
  double sum = 0;
  for (int i = day_begins; i < half_hours + day_begins; ++i) {
    double& weight = weights[static_cast<std::size_t>((i - 1) % half_hours)];
    constexpr int slices = 20; // of the gamma density from i - 1/2 to i + 1/2; its factor falls out below
    for (int k = 0; k < slices; ++k) {
      const double x = i - 0.5 + (k + 0.5) / slices;
      weight += std::exp((day_shape - 1) * std::log(x) - x / day_scale);
    }
    sum += weight;
  }
  for (double& weight : weights) weight *= half_hours / sum;
  return weights;
}

int lublin_size(Random& random, int procs) {
  using namespace lublin;
  const double kind = random.uniform();
  if (kind <= serial) return 1;
  const double most = std::log2(procs), middle = std::max(log2_least, most - log2_below_most);
  double log2_size =
      random.uniform() <= in_first_stage ? random.uniform(log2_least, middle) : random.uniform(middle, most);
  if (kind <= serial + power_of_two) log2_size = std::min(std::floor(log2_size + 0.5), std::floor(most));
  return std::clamp(static_cast<int>(std::exp2(log2_size) + 0.5), 1, procs);
}

double lublin_run_s(Random& random, int size) {
  using namespace lublin;
  const double first = std::clamp(first_by_size * size + first_at_0, 0.0, 1.0);
  double ln_s;
  do ln_s = random.uniform() <= first ? random.gamma(shape1, scale1) : random.gamma(shape2, scale2);
  while (ln_s > ln_longest_run);
  return std::max(1.0, std::floor(std::exp(ln_s)));
}

void check(std::int64_t jobs, int procs, int least_procs, const char* model) {
  if (jobs < 1 || procs < least_procs)
    refuse_input(fmt::format("{} jobs on {} processors after {}, expected at least 1 job and {} processors", jobs,
                             procs, model, least_procs));
}

} // namespace

Trace lublin_trace(std::int64_t jobs, int procs, std::uint64_t seed) {
  check(jobs, procs, 8, "lublin");
  Random random(seed);
  const auto cycle = daily_cycle();
  Trace trace;
  trace.procs = procs;
  trace.lines = jobs;
  // A gap is a number of seconds of an average half hour; a half hour with half as many arrivals takes twice as long.
  std::size_t half_hour = 0;
  double begun_s = 0, done_s = 0; // of this half hour: when it began, and how much of its arrivals is used up
  for (std::int64_t k = 1; k <= jobs; ++k) {
    double ln_gap;
    do ln_gap = random.gamma(lublin::gap_shape, lublin::gap_scale);
    while (ln_gap > lublin::ln_longest_gap);
    done_s += std::exp(ln_gap);
    while (done_s > half_hour_s * cycle[half_hour]) {
      done_s -= half_hour_s * cycle[half_hour];
      begun_s += half_hour_s;
      half_hour = (half_hour + 1) % cycle.size();
    }
    TraceJob job;
    job.id = k;
    job.submit_s = std::floor(begun_s + done_s / cycle[half_hour]);
    job.procs = lublin_size(random, procs);
    job.run_s = job.estimate_s = lublin_run_s(random, job.procs);
    trace.jobs.push_back(job);
  }
  return trace;
}

Trace downey_trace(std::int64_t jobs, int procs, const Speedup& speedup, std::uint64_t seed) {
  check(jobs, procs, 2, "downey");
  constexpr double least_work_s = 100, longest_run_s = 36 * 3600;
  const double most_work_s = 3600.0 * procs;
  Random random(seed);
  Trace trace;
  trace.procs = procs;
  trace.lines = jobs;
  double now_s = 0;
  for (std::int64_t k = 1; k <= jobs; ++k) {
    now_s += 60 * random.exponential(); // --load sets the rate
    TraceJob job;
    job.id = k;
    job.submit_s = std::floor(now_s);
    job.procs = std::clamp(static_cast<int>(std::exp(random.uniform(0, std::log(procs))) + 0.5), 1, procs);
    const double faster = speedup.at(job.procs, job.procs);
    const double most_s = std::min(most_work_s, std::max(longest_run_s * faster, 2 * least_work_s));
    const double work_s = std::exp(random.uniform(std::log(least_work_s), std::log(most_s)));
    job.run_s = job.estimate_s = std::max(1.0, std::floor(work_s / faster));
    trace.jobs.push_back(job);
  }
  return trace;
}

void set_malleable(Trace& trace, double part, std::uint64_t seed) {
  Random random(seed);
  for (TraceJob& job : trace.jobs) job.is_malleable = random.uniform() <= part;
}

void set_estimates(Trace& trace, double most, std::uint64_t seed) {
  Random random(seed);
  for (TraceJob& job : trace.jobs) job.estimate_s = std::ceil(job.run_s * random.uniform(1, most));
}

void set_finish_by(Trace& trace, double least, double most, std::uint64_t seed) {
  Random random(seed);
  for (TraceJob& job : trace.jobs) job.finish_by_s = job.submit_s + job.run_s * random.uniform(least, most);
}

} // namespace sched
