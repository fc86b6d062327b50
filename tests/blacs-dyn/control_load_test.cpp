// SPDX-License-Identifier: BSD-3-Clause
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "../fake_system.hpp"
#include "base/clock.hpp"
#include "control/load.hpp"
#include "control/load_monitor.hpp"
#include "control/load_reader.hpp"

namespace {
using control::judge_load;
using control::Load;
using control::load_sample;
using control::LoadSample;
using control::LoadSource;
using control::LoadTexts;

constexpr const char* stat_text = "cpu  40 0 0 0 0 0 0 0 0 0\n"
                                  "cpu0 1000 10 200 5000 30 4 6 100 0 0\n"
                                  "cpu1 2000 20 300 6000 40 5 7 300 0 0\n"
                                  "intr 1 2 3\nctxt 5\nprocs_running 7\nprocs_blocked 1\n";

TEST(Load, TextsBecomeNumbers) {
  LoadTexts texts;
  texts.at_s = 12.5;
  texts.threads[41] = {"2500000000 500000000 17\n", "41 (a (strange) name) R 1 41 41 0\n"};
  texts.threads[42] = {"1000000 0 1\n", "42 (pdgemm) S 1 41 41 0\n"};
  texts.threads[43] = {"", ""}; // it ended while it was looked at
  texts.cpu_stat = {"nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\n",
                    "usage_usec 9\nnr_periods 1\nthrottled_usec 250000\n", "usage_usec 9\nsystem_usec 3\n"};
  texts.stat = stat_text;
  const LoadSample s = load_sample(texts);
  EXPECT_EQ(s.at_s, 12.5);
  ASSERT_EQ(s.threads.size(), 2U);
  EXPECT_DOUBLE_EQ(s.threads.at(41).cpu_s, 2.5);
  EXPECT_DOUBLE_EQ(s.threads.at(41).wait_s, 0.5);
  EXPECT_EQ(s.own_runnable, 1);
  EXPECT_EQ(s.runnable, 7);
  EXPECT_EQ(s.throttled_s, (std::vector<double>{1.5, 0.25, 0}));
  EXPECT_EQ(s.cores, 2);
  EXPECT_EQ(s.stolen_ticks, 400);
  EXPECT_EQ(s.busy_ticks, 1320 + 2632);
  texts.cpus = {1, 5};
  EXPECT_EQ(load_sample(texts).stolen_ticks, 300);
  EXPECT_EQ(load_sample(texts).cores, 1);
}

TEST(Load, NothingThatCanBeReadIsNoLoad) {
  const LoadSample s = load_sample({});
  EXPECT_EQ(s.runnable, -1);
  LoadSample later = s;
  later.at_s = 1;
  for (const LoadSource source : {LoadSource::schedstat, LoadSource::clock, LoadSource::competitors}) {
    const Load load = judge_load(s, later, source);
    EXPECT_EQ(load.share, 1);
    EXPECT_EQ(load.competing, -1);
    EXPECT_EQ(load.source, LoadSource::competitors);
  }
  LoadTexts rubbish;
  rubbish.threads[1] = {"x", "y"};
  rubbish.cpu_stat = {"throttled_time", "throttled_time x\n"};
  rubbish.stat = "cpu\ncpux 1\nprocs_running\n";
  EXPECT_EQ(load_sample(rubbish).runnable, -1);
}

/// One thread that ran and waited for these seconds in one second.
std::pair<LoadSample, LoadSample> second(double cpu_s, double wait_s) {
  LoadSample before, after;
  before.threads[1] = {5, 3};
  after.at_s = 1;
  after.threads[1] = {5 + cpu_s, 3 + wait_s};
  return {before, after};
}

TEST(Load, ShareIsWhatWasGotOfWhatWasWanted) {
  for (const double competitors : {0.0, 1.0, 2.0, 3.0, 4.0}) {
    const auto [before, after] = second(1 / (1 + competitors), competitors / (1 + competitors));
    EXPECT_NEAR(judge_load(before, after).share, 1 / (1 + competitors), 1e-9);
  }
  const auto [before, after] = second(0.2, 0.2); // it slept for the rest
  EXPECT_NEAR(judge_load(before, after).share, 0.5, 1e-9);
  EXPECT_NEAR(judge_load(before, after).busy, 0.2, 1e-9);
}

TEST(Load, TimeWithoutQuotaCountsOnce) {
  // kernels that count it as waiting: the same answer with and without the control group's figure
  auto [before, after] = second(0.3, 0.7);
  before.throttled_s = {2};
  after.throttled_s = {2.7};
  EXPECT_NEAR(judge_load(before, after).share, 0.3, 1e-9);
  EXPECT_NEAR(judge_load(before, after).throttled, 0.7, 1e-9);
  // those that do not
  after.threads[1] = {5.3, 3};
  EXPECT_NEAR(judge_load(before, after).share, 0.3, 1e-9);
  // the figure is a sum over processors; a thread that ran all the time was not held up
  after.threads[1] = {5.95, 3.05};
  after.throttled_s = {6};
  EXPECT_NEAR(judge_load(before, after).share, 0.95, 1e-9);
}

TEST(Load, ThreadsComeAndGo) {
  auto [before, after] = second(0.5, 0.5);
  before.threads[2] = {100, 100}; // gone
  after.threads[3] = {0.5, 0.5};  // new
  const Load load = judge_load(before, after);
  EXPECT_NEAR(load.share, 0.5, 1e-9);
  EXPECT_NEAR(load.busy, 1, 1e-9);
}

TEST(Load, StolenTimeIsLost) {
  auto [before, after] = second(0.5, 0.5);
  after.busy_ticks = 100;
  after.stolen_ticks = 20;
  EXPECT_NEAR(judge_load(before, after).share, 0.4, 1e-9);
  EXPECT_NEAR(judge_load(before, after).stolen, 0.2, 1e-9);
}

TEST(Load, ASleeperIsToldByItsCompetitors) {
  auto [before, after] = second(0.001, 0);
  before.runnable = after.runnable = 4;
  before.own_runnable = after.own_runnable = 1;
  after.cores = 2;
  Load load = judge_load(before, after);
  EXPECT_EQ(load.source, LoadSource::competitors);
  EXPECT_EQ(load.competing, 3);
  EXPECT_NEAR(load.share, 0.5, 1e-9); // two processors for four
  after.cores = 8;
  EXPECT_EQ(judge_load(before, after).share, 1);
  before.runnable = after.runnable = 1;
  load = judge_load(before, after);
  EXPECT_EQ(load.competing, 0);
  EXPECT_EQ(load.share, 1);
}

TEST(Load, WhereTheKernelDoesNotCount) {
  auto [before, after] = second(0, 0);
  before.runnable = after.runnable = 4;
  before.own_runnable = after.own_runnable = 1;
  after.cores = 1;
  Load load = judge_load(before, after, LoadSource::clock, {0.2, 0.5});
  EXPECT_EQ(load.source, LoadSource::clock);
  EXPECT_NEAR(load.share, 0.4, 1e-9);
  load = judge_load(before, after, LoadSource::clock); // nothing was marked
  EXPECT_EQ(load.source, LoadSource::competitors);
  EXPECT_NEAR(load.share, 0.25, 1e-9);
}

TEST(Load, AShareIsNeverZero) { // a process that was stopped for the whole second
  const auto [before, after] = second(0, 1);
  EXPECT_EQ(judge_load(before, after).share, 1e-3);
}

TEST(Load, AStopIsSeenByWhoSleptTooLong) { // SIGSTOP for a minute: nothing ran, nothing waited in a queue
  LoadSample before, after;
  before.threads[1] = after.threads[1] = {5, 3};
  after.at_s = 60;
  after.threads[1].cpu_s += 0.5;
  EXPECT_NEAR(judge_load(before, after).share, 1, 1e-9); // it cannot be distinguished from sleep
  const Load load = judge_load(before, after, LoadSource::schedstat, {}, 59.5);
  EXPECT_NEAR(load.share, 0.5 / 60, 1e-9);
  EXPECT_NEAR(load.stopped, 59.5 / 60, 1e-9);
  after.threads[1] = before.threads[1]; // not even that
  EXPECT_EQ(judge_load(before, after, LoadSource::schedstat, {}, 60).share, 1e-3);
}

TEST(Load, ASleeperInAGroupWithAQuotaIsToldByThatGroup) {
  LoadTexts texts;
  texts.stat = stat_text; // the host is busy with others: 7 run on 2 processors
  texts.quota = 0.5;
  texts.group = {"7 (busy) R 1 1\n", "8 (idle) S 1 1\n", ""};
  LoadSample before = load_sample(texts);
  EXPECT_EQ(before.rivals, 1);
  LoadSample after = before;
  after.at_s = 1;
  Load load = judge_load(before, after, LoadSource::competitors);
  EXPECT_NEAR(load.share, 0.25, 1e-9); // half of the quota
  EXPECT_FALSE(load.is_calm);
  before.rivals = after.rivals = 0;
  load = judge_load(before, after, LoadSource::competitors);
  EXPECT_NEAR(load.share, 0.5, 1e-9);
  EXPECT_TRUE(load.is_calm);
  before.quota = after.quota = 0; // without one the host's figures count
  before.rivals = after.rivals = -1;
  load = judge_load(before, after, LoadSource::competitors);
  EXPECT_NEAR(load.share, 2 / 8.0, 1e-9);
  EXPECT_FALSE(load.is_calm);
}

TEST(LoadMonitor, MeasuresAndEnds) {
  control::LoadMonitor::Pointer monitor(new control::LoadMonitor);
  advise::ProcessLoad load;
  const base::Deadline end(200);
  while (load.samples < 2 && !end.is_over()) monitor->write(load); // busy: it requests a processor
  EXPECT_GE(load.samples, 2);
  EXPECT_GT(load.share, 0);
  EXPECT_LE(load.share, 1);
  monitor.reset(); // at once: no test would wait for a period that does not end
}

TEST(LoadMonitor, WhoWasStoppedHasHadNoCalm) { // also before its monitor has taken another sample
  control::LoadMonitor::Pointer monitor(new control::LoadMonitor);
  advise::ProcessLoad load;
  const base::Deadline end(200);
  while (load.samples < 1 && !end.is_over()) monitor->write(load);
  double last = base::monotonic_s(), now = last;
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    kill(self, SIGSTOP);
    sleep(2);
    kill(self, SIGCONT);
    _exit(0);
  }
  ASSERT_GT(child, 0);
  for (now = base::monotonic_s(); now - last < 1.5 && !end.is_over(); now = base::monotonic_s()) last = now;
  const double stopped_until = now, stopped_s = now - last;
  const auto expect_no_calm_before = [&] {
    EXPECT_LT(load.calm_s, base::monotonic_s() - stopped_until + 0.5 * stopped_s);
  };
  monitor->write(load);
  expect_no_calm_before();
  while (load.stopped_s < 1.5 && !end.is_over()) monitor->write(load);
  EXPECT_GE(load.stopped_s, 1.5);
  expect_no_calm_before();
  waitpid(child, nullptr, 0);
}

TEST(LoadMonitor, WithoutProcIsNoLoad) {
  control::LoadMonitor::Pointer monitor(new control::LoadMonitor("/nowhere"));
  advise::ProcessLoad load;
  const base::Deadline end(200);
  while (load.samples < 1 && !end.is_over()) monitor->write(load);
  EXPECT_EQ(load.share, 1);
  EXPECT_EQ(load.competing, -1);
  EXPECT_FALSE(monitor->has_changed());
}

TEST(LoadWatch, ThreeOfFiveAreAChange) {
  control::LoadWatch watch;
  EXPECT_EQ(watch.share(), 1);
  for (int k = 0; k < 20; ++k) EXPECT_FALSE(watch.add(k % 2 == 0 ? 0.95 : 1.0));
  EXPECT_FALSE(watch.add(0.5));
  EXPECT_FALSE(watch.add(1));
  EXPECT_FALSE(watch.add(0.5));
  EXPECT_TRUE(watch.add(0.5)); // the third
  EXPECT_TRUE(watch.add(0.5));
  EXPECT_TRUE(watch.add(0.5));
  watch.settle();
  EXPECT_EQ(watch.share(), 0.5); // of those since it changed
  EXPECT_FALSE(watch.add(0.52));
  EXPECT_FALSE(watch.add(1));
  EXPECT_FALSE(watch.add(0.2)); // one up and two down are none
  EXPECT_FALSE(watch.add(0.2));
  EXPECT_TRUE(watch.add(0.2));
}

/// A /proc of our own.
struct Root : FakeSystem {
  const std::string task = "/proc/self/task/" + std::to_string(syscall(SYS_gettid));
};

/// A kernel that counts: this thread has run for a second, and not waited.
struct CountingRoot : Root {
  CountingRoot() {
    put(task + "/stat", "1 (x) R 0\n");
    put(task + "/schedstat", "1000000000 0 1\n");
    put("/proc/stat", stat_text);
  }
};

TEST(LoadSources, AreTestedAndNamed) {
  const Root root;
  control::LoadSources none = control::test_load_sources(root.path);
  EXPECT_EQ(none.share, LoadSource::clock);
  EXPECT_FALSE(none.has_competitors || none.has_steal || none.has_throttling);
  EXPECT_TRUE(says(none.text, "cannot be read"));
  // it can be read and stands still
  root.put(root.task + "/schedstat", "123456 0 1\n");
  root.put(root.task + "/stat", "1 (x) R 0\n");
  root.put("/proc/stat", stat_text);
  root.put("/proc/self/cgroup", "3:cpu,cpuacct:/job\n");
  root.put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.stat", "nr_periods 1\nnr_throttled 0\nthrottled_time 0\n");
  const control::LoadSources still = control::test_load_sources(root.path);
  EXPECT_EQ(still.share, LoadSource::clock);
  EXPECT_TRUE(still.has_competitors && still.has_throttling);
  EXPECT_TRUE(says(still.text, "stands still"));
}

TEST(LoadReader, ReadsWhatChanged) {
  const CountingRoot root;
  control::LoadReader reader(LoadSource::schedstat, root.path);
  root.put(root.task + "/schedstat", "2000000000 3000000000 1\n"); // the file that it has open
  const Load load = reader.look();
  EXPECT_NEAR(load.share, 0.25, 1e-9);
  EXPECT_EQ(load.competing, 6);
  root.put(root.task + "/schedstat", "3000000000 3000000000 1\n");
  EXPECT_NEAR(reader.look().share, 1, 1e-9); // since the last sample
}

std::ptrdiff_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

TEST(LoadReader, ReadsThreadsThatComeAndGo) {
  const CountingRoot root;
  control::LoadReader reader(LoadSource::schedstat, root.path);
  for (int k = 0; k < 10; ++k) {
    const std::string other = "/proc/self/task/" + std::to_string(1000000 + k);
    root.put(other + "/stat", "1 (x) S 0\n");
    root.put(other + "/schedstat", "1000000000 1000000000 1\n"); // all its life, which began since the last sample
    EXPECT_NEAR(reader.look().share, 0.5, 1e-9);
    std::filesystem::remove_all(root.path + other);
  }
  root.put(root.task + "/schedstat", "1500000000 1500000000 1\n");
  EXPECT_NEAR(reader.look().share, 0.25, 1e-9) << "of the one that stayed";
}

/// As in tests that write while a monitor reads.
TEST(LoadReader, ReadsAFileThatTookThePlaceOfAnother) {
  const CountingRoot root;
  control::LoadReader reader(LoadSource::schedstat, root.path);
  root.put(root.task + "/schedstat.new", "2000000000 3000000000 1\n");
  std::filesystem::rename(root.path + root.task + "/schedstat.new", root.path + root.task + "/schedstat");
  EXPECT_NEAR(reader.look().share, 0.25, 1e-9);
}

/// On this machine's own /proc.
class ManyThreads {
public:
  explicit ManyThreads(int count) {
    for (int k = 0; k < count; ++k)
      threads_.emplace_back([this] {
        std::unique_lock lock(mutex_);
        ended_.wait(lock, [this] { return is_over_; });
      });
  }
  ManyThreads(const ManyThreads&) = delete;
  ManyThreads& operator=(const ManyThreads&) = delete;
  ~ManyThreads() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    ended_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

TEST(LoadReader, KeepsFewFilesOpenAndNoneOfThreadsThatWent) {
  control::LoadReader reader;
  reader.look();
  const std::ptrdiff_t before = open_files();
  {
    const ManyThreads few(10);
    reader.look();
    EXPECT_LE(open_files() - before, 20);
  }
  for (int k = 0; k < 20; ++k) {
    { const ManyThreads others(2); }
    reader.look();
  }
  const base::Deadline end(200); // a joined thread may still be listed for a moment
  while (open_files() > before && !end.is_over()) reader.look();
  EXPECT_LE(open_files() - before, 0);
  const ManyThreads many(200);
  reader.look();
  reader.look();
  EXPECT_LE(open_files() - before, 128);
}

TEST(LoadReader, SeesWhoComesIntoItsGroupAndANewQuota) {
  const CountingRoot root;
  const std::string folder = "/sys/fs/cgroup/cpu/job";
  root.put("/proc/self/cgroup", "1:cpu:/job\n");
  root.put(folder + "/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
  root.put(folder + "/cpu.cfs_quota_us", "50000\n");
  root.put(folder + "/cpu.cfs_period_us", "100000\n");
  root.put(folder + "/cgroup.procs", std::to_string(getpid()) + "\n");
  control::LoadReader reader(LoadSource::schedstat, root.path);
  const auto share = [&] { // of a sleeping process: of the quota alone
    reader.look_after(0, true, 0);
    return reader.look_after(0, true, 0).value_or(Load()).share;
  };
  EXPECT_NEAR(share(), 0.5, 1e-9);
  root.put("/proc/7/stat", "7 (busy) R 1 1\n");
  root.put(folder + "/cgroup.procs", "7\n" + std::to_string(getpid()) + "\n");
  EXPECT_NEAR(share(), 0.25, 1e-9);
  root.put(folder + "/cpu.cfs_quota_us", "80000\n");
  EXPECT_NEAR(share(), 0.4, 1e-9);
  root.put("/proc/7/stat", "7 (busy) S 1 1\n");
  EXPECT_NEAR(share(), 0.8, 1e-9);
  root.put(folder + "/cpu.cfs_quota_us", "-1\n");
  EXPECT_LT(share(), 0.5) << "without a quota the host counts, where seven run";
}

/// Until this thread has run for that time.
void run_for(double s) {
  const double end = control::thread_cpu_s() + s;
  while (control::thread_cpu_s() < end) {
  }
}

TEST(LoadReader, MarkedWorkCountsWhereTheKernelStandsStill) {
  const CountingRoot root;
  control::LoadReader reader(LoadSource::schedstat, root.path);
  EXPECT_FALSE(reader.look_after(0.03, false, 0)) << "it has not run yet";
  run_for(0.04);
  reader.work(0.03, 0.1);
  const auto marked = reader.look_after(0.03, false, 0);
  ASSERT_TRUE(marked);
  EXPECT_EQ(marked->source, LoadSource::clock);
  EXPECT_NEAR(marked->share, 0.3, 1e-9);
  run_for(0.04);
  const auto unmarked = reader.look_after(0.03, false, 0);
  ASSERT_TRUE(unmarked);
  EXPECT_EQ(unmarked->source, LoadSource::competitors);
  run_for(0.04);
  root.put(root.task + "/schedstat", "1060000000 30000000 1\n"); // it counts after all
  const auto counted = reader.look_after(0.03, false, 0);
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->source, LoadSource::schedstat);
  EXPECT_NEAR(counted->share, 2 / 3.0, 1e-9);
}

TEST(MarkedRate, IsTheBestOfTheLastFive) {
  control::MarkedRate rate;
  EXPECT_EQ(rate.value(), 0);
  rate.add(0.005, 10);
  EXPECT_EQ(rate.value(), 0) << "5 ms are too short to measure";
  rate.add(0.005, 10);
  EXPECT_NEAR(rate.value(), 2000, 1e-6);
  for (int k = 0; k < 4; ++k) rate.add(0.02, 20);
  EXPECT_NEAR(rate.value(), 2000, 1e-6);
  rate.add(1, 0); // the amount is unknown
  rate.add(0.02, 20);
  EXPECT_NEAR(rate.value(), 1000, 1e-6);
}

TEST(MarkedSpeeds, AreRelativeAndOfTheHostWhereNothingWasMarked) {
  std::vector<advise::ProcessLoad> loads(4);
  const auto set = [&](std::size_t k, int place, double rate, const char* host) {
    loads[k].place = place;
    loads[k].rate = rate;
    loads[k].host = std::string(60, 'h') + host; // equal in their first letters
  };
  set(0, 0, 300, "a");
  set(1, 1, 100, "b");
  set(2, -1, 0, "b");
  set(3, -1, 0, "c");
  ASSERT_TRUE(control::take_marked_speeds(loads));
  EXPECT_NEAR(loads[0].speed, 1.5, 1e-12);
  EXPECT_NEAR(loads[1].speed, 0.5, 1e-12);
  EXPECT_NEAR(loads[2].speed, 0.5, 1e-12);
  EXPECT_EQ(loads[3].speed, 1);
  loads[1].rate = 0; // one of the grid marks nothing: no speed is known
  loads[0].speed = 7;
  EXPECT_FALSE(control::take_marked_speeds(loads));
  EXPECT_EQ(loads[0].speed, 7);
}

/// On the machine of this test: whatever else runs, a loop that never waits by itself gets its share of the wall time.
TEST(LoadReader, TheShareOfALoopIsItsPartOfTheWallTime) {
  if (control::test_load_sources().share != LoadSource::schedstat) GTEST_SKIP() << "schedstat does not count here";
  const auto cpu_s = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  // the reader's period is longer than the inner one here and shorter than the outer one
  const double outer_cpu = cpu_s(), outer_wall = base::monotonic_s();
  control::LoadReader reader;
  const double cpu = cpu_s(), wall = base::monotonic_s();
  while (cpu_s() - cpu < 0.3) {
  }
  const double inner_cpu_s = cpu_s() - cpu, inner_wall_s = base::monotonic_s() - wall;
  const double share = reader.look().share;
  EXPECT_GE(share, inner_cpu_s / (base::monotonic_s() - outer_wall) - 0.1);
  EXPECT_LE(share, (cpu_s() - outer_cpu) / inner_wall_s + 0.1);
}

} // namespace
