// SPDX-License-Identifier: BSD-3-Clause
// dyngrid-sched as a process: crashes of it and of its jobs, jobs that do not answer, and a real run with
// MPI.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "control/client.hpp"
#include "control/line_server.hpp"
#include "control/protocol.hpp"
#include "gridmap/status.hpp"

namespace {

using Json = nlohmann::json;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class SchedulerTest : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/dgsched-XXXXXX"; // short: a socket's path has 107 characters
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    setenv("DYNGRID_RUNTIME_DIR", (folder_ + "/run").c_str(), 1);
    setenv("DYNGRID_HISTORY", "off", 1);
    std::ofstream fake(folder_ + "/mpirun"); // a job without MPI
    fake << "#!/bin/sh\nwhile [ \"$1\" != -np ]; do shift; done\nshift 2\nexec \"$@\"\n";
    fake.close();
    chmod((folder_ + "/mpirun").c_str(), 0700);
  }
  void TearDown() override {
    if (pid_ > 0) {
      try {
        call("shutdown", {{"cancel", true}});
      } catch (const std::exception&) {
        kill(pid_, SIGKILL);
      }
      collect();
    }
    if (HasFailure())
      std::fprintf(stderr, "journal:\n%s\n%s\n", read_file(folder_ + "/s/journal").c_str(),
                   read_file(folder_ + "/err").c_str());
    else
      std::system(("rm -rf '" + folder_ + "'").c_str());
  }

  void start(std::vector<std::string> options, bool with_mpi = false) {
    std::vector<std::string> words{SCHEDULER, "--folder", folder_ + "/s"};
    words.insert(words.end(), {"--mpirun", with_mpi ? std::string(MPIRUN) : folder_ + "/mpirun", "--mpirun-options=--oversubscribe"});
    words.insert(words.end(), options.begin(), options.end());
    pid_ = fork();
    if (pid_ == 0) {
      std::vector<char*> arguments;
      for (auto& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      const int err = open((folder_ + "/err").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      dup2(err, 1);
      dup2(err, 2);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    until("the scheduler answers", [&] {
      try {
        call("status");
        return true;
      } catch (const gridmap::Error&) {
        return false;
      }
    });
  }
  void crash() {
    kill(pid_, SIGKILL);
    collect();
  }
  int collect() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

  Json call(const std::string& op, const Json& fields = Json::object(), double timeout_s = 20) {
    return control::Client::to_socket(folder_ + "/run/sched.sock").call(op, fields, timeout_s);
  }
  std::int64_t submit(std::vector<std::string> command, Json more = Json::object()) {
    more["command"] = command;
    if (!more.contains("folder")) more["folder"] = folder_;
    return call("submit", more).at("job").get<std::int64_t>();
  }
  Json job(std::int64_t id) {
    const Json queue = call("queue");
    for (const Json& one : queue.at("jobs"))
      if (one.at("job") == id) return one;
    ADD_FAILURE() << "no job " << id;
    return {};
  }
  Json wait(std::int64_t id, double timeout_s = 40) {
    return call("wait", {{"job", id}}, timeout_s).at("job");
  }
  std::string out(std::int64_t id) { return read_file(folder_ + "/s/jobs/" + std::to_string(id) + ".out"); }
  void until(const char* what, const std::function<bool()>& is_so, double timeout_s = 40) {
    const auto begun = std::chrono::steady_clock::now();
    while (!is_so()) {
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() > timeout_s) {
        FAIL() << "waited " << timeout_s << " s until " << what;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
  }

  std::string folder_;
  pid_t pid_ = -1;
};

TEST_F(SchedulerTest, RunsJobsAndSaysHowTheyEnded) {
  start({"--procs", "2", "--policy", "ls"});
  const auto good = submit({"/bin/sh", "-c", "echo \"$DYNGRID_JOB $DYNGRID_ALLOW $WORD\"; pwd"},
                           {{"allow", "2"}, {"variables", {"WORD=hello"}}});
  const auto bad = submit({"/bin/sh", "-c", "exit 3"}, {{"allow", "1"}});
  const auto absent = submit({"/nowhere/program"});
  const auto nowhere = submit({"true"}, {{"folder", "/nowhere"}});
  EXPECT_EQ(wait(good)["status"], "0");
  EXPECT_EQ(out(good), "s1 2 hello\n" + folder_ + "\n");
  EXPECT_EQ(wait(bad)["status"], "3");
  EXPECT_EQ(job(bad)["why"], "failed");
  EXPECT_EQ(wait(absent)["status"], "127");
  EXPECT_EQ(wait(nowhere)["why"], "failed");
  const Json status = call("status");
  EXPECT_EQ(status["ended"], 4);
  EXPECT_EQ(status["free"], 2);
}

TEST_F(SchedulerTest, RefusesWhatItCannotRun) {
  start({"--procs", "4"});
  for (const Json& wrong :
       {Json{{"command", Json::array()}}, Json{{"command", "x"}}, Json{{"command", {"x"}}, {"allow", "5:8"}},
        Json{{"command", {"x"}}, {"allow", "nonsense"}}, Json{{"command", {"x"}}, {"variables", {"novalue"}}},
        Json{{"command", {"x"}}, {"folder", "here"}}, Json{{"command", {"x", 5}}},
        Json{{"command", {"x"}}, {"priority", 1e10}}})
    EXPECT_THROW(call("submit", wrong), gridmap::Error) << wrong;
  EXPECT_THROW(call("cancel", {{"job", 7}}), gridmap::Error);
  EXPECT_THROW(call("what"), gridmap::Error);
  EXPECT_EQ(call("queue")["jobs"].size(), 0u);
}

TEST_F(SchedulerTest, PrioritiesAndCancel) {
  start({"--procs", "1", "--policy", "ls"});
  const auto first = submit({"sleep", "100"}, {{"allow", "1"}});
  const auto low = submit({"echo", "low"}, {{"allow", "1"}});
  const auto high = submit({"echo", "high"}, {{"allow", "1"}, {"priority", 5}});
  const auto never = submit({"echo", "never"}, {{"allow", "1"}});
  EXPECT_EQ(job(first)["phase"], "running");
  EXPECT_EQ(call("cancel", {{"job", never}})["cancelled"], true);
  EXPECT_EQ(wait(never)["why"], "cancelled");
  EXPECT_EQ(call("cancel", {{"job", first}})["cancelled"], true);
  EXPECT_EQ(wait(first)["why"], "cancelled");
  EXPECT_EQ(call("cancel", {{"job", first}})["cancelled"], false);
  const Json after_high = wait(high), after_low = wait(low);
  EXPECT_LT(after_high["started_s"], after_low["started_s"]);
}

TEST_F(SchedulerTest, FindsItsJobsAfterACrash) {
  start({"--procs", "3", "--policy", "ls"});
  const auto ends_meanwhile = submit({"/bin/sh", "-c", "sleep 0.5; exit 5"}, {{"allow", "1"}});
  const auto killed_meanwhile = submit({"sleep", "100"}, {{"allow", "1"}});
  const auto runs_on =
      submit({"/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; echo went"}, {{"allow", "1"}});
  const auto waits = submit({"echo", "waited"}, {{"allow", "3"}});
  until("three run", [&] { return call("status")["running"] == 3; });
  const std::int64_t pid = job(runs_on)["pid"], victim = job(killed_meanwhile)["pid"];
  until("the victim has begun", [&] {
    return access((folder_ + "/s/jobs/" + std::to_string(killed_meanwhile) + ".began").c_str(), F_OK) == 0;
  });
  crash();
  std::ofstream(folder_ + "/s/journal", std::ios::app)
      << "1234abcd submit\t1.0\t9"; // what a crash in the middle of a line leaves
  kill(static_cast<pid_t>(-victim), SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  start({"--procs", "3", "--policy", "ls"});
  EXPECT_EQ(wait(ends_meanwhile)["status"], "5");
  EXPECT_EQ(wait(killed_meanwhile)["why"], "killed");
  EXPECT_EQ(job(runs_on)["phase"], "running");
  EXPECT_EQ(job(runs_on)["pid"], pid);
  EXPECT_EQ(job(waits)["phase"], "waiting");
  std::ofstream(folder_ + "/go") << "go";
  EXPECT_EQ(wait(runs_on)["status"], "0");
  EXPECT_EQ(out(runs_on), "went\n");
  EXPECT_EQ(wait(waits)["status"], "0");
  EXPECT_EQ(call("status")["ended"], 4);
}

TEST_F(SchedulerTest, ASecondOneIsRefused) {
  start({"--procs", "1"});
  const pid_t first = pid_;
  const std::string command = std::string(SCHEDULER) + " --folder " + folder_ + "/s >/dev/null 2>&1";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  EXPECT_EQ(call("status")["pid"], first);
}

TEST_F(SchedulerTest, ShutdownLeavesJobsOrEndsThem) {
  start({"--procs", "1"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1"}});
  until("it runs", [&] { return job(id)["phase"] == "running"; });
  EXPECT_EQ(call("shutdown")["left_running"], 1);
  EXPECT_EQ(collect(), 0);
  start({"--procs", "1"});
  EXPECT_EQ(job(id)["phase"], "running");
  const std::int64_t pid = job(id)["pid"];
  call("shutdown", {{"cancel", true}});
  EXPECT_EQ(collect(), 0);
  until("it is gone", [&] {
    return kill(static_cast<pid_t>(pid), 0) != 0 ||
           read_file("/proc/" + std::to_string(pid) + "/stat").find(") Z") != std::string::npos;
  });
}

/// Speaks an application's side of the protocol; what it does with requests is the test's matter.
class FakeApplication {
public:
  FakeApplication(const std::string& folder, const std::string& name, int procs, bool obeys)
      : server_(folder, "job-" + name + ".sock",
                {[this](control::LineServer::Client client, std::string_view line) { answer(client, line); },
                 {}}),
        procs_(procs), obeys_(obeys), thread_([this] {
          while (!stop_) server_.serve(0.05);
        }) {}
  ~FakeApplication() {
    stop_ = true;
    thread_.join();
  }
  std::atomic<int> resizes{0}, cancels{0};

private:
  void answer(control::LineServer::Client client, std::string_view line) {
    const auto request = control::parse_request(line);
    const Json grid = Json::array({1, procs_});
    Json fields = Json::object();
    if (request.op == "status")
      fields = {{"grid", grid}, {"resizable", true}, {"step", 3},
                {"steps", 0},   {"allowed", ""},     {"pending", nullptr}};
    else if (request.op == "resize")
      fields = {{"accepted", true}, {"request", ++resizes}, {"grid", request.body["grid"]}};
    else if (request.op == "cancel")
      fields = {{"cancelled", ++cancels}};
    else if (request.op == "watch")
      watcher_ = client;
    server_.send(client, control::to_line(control::reply(request.id, fields)));
    if (request.op == "resize" && obeys_) {
      const Json to = request.body["grid"];
      procs_ = to[0].get<int>() * to[1].get<int>();
      server_.send(
          watcher_,
          control::to_line({{"event", "resize"}, {"request", resizes.load()}, {"from", grid}, {"grid", to}}));
      server_.send(watcher_, control::to_line(
                                 {{"event", "outcome"}, {"request", resizes.load()}, {"outcome", "done"}}));
    }
  }
  control::LineServer server_;
  control::LineServer::Client watcher_ = 0;
  int procs_;
  bool obeys_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_F(SchedulerTest, AJobThatIgnoresRequestsIsLeftAlone) {
  start({"--procs", "4", "--policy", "rs", "--deadline", "0.5", "--deaf", "100"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, false);
  until("the scheduler has found it", [&] { return job(id).value("resizable", false); });
  const auto second = submit({"sleep", "100"}, {{"allow", "2"}});
  until("it was asked", [&] { return application.resizes == 1; });
  until("it was given up", [&] { return job(id)["unanswered"] == 1; });
  EXPECT_EQ(job(id)["procs"], 4);
  EXPECT_EQ(job(second)["phase"], "waiting");
  EXPECT_EQ(application.cancels, 0) << "a shrink stays asked for";
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(application.resizes, 1) << "left alone from then on";
  call("cancel", {{"job", id}});
  until("the second runs", [&] { return job(second)["phase"] == "running"; });
}

TEST_F(SchedulerTest, AJobThatObeysAndACrashBetween) {
  start({"--procs", "4", "--policy", "rs"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, true);
  until("the scheduler has found it", [&] { return job(id).value("resizable", false); });
  const auto second = submit({"/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.05; done"}, {{"allow", "3"}});
  until("the second runs", [&] { return job(second)["phase"] == "running"; });
  EXPECT_EQ(job(id)["processors"], Json::array({0}));
  EXPECT_EQ(job(second)["processors"], Json::array({1, 2, 3}));
  crash();
  start({"--procs", "4", "--policy", "rs"});
  EXPECT_EQ(job(id)["procs"], 1);
  std::ofstream(folder_ + "/go") << "go";
  until("the first has grown back", [&] { return job(id)["procs"] == 4; });
  EXPECT_EQ(job(id)["changes"], 2);
  const Json timeline = call("timeline");
  ASSERT_EQ(timeline["segments"].size(), 4u);
  EXPECT_EQ(timeline["segments"][3]["processors"], Json::array({0, 1, 2, 3}));
}

// Two PDGEMMs on two processors each; the scheduler is killed and comes back; a third job needs two
// processors, so both shrink to one; when it has ended both grow again. Then the mpirun of a fourth is
// killed.
TEST_F(SchedulerTest, TwoPdgemmShrinkForAThirdAndGrowBack) {
  start({"--procs", "4", "--policy", "rs"}, true);
  const auto pdgemm = [&](const char* n, const char* steps, const char* allow) {
    return submit({PDGEMM, "--n", n, "--nb", "32", "--steps", steps, "--check"}, {{"allow", allow}});
  };
  const auto a = pdgemm("512", STEPS, "1:2"), b = pdgemm("512", STEPS, "1:2");
  until("both can be resized",
        [&] { return job(a).value("resizable", false) && job(b).value("resizable", false); });
  const Json pids{job(a)["pid"], job(b)["pid"]};
  crash();
  start({"--procs", "4", "--policy", "rs"}, true);
  EXPECT_EQ(Json({job(a)["pid"], job(b)["pid"]}), pids);
  until("both are found again",
        [&] { return job(a).value("resizable", false) && job(b).value("resizable", false); });
  const auto c = pdgemm("64", "3", "2");
  const Json third = wait(c);
  EXPECT_EQ(third["status"], "0");
  until("both have grown again", [&] { return job(a)["changes"] >= 2 && job(b)["changes"] >= 2; });
  // of lower priority: nobody shrinks for it
  const auto lost = submit({PDGEMM, "--n", "64", "--steps", "1000000"}, {{"allow", "1"}, {"priority", -1}});
  const Json first = wait(a), second = wait(b);
  for (const Json& one : {first, second}) {
    EXPECT_EQ(one["status"], "0");
    EXPECT_EQ(one["changes"], 2);
    EXPECT_NE(out(one["job"]).find(STEPS " steps all right, 1x2 -> 1x1 -> 1x2;"), std::string::npos)
        << out(one["job"]);
  }
  EXPECT_NE(out(c).find("3 steps all right"), std::string::npos);
  // who had what: never more than there are, the third between the shrinks and the growths
  const Json timeline = call("timeline");
  double third_begins = 0, third_ends = 0;
  for (const Json& s : timeline["segments"])
    if (s["job"] == c) {
      third_begins = s["begin_s"];
      third_ends = s["end_s"];
    }
  int small = 0, grown = 0;
  for (const Json& s : timeline["segments"])
    if (s["job"] == a || s["job"] == b) {
      small += s["processors"].size() == 1 && s["begin_s"] <= third_begins && s["end_s"] >= third_ends;
      grown += s["processors"].size() == 2 && s["begin_s"] >= third_ends;
    }
  EXPECT_EQ(small, 2);
  EXPECT_EQ(grown, 2);
  until("the fourth runs", [&] { return job(lost).value("resizable", false); });
  kill(static_cast<pid_t>(-job(lost)["pid"].get<std::int64_t>()), SIGKILL);
  EXPECT_EQ(wait(lost)["why"], "killed");
  EXPECT_EQ(call("status")["free"], 4);
}

} // namespace
