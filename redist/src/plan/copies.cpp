// SPDX-License-Identifier: BSD-3-Clause
#include "plan/copies.hpp"

#include <unordered_map>

namespace redist::detail {

std::vector<int> choose_givers(const Grid& from, const Grid& to) {
  std::unordered_map<int, int> number_of;
  for (const int rank : from.ranks) number_of.emplace(rank, static_cast<int>(number_of.size()));
  std::vector<int> givers;
  for (const int rank : to.ranks) {
    const auto own = number_of.find(rank);
    givers.push_back(own != number_of.end() ? own->second : static_cast<int>(givers.size()) % from.size());
  }
  return givers;
}

std::vector<Load> loads_of_givers(const PlanTables& tables) {
  std::vector<Load> loads(static_cast<std::size_t>(tables.from.size()));
  for (int target = 0; target < tables.to.size(); ++target) {
    const auto [c, d] = tables.target_axes(target);
    const std::int64_t elements = tables.rows.table.at(0, c) * tables.cols.table.at(0, d);
    Load& load = loads[static_cast<std::size_t>(tables.givers[static_cast<std::size_t>(target)])];
    load.elements += elements;
    load.messages += elements > 0;
  }
  return loads;
}

} // namespace redist::detail
