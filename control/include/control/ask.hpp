// SPDX-License-Identifier: BSD-3-Clause
// What a job requests from its scheduler, and the reply. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/allowed.hpp"
#include "control/offer_json.hpp"
#include "control/protocol.hpp"

namespace control {

struct Ask {
  std::int64_t number = 0;
  std::string grids;  ///< one of these, in the syntax of Allowed
  bool waits = false; ///< until one of them is available
  int granted = 0;    ///< processes; 0: no reply yet
};
Json to_json(const Ask& ask);

/// Of the grids of `procs` processes that both permit, the one nearest to square. Empty: there is none.
std::optional<base::GridShape> grid_of(int procs, const advise::Allowed& allowed, const advise::Allowed& needed);

struct Grant {
  int procs = 0;                          ///< of the granted grid; 0: refused
  std::vector<advise::OfferedHost> hosts; ///< of the new processes, where hosts are known
  std::string reason;                     ///< of a refusal

  /// "procs", "hosts" and "reason" of a request. @throws base::Error{bad_argument}
  static Grant in(const Request& request);
};

} // namespace control
