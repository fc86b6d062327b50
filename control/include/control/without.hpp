// SPDX-License-Identifier: BSD-3-Clause
// Who shall not be in a grid. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gridmap/topology.hpp"

namespace control {

/// A process of an application, in the grid or asleep.
struct ProcessInfo {
  int id = 0; ///< given once, one process while the application runs
  std::string host;
  std::int64_t unit = 0; ///< number of its group; 0: mpirun started it
  int place = -1;        ///< in the grid, row-major; -1: it sleeps
  double speed = 1;
  std::string asked_host{}; ///< where its group was to come, as the launcher was told; "": mpirun's, or nobody said
};

/// Processes that shall not be in the new grid, as it is said: "3,5", "host:node7", "slowest", "slowest:2", any of them
/// joined by commas.
struct Without {
  std::vector<int> ids;
  std::vector<std::string> hosts;
  int slowest = 0; ///< so many of those in the grid that are not named otherwise

  bool is_empty() const { return ids.empty() && hosts.empty() && slowest == 0; }
  /// @throws base::Error{bad_argument} naming `where`
  static Without parse(std::string_view text, std::string_view where);
  std::string text() const;

  /// Their ids, ascending, those that sleep included. Never process 0, which stays in every grid. The slowest is the
  /// one with the least speed; of several the one that came last.
  /// @throws base::Error{not_found} for an id or a host of nobody, {bad_argument} for process 0 or its host, and for
  /// the slowest of processes that are all alike
  std::vector<int> among(const std::vector<ProcessInfo>& all) const;
};
template <class Archive> void fields(Archive& a, Without& without) {
  a(without.ids, without.hosts, without.slowest);
}

/// Why `to` cannot be had without `named` of `all`; empty: it can. New processes are not started for it, since they
/// would come to where others are to leave.
std::string too_few_without(const std::vector<ProcessInfo>& all, const std::vector<int>& named, gridmap::GridShape to);

} // namespace control
