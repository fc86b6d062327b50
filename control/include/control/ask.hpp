// SPDX-License-Identifier: BSD-3-Clause
// What a job asks its scheduler for, and what that answers. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/allowed.hpp"
#include "control/offer.hpp"
#include "control/protocol.hpp"

namespace control {

struct Ask {
  std::int64_t number = 0;
  std::string grids;  ///< one of these, as Allowed reads them
  bool waits = false; ///< until one of them can be had
  int granted = 0;    ///< processes; 0: not answered yet
};
Json to_json(const Ask& ask);

/// A grid of so many processes that both permit. Empty: there is none.
std::optional<gridmap::GridShape> grid_of(int procs, const Allowed& allowed, const Allowed& needed);

struct Grant {
  int procs = 0;                  ///< of the grid that may be had; 0: refused
  std::vector<OfferedHost> hosts; ///< of the processes that are new, where hosts are known
  std::string reason;             ///< of a refusal

  /// "procs", "hosts" and "reason" of a request. @throws base::Error{bad_argument}
  static Grant in(const Request& request);
};

} // namespace control
