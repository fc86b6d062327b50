// SPDX-License-Identifier: BSD-3-Clause
// What libdyngrid-calls knows of calls, with calls that only say what they are.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "known.hpp"

namespace {

class FakeHost final : public calls::CallHost {
public:
  control::CallsBoard& board() override { return board_; }
  bool prints_here() const override { return false; }
  void print_once(const std::string&, const std::string&) override {}
  bool is_verbose() const override { return false; }
  void hide() override {}
  std::string job() const override { return ""; }
  std::string program() const override { return ""; }

private:
  control::CallsBoard board_;
};

/// LU on 1x4 in blocks of 4. Its copies are predicted to take one message.
class FakeCall final : public calls::CallInHand {
public:
  FakeCall(std::int64_t n, int* times_measured) : hash_(n), times_measured_(times_measured) {
    problem_.place = {{1, 4}, 4};
    problem_.n = n;
    problem_.work = work_of(n);
    problem_.processes = 4;
  }
  const std::string& routine() const override { return routine_; }
  std::int64_t hash() const override { return hash_; }
  const void* callers() const override { return times_measured_; }
  const calls::CallProblem& problem() override { return problem_; }
  bool lies_at(const calls::CallPlace&) const override { return false; }
  calls::CallAgreement agree(const calls::CallRule&, blacs_dyn::calls::CallTimes&) override {
    return {true, true, true};
  }
  double run_here() override { return 0; }
  std::optional<blacs_dyn::calls::MovedCall> run_at(const calls::CallPlace&) override { return std::nullopt; }
  Measured measure_at(const calls::CallPlace&, std::int64_t n) override {
    return {1e-9 * work_of(n), 2e-9 * work_of(n), work_of(n)};
  }
  advise::Machine measure_machine() const override {
    ++*times_measured_;
    advise::Machine machine;
    machine.latency_s = 0.125;
    return machine;
  }
  double predicted_copies(const calls::CallPlace&, const advise::Machine& machine) const override {
    return machine.latency_s;
  }

private:
  static double work_of(std::int64_t n) { return std::pow(static_cast<double>(n), 3); }

  const std::string routine_ = "pdgetrf";
  std::int64_t hash_;
  int* times_measured_;
  calls::CallProblem problem_;
};

TEST(Known, CopiesArePredictedWithTheMachineThatIsMeasuredOnce) {
  calls::Known known;
  int times_measured = 0;
  for (const std::int64_t n : {10000, 8000, 10000}) { // long enough that places are measured
    FakeCall call(n, &times_measured);
    const auto options = known.options_for(call);
    ASSERT_GT(options.size(), 1u);
    EXPECT_EQ(options[0].copy_s, 0); // it stays
    for (std::size_t k = 1; k < options.size(); ++k) {
      EXPECT_FALSE(std::isnan(options[k].run_s));
      EXPECT_EQ(options[k].copy_s, 0.125);
    }
    EXPECT_EQ(times_measured, 1);
  }
}

TEST(Known, TheMachineIsNotMeasuredForShortCalls) {
  calls::Known known;
  int times_measured = 0;
  FakeCall call(10, &times_measured);
  for (const advise::CallOption& option : known.options_for(call)) EXPECT_EQ(option.copy_s, 0);
  EXPECT_EQ(times_measured, 0);
}

} // namespace

calls::CallHost& calls::host() {
  static FakeHost host;
  return host;
}
