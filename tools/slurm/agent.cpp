// SPDX-License-Identifier: BSD-3-Clause
// Runs in the application's own job. It starts the application, requests nodes from Slurm, gives process groups to new
// nodes, and asks the application to leave the nodes that end. decide.cpp makes the decisions; this file carries them
// out. One thread; nothing in the loop blocks except its poll.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_descriptor.hpp"
#include "base/parse_json.hpp"
#include "base/process.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "control/client.hpp"
#include "control/variables.hpp"
#include "decide.hpp"
#include "jobs.hpp"
#include "link.hpp"
#include "runner.hpp"
#include "shared/failure.hpp"
#include "shared/launch.hpp"

namespace slurm {

using base::Json;
using base::monotonic_s;
using base::status_in_words;
using command::Failure;

namespace {

constexpr double command_limit_s = 20; ///< for each of Slurm's commands
constexpr double connect_every_s = 0.2;
constexpr double declined_for_s = 300; ///< the application cannot use the offer
constexpr double failed_for_s = 5;
constexpr double refused_for_s = 60; ///< sbatch refused
constexpr double stop_after_s = 5;   ///< a group that is no longer requested and does not end by itself
constexpr double unheard_s = 60;     ///< a job that has begun should have reported by then
constexpr double group_text_s = 5;   ///< for the rest after the first line of a hand
constexpr double last_wait_s = 15;
constexpr double patience_with_killed_s = 10;

void say(const std::string& text) {
  std::fputs(fmt::format("dyngrid slurm: {} {}\n", base::local_clock_text(), text).c_str(), stderr);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct Member {
  Node node;
  std::int64_t job = 0; ///< 0: sbatch has not answered yet
  std::string host;
  Place place; ///< its entry: its token is valid once
  Link link;   ///< once it has reported
  std::int64_t group = 0;
  Link hand;              ///< the connection that waits for the outcome of the group's growth
  double stop_at = 0;     ///< 0: not
  bool is_missed = false; ///< the missing report was announced
};

/// A connection with a group to hand over: identified by its token; the command may not have arrived yet.
struct Hand {
  Link link;
  std::int64_t group = 0;
  int processes = 0;
  double end_by = 0;
};

/// A text that only this user can read. It is in memory, so a kill leaves nothing.
base::FileDescriptor private_text(const std::string& text) {
  base::FileDescriptor file = base::memory_file("dyngrid-agent");
  if (fchmod(file.get(), S_IRUSR | S_IWUSR) != 0 || !base::write_all(file.get(), text))
    throw Failure("slurm agent: cannot keep a text in memory", 1);
  return file;
}

class Agent {
public:
  Agent(Request request, std::string dyngrid);
  int run();

private:
  void start_application();
  void start_base_nodes(const std::string& nodelist);
  void look_at_queue();
  void hear_queue(const std::vector<QueuedJob>& jobs, double asked_at);
  void talk_to_application();
  void lose_application();
  void hear_application(const Json& line);
  void hear_groups(const Json& groups);
  void hear_newcomers();
  void hear_nodes();
  void hear_from(Member& m, const std::string& line);
  void take_in(Link link, const std::string& line);
  void hear_hands();
  void hand_out(Hand& hand, const std::string& text);
  void forget(const Member& m);
  void act();
  void submit_one();
  Situation situation() const;
  void wait_for_something();
  void hear_signals();
  int end(int status);
  void fail_group(Member& m, const std::string& why);
  Member* find(std::int64_t id);
  static std::string name_of(const Member& m) {
    return m.job > 0 && !m.node.is_base ? fmt::format("{} (job {})", m.host, m.job) : m.host;
  }

  Request request_;
  std::string dyngrid_, job_, node_name_;
  std::int64_t base_job_ = 0;
  std::unique_ptr<Listener> listener_;
  Place for_hands_;                     ///< its token is valid for all hands, each group once
  base::FileDescriptor for_hands_text_; ///< the text of that
  Runner runner_{command_limit_s};
  std::vector<Hand> hands_;
  std::set<std::int64_t> handed_;     ///< groups
  std::vector<std::string> given_up_; ///< tokens of jobs that are no longer requested, but may still connect
  std::list<Member> members_;
  std::vector<pid_t> steps_; ///< srun, for the base's further nodes
  std::int64_t last_id_ = 0;

  pid_t application_ = -1;
  base::FileDescriptor application_watch_;
  int signals_ = -1;
  std::optional<control::Client> client_;
  double no_client_since_ = monotonic_s(); ///< while there is none
  double next_connect_ = 0;
  struct Asked {
    bool is_leave = false;
    std::vector<std::int64_t> nodes;
    double at = 0;
  };
  std::map<std::int64_t, Asked> asked_; ///< by the id of the request
  double leave_again_at_ = 0;

  double next_look_ = 0;
  bool is_looking_ = false, is_ending_ = false;
  bool has_submitted_ = false;
  bool may_have_lost_ = false; ///< sbatch failed, though Slurm may have taken the job
  double no_growth_before_ = 0, no_submission_before_ = 0;
  std::string told_; ///< the last reported trouble, so that it is reported once
};

Agent::Agent(Request request, std::string dyngrid) : request_(std::move(request)), dyngrid_(std::move(dyngrid)) {
  const std::string id = variable("SLURM_JOB_ID"), nodelist = variable("SLURM_JOB_NODELIST"),
                    cpus = variable("SLURM_CPUS_ON_NODE");
  if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos)
    throw Failure("slurm agent: not inside a job of Slurm; use dyngrid slurm submit");
  base_job_ = base::parse_whole_number(id, "slurm agent: SLURM_JOB_ID");
  if (request_.tasks_per_node == 0) request_.tasks_per_node = std::max(1, base::whole_number<int>(cpus).value_or(1));
  job_ = "slurm-" + id;
  node_name_ = fmt::format("{}-{}-node", request_.name, id);
  if (request_.node_output.empty())
    request_.node_output = fmt::format("slurm-{}-node-%j.out", id); // %j: the node's own job
  // from here on no program regards itself as a step of this job
  for (const std::string& entry : control::whole_environment())
    if (const std::string name = entry.substr(0, entry.find('=')); is_of_a_job(name)) unsetenv(name.c_str());
  if (!request_.interface.empty())
    for (const char* setting : {"OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include"})
      setenv(setting, request_.interface.c_str(), 0);
  const std::string runtime =
      variable("XDG_RUNTIME_DIR"); // that of the submitting session, most likely on another host
  if (!runtime.empty() && access(runtime.c_str(), W_OK) != 0) unsetenv("XDG_RUNTIME_DIR");

  const std::string address = own_address(request_.interface);
  listener_ = std::make_unique<Listener>(address);
  if (!base::environment("DYNGRID_START", "listen"))
    setenv("DYNGRID_START", base::with_entry(std::getenv("DYNGRID_START"), "listen", "tcp:" + address).c_str(), 1);
  for_hands_ = listener_->invitation();
  for_hands_text_ = private_text(for_hands_.text() + "\n");
  start_application();
  start_base_nodes(nodelist);
}

void Agent::start_application() {
  command::RunRequest run;
  run.processes = request_.tasks_per_node;
  run.grid = request_.grid;
  run.processes_come = "join";
  run.gets_other_hosts = true;
  run.is_verbose = request_.verbose;
  run.program = request_.program;
  if (request_.preload) run.preload = command::own_library();
  const command::Site site = command::look_around(request_.mpirun);
  if (site.mpi != command::Mpi::open_mpi)
    throw Failure(fmt::format("{} is not Open MPI's; nodes can join only with Open MPI 4.1", site.mpirun), 1);
  run.ompi_server = command::start_ompi_server();
  const command::Launch launch = command::plan_launch(run, site);
  for (const command::Setting& s : launch.environment)
    setenv(s.name.c_str(), s.value.c_str(), 1); // sbatch passes them to the nodes

  sigset_t awaited;
  sigemptyset(&awaited);
  for (const int number : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&awaited, number);
  sigprocmask(SIG_BLOCK, &awaited, nullptr);
  signals_ = signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK);

  std::vector<std::string> variables{"DYNGRID_JOB=" + job_};
  if (!request_.allow.empty()) variables.push_back("DYNGRID_ALLOW=" + request_.allow);
  // nodes that are ready must not delay others, and the application stands still during a join: shorter than the grace
  // time
  const char* given = std::getenv("DYNGRID_START");
  std::string start = base::with_entry(given, "unit", std::to_string(request_.tasks_per_node));
  if (!base::environment("DYNGRID_START", "timeout"))
    start = base::with_entry(start.c_str(), "timeout", std::to_string(std::clamp(request_.lead_s / 2, 10, 60)));
  const std::string place_of_hands = fmt::format("/proc/{}/fd/{}", getpid(), for_hands_text_.get());
  start = base::with_entry(start.c_str(), "command", hand_line(dyngrid_, place_of_hands));
  variables.push_back("DYNGRID_START=" + start);
  if (request_.verbose) say(command::shell_line(launch));
  application_ = start_apart({launch.words, ""}, variables);
  // none on an older kernel: then its end is noticed within half a second
  application_watch_ = base::FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, application_, 0)));
}

void Agent::start_base_nodes(const std::string& nodelist) {
  if (request_.min_nodes < 2) return;
  const Outcome shown = slurm::run(show_hostnames(nodelist), command_limit_s);
  if (!shown.is_good()) {
    say(shown.trouble());
    return;
  }
  const std::vector<std::string> hosts = parse_lines(shown.out);
  for (std::size_t k = 1; k < hosts.size(); ++k) { // the script of a job runs on its first node
    Member m;
    m.node.id = ++last_id_;
    m.node.stage = Stage::awaited;
    m.node.is_base = true;
    m.node.since = monotonic_s();
    m.job = base_job_;
    m.host = hosts[k];
    m.place = listener_->invitation();
    const std::string place = m.place.text();
    members_.push_back(std::move(m));
    steps_.push_back(start_apart(start_on_base(dyngrid_, base_job_, hosts[k], place), {}));
  }
}

Member* Agent::find(std::int64_t id) {
  for (Member& m : members_)
    if (m.node.id == id) return &m;
  return nullptr;
}

// ---- Slurm ----

void Agent::look_at_queue() {
  if (is_looking_ || monotonic_s() < next_look_ || is_ending_) return;
  const bool has_jobs = std::any_of(members_.begin(), members_.end(), [](const Member& m) { return !m.node.is_base; });
  if (!has_jobs && !may_have_lost_) return;
  is_looking_ = true;
  const double asked_at = monotonic_s();
  runner_.add(show_queue(node_name_), [this, asked_at](const Outcome& outcome) {
    is_looking_ = false;
    next_look_ = monotonic_s() + request_.poll_s;
    try {
      if (!outcome.is_good()) throw Failure(outcome.trouble());
      hear_queue(parse_queue(outcome.out), asked_at);
    } catch (const Failure& trouble) { // the controller is busy, or unreachable: nodes and application go on
      if (told_ != trouble.what()) say(trouble.what());
      told_ = trouble.what();
    }
  });
}

void Agent::hear_queue(const std::vector<QueuedJob>& jobs, double asked_at) {
  // One command runs at a time: each sbatch before this squeue has ended, and a job that it reported is known.
  std::vector<std::int64_t> lost;
  for (const QueuedJob& j : jobs)
    if (j.state == "PENDING" &&
        std::none_of(members_.begin(), members_.end(), [&](const Member& m) { return m.job == j.id; }))
      lost.push_back(j.id);
  if (!lost.empty()) runner_.add(cancel_waiting(lost), [](const Outcome&) {});
  may_have_lost_ = !lost.empty(); // until they are seen no more
  for (auto m = members_.begin(); m != members_.end();) {
    const auto job = std::find_if(jobs.begin(), jobs.end(), [&](const QueuedJob& j) { return j.id == m->job; });
    const bool is_new = m->job == 0 || m->node.since > asked_at;
    if (job == jobs.end()) {
      const bool is_gone = !m->node.is_base && !m->link && !is_new;
      if (is_gone) {
        say(fmt::format("job {} has ended without coming into the application", m->job));
        forget(*m);
      }
      m = is_gone ? members_.erase(m) : std::next(m);
      continue;
    }
    if (m->node.stage == Stage::queued && job->state != "PENDING") {
      m->node.stage = Stage::awaited;
      m->node.since = monotonic_s();
    }
    if (m->node.stage == Stage::awaited && !m->is_missed && monotonic_s() - m->node.since > unheard_s) {
      m->is_missed = true;
      say(fmt::format("job {} runs on {} and has sent nothing; can the nodes reach {} (--interface)?", m->job,
                      job->where, listener_->host()));
    }
    // Slurm without preempt_send_user_signal does not notify the job; an end that is closer shows it too (squeue's time
    // left does not)
    const std::int64_t left_s = job->end ? *job->end - static_cast<std::int64_t>(std::time(nullptr)) : 0;
    if (m->link && !m->node.must_leave && job->state == "RUNNING" && job->end && left_s <= request_.lead_s) {
      m->node.must_leave = true;
      say(fmt::format("{} has {} s left: it leaves", name_of(*m), left_s));
    }
    ++m;
  }
}

void Agent::submit_one() {
  Member m;
  m.node.id = ++last_id_;
  m.node.since = monotonic_s();
  m.host = "?";
  m.place = listener_->invitation();
  const std::int64_t id = m.node.id;
  const std::string place = m.place.text();
  members_.push_back(std::move(m));
  has_submitted_ = true;
  runner_.add(submit_node(request_, dyngrid_, node_name_, place), [this, id](const Outcome& outcome) {
    Member* member = find(id);
    try {
      if (!outcome.is_good()) throw Failure(outcome.trouble());
      const std::int64_t job = parse_submitted(outcome.out);
      if (is_ending_ || !member) {
        runner_.add(cancel_waiting({job}), [](const Outcome&) {});
        return;
      }
      if (member->job == 0) member->job = job;
      say(fmt::format("job {} waits for a node in {}", job, request_.spare));
    } catch (const Failure& trouble) {
      if (told_ != trouble.what()) say(trouble.what());
      told_ = trouble.what();
      no_submission_before_ = monotonic_s() + refused_for_s;
      may_have_lost_ = true;
      if (!member || member->link) return; // its node has reported nevertheless
      forget(*member);
      members_.remove_if([id](const Member& other) { return other.node.id == id; });
    }
  });
}

// ---- the application ----

void Agent::talk_to_application() {
  if (!client_ && monotonic_s() >= next_connect_ && !is_ending_) {
    next_connect_ = monotonic_s() + connect_every_s;
    try {
      client_ = control::Client::to_job(job_, 5);
      client_->send("watch", {{"steps", false}}, 5);
      hear_application(client_->call("status", Json::object(), 5));
      say(fmt::format("the application answers as {}", job_));
    } catch (const base::Error&) { // not there yet
      client_.reset();
    }
  }
  if (!client_) return;
  try {
    while (const auto line = client_->next(0)) hear_application(*line);
  } catch (const base::Error&) { // it ends
    lose_application();
  }
}

void Agent::lose_application() {
  client_.reset();
  asked_.clear();
  no_client_since_ = monotonic_s();
}

void Agent::hear_groups(const Json& groups) {
  std::set<std::int64_t> in_grid;
  for (const Json& group : groups) in_grid.insert(group.value("unit", std::int64_t{0}));
  for (Member& m : members_) {
    const bool is_in = m.group > 0 && in_grid.count(m.group) > 0;
    if (is_in && m.node.stage == Stage::handed) {
      m.node.stage = Stage::working;
      m.node.failures = 0;
      m.stop_at = 0;
      m.hand.say("in");
      m.hand.close();
    } else if (!is_in && m.node.stage == Stage::working) {
      m.node.stage = Stage::leaving;
    }
  }
}

void Agent::hear_application(const Json& line) {
  if (line.contains("units")) hear_groups(line.at("units"));
  const std::string event = line.value("event", "");
  if (event == "resize") {
    const auto grid = [&](const char* name) {
      return fmt::format("{}x{}", line.at(name)[0].get<int>(), line.at(name)[1].get<int>());
    };
    const auto in_grid =
        std::count_if(members_.begin(), members_.end(), [](const Member& m) { return m.node.stage == Stage::working; });
    say(fmt::format("grid {} -> {}, on {} node{}", grid("from"), grid("grid"), in_grid + 1, in_grid == 0 ? "" : "s"));
    const bool is_ours = line.contains("request") && !line.at("request").is_null();
    if (!is_ours) no_growth_before_ = monotonic_s() + declined_for_s; // the program, or a user, requested it
  }
  const auto id = line.find("id");
  if (id == line.end() || !id->is_number_integer()) return;
  const auto asked = asked_.find(id->get<std::int64_t>());
  if (asked == asked_.end()) return;
  const Asked what = asked->second;
  asked_.erase(asked);
  const std::string outcome =
      !line.value("ok", false) ? "failed" : line.value("outcome", line.value("accepted", false) ? "done" : "declined");
  if (what.is_leave) leave_again_at_ = monotonic_s() + 1;
  if (outcome == "done" || (what.is_leave && outcome == "superseded")) return; // by one that has more nodes to leave
  const std::string why = line.value("reason", line.value("error", std::string()));
  say(fmt::format("{}: {}{}{}", what.is_leave ? "leaving" : "growing", outcome, why.empty() ? "" : ": ", why));
  if (what.is_leave) return;
  no_growth_before_ = monotonic_s() + (outcome == "declined"     ? declined_for_s
                                       : outcome == "superseded" ? 1
                                                                 : failed_for_s);
  for (Member& m : members_)
    if (m.node.stage == Stage::handed) m.stop_at = monotonic_s() + stop_after_s;
}

// ---- nodes ----

void Agent::forget(const Member& m) {
  if (!m.link && !m.place.word.empty()) given_up_.push_back(m.place.word);
}

void Agent::hear_newcomers() {
  listener_->receive([this](Link link, const std::string& line) { take_in(std::move(link), line); });
  hear_hands();
}

void Agent::take_in(Link link, const std::string& line) {
  std::istringstream words(line);
  std::string kind, word;
  words >> kind >> word;
  if (kind == "node") {
    std::int64_t job = 0;
    std::string host;
    words >> job >> host;
    const auto is_its = [&](const std::string& wanted) { return control::is_same_secret(word, wanted); };
    const auto given_up = std::find_if(given_up_.begin(), given_up_.end(), is_its);
    if (given_up != given_up_.end()) { // at the moment when it began
      given_up_.erase(given_up);
      link.say("go");
      return;
    }
    const auto m =
        std::find_if(members_.begin(), members_.end(), [&](const Member& other) { return is_its(other.place.word); });
    if (m == members_.end() || job <= 0 || host.empty()) return; // its end loses nothing
    if (is_ending_) {
      link.say("go");
      return;
    }
    m->place.word.clear(); // valid once
    m->job = job;          // sbatch's own answer may arrive later than the job
    m->host = host;
    m->link = std::move(link);
    m->node.stage = Stage::idle;
    m->node.since = monotonic_s();
    say(fmt::format("{} is ready", name_of(*m)));
    // the rest of its input, such as an early signal, is read with the others
  } else if (kind == "hand" && control::is_same_secret(word, for_hands_.word)) {
    Hand hand;
    words >> hand.group >> hand.processes;
    if (hand.group < 1 || hand.processes < 1 || !handed_.insert(hand.group).second) return;
    hand.link = std::move(link);
    hand.end_by = monotonic_s() + group_text_s;
    hands_.push_back(std::move(hand));
  }
}

void Agent::hear_hands() {
  for (auto hand = hands_.begin(); hand != hands_.end();) {
    const bool is_there = hand->link.take() && monotonic_s() < hand->end_by;
    const auto line = hand->link.line();
    if (line) hand_out(*hand, *line);
    hand = line || !is_there ? hands_.erase(hand) : std::next(hand);
  }
}

void Agent::hand_out(Hand& hand, const std::string& text) {
  const auto id = !is_ending_ ? node_for_group(situation(), hand.processes) : std::nullopt;
  Member* m = id ? find(*id) : nullptr;
  if (!m) {
    hand.link.say(fmt::format("no node is ready for {} more process(es)", hand.processes));
    return;
  }
  m->group = hand.group;
  m->hand = std::move(hand.link);
  m->stop_at = 0;
  m->node.stage = Stage::handed;
  m->node.since = monotonic_s();
  for (auto& [number, asked] : asked_) // the application is at a resize point; the group joins at a later one
    if (!asked.is_leave) asked.at = m->node.since;
  if (request_.verbose)
    say(fmt::format("{} gets process group {} of {} processes", name_of(*m), hand.group, hand.processes));
  m->link.say(fmt::format("run {} {}", hand.group, text));
}

void Agent::fail_group(Member& m, const std::string& why) {
  m.hand.say(fmt::format("{}: {}", name_of(m), why));
  m.hand.close();
  ++m.node.failures;
  say(fmt::format("{}: process group {} did not join the grid: {}", name_of(m), m.group, why));
}

void Agent::hear_from(Member& m, const std::string& line) {
  std::istringstream words(line);
  std::string word;
  std::int64_t group = 0;
  int status = 0;
  words >> word >> group >> status;
  if (word == "leave" && !m.node.must_leave) {
    m.node.must_leave = true;
    say(fmt::format("Slurm takes {} back", name_of(m)));
  } else if (word == "ended" && group == m.group) {
    if (m.node.stage == Stage::handed)
      fail_group(m, fmt::format("it ended with status {}", status));
    else if (request_.verbose || status != 0)
      say(fmt::format("{}: process group {} ended with status {}", name_of(m), group, status));
    m.group = 0;
    m.stop_at = 0;
    m.node.stage = Stage::idle;
    m.node.since = monotonic_s();
  }
}

void Agent::hear_nodes() {
  for (auto m = members_.begin(); m != members_.end();) {
    if (!m->link) {
      ++m;
      continue;
    }
    const bool is_there = m->link.take();
    while (const auto line = m->link.line()) hear_from(*m, *line);
    if (m->stop_at > 0 && monotonic_s() >= m->stop_at) {
      m->link.say(fmt::format("stop {}", m->group));
      m->stop_at = 0;
    }
    if (is_there) {
      ++m;
      continue;
    }
    if (m->node.stage == Stage::handed)
      fail_group(*m, "the node has gone");
    else if (m->node.stage == Stage::working && !is_ending_)
      say(fmt::format("{} ended while it was part of the grid", name_of(*m)));
    else if (request_.verbose)
      say(fmt::format("{} has gone", name_of(*m)));
    m = members_.erase(m);
  }
}

// ---- what to do ----

Situation Agent::situation() const {
  Situation s;
  s.now = monotonic_s();
  s.max_nodes = request_.max_nodes;
  s.queued_at_most = request_.queued;
  s.processes_per_node = request_.tasks_per_node;
  s.settle_s = request_.settle_s;
  s.patience_s = request_.patience_s;
  s.step_s = request_.lead_s; // a step must fit into it (docs/slurm.md)
  for (const Member& m : members_) s.nodes.push_back(m.node);
  s.can_ask = client_.has_value();
  if (!client_) s.silent_since = no_client_since_;
  for (const auto& [id, asked] : asked_) {
    s.silent_since = std::min(s.silent_since.value_or(asked.at), asked.at);
    if (!asked.is_leave) s.is_growing = true;
    s.asked_to_leave.insert(s.asked_to_leave.end(), asked.nodes.begin(), asked.nodes.end());
  }
  s.no_growth_before = no_growth_before_;
  s.no_submission_before = no_submission_before_;
  return s;
}

void Agent::act() {
  const Plan plan = decide(situation());
  for (int k = 0; k < plan.submit; ++k) submit_one();
  std::vector<std::int64_t> cancelled;
  for (const std::int64_t id : plan.cancel)
    if (const Member* m = find(id)) {
      if (m->job > 0) cancelled.push_back(m->job);
      forget(*m);
      members_.remove_if([id](const Member& other) { return other.node.id == id; });
    }
  if (!cancelled.empty()) runner_.add(cancel_waiting(cancelled), [](const Outcome&) {});
  for (const Dismissal& dismissal : plan.dismiss)
    if (Member* m = find(dismissal.id)) {
      m->link.say("go");
      m->node.stage = Stage::leaving;
      say(fmt::format("{} is given back: {}", name_of(*m), dismissal.why));
    }
  if (!client_) return;
  try {
    if (!plan.leave.empty() && monotonic_s() >= leave_again_at_) {
      std::vector<std::int64_t> groups;
      for (const std::int64_t id : plan.leave)
        if (const Member* m = find(id)) groups.push_back(m->group);
      asked_[client_->send("leave", {{"units", groups}, {"wait", true}}, 5)] = {true, plan.leave, monotonic_s()};
    }
    if (plan.grow_by > 0)
      asked_[client_->send("grow", {{"by", plan.grow_by}, {"force", true}, {"undo", true}, {"wait", true}}, 5)] = {
          false, {}, monotonic_s()};
  } catch (const base::Error&) {
    lose_application();
  }
}

void Agent::wait_for_something() {
  std::vector<pollfd> polled{{signals_, POLLIN, 0}};
  listener_->add_to(polled);
  if (application_watch_) polled.push_back({application_watch_.get(), POLLIN, 0});
  if (runner_.fd() >= 0) polled.push_back({runner_.fd(), POLLIN, 0});
  if (client_) polled.push_back({client_->fd(), POLLIN, 0});
  for (const Member& m : members_)
    if (m.link) polled.push_back({m.link.fd(), POLLIN, 0});
  for (const Hand& hand : hands_) polled.push_back({hand.link.fd(), POLLIN, 0});
  poll(polled.data(), polled.size(), client_ ? 500 : 200);
}

void Agent::hear_signals() {
  signalfd_siginfo info{};
  while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGCHLD) continue;
    say(fmt::format("signal {}: the application ends", info.ssi_signo));
    if (application_ > 0) kill(-application_, SIGTERM);
    static_cast<void>(alarm(static_cast<unsigned>(patience_with_killed_s) +
                            2 * static_cast<unsigned>(last_wait_s))); // in every case, this ends
  }
}

int Agent::run() {
  for (;;) {
    wait_for_something();
    hear_signals();
    runner_.step();
    int status = 0;
    if (waitpid(application_, &status, WNOHANG) == application_) {
      application_ = -1;
      return end(status_in_words(status));
    }
    talk_to_application();
    hear_newcomers();
    hear_nodes();
    look_at_queue();
    act();
  }
}

int Agent::end(int status) {
  is_ending_ = true;
  say(fmt::format("the application ended with status {}", status));
  client_.reset();
  application_watch_.close();
  for (Member& m : members_)
    if (m.link) m.link.say("go");
  if (has_submitted_) // by name: also those whose number sbatch did not report
    runner_.add(cancel_all_waiting(node_name_), [](const Outcome& outcome) {
      if (!outcome.is_good()) say(outcome.trouble());
    });
  for (const Member& m : members_) forget(m);
  members_.remove_if([](const Member& m) { return !m.link; });
  const double end_by = monotonic_s() + last_wait_s;
  while (monotonic_s() < end_by && (!members_.empty() || !steps_.empty() || runner_.is_busy())) {
    wait_for_something();
    runner_.step();
    hear_newcomers();
    hear_nodes();
    for (auto pid = steps_.begin(); pid != steps_.end();)
      pid = waitpid(*pid, nullptr, WNOHANG) == *pid ? steps_.erase(pid) : std::next(pid);
  }
  for (const pid_t pid : steps_) end_group(pid, 1);
  for (const Member& m : members_) say(fmt::format("{} did not end within {:g} s", name_of(m), last_wait_s));
  return status;
}

} // namespace

int run_agent(const Request& request, const std::string& dyngrid) {
  return Agent(request, dyngrid).run();
}

} // namespace slurm
