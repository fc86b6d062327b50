// SPDX-License-Identifier: BSD-3-Clause
#include "control/process_set.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "base/status.hpp"
#include "gridmap/mapping.hpp"

namespace control {

bool has(const std::vector<int>& ids, int id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::size_t position(const std::vector<int>& ids, int id) {
  return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
}

namespace {

using base::Error;
using base::Status;

/// By number, below `count`: whether it is in the list. For questions about every process of a large grid.
std::vector<char> marks(const std::vector<int>& numbers, int count) {
  std::vector<char> is_there(static_cast<std::size_t>(count), 0);
  for (const int number : numbers) is_there[static_cast<std::size_t>(number)] = 1;
  return is_there;
}

/// How many elements it is worth to keep each process of the old grid when, beside the named ones, `to_leave` more go.
/// Process 0 stays: it answers for the application. Processes that mpirun started can only sleep, so they go last. Of
/// spawned processes every choice is as good when each is a group of its own. Bigger groups leave whole where they fit
/// into the number that must go, newest first, and the rest is kept.
std::vector<std::int64_t> worth_keeping(const ProcessSet& process_set, int to_leave, const std::vector<int>& named) {
  constexpr std::int64_t must = std::int64_t{1} << 56, original = std::int64_t{1} << 54,
                         whole_group = std::int64_t{1} << 52;
  const std::vector<int>& ids = process_set.grid.ids;
  bool only_singles = true;
  for (std::size_t u = 1; u < process_set.groups.size(); ++u)
    only_singles = only_singles && process_set.groups[u].members.size() == 1;
  std::vector<int> leaving_groups;
  for (std::size_t u = process_set.groups.size(); u-- > 1 && !only_singles;) {
    const SpawnGroup& group = process_set.groups[u];
    int active = group.active();
    for (const int id : named) active -= has(group.members, id) && !has(group.parked, id) ? 1 : 0;
    if (active == 0 || active > to_leave) continue;
    leaving_groups.push_back(group.id);
    to_leave -= active;
  }
  std::vector<std::int64_t> worth_of(static_cast<std::size_t>(process_set.next_id), 0), worth;
  for (const SpawnGroup& group : process_set.groups) {
    if (group.id != 0 && (only_singles || has(leaving_groups, group.id))) continue;
    for (const int id : group.members)
      worth_of[static_cast<std::size_t>(id)] = id == 0 ? must : group.id == 0 ? original : whole_group;
  }
  for (const int id : ids) worth.push_back(worth_of[static_cast<std::size_t>(id)]);
  return worth;
}

[[noreturn]] void refuse_without(const ProcessSet& process_set, const std::vector<int>& named, base::GridShape to) {
  std::string why = advise::too_few_without(process_set.everybody(), named, to);
  if (why.empty())
    why = fmt::format("no {} without these: a process that could take their place can only be woken by one of them",
                      to_string(to));
  throw Error(Status::bad_argument, "blacs-dyn: " + why);
}

/// Its owner wakes it. woken: those that are woken, too.
bool can_wake(const ProcessSet& process_set, const std::vector<int>& woken, int id) {
  const SpawnGroup& group = process_set.group_of(id);
  return group.id == 0 || group.owner == 0 || has(process_set.grid.ids, group.owner) || has(woken, group.owner);
}

/// The speeds of all processes, those to be started included: by their host, as far as it is chosen.
std::map<int, double> speeds_with(const ProcessSet& process_set, const Change& change) {
  std::map<int, double> speeds;
  for (const advise::ProcessInfo& process : process_set.everybody()) speeds[process.id] = process.speed;
  for (const NewGroup& group : change.new_groups)
    for (const int id : group.members)
      speeds[id] = group.host_speed > 0 ? group.host_speed : process_set.usual_speed(group.host);
  return speeds;
}

/// The time of a grid with these speeds for work that is dealt out by them: 1 for one process of speed 1.
double time_on(base::GridShape shape, const std::vector<double>& speeds) {
  // shares are continuous here, so one element does; svd is quick, and what they get is worked out exactly afterwards
  gridmap::MappingRequest request{speeds, shape.nprow, shape.npcol, 1, 1, gridmap::MapMethod::svd};
  return gridmap::map_in_place(request).t_continuous;
}

/// Joining processes hold no data, so the order of their places moves nothing. Exchanges them in pairs until no
/// exchange makes the slowest part of a grid that is dealt out by speed smaller.
void arrange_by_speed(std::vector<int>& ids, const std::vector<std::size_t>& places, base::GridShape shape,
                      const std::map<int, double>& speeds) {
  std::vector<double> on_grid;
  for (const int id : ids) on_grid.push_back(speeds.at(id));
  const auto differ = [&](std::size_t a, std::size_t b) { return on_grid[a] != on_grid[b]; };
  if (std::none_of(places.begin(), places.end(), [&](std::size_t place) { return differ(place, places[0]); })) return;
  double best = time_on(shape, on_grid);
  for (bool is_better = true; is_better;) {
    is_better = false;
    for (std::size_t a = 0; a < places.size(); ++a)
      for (std::size_t b = a + 1; b < places.size(); ++b) {
        if (!differ(places[a], places[b])) continue;
        std::swap(on_grid[places[a]], on_grid[places[b]]);
        const double now = time_on(shape, on_grid);
        if (now < best * (1 - 1e-9)) {
          best = now;
          is_better = true;
          std::swap(ids[places[a]], ids[places[b]]);
        } else {
          std::swap(on_grid[places[a]], on_grid[places[b]]);
        }
      }
  }
}

constexpr std::size_t most_arranged = 16; // processes that join; of more the search takes longer than it saves

/// Elements that stay where they are in a new grid.
class Retained {
public:
  explicit Retained(const gridmap::PlacementRequest& placement)
      : npcol_from_(placement.cols_from.nprocs), npcol_to_(placement.cols_to.nprocs),
        old_(placement.rows_from.nprocs * placement.cols_from.nprocs),
        rows_(gridmap::overlap(placement.rows_from, placement.rows_to)),
        cols_(gridmap::overlap(placement.cols_from, placement.cols_to)) {}
  /// process: its place in the old grid, or one beyond it.
  std::int64_t at(int process, int place) const {
    if (process >= old_) return 0;
    return rows_.count(process / npcol_from_, place / npcol_to_) *
           cols_.count(process % npcol_from_, place % npcol_to_);
  }
  std::int64_t all(const std::vector<int>& processes) const {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < processes.size(); ++k) sum += at(processes[k], static_cast<int>(k));
    return sum;
  }

private:
  int npcol_from_, npcol_to_, old_;
  gridmap::Overlap rows_, cols_;
};

/// Two rows, or two columns, of a grid change places.
void exchange_lines(std::vector<int>& grid, base::GridShape shape, bool are_rows, int a, int b) {
  for (int k = 0; k < (are_rows ? shape.npcol : shape.nprow); ++k) {
    const auto place = [&](int line) {
      return static_cast<std::size_t>(are_rows ? line * shape.npcol + k : k * shape.npcol + line);
    };
    std::swap(grid[place(a)], grid[place(b)]);
  }
}

/// What does not change how fast the grid is: the order of its rows and columns, and which of equally fast processes
/// stands where. Such exchanges while more stays where it is. Process `first` comes to (0,0).
void move_least(std::vector<int>& grid, base::GridShape shape, const std::vector<double>& speed_of, int first,
                const Retained& retained) {
  const auto lines = [&](bool are_rows, int from, int to) {
    std::vector<int> other = grid;
    exchange_lines(other, shape, are_rows, from, to);
    const bool is_better = retained.all(other) > retained.all(grid);
    if (is_better) grid = std::move(other);
    return is_better;
  };
  for (bool is_better = true; is_better;) {
    is_better = false;
    for (const bool are_rows : {true, false})
      for (int a = 0; a < (are_rows ? shape.nprow : shape.npcol); ++a)
        for (int b = 0; b < a; ++b) is_better = lines(are_rows, a, b) || is_better;
    for (std::size_t a = 0; a < grid.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        const int here = grid[a], there = grid[b], at_a = static_cast<int>(a), at_b = static_cast<int>(b);
        if (speed_of[static_cast<std::size_t>(here)] != speed_of[static_cast<std::size_t>(there)]) continue;
        if (retained.at(here, at_b) + retained.at(there, at_a) <= retained.at(here, at_a) + retained.at(there, at_b))
          continue;
        std::swap(grid[a], grid[b]);
        is_better = true;
      }
  }
  const int at = static_cast<int>(position(grid, first));
  exchange_lines(grid, shape, true, 0, at / shape.npcol);
  exchange_lines(grid, shape, false, 0, at % shape.npcol);
}

constexpr std::size_t most_arranged_anew = 256;

/// All of them where the grid is fastest, or as they stand: what takes less. Only of a growth: no process leaves.
void arrange_anew(std::vector<int>& ids, const ProcessSet& process_set, base::GridShape to,
                  const gridmap::PlacementRequest& placement, const std::map<int, double>& speeds,
                  const GrowthForm& growth) {
  if (ids.size() > most_arranged_anew) return;
  const std::vector<int>& old = process_set.grid.ids;
  std::vector<int> all = old; // by number: first the old grid's, then those that join
  for (const int id : ids)
    if (!has(old, id)) all.push_back(id);
  std::vector<double> speed_of, on_grid;
  for (const int id : all) speed_of.push_back(speeds.at(id));
  std::vector<int> as_placed;
  for (const int id : ids) as_placed.push_back(static_cast<int>(position(all, id)));
  for (const int number : as_placed) on_grid.push_back(speed_of[static_cast<std::size_t>(number)]);
  const gridmap::Mapping mapping =
      gridmap::map_processors({speed_of, to.nprow, to.npcol, 1 << 20, 1 << 20, gridmap::MapMethod::best});
  std::vector<int> anew = mapping.order;
  const Retained retained(placement);
  move_least(anew, to, speed_of, 0, retained);
  if (growth.form == gridmap::Strategy::best) {
    const double elements = static_cast<double>(placement.rows_from.n) * static_cast<double>(placement.cols_from.n);
    const double now = time_on(process_set.grid.shape, process_set.speeds_on(process_set.grid));
    const double t_anew = mapping.t_continuous / (1048576.0 * 1048576.0), t_placed = time_on(to, on_grid);
    const auto cost = [&](double t, const std::vector<int>& grid) {
      if (growth.seconds_left < 0) return t;
      const double moved = elements > 0 ? 1 - static_cast<double>(retained.all(grid)) / elements : 0;
      return growth.seconds_left * t / now + growth.seconds_to_move_all * moved;
    };
    if (cost(t_anew, anew) >= cost(t_placed, as_placed) * (1 - 1e-9)) return;
  }
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = all[static_cast<std::size_t>(anew[k])];
}

/// The processes that join: sleeping ones first, then new ones.
void bring_in(Change& change, const ProcessSet& process_set, int count, const GroupPolicy& policy,
              const std::vector<int>& named, const GrowthForm& growth) {
  std::vector<advise::OfferedHost> hosts = growth.hosts;
  change.wake = woken_for(process_set, count, hosts, named);
  const int fresh = count - static_cast<int>(change.wake.size());
  if (fresh == 0) return;
  if (!named.empty()) refuse_without(process_set, named, change.to.shape);
  change.new_groups = group_into_groups(process_set, fresh, onto(process_set, policy, hosts), change.wake);
}

/// The processes of the new grid, and the position of each. `named` are not in it.
void place(Change& change, const ProcessSet& process_set, gridmap::PlacementRequest placement,
           const GroupPolicy& policy, const std::vector<int>& named, const GrowthForm& growth) {
  const std::vector<int>& ids = process_set.grid.ids;
  const auto before = static_cast<int>(ids.size());
  const int after = change.to.shape.size();
  for (int k = 0; k < before && !named.empty(); ++k)
    if (has(named, ids[static_cast<std::size_t>(k)])) placement.leave.push_back(k);
  const int stay = before - static_cast<int>(placement.leave.size());
  if (after > stay) {
    bring_in(change, process_set, after - stay, policy, named, growth);
  } else if (after < stay) {
    placement.stay_bonus = worth_keeping(process_set, stay - after, named);
  }
  std::vector<int> joining = change.wake;
  for (const int id : change.new_ids()) joining.push_back(id);
  std::vector<std::size_t> places; // of those that join
  for (const int number : gridmap::place(placement).grid) {
    if (number >= before) places.push_back(change.to.ids.size());
    change.to.ids.push_back(number < before ? ids[static_cast<std::size_t>(number)]
                                            : joining[static_cast<std::size_t>(number - before)]);
  }
  if (places.size() > 1 && places.size() <= most_arranged)
    arrange_by_speed(change.to.ids, places, change.to.shape, speeds_with(process_set, change));
  if (growth.form && growth.form != gridmap::Strategy::local && after > before && named.empty())
    arrange_anew(change.to.ids, process_set, change.to.shape, placement, speeds_with(process_set, change), growth);
}

} // namespace

const SpawnGroup& ProcessSet::group_of(int id) const {
  for (const SpawnGroup& group : groups)
    if (has(group.members, id)) return group;
  throw Error(Status::internal, "blacs-dyn: process {} belongs to no process group", id);
}

double ProcessSet::speed_of(int id) const {
  const SpawnGroup& group = group_of(id);
  return group.speeds.empty() ? 1 : group.speeds[position(group.members, id)];
}

void ProcessSet::set_speed(int id, double speed) {
  for (SpawnGroup& group : groups) {
    const std::size_t at = position(group.members, id);
    if (at == group.members.size()) continue;
    group.speeds.resize(group.members.size(), 1);
    group.speeds[at] = speed;
  }
}

std::vector<advise::ProcessInfo> ProcessSet::everybody() const {
  std::vector<int> place_of(static_cast<std::size_t>(next_id), -1);
  for (std::size_t k = 0; k < grid.ids.size(); ++k)
    place_of[static_cast<std::size_t>(grid.ids[k])] = static_cast<int>(k);
  std::vector<advise::ProcessInfo> all;
  for (const SpawnGroup& group : groups)
    for (std::size_t k = 0; k < group.members.size(); ++k) {
      advise::ProcessInfo process;
      process.id = group.members[k];
      process.host = group.member_hosts.empty() ? group.host : group.member_hosts[k];
      process.unit = group.id;
      process.place = place_of[static_cast<std::size_t>(process.id)];
      process.speed = group.speeds.empty() ? 1 : group.speeds[k];
      process.asked_host = group.host;
      all.push_back(std::move(process));
    }
  return all;
}

std::vector<double> ProcessSet::speeds_on(const GridMap& map) const {
  std::vector<double> speeds;
  for (const int id : map.ids) speeds.push_back(speed_of(id));
  return speeds;
}

bool ProcessSet::is_parked(int id) const {
  return has(group_of(id).parked, id);
}

std::vector<int> ProcessSet::all_parked() const {
  std::vector<int> ids;
  for (const SpawnGroup& group : groups) ids.insert(ids.end(), group.parked.begin(), group.parked.end());
  return ids;
}

ProcessSet first_process_set(int nprocs, base::GridShape shape) {
  ProcessSet process_set;
  SpawnGroup group;
  group.members.resize(static_cast<std::size_t>(nprocs));
  std::iota(group.members.begin(), group.members.end(), 0);
  const auto rest = group.members.begin() + shape.size();
  process_set.grid = {shape, {group.members.begin(), rest}};
  group.parked.assign(rest, group.members.end());
  process_set.groups = {group};
  process_set.levels = {process_set.grid};
  process_set.next_id = nprocs;
  return process_set;
}

std::vector<int> Change::new_ids() const {
  std::vector<int> ids;
  for (const NewGroup& group : new_groups) ids.insert(ids.end(), group.members.begin(), group.members.end());
  return ids;
}

double seconds_as_one_group(int n) {
  return 0.20 + 0.06 * n;
}

double seconds_as_single_groups(int n, int spawners) {
  const int rounds = (n + spawners - 1) / spawners;
  return 0.20 * rounds + 0.03 * n;
}

std::vector<int> woken_for(const ProcessSet& process_set, int count, std::vector<advise::OfferedHost>& hosts,
                           const std::vector<int>& without) {
  std::map<int, std::string> host_of;
  for (advise::ProcessInfo& process : process_set.everybody()) host_of[process.id] = std::move(process.host);
  std::vector<int> woken;
  for (const int id : process_set.all_parked()) {
    if (static_cast<int>(woken.size()) >= count) break;
    if (has(without, id) || !can_wake(process_set, woken, id)) continue;
    const auto is_there = [&](const advise::OfferedHost& host) {
      return host.slots > 0 && (base::is_same_host(process_set.group_of(id).host, host.name) ||
                                base::is_same_host(host_of[id], host.name));
    };
    const auto host = std::find_if(hosts.begin(), hosts.end(), is_there);
    if (host == hosts.end() && !hosts.empty()) continue;
    if (host != hosts.end()) --host->slots;
    woken.push_back(id);
  }
  return woken;
}

GroupPolicy onto(const ProcessSet& process_set, GroupPolicy policy, const std::vector<advise::OfferedHost>& hosts) {
  if (hosts.empty()) return policy;
  policy.set_hosts({});
  for (const advise::OfferedHost& host : hosts) {
    if (host.slots == 0) continue;
    int there = 0;
    for (const SpawnGroup& group : process_set.groups)
      if (base::is_same_host(group.host, host.name)) there += static_cast<int>(group.members.size());
    policy.hosts.push_back(host.name);
    policy.slots.push_back(there + host.slots);
    policy.speeds.push_back(host.speed);
  }
  if (policy.hosts.empty())
    throw Error(Status::no_slots,
                "blacs-dyn: the hosts offered have no slot left, expected at least one for a new process");
  return policy;
}

bool GrowthForm::is_like(const GrowthForm& other) const {
  const auto is_same = [](const advise::OfferedHost& a, const advise::OfferedHost& b) {
    return a.name == b.name && a.slots == b.slots && a.speed == b.speed;
  };
  return form == other.form && std::equal(hosts.begin(), hosts.end(), other.hosts.begin(), other.hosts.end(), is_same);
}

void GroupPolicy::set_hosts(std::vector<base::HostEntry> entries) {
  hosts.clear();
  slots.clear();
  speeds.clear();
  started.clear();
  for (base::HostEntry& entry : entries) {
    hosts.push_back(std::move(entry.name));
    slots.push_back(entry.slots.value_or(0));
    speeds.push_back(entry.speed.value_or(0));
  }
}

double GroupPolicy::speed_on(const std::string& host) const {
  const auto is_it = [&](const std::string& name) { return base::is_same_host(name, host); };
  const auto at = static_cast<std::size_t>(std::find_if(hosts.begin(), hosts.end(), is_it) - hosts.begin());
  return at < hosts.size() && at < speeds.size() ? speeds[at] : 0;
}

std::vector<HostShare> share_among_hosts(const ProcessSet& process_set, int n, const GroupPolicy& policy) {
  if (policy.hosts.empty()) return {{"", n, 0, 0}};
  std::vector<HostShare> shares;
  for (std::size_t h = 0; h < policy.hosts.size(); ++h) {
    int spawned = 0;
    for (const SpawnGroup& group : process_set.groups)
      if (base::is_same_host(group.host, policy.hosts[h])) spawned += static_cast<int>(group.members.size());
    shares.push_back({policy.hosts[h], 0, spawned, spawned + (h < policy.started.size() ? policy.started[h] : 0)});
  }
  for (int left = n; left > 0; --left) {
    HostShare* best = nullptr;
    double best_speed = 0;
    for (std::size_t h = 0; h < shares.size(); ++h) {
      const int slots = h < policy.slots.size() ? policy.slots[h] : 0;
      if (slots > 0 && shares[h].spawned >= slots) continue;
      const double given = policy.speed_on(shares[h].host), speed = given > 0 ? given : 1;
      if (best && (speed < best_speed || (speed == best_speed && shares[h].load >= best->load))) continue;
      best = &shares[h];
      best_speed = speed;
    }
    if (!best)
      throw Error(Status::no_slots, "blacs-dyn: {} new processes asked for, the hosts given have slots for {}", n,
                  n - left);
    ++best->count;
    ++best->spawned;
    ++best->load;
  }
  return shares;
}

std::vector<int> warm_groups(const GroupPolicy& policy) {
  using Kind = GroupPolicy::Kind;
  int size = 1;
  if (policy.kind == Kind::fixed) size = policy.size;
  if (policy.kind == Kind::whole) size = policy.warm;
  std::vector<int> sizes;
  for (int left = policy.warm; left > 0; left -= sizes.back()) sizes.push_back(std::min(size, left));
  return sizes;
}

std::vector<NewGroup> group_into_groups(const ProcessSet& process_set, int n, const GroupPolicy& policy,
                                        const std::vector<int>& woken) {
  using Kind = GroupPolicy::Kind;
  const SpawnGroup& first = process_set.groups.at(0);
  std::vector<char> sleeps = marks(first.parked, process_set.next_id);
  for (const int id : woken) sleeps[static_cast<std::size_t>(id)] = 0;
  std::vector<int> spawners;
  for (const int id : policy.one_owner ? std::vector<int>{0} : first.members)
    if (!sleeps[static_cast<std::size_t>(id)]) spawners.push_back(id);
  int group_size = n;
  if (policy.kind == Kind::fixed) group_size = policy.size;
  if (policy.kind == Kind::automatic && !policy.one_owner &&
      seconds_as_single_groups(n, static_cast<int>(spawners.size())) <= 1.5 * seconds_as_one_group(n))
    group_size = 1;

  std::vector<NewGroup> groups;
  std::vector<int> warm = warm_groups(policy);
  int id = process_set.next_id;
  int group_id = process_set.next_group;
  for (const HostShare& share : share_among_hosts(process_set, n, policy))
    for (int done = 0; done < share.count;) {
      const int left = share.count - done;
      int size = std::min(group_size, left);
      const auto fits = std::find_if(warm.begin(), warm.end(), [&](int waiting) { return waiting <= left; });
      if (share.host.empty() && fits != warm.end()) {
        size = *fits;
        warm.erase(fits);
      }
      NewGroup group{group_id++, spawners[groups.size() % spawners.size()], {}, share.host};
      group.host_speed = policy.speed_on(share.host);
      for (int i = 0; i < size; ++i) group.members.push_back(id++);
      groups.push_back(std::move(group));
      done += size;
    }
  return groups;
}

Change decide_change(const ProcessSet& process_set, base::GridShape to, gridmap::PlacementRequest placement,
                     const GroupPolicy& policy, const ChangeOptions& options) {
  const std::vector<int>& leave = options.leave;
  Change change;
  change.to.shape = to;
  if (options.exact != nullptr) {
    change.to = *options.exact;
    for (const int id : options.exact->ids)
      if (!has(process_set.grid.ids, id)) change.wake.push_back(id);
    for (const int id : change.wake)
      if (!can_wake(process_set, change.wake, id))
        throw Error(Status::bad_argument,
                    "blacs-dyn: process {} cannot be woken while process {}, which wakes it, sleeps", id,
                    process_set.group_of(id).owner);
  } else {
    std::vector<int> named = options.without;
    for (const SpawnGroup& group : process_set.groups)
      if (has(leave, group.id)) named.insert(named.end(), group.members.begin(), group.members.end());
    if (!leave.empty())
      placement.method = gridmap::Placement::optimal; // the others do not look at which process is worth keeping
    place(change, process_set, std::move(placement), policy, named, options.growth);
  }

  if (change.to.ids.at(0) != 0) // it answers for the application
    throw Error(Status::internal, "blacs-dyn: the new grid has process {} at (0,0), expected process 0",
                change.to.ids[0]);

  const std::vector<char> stays = marks(change.to.ids, process_set.next_id + to.size()),
                          sleeps = marks(process_set.all_parked(), process_set.next_id);
  for (const SpawnGroup& group : process_set.groups) {
    std::vector<int> out;
    bool any_stays = false;
    for (const int id : group.members) {
      if (stays[static_cast<std::size_t>(id)])
        any_stays = true;
      else if (!sleeps[static_cast<std::size_t>(id)])
        out.push_back(id);
    }
    const bool must_go = has(leave, group.id);
    if (out.empty() && !must_go) continue;
    if (group.id != 0 && !any_stays && (must_go || !policy.keeps))
      change.release_groups.push_back(group.id);
    else
      change.park.insert(change.park.end(), out.begin(), out.end());
  }
  for (const int group : leave)
    if (!has(change.release_groups, group))
      throw Error(Status::bad_argument,
                  "blacs-dyn: process group {} cannot leave: the new grid of {} processes needs it", group, to.size());
  return change;
}

bool is_by_speed(const ProcessSet& process_set, const Change& change, const GrowthForm& growth) {
  if (!change.is_growth()) return false;
  const auto is_usual = [](double speed) { return speed == 1; };
  const auto are_usual = [&](const SpawnGroup& group) {
    return std::all_of(group.speeds.begin(), group.speeds.end(), is_usual);
  };
  const auto start_usual = [&](const NewGroup& group) { return group.host_speed == 0 || is_usual(group.host_speed); };
  return growth.form || !std::all_of(process_set.groups.begin(), process_set.groups.end(), are_usual) ||
         !std::all_of(change.new_groups.begin(), change.new_groups.end(), start_usual);
}

ProcessSet apply(const ProcessSet& process_set, const Change& change) {
  ProcessSet next = process_set;
  for (const NewGroup& group : change.new_groups) {
    next.groups.push_back({group.id, group.owner, group.members, {}, group.host, group.speeds, group.member_hosts});
    next.next_group = std::max(next.next_group, group.id + 1);
    for (const int id : group.members) next.next_id = std::max(next.next_id, id + 1);
  }
  const std::vector<char> wakes = marks(change.wake, next.next_id), parks = marks(change.park, next.next_id),
                          goes = marks(change.release_groups, next.next_group);
  for (SpawnGroup& group : next.groups) {
    auto& parked = group.parked;
    parked.erase(
        std::remove_if(parked.begin(), parked.end(), [&](int id) { return wakes[static_cast<std::size_t>(id)] != 0; }),
        parked.end());
    for (const int id : group.members)
      if (parks[static_cast<std::size_t>(id)]) parked.push_back(id);
  }
  next.groups.erase(
      std::remove_if(next.groups.begin(), next.groups.end(),
                     [&](const SpawnGroup& group) { return goes[static_cast<std::size_t>(group.id)] != 0; }),
      next.groups.end());
  next.grid = change.to;
  if (change.to.shape.size() <= process_set.grid.shape.size())
    while (!next.levels.empty() && next.levels.back().shape.size() >= change.to.shape.size()) next.levels.pop_back();
  next.levels.push_back(change.to);
  return next;
}

double ProcessSet::usual_speed(const std::string& host) const {
  double sum = 0;
  int count = 0;
  for (const advise::ProcessInfo& process : everybody())
    if (!host.empty() && base::is_same_host(process.host, host)) {
      sum += process.speed;
      ++count;
    }
  return count > 0 ? sum / count : 1;
}

void note_speeds(ProcessSet& process_set, Change& change, const std::vector<double>& given) {
  const std::vector<int> order = union_order(process_set, change);
  const auto speed_of = [&](int id) { return given.at(position(order, id)); };
  for (const int id : change.wake)
    if (const double speed = speed_of(id); speed > 0) process_set.set_speed(id, speed);
  for (NewGroup& group : change.new_groups) {
    group.speeds.clear();
    for (std::size_t k = 0; k < group.members.size(); ++k) {
      const double own = speed_of(group.members[k]);
      const std::string& host = k < group.member_hosts.size() ? group.member_hosts[k] : group.host;
      group.speeds.push_back(own > 0 ? own : group.host_speed > 0 ? group.host_speed : process_set.usual_speed(host));
    }
  }
}

void note_hosts(const ProcessSet& process_set, Change& change, const std::vector<std::string>& given) {
  const std::vector<int> order = union_order(process_set, change);
  for (NewGroup& group : change.new_groups) {
    group.member_hosts.clear();
    for (const int id : group.members) group.member_hosts.push_back(given.at(position(order, id)));
  }
}

bool is_union_the_grid(const ProcessSet& process_set, const Change& change) {
  return process_set.grid.ids.size() + change.wake.size() + change.new_ids().size() == change.to.ids.size();
}

std::vector<int> old_then_joining(const ProcessSet& process_set, const Change& change) {
  std::vector<int> ids = process_set.grid.ids;
  ids.insert(ids.end(), change.wake.begin(), change.wake.end());
  for (const int id : change.new_ids()) ids.push_back(id);
  return ids;
}

std::vector<int> union_order(const ProcessSet& process_set, const Change& change) {
  return is_union_the_grid(process_set, change) ? change.to.ids : old_then_joining(process_set, change);
}

} // namespace control
