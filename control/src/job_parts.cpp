// SPDX-License-Identifier: BSD-3-Clause
#include "job_parts.hpp"

#include <map>
#include <string>

#include "base/parse_json.hpp"

namespace control {

advise::Decision decide(const advise::Situation& here, const ResizeRequest& wish) {
  if (wish.op == Operation::resize && !wish.without.is_empty())
    return advise::decide_resize_without(here, wish.to, wish.without, wish.force);
  if (wish.op == Operation::resize) return advise::decide_resize(here, wish.to, wish.force);
  if (wish.op == Operation::grow && wish.offer) return advise::decide_offer(here, *wish.offer, wish.force);
  if (wish.op == Operation::grow) return advise::decide_grow(here, wish.by, wish.force);
  if (wish.op == Operation::leave) return advise::decide_leave(here, wish.groups);
  return advise::decide_shrink(here, wish.by);
}

void take_choice(ResizeRequest& wish, const advise::Decision& decision) {
  if (!decision.choice) return;
  wish.hosts = decision.choice->hosts;
  wish.form = decision.choice->form;
}

Json json_of(const std::vector<advise::GroupInfo>& groups) {
  Json list = Json::array();
  for (const advise::GroupInfo& group : groups)
    list.push_back({{"unit", group.number}, {"processes", group.processes}, {"active", group.active}});
  return list;
}

Json hosts_of(const std::vector<advise::ProcessInfo>& processes) {
  constexpr std::size_t most_hosts = 512;
  std::map<std::string, int> count;
  for (const advise::ProcessInfo& p : processes)
    if (p.place >= 0) ++count[p.asked_host.empty() ? p.host : p.asked_host];
  if (count.size() > most_hosts) return nullptr;
  Json list = Json::array();
  for (const auto& [name, slots] : count) list.push_back({{"name", name}, {"slots", slots}});
  return list;
}

} // namespace control
