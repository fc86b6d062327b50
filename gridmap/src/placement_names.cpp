// SPDX-License-Identifier: BSD-3-Clause
// The one table of what the placements are called.
#include "base/names.hpp"
#include "base/text.hpp"
#include "gridmap/placement.hpp"

namespace gridmap {

const base::Names& placement_names() {
  static const base::Names names{"optimal", "global", "local1", "local2"};
  return names;
}

const char* to_string(Placement placement) {
  return base::name_of(placement, placement_names());
}

Placement parse_placement(std::string_view text, std::string_view where) {
  return base::value_of_name<Placement>(base::trimmed(text), placement_names(), where);
}

} // namespace gridmap
