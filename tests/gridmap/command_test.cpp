// SPDX-License-Identifier: BSD-3-Clause
// dyngrid plan shapes, placement, mapping, selection, balance, phases, run as a user runs them.
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "base/files.hpp"
#include "base/parse_json.hpp"

namespace {
using base::content_of, base::Json;

struct Answer {
  int status = -1;
  std::string out, err;
};

Answer run(const std::string& arguments) {
  const std::string base = testing::TempDir() + "dyngrid_command_" + std::to_string(getpid());
  const int status =
      std::system((std::string(DYNGRID_COMMAND) + " " + arguments + " >" + base + ".out 2>" + base + ".err").c_str());
  Answer answer{WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(base + ".out"), content_of(base + ".err")};
  std::remove((base + ".out").c_str());
  std::remove((base + ".err").c_str());
  return answer;
}

Json ask(const std::string& arguments) {
  const Answer answer = run(arguments + " --json");
  EXPECT_EQ(answer.status, 0) << arguments << ": " << answer.err;
  EXPECT_EQ(answer.err, "");
  return answer.status == 0 ? base::parse_json(answer.out) : Json();
}

const std::string list = "298,95,35,11,30,28,39,218,39,91,290,279,249,315,210,64,209,284,131,84,176,267,66,"
                         "232,114,138,157,251,250,174";

TEST(Command, Topology) {
  Json a = ask("plan shapes --procs 14 --aspect-p 2 --aspect-q 2");
  EXPECT_EQ(a["nprow"], 3);
  EXPECT_EQ(a["npcol"], 4);
  EXPECT_EQ(a["used"], 12);
  EXPECT_EQ(a["idle"], 2);
  EXPECT_EQ(a["idle_processes"], Json({12, 13}));
  a = ask("plan shapes --procs 36 --aspect-p 1 --aspect-q 1 --from 5x5");
  EXPECT_EQ(a["nprow"], 6);
  EXPECT_EQ(a["npcol"], 6);
  EXPECT_EQ(ask("plan shapes --from 5x5 --add 3")["used"], 25);
  EXPECT_EQ(ask("plan shapes --procs 20 --valid '4:32:*2'")["used"], 16);
  EXPECT_EQ(ask("plan shapes --procs 16 --data 1000x4000")["npcol"], 8);
  a = ask("plan shapes --procs 14 --times 3x3=1674,4x3=1559,3x4=1620,2x7=1806");
  EXPECT_EQ(a["nprow"], 4);
  EXPECT_EQ(a["seconds"], 1559);
}

TEST(Command, Place) {
  const Json a = ask("plan placement --from 4x4 --to 4x6 --placement local2 --m 24 --n 24");
  EXPECT_EQ(a.at("grid")[0], Json({0, 16, 1, 2, 17, 3}));
  EXPECT_EQ(a.at("moved_elements"), 192); // 24^2 / 4 * (4 + 2*2)/(4 + 2)
  EXPECT_EQ(a.at("retained_elements"), 384);
  EXPECT_EQ(a.at("max_in"), 24);
  EXPECT_EQ(a.at("max_out"), 12);
  EXPECT_EQ(ask("plan placement --from 2x8 --to 4x4 --m 32 --n 32")["moved_elements"], 512);
  EXPECT_EQ(ask("plan placement --from 2x2 --to 2x2 --m 9 --n 9 --mb 2 --nb 2")["moved_elements"], 0);
}

// What a run does: processes of mpirun sleep and are woken again, the others end; process 0 stays at (0,0).
TEST(Command, PlaceOneChangeAfterTheOther) {
  const Json steps = ask("plan placement --from 2x2 --to 3x3 --to 1x2 --to 2x3 --m 12 --n 12 --mb 1 --nb 1")["steps"];
  ASSERT_EQ(steps.size(), 3u);
  for (const Json& step : steps) EXPECT_EQ(step.at("grid")[0][0], 0);
  EXPECT_EQ(steps[0].at("new"), Json({4, 5, 6, 7, 8}));
  EXPECT_EQ(steps[1].at("leave"), Json({4, 5, 6, 7, 8}));
  ASSERT_EQ(steps[1].at("sleep").size(), 2u);
  for (const Json& id : steps[1].at("sleep")) EXPECT_LT(id.get<int>(), 4);
  EXPECT_EQ(steps[2].at("wake"), steps[1].at("sleep"));
  EXPECT_EQ(steps[2].at("new"), Json({9, 10})) << "a number is given once";
  EXPECT_EQ(steps[1].at("processes").size(), steps[1].at("kept").size());
  const Json alone = ask("plan placement --from 3x3 --to 1x2 --m 12 --n 12");
  EXPECT_EQ(alone.at("sleep").size(), 7u) << "of the first grid nobody can leave";
  EXPECT_TRUE(alone.at("leave").empty());
  const std::string text = run("plan placement --from 2x2 --to 3x3 --to 1x2 --m 12 --n 12").out;
  EXPECT_TRUE(says(text, "leave     4 5 6 7 8\n"));
  EXPECT_TRUE(says(text, "parked    "));
  EXPECT_EQ(ask("plan placement --from 1x1 --to 1x3 --placement local2 --m 12 --n 12")["grid"], Json({{0, 1, 2}}));
  EXPECT_EQ(ask("plan exchange --from 1x1 --to 1x3 --placement local2 --m 12 --n 12")["grid"], Json({{0, 1, 2}}));
}

/// By hand: the last two blocks for the one that is twice as fast, steps of 6/2, 4/2 and 1/2.
TEST(Command, MapForLu) {
  const std::string question = "plan mapping --speeds 2,1 --grid 1x2 --m 3 --n 3 --for lu --nb 1";
  const Json a = ask(question);
  EXPECT_EQ(a.at("row_owners"), Json({0, 0, 0}));
  EXPECT_EQ(a.at("col_owners"), Json({1, 0, 0}));
  EXPECT_EQ(a.at("rows"), Json({3}));
  EXPECT_EQ(a.at("cols"), Json({2, 1}));
  EXPECT_DOUBLE_EQ(a.at("t_steps").get<double>(), 5.5);
  EXPECT_DOUBLE_EQ(a.at("t_cyclic").get<double>(), 5.5);
  EXPECT_DOUBLE_EQ(a.at("t_least").get<double>(), 14. / 3);
  EXPECT_EQ(a.at("steps"), 3);
  EXPECT_EQ(a.at("for"), "lu");
  const std::string text = run(question).out;
  EXPECT_TRUE(says(text, "grid columns that have those of columns: 1 0 0\n"));
  EXPECT_TRUE(says(text, "5.5 (largest rows*cols/speed, summed over 3 steps"));
  EXPECT_EQ(ask("plan mapping --speeds 2,1 --grid 1x2 --m 3 --n 3 --for product").contains("t_steps"), false);
  const Answer wide = run("plan mapping --speeds 2,1 --grid 1x2 --m 300 --n 300 --for lu --nb 3");
  EXPECT_TRUE(says(wide.out, "... (100 blocks)"));
  for (const char* wrong : {" --for qr", " --nb 0", " --nb x"}) {
    const Answer answer = run("plan mapping --speeds 2,1 --grid 1x2 --m 3 --n 3 --for lu" + std::string(wrong));
    EXPECT_NE(answer.status, 0) << wrong;
    EXPECT_NE(answer.err, "") << wrong;
  }
}

TEST(Command, Map) {
  const Json a = ask("plan mapping --speeds 4,2,2,1 --grid 2x2 --m 2000 --n 2000");
  EXPECT_EQ(a.at("grid"), base::parse_json("[[4,2],[2,1]]"));
  EXPECT_EQ(a.at("rows"), Json({1333, 667}));
  EXPECT_EQ(a.at("cols"), Json({1333, 667}));
  EXPECT_NEAR(a.at("t_opt")[0][0].get<double>(), 4, 1e-9);
  EXPECT_NEAR(a.at("utilization")[1][1].get<double>(), 1, 1e-9);
  EXPECT_EQ(a.at("t_theory"), 667 * 667); // of the power 1
  EXPECT_EQ(
      ask("plan mapping --powers 313.215,278.643,33.897,24.777 --grid 2x2 --m 2000 --n 2000 --method svd")["rows"],
      Json({1819, 181}));
  EXPECT_EQ(ask("plan mapping --speeds '1 2 2 4' --grid 2x2 --m 30 --n 30 --in-place")["rows"], Json({10, 20}));
}

TEST(Command, Select) {
  for (const char* strategy : {"global", "local", "mixed", "best"}) {
    const Json a = ask("plan selection --grid '313,279;34,25' --available " + list +
                       " --tpp 600 --m 2000 --n 2000 --strategy " + strategy);
    double sum = 0, cells = 0;
    for (const Json& power : a.at("chosen")) sum += power.get<double>();
    for (const auto& row : a.at("t_opt"))
      for (const Json& value : row) cells += value.get<double>();
    EXPECT_DOUBLE_EQ(a.at("tpp_used").get<double>(), sum);
    EXPECT_LE(sum, 600);
    EXPECT_NEAR(a.at("t_theory").get<double>(), 2000.0 * 2000 / cells, 1e-6);
    EXPECT_EQ(a.at("grid").size() * a.at("grid")[0].size(), 4 + a.at("chosen").size());
    std::int64_t rows = 0, cols = 0;
    for (const Json& x : a.at("rows")) rows += x.get<std::int64_t>();
    for (const Json& x : a.at("cols")) cols += x.get<std::int64_t>();
    EXPECT_EQ(rows, 2000);
    EXPECT_EQ(cols, 2000);
    EXPECT_LE(0.0962 * a.at("t_theory").get<double>(), std::string(strategy) == "best" ? 310.4 : 360);
  }
}

TEST(Command, HelpAndText) {
  for (const char* arguments : {"--help", "plan shapes --help", "plan placement --help", "plan mapping --help",
                                "plan selection --help", "--version"}) {
    const Answer answer = run(arguments);
    EXPECT_EQ(answer.status, 0) << arguments;
    EXPECT_NE(answer.out, "") << arguments;
    EXPECT_EQ(answer.err, "") << arguments;
  }
  EXPECT_TRUE(
      says(run("plan shapes --procs 13 --aspect-p 2 --aspect-q 2").out, "3x4: 12 of 13 processes used, 1 idle"));
  EXPECT_TRUE(says(run("plan placement --from 2x2 --to 3x3 --m 36 --n 36").out, "55.56 %"));
  EXPECT_TRUE(says(run("plan mapping --powers 4,2,2,1 --grid 2x2 --m 30 --n 30").out, "proved"));
  EXPECT_TRUE(says(run("plan selection --grid '4,2;2,1' --available 4,2,8 --tpp 6 --m 30 --n 30").out, "chosen"));
}

TEST(Command, Balance) {
  Json a = ask("plan balance --speeds 1,1,1,0.5 --n 6000 --steps-left 200 --change 10");
  EXPECT_EQ(a["action"], "remove");
  EXPECT_EQ(a["leaves"], Json({3}));
  EXPECT_EQ(a["now"]["step_s"], 2);
  EXPECT_DOUBLE_EQ(a["then"]["step_s"].get<double>(), 4.0 / 3);
  EXPECT_EQ(a["then"]["change_terms"]["change"], 10);
  EXPECT_EQ(a["payoff_steps"], 15);
  a = ask("plan balance --speeds 1,1,1,0.5 --n 6000 --steps-left 14 --change 10");
  EXPECT_EQ(a["action"], "stay");
  EXPECT_EQ(a["then"], nullptr);
  EXPECT_DOUBLE_EQ(a["refused"]["step_s"].get<double>(), 4.0 / 3);
  EXPECT_TRUE(says(a["why"].get<std::string>(), "after 15 steps, expected at most 13.6"));
  a = ask("plan balance --speeds 1,1,1,1 --load 1:1 --stay 0,1,2,3 --weighted --grid 1x4 --n 7000");
  EXPECT_EQ(a["action"], "rebalance");
  EXPECT_EQ(a["then"]["cols"], Json({2000, 1000, 2000, 2000}));
  EXPECT_EQ(ask("plan balance --speeds 1,1,1 --grid 1x3 --asleep 1 --n 6000")["comes"], Json({3}));
  EXPECT_EQ(ask("plan balance --speeds 0.2,1,1,1 --stay 0 --n 6000")["action"], "stay");
  // the same from a file; an option overrides it
  const std::string file = testing::TempDir() + "balance_" + std::to_string(getpid()) + ".json";
  FILE* out = std::fopen(file.c_str(), "w");
  std::fputs(R"({"grid": "1x3", "n": 6000, "processes": [{"may_leave": false}, {}, {},
               {"asleep": true, "away_s": 5, "calm_s": 5}]})",
             out);
  std::fclose(out);
  EXPECT_EQ(ask("plan balance --file " + file)["action"], "stay"); // not calm for 10 s
  EXPECT_EQ(ask("plan balance --speeds 1,1,0.1 --file " + file)["action"], "remove");
  std::remove(file.c_str());
  for (const auto& [arguments, words] :
       {std::pair<std::string, std::string>{"--speeds 1,0 --n 5", "speed of process 1 is 0"},
        {"--speeds 1,nan --n 5", "speed of process 1 is nan"},
        {"--speeds 1,-1 --n 5", "speed of process 1 is -1"},
        {"--n 5", "no process is given"},
        {"--speeds 1,1", "no matrix is given"},
        {"--speeds 1,1 --n 9 --load x", "process:competitors"},
        {"--speeds 1,1 --n 9 --stay 4", "a process 0 .. 1"},
        {"--speeds 1,1,1 --grid 2x2 --n 9", "1 of the 4 places of a 2x2 grid have no process"},
        {"--file /nowhere", "cannot be read"},
        {"job --speeds 1,1", "got job job and --speeds"},
        {"job --steps-left 9 --json", "got job job and --steps-left"}}) {
    const Answer answer = run("plan balance " + arguments);
    EXPECT_EQ(answer.status, 2) << arguments;
    EXPECT_TRUE(says(answer.err, words));
  }
}

TEST(Command, Phases) {
  const std::string file = testing::TempDir() + "phases_" + std::to_string(getpid()) + ".json";
  std::ofstream(file)
      << R"({"matrices": [{"name": "x", "layouts": [{"name": "B"}, {"name": "V"}], "moves": [[0, 4], [4, 0]],
      "copy_bytes": 10}],
    "phases": [{"name": "uniform", "uses": {"x": "read"}, "candidates":
        [{"layouts": {"x": "B"}, "seconds": 5}, {"layouts": {"x": "V"}, "seconds": [7, 3]}]},
      {"name": "adaptive", "uses": {"x": "read"}, "candidates":
        [{"layouts": {"x": "B"}, "seconds": [12, 2]}, {"layouts": {"x": "V"}, "seconds": 5}]}]})";
  Json a = ask("plan phases " + file);
  EXPECT_EQ(a["cycle_s"], 10); // one copy, and both stay valid
  EXPECT_EQ(a["period"], 1);
  EXPECT_EQ(a["steps"][1]["copied_from"]["x"], "B");
  EXPECT_EQ(a["steps"][3]["copied_from"], Json::object());
  a = ask("plan phases --cycles 3 " + file);
  EXPECT_EQ(a["seconds"], 34);
  EXPECT_EQ(a["steps"].size(), 6U);
  std::ofstream(file)
      << R"({"matrices": [{"name": "x", "m": 1000, "n": 1000, "layouts": [{"grid": "4x1"}, {"grid": "2x2",
      "mb": 8, "nb": 8}]}], "phases": [{"uses": {"x": "read_write"}, "candidates": [{"layouts": {"x": "2x2"},
      "seconds": [1, 1, 1, 1]}]}]})";
  a = ask("plan phases --cycles 2 " + file);
  EXPECT_GT(a["steps"][0]["move_s"].get<double>(), 0); // as redist predicts
  EXPECT_EQ(a["steps"][1]["move_s"], 0);
  std::remove(file.c_str());
}

TEST(Command, WhatCannotBeDoneIsStatus1) {
  const std::string file = testing::TempDir() + "dyngrid_layouts.json";
  Json matrix{{"name", "x"}, {"copy_bytes", 10}};
  for (int k = 0; k < 65; ++k) {
    matrix["layouts"].push_back({{"name", "layout" + std::to_string(k)}});
    matrix["moves"].push_back(std::vector<double>(65, 1.0));
  }
  const Json candidate{{"layouts", {{"x", "layout0"}}}, {"seconds", 1}};
  const Json phase{{"name", "one"}, {"uses", {{"x", "read"}}}, {"candidates", Json::array({candidate})}};
  std::ofstream(file) << base::json_text({{"matrices", Json::array({matrix})}, {"phases", Json::array({phase})}});
  const Answer answer = run("plan phases " + file);
  EXPECT_EQ(answer.status, 1) << answer.err;
  EXPECT_TRUE(says(answer.err, "at most 64 can be planned"));
  std::remove(file.c_str());
}

TEST(Command, LoadSelfTest) {
  const Json a = ask("load --self-test --seconds 0.05");
  EXPECT_GT(a.at("share").get<double>(), 0);
  EXPECT_LE(a.at("share").get<double>(), 1);
  EXPECT_TRUE(a.at("source") == "schedstat" || a.at("source") == "clock" || a.at("source") == "competitors");
  EXPECT_EQ(run("load no-such-job").status, 1);
}

TEST(Command, ResizeRefusesWhatItsFormCannotUse) {
  for (const auto& [arguments, words] :
       {std::pair<const char*, const char*>{"5", "expected a grid, e.g. 3x3, or a number"},
        {"+0", "expected a grid, e.g. 3x3, or a number"},
        {"3by3", "expected a grid"},
        {"+99999999999999999999", "too many"},
        {"-4 --hosts a:1", "--hosts is for more processes, e.g. +5, got -4"},
        {"3x3 --tpp 2", "--tpp is for more processes"},
        {"3x3 --ask", "--ask is for more processes"},
        {"+4 --without 2", "--without is for a grid, e.g. 3x3, got +4"},
        {"-4 --force", "--force is for a grid or more processes"},
        {"-4 --no-undo", "--no-undo is for a grid or more processes"},
        {"-4 --form best", "--form is for a grid or more processes"},
        {"+4 --form best", "--hosts, which is missing"},
        {"+4 --form local --tpp 2", "--hosts, which is missing"},
        {"+4 --ask --force", "--ask changes nothing"},
        {"+4 --ask --wait", "--ask changes nothing"},
        {"3x3 --timeout 5", "--timeout is given without --wait"}}) {
    const Answer answer = run(std::string("resize no-such-job ") + arguments);
    EXPECT_EQ(answer.status, 2) << arguments;
    EXPECT_TRUE(says(answer.err, words));
  }
  for (const char* request : {"3x3 --form best --without 2", "3x3 --form local", "+4 --form local",
                              "+4 --form local --ask", "+4 --force", "-4 --wait"})
    EXPECT_EQ(run(std::string("resize no-such-job ") + request).status, 1) << request; // it is not running
}

TEST(Command, MistakesAreOneLineAndStatus2) {
  const std::string cases[] = {"nonsense",
                               "plan",
                               "plan nonsense",
                               "history --calls --predict 2x2",
                               "load --balance always",
                               "load --balance now --self-test",
                               "load --all --self-test",
                               "load --all job",
                               "load --all --balance now",
                               "load --self-test --seconds nan",
                               "plan shapes",
                               "plan shapes --procs 0",
                               "plan shapes --procs -3",
                               "plan shapes --procs x",
                               "plan shapes --procs 4 --from 3x3",
                               "plan shapes --procs 4 --from 3",
                               "plan shapes --procs 4 --aspect-p 0",
                               "plan shapes --procs 4 --valid 5:",
                               "plan shapes --procs 4 --valid 5",
                               "plan shapes --procs 4 --times 2x2",
                               "plan shapes --add 3",
                               "plan shapes --from 3x3 --add 2147483647",
                               "plan shapes --from 3x3 --add 10000000",
                               "run -np 2147483647 --spare 1 -- true",
                               "slurm submit --lead 65536 -- true",
                               "slurm submit --max 100000 --tasks-per-node 100000 -- true",
                               "plan placement --from 2x2",
                               "plan placement --from 0x2 --to 2x2 --m 4 --n 4",
                               "plan placement --from 2x2 --to 2x2x2 --m 4 --n 4",
                               "plan placement --from 2x2 --to 3x3 --m -1 --n 10",
                               "plan placement --from 2x2 --to 3x3 --m 10 --n 10 --mb 0",
                               "plan placement --from 2x2 --to 3x3 --m 10 --n 10 --placement nowhere",
                               "plan placement --from 2x2 --to 3x3 --to 2 --m 10 --n 10",
                               "plan placement --from 2x2 --to 3x3 --m 10 --n 10 --keep-first off",
                               "plan mapping --speeds 1,-2 --grid 1x2 --m 3 --n 4",
                               "plan mapping --speeds 1,nan --grid 1x2 --m 3 --n 4",
                               "plan mapping --speeds 1,1 --grid 1x2 --m 99999999999999999999 --n 4",
                               "plan mapping --speeds 1,1 --grid 1x2 --m 9223372036854775807 --n 4",
                               "plan mapping --speeds 1,,2 --grid 1x2 --m 3 --n 4",
                               "plan mapping --speeds 1,2, --grid 1x2 --m 3 --n 4",
                               "plan mapping --speeds '' --grid 1x2 --m 3 --n 4",
                               "plan mapping --speeds 1,2 --grid 2x2 --m 3 --n 4",
                               "plan mapping --speeds @/no/such/file --grid 1x2 --m 3 --n 4",
                               "plan mapping --speeds 1,2 --grid 1x2 --m 3 --n 4 --bogus",
                               "plan selection --grid '1,2;3' --available 3 --tpp 3 --m 3 --n 3",
                               "plan selection --grid 1,2 --available nan --tpp 3 --m 3 --n 3",
                               "plan selection --grid 1,2 --available '' --tpp 3 --m 3 --n 3",
                               "plan selection --grid 1,2 --available 3 --tpp -3 --m 3 --n 3",
                               "plan selection --grid '' --available 3 --tpp 3 --m 3 --n 3",
                               "plan selection --grid 1,-2 --available 3 --tpp 3 --m 3 --n 3"};
  for (const std::string& arguments : cases) {
    const Answer answer = run(arguments);
    EXPECT_EQ(answer.status, 2) << arguments;
    EXPECT_EQ(answer.out, "") << arguments;
    EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << arguments << ": " << answer.err;
    EXPECT_EQ(answer.err.rfind("dyngrid", 0), 0U) << answer.err;
  }
}
} // namespace
