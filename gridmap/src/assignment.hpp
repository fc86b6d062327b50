// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

namespace gridmap::detail {

struct Pair {
  int left, right;
  std::int64_t weight;
};

/// Exact maximum-weight assignment: exactly min(lefts, rights) pairs, total weight of pairs plus bonus of the
/// lefts used largest. Pairs not listed weigh 0. `bonus` is empty or one per left. Weights stay exact while
/// (largest weight) * (lefts + rights) < 2^60.
/// @return for each left its right, -1 for none.
std::vector<int> assign(int lefts, int rights, const std::vector<Pair>& pairs,
                        const std::vector<std::int64_t>& bonus = {});

} // namespace gridmap::detail
