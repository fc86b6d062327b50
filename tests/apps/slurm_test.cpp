// SPDX-License-Identifier: BSD-3-Clause
// What dyngrid slurm reads and writes, what it decides and what it finds wrong; nothing is started but sh. Texts as
// Slurm 22.05 prints them.
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>

#include "../errors.hpp"
#include "../refused_system_calls.hpp"
#include "shared/failure.hpp"
#include "shared/launch.hpp"
#include "slurm/check.hpp"
#include "slurm/decide.hpp"
#include "slurm/link.hpp"
#include "slurm/runner.hpp"
#include "slurm/words.hpp"

namespace slurm {
namespace {

using command::Failure;
using command::Finding;
using command::Verdict;

constexpr const char* two_partitions =
    "PartitionName=main AllowGroups=ALL AllowAccounts=ALL Default=YES QoS=N/A DefaultTime=00:10:00 GraceTime=0 "
    "Hidden=NO MaxTime=01:00:00 Nodes=n[1-4] PriorityTier=10 "
    "OverSubscribe=EXCLUSIVE PreemptMode=OFF State=UP TotalCPUs=8 TotalNodes=4 JobDefaults=(null)\n"
    "PartitionName=spare AllowGroups=ALL AllowAccounts=ALL Default=NO QoS=N/A DefaultTime=00:10:00 GraceTime=120 "
    "Hidden=NO MaxTime=01:00:00 Nodes=n[1-4] PriorityTier=1 "
    "OverSubscribe=EXCLUSIVE PreemptMode=CANCEL State=UP TotalCPUs=8 TotalNodes=4 JobDefaults=(null)\n";
constexpr const char* config_text = "Configuration data as of 2026-11-21T11:42:24\n"
                                    "AccountingStorageUser   = N/A\n"
                                    "PreemptMode             = CANCEL\n"
                                    "PreemptType             = preempt/partition_prio\n"
                                    "SlurmctldParameters     = idle_on_node_suspend,preempt_send_user_signal\n"
                                    "SLURM_VERSION           = 22.05.8\n"
                                    "TaskProlog              = (null)\n"
                                    "TopologyParam           = \n"
                                    "\n"
                                    "Slurmctld(primary) at n1 is UP\n";

// ---- reading ----

TEST(SlurmWords, Configuration) {
  const auto config = parse_config(config_text);
  EXPECT_EQ(config.at("SLURM_VERSION"), "22.05.8");
  EXPECT_EQ(config.at("SlurmctldParameters"), "idle_on_node_suspend,preempt_send_user_signal");
  EXPECT_EQ(config.at("TaskProlog"), "");
  EXPECT_EQ(config.at("TopologyParam"), "");
  EXPECT_EQ(config.size(), 7u);
  EXPECT_NE(message_of<Failure>([] { parse_config("slurm_load_ctl_conf error\n"); }), "no error");
}

TEST(SlurmWords, Partitions) {
  const auto all = parse_partitions(two_partitions);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "main");
  EXPECT_TRUE(all[0].is_default);
  EXPECT_EQ(all[0].priority_tier, 10);
  EXPECT_EQ(all[1].preempt_mode, "CANCEL");
  EXPECT_EQ(all[1].grace_s, 120);
  EXPECT_EQ(all[1].nodes, 4);
  EXPECT_TRUE(parse_partitions("").empty());
  EXPECT_TRUE(says(message_of<Failure>([] { parse_partitions("No partitions in the system\n"); }), "is no partition"));
  EXPECT_TRUE(
      says(message_of<Failure>([] {
             parse_partitions(
                 "PartitionName=a Default=NO PreemptMode=OFF State=UP GraceTime=soon PriorityTier=1 TotalNodes=1\n");
           }),
           "soon"));
  EXPECT_EQ(choose_spare(all, "").name, "spare");
  EXPECT_EQ(choose_spare(all, "main").name, "main");
  EXPECT_EQ(choose_main(all, "").name, "main");
  EXPECT_TRUE(says(message_of<Failure>([&] { choose_spare(all, "idle"); }), "main, spare"));
  EXPECT_TRUE(says(message_of<Failure>([&] { choose_spare({all[0]}, ""); }), "PreemptMode CANCEL"));
}

TEST(SlurmWords, Queue) {
  const auto jobs = parse_queue("12|PENDING|N/A|(Resources)\n13|RUNNING|2026-11-21T12:43:25|n7\n14|PENDING|N/A|(Nodes "
                                "required for job are DOWN, DRAINED | reserved)\n");
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].id, 12);
  EXPECT_EQ(jobs[0].state, "PENDING");
  EXPECT_FALSE(jobs[0].end);
  EXPECT_EQ(jobs[1].where, "n7");
  EXPECT_TRUE(jobs[1].end);
  EXPECT_EQ(jobs[2].where, "(Nodes required for job are DOWN, DRAINED | reserved)");
  EXPECT_TRUE(parse_queue("\n").empty());
  for (const char* bad : {"12|PENDING|N/A", "12_3|RUNNING|N/A|n1", "x|RUNNING|N/A|n1", "12|running|N/A|n1",
                          "12|RUNNING|soon|n1", "-1|RUNNING|N/A|n1", "squeue: error: x"})
    EXPECT_NE(message_of<Failure>([&] { parse_queue(bad); }), "no error") << bad;
}

TEST(SlurmWords, Times) {
  const char* zone = std::getenv("TZ");
  const std::string before = zone ? zone : "";
  setenv("TZ", "UTC0", 1);
  tzset();
  EXPECT_EQ(parse_time("1970-01-02T00:00:07"), 86407);
  EXPECT_EQ(parse_time("2001-09-09T01:46:40"), 1000000000);
  setenv("TZ", "XXX-2", 1); // two hours before Greenwich
  tzset();
  EXPECT_EQ(parse_time("2001-09-09T03:46:40"), 1000000000);
  if (zone)
    setenv("TZ", before.c_str(), 1);
  else
    unsetenv("TZ");
  tzset();
  for (const char* none : {"N/A", "NONE", "Unknown"}) EXPECT_FALSE(parse_time(none));
  for (const char* bad : {"", "7", "12:43:25", "2026-11-21", "2026-11-21 12:43:25", "2026-11-21T12:43",
                          "2026-11-31T12:43:25", "2026-13-01T12:43:25", "2026-11-21T12:43:25Z", "Sat Nov 21"})
    EXPECT_NE(message_of<Failure>([&] { parse_time(bad); }), "no error") << bad;
}

TEST(SlurmWords, Submitted) {
  EXPECT_EQ(parse_submitted("4711\n"), 4711);
  EXPECT_EQ(parse_submitted("4711;cluster\n"), 4711);
  for (const char* bad : {"", "Submitted batch job 4711\n", "0\n", "47\n11\n", "-3\n"})
    EXPECT_NE(message_of<Failure>([&] { parse_submitted(bad); }), "no error") << bad;
}

// ---- writing ----

Request request() {
  Request r;
  r.min_nodes = 2;
  r.max_nodes = 8;
  r.tasks_per_node = 4;
  r.spare = "spare";
  r.name = "dyngrid";
  r.lead_s = 120;
  r.mpirun = "mpirun";
  r.program = {"./app", "--title", "it's \"two\" $words", "", "a\nb"};
  return r;
}

/// What sh makes of the last line of a script, each word on a line of its own, with the program replaced.
std::string words_as_sh_sees_them(std::string script) {
  const std::size_t at = script.find("exec ");
  script = "show() { for w; do printf '[%s]\\n' \"$w\"; done; [ -t 0 ] || cat; }; show " + script.substr(at + 5);
  const Outcome outcome = slurm::run({{"sh", "-c", script}, ""}, 10);
  EXPECT_TRUE(outcome.is_good()) << outcome.trouble();
  return outcome.out;
}

TEST(SlurmWords, TheApplicationsJob) {
  Request r = request();
  r.partition = "main";
  r.time = "8:00:00";
  r.sbatch_options = {"--comment=two words", "--qos=x"};
  const Command c = submit_base(r, "/opt/my bin/dyngrid");
  EXPECT_EQ(c.words, (std::vector<std::string>{"sbatch", "--parsable", "--no-requeue", "--job-name=dyngrid",
                                               "--partition=main", "--time=8:00:00", "--nodes=2", "--ntasks-per-node=4",
                                               "--comment=two words", "--qos=x"}));
  EXPECT_EQ(c.input.substr(0, 10), "#!/bin/sh\n");
  const std::string seen = words_as_sh_sees_them(c.input);
  EXPECT_EQ(
      seen.find(
          "[/opt/my "
          "bin/dyngrid]\n[slurm]\n[agent]\n[--max]\n[8]\n[--min]\n[2]\n[--tasks-per-node]\n[4]\n[--spare]\n[spare]\n"),
      0u)
      << seen;
  EXPECT_TRUE(says(seen, "[--sbatch-option=--comment=two words]\n"));
  const std::string last = "[--]\n[./app]\n[--title]\n[it's \"two\" $words]\n[]\n[a\nb]\n";
  ASSERT_GE(seen.size(), last.size());
  EXPECT_EQ(seen.substr(seen.size() - last.size()), last);
  r.tasks_per_node = 0; // as many as there are
  const auto whole = submit_base(r, "dyngrid").words;
  EXPECT_TRUE(std::count(whole.begin(), whole.end(), "--exclusive"));
}

TEST(SlurmWords, ANodesJob) {
  Request r = request();
  r.node_time = "1:00:00";
  const Command c = submit_node(r, "/opt/my bin/dyngrid", "dyngrid-7-node", "10.0.0.1:4711?0123456789abcdef");
  EXPECT_EQ(c.words, (std::vector<std::string>{"sbatch", "--parsable", "--no-requeue", "--job-name=dyngrid-7-node",
                                               "--partition=spare", "--signal=B:USR1@120", "--time=1:00:00",
                                               "--nodes=1", "--exclusive", "--ntasks-per-node=4"}));
  for (const std::string& word : c.words)
    EXPECT_FALSE(says(word, "0123456789abcdef")) << "everybody can see command lines";
  EXPECT_TRUE(says(c.input, "\ntrap '' USR1\nexec "));
  EXPECT_EQ(words_as_sh_sees_them(c.input), "[/opt/my bin/dyngrid]\n[slurm]\n[node]\n10.0.0.1:4711?0123456789abcdef\n");
  const Command base = start_on_base("/bin/dyngrid", 7, "n2", "10.0.0.1:4711?01");
  EXPECT_EQ(base.input, "10.0.0.1:4711?01\n");
  EXPECT_EQ(base.words[1], "--jobid=7");
  EXPECT_TRUE(std::count(base.words.begin(), base.words.end(), "--nodelist=n2"));
}

TEST(SlurmWords, SmallThings) {
  EXPECT_EQ(cancel_waiting({3, 5}).words, (std::vector<std::string>{"scancel", "--state=PENDING", "3", "5"}));
  EXPECT_EQ(hand_line("/a b/dyngrid", "/tmp/x y"), "exec '/a b/dyngrid' slurm hand --agent '/tmp/x y'");
  const std::string bytes("\0\n'\xff z", 6);
  EXPECT_EQ(to_hex(bytes), "000a27ff207a");
  EXPECT_EQ(from_hex(to_hex(bytes)), bytes);
  EXPECT_EQ(from_hex(""), "");
  for (const char* bad : {"0", "0g", "0A", " 0"}) EXPECT_FALSE(from_hex(bad)) << bad;
  EXPECT_TRUE(is_of_a_job("SLURM_JOB_ID") && is_of_a_job("SBATCH_PARTITION") && is_of_a_job("PMIX_RANK"));
  EXPECT_FALSE(is_of_a_job("SLURM_CONF") || is_of_a_job("PATH") || is_of_a_job("OMPI_MCA_btl"));
  const auto place = Place::parse("10.0.0.1:4711?0a");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->text(), "10.0.0.1:4711?0a");
  for (const char* bad : {"", "10.0.0.1:4711", "10.0.0.1?0a", "host:4711?0a", "10.0.0.1:0?0a", "10.0.0.1:70000?0a",
                          "10.0.0.1:4711?", "10.0.0.1:4711?0A z"})
    EXPECT_FALSE(Place::parse(bad)) << bad;
}

// ---- deciding ----

/// "qaihwl" in order: queued, awaited, idle, handed, working, leaving; capitals must leave; numbers are 1, 2, ... and
/// since is the number.
Situation at(double now, int max_nodes, const std::string& nodes) {
  Situation s;
  s.now = now;
  s.max_nodes = max_nodes;
  s.processes_per_node = 4;
  s.can_ask = true;
  const std::string letters = "qaihwl";
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    Node n;
    n.id = static_cast<std::int64_t>(k) + 1;
    n.since = static_cast<double>(k) + 1;
    n.stage = static_cast<Stage>(letters.find(static_cast<char>(std::tolower(nodes[k]))));
    n.must_leave = std::isupper(nodes[k]) != 0;
    s.nodes.push_back(n);
  }
  return s;
}

/// "submit 2 cancel 3 dismiss 1 grow 8 leave 1 2"
std::string shown(const Situation& s) {
  const Plan p = decide(s);
  std::string text;
  const auto add = [&](const char* what, const std::vector<std::int64_t>& ids) {
    if (ids.empty()) return;
    text += std::string(text.empty() ? "" : " ") + what;
    for (const std::int64_t id : ids) text += " " + std::to_string(id);
  };
  if (p.submit > 0) add("submit", {p.submit});
  add("cancel", p.cancel);
  std::vector<std::int64_t> dismissed;
  for (const Dismissal& d : p.dismiss) dismissed.push_back(d.id);
  add("dismiss", dismissed);
  if (p.grow_by > 0) add("grow", {p.grow_by});
  add("leave", p.leave);
  return text;
}

TEST(SlurmDecide, AsksForNodes) {
  EXPECT_EQ(shown(at(10, 1, "")), "");
  EXPECT_EQ(shown(at(10, 3, "")), "submit 2");
  EXPECT_EQ(shown(at(10, 3, "qq")), "");
  EXPECT_EQ(shown(at(10, 33, "q")), "submit 3");      // four wait at a time
  EXPECT_EQ(shown(at(10, 3, "wwq")), "cancel 3");     // one came back that was thought lost
  EXPECT_EQ(shown(at(10, 4, "wwqqq")), "cancel 5 4"); // the newest first
  Situation refused = at(10, 3, "");
  refused.no_submission_before = 11;
  EXPECT_EQ(shown(refused), "");
}

TEST(SlurmDecide, GrowsWithAllThatCame) {
  EXPECT_EQ(shown(at(10, 2, "i")), "grow 4");  // nobody else is to come
  EXPECT_EQ(shown(at(3.9, 4, "wiq")), "");     // one more may come any moment
  EXPECT_EQ(shown(at(4, 4, "wiq")), "grow 4"); // it has waited for two seconds
  EXPECT_EQ(shown(at(4, 4, "iia")), "grow 8");
  EXPECT_EQ(shown(at(3.5, 4, "iia")), "");
  Situation s = at(10, 3, "ii");
  s.is_growing = true;
  EXPECT_EQ(shown(s), "");
  s.is_growing = false;
  s.can_ask = false;
  EXPECT_EQ(shown(s), "");
}

TEST(SlurmDecide, WhoIsWantedBackLeaves) {
  EXPECT_EQ(shown(at(10, 3, "Ww")), "submit 1 leave 1"); // and is to come back
  EXPECT_EQ(shown(at(10, 3, "WW")), "submit 2 leave 1 2");
  EXPECT_EQ(shown(at(10, 3, "Iw")), "submit 1 dismiss 1"); // it was in no grid
  EXPECT_EQ(shown(at(10, 3, "Hw")), "submit 1");           // on its way: it comes in first, or is given up
  EXPECT_EQ(shown(at(10, 3, "Lw")), "submit 1");
  Situation s = at(10, 3, "WW");
  s.asked_to_leave = {1};
  EXPECT_EQ(shown(s), "submit 2 leave 1 2"); // both in one request, since the newer one replaces the older
  s.asked_to_leave = {1, 2};
  EXPECT_EQ(shown(s), "submit 2");
  s.nodes[0].must_leave = false; // no growth while others leave
  s.nodes[0].stage = Stage::idle;
  s.asked_to_leave = {2};
  EXPECT_EQ(shown(s), "submit 1");
  s = at(10, 4, "Wi"); // a growth that is on its way does not hold up nodes that must go
  s.is_growing = true;
  EXPECT_EQ(shown(s), "submit 2 leave 1");
}

TEST(SlurmDecide, NodesOfNoUse) {
  Situation s = at(100, 4, "wi");
  s.no_growth_before = 300; // it was offered, and declined
  EXPECT_EQ(shown(s), "");
  s.now = 122; // longer than two minutes
  EXPECT_EQ(shown(s), "dismiss 2");
  s.nodes[1].is_base = true; // of the application's own job: there is nobody to give it to
  EXPECT_EQ(shown(s), "");
  s.now = 300; // try again
  EXPECT_EQ(shown(s).find("submit 1 grow"), 0u) << shown(s);
  s = at(10, 2, "i");
  s.nodes[0].failures = 3; // groups do not start there
  EXPECT_EQ(shown(s), "submit 1 dismiss 1");
}

TEST(SlurmDecide, AnApplicationThatDoesNotAnswer) {
  Situation s = at(100, 4, "wi"); // nobody is there
  s.can_ask = false;
  s.silent_since = 0;
  EXPECT_EQ(shown(s), "submit 1"); // it may be about to begin
  s.now = 120;                     // the node has not waited for two minutes yet, but no further one is requested
  EXPECT_EQ(shown(s), "");
  s.now = 122;
  EXPECT_EQ(shown(s), "dismiss 2");
  EXPECT_STREQ(decide(s).dismiss.at(0).why, "the application does not answer; more nodes are requested when it does");
  s.silent_since = 121; // the connection has just been lost
  EXPECT_EQ(shown(s), "submit 1");
  s.silent_since = 0;
  s.nodes[1].is_base = true;
  EXPECT_EQ(shown(s), "");

  s = at(122, 4, "wi"); // there is an answer to come, which a step may delay
  s.is_growing = true;
  s.silent_since = 2;
  EXPECT_EQ(shown(s), "dismiss 2");
  s.step_s = 300;
  EXPECT_EQ(shown(s), "submit 1");
  s.now = 302;
  EXPECT_EQ(shown(s), "dismiss 2");
  s.is_growing = false; // it has answered
  s.silent_since.reset();
  EXPECT_EQ(shown(s).find("submit 1 grow"), 0u) << shown(s);
}

TEST(SlurmDecide, NodeForAUnit) {
  Situation s = at(10, 9, "qiwiI");
  EXPECT_EQ(node_for_group(s, 4), 2);
  s.nodes[3].is_base = true;
  EXPECT_EQ(node_for_group(s, 1), 4);
  EXPECT_FALSE(node_for_group(s, 5)); // a group is on one node
  EXPECT_FALSE(node_for_group(at(10, 9, "qahwlI"), 1));
}

/// A whole life by hand: what is decided is done, and decided upon again, until nothing is left to do.
TEST(SlurmDecide, SettlesDown) {
  Situation s = at(0, 4, "");
  int submissions = 0, growths = 0;
  std::int64_t next = 1;
  for (int round = 0; round < 200; ++round) {
    s.now += 1;
    const Plan p = decide(s);
    submissions += p.submit;
    for (int k = 0; k < p.submit; ++k) s.nodes.push_back({next++, Stage::queued, false, false, s.now, 0});
    EXPECT_TRUE(p.cancel.empty());
    if (p.grow_by > 0) {
      ++growths;
      for (Node& n : s.nodes)
        if (n.stage == Stage::idle) n.stage = Stage::working;
    }
    for (const std::int64_t id : p.leave)
      for (Node& n : s.nodes)
        if (n.id == id) n.stage = Stage::leaving;
    s.nodes.erase(
        std::remove_if(s.nodes.begin(), s.nodes.end(), [](const Node& n) { return n.stage == Stage::leaving; }),
        s.nodes.end());
    EXPECT_LE(s.nodes.size(), 3u + p.leave.size());
    if (round % 5 == 0) // one of those that wait gets its node
      for (Node& n : s.nodes)
        if (n.stage == Stage::queued) {
          n.stage = Stage::idle;
          n.since = s.now;
          break;
        }
    if (round == 100 || round == 101) s.nodes[0].must_leave = true; // an urgent job
  }
  EXPECT_EQ(submissions, 5);
  EXPECT_EQ(growths, 5);
  for (const Node& n : s.nodes) EXPECT_EQ(n.stage, Stage::working);
  EXPECT_EQ(s.nodes.size(), 3u);
}

// ---- finding what is wrong ----

Site good_site() {
  Site site;
  site.config = parse_config(config_text);
  site.partitions = parse_partitions(two_partitions);
  site.mpi_version = {4, 1, 4};
  site.interfaces = {{"lo", "127.0.0.1"}, {"eth0", "10.0.0.7"}};
  return site;
}

Finding finding(const Site& site, const std::string& check, const Request& r = {}) {
  for (const Finding& f : judge(site, r))
    if (f.check == check) return f;
  return {check, Verdict::ok, "(none)", ""};
}

TEST(SlurmCheck, NothingWrong) {
  for (const Finding& f : judge(good_site(), {})) EXPECT_EQ(f.verdict, Verdict::ok) << f.check << ": " << f.text;
}

TEST(SlurmCheck, EveryFindingHasACure) {
  std::vector<std::pair<std::string, Site>> wrong;
  const auto with = [&](const std::string& check, const std::function<void(Site&)>& change) {
    wrong.emplace_back(check, good_site());
    change(wrong.back().second);
  };
  with("commands", [](Site& s) { s.missing = {"sbatch"}; });
  with("controller", [](Site& s) { s.trouble = "scontrol show config: status 1"; });
  with("version", [](Site& s) { s.config["SLURM_VERSION"] = "19.05.5"; });
  with("version", [](Site& s) { s.config.erase("SLURM_VERSION"); });
  with("spare", [](Site& s) { s.partitions.pop_back(); });
  with("spare", [](Site& s) { s.partitions[1].state = "DOWN"; });
  with("spare", [](Site& s) { s.partitions[1].nodes = 0; });
  with("partition", [](Site& s) { s.partitions[0].is_default = false; });
  with("preemption", [](Site& s) { s.config["PreemptType"] = "preempt/none"; });
  with("preemption", [](Site& s) { s.config["PreemptMode"] = "GANG,SUSPEND"; });
  with("priorities", [](Site& s) { s.partitions[0].priority_tier = 1; });
  with("grace time", [](Site& s) { s.partitions[1].grace_s = 0; });
  with("grace time", [](Site& s) { s.partitions[1].grace_s = 5; });
  with("signal",
       [](Site& s) { s.config["SlurmctldParameters"] = "preempt_send_user_signals"; }); // a word like it is not it
  with("launcher", [](Site& s) { s.mpi_version = {5, 0, 3}; });
  with("launcher", [](Site& s) { s.mpi = command::Mpi::mpich; });
  with("launcher", [](Site& s) { s.has_ompi_server = false; });
  with("launcher", [](Site& s) { s.launcher_trouble = "no mpirun"; });
  with("interface", [](Site& s) { s.interfaces.emplace_back("ib0", "10.1.0.7"); });
  with("interface", [](Site& s) { s.interfaces.pop_back(); });
  for (const auto& [check, site] : wrong) {
    const Finding f = finding(site, check);
    EXPECT_NE(f.verdict, Verdict::ok) << check << ": " << f.text;
    EXPECT_FALSE(f.cure.empty()) << check << ": " << f.text;
  }
  EXPECT_EQ(finding(wrong[11].second, "grace time").verdict, Verdict::error); // jobs would be ended at once
  EXPECT_EQ(finding(wrong[12].second, "grace time").verdict, Verdict::warning);
  Request r;
  r.interface = "ib0";
  EXPECT_EQ(finding(good_site(), "interface", r).verdict, Verdict::error);
  r.interface = "eth0";
  EXPECT_EQ(finding(good_site(), "interface", r).verdict, Verdict::ok);
  r.spare = "main";
  EXPECT_EQ(finding(good_site(), "preemption", r).verdict, Verdict::warning); // it is never taken back
}

// ---- running ----

TEST(SlurmRunner, WithoutPidfdToo) {
  const pid_t child = fork();
  if (child == 0) {
    if (!refuse_pidfd()) _exit(2);
    const Outcome good = slurm::run({{"sh", "-c", "echo said; exit 3"}, ""}, 60);
    const Outcome late = slurm::run({{"sh", "-c", "sleep 60"}, ""}, 0.2);
    _exit(good.status == 3 && good.out == "said\n" && !good.timed_out && late.timed_out ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(SlurmRunner, StatusOutputAndLimit) {
  const Outcome good = slurm::run({{"sh", "-c", "cat; echo wrong >&2; exit 3"}, "a line\n"}, 10);
  EXPECT_EQ(good.status, 3);
  EXPECT_EQ(good.out, "a line\n");
  EXPECT_EQ(good.err, "wrong\n");
  EXPECT_TRUE(says(good.trouble(), "status 3: wrong"));
  const Outcome none = slurm::run({{"there-is-no-such-program-here"}, ""}, 10);
  EXPECT_EQ(none.status, 127);
  EXPECT_TRUE(says(none.trouble(), "no such program"));
  const Outcome late = slurm::run({{"sh", "-c", "sleep 60 & sleep 60"}, ""}, 0.2);
  EXPECT_TRUE(late.timed_out);
  EXPECT_FALSE(late.is_good());
  // the order is kept, and a command may add another one
  Runner runner(10);
  std::string order;
  runner.add({{"sh", "-c", "sleep 0.05; echo 1"}, ""}, [&](const Outcome& o) {
    order += o.out;
    runner.add({{"echo", "3"}, ""}, [&](const Outcome& again) { order += again.out; });
  });
  runner.add({{"echo", "2"}, ""}, [&](const Outcome& o) { order += o.out; });
  for (int round = 0; runner.is_busy() && round < 100000; ++round) {
    usleep(10000);
    runner.step();
  }
  EXPECT_EQ(order, "1\n2\n3\n");
}

/// Until somebody has said the first line.
Link somebody(Listener& listener, std::string* line) {
  Link found;
  for (int round = 0; round < 100000 && !found; ++round) {
    listener.receive([&](Link link, const std::string& said) {
      found = std::move(link);
      *line = said;
    });
    usleep(5000);
  }
  return found;
}

TEST(SlurmLink, EveryInvitationHasAWordOfItsOwn) {
  const Listener listener("127.0.0.1");
  const Place one = listener.invitation(), other = listener.invitation();
  EXPECT_EQ(one.host, "127.0.0.1");
  EXPECT_EQ(one.port, other.port);
  EXPECT_EQ(one.word.size(), 32u);
  EXPECT_NE(one.word, other.word);
}

TEST(SlurmLink, ThoseThatSayNothingOrTooMuchDoNotKeepOthersOut) {
  Listener listener("127.0.0.1");
  const Place place = listener.invitation();
  std::vector<Link> silent;
  for (int i = 0; i < 200; ++i) {
    silent.push_back(connect_to(place, 5));
    listener.receive([](Link, const std::string&) { ADD_FAILURE() << "nobody said anything"; });
  }
  std::vector<pollfd> polled;
  listener.add_to(polled);
  EXPECT_LE(polled.size(), 65u); // the listener and 64
  const Link long_winded = connect_to(place, 5);
  const std::string block(10000, 'x');
  static_cast<void>(!send(long_winded.fd(), block.data(), block.size(), MSG_NOSIGNAL));
  Link one = connect_to(place, 5);
  one.say("hand word 1 2");
  one.say("more");
  std::string line;
  Link heard = somebody(listener, &line);
  ASSERT_TRUE(static_cast<bool>(heard));
  EXPECT_EQ(line, "hand word 1 2");
  std::optional<std::string> more;
  for (int round = 0; round < 100000 && !more; ++round) {
    heard.take();
    more = heard.line();
    usleep(1000);
  }
  EXPECT_EQ(more, "more");
}

TEST(SlurmLink, LinesBothWays) {
  Listener listener("127.0.0.1");
  Link one = connect_to(listener.invitation(), 5);
  ASSERT_TRUE(one.say("first"));
  std::string first;
  Link other = somebody(listener, &first);
  ASSERT_TRUE(static_cast<bool>(other));
  EXPECT_EQ(first, "first");
  EXPECT_TRUE(other.take());
  EXPECT_FALSE(other.line());
  const std::string large(300000, 'x'); // a group's command with its environment, as hexadecimal digits
  std::string got;
  const pid_t child = fork();
  if (child == 0) _exit(one.say(large) && one.say("second") ? 0 : 1);
  for (int round = 0; round < 100000 && got.empty(); ++round) {
    usleep(5000);
    other.take();
    if (const auto line = other.line()) got = *line;
  }
  EXPECT_EQ(got, large);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  one.close();
  for (int round = 0; round < 100000 && other.take(); ++round) usleep(5000);
  EXPECT_EQ(other.line(), "second") << "what was sent before the end is received";
  EXPECT_FALSE(other.line());
}

} // namespace
} // namespace slurm
