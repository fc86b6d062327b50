// SPDX-License-Identifier: BSD-3-Clause
// All ways to cut items in a row into stretches, against which exact cuts are tested.
#pragma once
#include <cstdint>

#include "base/cut.hpp"

/// Calls `look` with every way to cut n items into stretches.
template <class Look> void every_partition(std::int64_t n, std::size_t parts, Look look) {
  base::Borders first(parts + 1, 0);
  first.back() = n;
  const auto next = [&](auto self, std::size_t k) -> void {
    if (k == parts) return look(first);
    for (first[k] = first[k - 1]; first[k] <= n; ++first[k]) self(self, k + 1);
  };
  next(next, 1);
}
