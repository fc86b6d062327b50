// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/dealing.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/status.hpp"
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

/// natural_blocks, and none where the share is 0.
std::vector<std::int64_t> blocks_of(std::int64_t blocks, const std::vector<double>& shares) {
  std::vector<double> some;
  std::copy_if(shares.begin(), shares.end(), std::back_inserter(some), [](double share) { return share != 0; });
  if (some.empty() || some.size() == shares.size()) return natural_blocks(blocks, shares);
  const std::vector<std::int64_t> theirs = natural_blocks(blocks, some);
  std::vector<std::int64_t> mine;
  auto next = theirs.begin();
  for (const double share : shares) mine.push_back(share != 0 ? *next++ : 0);
  return mine;
}

/// factor_order, and none for those whose share is 0.
std::vector<int> owners_of(std::int64_t blocks, const std::vector<double>& shares) {
  std::vector<double> some;
  std::vector<int> whose;
  for (std::size_t p = 0; p < shares.size(); ++p) {
    if (shares[p] == 0) continue;
    some.push_back(shares[p]);
    whose.push_back(static_cast<int>(p));
  }
  std::vector<int> owners = factor_order(blocks, some);
  for (int& owner : owners) owner = whose[static_cast<std::size_t>(owner)];
  return owners;
}

} // namespace

Axis axis_of_owners(std::int64_t n, std::int64_t nb, int nprocs, const std::vector<int>& owners) {
  std::vector<std::int64_t> sizes;
  int last = -1;
  std::int64_t left = n;
  for (const int owner : owners) {
    const std::int64_t size = std::min(nb, left);
    left -= size;
    if (owner == last) {
      sizes.back() += size;
      continue;
    }
    for (int skipped = (last + 1) % nprocs; skipped != owner; skipped = (skipped + 1) % nprocs) sizes.push_back(0);
    sizes.push_back(size);
    last = owner;
  }
  return Axis::heterogeneous(n, std::move(sizes), nprocs);
}

std::vector<int> factor_order(std::int64_t blocks, const std::vector<double>& speeds) {
  if (blocks < 0)
    throw base::Error(base::Status::bad_argument, "gridmap: factor_order: blocks is {}, expected at least 0", blocks);
  if (speeds.empty())
    throw base::Error(base::Status::bad_argument, "gridmap: factor_order: no speeds, expected one each");
  for (const double speed : speeds)
    if (!(speed > 0) || !std::isfinite(speed))
      throw base::Error(base::Status::bad_argument, "gridmap: factor_order: a speed is {}, expected a number above 0",
                        speed);
  std::vector<int> owners(static_cast<std::size_t>(blocks));
  std::vector<double> counts(speeds.size(), 0);
  for (auto owner = owners.rbegin(); owner != owners.rend(); ++owner) {
    std::size_t first = 0;
    for (std::size_t p = 1; p < speeds.size(); ++p)
      if ((counts[p] + 1) / speeds[p] < (counts[first] + 1) / speeds[first]) first = p;
    *owner = static_cast<int>(first);
    ++counts[first];
  }
  return owners;
}

double factor_work(std::int64_t m, std::int64_t n, std::int64_t first, std::int64_t end) {
  const auto rest = [diagonal = static_cast<double>(std::min(m, n)),
                     wider = static_cast<double>(std::max(m, n) - std::min(m, n))](double first_column) {
    const double k = diagonal - first_column; // the sum of i (i + wider) for i = 1 .. k
    return k * (k + 1) * (2 * k + 1) / 6 + wider * k * (k + 1) / 2;
  };
  const std::int64_t most = std::min(m, n);
  return rest(static_cast<double>(std::min(first, most))) - rest(static_cast<double>(std::min(end, most)));
}

Axis deal_out(std::int64_t n, std::int64_t nb, int nprocs, const std::vector<double>& shares, DealOrder order) {
  const std::int64_t blocks = n / nb + (n % nb != 0);
  const std::int64_t whole = std::max<std::int64_t>(1, n);
  if (shares.empty() || blocks == 0) {
    const std::int64_t most = std::max<std::int64_t>(1, blocks / nprocs + (blocks % nprocs != 0));
    return Axis::block_cyclic(n, order != DealOrder::block ? nb : most > whole / nb ? whole : most * nb, nprocs);
  }
  if (order == DealOrder::factor) {
    const std::int64_t most = std::max<std::int64_t>(1, most_listed / nprocs), joined = (blocks + most - 1) / most;
    Axis axis = axis_of_owners(n, nb * joined, nprocs, owners_of((blocks + joined - 1) / joined, shares));
    axis.validate();
    return axis;
  }
  const std::vector<std::int64_t> mine = blocks_of(blocks, shares);
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
