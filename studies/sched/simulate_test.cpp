// SPDX-License-Identifier: BSD-3-Clause
// The simulator against queueing theory where the answer is known, and the shape of DRMS, section 9.
#include "simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/status.hpp"
#include "batch_means.hpp"

namespace {

using namespace sched;

/// A job whose time on n processors is exponential (or fixed) with mean 1/n.
App group_job(const char* sizes, bool random, int most = 8) {
  App app;
  app.name = "unit";
  app.sizes = parse_sizes(sizes, most, "a test");
  const double step = 1e-4; // so short that a request is looked at at once
  for (const int n : app.sizes.list()) app.step_s.push_back(step / n);
  app.steps = 1 / step;
  app.random_steps = random;
  app.work_s = 1;
  return app;
}

SimulationResult run(const std::vector<App>& apps, const char* policy, int procs, double per_s, double error) {
  RandomArrivals arrivals(apps, std::vector<double>(apps.size(), per_s), 7);
  SimulationOptions options;
  options.procs = procs;
  options.relative_error = error;
  return simulate(*make_policy(policy), arrivals, options);
}

/// Mean time in an M/M/c queue with service rate 1.
double mmc(int c, double per_s) {
  const double rho = per_s / c;
  double term = 1, sum = 0;
  for (int k = 0; k < c; ++k) {
    sum += term;
    term *= per_s / (k + 1);
  }
  const double wait = term / (1 - rho) / (sum + term / (1 - rho)); // Erlang C
  return 1 + wait / (c - per_s);
}

TEST(QueueingTheory, OneProcessor) {
  for (const double rho : {0.3, 0.5, 0.8})
    for (const char* policy : {"ls", "as", "rs", "tp"}) {
      const auto r = run({group_job("1", true)}, policy, 1, rho, 0.01);
      EXPECT_TRUE(r.converged);
      EXPECT_NEAR(r.response_s * (1 - rho), 1, 0.04) << policy << " at " << rho; // M/M/1
      EXPECT_NEAR(r.used, rho, 0.02);
      EXPECT_NEAR(r.wait_s + r.service_s, r.response_s, 1e-9 * r.response_s);
    }
}

TEST(QueueingTheory, FixedServiceTime) {
  const double rho = 0.7;
  const auto r = run({group_job("1", false)}, "ls", 1, rho, 0.01);
  EXPECT_NEAR(r.response_s, 1 + rho / (2 * (1 - rho)), 0.04 * r.response_s); // Pollaczek-Khinchine
}

TEST(QueueingTheory, ManyProcessorsRigidJobs) {
  for (const int c : {2, 4, 16})
    for (const double rho : {0.5, 0.8}) {
      const auto r = run({group_job("1", true)}, "as", c, rho * c, 0.01);
      EXPECT_NEAR(r.response_s / mmc(c, rho * c), 1, 0.04) << c << " processors at " << rho;
    }
}

// Without cost and with perfect speed-up all processors work whenever there is a job: the number of jobs is
// that of an M/M/1 queue that is `procs` times as fast, whether the first job gets all of them or they are
// shared.
TEST(QueueingTheory, PerfectSpeedup) {
  const double rho = 0.6;
  for (const char* policy : {"ls", "rs"}) {
    const auto r = run({group_job("any", true)}, policy, 8, rho * 8, 0.01);
    EXPECT_NEAR(r.response_s * 8 * (1 - rho), 1, 0.04) << policy;
    EXPECT_NEAR(r.used, rho, 0.02) << policy;
  }
  // the throughput policy knows how long jobs are and lets the short ones through
  EXPECT_LT(run({group_job("any", true)}, "tp", 8, rho * 8, 0.01).response_s * 8 * (1 - rho), 0.95);
  // adaptive starts leave processors idle that a job could use later
  EXPECT_GT(run({group_job("any", true)}, "as", 8, rho * 8, 0.01).response_s * 8 * (1 - rho), 1.05);
}

TEST(BatchMeans, StandardErrorOfACorrelatedSeries) {
  // x_{k+1} = 0.9 x_k + e: the standard error of the mean of n is s/sqrt(n) * sqrt(1.9/0.1), s^2 = 1/(1 -
  // 0.81)
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise;
  BatchMeans batches(64);
  double x = 0;
  const int n = 64 * 4096;
  for (int k = 0; k < n; ++k) {
    x = 0.9 * x + noise(random);
    batches.add(10 + x);
  }
  const double expected = std::sqrt(1 / 0.19 / n) * std::sqrt(19.0);
  EXPECT_NEAR(batches.standard_error() / expected, 1, 0.3);
  EXPECT_NEAR(batches.mean(), 10, 4 * expected);
  EXPECT_LT(std::abs(batches.correlation()), 0.3);
  EXPECT_EQ(batches.count(), n);
}

TEST(Simulator, OverloadIsSaid) {
  const auto r = run({group_job("1", true)}, "ls", 1, 1.5, 0.01);
  EXPECT_TRUE(r.overloaded);
  EXPECT_FALSE(r.converged);
}

TEST(Simulator, JobsThatIgnoreAndCrash) {
  const auto apps = drms_apps();
  SimulationOptions options;
  options.relative_error = 0.05;
  RandomArrivals arrivals(apps, rates_for(apps, {{25, 25, 50}}, 0.5, 32), 1, 0.5, 0.1);
  const auto r = simulate(*make_policy("rs"), arrivals, options);
  EXPECT_GT(r.ignored, 0);
  EXPECT_NEAR(static_cast<double>(r.crashed) / static_cast<double>(r.jobs_run), 0.1, 0.01);
}

/// Most processors that the only job ever has.
int most_procs(const char* policy, int cores, bool has_history) {
  const std::vector<App> apps{group_job("1:8", false)};
  RecordedArrivals arrivals({{0, &apps[0], apps[0].steps, false, -1}});
  SimulationOptions options;
  options.procs = 8;
  options.cores = cores;
  options.has_history = has_history;
  options.to_the_end = true;
  int most = 0;
  simulate(*make_policy(policy), arrivals, options,
           [&](const SimulationEvent& event) { most = std::max(most, event.procs); });
  return most;
}

TEST(Simulator, ThroughputPredictsNoGainBeyondTheCores) {
  EXPECT_EQ(most_procs("tp", 0, false), 8);
  EXPECT_EQ(most_procs("tp", 4, false), 4); // no history: by the model
  EXPECT_EQ(most_procs("tp", 4, true), 4);  // measured: no quicker on more
  EXPECT_EQ(most_procs("tp", 0, true), 8);
  EXPECT_EQ(most_procs("as", 4, false), 8); // gives out what there is
}

TEST(Simulator, BeyondTheCoresAStepIsNoQuicker) {
  const std::vector<App> apps{group_job("8", false)};
  RecordedArrivals arrivals({{0, &apps[0], apps[0].steps, false, -1}});
  SimulationOptions options;
  options.procs = 8;
  options.to_the_end = true;
  EXPECT_NEAR(simulate(*make_policy("ls"), arrivals, options).simulated_s, 1.0 / 8, 1e-9);
  const std::vector<App> sized{group_job("4,8", false)};
  RecordedArrivals again({{0, &sized[0], sized[0].steps, false, -1}});
  options.cores = 4;
  EXPECT_NEAR(simulate(*make_policy("ls"), again, options).simulated_s, 1.0 / 4, 1e-9);
}

TEST(Workload, Sizes) {
  EXPECT_EQ(parse_sizes("4:32:*2", 64, "x").list(), (std::vector<int>{4, 8, 16, 32}));
  EXPECT_EQ(parse_sizes("8:32:4", 64, "x").list(), (std::vector<int>{8, 12, 16, 20, 24, 28, 32}));
  EXPECT_EQ(parse_sizes("9,1,4,4", 64, "x").list(), (std::vector<int>{1, 4, 9}));
  EXPECT_EQ(parse_sizes("any", 3, "x").list(), (std::vector<int>{1, 2, 3}));
  for (const char* wrong : {"", "0", "-1", "4:", "x", "4:8:*1", "8:4", "1,,2", "99999999999"})
    EXPECT_THROW(parse_sizes(wrong, 4, "x"), base::Error) << wrong;
}

TEST(Workload, CategoriesAsPublished) {
  const auto apps = drms_apps();
  ASSERT_EQ(apps.size(), 21u);
  int count[3] = {};
  for (const App& app : apps) {
    ++count[app.category];
    if (app.category == 0) {
      EXPECT_EQ(app.sizes.list(), (std::vector<int>{1, 2, 4}));
      EXPECT_LT(app.seconds_on(1), 1500);
      EXPECT_FALSE(app.resizable);
    } else if (app.category == 1) {
      EXPECT_EQ(app.sizes.list(), (std::vector<int>{4, 8, 12, 16}));
      EXPECT_GE(app.seconds_on(4), 2999.9);
      EXPECT_LE(app.seconds_on(4), 4000.1);
    } else {
      EXPECT_EQ(app.sizes.list(), (std::vector<int>{8, 12, 16, 20, 24, 28, 32}));
      EXPECT_GE(app.seconds_on(8), 12999.9);
      EXPECT_LE(app.seconds_on(8), 20000.1);
    }
    for (std::size_t i = 1; i < app.step_s.size(); ++i) EXPECT_LT(app.step_s[i], app.step_s[i - 1]);
  }
  for (const int n : count) EXPECT_EQ(n, 7);
  // published: steps of 2335 and 1198, 968 and 534, 874 and 467 ms on 16 and 32
  EXPECT_NEAR(apps[14].seconds_on(16) / apps[14].seconds_on(32), 2335.0 / 1198, 1e-6);
  EXPECT_NEAR(apps[15].seconds_on(16) / apps[15].seconds_on(32), 968.0 / 534, 1e-6);
  EXPECT_NEAR(apps[16].seconds_on(16) / apps[16].seconds_on(32), 874.0 / 467, 1e-6);
}

TEST(Workload, RatesGiveTheUtilization) {
  const auto apps = drms_apps();
  const auto rates = rates_for(apps, {{15, 25, 60}}, 0.4, 32);
  double work[3] = {};
  for (std::size_t i = 0; i < apps.size(); ++i) work[apps[i].category] += rates[i] * apps[i].work_s / 32;
  EXPECT_NEAR(work[0], 0.4 * 0.15, 1e-12);
  EXPECT_NEAR(work[1], 0.4 * 0.25, 1e-12);
  EXPECT_NEAR(work[2], 0.4 * 0.60, 1e-12);
  EXPECT_THROW(parse_mix("30:30:30"), base::Error);
  EXPECT_THROW(parse_mix("50:50"), base::Error);
  EXPECT_EQ(to_string(parse_mix("5:25:70")), "5:25:70");
  EXPECT_EQ(drms_mixes().size(), 6u);
}

TEST(Workload, TheSameJobsForEveryPolicy) {
  const auto apps = drms_apps();
  RandomArrivals a(apps, rates_for(apps, {{25, 25, 50}}, 0.5, 32), 5),
      b(apps, rates_for(apps, {{25, 25, 50}}, 0.5, 32), 5, 1, 1);
  for (int k = 0; k < 1000; ++k) {
    Newcomers x, y;
    ASSERT_TRUE(a.next(x) && b.next(y));
    EXPECT_EQ(x.at_s, y.at_s);
    EXPECT_EQ(x.app, y.app);
    EXPECT_FALSE(x.ignores);
    EXPECT_TRUE(y.ignores);
  }
}

/// Jobs of which each is to end 1.5 to 4 times the time on its smallest size after it comes.
class ToFinish : public Arrivals {
public:
  ToFinish(Arrivals& jobs, std::uint64_t seed) : jobs_(jobs), random_(seed) {}
  bool next(Newcomers& arrival) override {
    if (!jobs_.next(arrival)) return false;
    arrival.finish_by_s = arrival.at_s + arrival.steps * arrival.app->step_s.front() * random_.uniform(1.5, 4);
    by_s.push_back(arrival.finish_by_s);
    return true;
  }
  std::vector<double> by_s;

private:
  Arrivals& jobs_;
  Random random_;
};

struct Kept {
  double jobs = 0, kept = 0;
  double part() const { return kept / jobs; }
};

/// Of jobs of DRMS at utilization 0.7.
Kept with_finish_by(const char* policy, const Mix& mix, std::uint64_t seed) {
  const auto apps = drms_apps();
  RandomArrivals jobs(apps, rates_for(apps, mix, 0.7, 32), seed);
  ToFinish arrivals(jobs, seed + 1);
  SimulationOptions options;
  options.warm_up = 2000;
  options.most_jobs = 20000;
  options.relative_error = 1e-9;
  Kept counted;
  std::int64_t ended = 0;
  simulate(*make_policy(policy), arrivals, options, [&](const SimulationEvent& event) {
    if (event.kind != SimulationEvent::Kind::end || ++ended <= options.warm_up) return;
    ++counted.jobs;
    counted.kept += event.at_s <= arrivals.by_s[static_cast<std::size_t>(event.job - 1)] * (1 + 1e-12) ? 1 : 0;
  });
  return counted;
}

TEST(SimulatedFinishBy, KeptByQosAndMoreOftenThanByRs) {
  for (const Mix& mix : {Mix{{5, 25, 70}}, Mix{{25, 25, 50}}, Mix{{55, 25, 20}}})
    for (const std::uint64_t seed : {1, 2}) {
      const Kept qos = with_finish_by("qos", mix, seed), rs = with_finish_by("rs", mix, seed);
      EXPECT_GT(qos.jobs, 15000);
      EXPECT_GE(qos.part(), 0.95) << to_string(mix) << " seed " << seed;
      EXPECT_GE(qos.part(), rs.part() + 0.02) << to_string(mix) << " seed " << seed << ", rs " << rs.part();
    }
}

// "For any given workload and utilization RS is better than AS, AS at least as good as LS; RS up to about
// twice as good as LS at medium load." Means with a standard error of 4 %; the policies get the same jobs.
TEST(Drms, OrderOfThePolicies) {
  const auto apps = drms_apps();
  double best = 0;
  for (const Mix& mix : {Mix{{5, 25, 70}}, Mix{{25, 25, 50}}, Mix{{55, 25, 20}}})
    for (const double utilization : {0.2, 0.5, 0.7}) {
      double response[3];
      int k = 0;
      for (const char* policy : {"ls", "as", "rs"}) {
        RandomArrivals arrivals(apps, rates_for(apps, mix, utilization, 32), 1);
        SimulationOptions options;
        options.relative_error = 0.04;
        const auto r = simulate(*make_policy(policy), arrivals, options);
        EXPECT_TRUE(r.converged);
        response[k++] = r.response_s;
      }
      EXPECT_LT(response[1], 1.05 * response[0]) << to_string(mix) << " at " << utilization;
      EXPECT_LT(response[2], 0.95 * response[1]) << to_string(mix) << " at " << utilization;
      best = std::max(best, response[0] / response[2]);
    }
  EXPECT_GT(best, 1.8);
  EXPECT_LT(best, 2.5);
}

} // namespace
