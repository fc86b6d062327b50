// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "advise/allowed.hpp"
#include "asks.hpp"
#include "base/parse_json.hpp"
#include "control/client.hpp"
#include "control/history.hpp"
#include "control/line_server.hpp"
#include "control/protocol.hpp"
#include "host_signals.hpp"
#include "job_table.hpp"
#include "journal_file.hpp"
#include "launch.hpp"
#include "loads.hpp"
#include "policy.hpp"
#include "process.hpp"
#include "promise.hpp"

namespace sched {

struct DaemonOptions {
  int procs = 1;
  std::string policy = "rs";
  PolicyOptions policy_options;
  std::string folder;         ///< journal and output of jobs
  std::string runtime_folder; ///< of the socket sched.sock
  LaunchOptions launch;
  double deadline_s = 60; ///< for an answer to a request
  bool dictates = false;  ///< gives jobs their grid; otherwise a shrink says how many processors at least, and a growth
                          ///< is an offer: the job chooses
  bool suspends = false;  ///< stops a job that ignores a shrink beyond its deadline
  bool ends_unresponsive = false; ///< ends it instead
  bool other_host_ended = false;  ///< the jobs that the journal has on another host have ended
  std::string shell = "ssh -o BatchMode=yes -o ConnectTimeout=5"; ///< the command that reaches a host, to stop jobs
                                                                  ///< there
  double unresponsive_s = 30; ///< how long a job that did not answer, or declined, is not asked again
  bool until_empty = false;   ///< end when there is nothing left to do
  bool is_verbose = false;
};

/// The scheduler of one machine or allocation. Decides by Policy, records in JobTable and journal, acts on processes
/// and sockets. Times that are in memory only are by base::monotonic_s, since the wall clock may be set.
class Daemon {
public:
  /// Reads the journal and finds the jobs that still run.
  /// @throws base::Error{io_failure, bad_state, bad_argument}
  explicit Daemon(DaemonOptions options);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Until it is shut down. @param is_stopped looked at now and then: the jobs run on.
  /// @throws base::Error{io_failure} when the journal is broken
  /// take_signal: "TERM", "USR1" or nothing, to be passed on to jobs that want a checkpoint then
  void run(
      const std::function<bool()>& is_stopped, const std::function<const char*()>& take_signal = [] { return ""; });

private:
  using Json = base::Json;
  /// The state of a job that is not in the journal.
  struct Live {
    advise::Allowed allowed;
    std::string allowed_text;
    Sizes sizes;
    bool has_fitting_size = true;
    Fd process;
    std::optional<control::Client> client;
    std::map<std::int64_t, std::string> sent; ///< id of a request to it -> its op
    std::int64_t request = 0;                 ///< the job's number of the pending change
    bool may_grow = false;                    ///< it was sent a growth, and may have begun with it
    bool is_withdrawing = false;              ///< that growth was to be cancelled
    std::optional<control::Ask> ask;          ///< its own request
    std::int64_t asked_as = 0;                ///< the number of that among the requests of all jobs
    Sizes more; ///< while it waits for that: the additional processors of each suitable grid
    bool is_resizable = false;
    std::unique_ptr<Json> status; ///< its last message; null: none received over this connection
    std::vector<double> step_s;
    mutable std::vector<double> by_speed_s; ///< step_s or told_s, on the processors that it has or would get
    std::vector<double> told_s;             ///< the time by size, as its user states
    double steps_left = -1, resize_s = 1;
    double share = 1, share_s = -1; ///< its last known load, and when it was received; below 0: never
    std::string why_asked;          ///< to shrink, where loads mattered
    int cores = 0;                  ///< of its hosts; 0: not received yet
    Json history;                   ///< its pages received so far
    bool asks_history = false;      ///< the next page is requested
    bool is_history_old = false;
    double next_look_s = 0, next_try_s = 0;
    double lost_s = 0; ///< when a connection with known status ended
    double killed_s = 0;
    bool is_killed_hard = false;
    std::optional<int> exit_status; ///< when it was a child of this process

    /// Whether it waits for processors of its own request.
    bool waits() const { return ask && ask->granted == 0 && !more.list().empty(); }
  };
  struct Waiter {
    control::LineServer::Client client;
    control::RequestId id;
    std::int64_t job;
  };

  void open_journal();
  void refuse_jobs_elsewhere() const;
  void listen();
  void commit(const std::vector<Entry>& entries);
  void commit(const Entry& entry) { commit(std::vector<Entry>{entry}); }
  void wait_for_room(const NoRoom& why);
  void recover();
  void set_allowed(Live& live, const std::string& text, const std::string& seconds);
  std::string file_of(std::int64_t job) const;
  std::string socket_name_of(std::int64_t job) const;

  void look_at_jobs();
  void connect(const JobRecord& job, Live& live);
  void listen_to(std::int64_t id, Live& live);
  void received(std::int64_t id, Live& live, const Json& line);
  void received_event(std::int64_t id, Live& live, const Json& line);
  bool is_of_another_scheduler(std::int64_t id, const Live& live, const Json& status) const;
  void received_status(std::int64_t id, Live& live, const Json& line);
  void ask_history(std::int64_t id, Live& live);
  void received_history(std::int64_t id, Live& live, const Json& page);
  void received_load(std::int64_t id, Live& live, const Json& line);
  void look_at_loads();
  void send(std::int64_t id, Live& live, const std::string& op, const Json& fields);
  void lose(std::int64_t id, Live& live, const std::exception& why);
  void received_ask(std::int64_t id, Live& live, const Json& asks);
  void end_ask(std::int64_t id, Live& live);
  void has_size(std::int64_t id, int n, const std::vector<Host>& hosts = {}, bool may_still_grow = false);
  void give_up(std::int64_t id, const std::string& why);
  void withdraw(std::int64_t id, Live& live);
  void has_ended(std::int64_t id);
  bool has_left_processes(std::int64_t id);
  void end_unbegun(std::int64_t id, const std::string& why);
  void kill_job(std::int64_t id);
  void look_at_deadlines();
  bool may_have_shrunk(const Live& live) const;
  void end_unresponsive(std::int64_t id);
  void suspend(std::int64_t id);
  void signal(const JobRecord& job, bool stops);
  std::set<std::string> hosts_of(const JobRecord& job) const;
  void resume_suspended();
  void pass_on(const std::string& signal);

  /// Refers to live_ and to `views`, which it fills.
  State state_now(std::deque<Job>& views) const;
  double share_of(const Live& live) const;
  const double* by_speed(const JobRecord& job, const Live& live, const std::vector<double>& step_s, double speed) const;
  Job view_of(const JobRecord& job, const Live& live) const;
  Promise promised(const JobSpec& spec, const Live& live) const;
  void schedule();
  void start(std::int64_t id, int procs);
  void ask(std::int64_t id, int procs, const std::string& why);
  void offer(std::int64_t id, const char* op);
  void answer_asks();
  void look_at_ask(std::int64_t id, Live& live);
  std::vector<Need> needs_but(std::int64_t id) const;
  void grant(std::int64_t id, int procs);
  void refuse(std::int64_t id, const std::string& why);
  std::vector<int> taken_in(const Json& line, const JobRecord& job) const;
  void received_choice(std::int64_t id, Live& live, const std::string& op, const Json& line);
  void received_shrink(std::int64_t id, Live& live, const Json& line);
  void received_cancel(std::int64_t id, Live& live, const Json& line);
  std::string no_answer() const;

  void answer(control::LineServer::Client client, std::string_view line);
  void serve_request(control::LineServer::Client client, const control::Request& request);
  Json submit(const control::Request& request);
  Json cancel(const control::Request& request);
  Json status() const;
  Json shut_down(bool cancels);
  Json overview() const;
  /// Of all jobs; known until the next commit().
  struct Outlook {
    int free = 0;
    std::string shrinking; ///< jobs with a request to shrink: "3, 7"
  };
  const Outlook& outlook() const;
  std::string why_waiting(const JobRecord& job) const;
  Json queue(const control::Request& request) const;
  Json timeline(const control::Request& request) const;
  Json json_of(const JobRecord& job) const;
  std::int64_t job_of(const control::Request& request) const;
  void tell_waiters(const JobRecord& job);
  void say(const std::string& text) const;

  DaemonOptions options_;
  std::unique_ptr<Policy> policy_;
  Fd lock_;
  JournalFile journal_;
  JobTable table_;
  std::string boot_;
  std::map<std::int64_t, Live> live_;
  std::vector<Waiter> waiters_;
  mutable std::optional<Outlook> outlook_;
  HostSignals signals_; ///< to processes on hosts, where they are given
  std::unique_ptr<control::LineServer> server_;
  LoadRound loads_;
  std::int64_t asks_received_ = 0;
  bool stop_ = false, is_changed_ = true;
  bool has_had_job_ = false;   ///< one that had not ended
  bool has_no_room_ = false;   ///< nothing can be recorded, so nothing is done
  double next_round_s_ = 0;    ///< time of the next attempt
  double next_decision_s_ = 0; ///< of policy qos, where decisions may change with time alone
  double began_s_ = 0;
  double last_look_s_ = 0; ///< at deadlines, by the wall clock: so are times in the journal, which outlive a reboot
  int cores_ = 0;          ///< of this machine where jobs run on it, 0: they run on other hosts
};

/// Folder of journal and output when none is given: $XDG_STATE_HOME/dyngrid/sched, else
/// ~/.local/state/dyngrid/sched.
/// @throws base::Error{not_found} when neither is set.
std::string default_folder();
/// Where the scheduler of this user listens.
std::string scheduler_socket();
/// Ends the scheduler of this user. `cancel`: its jobs end as well.
/// @return the number of its running jobs at that time.
/// @throws base::Error as control::Client
int shut_down(bool cancel);

} // namespace sched
