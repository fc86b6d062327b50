// SPDX-License-Identifier: BSD-3-Clause
// Processes that are excluded from a grid. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/grid_shape.hpp"

namespace advise {

/// A process of an application, in the grid or parked.
struct ProcessInfo {
  int id = 0; ///< unique while the application runs
  std::string host;
  std::int64_t unit = 0; ///< number of its group; 0: mpirun started it
  int place = -1;        ///< in the grid, row-major; -1: it sleeps
  double speed = 1;
  std::string asked_host{}; ///< the host of its group as passed to the launcher; "": mpirun chose it, or none was given
};

/// Processes excluded from the new grid, in text form: "3,5", "host:node7", "slowest", "slowest:2", any of them joined
/// by commas.
struct Without {
  std::vector<int> ids;
  std::vector<std::string> hosts;
  int slowest = 0; ///< number of the slowest in the grid that are not named otherwise

  bool is_empty() const { return ids.empty() && hosts.empty() && slowest == 0; }
  /// @throws base::Error{bad_argument} naming `where`
  static Without parse(std::string_view text, std::string_view where);
  std::string text() const;

  /// Their ids, ascending, including those that sleep. Never process 0, which stays in every grid. The slowest is the
  /// one with the least speed; of several the one started last.
  /// @throws base::Error{not_found} for an id or a host without process, {bad_argument} for process 0 or its host, and
  /// for the slowest of equal processes
  std::vector<int> among(const std::vector<ProcessInfo>& all) const;
};
template <class Archive> void fields(Archive& a, Without& without) {
  a(without.ids, without.hosts, without.slowest);
}

/// Why `to` is not possible without `named` of `all`; empty: it is. No new processes are started for it, since they
/// would start where others are to leave.
std::string too_few_without(const std::vector<ProcessInfo>& all, const std::vector<int>& named, base::GridShape to);

} // namespace advise
