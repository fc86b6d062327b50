// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sched/policy.hpp"
#include "workload.hpp"

namespace sched {

struct SimulationOptions {
  int procs = 32;
  int cores = 0;                ///< of the machine: on more processors a step is no quicker; 0: as many as processors
  bool has_history = true;      ///< policies know the jobs' step times
  double relative_error = 0.01; ///< stop when the standard error of the mean response time is below this part
  std::int64_t warm_up = 20000; ///< jobs left out at the start
  std::int64_t most_jobs = 200000000; ///< give up after this number
  std::int64_t longest_queue = 5000;  ///< more jobs waiting: the machine is overloaded, give up
  double deadline_s = 300;            ///< for an answer to a request
  double unresponsive_s = 3600;       ///< how long a job that ignored a request is not asked again
  bool to_the_end = false;            ///< recorded jobs: run all of them, whatever the error
};

struct CategoryResult {
  std::int64_t jobs = 0;
  double response_s = 0, wait_s = 0, service_s = 0; ///< means
};

struct SimulationResult {
  std::int64_t jobs = 0; ///< counted ones
  double response_s = 0, error_s = 0;
  double wait_s = 0, service_s = 0;
  double used = 0;            ///< part of the processor time that jobs had
  double resizes_per_job = 0; ///< changes of size
  std::int64_t ignored = 0, crashed = 0;
  bool converged = false, overloaded = false;
  int batches = 0;
  double correlation = 0;    ///< of neighbouring batch means
  std::int64_t jobs_run = 0; ///< the warm-up included
  double simulated_s = 0;
  std::vector<CategoryResult> categories;
};

/// What happens in a simulation, for tests and timelines.
struct SimulationEvent {
  enum class Kind { arrival, start, ask, resized, ignored, crash, end };
  double at_s = 0;
  Kind kind = Kind::arrival;
  std::int64_t job = 0; ///< counted from 1 in the order of arrival
  const App* app = nullptr;
  int procs = 0; ///< after the event; for `ask` the size asked for
};

/// Runs `policy` on simulated time. A request is looked at when the job's current step ends; while a job
/// changes its size it makes no progress and holds the larger of the two numbers of processors.
SimulationResult simulate(const Policy& policy, Arrivals& arrivals, const SimulationOptions& options,
                          const std::function<void(const SimulationEvent&)>& watch = nullptr);

} // namespace sched
