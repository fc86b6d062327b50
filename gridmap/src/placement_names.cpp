// SPDX-License-Identifier: BSD-3-Clause
// The one table of what the placements are called.
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/status.hpp"
#include "base/text.hpp"
#include "gridmap/placement.hpp"

namespace gridmap {

const std::vector<std::string>& placement_names() {
  static const std::vector<std::string> names{"optimal", "global", "local1", "local2"};
  return names;
}

const char* to_string(Placement placement) {
  const auto number = static_cast<std::size_t>(placement);
  return number < placement_names().size() ? placement_names()[number].c_str() : "?";
}

Placement parse_placement(std::string_view text, std::string_view where) {
  const std::vector<std::string>& names = placement_names();
  const auto name = std::find(names.begin(), names.end(), base::trimmed(text));
  if (name != names.end()) return static_cast<Placement>(name - names.begin());
  throw base::Error(base::Status::bad_argument,
                    fmt::format("{} is \"{}\", expected optimal, global, local1 or local2", where, text));
}

} // namespace gridmap
