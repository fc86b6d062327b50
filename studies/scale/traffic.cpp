// SPDX-License-Identifier: BSD-3-Clause
#include "scale/traffic.hpp"

#include <algorithm>

namespace scale {
namespace {

using Counts = std::vector<std::vector<std::int64_t>>; // [source position][target position]

Counts count_axis(std::int64_t n, std::int64_t nb_from, int from, std::int64_t nb_to, int to) {
  Counts counts(static_cast<std::size_t>(from), std::vector<std::int64_t>(static_cast<std::size_t>(to)));
  for (std::int64_t i = 0; i < n; ++i)
    ++counts[static_cast<std::size_t>(i / nb_from % from)][static_cast<std::size_t>(i / nb_to % to)];
  return counts;
}

} // namespace

std::vector<std::int64_t> indices_of(std::int64_t n, std::int64_t nb, int p, int nprocs) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < n; ++i)
    if (i / nb % nprocs == p) indices.push_back(i);
  return indices;
}

Share::Share(std::int64_t n, const Side& side, int rank) {
  if (rank >= side.grid.size()) return;
  rows = indices_of(n, side.nb, rank / side.grid.npcol, side.grid.nprow);
  cols = indices_of(n, side.nb, rank % side.grid.npcol, side.grid.npcol);
}

int owner_of(const Side& side, std::int64_t i, std::int64_t j) {
  return static_cast<int>(i / side.nb % side.grid.nprow * side.grid.npcol + j / side.nb % side.grid.npcol);
}

std::int64_t Traffic::largest() const {
  std::int64_t most = 0;
  for (const auto* ranks : {&out, &in})
    for (const std::int64_t elements : *ranks) most = std::max(most, elements);
  return most;
}

Traffic traffic_of(const Change& change) {
  const Side &from = change.from, &to = change.to;
  const Counts rows = count_axis(change.n, from.nb, from.grid.nprow, to.nb, to.grid.nprow);
  const Counts cols = count_axis(change.n, from.nb, from.grid.npcol, to.nb, to.grid.npcol);
  const auto ranks = static_cast<std::size_t>(change.ranks());
  Traffic traffic{std::vector<std::int64_t>(ranks), std::vector<std::int64_t>(ranks)};
  for (int sender = 0; sender < from.grid.size(); ++sender)
    for (int receiver = 0; receiver < to.grid.size(); ++receiver) {
      if (sender == receiver) continue;
      const auto at = [](int index) { return static_cast<std::size_t>(index); };
      const std::int64_t elements = rows[at(sender / from.grid.npcol)][at(receiver / to.grid.npcol)] *
                                    cols[at(sender % from.grid.npcol)][at(receiver % to.grid.npcol)];
      traffic.out[at(sender)] += elements;
      traffic.in[at(receiver)] += elements;
    }
  return traffic;
}

} // namespace scale
