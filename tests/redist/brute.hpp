// SPDX-License-Identifier: BSD-3-Clause
// The definition of a distribution, carried out one index at a time: what the tests of plans compare with.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "../gridmap/naive.hpp"
#include "redist/rank_plan.hpp"

namespace brute {

struct Placed {
  int position;
  std::int64_t local;
};

inline std::vector<Placed> places_of(const gridmap::Axis& axis) {
  std::vector<Placed> placed;
  std::vector<std::int64_t> filled(static_cast<std::size_t>(axis.nprocs), 0);
  for (const int position : naive::owners(axis))
    placed.push_back({position, filled[static_cast<std::size_t>(position)]++});
  return placed;
}

/// Where the packed indices of a list lie in the source and in the target, in packed order.
inline std::vector<std::pair<std::int64_t, std::int64_t>> pairs_of(const redist::RunList& list) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const redist::Run& run : list.runs)
    for (std::int64_t t = 0; t < run.count; ++t)
      for (std::int64_t i = 0; i < run.len; ++i)
        pairs.emplace_back(run.from + t * run.from_step + i, run.to + t * run.to_step + i);
  return pairs;
}
/// The same of one end.
inline std::vector<std::int64_t> indices_of(const redist::RunList& list, bool of_source) {
  std::vector<std::int64_t> indices;
  for (const auto& [from, to] : pairs_of(list)) indices.push_back(of_source ? from : to);
  return indices;
}

} // namespace brute
