// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/dealing.hpp"

#include <algorithm>
#include <numeric>

#include "gridmap/mapping.hpp"

namespace gridmap {
namespace {

constexpr std::int64_t most_listed = 1 << 16; ///< sizes in a list, which is in descriptors and packets

/// Rounds in which the positions are dealt their blocks.
std::int64_t rounds_for(const std::vector<std::int64_t>& blocks) {
  std::int64_t least = 0, common = 0;
  for (const std::int64_t b : blocks) {
    if (b > 0) least = least == 0 ? b : std::min(least, b);
    common = std::gcd(common, b);
  }
  if (common == least) return least; // all rounds are alike, and one of them is listed
  return std::clamp<std::int64_t>(least, 1, std::max<std::int64_t>(1, most_listed / static_cast<int>(blocks.size())));
}

} // namespace

Axis deal_out(std::int64_t n, std::int64_t nb, int nprocs, const std::vector<double>& shares, DealOrder order) {
  const std::int64_t blocks = n / nb + (n % nb != 0);
  const std::int64_t whole = std::max<std::int64_t>(1, n);
  if (shares.empty() || blocks == 0) {
    const std::int64_t most = std::max<std::int64_t>(1, blocks / nprocs + (blocks % nprocs != 0));
    return Axis::block_cyclic(n, order == DealOrder::cyclic ? nb : most > whole / nb ? whole : most * nb, nprocs);
  }
  const std::vector<std::int64_t> mine = natural_blocks(blocks, shares);
  const std::int64_t rounds = order == DealOrder::cyclic ? rounds_for(mine) : 1;
  const bool are_alike = std::all_of(mine.begin(), mine.end(), [&](std::int64_t b) { return b % rounds == 0; });
  std::vector<std::int64_t> sizes;
  std::int64_t left = n;
  for (std::int64_t round = 0; round < (are_alike ? 1 : rounds); ++round)
    for (const std::int64_t b : mine) {
      const std::int64_t here = (round + 1) * b / rounds - round * b / rounds;
      sizes.push_back(here > left / nb ? left : here * nb);
      left -= sizes.back();
    }
  Axis axis = Axis::heterogeneous(n, std::move(sizes), nprocs);
  axis.validate();
  return axis;
}

} // namespace gridmap
