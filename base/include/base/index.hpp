// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace base {

/// Sizes are 64-bit and signed here, and containers want theirs.
inline std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

} // namespace base
