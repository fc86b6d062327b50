// SPDX-License-Identifier: BSD-3-Clause
#include "control/load_reader.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h> // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX
#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "load_files.hpp"

namespace control {
namespace {

double seconds_on(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double process_cpu_s() {
  return seconds_on(CLOCK_PROCESS_CPUTIME_ID);
}

double wanted_s(const LoadSample& before, const LoadSample& after) {
  double sum = 0;
  for (const auto& [number, thread] : after.threads) {
    sum += thread.cpu_s + thread.wait_s;
    if (const auto was = before.threads.find(number); was != before.threads.end())
      sum -= was->second.cpu_s + was->second.wait_s;
  }
  return sum;
}

} // namespace

double thread_cpu_s() {
  return seconds_on(CLOCK_THREAD_CPUTIME_ID);
}

LoadSources test_load_sources(const std::string& root) {
  const auto own = static_cast<int>(syscall(SYS_gettid));
  detail::LoadFiles files(root);
  const auto counted_s = [&](LoadSample& sample) {
    sched_yield(); // the kernel brings its count up to date
    sample = load_sample(files.read(false));
    const auto found = sample.threads.find(own);
    return found == sample.threads.end() ? -1 : found->second.cpu_s;
  };
  LoadSample sample;
  const double before = counted_s(sample), cpu = thread_cpu_s();
  const base::Deadline end(1);
  while (thread_cpu_s() - cpu < 5e-3 && !end.is_over()) {
  }
  const double ran = thread_cpu_s() - cpu, counted = counted_s(sample) - before;

  LoadSources sources;
  sources.has_competitors = sample.runnable >= 0;
  sources.has_steal = sample.cores > 0;
  sources.has_throttling = !sample.throttled_s.empty();
  if (before >= 0 && counted > 0.5 * ran) {
    sources.share = LoadSource::schedstat;
    sources.text = "time in the run queue, from /proc/self/task/*/schedstat";
  } else {
    sources.share = ran > 0 ? LoadSource::clock : LoadSource::competitors;
    sources.text = fmt::format(
        "{}; {}",
        sources.share == LoadSource::clock ? "CPU clock over wall clock in marked work, else the number of competitors"
                                           : "the number of competitors",
        before < 0 ? "/proc/self/task/*/schedstat cannot be read"
                   : "/proc/self/task/*/schedstat stands still (sysctl kernel.sched_schedstats)");
  }
  return sources;
}

LoadReader::LoadReader(LoadSource source, std::string root)
    : source_(source), files_(std::make_unique<detail::LoadFiles>(std::move(root))),
      before_(load_sample(files_->read(false))), cpu_before_s_(process_cpu_s()) {}

LoadReader::~LoadReader() = default;

Load LoadReader::look() {
  const std::lock_guard lock(mutex_);
  LoadSample now = load_sample(files_->read(false));
  const Load load = judge_load(before_, now, source_, work_, stopped_s_);
  begin_again(std::move(now));
  return load;
}

std::optional<Load> LoadReader::look_after(double least_s, bool sleeps, double stopped_s) {
  const std::lock_guard lock(mutex_);
  LoadSample now = load_sample(files_->read(true));
  stopped_s_ += stopped_s;
  const bool has_threads = !now.threads.empty();
  const double ran_s = process_cpu_s() - cpu_before_s_, counted_s = wanted_s(before_, now);
  const bool stands_still = ran_s >= least_s && counted_s < 0.02 * ran_s;
  const LoadSource source = stands_still ? LoadSource::clock : source_;
  const double held_up = stands_still ? ran_s : source == LoadSource::clock ? work_.wall_s : counted_s;
  if (!sleeps && has_threads && held_up + stopped_s_ < least_s) return std::nullopt;
  const Load load = judge_load(before_, now, sleeps ? LoadSource::competitors : source, work_, sleeps ? 0 : stopped_s_);
  begin_again(std::move(now));
  return load;
}

/// The measurement begins here.
void LoadReader::begin_again(LoadSample now) {
  before_ = std::move(now);
  cpu_before_s_ = process_cpu_s();
  work_ = {};
  stopped_s_ = 0;
}

void LoadReader::work(double cpu_s, double wall_s) {
  const std::lock_guard lock(mutex_);
  work_.cpu_s += cpu_s;
  work_.wall_s += wall_s;
}

} // namespace control
