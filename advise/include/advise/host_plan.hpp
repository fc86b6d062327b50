// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace advise {

/// Speed of one core of a host: when it computes alone, and when all do.
struct HostSpeed {
  std::string name;
  int cores = 1;
  double alone = 1, full = 1; ///< in one unit for all hosts; full above alone counts as alone
};

/// Speed of each core while `busy` of them compute: on the straight line between the two measured speeds.
double core_speed(const HostSpeed& host, int busy);

/// Processes of one host, the threads of each and its speed.
struct HostShare {
  int processes = 0, threads = 0;
  double speed = 0;
};

struct HostPlan {
  std::vector<HostShare> hosts; ///< as asked; no processes: the host is not used
  double slowest = 0;           ///< speed of the slowest process
};

/// Processes on unequal hosts, each with threads, such that the slowest process is as fast as possible. No process has
/// more threads than that needs, so that all are about equally fast, and the first hosts are filled first. Exact under
/// this model: t threads do t times what one does, at the speed of a core with that many busy cores. Pure.
///
/// Cost: O(c log c log(h c)) for h hosts of c cores each.
/// @throws base::Error{bad_argument} for hosts without cores or speed, or more processes than cores.
HostPlan plan_hosts(const std::vector<HostSpeed>& hosts, int processes);

} // namespace advise
