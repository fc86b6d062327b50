// SPDX-License-Identifier: BSD-3-Clause
// What a job requests from its scheduler, the reply, and offers of processors, as they are sent. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/allowed.hpp"
#include "advise/offer.hpp"
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

/// "form" of a request; empty when it has none. @throws base::Error{bad_argument}
std::optional<gridmap::Strategy> form_of(const Request& request);
/// "hosts", "tpp" and "form" of a request. Without hosts the form may be local only. Empty when it names no hosts.
/// @throws base::Error{bad_argument}
std::optional<advise::Offer> offer_of(const Request& request);
/// [{"name","slots","speed"}], as in a request.
Json to_json(const std::vector<advise::OfferedHost>& hosts);
Json to_json(const advise::Choice& choice);

} // namespace control
