// SPDX-License-Identifier: BSD-3-Clause
#include "processes/roster.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/status.hpp"

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;

bool has(const std::vector<int>& ids, int id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// By number, below `count`: whether it is in the list. For questions about every process of a large grid.
std::vector<char> marks(const std::vector<int>& numbers, int count) {
  std::vector<char> is_there(static_cast<std::size_t>(count), 0);
  for (const int number : numbers) is_there[static_cast<std::size_t>(number)] = 1;
  return is_there;
}

/// How many elements it is worth to keep each process of the old grid when it shrinks. Process 0 must stay: it holds
/// the terminal and wakes the sleepers. What mpirun started can only sleep, so it goes last. Of spawned processes every
/// choice is as good when each is a unit of its own; bigger units leave whole where they fit into what must go, newest
/// first, and the rest is kept. `leave` goes before all of them.
std::vector<std::int64_t> worth_keeping(const Roster& roster, int to_leave, const std::vector<int>& leave) {
  constexpr std::int64_t must = std::int64_t{1} << 56, original = std::int64_t{1} << 54,
                         whole_unit = std::int64_t{1} << 52;
  const std::vector<int>& ids = roster.grid.ids;
  bool only_singles = leave.empty();
  for (std::size_t u = 1; u < roster.units.size(); ++u)
    only_singles = only_singles && roster.units[u].members.size() == 1;
  std::vector<int> leaving_units = leave;
  for (const Unit& unit : roster.units)
    if (has(leave, unit.id)) to_leave -= unit.active();
  for (std::size_t u = roster.units.size(); u-- > 1 && !only_singles;) {
    const Unit& unit = roster.units[u];
    const int active = unit.active();
    if (has(leave, unit.id) || active == 0 || active > to_leave) continue;
    leaving_units.push_back(unit.id);
    to_leave -= active;
  }
  std::vector<std::int64_t> worth_of(static_cast<std::size_t>(roster.next_id), 0), worth;
  for (const Unit& unit : roster.units) {
    if (unit.id != 0 && (only_singles || has(leaving_units, unit.id))) continue;
    for (const int id : unit.members)
      worth_of[static_cast<std::size_t>(id)] = id == 0 ? must : unit.id == 0 ? original : whole_unit;
  }
  for (const int id : ids) worth.push_back(worth_of[static_cast<std::size_t>(id)]);
  return worth;
}

} // namespace

const Unit& Roster::unit_of(int id) const {
  for (const Unit& unit : units)
    if (has(unit.members, id)) return unit;
  throw Error(Status::internal, fmt::format("blacs-dyn: process {} is in no unit", id));
}

bool Roster::is_parked(int id) const {
  return has(unit_of(id).parked, id);
}

std::vector<int> Roster::all_parked() const {
  std::vector<int> ids;
  for (const Unit& unit : units) ids.insert(ids.end(), unit.parked.begin(), unit.parked.end());
  return ids;
}

Roster first_roster(int nprocs, Shape shape) {
  Roster roster;
  Unit unit;
  unit.members.resize(static_cast<std::size_t>(nprocs));
  std::iota(unit.members.begin(), unit.members.end(), 0);
  const auto rest = unit.members.begin() + shape.size();
  roster.grid = {shape, {unit.members.begin(), rest}};
  unit.parked.assign(rest, unit.members.end());
  roster.units = {unit};
  roster.levels = {roster.grid};
  roster.next_id = nprocs;
  return roster;
}

std::vector<int> Change::new_ids() const {
  std::vector<int> ids;
  for (const NewUnit& unit : new_units) ids.insert(ids.end(), unit.members.begin(), unit.members.end());
  return ids;
}

double seconds_as_one_unit(int n) {
  return 0.20 + 0.06 * n;
}

double seconds_as_single_units(int n, int spawners) {
  const int rounds = (n + spawners - 1) / spawners;
  return 0.20 * rounds + 0.03 * n;
}

std::vector<HostShare> share_among_hosts(const Roster& roster, int n, const UnitPolicy& policy) {
  if (policy.hosts.empty()) return {{"", n, 0, 0}};
  std::vector<HostShare> shares;
  for (std::size_t h = 0; h < policy.hosts.size(); ++h) {
    int spawned = 0;
    for (const Unit& unit : roster.units)
      if (unit.host == policy.hosts[h]) spawned += static_cast<int>(unit.members.size());
    shares.push_back({policy.hosts[h], 0, spawned, spawned + (h < policy.started.size() ? policy.started[h] : 0)});
  }
  for (int left = n; left > 0; --left) {
    HostShare* best = nullptr;
    for (std::size_t h = 0; h < shares.size(); ++h) {
      const int slots = h < policy.slots.size() ? policy.slots[h] : 0;
      if (slots > 0 && shares[h].spawned >= slots) continue;
      if (!best || shares[h].load < best->load) best = &shares[h];
    }
    if (!best)
      throw Error(Status::no_slots,
                  fmt::format("blacs-dyn: {} new processes asked for, the hosts given have slots for {}", n, n - left));
    ++best->count;
    ++best->spawned;
    ++best->load;
  }
  return shares;
}

std::vector<NewUnit> group_into_units(const Roster& roster, int n, const UnitPolicy& policy) {
  using Kind = UnitPolicy::Kind;
  const std::vector<int> spawners = policy.one_owner ? std::vector<int>{0} : roster.units.at(0).members;
  int unit_size = n;
  if (policy.kind == Kind::one_each) unit_size = 1;
  if (policy.kind == Kind::fixed) unit_size = policy.size;
  if (policy.kind == Kind::automatic && !policy.one_owner &&
      seconds_as_single_units(n, static_cast<int>(spawners.size())) <= 1.5 * seconds_as_one_unit(n))
    unit_size = 1;

  std::vector<NewUnit> units;
  int id = roster.next_id;
  int unit_id = roster.next_unit;
  for (const HostShare& share : share_among_hosts(roster, n, policy))
    for (int done = 0; done < share.count;) {
      const int size = std::min(unit_size, share.count - done);
      NewUnit unit{unit_id++, spawners[units.size() % spawners.size()], {}, share.host};
      for (int i = 0; i < size; ++i) unit.members.push_back(id++);
      units.push_back(std::move(unit));
      done += size;
    }
  return units;
}

Change decide_change(const Roster& roster, Shape to, gridmap::PlacementRequest placement, const UnitPolicy& policy,
                     const GridMap* exact, const std::vector<int>& leave) {
  const int before = roster.grid.shape.size();
  const int after = to.size();
  Change change;
  change.to.shape = to;
  if (exact) {
    change.to = *exact;
    for (const int id : exact->ids)
      if (!has(roster.grid.ids, id)) change.wake.push_back(id);
  } else {
    if (after > before) {
      std::vector<int> parked = roster.all_parked();
      parked.resize(std::min(parked.size(), static_cast<std::size_t>(after - before)));
      change.wake = std::move(parked);
      change.new_units = group_into_units(roster, after - before - static_cast<int>(change.wake.size()), policy);
    }
    std::vector<int> joining = change.wake;
    for (const int id : change.new_ids()) joining.push_back(id);

    if (after < before) placement.stay_bonus = worth_keeping(roster, before - after, leave);
    if (!leave.empty())
      placement.method = gridmap::Placement::optimal; // the others do not look at who is worth keeping
    const gridmap::PlacementResult placed = gridmap::place(placement);
    for (const int number : placed.grid)
      change.to.ids.push_back(number < before ? roster.grid.ids[static_cast<std::size_t>(number)]
                                              : joining[static_cast<std::size_t>(number - before)]);
    if (!has(change.to.ids, 0)) change.to.ids[0] = 0; // without keep_first: process 0 stays whatever the placement says
  }

  const std::vector<char> stays = marks(change.to.ids, roster.next_id + after),
                          sleeps = marks(roster.all_parked(), roster.next_id);
  for (const Unit& unit : roster.units) {
    std::vector<int> out;
    bool any_stays = false;
    for (const int id : unit.members) {
      if (stays[static_cast<std::size_t>(id)])
        any_stays = true;
      else if (!sleeps[static_cast<std::size_t>(id)])
        out.push_back(id);
    }
    if (out.empty()) continue;
    if (unit.id != 0 && !any_stays)
      change.release_units.push_back(unit.id);
    else
      change.park.insert(change.park.end(), out.begin(), out.end());
  }
  for (const int unit : leave)
    if (!has(change.release_units, unit))
      throw Error(Status::bad_argument,
                  fmt::format("blacs-dyn: unit {} cannot leave: the new grid of {} processes needs it", unit, after));
  return change;
}

Roster apply(const Roster& roster, const Change& change) {
  Roster next = roster;
  for (const NewUnit& unit : change.new_units) {
    next.units.push_back({unit.id, unit.owner, unit.members, {}, unit.host});
    next.next_unit = std::max(next.next_unit, unit.id + 1);
    for (const int id : unit.members) next.next_id = std::max(next.next_id, id + 1);
  }
  const std::vector<char> wakes = marks(change.wake, next.next_id), parks = marks(change.park, next.next_id),
                          goes = marks(change.release_units, next.next_unit);
  for (Unit& unit : next.units) {
    auto& parked = unit.parked;
    parked.erase(
        std::remove_if(parked.begin(), parked.end(), [&](int id) { return wakes[static_cast<std::size_t>(id)] != 0; }),
        parked.end());
    for (const int id : unit.members)
      if (parks[static_cast<std::size_t>(id)]) parked.push_back(id);
  }
  next.units.erase(std::remove_if(next.units.begin(), next.units.end(),
                                  [&](const Unit& unit) { return goes[static_cast<std::size_t>(unit.id)] != 0; }),
                   next.units.end());
  next.grid = change.to;
  if (change.to.shape.size() <= roster.grid.shape.size())
    while (!next.levels.empty() && next.levels.back().shape.size() >= change.to.shape.size()) next.levels.pop_back();
  next.levels.push_back(change.to);
  return next;
}

std::vector<int> union_order(const Roster& roster, const Change& change) {
  std::vector<int> ids = roster.grid.ids;
  ids.insert(ids.end(), change.wake.begin(), change.wake.end());
  for (const int id : change.new_ids()) ids.push_back(id);
  return ids;
}

} // namespace blacs_dyn
