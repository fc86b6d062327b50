// SPDX-License-Identifier: BSD-3-Clause
#include "plan/copies.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/index.hpp"

namespace redist::detail {
namespace {

using base::at;

/// By number in the target grid: the copy that the process has a part of.
std::vector<std::optional<Copy>> own_copies(const PlanTables& tables) {
  std::unordered_map<int, int> number_of;
  for (const int rank : tables.from.ranks) number_of.emplace(rank, static_cast<int>(number_of.size()));
  std::vector<std::optional<Copy>> own;
  for (const int rank : tables.to.ranks) {
    own.emplace_back();
    const auto found = number_of.find(rank);
    if (found != number_of.end()) own.back() = {found->second / tables.from.npcol, found->second % tables.from.npcol};
  }
  return own;
}

/// Where all have given as much, the first. Cost: time O(copies * parts that `target` gets).
Copy least_loaded(const PlanTables& tables, const std::vector<Load>& loads, int target) {
  std::vector<std::pair<int, int>> parts;
  each_given(tables, target, Copy{}, [&](int source, std::int64_t) { parts.push_back(tables.source_axes(source)); });
  Copy best;
  std::int64_t least = -1;
  for (int row = 0; row < (tables.from_rows_replicated ? tables.from.nprow : 1); ++row)
    for (int col = 0; col < (tables.from_cols_replicated ? tables.from.npcol : 1); ++col) {
      std::int64_t most = 0;
      for (const auto& [a, b] : parts)
        most = std::max(most, loads[at(tables.source_number({row, col}, a, b))].elements);
      if (least >= 0 && most >= least) continue;
      least = most;
      best = {row, col};
    }
  return best;
}

} // namespace

std::vector<Load> choose_givers(PlanTables& tables) {
  const std::vector<std::optional<Copy>> own = own_copies(tables);
  std::vector<Load> loads(at(tables.from.size()));
  tables.givers.resize(own.size());
  for (const bool has_part : {true, false}) // first those without a choice
    for (int target = 0; target < tables.to.size(); ++target) {
      if (own[at(target)].has_value() != has_part) continue;
      const Copy copy = has_part ? *own[at(target)] : least_loaded(tables, loads, target);
      tables.givers[at(target)] = copy;
      each_given(tables, target, copy, [&](int source, std::int64_t elements) {
        loads[at(source)].elements += elements;
        ++loads[at(source)].messages;
      });
    }
  return loads;
}

} // namespace redist::detail
