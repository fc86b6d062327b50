// SPDX-License-Identifier: BSD-3-Clause
// Assigns processors to jobs. Pure: the state goes in, decisions come out. The daemon carries them out on running jobs,
// the simulator on simulated ones.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sizes.hpp"
#include "time.hpp"

namespace sched {

/// The data of a job for a policy.
struct Job {
  std::int64_t id = 0;
  double arrival_s = 0;
  int priority = 0; ///< larger goes first
  const Sizes* sizes = nullptr;
  bool resizable = true;
  int procs = 0;                   ///< processors it has; 0 while it waits
  int target = 0;                  ///< requested and not yet answered, 0: nothing
  double unresponsive_until_s = 0; ///< it ignored or declined a request: no new request before this time

  /// Seconds of a step on each of sizes->list(), measured or predicted, 0 where nothing is known. Null: no
  /// history.
  const double* step_s = nullptr;
  double steps_left = -1; ///< -1: unknown
  double resize_s = 0;    ///< predicted cost of a change of size
  double power = 0;       ///< total nominal speed of its processors; 0: their number
  double share = 1;       ///< the part of its processors that its processes get beside other work, above 0, at most 1
  int cores = 0; ///< of its hosts, 0: not known; without a history, processors beyond them are assumed to be useless
  double finish_by_s = never; ///< required end; infinite: none
};

/// Jobs are borrowed for one call of decide().
struct State {
  double now_s = 0;
  int procs = 0;                   ///< of the machine
  std::vector<const Job*> waiting; ///< in the order of the queue: priority, then arrival
  std::vector<const Job*> running; ///< in the order of their starts

  /// Of the free processors, the fastest first: they are given in this order. Empty: all processors are equal.
  std::vector<double> free_speeds;

  /// Processors that no job has and that are promised to none. A request to grow reserves the requested ones. A job
  /// with a request to shrink has its processors until it has released them.
  int free() const;
};

/// A waiting job (procs is 0) is started on `procs`; a running one is asked to change to `procs`.
struct Decision {
  const Job* job = nullptr;
  int procs = 0;
  bool is_start() const { return job->procs == 0; }
  bool is_shrink() const { return procs < job->procs; }
};

class Policy {
public:
  virtual ~Policy() = default;
  /// Appends decisions to `out`, to be carried out in this order; starts fit into the free processors. Jobs with a
  /// pending request, unresponsive ones and those that are not resizable are not changed.
  virtual void decide(const State& state, std::vector<Decision>& out) const = 0;
};

/// Details that the published descriptions leave open; docs/scheduler.md explains the defaults.
struct PolicyOptions {
  enum class Share { even, first };
  /// For processors left over when each job that fits has its smallest size: one size at a time to the job with the
  /// fewest, or as many as possible to the first in the queue.
  Share share = Share::even;
  /// A growth must save at least this part of the job's remaining time; where that is unknown no growth is requested.
  bool payoff = false;
};

/// "ls" lazy, "as" adaptive, "rs" reconfigurable (DRMS, section 9), "tp" throughput, "qos" finish-by times.
/// @throws base::Error{bad_argument}
std::unique_ptr<Policy> make_policy(std::string_view name, const PolicyOptions& options = {});

/// The running jobs of which decide() may ask one or another to shrink, whatever their loads are. Empty: it asks none,
/// or there is no choice.
std::vector<std::int64_t> candidates_to_shrink(const Policy& policy, const State& state);

/// Why `decision`, a request to shrink, goes to this job: "its processes get 0.52 of their processors". Empty where
/// decide() does the same when no job is loaded.
std::string why_by_load(const Policy& policy, const State& state, const Decision& decision);

/// Whether growing from `from` to `to` processors ends the job earlier: the steps left save more time than the change
/// costs. With too little data the answer is yes, unless the job fills the cores already.
bool growth_pays(const Job& job, int from, int to);

} // namespace sched
