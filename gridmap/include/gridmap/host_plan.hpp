// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace gridmap {

/// What one core of a host does: when it is the only one that computes, and when all do.
struct HostSpeed {
  std::string name;
  int cores = 1;
  double alone = 1, full = 1; ///< in one unit for all hosts; full above alone counts as alone
};

/// Of each core while `busy` of them compute: on the straight line between the two measured speeds.
double core_speed(const HostSpeed& host, int busy);

/// Processes of one host; each has so many threads and is so fast.
struct HostShare {
  int processes = 0, threads = 0;
  double speed = 0;
};

struct HostPlan {
  std::vector<HostShare> hosts; ///< as asked; no processes: the host is not used
  double slowest = 0;           ///< speed of the slowest process
};

/// So many processes on unequal hosts, each with threads, such that the slowest process is as fast as can be; then no
/// more threads than that takes, so that all are about equally fast, and the first hosts filled first. Exact under this
/// model: t threads do t times what one does, at the speed that a core has with so many busy. Pure.
///
/// Cost: O(c log c log(h c)) for h hosts of c cores each.
/// @throws base::Error{bad_argument} for hosts without cores or speed, or more processes than cores.
HostPlan plan_hosts(const std::vector<HostSpeed>& hosts, int processes);

} // namespace gridmap
