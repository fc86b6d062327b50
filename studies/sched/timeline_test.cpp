// SPDX-License-Identifier: BSD-3-Clause
// Policies on simulated time against timelines worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "sched/policy.hpp"
#include "simulate.hpp"
#include "workload.hpp"

namespace {

using namespace sched;

struct Line {
  double at_s;
  SimulationEvent::Kind kind;
  std::int64_t job;
  int procs;
  bool operator==(const Line& o) const {
    return std::abs(at_s - o.at_s) < 1e-9 && kind == o.kind && job == o.job && procs == o.procs;
  }
};
std::ostream& operator<<(std::ostream& out, const Line& line) {
  return out << line.at_s << " s: job " << line.job << " event " << static_cast<int>(line.kind) << " on " << line.procs;
}
using Kind = SimulationEvent::Kind;

std::vector<Line> timeline(const char* jobs, const char* policy, int procs, double deadline_s = 300) {
  const auto recorded = parse_jobs(jobs, "a test");
  RecordedArrivals arrivals(recorded.arrivals);
  SimulationOptions options;
  options.procs = procs;
  options.warm_up = 0;
  options.to_the_end = true;
  options.deadline_s = deadline_s;
  std::vector<Line> lines;
  simulate(*make_policy(policy), arrivals, options, [&](const SimulationEvent& e) {
    if (e.kind != Kind::arrival) lines.push_back({e.at_s, e.kind, e.job, e.procs});
  });
  return lines;
}

// Two jobs of ten steps on 4 processors, steps of 4, 2, 1 s on 1, 2, 4; the second comes at 2.5 s.
constexpr const char* two_jobs = "a,0,1 2 4,10,4 2 1,resize=0.5\n"
                                 "b,2.5,1 2 4,10,4 2 1,resize=0.5\n";

TEST(Timeline, Lazy) {
  EXPECT_EQ(timeline(two_jobs, "ls", 4),
            (std::vector<Line>{
                {0, Kind::start, 1, 4}, {10, Kind::end, 1, 0}, {10, Kind::start, 2, 4}, {20, Kind::end, 2, 0}}));
}

TEST(Timeline, Reconfigurable) {
  // a looks at the request when its third step ends, at 3; from 3.5 both have 2. a: 7 steps of 2 s, to 17.5;
  // b: 7 of its steps are done then, it grows from 17.5 to 18 and does the other three in 3 s.
  EXPECT_EQ(timeline(two_jobs, "rs", 4), (std::vector<Line>{{0, Kind::start, 1, 4},
                                                            {2.5, Kind::ask, 1, 2},
                                                            {3.5, Kind::resized, 1, 2},
                                                            {3.5, Kind::start, 2, 2},
                                                            {17.5, Kind::end, 1, 0},
                                                            {17.5, Kind::ask, 2, 4},
                                                            {18, Kind::resized, 2, 4},
                                                            {21, Kind::end, 2, 0}}));
}

TEST(Timeline, AJobThatIgnoresRequests) {
  // asked at 2.5, given up at 2.5 + 3; b waits for the end. Nobody is asked again.
  EXPECT_EQ(timeline("a,0,1 2 4,10,4 2 1,ignores\nb,2.5,1 2 4,10,4 2 1\n", "rs", 4, 3),
            (std::vector<Line>{{0, Kind::start, 1, 4},
                               {2.5, Kind::ask, 1, 2},
                               {5.5, Kind::ignored, 1, 4},
                               {10, Kind::end, 1, 0},
                               {10, Kind::start, 2, 4},
                               {20, Kind::end, 2, 0}}));
}

TEST(Timeline, AJobThatCrashes) {
  // half of ten steps of 1 s
  EXPECT_EQ(timeline("a,0,4,10,1,crashes=0.5\nb,1,4,1,1\n", "ls", 4),
            (std::vector<Line>{
                {0, Kind::start, 1, 4}, {5, Kind::crash, 1, 0}, {5, Kind::start, 2, 4}, {6, Kind::end, 2, 0}}));
}

TEST(Timeline, PrioritiesAndRigidJobs) {
  // b and c wait for a; then c before b, by priority
  EXPECT_EQ(timeline("a,0,2,1,3\nb,1,2,1,1\nc,2,2,1,1,priority=5\n", "ls", 2),
            (std::vector<Line>{{0, Kind::start, 1, 2},
                               {3, Kind::end, 1, 0},
                               {3, Kind::start, 3, 2},
                               {4, Kind::end, 3, 0},
                               {4, Kind::start, 2, 2},
                               {5, Kind::end, 2, 0}}));
  EXPECT_TRUE(timeline("a,0,8,1,1\n", "rs", 4).empty()) << "never fits";
  EXPECT_EQ(
      timeline("a,0,1:2 4,1,1 1 1,rigid\nb,0.5,1,1,1\n", "rs", 4),
      (std::vector<Line>{{0, Kind::start, 1, 4}, {1, Kind::end, 1, 0}, {1, Kind::start, 2, 1}, {2, Kind::end, 2, 0}}));
}

TEST(RecordedJobs, Errors) {
  for (const char* wrong : {"a", "a,0,1,1", "a,x,1,1,1", "a,0,1 2,1,1", "a,0,2 1,1,1 1", "a,0,1,0,1", "a,0,1,1,0",
                            "a,0,1,1,1,what=1", "a,0,1,1,1,priority=x", "a,0,1.5,1,1", "a,0,1:3,1,1", "a,-1,1,1,1"})
    EXPECT_THROW(parse_jobs(wrong, "a test"), base::Error) << wrong;
  EXPECT_EQ(parse_jobs("# nothing\n\n", "x").arrivals.size(), 0u);
  try {
    parse_jobs("a,0,1,1,1\nb,0,1,1,1,what=1", "jobs.csv");
    FAIL();
  } catch (const base::Error& e) {
    EXPECT_NE(std::string(e.what()).find("line 2 of jobs.csv"), std::string::npos) << e.what();
  }
}

} // namespace
