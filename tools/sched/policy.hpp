// SPDX-License-Identifier: BSD-3-Clause
// Who gets processors. Pure: the state goes in, decisions come out; the daemon carries them out on running
// jobs, the simulator on simulated ones.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sizes.hpp"
#include "time.hpp"

namespace sched {

/// What a policy knows of a job.
struct Job {
  std::int64_t id = 0;
  double arrival_s = 0;
  int priority = 0; ///< larger goes first
  const Sizes* sizes = nullptr;
  bool resizable = true;
  int procs = 0;                   ///< processors it has; 0 while it waits
  int target = 0;                  ///< asked for and not yet answered, 0: nothing
  double unresponsive_until_s = 0; ///< it ignored or declined a request: not asked before this time

  /// Seconds of a step on each of sizes->list(), measured or predicted, 0 where nothing is known. Null: no
  /// history.
  const double* step_s = nullptr;
  double steps_left = -1; ///< -1: unknown
  double resize_s = 0;    ///< predicted cost of a change of size
  double power = 0;       ///< speeds of the processors that it has, together; 0: as many as they are
  int cores = 0; ///< of the hosts it runs on, 0: not known; where there is no history, none are of use beyond them
  double finish_by_s = never; ///< when it is to have ended; infinite: whenever
};

/// Jobs are borrowed for one call of decide().
struct State {
  double now_s = 0;
  int procs = 0;                   ///< of the machine
  std::vector<const Job*> waiting; ///< in the order of the queue: priority, then arrival
  std::vector<const Job*> running; ///< in the order of their starts

  /// Of the free processors, the fastest first: in this order they are given. Empty: all processors are alike.
  std::vector<double> free_speeds;

  /// Processors that nobody has and nobody was promised. A request to grow reserves what it asks for; a job
  /// that is asked to shrink has its processors until it has let them go.
  int free() const;
};

/// A waiting job (procs is 0) is started on `procs`; a running one is asked to change to `procs`.
struct Decision {
  const Job* job = nullptr;
  int procs = 0;
  bool is_start() const { return job->procs == 0; }
};

class Policy {
public:
  virtual ~Policy() = default;
  virtual const char* name() const = 0;
  /// Appends decisions to `out`, to be carried out in this order; starts fit into the processors that are
  /// free. Jobs with a request pending, unresponsive ones and those that are not resizable are left alone.
  virtual void decide(const State& state, std::vector<Decision>& out) const = 0;
};

/// What the published descriptions leave open; the defaults are explained in docs/scheduler.md.
struct PolicyOptions {
  enum class Share { even, first };
  /// Processors left over when each job that fits has its smallest size: one size at a time to the job that
  /// has the fewest, or as many as it can take to the first in the queue.
  Share share = Share::even;
  /// A growth must free at least this part of the job's remaining time; where that is unknown it is not asked
  /// for.
  bool payoff = false;
};

/// "ls" lazy, "as" adaptive, "rs" reconfigurable (DRMS, section 9), "tp" throughput, "qos" finish-by times.
/// @throws base::Error{bad_argument}
std::unique_ptr<Policy> make_policy(std::string_view name, const PolicyOptions& options = {});

/// Whether growing from `from` to `to` processors ends the job earlier: the time of the steps left saves more
/// than the change costs. With too little known it is taken to pay, unless the job fills the cores already.
bool growth_pays(const Job& job, int from, int to);

} // namespace sched
