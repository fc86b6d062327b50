// SPDX-License-Identifier: BSD-3-Clause
// dyngrid-sched as a process: crashes of it and of its jobs, jobs that do not answer, and a real run with
// MPI.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "../errors.hpp"
#include "../refused_system_calls.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/parse_json.hpp"
#include "control/client.hpp"
#include "control/line_server.hpp"
#include "control/protocol.hpp"
#include "sched/job_table.hpp"

namespace {

using base::content_of, base::Json;

/// What /proc/PID/stat says of a process behind its name, its state first; empty: there is none.
std::vector<std::string> stat_of(const std::string& process) {
  const std::string line = content_of("/proc/" + process + "/stat");
  const auto name_ends = line.rfind(')');
  if (name_ends == std::string::npos) return {};
  std::istringstream rest(line.substr(name_ends + 2));
  return {std::istream_iterator<std::string>(rest), {}};
}

/// The states of all processes of a session that have not ended: R, S, T.
std::string states_of(const Json& session) {
  std::string states;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto words = stat_of(entry.path().filename().string());
    if (words.size() > 3 && words[0] != "Z" && words[3] == std::to_string(session.get<std::int64_t>()))
      states += words[0];
  }
  return states;
}
bool is_stopped(const Json& session) {
  return states_of(session).find_first_not_of('T') == std::string::npos;
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
      std::fprintf(stderr, "journal:\n%s\n%s\n", content_of(folder_ + "/s/journal").c_str(),
                   content_of(folder_ + "/err").c_str());
    else
      std::system(("rm -rf '" + folder_ + "'").c_str());
  }

  void start(std::vector<std::string> options, bool with_mpi = false) {
    std::vector<std::string> words{SCHEDULER, "--folder", folder_ + "/s"};
    words.insert(words.end(),
                 {"--mpirun", with_mpi ? std::string(MPIRUN) : mpirun_, "--mpirun-options=--oversubscribe"});
    words.insert(words.end(), options.begin(), options.end());
    pid_ = fork();
    if (pid_ == 0) {
      if (is_without_pidfd_ && !refuse_pidfd()) _exit(126);
      if (is_nohup_) signal(SIGHUP, SIG_IGN);
      if (chdir(folder_.c_str()) != 0) _exit(126);
      std::vector<char*> arguments;
      for (auto& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      const int err = open((folder_ + "/err").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      dup2(err, 1);
      dup2(err, 2);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    until("the scheduler answers", [&] { return status_of([&] { call("status"); }) == base::Status::success; });
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

  Json call(const std::string& op, const Json& fields = Json::object(), double timeout_s = 600) {
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
  Json wait(std::int64_t id, double timeout_s = 600) { return call("wait", {{"job", id}}, timeout_s).at("job"); }
  std::string out(std::int64_t id) { return content_of(folder_ + "/s/jobs/" + std::to_string(id) + ".out"); }
  /// What the command prints, on both streams.
  std::string output_of(const std::string& words, int status = 0) {
    const std::string file = folder_ + "/command";
    const auto line = fmt::format("timeout 600 {} {} > {} 2>&1 < /dev/null", COMMAND, words, file);
    EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), status) << words << "\n" << content_of(file);
    return content_of(file);
  }
  /// A line said as it is, and the line that comes back.
  std::string raw_reply(const std::string& line) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (folder_ + "/run/sched.sock").c_str(), sizeof address.sun_path - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(write(fd, line.data(), line.size()), static_cast<ssize_t>(line.size()));
    std::string reply;
    for (char c = 0; reply.find('\n') == std::string::npos && read(fd, &c, 1) == 1;) reply += c;
    close(fd);
    return reply;
  }
  /// No file of the scheduler, nor of what it starts, may become longer.
  void limit_files(rlim_t bytes) {
    rlimit limit{};
    ASSERT_EQ(prlimit(pid_, RLIMIT_FSIZE, nullptr, &limit), 0) << std::strerror(errno);
    limit.rlim_cur = std::min(bytes, limit.rlim_max);
    ASSERT_EQ(prlimit(pid_, RLIMIT_FSIZE, &limit, nullptr), 0) << std::strerror(errno);
  }
  void until(const char* what, const std::function<bool()>& is_so, double timeout_s = 600) {
    const auto begun = std::chrono::steady_clock::now();
    while (!is_so()) {
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() > timeout_s) {
        FAIL() << "waited " << timeout_s << " s until " << what;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
  }
  /// What another scheduler says when it does not start.
  std::string refusal(const std::string& name = "s") {
    const std::string file = folder_ + "/refusal";
    const auto line = fmt::format("timeout 600 {} --folder {}/{} > {} 2>&1", SCHEDULER, folder_, name, file);
    EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 1) << content_of(file);
    return content_of(file);
  }
  void until_found(const std::vector<std::int64_t>& ids) {
    for (const auto id : ids) until("the scheduler has found it", [&] { return job(id).value("resizable", false); });
  }
  void until_running(std::int64_t id) {
    until("it runs", [&] { return job(id)["phase"] == "running"; });
  }
  void until_asking(std::int64_t id) {
    until("it waits", [&] { return job(id)["asks"].is_object(); });
  }
  /// Processors of a job, one entry for each of its grids.
  std::vector<Json> had(std::int64_t id) {
    std::vector<Json> all;
    const Json timeline = call("timeline");
    for (const Json& segment : timeline.at("segments"))
      if (segment.at("job") == id) all.push_back(segment.at("processors"));
    return all;
  }
  void go() { std::ofstream(folder_ + "/go") << "go"; }

  const std::vector<std::string> until_go{"/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.05; done"};
  std::string folder_;
  pid_t pid_ = -1;
  // of schedulers that are started
  std::string mpirun_ = "./mpirun";
  bool is_without_pidfd_ = false; ///< as on an older kernel
  bool is_nohup_ = false;
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
  EXPECT_EQ(status.at("ended"), 4);
  EXPECT_EQ(status.at("free"), 2);
}

TEST_F(SchedulerTest, GivesTheProcessorsThatItMayUse) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0) << std::strerror(errno);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0) << std::strerror(errno);
  start({}); // inherits it
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0) << std::strerror(errno);
  EXPECT_EQ(call("status").at("procs"), 1);
}

TEST_F(SchedulerTest, AStatusThatCannotBeWrittenIsKnownAllTheSame) {
  start({"--procs", "1"});
  const std::string file = folder_ + "/s/jobs/1.status.new"; // a folder in its place, since a full disk takes root
  const auto id = submit({"/bin/sh", "-c", "rm " + file + " && mkdir " + file + " && exit 5"}, {{"allow", "1"}});
  EXPECT_EQ(wait(id)["status"], "5") << "there when the job begins, and asked of the process when it is lost";
  EXPECT_EQ(job(id)["why"], "failed");
}

TEST_F(SchedulerTest, RefusesWhatItCannotRun) {
  start({"--procs", "4"});
  for (const Json& wrong :
       {Json{{"command", Json::array()}}, Json{{"command", "x"}}, Json{{"command", {"x"}}, {"allow", "5:8"}},
        Json{{"command", {"x"}}, {"allow", "nonsense"}}, Json{{"command", {"x"}}, {"variables", {"novalue"}}},
        Json{{"command", {"x"}}, {"folder", "here"}}, Json{{"command", {"x", 5}}},
        Json{{"command", {"x"}}, {"priority", 1e10}}})
    EXPECT_THROW(call("submit", wrong), base::Error) << wrong;
  EXPECT_THROW(call("cancel", {{"job", 7}}), base::Error);
  EXPECT_THROW(call("what"), base::Error);
  EXPECT_TRUE(says(output_of("submit -- /nowhere/program", 2), "there is no program '/nowhere/program'"));
  EXPECT_TRUE(says(output_of("submit -- no-such-program-anywhere", 2), "can be run in PATH"));
  EXPECT_TRUE(says(output_of("submit --steps -5 -- true", 2), "--steps"));
  EXPECT_EQ(call("queue")["jobs"].size(), 0u);
}

TEST_F(SchedulerTest, JobsByTheCommand) {
  start({"--procs", "2"});
  EXPECT_EQ(output_of("submit --allow 1 --env WORD=a --env OTHER=b -- /bin/sh -c 'echo $WORD $OTHER; sleep 100'"),
            "1\n");
  until("it runs", [&] { return out(1) == "a b\n"; });
  EXPECT_EQ(output_of("cancel s1"), "");
  EXPECT_EQ(wait(1)["why"], "cancelled");
  EXPECT_TRUE(says(output_of("cancel job1", 2), "a job is \"job1\", expected a whole number"));
  // a program of the user's PATH, which the scheduler's does not have
  const std::string path = std::getenv("PATH");
  std::filesystem::create_directory(folder_ + "/bin");
  std::ofstream(folder_ + "/bin/only-here") << "#!/bin/sh\necho found\n";
  chmod((folder_ + "/bin/only-here").c_str(), 0700);
  setenv("PATH", (folder_ + "/bin:" + path).c_str(), 1);
  EXPECT_EQ(output_of("submit --allow 1 -- only-here"), "2\n");
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(wait(2)["status"], "0");
  EXPECT_EQ(out(2), "found\n");
  EXPECT_EQ(job(2)["name"], "only-here");
  EXPECT_EQ(output_of("submit --allow 1 -- sleep 100"), "3\n"); // cancelled behind one that is not there
  EXPECT_TRUE(says(output_of("cancel 2 99 3", 2), "ended before: 2; there is no job 99"));
  EXPECT_EQ(wait(3)["why"], "cancelled");
  EXPECT_EQ(std::system((std::string(SCHEDULER) + " --version > " + folder_ + "/version").c_str()), 0);
  EXPECT_EQ(content_of(folder_ + "/version"), output_of("--version"));
}

TEST_F(SchedulerTest, CommandsWithoutAScheduler) {
  for (const char* words : {"queue", "cancel 1", "submit -- true"})
    EXPECT_TRUE(says(output_of(words, 1), "sched.sock")) << words;
  EXPECT_TRUE(says(output_of("queue --last 60", 2), "--timeline"));
}

TEST_F(SchedulerTest, OutlivesItsTerminalUnderNohup) {
  is_nohup_ = true;
  start({"--procs", "1"});
  kill(pid_, SIGHUP);
  const auto id = submit({"pwd"}, {{"folder", "/"}}); // and its mpirun is found from any folder
  EXPECT_EQ(wait(id)["status"], "0");
  EXPECT_EQ(out(id), "/\n");
}

TEST_F(SchedulerTest, PrioritiesAndCancel) {
  start({"--procs", "1", "--policy", "ls"});
  const auto first = submit({"sleep", "100"}, {{"allow", "1"}});
  const auto low = submit({"echo", "low"}, {{"allow", "1"}});
  const auto high = submit({"echo", "high"}, {{"allow", "1"}, {"priority", 5}});
  const auto never = submit({"echo", "never"}, {{"allow", "1"}});
  EXPECT_EQ(job(first)["phase"], "running");
  EXPECT_EQ(job(low)["why"], "needs 1 processor, 0 are free");
  EXPECT_TRUE(says(output_of("queue"), "needs 1 processor, 0 are free"));
  EXPECT_EQ(call("cancel", {{"job", never}})["cancelled"], true);
  EXPECT_EQ(wait(never)["why"], "cancelled");
  EXPECT_EQ(call("cancel", {{"job", first}})["cancelled"], true);
  EXPECT_EQ(wait(first)["why"], "cancelled");
  EXPECT_EQ(call("cancel", {{"job", first}})["cancelled"], false);
  const Json after_high = wait(high), after_low = wait(low);
  EXPECT_LT(after_high.at("started_s").get<double>(), after_low.at("started_s").get<double>());
}

TEST_F(SchedulerTest, AFinishByTimeIsPromisedOrRefused) {
  start({"--procs", "2", "--policy", "qos"});
  submit({"sleep", "1000"}, {{"allow", "1"}, {"seconds", "1=1000"}});
  const auto now_s = [&] { return call("status").at("now_s").get<double>(); };
  // one processor is free; on 2 it would begin when the first has ended
  const double before_s = now_s();
  const Json taken = call("submit", {{"command", {"sleep", "1000"}},
                                     {"folder", folder_},
                                     {"allow", "1,2"},
                                     {"seconds", "1=500,2=260"},
                                     {"finish_by_s", before_s + 1200}});
  EXPECT_EQ(taken.at("predicted_procs"), 1);
  EXPECT_GE(taken.at("predicted_end_s").get<double>(), before_s + 500);
  EXPECT_LE(taken.at("predicted_end_s").get<double>(), now_s() + 500);
  const auto refused = [&](Json more, const std::string& why) { // what follows `why`
    more["command"] = {"true"};
    more["folder"] = folder_;
    const std::string text = message_of([&] { call("submit", more); });
    EXPECT_TRUE(says(text, why)) << more;
    return text.substr(std::min(text.size(), text.find(why) + why.size()));
  };
  // 500 s until the second has ended, and 100 s
  const std::string in_s =
      refused({{"allow", "1"}, {"seconds", "1=100"}, {"finish_by_s", now_s() + 300}}, "earliest possible time is in ");
  EXPECT_LE(std::atof(in_s.c_str()), 600.5); // rounded
  EXPECT_GE(std::atof(in_s.c_str()), 599.5 - (now_s() - before_s));
  refused({{"allow", "1"}, {"finish_by_s", now_s() + 300}}, "expected \"seconds\"");
  refused({{"seconds", "1=x"}, {"finish_by_s", now_s() + 300}}, "'1=x'");
  refused({{"seconds", "1=1"}, {"finish_by_s", "soon"}}, "seconds since 1970");
  crash();
  start({"--procs", "2", "--policy", "qos"}); // the journal has what was said
  const auto second = taken.at("job").get<std::int64_t>();
  EXPECT_NEAR(job(second).at("finish_by_s").get<double>(), before_s + 1200, 1); // rounded
  output_of("submit --seconds 1=100 --allow 1 --finish-by +10s -- true", 2);
  EXPECT_TRUE(says(content_of(folder_ + "/command"), "earliest possible time"));
  output_of("submit --finish-by soon -- true", 2);
}

TEST_F(SchedulerTest, FindsItsJobsAfterACrash) {
  start({"--procs", "3", "--policy", "ls"});
  const auto ends_meanwhile =
      submit({"/bin/sh", "-c", "while [ ! -e end ]; do sleep 0.05; done; exit 5"}, {{"allow", "1"}});
  const auto killed_meanwhile = submit({"sleep", "100"}, {{"allow", "1"}});
  const auto runs_on = submit({"/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; echo went"}, {{"allow", "1"}});
  const auto waits = submit({"echo", "waited"}, {{"allow", "3"}});
  until("three run", [&] { return call("status")["running"] == 3; });
  const std::int64_t pid = job(runs_on)["pid"].get<std::int64_t>(),
                     victim = job(killed_meanwhile)["pid"].get<std::int64_t>(),
                     ends = job(ends_meanwhile)["pid"].get<std::int64_t>();
  until("the victim has begun", [&] {
    return access((folder_ + "/s/jobs/" + std::to_string(killed_meanwhile) + ".began").c_str(), F_OK) == 0;
  });
  crash();
  std::ofstream(folder_ + "/s/journal", std::ios::app)
      << "1234abcd submit\t1.0\t9"; // what a crash in the middle of a line leaves
  kill(static_cast<pid_t>(-victim), SIGKILL);
  std::ofstream(folder_ + "/end") << "end";
  until("both have ended",
        [&] { return kill(static_cast<pid_t>(-victim), 0) != 0 && kill(static_cast<pid_t>(-ends), 0) != 0; });
  start({"--procs", "3", "--policy", "ls"});
  EXPECT_EQ(wait(ends_meanwhile)["status"], "5");
  EXPECT_EQ(wait(killed_meanwhile)["why"], "killed");
  EXPECT_EQ(job(runs_on)["phase"], "running");
  EXPECT_EQ(job(runs_on)["pid"], pid);
  EXPECT_EQ(job(waits)["phase"], "waiting");
  go();
  EXPECT_EQ(wait(runs_on)["status"], "0");
  EXPECT_EQ(out(runs_on), "went\n");
  EXPECT_EQ(wait(waits)["status"], "0");
  EXPECT_EQ(call("status")["ended"], 4);
}

// The shell that leads it is killed, and its program counts in a process group of its own; without a scheduler, and
// with one.
TEST_F(SchedulerTest, AJobWhoseLeaderIsKilledLeavesNothingBehind) {
  start({"--procs", "1", "--policy", "ls"});
  for (const bool crashes : {true, false}) {
    std::filesystem::remove(folder_ + "/pid");
    const auto id =
        submit({"/bin/bash", "-c", "set -m; (echo $BASHPID > pid.new; mv pid.new pid; exec sleep 100) & wait"},
               {{"allow", "1"}});
    const auto next =
        submit({"/bin/sh", "-c", "case \"$(cat /proc/$(cat pid)/stat)\" in ''|*') Z '*) ;; *) exit 1; esac"},
               {{"allow", "1"}});
    until("it runs", [&] { return access((folder_ + "/pid").c_str(), F_OK) == 0; });
    const auto leader = job(id)["pid"].get<pid_t>();
    if (crashes) crash();
    kill(leader, SIGKILL);
    if (crashes) {
      until("it is gone", [&] {
        const auto words = stat_of(std::to_string(leader));
        return words.empty() || words[0] == "Z";
      });
      start({"--procs", "1", "--policy", "ls"});
    }
    EXPECT_EQ(wait(id)["why"], "killed");
    EXPECT_EQ(wait(next)["status"], "0") << "it began while the other one ran";
  }
}

TEST_F(SchedulerTest, FindsItsJobsWithoutPidfd) {
  is_without_pidfd_ = true;
  start({"--procs", "2", "--policy", "ls"});
  const auto id = submit(until_go, {{"allow", "1"}});
  until_running(id);
  crash();
  start({"--procs", "2", "--policy", "ls"});
  EXPECT_EQ(job(id)["phase"], "running");
  EXPECT_EQ(call("queue")["free"], 1);
  go();
  EXPECT_EQ(wait(id)["status"], "0");
}

TEST_F(SchedulerTest, FindsItsJobsWithoutADescriptorForThem) {
  start({"--procs", "1", "--policy", "ls"});
  const auto id = submit(until_go, {{"allow", "1"}});
  until_running(id);
  rlimit files{};
  ASSERT_EQ(prlimit(pid_, RLIMIT_NOFILE, nullptr, &files), 0);
  const rlimit few{3, files.rlim_max}; // nothing new is opened, what is open stays so
  ASSERT_EQ(prlimit(pid_, RLIMIT_NOFILE, &few, nullptr), 0);
  const auto wakes = [&] {
    const std::string status = content_of(fmt::format("/proc/{}/status", pid_)), name = "\nvoluntary_ctxt_switches:";
    return std::stol(status.substr(status.find(name) + name.size()));
  };
  const long before = wakes();
  until("it has looked at its jobs", [&] { return wakes() > before + 5; });
  ASSERT_EQ(prlimit(pid_, RLIMIT_NOFILE, &files, nullptr), 0);
  EXPECT_EQ(job(id)["phase"], "running");
  go();
  EXPECT_EQ(wait(id)["status"], "0");
}

TEST_F(SchedulerTest, ASecondOneIsRefused) {
  start({"--procs", "1"});
  const pid_t first = pid_;
  EXPECT_TRUE(says(refusal(), "another one works in '" + folder_ + "/s'; end it with dyngrid-sched --stop"));
  EXPECT_TRUE(says(refusal("other"), "sched.sock is in use by another process: another scheduler; end it with"));
  EXPECT_EQ(call("status")["pid"], first);
}

TEST_F(SchedulerTest, JobsOfAnotherHostAreNotTakenAsEnded) {
  start({"--procs", "1"});
  const auto id = submit(until_go, {{"allow", "1"}});
  until_running(id);
  const Json session = job(id)["pid"];
  crash();
  std::ofstream(folder_ + "/s/journal", std::ios::app)
      << sched::encode({sched::Entry::Kind::open, 1, 0, {"1", "rs", std::to_string(id + 1), "its boot", "elsewhere"}});
  EXPECT_TRUE(says(refusal(), "1 job(s) of '" + folder_ + "/s' run on host elsewhere, and this is "));
  start({"--procs", "1", "--other-host-ended"});
  EXPECT_EQ(wait(id)["why"], "killed");
  go(); // for its processes, which run on
  until("they have ended", [&] { return states_of(session).empty(); });
}

TEST_F(SchedulerTest, CancelJobsWithoutStopIsRefused) {
  const auto line =
      fmt::format("timeout 600 {} --cancel-jobs --folder {}/s > {}/err 2>&1", SCHEDULER, folder_, folder_);
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 2);
  EXPECT_TRUE(says(content_of(folder_ + "/err"), "expected both"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/s"));
}

TEST_F(SchedulerTest, ToStopAndToEndAJobThatDoesNotAnswerExcludeEachOther) {
  const auto line = fmt::format("timeout 600 {} --suspend --end-unresponsive --folder {}/s > {}/err 2>&1", SCHEDULER,
                                folder_, folder_);
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 2);
  EXPECT_TRUE(says(content_of(folder_ + "/err"), "expected one of them"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/s"));
}

TEST_F(SchedulerTest, ShutdownLeavesJobsOrEndsThem) {
  start({"--procs", "1"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1"}});
  until_running(id);
  EXPECT_EQ(call("shutdown")["left_running"], 1);
  EXPECT_EQ(collect(), 0);
  start({"--procs", "1"});
  EXPECT_EQ(job(id)["phase"], "running");
  const std::int64_t pid = job(id)["pid"].get<std::int64_t>();
  call("shutdown", {{"cancel", true}});
  EXPECT_EQ(collect(), 0);
  until("it is gone", [&] {
    return kill(static_cast<pid_t>(pid), 0) != 0 ||
           content_of("/proc/" + std::to_string(pid) + "/stat").find(") Z") != std::string::npos;
  });
}

TEST_F(SchedulerTest, UntilEmptyWaitsForTheFirstJobInAUsedFolder) {
  start({"--procs", "1"});
  EXPECT_EQ(wait(submit({"true"}, {{"allow", "1"}}))["status"], "0");
  call("shutdown");
  EXPECT_EQ(collect(), 0);
  start({"--procs", "1", "--until-empty"});
  submit({"true"}, {{"allow", "1"}});
  EXPECT_EQ(collect(), 0);
  EXPECT_TRUE(says(content_of(folder_ + "/s/jobs/2.status"), "0"));
}

TEST_F(SchedulerTest, AFullDiskStopsNothingThatRuns) {
  start({"--procs", "2"});
  const auto first = submit({"/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; exit 4"}, {{"allow", "1"}});
  until_running(first);
  const std::string path = folder_ + "/s/journal", before = content_of(path);
  limit_files(before.size() + 30); // within a line
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(says(message_of([&] { submit({"true"}, {{"allow", "1"}}); }), "journal"));
    EXPECT_EQ(content_of(path), before) << "no half line";
    EXPECT_EQ(call("status")["waiting"], 0);
  }
  EXPECT_THROW(call("cancel", {{"job", first}}), base::Error);
  go();
  until("it has said so", [&] { return content_of(folder_ + "/err").find("cannot be written") != std::string::npos; });
  EXPECT_EQ(job(first)["phase"], "running") << "what cannot be written down has not happened";
  EXPECT_EQ(content_of(path), before);
  limit_files(RLIM_INFINITY);
  EXPECT_EQ(wait(first)["status"], "4");
  const auto second = submit({"echo", "second"}, {{"allow", "1"}});
  EXPECT_EQ(wait(second)["status"], "0");
  crash();
  start({"--procs", "2"});
  EXPECT_EQ(job(first)["status"], "4");
  EXPECT_EQ(out(second), "second\n");
  EXPECT_EQ(call("queue", {{"all", true}})["jobs"].size(), 2u);
}

TEST_F(SchedulerTest, AJobIsWrittenWhole) {
  start({"--procs", "1", "--policy", "qos"});
  const Json job{{"command", {"true"}}, {"allow", "1"}, {"folder", "/"}, {"seconds", "1=10"}};
  call("submit", job);
  const std::string path = folder_ + "/s/journal";
  EXPECT_EQ(wait(1)["status"], "0");
  const std::string before = content_of(path);
  const auto finish = before.find(" finish\t"); // of the first
  ASSERT_NE(finish, std::string::npos) << before;
  const auto begin = before.rfind("submit\t", finish) - 9; // behind the checksum
  limit_files(before.size() + before.rfind('\n', finish) + 1 -
              begin); // there is room for `submit`, but not for `finish`
  EXPECT_THROW(call("submit", job), base::Error);
  EXPECT_EQ(content_of(path), before);
  EXPECT_EQ(call("queue")["jobs"].size(), 1u);
  limit_files(RLIM_INFINITY);
  EXPECT_EQ(call("submit", job)["job"], 2);
  EXPECT_EQ(wait(2)["status"], "0");
}

TEST_F(SchedulerTest, AJobThatWaitsForRoomRunsOnce) {
  start({"--procs", "1"});
  const auto first = submit(until_go, {{"allow", "1"}});
  const auto second = submit({"/bin/sh", "-c", "echo ran >> " + folder_ + "/ran"}, {{"allow", "1"}});
  until_running(first);
  const std::size_t size = content_of(folder_ + "/s/journal").size();
  limit_files(size + 60); // the end of the first goes in, the start of the second does not
  go();
  EXPECT_EQ(wait(first)["status"], "0");
  until("it has said so", [&] { return content_of(folder_ + "/err").find("cannot be written") != std::string::npos; });
  const auto written = [&] { return std::filesystem::last_write_time(folder_ + "/s/journal"); };
  const auto first_try = written();
  until("it is tried again, and fails", [&] { return written() != first_try; });
  EXPECT_EQ(job(second)["phase"], "waiting");
  EXPECT_NE(access((folder_ + "/ran").c_str(), F_OK), 0);
  limit_files(RLIM_INFINITY);
  EXPECT_EQ(wait(second)["status"], "0");
  EXPECT_EQ(content_of(folder_ + "/ran"), "ran\n");
}

#ifdef FAIL_SYNC
TEST_F(SchedulerTest, ADiskThatFailsEndsTheScheduler) {
  setenv("FAIL_SYNC", (folder_ + "/fails").c_str(), 1);
  setenv("LD_PRELOAD", FAIL_SYNC, 1);
  start({"--procs", "2"});
  unsetenv("LD_PRELOAD");
  const auto first = submit({"/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; echo went"}, {{"allow", "1"}});
  until_running(first);
  const std::string before = content_of(folder_ + "/s/journal");
  std::ofstream(folder_ + "/fails") << "now";
  EXPECT_THROW(submit({"/bin/sh", "-c", "echo never > " + folder_ + "/never"}, {{"allow", "1"}}), base::Error);
  EXPECT_EQ(WEXITSTATUS(collect()), 1);
  EXPECT_TRUE(says(content_of(folder_ + "/err"), "forced to the disk"));
  EXPECT_EQ(content_of(folder_ + "/s/journal"), before) << "a user whose submission failed finds no job";
  start({"--procs", "2"});
  EXPECT_EQ(job(first)["phase"], "running");
  go();
  EXPECT_EQ(wait(first)["status"], "0");
  EXPECT_EQ(call("queue")["jobs"].size(), 1u);
  EXPECT_NE(access((folder_ + "/never").c_str(), F_OK), 0);
}
#endif

TEST_F(SchedulerTest, ADamagedJournalIsRefusedAndKept) {
  start({"--procs", "1"});
  const auto id = submit({"/bin/sh", "-c", "echo ran >> " + folder_ + "/ran"}, {{"allow", "1"}});
  EXPECT_EQ(wait(id)["status"], "0");
  call("shutdown");
  EXPECT_EQ(collect(), 0);
  const std::string path = folder_ + "/s/journal", good = content_of(path);
  std::string flipped = good, crlf;
  flipped[good.size() - 8] ^= 1; // in its last line, the end of the job
  for (const char c : good) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  for (const std::string& wrong : {flipped, crlf,
                                   std::string("\x7f"
                                               "ELF\0\1",
                                               6),
                                   "dyngrid-sched journal 99\n" + good}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << wrong;
    std::ofstream(folder_ + "/err", std::ios::trunc) << "";
    const auto line = fmt::format("timeout 600 {0} --until-empty --folder {1}/s --mpirun {1}/mpirun > {1}/err 2>&1",
                                  SCHEDULER, folder_);
    EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 1);
    EXPECT_TRUE(says(content_of(folder_ + "/err"), "kept as it is"));
    EXPECT_EQ(content_of(path), wrong);
  }
  EXPECT_EQ(content_of(folder_ + "/ran"), "ran\n") << "a job ran twice";
  std::ofstream(path, std::ios::binary | std::ios::trunc) << good;
  start({"--procs", "1"});
  EXPECT_EQ(job(id)["status"], "0");
}

TEST_F(SchedulerTest, AQueueOfTenThousandJobs) {
  constexpr std::int64_t jobs = 10000, ended = 9000;
  ASSERT_EQ(mkdir((folder_ + "/s").c_str(), 0700), 0);
  {
    std::ofstream journal(folder_ + "/s/journal");
    sched::JobTable table;
    sched::JobSpec spec;
    spec.name = "one of many";
    spec.allow = "8"; // more than there are: it waits
    spec.folder = "/";
    spec.command = {"/bin/echo", "a command line of some length", "so that an answer is long"};
    const auto add = [&](const sched::Entry& entry) {
      journal << sched::encode(entry);
      table.apply(entry);
    };
    for (std::int64_t id = 1; id <= jobs; ++id) {
      add(table.submit(1, spec));
      if (id > ended) continue;
      add({sched::Entry::Kind::start, 2, id, {"0", "1", "1"}});
      add(table.end(3, id, "0", ""));
    }
  }
  start({"--procs", "1"});
  const auto numbers = [](const Json& list) {
    std::vector<std::int64_t> all;
    for (const Json& one : list) all.push_back(one.at("job").get<std::int64_t>());
    return all;
  };
  std::vector<std::int64_t> expected(jobs);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(numbers(base::parse_json(output_of("queue --all --json")).at("jobs")), expected);
  const std::string text = output_of("queue --all");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), jobs + 2);
  expected.erase(expected.begin(), expected.begin() + ended - 30);
  EXPECT_EQ(numbers(base::parse_json(output_of("queue --json")).at("jobs")), expected)
      << "the last 30 that have ended, and all that wait";
  const Json timeline = base::parse_json(output_of("queue --timeline --json"));
  EXPECT_EQ(timeline.at("segments").size(), static_cast<std::size_t>(ended));
  EXPECT_EQ(timeline.at("names").size(), static_cast<std::size_t>(ended));
  EXPECT_TRUE(says(output_of("queue --timeline"), "job 9000 one of many"));
  EXPECT_LT(call("queue", {{"all", true}}).dump().size(), std::size_t{1} << 20);
}

TEST_F(SchedulerTest, NumbersOf64Bits) {
  start({"--procs", "1"});
  // as mpirun would never count them, but a client may
  for (const char* id : {"9223372036854775807", "18446744073709551615", "-9223372036854775808"}) {
    const auto reply = raw_reply(fmt::format("{{\"op\":\"status\",\"id\":{}}}\n", id));
    EXPECT_TRUE(says(reply, fmt::format("\"id\":{},", id)));
  }
  EXPECT_TRUE(says(raw_reply("{\"op\":\"status\",\"id\":18446744073709551616}\n"), "64 bits"));
  call("shutdown");
  EXPECT_EQ(collect(), 0);
  { // jobs beyond 2^32 as well
    std::ofstream journal(folder_ + "/s/journal", std::ios::app);
    journal << sched::encode({sched::Entry::Kind::open, 1, 0, {"1", "rs", "4294967297", "boot"}});
  }
  start({"--procs", "1"});
  const auto id = submit({"/bin/sh", "-c", "echo $DYNGRID_JOB; sleep 100"}, {{"allow", "1"}});
  EXPECT_EQ(id, 4294967297);
  until("it runs", [&] { return out(id) == "s4294967297\n"; });
  EXPECT_EQ(base::parse_json(output_of("cancel 4294967297 --json")).at("jobs")[0].at("job"), id);
  EXPECT_EQ(wait(id)["why"], "cancelled");
}

TEST_F(SchedulerTest, NoOptionsOfMpirunAndNoControlCharacters) {
  start({"--procs", "1"});
  for (const std::vector<std::string>& words : {std::vector<std::string>{"-np", "100", "./app"},
                                                {"--host", "elsewhere", "./app"},
                                                {"./app", ":", "-np", "100", "./other"},
                                                {""}})
    EXPECT_THROW(submit(words), base::Error) << words[0];
  EXPECT_TRUE(says(output_of("submit -- -np 100 ./app", 2), "no program"));
  EXPECT_TRUE(says(output_of("run -np 2 --dry-run -- -np 100 ./app", 2), "no program"));
  EXPECT_TRUE(says(output_of("run -np 2 --dry-run -- ./app : ./other", 2), "':'"));
  for (const char* option : {"--mpirun-option X", "--hosts localhost:2", "--placement local1"})
    EXPECT_TRUE(says(output_of(fmt::format("run -np 2 --dry-run {} -- ./app -n 5 --grid 1x2", option)),
                     "./app -n 5 --grid 1x2"))
        << option;
  for (const char* name : {"two\nlines", "\x1b[2Jclear", "bell\a", "\x7f", "c1 \xc2\x9b", "\xe2\x80\xaeturned"})
    EXPECT_THROW(submit({"true"}, {{"name", name}}), base::Error) << name;
  const auto fine = submit({"true"}, {{"name", "Größe 漢字"}});
  EXPECT_EQ(wait(fine)["name"], "Größe 漢字");
  std::string many;
  for (int i = 0; i < 25; ++i) many += "漢"; // 75 bytes, 60 of them are kept; 59 would be half a character
  EXPECT_EQ(wait(submit({"true"}, {{"name", "a" + many}}))["name"], "a" + many.substr(0, 57));
  call("shutdown");
  EXPECT_EQ(collect(), 0);
  { // what an older scheduler took
    std::ofstream journal(folder_ + "/s/journal", std::ios::app);
    for (const std::string& name : {std::string("\x1b[2Jclear"), std::string("two\nlines")})
      journal << sched::encode(
          {sched::Entry::Kind::submit, 1, name[0] == 't' ? 8 : 7, {name, "8", "0", "0", "/", "0", "0", "true"}});
  }
  start({"--procs", "1", "--verbose"});
  const std::string text = output_of("queue");
  EXPECT_TRUE(says(text, "\\x1b[2Jclear"));
  EXPECT_TRUE(says(text, "two\\x0alines"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

/// Speaks an application's side of the protocol; what it does with requests is the test's matter.
class FakeApplication {
public:
  FakeApplication(const std::string& folder, const std::string& name, int procs, bool obeys,
                  const std::string& allowed = "")
      : server_(folder, "job-" + name + ".sock",
                {[this](control::LineServer::Client client, std::string_view line) { answer(client, line); }, {}}),
        procs_(procs), obeys_(obeys), allowed_(allowed), thread_([this] {
          while (!stop_) {
            server_.serve(0.05);
            if (wants.exchange(false)) begin_to_ask();
            if (grows.exchange(false)) end_growth();
            if (shrinks.exchange(false)) {
              tell_resize(nullptr, Json::array({1, procs_}), Json::array({1, 1}));
              procs_ = 1;
            }
          }
        }) {}
  ~FakeApplication() { end(); }
  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::atomic<int> resizes{0}, cancels{0};
  std::atomic<int> offers{0};        ///< taken: one slot of the first host that is named
  std::atomic<bool> claims{false};   ///< of an offer more than there is
  std::string asked_for;             ///< set before `wants`
  std::atomic<bool> waits{false};    ///< for that
  std::atomic<bool> wants{false};    ///< it asks now
  std::atomic<bool> gives_up{false}; ///< what it is granted
  std::atomic<int> grants{0}, refusals{0};
  std::atomic<int> checkpoints{0};      ///< that were asked for
  std::string asked_at;                 ///< for checkpoints: by these signals. To be read when it has ended
  std::string why_refused;              ///< when `refusals` has grown
  Json is_on;                           ///< "hosts" of its events of a shrink
  std::atomic<int> pages{0};            ///< of its history, which has three, that were asked for
  std::atomic<bool> regrets{false};     ///< a growth: goes back by itself, and declines from then on
  std::atomic<int> gives_more{0};       ///< at a shrink, than it must
  std::atomic<int> takes_at_most{1000}; ///< of an offer without hosts
  std::atomic<int> counts_from{0};      ///< at a shrink: another grid than it has said; 0: it does not
  std::atomic<bool> has_begun{false};   ///< with each growth, which cannot be cancelled then
  std::atomic<bool> grows{false};       ///< the growth ends now
  std::atomic<bool> shrinks{false};     ///< by itself, to one process, now
  std::atomic<int> statuses{0};         ///< questions
  std::atomic<bool> shows_pid{false};   ///< in its status: that of this test, which is no process of a job
  enum class Load { unknown_question, reported, silent };
  std::atomic<Load> load{Load::unknown_question};
  std::atomic<double> share{1}; ///< that it reports, from the second question on
  std::atomic<int> load_questions{0};

  Json offered(std::size_t k) const { return offered_.at(k); }

private:
  Json under_way() const { return has_begun && resizes > 0 ? Json(resizes.load()) : Json(); }
  void tell(const Json& event) { server_.send(watcher_, control::to_line(event)); }
  void tell_resize(const Json& request, const Json& from, const Json& to) {
    tell({{"event", "resize"}, {"request", request}, {"from", from}, {"grid", to}});
  }
  void tell_asks() { tell({{"event", "asks"}, {"asks", asks_}}); }
  void begin_to_ask() {
    asks_ = {{"ask", ++asked_}, {"grids", asked_for}, {"wait", waits.load()}, {"granted", nullptr}};
    if (watcher_ != 0) tell_asks();
  }
  void end_growth() {
    has_begun = false;
    tell_resize(resizes.load(), Json::array({1, procs_}), Json::array({1, growth_}));
    procs_ = growth_;
  }
  void take(const Json& grant) {
    const Json grid = Json::array({1, procs_});
    if (grant.at("procs") == 0)
      why_refused = grant.at("reason").get<std::string>();
    else if (!gives_up)
      procs_ = grant.at("procs").get<int>();
    if (grant.at("procs") != 0 && !gives_up) tell_resize(nullptr, grid, Json::array({1, procs_}));
    asks_ = nullptr;
    tell_asks();
    ++(grant.at("procs") == 0 ? refusals : grants);
  }
  Json loads() const {
    Json all = Json::array();
    for (int place = 0; place < procs_ && load_questions > 1; ++place)
      all.push_back({{"process", place}, {"place", place}, {"host", "n1"}, {"samples", 4}, {"share", share.load()}});
    return {{"mode", "off"}, {"age_s", load_questions > 1 ? Json(0.4) : Json(nullptr)}, {"loads", std::move(all)}};
  }
  void answer(control::LineServer::Client client, std::string_view line) {
    const auto request = control::parse_request(line);
    const Json grid = Json::array({1, procs_});
    Json fields = Json::object();
    Json target; // the grid that it receives, or decides on
    if (request.op == "resize")
      target = request.body->at("grid");
    else if (request.op == "grow" && !request.body->contains("hosts"))
      target = Json::array({1, procs_ + request.body->at("by").get<int>()});
    else if (request.op == "shrink")
      target = Json::array({1, procs_ - request.body->at("by").get<int>() - gives_more});
    if (request.op == "grow" && !target.is_null()) growth_ = target[1].get<int>();
    if (request.op == "load" && ++load_questions > 0 && load == Load::silent) return;
    if (request.op == "load" && load == Load::reported)
      fields = loads();
    else if (request.op == "status" && ++statuses > 0)
      fields = {{"grid", grid},
                {"resizable", true},
                {"step", 3},
                {"steps", 0},
                {"allowed", allowed_},
                {"pending", nullptr},
                {"under_way", under_way()},
                {"asks", asks_},
                {"pid", shows_pid ? getpid() : 0}};
    else if (!target.is_null() && has_regretted_)
      fields = {{"accepted", false}, {"reason", "it was tried"}};
    else if (!target.is_null())
      fields = {{"accepted", true},
                {"request", ++resizes},
                {"from", counts_from > 0 ? Json::array({1, counts_from.load()}) : grid},
                {"grid", target}};
    else if (request.op == "offer" && !request.body->contains("hosts")) {
      const int takes = std::min(request.body->at("procs").get<int>(), takes_at_most.load());
      offered_.push_back(*request.body);
      fields = {{"accepted", takes > 0 && !has_regretted_},
                {"reason", has_regretted_ ? "it was tried" : "of no use"},
                {"from", grid},
                {"grid", Json::array({1, procs_ + takes})}};
    } else if (request.op == "offer" || request.op == "grow") {
      Json host = request.body->at("hosts")[0];
      host["slots"] = claims ? 99 : 1;
      if (request.op == "offer") offered_.push_back(*request.body);
      fields = {{"accepted", true},
                {"grid", {1, procs_ + 1}},
                {"chosen", {{"hosts", Json::array({host})}, {"left_because", "enough"}}}};
      if (request.op == "grow") fields["request"] = ++resizes;
    } else if (request.op == "cancel" && ++cancels > 0)
      fields = {{"cancelled", has_begun ? Json() : Json(resizes.load())}};
    else if (request.op == "watch")
      watcher_ = client;
    else if (request.op == "checkpoint") {
      asked_at += request.body->value("signal", "") + " ";
      ++checkpoints;
    } else if (request.op == "history") {
      const int page = request.body->value("from", 0);
      fields = {{"grids", Json::array()}, {"cores", 0}, {"next", page < 2 ? Json(page + 1) : Json(nullptr)}};
      fields["grids"].push_back({{"grid", {1, page + 1}}, {"steps", 10}, {"mean_s", 1.0 / (page + 1)}});
      ++pages;
    }
    server_.send(client, control::to_line(control::reply(request.id, fields)));
    if (request.op == "grant") take(*request.body);
    if (request.op == "offer") ++offers;
    if (request.op == "grow" && target.is_null() && obeys_)
      tell_resize(resizes.load(), grid, Json::array({1, ++procs_}));
    if (!target.is_null() && obeys_ && !has_regretted_) {
      const int before = procs_;
      procs_ = target[0].get<int>() * target[1].get<int>();
      Json event{{"event", "resize"}, {"request", resizes.load()}, {"from", grid}, {"grid", target}};
      if (!is_on.is_null()) event["hosts"] = is_on;
      tell(event);
      tell({{"event", "outcome"}, {"request", resizes.load()}, {"outcome", "done"}});
      if (!regrets || procs_ <= before) return;
      EXPECT_EQ(request.body->value("undo", true), true) << "the scheduler leaves it to the application to go back";
      has_regretted_ = true;
      procs_ = before;
      tell({{"event", "undo"}, {"request", resizes.load()}, {"from", target}, {"grid", grid}});
      tell_resize(nullptr, target, grid);
    }
  }
  control::LineServer server_;
  control::LineServer::Client watcher_ = 0;
  int procs_, growth_ = 0;
  bool obeys_, has_regretted_ = false;
  const std::string allowed_;
  std::vector<Json> offered_;
  Json asks_ = nullptr;
  int asked_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_F(SchedulerTest, AJobThatIgnoresRequestsIsLeftAlone) {
  start({"--procs", "4", "--policy", "rs", "--deadline", "0.5", "--unresponsive", "100"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, false);
  until_found({id});
  const auto second = submit({"sleep", "100"}, {{"allow", "2"}});
  until("it was asked", [&] { return application.resizes == 1; });
  until("it was given up", [&] { return job(id)["unanswered"] == 1; });
  EXPECT_EQ(job(id)["procs"], 4);
  EXPECT_EQ(job(second)["phase"], "waiting");
  EXPECT_EQ(application.cancels, 0) << "a shrink stays asked for";
  const auto third = submit({"sleep", "100"}, {{"allow", "2"}}); // all is planned anew
  EXPECT_EQ(job(third)["phase"], "waiting");
  call("cancel", {{"job", id}});
  until("the others run", [&] { return job(second)["phase"] == "running" && job(third)["phase"] == "running"; });
  EXPECT_EQ(application.resizes, 1) << "left alone from then on";
}

// As after a start with another folder, while a job of the earlier scheduler runs.
TEST_F(SchedulerTest, AnApplicationOfAnotherSchedulerIsLeftAlone) {
  FakeApplication application(folder_ + "/run", "s1", 3, true);
  application.shows_pid = true;
  start({"--procs", "4", "--policy", "rs"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1"}});
  until("it was looked at twice", [&] { return application.statuses >= 2; });
  EXPECT_EQ(job(id)["procs"], 1);
  EXPECT_EQ(job(id)["resizable"], false);
}

TEST_F(SchedulerTest, AJobWithMoreProcessesThanProcessorsShrinks) {
  start({"--procs", "4", "--policy", "rs"});
  const auto rigid = submit({"sleep", "100"}, {{"allow", "2"}, {"rigid", true}});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s2", 4, true); // it grew by a user's request
  until_found({id});
  EXPECT_EQ(job(id)["procs"], 4);
  EXPECT_EQ(job(id)["processors"], Json::array({2, 3}));
  const auto third = submit({"sleep", "100"}, {{"allow", "1"}});
  until_running(third);
  EXPECT_EQ(job(id)["procs"], 1);
  EXPECT_EQ(job(rigid)["procs"], 2);
}

/// A job of one processor is offered three more when a rigid job ends, and has not grown at the deadline.
class LateGrowthTest : public SchedulerTest {
protected:
  std::int64_t grow(FakeApplication& application) {
    start({"--procs", "4", "--policy", "rs", "--deadline", "2", "--unresponsive", "100"}); // it replies sooner
    const auto rigid = submit(until_go, {{"allow", "3"}});
    const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
    until_found({id});
    go();
    until("it is to be cancelled", [&] { return application.cancels == 1; });
    EXPECT_EQ(job(rigid)["phase"], "ended");
    return id;
  }
};

TEST_F(LateGrowthTest, ThatHasBegunKeepsItsProcessors) {
  FakeApplication application(folder_ + "/run", "s2", 1, false);
  application.has_begun = true;
  const auto id = grow(application);
  const auto second = submit({"sleep", "100"}, {{"allow", "3"}});
  const int before = application.statuses;
  until("the reply was read", [&] { return application.statuses >= before + 2; });
  EXPECT_EQ(job(second)["phase"], "waiting");
  application.grows = true;
  until("it has grown", [&] { return job(id)["procs"] == 4; });
  EXPECT_EQ(job(id)["processors"], Json::array({0, 1, 2, 3}));
  EXPECT_EQ(job(second)["phase"], "waiting");
  EXPECT_EQ(application.cancels, 1);
}

TEST_F(LateGrowthTest, ThatHasBegunKeepsItsProcessorsWhenTheSchedulerIsStartedAgain) {
  FakeApplication application(folder_ + "/run", "s2", 1, false);
  application.has_begun = true;
  const auto id = grow(application);
  crash();
  start({"--procs", "4", "--policy", "rs", "--deadline", "2", "--unresponsive", "100"});
  const auto second = submit({"sleep", "100"}, {{"allow", "3"}});
  until_found({id});
  EXPECT_EQ(job(second)["phase"], "waiting");
  application.grows = true;
  until("it has grown", [&] { return job(id)["procs"] == 4; });
  EXPECT_EQ(job(second)["phase"], "waiting");
}

TEST_F(LateGrowthTest, OfAnApplicationThatHasEndedIsGivenUp) {
  std::int64_t id = 0;
  {
    FakeApplication application(folder_ + "/run", "s2", 1, false);
    application.has_begun = true;
    id = grow(application);
  }
  const auto second = submit({"sleep", "100"}, {{"allow", "3"}});
  until_running(second);
  EXPECT_EQ(job(id)["phase"], "running") << "its program goes on without dyngrid";
  EXPECT_EQ(job(id)["why"], "the application has ended");
}

TEST_F(LateGrowthTest, ThatIsCancelledGivesItsProcessorsToOthers) {
  FakeApplication application(folder_ + "/run", "s2", 1, false);
  const auto id = grow(application);
  const auto second = submit({"sleep", "100"}, {{"allow", "3"}});
  until_running(second);
  EXPECT_EQ(job(id)["why"], "no answer within 2 s");
  EXPECT_EQ(job(id)["procs"], 1);
}

TEST_F(SchedulerTest, AGrowthKeepsItsProcessorsWhenTheJobShrinksByItself) {
  start({"--procs", "4", "--policy", "rs", "--deadline", "100"});
  submit(until_go, {{"allow", "2"}});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s2", 2, false);
  application.has_begun = true;
  until_found({id});
  go(); // two more are free for it
  until("its growth has begun", [&] { return application.resizes == 1; });
  application.shrinks = true;
  until("it has shrunk", [&] { return job(id)["procs"] == 1; });
  EXPECT_EQ(job(id)["asked"], 4);
  const auto second = submit({"sleep", "100"}, {{"allow", "2"}});
  EXPECT_EQ(call("queue")["free"], 0);
  application.grows = true;
  until("it has grown", [&] { return job(id)["procs"] == 4; });
  EXPECT_EQ(job(id)["processors"], Json::array({0, 1, 2, 3}));
  EXPECT_EQ(job(second)["phase"], "waiting");
}

// it counts in a process group of its own, as MPI's processes are
TEST_F(SchedulerTest, AJobThatIgnoresAShrinkIsStoppedAndGoesOn) {
  start({"--procs", "4", "--policy", "rs", "--deadline", "0.5", "--unresponsive", "100", "--suspend"});
  const auto id =
      submit({"/bin/bash", "-c", "set -m; (while kill -0 $$; do echo; sleep 0.02; done) & while :; do sleep 1; done"},
             {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, false);
  until_found({id});
  const auto lines = [&] { return out(id).size(); };
  const Json session = job(id)["pid"];
  until("it counts", [&] { return lines() > 3; });
  const auto second = submit(until_go, {{"allow", "3"}});
  until_running(second);
  EXPECT_TRUE(job(id)["suspended"].get<bool>());
  EXPECT_EQ(job(id)["processors"], Json::array({0}));
  EXPECT_EQ(job(second)["processors"], Json::array({1, 2, 3}));
  EXPECT_EQ(call("queue")["free"], 0);
  until("all of it is stopped", [&] { return is_stopped(session); });
  const std::size_t before = lines();
  crash();
  EXPECT_TRUE(is_stopped(session)) << states_of(session);
  start({"--procs", "4", "--policy", "rs", "--deadline", "0.5", "--unresponsive", "100", "--suspend"});
  EXPECT_TRUE(job(id)["suspended"].get<bool>());
  EXPECT_TRUE(is_stopped(session)) << states_of(session);
  EXPECT_EQ(lines(), before);
  go();
  until("it goes on", [&] { return !job(id)["suspended"].get<bool>(); });
  EXPECT_EQ(job(id)["processors"], Json::array({0, 1, 2, 3}));
  until("it counts again", [&] { return lines() > before; });
  EXPECT_EQ(call("queue")["free"], 0);
}

TEST_F(SchedulerTest, AJobGoesOnAfterACrashBetweenTheLineAndTheSignal) {
  start({"--procs", "2", "--policy", "rs", "--deadline", "0.3", "--unresponsive", "100", "--suspend"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:2"}});
  FakeApplication application(folder_ + "/run", "s1", 2, false);
  until_found({id});
  const auto second = submit({"sleep", "100"}, {{"allow", "1"}});
  until_running(second);
  const Json session = job(id)["pid"];
  until("all of it is stopped", [&] { return is_stopped(session); });
  crash();
  std::ofstream(folder_ + "/s/journal", std::ios::app)
      << sched::encode({sched::Entry::Kind::resume, base::unix_time_s(), id, {"0,1"}});
  start({"--procs", "2", "--policy", "rs"});
  until("it goes on", [&] { return states_of(session).find('T') == std::string::npos; });
}

TEST_F(SchedulerTest, AJobThatIgnoresAShrinkIsEnded) {
  start({"--procs", "4", "--policy", "rs", "--deadline", "0.5", "--unresponsive", "100", "--end-unresponsive"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, false);
  until_found({id});
  const auto second = submit({"sleep", "100"}, {{"allow", "3"}});
  EXPECT_EQ(wait(id)["why"], "ended: no answer within 0.5 s");
  EXPECT_EQ(application.resizes, 1);
  until_running(second);
  EXPECT_EQ(call("queue")["free"], 1);
  EXPECT_TRUE(says(output_of("queue"), "ended: no answer within 0.5 s"));
}

TEST_F(SchedulerTest, AJobIsEndedAlsoAfterACrashBetweenTheLineAndTheSignal) {
  start({"--procs", "4", "--policy", "rs", "--deadline", "1000", "--end-unresponsive"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, false);
  until_found({id});
  const auto second = submit({"sleep", "100"}, {{"allow", "3"}});
  until("it was asked", [&] { return application.resizes == 1; });
  crash();
  std::ofstream(folder_ + "/s/journal", std::ios::app)
      << sched::encode({sched::Entry::Kind::cancel, base::unix_time_s(), id, {"ended: no answer within 1000 s"}});
  start({"--procs", "4", "--policy", "rs"});
  EXPECT_EQ(wait(id)["why"], "ended: no answer within 1000 s");
  until_running(second);
}

/// A shrink was requested of job s1, and its deadline has passed while no scheduler ran.
class OverdueShrinkTest : public SchedulerTest {
protected:
  void ask(FakeApplication& application) {
    start({"--procs", "4", "--policy", "rs", "--deadline", "1000", "--end-unresponsive"});
    EXPECT_EQ(submit({"sleep", "100"}, {{"allow", "1:4"}}), 1);
    until_found({1});
    EXPECT_EQ(submit({"sleep", "100"}, {{"allow", "3"}}), 2);
    until("it was asked", [&] { return application.resizes == 1; });
    crash();
    std::ofstream(folder_ + "/s/journal", std::ios::app)
        << sched::encode({sched::Entry::Kind::ask, base::unix_time_s() - 2000, 1, {"1", ""}});
  }
  void start_again() {
    start({"--procs", "4", "--policy", "rs", "--deadline", "1000", "--unresponsive", "1000", "--end-unresponsive"});
  }
};

TEST_F(OverdueShrinkTest, IsNoReasonToEndAJobThatHasShrunkMeanwhile) {
  FakeApplication application(folder_ + "/run", "s1", 4, false);
  ask(application);
  application.shrinks = true;
  until("it has shrunk", [&] { return !application.shrinks; });
  start_again();
  until_running(2);
  EXPECT_EQ(job(1)["phase"], "running");
  EXPECT_EQ(job(1)["procs"], 1);
  EXPECT_FALSE(job(1)["cancelled"].get<bool>());
}

TEST_F(OverdueShrinkTest, IsNoReasonToEndAJobWhoseProgramHasEnded) {
  {
    FakeApplication application(folder_ + "/run", "s1", 4, false);
    ask(application);
  }
  start_again();
  until("it is given up", [&] { return job(1)["why"] == "the application has ended"; });
  EXPECT_EQ(job(1)["phase"], "running");
  EXPECT_FALSE(job(1)["cancelled"].get<bool>());
}

/// Hosts are folders of this machine: h/HOST/proc has the processes that are there, and the shell that reaches a host
/// sees no others. On each host of a job a process counts, outside of the job's session and with its environment.
class HostsTest : public SchedulerTest {
protected:
  void SetUp() override {
    SchedulerTest::SetUp();
    for (const char* host : {"a", "b", "c"}) std::filesystem::create_directories(folder_ + "/h/" + host + "/proc");
    write_program("shell", "host=$1; shift; echo \"$host $*\" >> " + folder_ + "/h/asked\n" + "[ ! -e " + folder_ +
                               "/h/$host/gone ] || { echo no route to host; exit 255; }\n" +
                               "exec sh -c \"$(printf '%s' \"$*\" | sed \"s#/proc/#" + folder_ +
                               "/h/$host/proc/#g\")\"\n");
    write_program("count", "cd " + folder_ + "/h/$1; ln -s /proc/$$ proc/$$\n" +
                               "while kill -0 $2 2>/dev/null; do echo; sleep 0.02; done > count\n");
    write_program("job", "for host in a b c; do setsid " + folder_ + "/count $host $$ & done\n" +
                             "while :; do sleep 1; done\n");
  }
  void write_program(const std::string& name, const std::string& lines) {
    std::ofstream(folder_ + "/" + name) << "#!/bin/sh\n" << lines;
    chmod((folder_ + "/" + name).c_str(), 0700);
  }
  void start_on_hosts() {
    start({"--hosts", "a:2,b:2,c:1", "--policy", "rs", "--deadline", "0.4", "--unresponsive", "100", "--suspend",
           "--shell", folder_ + "/shell", "--dictate"});
  }
  /// Hosts on which the process of the job is there and not stopped.
  std::string hosts_that_count() const {
    std::string hosts;
    for (const char* host : {"a", "b", "c"})
      for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/h/" + host + "/proc")) {
        const auto words = stat_of(entry.path().filename().string());
        if (!words.empty() && words[0] != "T" && words[0] != "Z") hosts += host;
      }
    return hosts;
  }
  void until_count(const char* what, const std::string& hosts) {
    until(what, [&] { return hosts_that_count() == hosts; });
  }
  /// The first job has a and b, though processes with its mark are on c as well, and gives half back for the second.
  std::int64_t stopped_job(
      FakeApplication& application, const std::function<void()>& before = [] {}) {
    const auto id = 1;
    until_found({id});
    until_count("it counts on all hosts", "abc");
    before();
    submit(until_go, {{"allow", "3"}});
    until("it is stopped", [&] { return job(id)["suspended"].get<bool>(); });
    EXPECT_EQ(application.resizes, 1);
    return id;
  }
};

TEST_F(HostsTest, AJobIsStoppedOnItsHostsAndGoesOn) {
  start_on_hosts();
  EXPECT_EQ(submit({folder_ + "/job"}, {{"allow", "1:4"}}), 1);
  FakeApplication application(folder_ + "/run", "s1", 4, false);
  const auto id = stopped_job(application);
  EXPECT_EQ(job(id)["processors"], Json::array({0, 1}));
  until_count("it is stopped on its hosts, and on no other", "c");
  until_running(2);
  crash();
  EXPECT_EQ(hosts_that_count(), "c");
  start_on_hosts();
  EXPECT_TRUE(job(id)["suspended"].get<bool>());
  EXPECT_EQ(hosts_that_count(), "c");
  go();
  until("it goes on", [&] { return !job(id)["suspended"].get<bool>(); });
  until_count("it counts again", "abc");
  EXPECT_EQ(job(id)["processors"], Json::array({0, 1, 2, 3}));
  std::istringstream asked(content_of(folder_ + "/h/asked"));
  for (std::string line; std::getline(asked, line);)
    EXPECT_FALSE(line[0] == 'c' && line.find("-s1") != std::string::npos) << line;
  EXPECT_EQ(job(id)["hosts_silent"], Json::array());
}

TEST_F(HostsTest, AHostThatDoesNotAnswerIsSaidAndAskedAgain) {
  start_on_hosts();
  submit({folder_ + "/job"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, false);
  const auto id = stopped_job(application, [&] { std::ofstream(folder_ + "/h/b/gone") << "gone"; });
  until("the host is said", [&] { return job(id)["hosts_silent"] == Json::array({"b"}); });
  until_count("it is stopped where it can be", "bc");
  EXPECT_TRUE(says(content_of(folder_ + "/err"),
                   "host b does not answer, and processes there do not stop: status 255: no "
                   "route to host"));
  std::filesystem::remove(folder_ + "/h/b/gone");
  until("the host answers", [&] { return job(id)["hosts_silent"] == Json::array(); });
  until_count("it is stopped there as well", "c");
  call("shutdown");
  collect();
  EXPECT_EQ(hosts_that_count(), "abc") << "without a scheduler nobody would have it go on";
  start_on_hosts();
  until_count("the next one stops it again", "c");
  call("cancel", {{"job", id}});
  EXPECT_EQ(wait(id)["why"], "cancelled");
  until_count("what is left of it can end", "");
}

TEST_F(HostsTest, AHostThatDoesNotAnswerIsForgottenWithItsJob) {
  start_on_hosts();
  submit({folder_ + "/job"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, false);
  const auto id = stopped_job(application, [&] { std::ofstream(folder_ + "/h/b/gone") << "gone"; });
  until("the host is said", [&] { return job(id)["hosts_silent"] == Json::array({"b"}); });
  call("cancel", {{"job", id}});
  EXPECT_EQ(wait(id)["why"], "cancelled");
  until("the host is asked no more", [&] { return job(id)["hosts_silent"] == Json::array(); });
  go();
  EXPECT_EQ(wait(2)["status"], "0");
  call("shutdown");
  EXPECT_EQ(collect(), 0);
  EXPECT_FALSE(says(content_of(folder_ + "/err"), "some hosts did not answer"));
}

TEST_F(HostsTest, AStoppedJobThatIsKilledGoesOnWhereItCanEnd) {
  start_on_hosts();
  submit({folder_ + "/job"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, false);
  const auto id = stopped_job(application);
  until_count("it is stopped on its hosts", "c");
  kill(static_cast<pid_t>(-job(id)["pid"].get<std::int64_t>()), SIGKILL);
  EXPECT_EQ(wait(id)["why"], "killed");
  until("nothing of it is left", [&] {
    for (const char* host : {"a", "b", "c"})
      for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/h/" + host + "/proc"))
        if (const auto words = stat_of(entry.path().filename().string()); !words.empty() && words[0] != "Z")
          return false;
    return true;
  });
}

TEST_F(SchedulerTest, AStoppedJobCanBeCancelled) {
  start({"--procs", "2", "--policy", "rs", "--deadline", "0.3", "--unresponsive", "100", "--suspend"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:2"}});
  FakeApplication application(folder_ + "/run", "s1", 2, false);
  until_found({id});
  const auto second = submit({"sleep", "100"}, {{"allow", "1"}});
  until("it is stopped", [&] { return job(id)["suspended"].get<bool>(); });
  call("cancel", {{"job", id}});
  EXPECT_EQ(wait(id)["why"], "cancelled");
  EXPECT_EQ(job(second)["phase"], "running");
  EXPECT_EQ(call("queue")["free"], 1);
}

TEST_F(SchedulerTest, ASignalIsPassedOnToJobs) {
  start({"--procs", "1", "--policy", "ls"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1"}});
  FakeApplication application(folder_ + "/run", "s1", 1, true);
  until_found({id});
  kill(pid_, SIGUSR1);
  EXPECT_EQ(job(id)["phase"], "running") << "the scheduler goes on";
  until("it is passed on", [&] { return application.checkpoints == 1; });
  kill(pid_, SIGTERM);
  EXPECT_EQ(collect(), 0);
  until("the other one is passed on", [&] { return application.checkpoints == 2; });
  application.end();
  EXPECT_EQ(application.asked_at, "USR1 TERM ");
  start({"--procs", "1", "--policy", "ls"}); // which ends the job
}

TEST_F(SchedulerTest, AHistoryInPagesIsReadToItsEnd) {
  start({"--procs", "4", "--policy", "rs"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, true);
  until("all pages were asked for", [&] { return application.pages == 3; });
  const auto second = submit({"sleep", "100"}, {{"allow", "2"}});
  until_running(second);
  until("they were asked for again after the change", [&] { return application.pages == 6; });
  EXPECT_TRUE(job(id).value("resizable", false));
}

// The connection ends just before a status and the history are to be requested: the scheduler is stopped over that
// time.
TEST_F(SchedulerTest, AHistoryIsReadAgainAfterAReconnect) {
  start({"--procs", "1", "--policy", "tp"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1"}});
  {
    FakeApplication application(folder_ + "/run", "s1", 1, true);
    until("its history was read", [&] { return application.pages == 3 && job(id).value("resizable", false); });
    kill(pid_, SIGSTOP);
    until("it is stopped", [&] { return stat_of(std::to_string(pid_)).at(0) == "T"; });
  }
  const double due_s = base::monotonic_s() + 2;
  until("the next request is due", [&] { return base::monotonic_s() > due_s; });
  kill(pid_, SIGCONT);
  until("the connection is lost", [&] { return !job(id).value("resizable", true); });
  FakeApplication again(folder_ + "/run", "s1", 1, true);
  until("its history was read again", [&] { return again.pages >= 3; });
}

// A growth is pending when the connection ends, and none over the next connection. The scheduler is stopped meanwhile.
TEST_F(SchedulerTest, AGrowthThatIsGoneAfterAReconnectIsGivenUp) {
  start({"--procs", "4", "--policy", "rs", "--deadline", "1000", "--unresponsive", "1000"});
  submit(until_go, {{"allow", "3"}});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  {
    FakeApplication application(folder_ + "/run", "s2", 1, false);
    until_found({id});
    go();
    until("a growth is pending", [&] { return application.resizes == 1; });
    kill(pid_, SIGSTOP);
    until("it is stopped", [&] { return stat_of(std::to_string(pid_)).at(0) == "T"; });
  }
  FakeApplication again(folder_ + "/run", "s2", 1, false);
  kill(pid_, SIGCONT);
  until("it is given up", [&] { return job(id)["unanswered"] == 1; });
  EXPECT_EQ(job(id)["why"], "the request is no longer pending in the job");
  EXPECT_EQ(call("queue")["free"], 3);
}

TEST_F(SchedulerTest, AJobThatGoesBackGivesItsProcessorsBack) {
  start({"--procs", "4", "--policy", "rs"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, true);
  until_found({id});
  const auto second = submit(until_go, {{"allow", "3"}});
  until_running(second);
  EXPECT_EQ(job(id)["procs"], 1);
  application.regrets = true;
  go();
  until("the first has grown and gone back", [&] { return job(id)["changes"] == 3; });
  until("asked again, it declined", [&] { return job(id)["unanswered"] == 1; });
  EXPECT_EQ(job(id)["processors"], Json::array({0}));
  EXPECT_EQ(call("queue")["free"], 3);
  const auto third = submit({"sleep", "100"}, {{"allow", "3"}});
  until_running(third);
}

TEST_F(SchedulerTest, AJobIsOfferedProcessorsAndTakesWhatItLikes) {
  start({"--hosts", "slow:2,fast:2:3,middle:1:2", "--policy", "rs", "--unresponsive", "0.2"});
  const auto rigid = submit(until_go, {{"allow", "4"}});
  until_running(rigid);
  EXPECT_EQ(job(rigid)["processors"], Json::array({0, 2, 3, 4})) << "the fastest first";
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s2", 1, true);
  until_found({id});
  go(); // three are free for it
  until("it has grown three times", [&] { return job(id)["procs"] == 4; });
  EXPECT_EQ(application.offered(0)["hosts"],
            base::parse_json(R"([{"name":"fast","slots":2,"speed":3.0},{"name":"middle","slots":1,"speed":2.0}])"));
  EXPECT_EQ(application.offered(0)["tpp"], 8.0);
  EXPECT_EQ(had(id), (std::vector<Json>{{1}, {1, 2}, {1, 2, 3}, {1, 2, 3, 4}})) << "one of the first host each time";
  EXPECT_EQ(call("queue")["free"], 1);
}

TEST_F(SchedulerTest, AJobThatClaimsWhatItWasNotOffered) {
  start({"--hosts", "a:2,b:2:3", "--policy", "rs", "--unresponsive", "100"});
  const auto id = submit(until_go, {{"allow", "3"}});
  until_running(id);
  const auto second = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s2", 1, true);
  application.claims = true;
  until_found({second});
  go();
  until("it was refused", [&] { return job(second)["unanswered"] == 1; });
  EXPECT_TRUE(says(job(second)["why"].get<std::string>(), "were not offered"));
  EXPECT_EQ(job(second)["procs"], 1);
  EXPECT_EQ(call("queue")["free"], 3);
}

TEST_F(SchedulerTest, AJobThatShrinksHasTheProcessorsThatItKept) {
  start({"--hosts", "a:2,b:3:3", "--policy", "rs"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:5"}});
  FakeApplication application(folder_ + "/run", "s1", 5, true);
  application.is_on = base::parse_json(R"([{"name":"b.cluster","slots":2}])");
  until_found({id});
  const auto second = submit({"sleep", "100"}, {{"allow", "3"}});
  until_running(second);
  EXPECT_EQ(job(id)["processors"], Json::array({2, 3}));
  EXPECT_EQ(job(second)["processors"], Json::array({0, 1, 4}));
}

TEST_F(SchedulerTest, AJobChoosesHowMuchItGivesBack) {
  start({"--procs", "16", "--policy", "rs", "--deadline", "100"});
  const auto id = submit({"sleep", "100"}, {{"allow", "4,9,16"}});
  FakeApplication application(folder_ + "/run", "s1", 16, true);
  until_found({id});
  application.gives_more = 5; // of the sizes that it allows 9 is the largest that leaves 5, and it keeps 4
  const auto second = submit(until_go, {{"allow", "5"}});
  until_running(second);
  const std::vector<Json> processors = had(id);
  ASSERT_GE(processors.size(), 2u);
  EXPECT_EQ(processors[1], Json::array({0, 1, 2, 3}));
  EXPECT_EQ(job(second)["processors"].size(), 5u);
}

TEST_F(SchedulerTest, WhatAJobDoesNotTakeGoesToTheNext) {
  start({"--procs", "9", "--policy", "rs", "--unresponsive", "100"});
  const auto rigid = submit(until_go, {{"allow", "7"}});
  until_running(rigid);
  const auto first = submit({"sleep", "100"}, {{"allow", "1:9"}}),
             second = submit({"sleep", "100"}, {{"allow", "1:9"}});
  FakeApplication one(folder_ + "/run", "s2", 1, true), other(folder_ + "/run", "s3", 1, true);
  one.takes_at_most = 2;
  until_found({first, second});
  go();
  until("one has two more, then none, and the other has the rest",
        [&] { return job(first)["procs"].get<int>() + job(second)["procs"].get<int>() == 9; });
  EXPECT_GE(job(first)["procs"], 3);
  EXPECT_EQ(call("queue")["free"], 0);
}

TEST_F(SchedulerTest, AShrinkThatCountsFromAnotherGridIsCancelled) {
  start({"--procs", "4", "--policy", "rs", "--deadline", "100", "--unresponsive", "100"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, false);
  application.counts_from = 3; // the event of that change is still under way
  until_found({id});
  submit({"sleep", "100"}, {{"allow", "2"}});
  until("it is cancelled", [&] { return application.cancels > 0; });
  until("that is recorded", [&] { return job(id)["unanswered"] > 0; });
  EXPECT_EQ(job(id)["procs"], 4);
  application.counts_from = 0;
  const int before = application.resizes;
  until("it is asked again", [&] { return application.resizes > before; });
}

// Two jobs of four processors each, equal but for their load, and a third that waits for two.
TEST_F(SchedulerTest, TheJobOnLoadedHostsShrinks) {
  start({"--procs", "8", "--policy", "rs", "--verbose"});
  const auto first = submit({"sleep", "100"}, {{"allow", "2,4"}}),
             second = submit({"sleep", "100"}, {{"allow", "2,4"}});
  FakeApplication quiet(folder_ + "/run", "s1", 4, true), loaded(folder_ + "/run", "s2", 4, true);
  quiet.load = loaded.load = FakeApplication::Load::reported;
  loaded.share = 0.52;
  until_found({first, second});
  EXPECT_TRUE(job(second)["share"].is_null());
  EXPECT_EQ(quiet.load_questions + loaded.load_questions, 0) << "no job has to shrink";
  const auto third = submit({"sleep", "100"}, {{"allow", "2"}});
  until_running(third);
  EXPECT_EQ(job(first)["procs"], 4);
  EXPECT_EQ(job(second)["procs"], 2);
  EXPECT_EQ(quiet.resizes, 0);
  EXPECT_EQ(loaded.resizes, 1);
  EXPECT_EQ(job(first)["share"], 1.0);
  EXPECT_EQ(job(second)["share"], 0.52);
  EXPECT_TRUE(
      says(content_of(folder_ + "/err"), "asks job 2 to shrink to 2: its processes get 0.52 of their processors"));
}

TEST_F(SchedulerTest, TheCommandShowsLoadsBesideAJobThatHasNone) {
  FakeApplication stuck(folder_ + "/run", "s1", 2, false); // comes to no resize point
  EXPECT_TRUE(says(output_of("load --all --timeout 0.5"), "no job has reported its load"));
  FakeApplication measured(folder_ + "/run", "s2", 2, false);
  measured.load = FakeApplication::Load::reported;
  measured.share = 0.5;
  const std::string text = output_of("load --all --timeout 0.5 --json");
  EXPECT_TRUE(says(text, "job s1 did not come to a resize point within 0.5 s"));
  const Json answer = base::parse_json(text.substr(std::min(text.find('{'), text.size())));
  EXPECT_EQ(answer.at("silent"), Json::array({"s1"}));
  ASSERT_EQ(answer.at("hosts").size(), 1u);
  EXPECT_EQ(answer.at("hosts")[0].at("job"), "s2");
  EXPECT_EQ(answer.at("hosts")[0].at("share"), 0.5);
}

// The first job never reports its load. It counts as unloaded, and the others do not wait for it.
TEST_F(SchedulerTest, AJobThatDoesNotReportItsLoad) {
  start({"--procs", "8", "--policy", "rs", "--verbose"});
  const auto first = submit({"sleep", "100"}, {{"allow", "2,4"}}),
             second = submit({"sleep", "100"}, {{"allow", "2,4"}});
  FakeApplication silent(folder_ + "/run", "s1", 4, true), loaded(folder_ + "/run", "s2", 4, false);
  silent.load = FakeApplication::Load::silent;
  loaded.load = FakeApplication::Load::reported;
  loaded.share = 0.52;
  until_found({first, second});
  const auto third = submit({"sleep", "100"}, {{"allow", "2"}});
  until("the loaded one is asked", [&] { return loaded.resizes == 1; });
  EXPECT_EQ(silent.load_questions, 1);
  EXPECT_EQ(silent.resizes, 0);
  EXPECT_EQ(job(third)["why"],
            "needs 2 processors, 0 are free; asked to shrink: job 2 (its processes get 0.52 of their processors)");
  EXPECT_TRUE(says(content_of(folder_ + "/err"), "job 1 did not report its load in time"));
  EXPECT_TRUE(job(first)["share"].is_null());
}

TEST_F(SchedulerTest, AJobAsksBeforeItGrows) {
  start({"--hosts", "a:2,b:4:2", "--policy", "ls"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1"}});
  FakeApplication application(folder_ + "/run", "s1", 1, true);
  until_found({id});
  const auto ask = [&](const char* grid) {
    const int before = application.grants + application.refusals;
    application.asked_for = grid;
    application.wants = true;
    until("it is answered", [&] { return application.grants + application.refusals > before; });
  };
  ask("1x3");
  EXPECT_EQ(application.grants, 1);
  until("it is booked", [&] { return job(id)["procs"] == 3; });
  EXPECT_EQ(job(id)["processors"], Json::array({2, 3, 4})) << "the fastest";
  application.gives_up = true;
  ask("2x3");
  EXPECT_EQ(application.grants, 2);
  until("what it did not take is free", [&] { return call("queue")["free"] == 3; });
  application.gives_up = false;
  ask("1x7");
  EXPECT_TRUE(says(application.why_refused, "no grid of 1x7"));
  const auto other = submit({"sleep", "100"}, {{"allow", "2"}});
  until_running(other);
  ask("5x1");
  EXPECT_TRUE(says(application.why_refused, "2 processors more are asked for, 1 of 6 are free"));
  const auto waits = submit({"sleep", "100"}, {{"allow", "4"}});
  ask("2x2");
  EXPECT_TRUE(says(application.why_refused, "1 of 6 are free, and 1 jobs wait for 4"));
  call("cancel", {{"job", waits}});
  ask("2x2");
  EXPECT_EQ(application.grants, 3);
  until("it is booked", [&] { return job(id)["procs"] == 4; });
  EXPECT_EQ(call("queue")["free"], 0);
}

TEST_F(SchedulerTest, ANeedWaitsUntilAnotherEnds) {
  start({"--procs", "4", "--policy", "ls"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1"}});
  const auto rigid = submit(until_go, {{"allow", "3"}});
  FakeApplication application(folder_ + "/run", "s1", 1, true, "1:4");
  until_found({id});
  const auto need = [&](const char* grids) {
    application.asked_for = grids;
    application.waits = application.wants = true;
  };
  need("5:9");
  until("never more", [&] { return application.refusals == 1; });
  EXPECT_TRUE(says(application.why_refused, "of the 4 there are"));
  need("3:4");
  until_asking(id);
  crash(); // the next one learns of it
  start({"--procs", "4", "--policy", "ls"});
  until_asking(id);
  const auto late = submit({"sleep", "100"}, {{"allow", "1:3"}});
  EXPECT_EQ(application.grants, 0);
  go();
  until("it is granted", [&] { return application.grants == 1; });
  EXPECT_EQ(job(rigid)["phase"], "ended");
  until("it is booked", [&] { return job(id)["procs"] == 4; });
  EXPECT_EQ(job(late)["phase"], "waiting") << "a job that runs and waits goes before one that has not begun";
  EXPECT_TRUE(job(id)["asks"].is_null());
}

TEST_F(SchedulerTest, TheFirstThatAskedIsTheFirstThatGets) {
  start({"--procs", "4", "--policy", "ls"});
  const auto first = submit({"sleep", "100"}, {{"allow", "1"}}), second = submit({"sleep", "100"}, {{"allow", "1"}});
  const auto rigid = submit(until_go, {{"allow", "2"}, {"rigid", true}});
  FakeApplication one(folder_ + "/run", "s1", 1, true, "1:3"), other(folder_ + "/run", "s2", 1, true, "1:3");
  until_found({first, second});
  for (const auto& [application, id] : {std::pair{&other, second}, std::pair{&one, first}}) {
    application->asked_for = "3";
    application->waits = application->wants = true;
    until("it waits", [&, id = id] { return job(id)["asks"].is_object(); });
  }
  EXPECT_EQ(job(rigid)["phase"], "running");
  go();
  until("one of them has got it", [&] { return one.grants + other.grants == 1; });
  EXPECT_EQ(other.grants, 1);
  until("it is booked", [&] { return job(second)["procs"] == 3; });
  call("cancel", {{"job", second}});
  until("the other has got it", [&] { return one.grants == 1; });
}

TEST_F(SchedulerTest, ForANeedOthersShrinkAndNobodyWaitsForEver) {
  start({"--procs", "4", "--policy", "rs"});
  const auto first = submit({"sleep", "100"}, {{"allow", "2"}});
  const auto second = submit({"sleep", "100"}, {{"allow", "1:2"}});
  FakeApplication one(folder_ + "/run", "s1", 2, true, "2:4"), other(folder_ + "/run", "s2", 2, true);
  until_found({first, second});
  EXPECT_EQ(job(second)["procs"], 2);
  one.asked_for = "3";
  one.waits = one.wants = true;
  until("it has what the other gave back", [&] { return job(first)["procs"] == 3; });
  EXPECT_EQ(job(second)["procs"], 1);
  one.asked_for = "4";
  one.wants = true; // the other would have to end
  until_asking(first);
  other.asked_for = "2";
  other.waits = other.wants = true;
  until("both would wait for ever", [&] { return other.refusals == 1; });
  EXPECT_TRUE(says(other.why_refused, "the jobs 1 wait for more"));
  call("cancel", {{"job", second}});
  until("it is granted", [&] { return job(first)["procs"] == 4; });
}

TEST_F(SchedulerTest, AJobThatObeysAndACrashBetween) {
  start({"--procs", "4", "--policy", "rs"});
  const auto id = submit({"sleep", "100"}, {{"allow", "1:4"}});
  FakeApplication application(folder_ + "/run", "s1", 4, true);
  until_found({id});
  const auto second = submit(until_go, {{"allow", "3"}});
  until_running(second);
  EXPECT_EQ(job(id)["processors"], Json::array({0}));
  EXPECT_EQ(job(second)["processors"], Json::array({1, 2, 3}));
  crash();
  start({"--procs", "4", "--policy", "rs"});
  EXPECT_EQ(job(id)["procs"], 1);
  go();
  until("the first has grown back", [&] { return job(id)["procs"] == 4; });
  EXPECT_EQ(job(id)["changes"], 2);
  const Json timeline = call("timeline");
  ASSERT_EQ(timeline.at("segments").size(), 4u);
  EXPECT_EQ(timeline.at("segments")[3].at("processors"), Json::array({0, 1, 2, 3}));
}

// The example, on one processor, needs four; until a job of three has ended it sleeps, and then its matrix is on four.
TEST_F(SchedulerTest, ANeedIsGrantedWhenAnotherEndsAsPdgemmShows) {
  start({"--procs", "4", "--policy", "rs"}, true);
  const auto rigid = submit(until_go, {{"allow", "3"}, {"rigid", true}});
  const auto id = submit({NEED}, {{"allow", "1:4"}});
  until_asking(id);
  int looks = 0; // one that looks for an answer over and over computes at some of them
  until("it sleeps", [&] {
    looks = states_of(job(id)["pid"]).find('R') == std::string::npos ? looks + 1 : 0;
    return looks == 20;
  });
  EXPECT_EQ(job(id)["procs"], 1);
  EXPECT_EQ(job(rigid)["phase"], "running");
  go();
  const Json ended = wait(id);
  EXPECT_EQ(ended.at("status"), "0") << content_of(folder_ + "/s/jobs/2.err");
  const std::string text = out(id), sum = text.substr(text.find(": "));
  EXPECT_EQ(text, "on 1 x 1" + sum.substr(0, sum.find('\n')) + "\non 2 x 2" + sum.substr(0, sum.find('\n')) + "\n");
  EXPECT_EQ(call("status")["free"], 4);
}

// Its timetable wants four processors, which it does not get, since two are taken, and later two.
TEST_F(SchedulerTest, PdgemmAsksForWhatItsTimetableWants) {
  start({"--procs", "4", "--policy", "ls", "--verbose"}, true);
  const auto rigid = submit({"sleep", "100"}, {{"allow", "2"}, {"rigid", true}});
  const auto id = submit({PDGEMM, "--n", "64", "--nb", "8", "--steps", "12", "--check", "--resize-at", "3:2x2,6:1x2"},
                         {{"allow", "1"}});
  EXPECT_EQ(wait(id)["status"], "0") << content_of(folder_ + "/s/jobs/2.err");
  const std::string said = content_of(folder_ + "/s/jobs/2.err");
  EXPECT_TRUE(says(said, "the scheduler refuses 2x2: 3 processors more are asked for, 1 of 4 are free"));
  EXPECT_TRUE(says(out(id), "12 steps all right, 1x1 -> 1x2;"));
  EXPECT_EQ(had(id), (std::vector<Json>{Json::array({2}), Json::array({2, 3})}));
  EXPECT_EQ(job(rigid)["processors"], Json::array({0, 1}));
  EXPECT_EQ(call("status")["free"], 2);
}

// A factorization, one call of the program, makes room for another job and takes the processor back when that has
// ended; pivots, factors and the solution are right.
TEST_F(SchedulerTest, AFactorizationShrinksAndGrowsInside) {
  start({"--procs", "2", "--policy", "rs", "--dictate"}, true);
  const auto lu = submit({FACTORING, "lu", "d", "480x480", "8", "0", "1x2"},
                         {{"allow", "1:2"}, {"variables", {"TEST_HOLD=2", "TEST_CHANGES=2"}}});
  until("it can be resized", [&] { return job(lu).value("resizable", false); });
  const auto other = submit(until_go, {{"allow", "1"}});
  until_running(other);
  EXPECT_EQ(job(lu)["phase"], "running");
  EXPECT_EQ(job(lu)["procs"], 1);
  EXPECT_EQ(job(lu)["changes"], 1);
  go();
  until("it has grown again", [&] { return job(lu)["changes"] == 2; });
  EXPECT_EQ(wait(other)["status"], "0");
  const Json ended = wait(lu);
  EXPECT_EQ(ended.at("status"), "0") << content_of(folder_ + "/s/jobs/1.err");
  EXPECT_EQ(ended.at("changes"), 2);
  EXPECT_EQ(out(lu), "lu: 1 rounds right\n");
  std::vector<std::size_t> counts; // both requests of the scheduler were done
  for (const Json& processors : had(lu)) counts.push_back(processors.size());
  EXPECT_EQ(counts, (std::vector<std::size_t>{2, 1, 2}));
  EXPECT_EQ(call("status")["free"], 2);
}

/// Bytes of a process's memory, and its open files.
std::pair<std::int64_t, std::int64_t> held_by(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  const std::string status = content_of(folder + "/status");
  const std::filesystem::directory_iterator files(folder + "/fd"), end;
  return {1024 * std::stoll(status.substr(status.find("RssAnon:") + 8)), std::distance(files, end)};
}

// Each needs three of four processors whenever it has fewer, so that the other shrinks, as often as TEST_ROUNDS says.
// They take turns, and look at their own memory, files and communicators.
TEST_F(SchedulerTest, TwoJobsAgainstEachOther) {
  const char* text = std::getenv("TEST_ROUNDS");
  const int rounds = text ? std::atoi(text) : 10;
  start({"--procs", "4", "--policy", "rs"}, true);
  const std::vector<std::string> command{AGAINST, std::to_string(rounds), folder_ + "/over"};
  const auto one = submit(command, {{"allow", "1:3"}}), other = submit(command, {{"allow", "1:3"}});
  const auto changes = [&] { return job(one)["changes"].get<int>() + job(other)["changes"].get<int>(); };
  until("a quarter of the changes", [&] { return changes() >= rounds; });
  const auto [bytes, files] = held_by(pid_);
  until("three quarters of the changes", [&] { return changes() >= 3 * rounds; });
  const auto [bytes_then, files_then] = held_by(pid_);
  EXPECT_LE(files_then, files + 4);
  EXPECT_LE(bytes_then, bytes + (std::int64_t{2} << 20));
  for (const auto id : {one, other})
    EXPECT_EQ(wait(id)["status"], "0") << content_of(fmt::format("{}/s/jobs/{}.err", folder_, id));
  EXPECT_LE(std::abs(std::atoi(out(one).c_str()) - std::atoi(out(other).c_str())), 2) << out(one) << out(other);
  std::printf("%s%sscheduler: %ld -> %ld kB, open files %ld -> %ld\n", out(one).c_str(), out(other).c_str(),
              static_cast<long>(bytes >> 10), static_cast<long>(bytes_then >> 10), static_cast<long>(files),
              static_cast<long>(files_then));
  // no processor was ever counted twice
  std::map<int, std::vector<std::pair<double, double>>> held;
  const Json timeline = call("timeline");
  for (const Json& s : timeline.at("segments"))
    for (const Json& processor : s.at("processors"))
      held[processor.get<int>()].emplace_back(s.at("begin_s").get<double>(), s.at("end_s").get<double>());
  EXPECT_EQ(held.size(), 4u);
  for (auto& [processor, spans] : held) {
    std::sort(spans.begin(), spans.end());
    for (std::size_t k = 1; k < spans.size(); ++k) EXPECT_LE(spans[k - 1].second, spans[k].first) << processor;
  }
  EXPECT_EQ(call("status")["free"], 4);
}

// Two PDGEMMs on two processors each; the scheduler is killed and comes back; a third job needs two
// processors, so both shrink to one; when it has ended both grow again. Then the mpirun of a fourth is
// killed.
TEST_F(SchedulerTest, TwoPdgemmShrinkForAThirdAndGrowBack) {
  start({"--procs", "4", "--policy", "rs", "--dictate"}, true);
  const auto pdgemm = [&](const char* n, const char* steps, const char* allow) {
    return submit({PDGEMM, "--n", n, "--nb", "32", "--steps", steps, "--check"}, {{"allow", allow}});
  };
  const char* until_cancelled = "100000000";
  const auto a = pdgemm("512", until_cancelled, "1:2"), b = pdgemm("512", until_cancelled, "1:2");
  until_found({a, b});
  const Json pids{job(a)["pid"], job(b)["pid"]};
  crash();
  start({"--procs", "4", "--policy", "rs", "--dictate"}, true);
  EXPECT_EQ(Json({job(a)["pid"], job(b)["pid"]}), pids);
  until_found({a, b});
  const auto c = pdgemm("64", "3", "2");
  const Json third = wait(c);
  EXPECT_EQ(third.at("status"), "0");
  until("both have grown again",
        [&] { return job(a)["changes"].get<int>() >= 2 && job(b)["changes"].get<int>() >= 2; });
  // of lower priority: nobody shrinks for it
  const auto lost = submit({PDGEMM, "--n", "64", "--steps", until_cancelled}, {{"allow", "1"}, {"priority", -1}});
  const auto steps_after = [&](std::int64_t id, const char* change) { // what it has printed since
    const std::string text = out(id);
    return text.substr(std::min(text.size(), text.find(change)));
  };
  for (const auto id : {a, b}) {
    until("it has a step on the grid to which it grew again",
          [&] { return steps_after(id, "1x1 -> 1x2 before step").find("  right\n") != std::string::npos; });
    EXPECT_TRUE(says(steps_after(id, "1x2 -> 1x1 before step"), "1x1 -> 1x2 before step")) << out(id);
    EXPECT_EQ(job(id)["changes"], 2);
    EXPECT_EQ(call("cancel", {{"job", id}})["cancelled"], true);
    EXPECT_EQ(wait(id)["why"], "cancelled");
    EXPECT_FALSE(says(out(id), "WRONG"));
  }
  EXPECT_TRUE(says(out(c), "3 steps all right"));
  // which job had what: never more than there are, the third between the shrinks and the growths
  const Json timeline = call("timeline");
  double third_begins = 0, third_ends = 0;
  for (const Json& s : timeline.at("segments"))
    if (s.at("job") == c) {
      third_begins = s.at("begin_s").get<double>();
      third_ends = s.at("end_s").get<double>();
    }
  int small = 0, grown = 0;
  for (const Json& s : timeline.at("segments"))
    if (s.at("job") == a || s.at("job") == b) {
      const double begin_s = s.at("begin_s").get<double>(), end_s = s.at("end_s").get<double>();
      small += s.at("processors").size() == 1 && begin_s <= third_begins && end_s >= third_ends;
      grown += s.at("processors").size() == 2 && begin_s >= third_ends;
    }
  EXPECT_EQ(small, 2);
  EXPECT_EQ(grown, 2);
  until("the fourth runs", [&] { return job(lost).value("resizable", false); });
  kill(static_cast<pid_t>(-job(lost)["pid"].get<std::int64_t>()), SIGKILL);
  EXPECT_EQ(wait(lost)["why"], "killed");
  EXPECT_EQ(call("status")["free"], 4);
}

} // namespace
