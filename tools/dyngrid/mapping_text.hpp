// SPDX-License-Identifier: BSD-3-Clause
// The output of `map` and `select` for a mapping.
#pragma once

#include <string>

#include "gridmap/mapping.hpp"
#include "shared/text.hpp"

namespace command {

/// T_opt and utilization as a list of rows.
Json t_opt_of(const gridmap::Mapping& map);
Json utilization_of(const gridmap::Mapping& map);

/// Speeds with rows and columns at the edges, T_opt in brackets.
std::string mapping_table(const gridmap::Mapping& map);

} // namespace command
