// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "advise/offer.hpp"
#include "job_table.hpp"

namespace sched {

using Host = advise::OfferedHost;

/// The locations of processors: hosts in the order of their processors' ids. Empty: this machine, with the scheduler's
/// number of processors.
struct Hosts {
  std::vector<Host> list;
  int procs() const { return advise::slots_of(list); }
  /// "node1:8:1.4,node2:4"; without a speed it is 1. @throws base::Error{bad_argument}
  static Hosts parse(const std::string& text);
};

struct LaunchOptions {
  std::string mpirun = "mpirun";
  /// mpirun binds one or two processes to the first cores, those of each job to the same ones.
  std::vector<std::string> mpirun_options{"--oversubscribe", "--bind-to", "none"};
  Hosts hosts;
  bool is_mpich = false; ///< uses -hosts, and passes its environment to all hosts
  std::string scheduler; ///< a name that is unique among schedulers; empty: jobs have no mark
};

/// A variable in the environment of all processes of a job of `options.scheduler`, on every host, and of no other
/// process: NAME=value.
std::string mark_of(const std::string& socket_name, const LaunchOptions& options);

/// Command and environment of a job's mpirun. Pure.
struct Launch {
  std::vector<std::string> command;
  std::vector<std::string> variables; ///< NAME=value, besides those of the scheduler
};

/// @param socket_name  DYNGRID_JOB of the application.
/// @param first_grid  "2x3", empty: the application chooses.
/// @param processors  ids.
Launch make_launch(const JobSpec& spec, const std::string& socket_name, const std::string& first_grid,
                   const std::vector<int>& processors, const LaunchOptions& options);

} // namespace sched
