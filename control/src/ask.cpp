// SPDX-License-Identifier: BSD-3-Clause
#include "control/ask.hpp"

#include <cmath>

#include "base/parse_json.hpp"

namespace control {

Json to_json(const Ask& ask) {
  return {{"ask", ask.number},
          {"grids", ask.grids},
          {"wait", ask.waits},
          {"granted", ask.granted > 0 ? Json(ask.granted) : Json(nullptr)}};
}

std::optional<base::GridShape> grid_of(int procs, const advise::Allowed& allowed, const advise::Allowed& needed) {
  for (int rows = static_cast<int>(std::sqrt(procs)); rows > 0; --rows) {
    if (procs % rows != 0) continue;
    for (const base::GridShape shape : {base::GridShape{rows, procs / rows}, base::GridShape{procs / rows, rows}})
      if (allowed.permits(shape) && needed.permits(shape)) return shape;
  }
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
