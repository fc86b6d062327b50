// SPDX-License-Identifier: BSD-3-Clause
// The state of a scheduler: its jobs and their processors. It changes by entries of the journal only, so that reading
// the journal restores it. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "journal.hpp"
#include "policy.hpp"

namespace sched {

struct JobSpec {
  std::string name;  ///< for people
  std::string allow; ///< as dyngrid_allow; empty: not given
  int priority = 0;
  bool rigid = false;                 ///< never asked to change
  std::string folder;                 ///< where it runs
  std::int64_t steps = 0;             ///< 0: given by the program, or unknown
  std::vector<std::string> variables; ///< NAME=value
  std::vector<std::string> command;
  double finish_by_s = 0; ///< required end, since 1970; 0: none
  std::string seconds;    ///< the time by size, as its user states: "4=100,8=55"; empty: not given
};

struct JobRecord {
  enum class Phase { waiting, running, ended };
  std::int64_t id = 0;
  JobSpec spec;
  Phase phase = Phase::waiting;
  double submit_s = 0, start_s = 0, end_s = 0;
  int procs = 0; ///< processes of its grid; more than `processors` when it grew too late. Requests count from it
  std::vector<int> processors; ///< ids, ascending
  std::vector<int> reserved;   ///< promised for a growth
  int target = 0;              ///< requested size, 0: none
  double asked_s = 0, unresponsive_until_s = 0;
  bool is_cancelled = false;
  std::string why_cancelled;                        ///< set with is_cancelled
  bool is_suspended = false, was_suspended = false; ///< now; at some time
  int lent = 0;                                     ///< processors that others may have while it is suspended
  std::int64_t pid = 0, pid_started = 0;
  std::string status, why; ///< of the end: "0", "1", "signal 9", "-"
  int resizes = 0, ignored = 0;
};

/// One job had one set of processors from begin_s to end_s.
struct Segment {
  std::int64_t job = 0;
  double begin_s = 0, end_s = 0; ///< end_s 0: not ended
  std::vector<int> processors;
};

class JobTable {
public:
  /// @throws base::Error{io_failure} when it contradicts the state: a damaged journal.
  void apply(const Entry& entry);

  int procs() const { return procs_; }
  const std::string& policy() const { return policy_; }
  const std::string& boot() const { return boot_; }
  const std::string& host() const { return host_; } ///< of the last scheduler; empty: not known
  std::int64_t next_id() const { return next_id_; }
  const std::map<std::int64_t, JobRecord>& jobs() const { return jobs_; }
  const JobRecord* find(std::int64_t id) const;
  const std::vector<Segment>& segments() const { return segments_; }

  /// Speed of each processor, by id; empty: all equal. It is no entry: the reader of a journal has the list of hosts.
  void set_speeds(std::vector<double> speeds) { speeds_ = std::move(speeds); }
  const std::vector<double>& speeds() const { return speeds_; }
  /// The n free processors to give: contiguous ones where there are any, the smallest such gap. Where speeds differ the
  /// fastest.
  /// @throws base::Error{internal} when there are fewer than n.
  std::vector<int> choose(int n) const;
  std::set<int> free_ids() const;
  /// The n processors that a job keeps when it does not name them: the lowest.
  static std::vector<int> keep(const JobRecord& job, int n);

  // entries, ready to be written
  Entry open(double at_s, int procs, const std::string& policy, const std::string& boot,
             const std::string& host = "") const;
  Entry submit(double at_s, const JobSpec& spec) const;
  /// Of the job that was submitted last.
  Entry finish(double at_s, std::int64_t job, const JobSpec& spec) const;
  Entry start(double at_s, std::int64_t job, int procs, std::int64_t pid, std::int64_t pid_started) const;
  Entry ask(double at_s, std::int64_t job, int target) const;
  /// Of the processors reserved for a growth only these: the job takes no more.
  Entry narrow(double at_s, std::int64_t job, const std::vector<int>& ids) const;
  /// It has n processors now, whatever was requested. It gets none beyond the free ones: then it shares.
  Entry size(double at_s, std::int64_t job, int n) const;
  /// The same where the ids are known: `ids` of candidates().
  Entry size(double at_s, std::int64_t job, int n, const std::vector<int>& ids) const;
  /// The requested growth goes on after that change of size, which the job made by itself: the processors promised for
  /// it, and those that the job leaves, stay reserved.
  Entry ask_on(const Entry& size) const;
  /// Processors that it may have: its first ones (mpirun's processes never leave them), its present ones, the promised
  /// ones, the free ones.
  std::vector<int> candidates(std::int64_t job) const;
  Entry answer(double at_s, std::int64_t job, const std::string& why, double unresponsive_until_s) const;
  /// `why`: by the scheduler itself; empty: a client requested it.
  Entry cancel(double at_s, std::int64_t job, const std::string& why = "") const;
  /// It is stopped, and keeps n processors in the records.
  Entry suspend(double at_s, std::int64_t job, int n) const;
  /// It goes on, on its earlier number of processors.
  /// @throws base::Error{internal} when they are not free.
  Entry resume(double at_s, std::int64_t job) const;
  bool can_resume(const JobRecord& job) const;
  Entry requeue(double at_s, std::int64_t job) const;
  Entry end(double at_s, std::int64_t job, const std::string& status, const std::string& why) const;

private:
  // steps of apply(); these throw as it does
  JobRecord& job_of(const Entry& entry);
  JobRecord& job_in(JobRecord::Phase phase, const Entry& entry);
  void start_job(JobRecord& job, const Entry& entry);
  void ask_job(JobRecord& job, const Entry& entry);
  void answer_of_job(JobRecord& job, const Entry& entry);
  void resize_job(JobRecord& job, const Entry& entry);
  void suspend_job(JobRecord& job, const Entry& entry);
  void requeue_job(JobRecord& job, double at_s);
  void end_job(JobRecord& job, const Entry& entry);
  void take_processors(JobRecord& job, double at_s);
  void close_segment(std::int64_t job, double at_s);

  int procs_ = 0;
  std::string policy_, boot_, host_;
  std::int64_t next_id_ = 1;
  std::map<std::int64_t, JobRecord> jobs_;
  std::vector<Segment> segments_;
  std::vector<double> speeds_;
};

const char* to_string(JobRecord::Phase phase);

} // namespace sched
