// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gridmap/mapping.hpp"
#include "shares.hpp"

namespace gridmap::detail {

/// Completes a mapping whose `order` is set: speeds, shares, integer rows and columns, times.
void finish_mapping(const MappingRequest& request, Shares shares, Mapping& map);

} // namespace gridmap::detail
