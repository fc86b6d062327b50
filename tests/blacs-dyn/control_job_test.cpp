// SPDX-License-Identifier: BSD-3-Clause
// The protocol of a job (docs/protocol.md) over its socket; the test plays the application.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "../errors.hpp"
#include "../temporary_folder.hpp"
#include "base/parse_json.hpp"
#include "control/client.hpp"
#include "control/history_json.hpp"
#include "control/job_server.hpp"
#include "control/job_state.hpp"
#include "control/runtime_dir.hpp"

namespace {

using base::Error;
using base::Status;
using control::Client;
using control::Json;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

control::JobInfo info() {
  control::JobInfo i;
  i.job = "played";
  i.app = "app";
  i.pid = getpid();
  return i;
}

class RunningJob : public testing::Test {
protected:
  RunningJob() {
    setenv("DYNGRID_RUNTIME_DIR", directory_.c_str(), 1);
    state_.emplace(info(), base::GridShape{2, 2}, now());
    server_ = std::make_unique<control::JobServer>(*state_, directory_, [this] {
      if (fails_) throw std::runtime_error("no memory");
      return now();
    });
  }
  ~RunningJob() override {
    server_.reset();
    unsetenv("DYNGRID_RUNTIME_DIR");
  }

  /// A resize point of the simulated application: the request is carried out, or fails.
  bool resize_point(bool works = true) {
    state_->step_ended(now());
    bool changed = false;
    if (state_->is_pending())
      if (auto wanted = state_->want(now())) {
        control::ChangeReport r;
        r.cost.from = grid_;
        r.cost.to = wanted->to;
        r.total_s = 0.25;
        if (works)
          wanted->done(r, 0, now());
        else
          wanted->refused(Status::no_slots, "no slots left");
        if (works) grid_ = wanted->to;
        changed = works;
      }
    state_->step_begins(now());
    return changed;
  }
  /// Resize points until the request has been handled.
  void run_until_changed(bool works = true) {
    while (!state_->is_pending()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    resize_point(works);
  }

  const TemporaryFolder folder_;
  const std::string directory_ = folder_.path;
  std::atomic<bool> fails_{false}; ///< the listener's thread
  base::GridShape grid_{2, 2};
  std::optional<control::JobState> state_;
  std::unique_ptr<control::JobServer> server_;
};

Json next_event(Client& client) {
  for (;;) {
    const auto line = client.next(10);
    if (!line) return {{"event", "nothing came"}};
    if (line->contains("event")) return *line;
  }
}

} // namespace

TEST_F(RunningJob, Status) {
  Client client = Client::to_job("played");
  const Json s = client.call("status", {});
  EXPECT_EQ(s.at("job"), "played");
  EXPECT_EQ(s.at("pid"), getpid());
  EXPECT_EQ(s.at("protocol"), 1);
  EXPECT_EQ(s.at("grid"), Json({2, 2}));
  EXPECT_EQ(s.at("pending"), nullptr);
  EXPECT_EQ(s.at("last_resize"), nullptr);
  EXPECT_GT(s.at("rss_bytes").get<double>(), 0);
}

TEST_F(RunningJob, StatusShowsTheRequestThatIsUnderWay) {
  Client client = Client::to_job("played");
  const auto number_of = [&](const char* member) {
    const Json there = client.call("status", {}).at(member);
    return there.is_object() ? there.at("request") : there;
  };
  EXPECT_EQ(number_of("under_way"), nullptr);
  const Json number = client.call("resize", {{"grid", {3, 3}}}).at("request");
  auto wanted = state_->want(now());
  ASSERT_TRUE(wanted);
  EXPECT_EQ(number_of("pending"), nullptr);
  EXPECT_EQ(number_of("under_way"), number);
  EXPECT_EQ(client.call("cancel", {{"request", number}})["cancelled"], nullptr);
  wanted->put_off();
  EXPECT_EQ(number_of("pending"), number);
  EXPECT_EQ(number_of("under_way"), nullptr);
  wanted = state_->want(now());
  wanted->refused(Status::no_slots, "no slots left");
  EXPECT_EQ(number_of("under_way"), nullptr);
}

TEST_F(RunningJob, MistakesAreToldAndHarmless) {
  Client client = Client::to_job("played");
  EXPECT_EQ(status_of([&] { client.call("dance", {}); }), Status::bad_argument);
  EXPECT_EQ(status_of([&] { client.call("resize", {{"grid", {0, 3}}}); }), Status::bad_argument);
  EXPECT_EQ(status_of([&] {
              client.call("resize", {{"grid", {3, 3}}, {"placement", "nowhere"}});
            }),
            Status::bad_argument);
  EXPECT_EQ(status_of([&] { client.call("grow", {}); }), Status::bad_argument);
  EXPECT_EQ(status_of([&] { client.call("grow", {{"by", -1}}); }), Status::bad_argument);
  EXPECT_EQ(status_of([&] { client.call("shrink", {{"by", 1}, {"deadline_s", 0}}); }), Status::bad_argument);
  EXPECT_EQ(status_of([&] { client.call("offer", {{"procs", "five"}}); }), Status::bad_argument);
  EXPECT_EQ(status_of([&] { client.call("ready", {{"payload", 3}}); }), Status::bad_argument);
  EXPECT_EQ(status_of([&] { client.call("cancel", {{"request", "all"}}); }), Status::bad_argument);
  EXPECT_FALSE(state_->is_pending());
  EXPECT_EQ(client.call("status", {})["grid"], Json({2, 2}));
}

TEST_F(RunningJob, WaitingForTheOutcome) {
  Client client = Client::to_job("played");
  const auto id = client.send("resize", {{"grid", {3, 3}}, {"wait", true}});
  run_until_changed();
  const auto answer = client.next(10);
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer).at("id"), id);
  EXPECT_EQ((*answer).at("accepted"), true);
  EXPECT_EQ((*answer).at("outcome"), "done");
  EXPECT_EQ((*answer).at("report").at("total_s"), 0.25);
  EXPECT_EQ(client.call("status", {})["grid"], Json({3, 3}));

  client.send("grow", {{"by", 3}, {"wait", true}});
  run_until_changed(false);
  const auto failed = client.next(10);
  ASSERT_TRUE(failed);
  EXPECT_EQ((*failed).at("outcome"), "failed");
  EXPECT_EQ((*failed).at("status"), static_cast<int>(Status::no_slots));
  EXPECT_EQ((*failed).at("reason"), "no slots left");

  const Json declined = client.call("shrink", {{"by", 9}, {"wait", true}}); // answered at once
  EXPECT_EQ(declined.at("accepted"), false);
  EXPECT_EQ(declined.at("outcome"), "declined");
}

TEST_F(RunningJob, ARequestReplacesAnotherAndBothAreTold) {
  Client first = Client::to_job("played"), second = Client::to_job("played");
  first.send("resize", {{"grid", {3, 3}}, {"wait", true}});
  while (!state_->is_pending()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  second.send("resize", {{"grid", {2, 3}}, {"wait", true}});
  const auto told = first.next(10);
  ASSERT_TRUE(told);
  EXPECT_EQ((*told).at("outcome"), "superseded");
  EXPECT_EQ((*told).at("by"), 2);
  EXPECT_EQ(first.call("cancel", {{"request", 2}})["cancelled"], 2);
  EXPECT_EQ((*second.next(10))["outcome"], "cancelled");
  EXPECT_FALSE(resize_point());
}

TEST_F(RunningJob, ARequestWithAMistakeIsNotQueued) {
  Client client = Client::to_job("played");
  EXPECT_EQ(status_of([&] { client.call("grow", {{"by", 5}, {"wait", "yes"}}); }), Status::bad_argument);
  EXPECT_FALSE(state_->is_pending());
  EXPECT_EQ(client.call("status", {})["pending"], nullptr);
  EXPECT_EQ(status_of([&] { client.call("checkpoint", {{"stop", "yes"}}); }), Status::bad_argument);
  EXPECT_EQ(status_of([&] { client.call("balance", {{"now", "yes"}}); }), Status::bad_argument);
  EXPECT_FALSE(state_->board.has_question());
}

TEST_F(RunningJob, EveryOutcomeIsSentAtOnce) {
  const auto until_it_sleeps = [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };
  constexpr double soon_s = 5; // it sleeps for 30 s
  Client first = Client::to_job("played"), second = Client::to_job("played");
  first.send("resize", {{"grid", {3, 3}}, {"wait", true}});
  while (!state_->is_pending()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  auto older = state_->want(now());
  ASSERT_TRUE(older);
  EXPECT_EQ(second.call("shrink", {{"by", 3}})["accepted"], true);
  until_it_sleeps();
  older->put_off();
  auto answer = first.next(soon_s);
  ASSERT_TRUE(answer) << "superseded";
  EXPECT_EQ((*answer)["outcome"], "superseded");

  first.send("shrink", {{"by", 3}, {"wait", true}});
  while (first.call("status", {})["pending"]["request"] != 3) continue;
  control::ChangeReport report;
  report.cost.from = {2, 2};
  report.cost.to = {1, 2};
  state_->changed(report, 0, now());
  until_it_sleeps();
  EXPECT_FALSE(state_->want(now()));
  answer = first.next(soon_s);
  ASSERT_TRUE(answer) << "declined";
  EXPECT_EQ((*answer)["outcome"], "declined");
}

TEST_F(RunningJob, NobodyWaitsForAListenerThatHasEnded) {
  Client client = Client::to_job("played");
  client.call("status", {});
  std::atomic<bool> is_answered{false};
  std::thread asks([&] {
    EXPECT_FALSE(state_->ask("3x3", true, -1));
    is_answered = true;
  });
  while (client.call("status", {})["asks"].is_null()) continue;
  testing::internal::CaptureStderr();
  fails_ = true;
  state_->wake();
  for (int i = 0; i < 1000 && !is_answered; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(says(said, "the job's socket is closed: no memory"));
  EXPECT_TRUE(is_answered);
  if (!is_answered) state_->answers_no_more();
  asks.join();
  EXPECT_FALSE(state_->ask("3x3", true, -1)) << "nor does the next request";
  EXPECT_NE(access((directory_ + "/job-played.sock").c_str(), F_OK), 0);
  EXPECT_EQ(status_of([&] { client.call("status", {}); }), Status::io_failure);
  EXPECT_EQ(status_of([] { Client::to_job("played"); }), Status::not_found);
  fails_ = false;
}

TEST_F(RunningJob, AnotherProblemWhileAClientAsks) { // a race, for a sanitizer of threads
  for (int i = 0; i < 4; ++i) resize_point();
  Client client = Client::to_job("played");
  std::atomic<bool> is_over{false};
  std::thread asks([&] {
    while (!is_over) client.call("resize", {{"grid", {3, 3}}});
  });
  for (int i = 0; i < 300; ++i) {
    state_->set_matrices({"d" + std::to_string(i % 2), 8, {}});
    resize_point(false);
  }
  is_over = true;
  asks.join();
}

TEST_F(RunningJob, DeadlinesPassWithoutAResizePoint) {
  Client client = Client::to_job("played");
  client.send("grow", {{"by", 5}, {"deadline_s", 0.05}, {"wait", true}});
  EXPECT_EQ((*client.next(10))["outcome"], "expired");
  client.call("watch", {});
  client.call("shrink", {{"by", 2}, {"deadline_s", 0.05}});
  EXPECT_EQ(next_event(client)["event"], "request");
  EXPECT_EQ(next_event(client)["event"], "late");
  EXPECT_TRUE(resize_point());
  EXPECT_EQ(grid_.size(), 2);
}

TEST_F(RunningJob, WatchersSeeStepsChangesAndTheEnd) {
  Client all = Client::to_job("played"), few = Client::to_job("played");
  EXPECT_EQ(all.call("watch", {})["watching"], true);
  few.call("watch", {{"steps", false}});
  // a step that ends while the listener's thread has the lock is reported with the next one
  const auto until_a_step = [&] {
    std::optional<Json> line;
    for (int points = 0; points < 1000 && !line; ++points) {
      resize_point();
      line = all.next(0.5);
    }
    return line ? line->value("event", "") : "nothing came";
  };
  EXPECT_EQ(until_a_step(), "step");
  few.send("resize", {{"grid", {3, 3}}});
  run_until_changed();
  std::string seen; // no steps: how many come in between is the matter of the two threads
  for (std::string event; event != "outcome" && event != "nothing came";) {
    event = next_event(all)["event"].get<std::string>();
    if (event != "step") seen += event + " ";
  }
  EXPECT_EQ(seen, "request resize outcome ");
  EXPECT_EQ(until_a_step(), "step");
  EXPECT_EQ(next_event(few)["event"], "request");
  EXPECT_EQ(next_event(few)["event"], "resize");
  EXPECT_EQ(next_event(few)["event"], "outcome");
  few.send("resize", {{"grid", {4, 4}}, {"wait", true}});
  while (!state_->is_pending()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  server_.reset(); // the application ends
  Json event = next_event(all);
  while (event["event"] == "step") event = next_event(all);
  EXPECT_EQ(event["event"], "request");
  EXPECT_EQ(next_event(all)["event"], "end");
  EXPECT_EQ(status_of([&] { all.next(10); }), Status::io_failure);
  std::string last;
  while (last != "ended" && last != "end") {
    const auto line = few.next(10);
    ASSERT_TRUE(line);
    if (line->contains("outcome") && line->contains("id")) last = (*line).at("outcome").get<std::string>();
  }
  EXPECT_EQ(last, "ended");
}

TEST_F(RunningJob, ReadyIsNoOperation) {
  Client client = Client::to_job("played");
  EXPECT_EQ(status_of([&] { client.call("ready", {{"payload", {{"port", "a:1"}}}}); }), Status::bad_argument);
  EXPECT_EQ(client.call("status", {})["grid"], Json({2, 2}));
}

TEST_F(RunningJob, LoadsAreShownAndWantedForAWhile) {
  Client client = Client::to_job("played");
  EXPECT_FALSE(state_->board.is_requested(now()));
  Json answer = client.call("load", {});
  EXPECT_TRUE(answer["loads"].empty());
  EXPECT_TRUE(answer["age_s"].is_null());
  EXPECT_EQ(answer["mode"], "off");
  EXPECT_TRUE(state_->board.is_requested(now()));
  EXPECT_FALSE(state_->board.is_requested(now() + 10));

  advise::ProcessLoad load;
  load.process = 3;
  load.place = 1;
  load.samples = 7;
  load.share = 0.25;
  advise::ProcessLoad sleeper;
  sleeper.process = 4;
  state_->board.set_mode(control::BalanceMode::advise);
  state_->board.show({load, sleeper}, now());
  answer = client.call("load", {});
  EXPECT_EQ(answer["mode"], "advise");
  EXPECT_GE(answer["age_s"].get<double>(), 0);
  ASSERT_EQ(answer["loads"].size(), 2U);
  EXPECT_EQ(answer["loads"][0]["process"], 3);
  EXPECT_EQ(answer["loads"][0]["share"], 0.25);
  EXPECT_TRUE(answer["loads"][0]["competing"].is_null());
  EXPECT_TRUE(answer["loads"][1]["place"].is_null());
  EXPECT_TRUE(answer["loads"][1]["share"].is_null());
}

TEST_F(RunningJob, CallsAreTold) {
  control::JobState other(control::JobInfo{}, {2, 2}, 0);
  EXPECT_EQ(other.calls()["on"], false);
  EXPECT_TRUE(other.calls()["calls"].empty());
  control::CallsBoard board;
  other.show_calls(board);
  board.begin(false);
  board.add({"pdgetrf", "9x9", 1, {{"2x2/64", 1}}, 0.5, 2, 1, 1296});
  board.add({"pdgetrf", "9x9", 1, {{"-", 1}}, 1.5, 0, 0, 0});
  board.add({"pdgemm", "9x9x9", 1, {{"-", 1}}, 4, 4, 1, 0});
  board.left_alone();
  const Json calls = other.calls();
  EXPECT_EQ(calls.at("on"), true);
  EXPECT_EQ(calls.at("other_contexts"), 1);
  ASSERT_EQ(calls.at("calls").size(), 2U);
  EXPECT_EQ(calls.at("calls")[0].at("routine"), "pdgemm"); // took longest
  EXPECT_EQ(calls.at("calls")[1].at("places"), Json({{"-", 1}, {"2x2/64", 1}}));
  EXPECT_EQ(calls.at("calls")[1].at("seconds"), 2.0);
  EXPECT_EQ(calls.at("calls")[1].at("known"), 1);
  EXPECT_EQ(calls.at("calls")[1].at("moved_bytes"), 1296.0);
  for (int k = 0; k < 500; ++k) board.add({"pdgemm", std::to_string(k), 1, {{"-", 1}}, 1, 1, 1, 0});
  EXPECT_EQ(other.calls()["calls"].size(), 400U);
  EXPECT_EQ(other.calls()["left_out"], 102);
  EXPECT_EQ(Client::to_job("played").call("calls", {})["on"], false);
}

TEST_F(RunningJob, ABalanceIsAnsweredAtAResizePoint) {
  Client client = Client::to_job("played"), other = Client::to_job("played");
  EXPECT_THROW(client.call("balance", {{"mode", "on"}}), Error);
  const auto first = client.send("balance", {{"mode", "auto"}});
  while (!state_->board.has_question()) std::this_thread::yield();
  const auto second = other.send("balance", {{"now", true}}); // and replaces the first, except for its mode
  std::optional<Json> superseded = client.next(10);
  ASSERT_TRUE(superseded);
  EXPECT_EQ((*superseded)["id"], first);
  EXPECT_EQ((*superseded)["outcome"], "superseded");
  const auto question = state_->board.take_question();
  ASSERT_TRUE(question);
  EXPECT_TRUE(question->now);
  EXPECT_EQ(question->mode, control::BalanceMode::automatic);
  EXPECT_FALSE(state_->board.has_question());
  state_->board.answer(*question, {{"outcome", "advised"}, {"balance", {{"action", "stay"}}}});
  state_->wake();
  const std::optional<Json> answer = other.next(10);
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer).at("id"), second);
  EXPECT_EQ((*answer).at("outcome"), "advised");
  EXPECT_EQ((*answer).at("balance").at("action"), "stay");
}

TEST_F(RunningJob, ACheckpointIsAnsweredAtAResizePoint) {
  Client client = Client::to_job("played");
  EXPECT_EQ(client.call("checkpoint", {})["outcome"], "declined") << "no file";
  server_.reset();
  state_.reset();
  control::JobInfo with_file = info();
  with_file.checkpoint_file = "state.h5";
  with_file.checkpoint_signal = "TERM";
  state_.emplace(with_file, base::GridShape{2, 2}, now());
  server_ = std::make_unique<control::JobServer>(*state_, directory_, now);
  client = Client::to_job("played");
  EXPECT_FALSE(state_->requested_checkpoint());
  EXPECT_TRUE(says(client.call("checkpoint", {{"signal", "USR1"}})["reason"].get<std::string>(), "SIGUSR1"));
  const auto taken = [&] {
    while (!state_->requested_checkpoint()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return *state_->take_checkpoint();
  };
  client.send("checkpoint", {});
  const control::CheckpointRequest plain = taken();
  EXPECT_FALSE(plain.ends);
  EXPECT_FALSE(state_->requested_checkpoint());
  state_->checkpointed(plain, "/folder/state.h5", "");
  auto answer = client.next(10);
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer)["outcome"], "done");
  EXPECT_EQ((*answer)["file"], "/folder/state.h5");
  client.send("checkpoint", {{"signal", "TERM"}});
  const control::CheckpointRequest last = taken();
  EXPECT_TRUE(last.ends);
  state_->checkpointed(last, "", "the disk is full");
  answer = client.next(10);
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer)["outcome"], "failed");
  EXPECT_EQ((*answer)["reason"], "the disk is full");
}

TEST_F(RunningJob, OffersBindNobody) {
  Client client = Client::to_job("played");
  const Json yes = client.call("offer", {{"procs", 5}});
  EXPECT_EQ(yes.at("accepted"), true);
  EXPECT_EQ(yes.at("grid"), Json({3, 3}));
  EXPECT_EQ(yes.at("used"), 5);
  EXPECT_FALSE(state_->is_pending());
  state_->set_allowed(advise::Allowed::parse("4,16"));
  const Json no = client.call("offer", {{"procs", 5}});
  EXPECT_EQ(no.at("accepted"), false);
  EXPECT_TRUE(says(no.at("reason").get<std::string>(), "no allowed grid has 5 to 9 processes"));
}

TEST_F(RunningJob, OfManyChangesTheLastAreKeptAndTheHistoryComesInPages) {
  constexpr int changes = 5000;
  control::ChangeReport r;
  r.cost.exchange_s = 0.5;
  r.cost.spawned = 1;
  control::BalanceReport balance;
  balance.why = std::string(300, 'w');
  for (int i = 0; i < changes; ++i) {
    r.cost.from = grid_;
    r.cost.to = {2, i % 2 + 2};
    r.cost.changed_at_step = i;
    grid_ = r.cost.to;
    state_->changed(r, 0, now());
    balance.number = i + 1;
    state_->balanced(balance);
    state_->phase_took({{2, 2}, "phase " + std::to_string(i % 400), "", "A 24x24"}, 0.1);
  }
  Client client = Client::to_job("played");
  const Json first = client.call("history", {});
  EXPECT_LT(control::to_line(first).size(), 300'000u);
  EXPECT_TRUE(first.at("next").is_number_integer()) << "one page is not enough";
  const Json all = control::whole_history(client);
  const control::History history = control::history_from(all);
  ASSERT_EQ(history.changes.size(), 400u);
  for (std::size_t i = 0; i < 400; ++i)
    EXPECT_EQ(history.changes[i].changed_at_step, changes - 400 + static_cast<int>(i));
  EXPECT_EQ(history.spawns.size(), 400u);
  ASSERT_EQ(history.balances.size(), 400u);
  EXPECT_EQ(history.balances.front().number, changes - 399);
  EXPECT_EQ(history.phases.size(), 400u);
  EXPECT_EQ(history.totals.count, changes);
  EXPECT_DOUBLE_EQ(history.totals.exchange_s, 0.5 * changes);
  EXPECT_EQ(client.call("history", {{"from", 100000}})["resizes"].size(), 0u);
  EXPECT_EQ(status_of([&] { client.call("history", {{"from", -1}}); }), Status::bad_argument);
}

TEST(Events, AnOutcomeIsNeverDropped) {
  control::EventLog log;
  for (int i = 0; i < 1500; ++i) log.add(0, {{"event", "waiting"}, {"warm", i}});
  log.add(0, {{"event", "outcome"}, {"request", 7}, {"outcome", "done"}});
  const std::vector<Json> told = log.take();
  ASSERT_EQ(told.size(), 1002u);
  EXPECT_EQ(told[1000].at("request"), 7);
  EXPECT_EQ(told[1001], Json({{"event", "skipped"}, {"events", 500}, {"of", "others"}}));
  EXPECT_TRUE(log.take().empty());
}

TEST(Events, StandBetweenTheStepsWhereTheyWerePosted) {
  control::EventLog log;
  log.want_steps(true);
  log.step(0, {2, 2}, 0.1, 1);
  log.add(1, {{"event", "request"}});
  log.step(1, {2, 2}, 0.1, 2);
  log.add(2, {{"event", "resize"}});
  log.add(2, {{"event", "outcome"}});
  log.step(2, {3, 3}, 0.1, 3);
  std::string told;
  for (const Json& event : log.take()) told += event.at("event").get<std::string>() + " ";
  EXPECT_EQ(told, "step request step resize outcome step ");
}

TEST_F(RunningJob, TheApplicationIsNeverHeldUp) {
  // clients that watch, send requests and never read; the application continues its steps meanwhile
  std::vector<Client> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(Client::to_job("played"));
    clients.back().send("watch", {});
    for (int k = 0; k < 200; ++k) clients.back().send("history", {});
  }
  double longest = 0;
  for (int i = 0; i < 2000; ++i) {
    const double begun = now();
    resize_point();
    longest = std::max(longest, now() - begun);
    if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  constexpr double patience_s = 60; // ten thousand requests come before its own
  Client client = Client::to_job("played", patience_s);
  // some steps wait to be counted until a resize point finds the listener idle; none is lost
  int counted = 0;
  for (int more = 0; more < 1000 && counted < 2000; ++more) {
    resize_point();
    counted = client.call("status", {}, patience_s)["step"].get<int>();
  }
  EXPECT_GE(counted, 2000);
  RecordProperty("longest_resize_point_us", static_cast<int>(longest * 1e6));
}

TEST_F(RunningJob, AForkOfTheApplicationMayEnd) {
  const pid_t child = fork();
  if (child == 0) {
    server_.reset(); // as its static objects would
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  Client client = Client::to_job("played");
  EXPECT_EQ(client.call("status", {})["job"], "played");
}
