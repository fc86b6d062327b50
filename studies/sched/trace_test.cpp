// SPDX-License-Identifier: BSD-3-Clause
// Traces, the reference policies by hand and by brute force, and synthetic workloads against their published models.
#include "trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <sstream>

#include "backfill.hpp"
#include "base/status.hpp"
#include "replay.hpp"
#include "speedup.hpp"
#include "synthetic.hpp"

namespace {

using namespace sched;

TraceJob job(double submit_s, int procs, double run_s, double estimate_s) {
  TraceJob j;
  j.submit_s = submit_s;
  j.procs = procs;
  j.run_s = run_s;
  j.estimate_s = estimate_s;
  return j;
}
const std::vector<TraceJob> six_jobs{job(0, 6, 10, 10), job(1, 8, 10, 10), job(2, 2, 7, 7),
                                     job(3, 4, 7, 7),   job(4, 2, 20, 20), job(5, 3, 30, 30)};

/// A line of a trace: what matters here, the rest -1.
std::string line(int id, double submit_s, double run_s, int allocated, int asked, double estimate_s, int status) {
  std::ostringstream text;
  text << id << ' ' << submit_s << " -1 " << run_s << ' ' << allocated << " -1 -1 " << asked << ' ' << estimate_s
       << " -1 " << status << " -1 -1 -1 -1 -1 -1 -1\n";
  return text.str();
}

std::string message_of(const std::string& text, int procs = 0) {
  try {
    parse_swf(text, "some.swf", procs);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(StandardWorkloadFormat, FieldsAndHeader) {
  const Trace trace = parse_swf("; Version: 2.2\n;MaxProcs: 128 (all)\n; MaxNodes: 64\n\n" +
                                    line(7, 10, 100, 4, -1, 150, 1) + "  " + line(8, 12.5, 3, 2, 3, 3, 1),
                                "some.swf");
  EXPECT_EQ(trace.procs, 128);
  EXPECT_EQ(trace.lines, 2);
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].id, 7);
  EXPECT_EQ(trace.jobs[0].procs, 4); // none asked for: those allocated
  EXPECT_EQ(trace.jobs[0].run_s, 100);
  EXPECT_EQ(trace.jobs[0].estimate_s, 150);
  EXPECT_EQ(trace.jobs[1].procs, 3); // asked for
  EXPECT_EQ(trace.jobs[1].submit_s, 12.5);
  EXPECT_TRUE(trace.remarks.empty());
  EXPECT_EQ(parse_swf("; MaxNodes: 64\n", "x").procs, 64);
  EXPECT_EQ(parse_swf("; MaxProcs: -1\n; MaxNodes: 64\r\n", "x").procs, 64);
  EXPECT_EQ(parse_swf("; MaxProcs: 128\n", "x", 32).procs, 32);
}

TEST(StandardWorkloadFormat, WhatIsNoPlainJobIsCounted) {
  const std::string text = "; MaxProcs: 8\n" +             // line 1
                           line(1, 0, 10, 1, 1, 10, 1) +   // 2
                           line(2, -1, 10, 1, 1, 10, 1) +  // 3  no submit time
                           line(3, 1, -1, 1, 1, 10, 1) +   // 4  no run time
                           line(4, 1, 10, -1, -1, 10, 1) + // 5  no processors
                           line(5, 1, 10, 9, 9, 10, 1) +   // 6  too large
                           line(6, 1, 0, 1, 1, 10, 5) +    // 7  cancelled before
                           line(7, 1, 10, 1, 1, 10, 3) +   // 8  a part
                           line(8, 5, 10, 1, 1, 20, 5) +   // 9  cancelled while it ran
                           line(9, 4, 10, 1, 1, 5, 0) +    // 10 failed, beyond its estimate, out of order
                           line(10, 6, 0, 1, 1, -1, 1) +   // 11 no estimate, no length
                           line(11, -60, 10, 1, 1, 10, 1); // 12 a negative time
  const Trace trace = parse_swf(text, "some.swf");
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> found; // -> jobs, first line
  std::int64_t left_out = 0;
  for (const TraceRemark& r : trace.remarks) {
    found[r.what.substr(0, 21)] = {r.jobs, r.first_line};
    if (r.is_left_out) left_out += r.jobs;
  }
  using P = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(found["no submit time, or a "], P(2, 3));
  EXPECT_EQ(found["no run time, or a neg"], P(1, 4));
  EXPECT_EQ(found["no number of processo"], P(1, 5));
  EXPECT_EQ(found["larger than the machi"], P(1, 6));
  EXPECT_EQ(found["cancelled before they"], P(1, 7));
  EXPECT_EQ(found["parts of a job whose "], P(1, 8));
  EXPECT_EQ(found["cancelled while they "], P(1, 9));
  EXPECT_EQ(found["failed (status 0), af"], P(1, 10));
  EXPECT_EQ(found["ran longer than estim"], P(1, 10));
  EXPECT_EQ(found["came earlier than the"], P(1, 10));
  EXPECT_EQ(found["ran for less than a s"], P(1, 11));
  EXPECT_EQ(found["no estimate: the run "], P(1, 11));
  EXPECT_EQ(found.size(), 12u);
  EXPECT_EQ(left_out + static_cast<std::int64_t>(trace.jobs.size()), trace.lines); // none silently dropped
  EXPECT_EQ(trace.jobs.size(), 4u);
  EXPECT_EQ(trace.jobs[1].id, 9); // sorted
  EXPECT_EQ(trace.jobs[1].estimate_s, 10);
  EXPECT_EQ(trace.jobs[3].run_s, 1);
}

TEST(StandardWorkloadFormat, ErrorsNameFileAndLine) {
  const std::string head = "; MaxProcs: 8\n" + line(1, 0, 10, 1, 1, 10, 1);
  EXPECT_NE(message_of(head + "2 0 -1 10 1\n").find("line 3 of some.swf has 5 fields"), std::string::npos);
  EXPECT_NE(message_of(head + "2 0 -1 ten 1 -1 -1 1 10 -1 1 -1 -1 -1 -1 -1 -1 -1\n")
                .find("line 3 of some.swf: field 4 (run time) is 'ten'"),
            std::string::npos);
  EXPECT_NE(message_of(head + "2 0 -1 nan 1 -1 -1 1 10 -1 1 -1 -1 -1 -1 -1 -1 -1\n").find("line 3"), std::string::npos);
  EXPECT_NE(message_of(line(1, 0, 10, 1, 1, 10, 1)).find("--processors"), std::string::npos);
}

TEST(StandardWorkloadFormat, WrittenAndReadAgain) {
  Trace trace = lublin_trace(500, 256, 3);
  set_estimates(trace, 4, 1);
  set_offered_load(trace, 0.7); // times that are not whole
  std::ostringstream out;
  write_swf(out, trace, "a test");
  const Trace again = parse_swf(out.str(), "again");
  EXPECT_EQ(again.procs, 256);
  EXPECT_TRUE(again.remarks.empty());
  ASSERT_EQ(again.jobs.size(), trace.jobs.size());
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    EXPECT_EQ(again.jobs[i].submit_s, trace.jobs[i].submit_s);
    EXPECT_EQ(again.jobs[i].run_s, trace.jobs[i].run_s);
    EXPECT_EQ(again.jobs[i].estimate_s, trace.jobs[i].estimate_s);
    EXPECT_EQ(again.jobs[i].procs, trace.jobs[i].procs);
  }
  EXPECT_NEAR(offered_load(trace), 0.7, 1e-12);
}

// 10 processors. Arrival, processors, run time = estimate:
//   A 0  6 10    B 1  8 10    C 2  2  7    D 3  4  7    E 4  2 20    F 5  3 30
//
//   t    event  EASY                                               free after
//   0    A      A runs to 10                                       4
//   1    B      8 > 4: reserved at 10, when 10 are free, 2 left over  4
//   2    C      2 <= 4, ends at 9 <= 10: starts                    2
//   3    D      4 > 2                                              2
//   4    E      ends at 24 > 10, but takes the 2 left over: starts   0
//   5    F      waits                                              0
//   9    C ends: 2 free; D needs 4, F 3                            2
//   10   A ends: 8 free; B starts, ends at 20. D reserved at 20,   0
//        when 8 are free
//   20   B ends: 8 free, D starts to 27, F too, to 50 (3 <= 4)     1
TEST(Easy, TheScheduleWorkedOutByHand) {
  EXPECT_EQ(backfill(six_jobs, 10, Backfill::easy), (std::vector<double>{0, 10, 2, 20, 4, 20}));
}

// The same jobs. Every job is given the earliest time that delays none before it; free processors afterwards:
//   A  0 .. 10:  4 in 0-10, then 10
//   B 10 .. 20:  4 in 0-10, 2 in 10-20, then 10
//   C  2 ..  9:  2 in 2-9
//   D 4 requested for 7: 4 free in 9-10 only, 2 in 10-20: at 20 .. 27
//   E 2 requested for 20: from 4: 2 in 4-9 (beside A and C), 4 in 9-10, 2 in 10-20, 6 in 20-27: at 4 .. 24
//   F 3 requested for 30: 0 in 4-9, 2 in 9-10, 0 in 10-20, 4 in 20-24, 6 in 24-27, then 10: at 20 .. 50
// With these estimates it is the schedule of EASY. A job G (6, 3 processors, 11) tells them apart, where F asks for 8:
//   EASY: at 20 D starts, 4 are left; F (8) is first, reserved at 27; G ends at 31 > 27, 10 - 8 = 2 < 3 left over: no.
//         At 24 E ends; at 27 D ends: F starts, ends at 57. G at 57.
//   conservative: F at 27 .. 57; G 3 for 11: 4 free in 20-24, 6 in 24-27, 2 in 27-57: at 57.
TEST(Conservative, TheScheduleWorkedOutByHand) {
  std::vector<TraceJob> jobs = six_jobs;
  EXPECT_EQ(backfill(jobs, 10, Backfill::conservative), (std::vector<double>{0, 10, 2, 20, 4, 20}));
  jobs[5].procs = 8;
  jobs.push_back(job(6, 3, 11, 11));
  EXPECT_EQ(backfill(jobs, 10, Backfill::conservative), (std::vector<double>{0, 10, 2, 20, 4, 27, 57}));
  EXPECT_EQ(backfill(jobs, 10, Backfill::easy), (std::vector<double>{0, 10, 2, 20, 4, 27, 57}));
}

// 4 processors; the second of the queue is delayed by EASY and not by conservative backfilling.
//   A 0  3 10    B 1  4  5    C 2  2  5    D 3  1 16
//   EASY: B reserved at 10, none left over; D would end at 19 > 10: waits. At 10 B; at 15 C and D start.
//   With B of 3 processors: 1 left over at 10, and D takes it at 3 .. 19. B 10 .. 15, then C (2 of 3) at 15.
//   Conservative: B (3) at 10 .. 15, 1 left over; C (2) at 15 .. 20; D (1): free are 1 in 3-10, 1 in 10-15, 2 in
//   15-20: at 3 as well. With D of 2 processors and 8 s after A of 2: see the next test, where they part.
TEST(Easy, LeftOverProcessors) {
  std::vector<TraceJob> jobs{job(0, 3, 10, 10), job(1, 4, 5, 5), job(2, 2, 5, 5), job(3, 1, 16, 16)};
  EXPECT_EQ(backfill(jobs, 4, Backfill::easy), (std::vector<double>{0, 10, 15, 15}));
  jobs[1].procs = 3;
  EXPECT_EQ(backfill(jobs, 4, Backfill::easy), (std::vector<double>{0, 10, 15, 3}));
  EXPECT_EQ(backfill(jobs, 4, Backfill::conservative), (std::vector<double>{0, 10, 15, 3}));
}

// 4 processors.   A 0  3 10    B 1  2 10    C 2  3 10    D 3  1 20
//   EASY: B reserved at 10, 2 left over then. D (1 <= 2) starts at 3, to 23. B 10 .. 20. C needs 3: at 20, 3 are free.
//   conservative: B 10 .. 20; C (3): 2 free in 10-20, so 20 .. 30; D (1 for 20): 1 in 3-10, 2 in 10-20, 1 in 20-30: 3.
// Where C needs 4, EASY still starts D at 3, which C pays for: 23. Conservative has promised 20 to C, and D waits: 30.
TEST(Conservative, KeepsWhatEasyDoesNotPromise) {
  std::vector<TraceJob> jobs{job(0, 3, 10, 10), job(1, 2, 10, 10), job(2, 3, 10, 10), job(3, 1, 20, 20)};
  EXPECT_EQ(backfill(jobs, 4, Backfill::easy), (std::vector<double>{0, 10, 20, 3}));
  EXPECT_EQ(backfill(jobs, 4, Backfill::conservative), (std::vector<double>{0, 10, 20, 3}));
  jobs[2].procs = 4;
  EXPECT_EQ(backfill(jobs, 4, Backfill::easy), (std::vector<double>{0, 10, 23, 3}));
  EXPECT_EQ(backfill(jobs, 4, Backfill::conservative), (std::vector<double>{0, 10, 20, 30}));
}

// 4 processors.   A 0  4, runs 5, estimate 20    B 1  3 10    C 2  1 10
//   B at 20, C at 20 by the estimates; A ends at 5: both move up to 5.
TEST(Conservative, MovesUpWhenAJobEndsEarly) {
  const std::vector<TraceJob> jobs{job(0, 4, 5, 20), job(1, 3, 10, 10), job(2, 1, 10, 10)};
  EXPECT_EQ(backfill(jobs, 4, Backfill::conservative), (std::vector<double>{0, 5, 5}));
  EXPECT_EQ(backfill(jobs, 4, Backfill::easy), (std::vector<double>{0, 5, 5}));
}

// ---- brute force: whole seconds, one array of free processors by second

std::vector<TraceJob> random_jobs(std::mt19937& random, int procs, int count) {
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  std::vector<TraceJob> jobs;
  int now = 0;
  for (int k = 0; k < count; ++k) {
    now += pick(0, 4);
    const int run = pick(1, 12);
    jobs.push_back(job(now, pick(1, pick(1, procs)), run, run + (pick(0, 1) != 0 ? pick(0, 15) : 0)));
  }
  return jobs;
}

int busy_at(const std::vector<TraceJob>& jobs, const std::vector<double>& start, double at, bool by_estimate,
            double now) {
  int busy = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (start[i] < 0 || start[i] > now) continue;  // waits
    if (start[i] + jobs[i].run_s <= now) continue; // has ended
    if (!by_estimate || start[i] + jobs[i].estimate_s > at) busy += jobs[i].procs;
  }
  return busy;
}

std::vector<double> slow_easy(const std::vector<TraceJob>& jobs, int procs) {
  std::vector<double> start(jobs.size(), -1);
  for (int now = 0; std::count(start.begin(), start.end(), -1.0) > 0; ++now) {
    const auto fits = [&](const TraceJob& j) { return busy_at(jobs, start, now, false, now) + j.procs <= procs; };
    std::vector<std::size_t> queue;
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (start[i] < 0 && jobs[i].submit_s <= now) queue.push_back(i);
    std::size_t k = 0;
    for (; k < queue.size() && fits(jobs[queue[k]]); ++k) start[queue[k]] = now;
    if (k == queue.size()) continue;
    const TraceJob& head = jobs[queue[k]];
    int reserved = now;
    while (busy_at(jobs, start, reserved, true, now) + head.procs > procs) ++reserved;
    for (++k; k < queue.size(); ++k) {
      if (!fits(jobs[queue[k]])) continue;
      start[queue[k]] = now; // on trial: does the reservation still hold?
      if (busy_at(jobs, start, reserved, true, now) + head.procs > procs) start[queue[k]] = -1;
    }
  }
  return start;
}

std::vector<double> slow_conservative(const std::vector<TraceJob>& jobs, int procs) {
  std::vector<double> start(jobs.size(), -1);
  std::vector<int> reserved(jobs.size(), -1);
  constexpr int horizon = 3000;
  const auto earliest = [&](std::size_t self, int now) {
    std::vector<int> busy(horizon, 0);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (i == self || reserved[i] < 0) continue;
      if (start[i] >= 0 && start[i] + jobs[i].run_s <= now) continue;
      for (int t = std::max(reserved[i], now); t < reserved[i] + jobs[i].estimate_s; ++t)
        busy[static_cast<std::size_t>(t)] += jobs[i].procs;
    }
    for (int begin = now;; ++begin) {
      bool is_free = true;
      for (int t = begin; t < begin + jobs[self].estimate_s; ++t)
        is_free = is_free && busy[static_cast<std::size_t>(t)] + jobs[self].procs <= procs;
      if (is_free) return begin;
    }
  };
  for (int now = 0; std::count(start.begin(), start.end(), -1.0) > 0; ++now) {
    bool is_early = false;
    for (std::size_t i = 0; i < jobs.size(); ++i)
      is_early = is_early || (start[i] >= 0 && start[i] + jobs[i].run_s == now && jobs[i].run_s < jobs[i].estimate_s);
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (start[i] < 0 && reserved[i] >= 0 && is_early) reserved[i] = std::min(reserved[i], earliest(i, now));
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (start[i] < 0 && reserved[i] < 0 && jobs[i].submit_s <= now) reserved[i] = earliest(i, now);
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (start[i] < 0 && reserved[i] == now) start[i] = now;
  }
  return start;
}

TEST(Backfill, TheSameAsBruteForce) {
  std::mt19937 random(5);
  int apart = 0;
  for (int k = 0; k < 400; ++k) {
    const int procs = 1 + static_cast<int>(random() % 12);
    const auto jobs = random_jobs(random, procs, 25);
    const auto easy = backfill(jobs, procs, Backfill::easy),
               conservative = backfill(jobs, procs, Backfill::conservative);
    ASSERT_EQ(easy, slow_easy(jobs, procs)) << "case " << k;
    ASSERT_EQ(conservative, slow_conservative(jobs, procs)) << "case " << k;
    apart += easy != conservative;
  }
  EXPECT_GT(apart, 50); // the cases are no trivial ones
}

TEST(Backfill, RefusesWhatIsNoTrace) {
  EXPECT_THROW(backfill({job(0, 5, 1, 1)}, 4, Backfill::easy), base::Error);
  EXPECT_THROW(backfill({job(1, 1, 1, 1), job(0, 1, 1, 1)}, 4, Backfill::conservative), base::Error);
}

// ---- speed-up

// Downey's two parts meet, and have the values that their definition gives: 1 on one processor; the average parallelism
// on as many as there ever are of use; sigma 0 is perfect.
TEST(Speedup, Downey) {
  for (const double a : {1.0, 2.0, 16.0, 500.0})
    for (const double sigma : {0.0, 0.5, 1.0, 1.5, 4.0}) {
      EXPECT_NEAR(downey_speedup(1, a, sigma), 1, 1e-12);
      const double all = sigma <= 1 ? 2 * a - 1 : a + a * sigma - sigma;
      EXPECT_NEAR(downey_speedup(all, a, sigma), a, 1e-9 * a);
      EXPECT_NEAR(downey_speedup(2 * all, a, sigma), a, 1e-9 * a);
      for (double n = 1; n < all; n += all / 50)
        EXPECT_LE(downey_speedup(n, a, sigma), downey_speedup(n + all / 50, a, sigma) * (1 + 1e-12));
    }
  EXPECT_NEAR(downey_speedup(8, 16, 0), 8, 1e-12);
  EXPECT_NEAR(downey_speedup(16, 16, 1), 16.0 * 16 / (16 + 7.5), 1e-12); // A n / (A + sigma (n - 1) / 2)
  EXPECT_NEAR(downey_speedup(16, 16, 1), downey_speedup(16 + 1e-9, 16, 1), 1e-6);
  EXPECT_NEAR(downey_speedup(8, 16, 1 + 1e-12), downey_speedup(8, 16, 1), 1e-9); // low and high variance meet
}

TEST(Speedup, ModelsByName) {
  EXPECT_EQ(Speedup::parse("linear").at(8, 4), 8);
  EXPECT_NEAR(Speedup::parse("amdahl:0.1").at(9, 4), 5, 1e-12); // 1 / (0.1 + 0.9 / 9)
  EXPECT_NEAR(Speedup::parse("downey:2:0.5").at(8, 4), downey_speedup(8, 8, 0.5), 1e-12);
  const Speedup table = Speedup::parse("table:1=1,2=1.8,8=6");
  EXPECT_NEAR(table.at(2, 1), 1.8, 1e-12);
  EXPECT_NEAR(table.at(5, 1), 3.9, 1e-12);
  EXPECT_NEAR(table.at(100, 1), 6, 1e-12);
  for (const char* wrong : {"", "perfect", "amdahl", "amdahl:2", "downey:1", "downey:0:1", "downey:1:-1",
                            "table:", "table:2=2,1=1", "table:1=x", "linear:1", "amdahl:0.1:2"})
    EXPECT_THROW(Speedup::parse(wrong), base::Error) << wrong;
}

// ---- synthetic workloads

TEST(Lublin, PartsAndTimesAsPublished) {
  const int procs = 1 << 16;
  const Trace trace = lublin_trace(200000, procs, 1);
  std::int64_t serial = 0, powers = 0, small = 0, parallel = 0;
  double ln_short = 0, shorts = 0, long_runs = 0, large = 0;
  for (const TraceJob& j : trace.jobs) {
    ASSERT_TRUE(j.procs >= 1 && j.procs <= procs);
    ASSERT_LE(std::log(j.run_s), 12);
    serial += j.procs == 1;
    parallel += j.procs > 1;
    powers += j.procs > 64 && (j.procs & (j.procs - 1)) == 0; // beyond sizes that are powers by chance
    small += j.procs > 1 && std::log2(j.procs) <= 13.5;
    if (j.procs > 200) { // weight -0.0054 * size + 0.78 < 0: only the gamma of mean 312 * 0.03
      ++large;
      long_runs += std::log(j.run_s);
    } else if (j.procs == 1) {
      ++shorts;
      ln_short += std::log(j.run_s);
    }
  }
  const auto n = static_cast<double>(trace.jobs.size());
  EXPECT_NEAR(static_cast<double>(serial) / n, 0.244, 0.005);
  EXPECT_NEAR(static_cast<double>(small) / static_cast<double>(parallel), 0.86, 0.005);
  EXPECT_NEAR(long_runs / large, 312 * 0.03, 0.01); // times are cut to whole seconds
  // mixture for one processor: weight p of 4.2 * 0.94, the rest 9.36, and what is above 12 drawn again (little)
  const double p = 0.78 - 0.0054;
  EXPECT_NEAR(ln_short / shorts, p * 4.2 * 0.94 + (1 - p) * 312 * 0.03, 0.15);
  // of all parallel jobs 0.576 / 0.756 are powers of two; those above 64 are (two-stage uniform) as many of them
  std::int64_t above = 0;
  for (const TraceJob& j : trace.jobs) above += j.procs > 64;
  EXPECT_NEAR(static_cast<double>(powers) / static_cast<double>(above), 0.576 / 0.756, 0.03);
}

TEST(Lublin, MoreJobsComeInTheAfternoon) {
  const Trace trace = lublin_trace(200000, 1024, 2);
  std::vector<double> by_hour(24, 0);
  for (const TraceJob& j : trace.jobs) ++by_hour[static_cast<std::size_t>(std::fmod(j.submit_s, 86400) / 3600)];
  const auto most = std::max_element(by_hour.begin(), by_hour.end()) - by_hour.begin();
  EXPECT_GE(most, 12); // the gamma's mode is (8.1737 - 1) * 3.9631 = 28.4 half hours
  EXPECT_LE(most, 15);
  // density of the gamma at 28.4 half hours over that at 59, which is 5:30
  const auto density = [](double x) { return 7.1737 * std::log(x) - x / 3.9631; };
  EXPECT_NEAR(by_hour[14] / by_hour[5] / std::exp(density(28.5) - density(11.5)), 1, 0.5);
}

TEST(Downey, LogUniform) {
  const int procs = 4096;
  const Trace trace = downey_trace(100000, procs, Speedup::parse("downey:1:1"), 4);
  double below = 0, large = 0, light = 0;
  for (const TraceJob& j : trace.jobs) {
    below += j.procs < 64; // half of the logarithm
    ASSERT_LE(j.run_s, 36 * 3600);
    if (j.procs < 256) continue; // smaller ones reach 36 hours before they reach an hour of the machine
    ++large;
    light += j.run_s * downey_speedup(j.procs, j.procs, 1) < std::sqrt(100 * 3600.0 * procs);
  }
  EXPECT_NEAR(below / 1e5, 0.5, 0.01);
  EXPECT_NEAR(light / large, 0.5, 0.02);
}

TEST(Synthetic, TheSameSeedTheSameJobs) {
  const Trace a = lublin_trace(100, 1000, 7), b = lublin_trace(100, 1000, 7), c = lublin_trace(100, 1000, 8);
  const auto runs = [](const Trace& t) {
    std::vector<double> list;
    for (const TraceJob& j : t.jobs) list.push_back(j.run_s);
    return list;
  };
  EXPECT_EQ(runs(a), runs(b));
  EXPECT_NE(runs(a), runs(c));
  EXPECT_THROW(lublin_trace(10, 4, 1), base::Error);
  EXPECT_THROW(downey_trace(0, 4, {}, 1), base::Error);
}

// ---- replay

TEST(Replay, SpreadIsOfValuesThatOccur) {
  std::vector<double> values;
  for (int k = 100; k >= 1; --k) values.push_back(k);
  const Spread s = spread_of(values);
  EXPECT_EQ(s.mean, 50.5);
  EXPECT_EQ(s.median, 50);
  EXPECT_EQ(s.p95, 95);
  EXPECT_EQ(s.p99, 99);
  EXPECT_EQ(s.most, 100);
  std::vector<double> one{3};
  EXPECT_EQ(spread_of(one).p95, 3);
  EXPECT_EQ(bounded_slowdown(5, 1), 1);  // 5 / 10
  EXPECT_EQ(bounded_slowdown(40, 1), 4); // a run time below 10 s counts as that
  EXPECT_EQ(bounded_slowdown(40, 20), 2);
}

// The jobs of the first table: waits 0, 9, 0, 17, 0, 15; responses 10, 19, 7, 24, 20, 45. Busy processor seconds 60 +
// 80
// + 14 + 28 + 40 + 90 = 312 of 10 * 50.
TEST(Replay, FiguresOfTheScheduleByHand) {
  Trace trace;
  trace.procs = 10;
  trace.jobs = six_jobs;
  const ReplayResult r = replay(trace, "easy", {});
  EXPECT_NEAR(r.used, 312.0 / 500, 1e-12);
  EXPECT_EQ(r.span_s, 50);
  ASSERT_EQ(r.classes.size(), 2u); // all, 2-9
  EXPECT_NEAR(r.classes[0].wait_s.mean, 41.0 / 6, 1e-12);
  EXPECT_EQ(r.classes[0].wait_s.most, 17);
  EXPECT_NEAR(r.classes[0].response_s.mean, 125.0 / 6, 1e-12);
  EXPECT_NEAR(r.classes[0].slowdown.mean, (1 + 1.9 + 1 + 2.4 + 1 + 1.5) / 6, 1e-12);
}

// Rigid jobs under ls: the same jobs, first come first fitted. By hand: A 0, C 2 (2 of 4), E 4 (2 of 2); at 9 (C ends)
// 2 free; at 10 8 free: B (8) first. At 20: 8 free, D and F.
TEST(Replay, PoliciesOfTheScheduler) {
  Trace trace;
  trace.procs = 10;
  trace.jobs = six_jobs;
  for (const char* policy : {"ls", "as", "rs"}) {
    const ReplayResult r = replay(trace, policy, {});
    EXPECT_NEAR(r.used, 312.0 / 500, 1e-9) << policy;
    EXPECT_NEAR(r.classes[0].wait_s.mean, 41.0 / 6, 1e-9) << policy;
  }
  // alone and malleable it takes four times what it asked for, or all there is, and is as much faster
  Trace alone;
  alone.procs = 32;
  alone.jobs = {job(0, 4, 100, 100)};
  alone.jobs[0].is_malleable = true;
  ReplayOptions options;
  EXPECT_NEAR(replay(alone, "rs", options).span_s, 25, 1e-9);
  EXPECT_NEAR(replay(alone, "easy", options).span_s, 100, 1e-9);
  options.speedup = Speedup::parse("amdahl:1");
  EXPECT_NEAR(replay(alone, "rs", options).span_s, 100, 1e-9);
  EXPECT_EQ(malleable_sizes(4, 15).list(), (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(malleable_sizes(1, 15).list(), (std::vector<int>{1, 2, 4}));
}

TEST(Replay, FinishByTimesAreCounted) {
  Trace trace;
  trace.procs = 10;
  trace.jobs = {job(0, 6, 10, 10), job(1, 8, 10, 10), job(2, 2, 7, 7)};
  trace.jobs[0].finish_by_s = 9;  // runs 10 s: not to be kept by anybody
  trace.jobs[1].finish_by_s = 19; // could, on an empty machine; ends at 20
  trace.jobs[2].finish_by_s = 9;
  const ReplayResult r = replay(trace, "easy", {});
  EXPECT_EQ(r.infeasible, 1);
  EXPECT_EQ(r.feasible, 2);
  EXPECT_EQ(r.kept, 1);
}

} // namespace
