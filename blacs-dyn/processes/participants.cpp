// SPDX-License-Identifier: BSD-3-Clause
#include "processes/participants.hpp"

#include <unordered_map>

namespace blacs_dyn {

Participants::Participants(const ProcessSet& before, const Change& change, int me) {
  const std::vector<int> order = union_order(before, change);
  std::unordered_map<int, int> rank_of;
  int count = 0;
  for (const int id : order) rank_of.emplace(id, count++);
  for (const int id : before.grid.ids) old_ranks.push_back(rank_of.at(id));
  for (const int id : change.to.ids) new_ranks.push_back(rank_of.at(id));
  my_rank = rank_of.at(me);
  my_position = static_cast<int>(position(change.to.ids, me));
  is_joining = !has(before.grid.ids, me);
}

} // namespace blacs_dyn
