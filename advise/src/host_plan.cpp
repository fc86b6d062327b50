// SPDX-License-Identifier: BSD-3-Clause
#include "advise/host_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "refusal.hpp"

namespace advise {
namespace {

double process_speed(const HostSpeed& host, int processes, int threads) {
  return threads * core_speed(host, processes * threads);
}

/// The fewest threads with which each of the processes is at least as fast as `least`; 0: no number is enough.
int threads_for(const HostSpeed& host, int processes, double least) {
  for (int t = 1; processes * t <= host.cores; ++t)
    if (process_speed(host, processes, t) >= least) return t;
  return 0;
}

/// How many processes at least as fast as `least` there is room for.
int room(const HostSpeed& host, double least) {
  int most = 0;
  for (int t = 1; t <= host.cores; ++t) {
    // the more processes the slower each: the largest number that is still fast enough
    int low = most, high = host.cores / t;
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (process_speed(host, middle, t) >= least)
        low = middle;
      else
        high = middle - 1;
    }
    most = std::max(most, low);
  }
  return most;
}

void check(const std::vector<HostSpeed>& hosts, int processes) {
  std::int64_t cores = 0;
  for (const HostSpeed& host : hosts) {
    if (host.cores < 1 || !(host.alone > 0) || !(host.full > 0) || !std::isfinite(host.alone + host.full))
      refuse("hosts: host {} has {} cores of speed {} and {}, expected at least one core and speeds "
             "above 0",
             host.name, host.cores, host.alone, host.full);
    cores += host.cores;
  }
  if (processes < 1 || processes > cores)
    refuse("hosts: {} processes for hosts of {} cores, expected 1 to {}", processes, cores, cores);
}

} // namespace

double core_speed(const HostSpeed& host, int busy) {
  const double full = std::min(host.full, host.alone);
  return host.cores < 2 ? host.alone : host.alone + (full - host.alone) * (busy - 1) / (host.cores - 1);
}

HostPlan plan_hosts(const std::vector<HostSpeed>& hosts, int processes) {
  check(hosts, processes);
  std::vector<double> speeds; // that a process can have: one of them is the answer
  for (const HostSpeed& host : hosts)
    for (int t = 1; t <= host.cores; ++t)
      for (int k = 1; k * t <= host.cores; ++k) speeds.push_back(process_speed(host, k, t));
  std::sort(speeds.begin(), speeds.end());
  speeds.erase(std::unique(speeds.begin(), speeds.end()), speeds.end());
  const auto too_fast = std::partition_point(speeds.begin() + 1, speeds.end(), [&](double least) {
    std::int64_t sum = 0;
    for (const HostSpeed& host : hosts) sum += room(host, least);
    return sum >= processes;
  });
  HostPlan plan;
  plan.slowest = *(too_fast - 1);
  for (const HostSpeed& host : hosts) {
    HostShare share;
    share.processes = std::min(room(host, plan.slowest), processes);
    processes -= share.processes;
    if (share.processes > 0) {
      share.threads = threads_for(host, share.processes, plan.slowest);
      share.speed = process_speed(host, share.processes, share.threads);
    }
    plan.hosts.push_back(share);
  }
  return plan;
}

} // namespace advise
