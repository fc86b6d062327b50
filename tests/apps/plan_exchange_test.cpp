// SPDX-License-Identifier: BSD-3-Clause
// `dyngrid plan exchange` inside the test: parse, run, read the JSON.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "../temporary_folder.hpp"
#include "base/parse_json.hpp"
#include "command_output.hpp"
#include "control/history.hpp"
#include "dyngrid/command.hpp"

namespace {

std::string printed(const std::string& line) {
  return output_of(command::add_plan_exchange, line);
}

TEST(PlanExchange, BlockTwoToThreeByHand) {
  // 6 x 6 doubles in blocks: 3 + 3 on the old grid, 2 + 2 + 2 on the new one. Global placement keeps only
  // what process 0 has at (0,0) and at most a corner elsewhere: the thesis' 5/6 of the elements move.
  const auto result = base::parse_json(
      printed("exchange --from 2x2 --to 3x3 --m 6 --n 6 --placement global --schedule matching --json"));
  EXPECT_EQ(result.at("volume_bytes"), 8 * 30);
  EXPECT_EQ(result.at("kept_bytes"), 8 * 6);
  EXPECT_EQ(result.at("schedule_bytes"), result.at("lower_bound_bytes"));
  EXPECT_EQ(result.at("lower_bound_bytes"), 8 * 9); // processes 2 and 3 give away all they have
  EXPECT_EQ(result.at("grid").size(), 3u);
  EXPECT_GT(result.at("steps").get<double>(), 0);
  EXPECT_GT(result.at("messages").get<double>(), 0);
  EXPECT_GT(result.at("predicted_seconds").get<double>(), 0.0);
  EXPECT_GE(result.at("plan_seconds").get<double>(), 0.0);
  EXPECT_EQ(result.at("schedule"), "matching");
}

TEST(PlanExchange, OptimalMovesLess) {
  const auto moved = [](const char* placement) {
    return base::parse_json(printed(std::string("exchange --from 2x2 --to 3x3 --m 600 --n 600 --json --placement ") +
                                    placement))["volume_bytes"]
        .get<std::int64_t>();
  };
  EXPECT_EQ(moved("local1"), 8 * 600 * 600 * 3 / 4);
  EXPECT_EQ(moved("local2"), 8 * 600 * 600 * 5 / 9);
  EXPECT_LE(moved("optimal"), moved("local2"));
}

TEST(PlanExchange, WholeMachine) {
  const auto result =
      base::parse_json(printed("exchange --from 64x64 --to 96x96 --m 1000000 --n 1000000 --mb 64 --nb 64 "
                               "--placement global --schedule circulant --json"));
  EXPECT_EQ(result.at("steps"), 9);
  EXPECT_EQ(result.at("volume_bytes").get<std::int64_t>() + result.at("kept_bytes").get<std::int64_t>(), 8000000000000);
}

TEST(PlanExchange, PredictsWithTheMachineThatWasMeasured) {
  const auto predicted = [](const std::string& options) {
    return base::parse_json(
               printed("exchange --from 2x2 --to 3x3 --m 600 --n 600 --schedule matching --json" + options))
        .at("predicted_seconds")
        .get<double>();
  };
  setenv("DYNGRID_HISTORY", "off", 1); // as all tests have it
  const double usual = predicted(""), as_measured = predicted(" --latency 2 --bandwidth 1e3 --pack-rate 3e3"),
               quicker = predicted(" --latency 1 --bandwidth 1e3 --pack-rate 3e3");
  const TemporaryFolder folder;
  const std::string file = folder.path + "/history.jsonl";
  advise::Machine machine;
  machine.latency_s = 2, machine.bandwidth_bytes_per_s = 1e3, machine.pack_bytes_per_s = 3e3;
  machine.cores = 1; // of another run: not counted
  ASSERT_TRUE(control::append_machine(file, {"app", "600", control::machine_name()}, machine));
  setenv("DYNGRID_HISTORY", file.c_str(), 1);
  EXPECT_DOUBLE_EQ(predicted(""), as_measured);
  EXPECT_DOUBLE_EQ(predicted(" --latency 1"), quicker); // what is given counts
  setenv("DYNGRID_HISTORY", "off", 1);
  EXPECT_DOUBLE_EQ(predicted(""), usual);
  EXPECT_LT(usual, quicker);
  EXPECT_LT(quicker, as_measured);
}

TEST(PlanExchange, TextAndComparison) {
  const std::string text = printed("exchange --from 2x2 --to 3x3 --m 400 --n 300 --mb 32 --nb 16 --to-nb 8 --compare");
  for (const char* word : {"2x2", "3x3", "caterpillar", "circulant", "matching", "async", "predicted"})
    EXPECT_TRUE(says(text, word));
}

TEST(PlanExchange, WrongArguments) {
  for (const char* line :
       {"exchange --from 2x2 --to 3x3 --m 6", "exchange --from 2by2 --to 3x3 --m 6 --n 6",
        "exchange --from 0x2 --to 3x3 --m 6 --n 6", "exchange --from 2x2 --to 3x3 --m -6 --n 6",
        "exchange --from 2x2 --to 3x3 --m 6 --n 6 --mb 0",
        "exchange --from 2x2 --to 3x3 --m 6 --n 6 --placement nowhere", "exchange --from 2x2x2 --to 3x3 --m 6 --n 6"})
    EXPECT_ANY_THROW(printed(line)) << line;
  EXPECT_THROW(printed("exchange --from 2x2 --to 3x3 --m 6 --n 6 --schedule slow"), base::Error);
}

} // namespace
