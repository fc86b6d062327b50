// SPDX-License-Identifier: BSD-3-Clause
#include "control/load_reader.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h> // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX
#include <unistd.h>

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "control_groups.hpp"

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

std::vector<int> own_processors() {
  std::vector<int> list;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return list; // more processors than a cpu_set_t has: all of them
  for (int k = 0; k < CPU_SETSIZE; ++k)
    if (CPU_ISSET(k, &set)) list.push_back(k);
  return list;
}

/// Processors that a control group may use: cpu.max of version 2, cpu.cfs_* of version 1; 0 for any number.
double quota_of(const std::string& folder) {
  const auto number = [](const std::string& text) {
    return static_cast<double>(base::whole_number(base::trimmed(text)).value_or(-1));
  };
  double quota = -1, period = -1;
  if (const std::string both = base::content_of(folder + "/cpu.max"); !both.empty()) {
    const std::size_t blank = std::min(both.find(' '), both.size());
    quota = number(both.substr(0, blank));
    period = number(both.substr(blank));
  } else {
    quota = number(base::content_of(folder + "/cpu.cfs_quota_us"));
    period = number(base::content_of(folder + "/cpu.cfs_period_us"));
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

/// The innermost group with a quota, and the others in it.
void read_group(const std::string& root, LoadTexts& texts) {
  constexpr std::size_t most = 64; // a look at more would cost too much; of a crowd the host's figure says enough
  for (const std::string& folder : detail::control_groups(root, "cpu")) {
    texts.quota = quota_of(folder);
    if (texts.quota == 0) continue;
    const std::vector<std::string> members = base::split(base::content_of(folder + "/cgroup.procs"), '\n');
    if (members.size() > most || texts.quota >= static_cast<double>(members.size())) { // there is enough for all
      texts.quota = 0;
      return;
    }
    for (const std::string& member : members)
      if (const auto pid = base::whole_number<int>(member); pid && *pid != getpid())
        texts.group.push_back(base::content_of(fmt::format("{}/proc/{}/stat", root, *pid)));
    return;
  }
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

LoadTexts read_load(const std::string& root, bool with_group) {
  LoadTexts texts;
  texts.at_s = base::monotonic_s();
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator(root + "/proc/self/task", failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed))
    if (const auto number = base::whole_number<int>(entry->path().filename().string())) {
      const std::string folder = entry->path().string();
      texts.threads[*number] = {base::content_of(folder + "/schedstat"), base::content_of(folder + "/stat")};
    }
  for (const std::string& folder : detail::control_groups(root, "cpu"))
    if (std::string text = base::content_of(folder + "/cpu.stat"); !text.empty())
      texts.cpu_stat.push_back(std::move(text));
  texts.stat = base::content_of(root + "/proc/stat");
  texts.cpus = own_processors();
  if (with_group) read_group(root, texts);
  return texts;
}

LoadSources test_load_sources(const std::string& root) {
  const auto own = static_cast<int>(syscall(SYS_gettid));
  const auto counted_s = [&](LoadSample& sample) {
    sched_yield(); // the kernel brings its count up to date
    sample = load_sample(read_load(root));
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
    : source_(source), root_(std::move(root)), before_(load_sample(read_load(root_))), cpu_before_s_(process_cpu_s()) {}

Load LoadReader::look() {
  const std::lock_guard lock(mutex_);
  LoadSample now = load_sample(read_load(root_));
  const Load load = judge_load(before_, now, source_, work_, stopped_s_);
  begin_again(std::move(now));
  return load;
}

std::optional<Load> LoadReader::look_after(double wanted, bool sleeps, double stopped_s) {
  const std::lock_guard lock(mutex_);
  LoadSample now = load_sample(read_load(root_, true));
  stopped_s_ += stopped_s;
  const bool has_threads = !now.threads.empty();
  const double ran_s = process_cpu_s() - cpu_before_s_, counted_s = wanted_s(before_, now);
  const bool stands_still = ran_s >= wanted && counted_s < 0.02 * ran_s;
  const LoadSource source = stands_still ? LoadSource::clock : source_;
  const double held_up = stands_still ? ran_s : source == LoadSource::clock ? work_.wall_s : counted_s;
  if (!sleeps && has_threads && held_up + stopped_s_ < wanted) return std::nullopt;
  const Load load = judge_load(before_, now, sleeps ? LoadSource::competitors : source, work_, sleeps ? 0 : stopped_s_);
  begin_again(std::move(now));
  return load;
}

/// What follows is measured from here on.
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
