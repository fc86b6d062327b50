// SPDX-License-Identifier: BSD-3-Clause
#include "control/ask.hpp"

#include "base/parse_json.hpp"

namespace control {

Json to_json(const Ask& ask) {
  return {{"ask", ask.number},
          {"grids", ask.grids},
          {"wait", ask.waits},
          {"granted", ask.granted > 0 ? Json(ask.granted) : Json(nullptr)}};
}

std::optional<base::GridShape> grid_of(int procs, const advise::Allowed& allowed, const advise::Allowed& needed) {
  if (const auto shape = allowed.largest(procs, procs); shape && needed.permits(*shape)) return shape;
  if (const auto shape = needed.largest(procs, procs); shape && allowed.permits(*shape)) return shape;
  return std::nullopt;
}

Grant Grant::in(const Request& request) {
  Grant grant;
  grant.procs = static_cast<int>(whole_number(request, "procs", 0, 1 << 20));
  grant.reason = text(request, "reason", "");
  if (const auto offer = offer_of(request)) grant.hosts = offer->hosts;
  return grant;
}

} // namespace control
