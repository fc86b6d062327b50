// SPDX-License-Identifier: BSD-3-Clause
// `dyngrid plan decision` inside the test: parse, run, read the JSON; and against a job that answers as an application
// does.
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "base/parse_json.hpp"
#include "command_output.hpp"
#include "control/history.hpp"
#include "control/job_server.hpp"
#include "control/job_state.hpp"
#include "dyngrid/command.hpp"
#include "shared/failure.hpp"

namespace {

using base::Json;

std::string output(const std::string& line) {
  return output_of(command::add_plan_decision, line);
}

const std::string machine = " --latency 1e-3 --bandwidth 1e9 --pack-rate 1e12";
const std::string growth = "decision --from 2x2 --to 3x3 --matrix 1000x1000/50x50 --times 2x2=1,3x3=0.5" + machine;

TEST(PlanDecision, TermsAddUp) {
  const auto answer = base::parse_json(output(growth + " --steps 100 --json"));
  EXPECT_TRUE(answer.at("accepted").get<bool>());
  double sum = 0;
  for (const auto& [name, seconds] : answer.at("terms").items()) sum += seconds.get<double>();
  EXPECT_DOUBLE_EQ(answer.at("change_s").get<double>(), sum);
  EXPECT_DOUBLE_EQ(answer.at("terms").at("spawn").get<double>(), 0.45); // 0.2 + 5 * 0.05
  EXPECT_GT(answer.at("terms").at("latency").get<double>(), 0.0);
  EXPECT_GT(answer.at("terms").at("bandwidth").get<double>(), 0.0);
  EXPECT_TRUE(answer.at("step_then").at("measured").get<bool>());
  EXPECT_EQ(answer.at("payoff_steps"), 1);
  EXPECT_EQ(answer.at("steps_left"), 100);
}

TEST(PlanDecision, DoesNotPay) {
  const auto few = base::parse_json(output(growth + " --steps 0 --json"));
  EXPECT_FALSE(few.at("accepted").get<bool>());
  const auto slower = base::parse_json(output("decision --from 2x2 --to 3x3 --times 2x2=0.5,3x3=1 --json"));
  EXPECT_FALSE(slower.at("accepted").get<bool>());
  EXPECT_EQ(slower.at("payoff_steps"), -1);
  const auto full = base::parse_json(output("decision --from 2x2 --to 3x3 --times 2x2=1 --cores 4 --json"));
  EXPECT_FALSE(full.at("accepted").get<bool>());
  EXPECT_TRUE(says(full.at("why").get<std::string>(), "beyond the cores"));
}

TEST(PlanDecision, Text) {
  const std::string text = output(growth + " --steps 100");
  for (const char* word : {"2x2 -> 3x3: yes", "spawn", "merge", "latency", "bandwidth", "packing", "step before",
                           "step after", "after 1 steps", "steps left   100"})
    EXPECT_TRUE(says(text, word));
  EXPECT_TRUE(says(output("decision --from 2x2 --to 3x3"), "no step time is known"));
}

TEST(PlanDecision, PrintedHistory) {
  const std::string name = testing::TempDir() + "decide_history.json";
  const Json change{{"from", {2, 2}}, {"grid", {3, 3}}, {"spawned", 5},      {"spawn_s", 0.8},
                    {"merge_s", 0.1}, {"plan_s", 0.05}, {"exchange_s", 0.25}};
  const Json one{{"app", "one"},
                 {"size", "d10x10/2x2"},
                 {"grids", {{{"grid", {2, 2}}, {"steps", 10}, {"mean_s", 2.0}, {"error_s", 0.1}}}},
                 {"resizes", Json::array({change})}};
  std::ofstream(name) << Json{{"history", {one, {{"app", "other"}, {"size", "-"}}}}};
  const std::string question = "decision --from 2x2 --to 3x3 --json --history " + name;
  EXPECT_THROW(output(question), command::Failure); // which of the two?
  const auto answer = base::parse_json(output(question + " --app one"));
  EXPECT_DOUBLE_EQ(answer.at("terms").at("exchange").get<double>(), 0.25);
  EXPECT_DOUBLE_EQ(answer.at("terms").at("spawn").get<double>(), 0.8);
  EXPECT_DOUBLE_EQ(answer.at("change_s").get<double>(), 1.2);
  EXPECT_DOUBLE_EQ(answer.at("step_now").at("seconds").get<double>(), 2.0);
  EXPECT_NEAR(answer.at("step_now").at("error").get<double>(), 0.1, 1e-12);
  EXPECT_FALSE(answer.at("step_then").at("measured").get<bool>());
}

TEST(PlanDecision, WrongArguments) {
  for (const char* line :
       {"decision", "decision --from 2x2", "decision --from 2by2 --to 3x3", "decision --from 2x2 --to 0x3",
        "decision job --from 2x2 --to 3x3", "decision --from 2x2 --to 3x3 --matrix x",
        "decision --from 2x2 --to 3x3 --matrix 10x10@rows", "decision --from 2x2 --to 3x3 --matrix 10x10@row:2x2",
        "decision --from 2x2 --to 3x3 --matrix 10x10@first:2", "decision --from 2x2 --to 3x3 --matrix 0*10x10",
        "decision --from 2x2 --to 3x3 --matrix q10x10", "decision --from 2x2 --to 3x3 --history /nowhere",
        "decision --from 2x2 --to 3x3 --times 2x2", "decision --from 2x2 --to 3x3 --steps -1",
        "decision no-such-job --to 3x3"})
    EXPECT_ANY_THROW(output(line)) << line;
}

/// One column of elements: where it lies decides which processes have some, and what moves.
TEST(PlanDecision, WhereMatricesLie) {
  const auto of = [](const std::string& place) {
    return base::parse_json(output("decision --from 2x2 --to 2x3 --json --matrix 900x1/1x1" + place + machine));
  };
  EXPECT_TRUE(says(of("").at("why").get<std::string>(), "blocks for 2 processes (2x1)"));
  EXPECT_TRUE(of("@column").at("accepted").get<bool>());
  EXPECT_TRUE(says(of("@row").at("why").get<std::string>(), "blocks for 1 processes (1x1)"));
  EXPECT_TRUE(says(of("@first").at("why").get<std::string>(), "blocks for 1 processes (1x1)"));
  EXPECT_TRUE(says(of("@first:2x2").at("why").get<std::string>(), "blocks for 2 processes (2x1)"));
  EXPECT_TRUE(says(of("@each-row").at("why").get<std::string>(), "blocks for 2 processes (2x1)"));
  for (const char* copied : {"@all", "@each-column"})
    EXPECT_TRUE(of(copied).at("accepted").get<bool>()) << copied;              // each process has some
  EXPECT_DOUBLE_EQ(of("@first").at("terms").at("bandwidth").get<double>(), 0); // it stays on process 0
  EXPECT_GT(of("@column").at("terms").at("bandwidth").get<double>(), 0);
}

/// The same answer as the job gives to a resize.
TEST(PlanDecision, AsksARunningJob) {
  const std::string folder = testing::TempDir() + "decide_runtime";
  setenv("DYNGRID_RUNTIME_DIR", folder.c_str(), 1);
  control::JobInfo info;
  info.job = "decide-test";
  info.app = "test";
  info.cores = 16;
  control::JobState state(info, {2, 2}, 0);
  state.set_matrices({"d1000x1000/50x50", 8000000, {}});
  state.set_steps(100);
  advise::Machine figures;
  figures.latency_s = 0.25;
  figures.bandwidth_bytes_per_s = 2e9;
  figures.pack_bytes_per_s = 3e9;
  state.set_machine(figures);
  double t = 0;
  for (int step = 0; step < 6; ++step) {
    state.step_begins(t);
    state.step_ended(t += 1.0);
  }
  const control::JobServer server(state, folder, [] { return 7.0; });
  const auto answer = base::parse_json(output("decision decide-test --to 3x3 --json" + machine));
  EXPECT_EQ(answer.at("from"), Json({2, 2}));
  EXPECT_NEAR(answer.at("step_now").at("seconds").get<double>(), 1.0, 1e-9);
  EXPECT_EQ(answer.at("steps_left"), 94);
  EXPECT_TRUE(answer.at("accepted").get<bool>());
  EXPECT_GT(answer.at("terms").at("latency").get<double>(), 0.0); // its matrices are known
  const auto own = base::parse_json(output("decision decide-test --to 3x3 --json"));
  EXPECT_EQ(own.at("machine"),
            Json({{"latency_s", 0.25}, {"bandwidth_bytes_per_s", 2e9}, {"pack_bytes_per_s", 3e9}})); // as it measured
  state.set_matrices({"d900x1/1x1", 7200, {}, {}, "d900x1/1x1@column"});
  EXPECT_TRUE(base::parse_json(output("decision decide-test --to 2x3 --json"))["accepted"].get<bool>());
  state.set_matrices({"d900x1/1x1", 7200, {}});
  const auto on_grid = base::parse_json(output("decision decide-test --to 2x3 --json"));
  EXPECT_TRUE(says(on_grid["why"].get<std::string>(), "gives new processes no part of any matrix"));
  for (const char* ignored : {" --history /nowhere", " --app test"})
    EXPECT_THROW(output(std::string("decision decide-test --to 3x3") + ignored), command::Failure) << ignored;
  state.set_allowed(advise::Allowed::parse("2x2,4x4"));
  EXPECT_FALSE(base::parse_json(output("decision decide-test --to 3x3 --json"))["accepted"].get<bool>());
}

} // namespace
