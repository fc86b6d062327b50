// SPDX-License-Identifier: BSD-3-Clause
// The answers of mpirun that are distinguished.
#include "processes/launchers/answers.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace {

using blacs_dyn::pmix::Answers;
using namespace std::chrono_literals;

constexpr auto never = 1h; ///< longer than any test waits
constexpr auto moment = 5ms;
constexpr int one = 1, two = 2, three = 3; ///< that ask

/// An answer that arrives while a thread waits for it.
class Later {
public:
  Later(Answers& answers, Answers::Kind kind)
      : thread_([this, &answers, kind] {
          std::this_thread::sleep_for(moment);
          has_come = true;
          answers.have_come(kind);
        }) {}
  ~Later() { thread_.join(); }
  std::atomic<bool> has_come{false};

private:
  std::thread thread_;
};

TEST(Answers, OneQuestionIsAskedAtATime) {
  Answers answers(never);
  EXPECT_TRUE(answers.may_ask(&one));
  answers.expect(Answers::question);
  EXPECT_FALSE(answers.may_ask(&one));
  answers.have_come(Answers::question);
  EXPECT_TRUE(answers.may_ask(&one));
}

TEST(Answers, TheFirstThatIsRefusedHasTheNextTurn) {
  Answers answers(never);
  for (const int* asker : {&one, &two, &one}) { // each looks again and again, in the same order
    EXPECT_TRUE(answers.may_ask(asker));
    answers.expect(Answers::question);
    EXPECT_FALSE(answers.may_ask(asker == &one ? &two : &one));
    EXPECT_FALSE(answers.may_ask(&three));
    answers.have_come(Answers::question);
    EXPECT_FALSE(answers.may_ask(asker));
    EXPECT_FALSE(answers.may_ask(&three));
  }
}

TEST(Answers, ATurnIsNotKeptForOneThatHasGone) {
  Answers answers(moment);
  answers.expect(Answers::question);
  EXPECT_FALSE(answers.may_ask(&two));
  answers.have_come(Answers::question);
  std::this_thread::sleep_for(2 * moment);
  EXPECT_TRUE(answers.may_ask(&one));
}

TEST(Answers, NoQuestionBesidesAStartOrAnOrder) {
  for (const Answers::Kind kind : {Answers::start, Answers::order}) {
    Answers answers(never);
    answers.expect(kind);
    answers.expect(kind);
    EXPECT_FALSE(answers.may_ask(&one));
    answers.have_come(kind);
    EXPECT_FALSE(answers.may_ask(&one));
    answers.have_come(kind);
    EXPECT_TRUE(answers.may_ask(&one));
  }
}

TEST(Answers, AnAnswerThatNeverComesIsGivenUp) {
  for (const Answers::Kind kind : {Answers::start, Answers::order, Answers::question}) {
    Answers answers(moment);
    answers.expect(kind);
    std::this_thread::sleep_for(2 * moment);
    EXPECT_TRUE(answers.may_ask(&one));
    answers.settle(); // returns
  }
}

TEST(Answers, SettledWhenQuestionsAndOrdersAreAnswered) {
  for (const Answers::Kind kind : {Answers::question, Answers::order}) {
    Answers answers(never);
    answers.expect(kind);
    Later answer(answers, kind);
    answers.settle();
    EXPECT_TRUE(answer.has_come);
  }
}

TEST(Answers, StartsAreNotWaitedFor) {
  Answers answers(never);
  answers.expect(Answers::start);
  answers.settle(); // returns
  EXPECT_FALSE(answers.may_ask(&one));
}

} // namespace
