// SPDX-License-Identifier: BSD-3-Clause
// The decisions of blacs-dyn, without MPI: texts, groups, processes that join, sleep and leave.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "base/status.hpp"
#include "control/variables.hpp"
#include "grid/checkpoint.hpp"
#include "grid/move_memory.hpp"
#include "grid/settings.hpp"
#include "gridmap/mapping.hpp"
#include "processes/names.hpp"
#include "processes/packet.hpp"
#include "processes/preflight.hpp"
#include "processes/processes.hpp"
#include "processes/room.hpp"
#include "processes/setup_file.hpp"

using namespace blacs_dyn;
using base::Error;
using base::Status;
using control::first_process_set;
using control::seconds_as_one_group;
using control::seconds_as_single_groups;
using gridmap::Placement;

namespace {

GroupPolicy groups_of(GroupPolicy::Kind kind, int size = 1) {
  GroupPolicy policy;
  policy.kind = kind;
  policy.size = size;
  return policy;
}

gridmap::PlacementRequest square_matrix(std::int64_t n, std::int64_t nb, Shape from, Shape to, Placement method) {
  using gridmap::Axis;
  gridmap::PlacementRequest request;
  request.rows_from = Axis::block_cyclic(n, nb, from.nprow);
  request.cols_from = Axis::block_cyclic(n, nb, from.npcol);
  request.rows_to = Axis::block_cyclic(n, nb, to.nprow);
  request.cols_to = Axis::block_cyclic(n, nb, to.npcol);
  request.method = method;
  return request;
}

Change change_to(const ProcessSet& process_set, Shape to, GroupPolicy policy = groups_of(GroupPolicy::Kind::fixed),
                 Placement placement = Placement::optimal) {
  return decide_change(process_set, to, square_matrix(1000, 10, process_set.grid.shape, to, placement), policy);
}

/// The invariants of every change.
void check_sound(const ProcessSet& before, const Change& change) {
  const ProcessSet after = apply(before, change);
  std::set<int> ids(change.to.ids.begin(), change.to.ids.end());
  ASSERT_EQ(static_cast<int>(ids.size()), change.to.shape.size()) << "every position has a process of its own";
  EXPECT_EQ(change.to.ids[0], 0) << "process 0 stays at (0,0)";
  std::set<int> alive;
  for (const SpawnGroup& group : after.groups) {
    bool has_active = group.id == 0;
    for (const int id : group.members) {
      EXPECT_TRUE(alive.insert(id).second) << "process " << id << " is in one group";
      const bool parked = std::count(group.parked.begin(), group.parked.end(), id) == 1;
      EXPECT_NE(parked, ids.count(id) == 1) << "process " << id << " is either in the grid or parked";
      has_active = has_active || !parked;
    }
    EXPECT_TRUE(has_active) << "a group none of which is needed leaves instead of sleeping";
    const auto& originals = after.groups[0].members;
    EXPECT_TRUE(group.id == 0 || std::count(originals.begin(), originals.end(), group.owner) == 1);
  }
  for (const int id : ids) EXPECT_TRUE(alive.count(id));
  const std::vector<int> order = union_order(before, change);
  for (const int id : ids)
    EXPECT_TRUE(std::count(order.begin(), order.end(), id)) << "everybody of the new grid is gathered";
  EXPECT_EQ(after.levels.back().ids, change.to.ids);
  for (const NewGroup& group : change.new_groups) // else nobody starts it
    EXPECT_FALSE(after.is_parked(group.owner)) << "process " << group.owner << " is awake";
}

Status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_GT(std::string(error.what()).size(), 20u);
    return error.status();
  }
  return Status::success;
}

} // namespace

TEST(Shape, Schedules) {
  const auto entries = gridmap::parse_timetable("5:3x3, 10:4x4@local2 ,15:2x2", "DYNGRID_RESIZE_AT");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].step, 5);
  EXPECT_FALSE(entries[0].placement);
  EXPECT_EQ(entries[1].to, (Shape{4, 4}));
  EXPECT_EQ(entries[1].placement, Placement::local2);
  EXPECT_TRUE(gridmap::parse_timetable("", "X").empty());
  for (const char* bad :
       {"5", "5:3", "x:3x3", "-1:2x2", "5:3x3,5:4x4", "5:3x3,4:4x4", "5:3x3@nowhere", "5:3x3;6:2x2", ":2x2"})
    EXPECT_EQ(status_of([&] { gridmap::parse_timetable(bad, "DYNGRID_RESIZE_AT"); }), Status::bad_argument) << bad;
}

TEST(SetupFile, BothForms) {
  const SetupFile keyed = parse_setup_file(
      "# a comment\nexecutable ./solver\nprocesses 5 # five\narguments -n 20 --x\nhost node7:4\nhost node8\n"
      "host node9:2:1.5\n",
      "f");
  EXPECT_EQ(keyed.executable, "./solver");
  EXPECT_EQ(keyed.processes, 5);
  EXPECT_EQ(keyed.arguments, (std::vector<std::string>{"-n", "20", "--x"}));
  GroupPolicy policy;
  policy.started = {1};
  policy.set_hosts(keyed.hosts);
  EXPECT_EQ(policy.hosts, (std::vector<std::string>{"node7", "node8", "node9"}));
  EXPECT_EQ(policy.slots, (std::vector<int>{4, 0, 2}));
  EXPECT_EQ(policy.speeds, (std::vector<double>{0, 0, 1.5}));
  EXPECT_TRUE(policy.started.empty());
  const SetupFile plain = parse_setup_file("\n  ./solver\n 3\n", "f");
  EXPECT_EQ(plain.executable, "./solver");
  EXPECT_EQ(plain.processes, 3);
  EXPECT_FALSE(plain.has_arguments);
  for (const char* bad :
       {"", "executable a", "executable a\nprocesses 0", "executable a\nprocesses x", "a\n3\nwhat",
        "executable a b\nprocesses 1", "a\n3\nhost n:0", "a\n3\nhost :4", "a\n3\nhost n:1:", "a\n3\nhost n:1:0",
        "a\n3\nhost n:1:x", "a\n3\nhost n:1:1:1", "a\n3\nhost n\nhost n:2", "a\n99999999999"})
    EXPECT_EQ(status_of([&] { parse_setup_file(bad, "f"); }), Status::bad_argument) << bad;
  const auto local_and_n = [] { parse_setup_file("a\n3\nhost localhost\nhost n\n", "f", "n"); };
  EXPECT_EQ(status_of(local_and_n), Status::bad_argument);
}

TEST(Units, Policies) {
  const ProcessSet process_set = first_process_set(4, {2, 2});
  EXPECT_EQ(group_into_groups(process_set, 5, groups_of(GroupPolicy::Kind::whole)).size(), 1u);
  EXPECT_EQ(group_into_groups(process_set, 5, groups_of(GroupPolicy::Kind::fixed)).size(), 5u);
  const auto pairs = group_into_groups(process_set, 5, groups_of(GroupPolicy::Kind::fixed, 2));
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].members, (std::vector<int>{4, 5}));
  EXPECT_EQ(pairs[2].members, (std::vector<int>{8}));
  EXPECT_EQ(pairs[0].owner, 0);
  EXPECT_EQ(pairs[1].owner, 1);
  // one process each as long as that costs at most 1.5 times one group: by the cost, not by the present code
  for (int n = 1; n < 40; ++n)
    for (const int spawners : {1, 4, 16}) {
      const auto groups =
          group_into_groups(first_process_set(spawners, {1, spawners}), n, groups_of(GroupPolicy::Kind::automatic));
      const bool cheap = seconds_as_single_groups(n, spawners) <= 1.5 * seconds_as_one_group(n);
      EXPECT_EQ(groups.size(), cheap ? static_cast<std::size_t>(n) : 1u) << n << " by " << spawners;
    }
}

TEST(Units, WarmOnesAreTakenFirst) {
  const ProcessSet process_set = first_process_set(4, {2, 2});
  const auto sizes = [&](int n, GroupPolicy policy, int warm) {
    policy.warm = warm;
    std::vector<std::size_t> all;
    for (const NewGroup& group : group_into_groups(process_set, n, policy)) all.push_back(group.members.size());
    return all;
  };
  using Kind = GroupPolicy::Kind;
  using Sizes = std::vector<std::size_t>;
  GroupPolicy whole = groups_of(Kind::whole);
  EXPECT_EQ(sizes(4, whole, 0), Sizes{4});
  EXPECT_EQ(sizes(5, whole, 5), Sizes{5});
  EXPECT_EQ(sizes(7, whole, 5), (Sizes{5, 2}));
  EXPECT_EQ(sizes(4, whole, 5), Sizes{4}); // a part of a group cannot join
  EXPECT_EQ(sizes(5, groups_of(Kind::fixed, 2), 3), (Sizes{2, 1, 2}));
  EXPECT_EQ(sizes(1, groups_of(Kind::fixed, 2), 3), Sizes{1});
  EXPECT_EQ(sizes(4, groups_of(Kind::fixed, 3), 2), (Sizes{2, 2}));
  EXPECT_EQ(sizes(3, groups_of(Kind::automatic), 2), (Sizes{1, 1, 1}));
  EXPECT_EQ(sizes(40, groups_of(Kind::automatic), 2).front(), 1u);
  whole.hosts = {"a"}; // no process waits on a named host
  EXPECT_EQ(sizes(7, whole, 5), Sizes{7});
  whole.hosts.clear();
  whole.warm = 5;
  EXPECT_EQ(warm_groups(whole), std::vector<int>{5});
  whole.kind = Kind::fixed;
  whole.size = 2;
  EXPECT_EQ(warm_groups(whole), (std::vector<int>{2, 2, 1}));
  whole.kind = Kind::automatic;
  EXPECT_EQ(warm_groups(whole), (std::vector<int>{1, 1, 1, 1, 1}));
}

TEST(Units, OneHostEach) {
  const ProcessSet process_set = first_process_set(2, {1, 2});
  GroupPolicy policy = groups_of(GroupPolicy::Kind::whole);
  policy.hosts = {"a", "b", "c"};
  policy.slots = {2, 0, 1};
  const auto groups = group_into_groups(process_set, 8, policy);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].members.size(), 2u);
  EXPECT_EQ(groups[1].members.size(), 5u);
  EXPECT_EQ(groups[2].members.size(), 1u);
  EXPECT_EQ(groups[1].host, "b");
  policy.slots = {2, 2, 1};
  EXPECT_EQ(status_of([&] { group_into_groups(process_set, 6, policy); }), Status::no_slots);
  // processes already on a host count: 2 of mpirun on a, 3 spawned on b; of 4 more one goes to a, three to the empty c
  ProcessSet later = process_set;
  later.groups.push_back({1, 0, {2, 3, 4}, {}, "b"});
  later.next_id = 5;
  later.next_group = 2;
  policy.slots = {0, 0, 0};
  policy.started = {2, 0, 0};
  const auto more = group_into_groups(later, 4, policy);
  ASSERT_EQ(more.size(), 2u);
  EXPECT_EQ(more[0].host, "a");
  EXPECT_EQ(more[0].members, std::vector<int>{5});
  EXPECT_EQ(more[1].host, "c");
  EXPECT_EQ(more[1].members.size(), 3u);
  policy.slots = {0, 3, 0}; // three are on b already
  for (const NewGroup& group : group_into_groups(later, 9, policy)) EXPECT_NE(group.host, "b");
}

TEST(Change, GrowShrinkAndSleep) {
  ProcessSet process_set = first_process_set(4, {2, 2});
  Change grow = change_to(process_set, {3, 3});
  check_sound(process_set, grow);
  EXPECT_EQ(grow.new_ids().size(), 5u);
  EXPECT_TRUE(grow.park.empty() && grow.release_groups.empty() && grow.wake.empty());
  process_set = apply(process_set, grow);
  EXPECT_EQ(process_set.levels.size(), 2u);

  Change shrink = change_to(process_set, {2, 2});
  check_sound(process_set, shrink);
  EXPECT_EQ(shrink.release_groups.size(), 5u)
      << "all that was spawned leaves, before anything that mpirun started sleeps";
  EXPECT_TRUE(shrink.park.empty());
  process_set = apply(process_set, shrink);
  EXPECT_EQ(process_set.levels.size(), 1u);

  Change sleep = change_to(process_set, {1, 1});
  check_sound(process_set, sleep);
  EXPECT_EQ(sleep.park.size(), 3u);
  process_set = apply(process_set, sleep);
  Change again = change_to(process_set, {2, 3});
  check_sound(process_set, again);
  EXPECT_EQ(again.wake.size(), 3u) << "sleepers are used before anything is spawned";
  EXPECT_EQ(again.new_ids().size(), 2u);
}

TEST(Change, GroupsThatAreKeptSleep) {
  GroupPolicy policy = groups_of(GroupPolicy::Kind::fixed, 2);
  policy.keeps = true;
  ProcessSet process_set = first_process_set(2, {1, 2});
  process_set = apply(process_set, change_to(process_set, {2, 2}, policy)); // 2, 3: of process 0
  const Change shrink = change_to(process_set, {1, 2}, policy);
  EXPECT_TRUE(shrink.release_groups.empty());
  EXPECT_EQ(shrink.park, (std::vector<int>{2, 3}));
  process_set = apply(process_set, shrink);
  EXPECT_TRUE(process_set.groups.at(1).is_kept() && !process_set.groups.at(0).is_kept());
  const Change grow = change_to(process_set, {2, 2}, policy);
  EXPECT_EQ(grow.wake, (std::vector<int>{2, 3}));
  EXPECT_TRUE(grow.new_groups.empty());

  // a process that is asked to leave does
  const auto same = square_matrix(1000, 10, {1, 2}, {1, 2}, Placement::optimal);
  const Change leave = decide_change(process_set, {1, 2}, same, policy, {nullptr, {1}});
  EXPECT_EQ(leave.release_groups, (std::vector<int>{1}));
  EXPECT_EQ(apply(process_set, leave).groups.size(), 1u);
}

// A message to a sleeping process is sent by its owner.
TEST(Change, NobodyIsWokenWhoseOwnerSleepsOn) {
  GroupPolicy policy = groups_of(GroupPolicy::Kind::fixed);
  policy.keeps = true;
  ProcessSet process_set = first_process_set(2, {1, 2});
  process_set = apply(process_set, change_to(process_set, {2, 2}, policy)); // 2 is process 0's, 3 process 1's
  process_set = apply(process_set, change_to(process_set, {1, 1}, policy)); // 1, 2, 3 sleep
  const auto wakes = [&](const std::vector<int>& without) {
    const auto request = square_matrix(1000, 10, {1, 1}, {1, 2}, Placement::optimal);
    return decide_change(process_set, {1, 2}, request, policy, {nullptr, {}, without}).wake;
  };
  EXPECT_EQ(wakes({1}), (std::vector<int>{2}));
  EXPECT_EQ(status_of([&] { wakes({1, 2}); }), Status::bad_argument) << "3 sleeps, but so does process 1";
  const GridMap exact{{1, 2}, {0, 3}};
  const auto request = square_matrix(1000, 10, {1, 1}, {1, 2}, Placement::optimal);
  EXPECT_EQ(status_of([&] { decide_change(process_set, {1, 2}, request, policy, {&exact}); }), Status::bad_argument);
}

// Groups that must leave do, for every placement; other processes leave by the usual order.
TEST(Change, UnitsThatMustLeave) {
  ProcessSet process_set = first_process_set(2, {1, 2});
  for (const Shape next : {Shape{2, 2}, Shape{2, 3}, Shape{2, 4}})
    process_set =
        apply(process_set, change_to(process_set, next, groups_of(GroupPolicy::Kind::whole))); // 1, 2, 3, two each
  const auto shrink = [&](Shape to, const std::vector<int>& leave, Placement placement = Placement::optimal) {
    return decide_change(process_set, to, square_matrix(1000, 10, process_set.grid.shape, to, placement),
                         groups_of(GroupPolicy::Kind::whole), {nullptr, leave});
  };
  for (const Placement placement : {Placement::optimal, Placement::global, Placement::local1, Placement::local2})
    for (const int group : {1, 2, 3}) {
      const Change change = shrink({2, 3}, {group}, placement);
      check_sound(process_set, change);
      EXPECT_EQ(change.release_groups, std::vector<int>{group});
      EXPECT_TRUE(change.park.empty());
    }
  const Change both = shrink({1, 4}, {1, 3});
  check_sound(process_set, both);
  EXPECT_EQ(both.release_groups, (std::vector<int>{1, 3}));
  const Change more = shrink({1, 4}, {1}); // two more must go: the newest
  check_sound(process_set, more);
  EXPECT_EQ(more.release_groups, (std::vector<int>{1, 3}));
  EXPECT_EQ(status_of([&] { shrink({1, 7}, {2}); }), Status::bad_argument); // 7 of 8: one of group 2 would be needed
  EXPECT_EQ(status_of([&] { shrink({2, 3}, {9}); }), Status::bad_argument);
}

// Of all grids without the named processes: the processes in it, those that sleep, those that leave, and the least
// movement by brute force over their places.
TEST(Change, ProcessesThatAreNamedLeave) {
  unsigned seed = 7;
  const auto next = [&](int bound) { return static_cast<int>((seed = seed * 1664525u + 1013904223u) >> 8) % bound; };
  int refused = 0, replaced = 0;
  for (int round = 0; round < 400; ++round) {
    ProcessSet before = first_process_set(1 + next(4), {1, 1});
    for (int step = 0; step < 3; ++step)
      before = apply(before, change_to(before, {1 + next(2), 1 + next(3)}, groups_of(GroupPolicy::Kind::fixed, 2)));
    std::vector<int> without, alive;
    for (const SpawnGroup& group : before.groups)
      for (const int id : group.members) {
        alive.push_back(id);
        if (id != 0 && next(3) == 0) without.push_back(id);
      }
    if (without.empty()) continue;
    const Shape to{1 + next(2), 1 + next(3)};
    const auto request = square_matrix(24, 1 + next(4), before.grid.shape, to, Placement::optimal);
    const auto policy = groups_of(GroupPolicy::Kind::fixed);
    if (static_cast<int>(alive.size() - without.size()) < to.size()) {
      const auto decide = [&] { decide_change(before, to, request, policy, {nullptr, {}, without}); };
      EXPECT_EQ(status_of(decide), Status::bad_argument);
      ++refused;
      continue;
    }
    const Change change = decide_change(before, to, request, policy, {nullptr, {}, without});
    check_sound(before, change);
    EXPECT_TRUE(change.new_groups.empty());
    for (const int id : without) EXPECT_FALSE(has(change.to.ids, id));
    replaced += to == before.grid.shape ? 1 : 0;
    // the least movement: all orders of the processes in the grid, process 0 first
    const auto kept = [&](const std::vector<int>& ids) {
      std::int64_t sum = 0;
      for (std::int64_t i = 0; i < 24; ++i)
        for (std::int64_t j = 0; j < 24; ++j) {
          const auto at = [&](const gridmap::Axis& rows, const gridmap::Axis& cols, int npcol) {
            return static_cast<std::size_t>(rows.owner(i) * npcol + cols.owner(j));
          };
          sum += before.grid.ids[at(request.rows_from, request.cols_from, before.grid.shape.npcol)] ==
                 ids[at(request.rows_to, request.cols_to, to.npcol)];
        }
      return sum;
    };
    if (round % 8 != 0) continue; // it takes time
    std::vector<int> ids = change.to.ids;
    const std::int64_t chosen = kept(ids);
    std::sort(ids.begin(), ids.end());
    std::int64_t most = 0;
    do most = std::max(most, kept(ids));
    while (std::next_permutation(ids.begin() + 1, ids.end()));
    EXPECT_EQ(chosen, most);
  }
  EXPECT_GT(refused, 20);
  EXPECT_GT(replaced, 5);
}

TEST(Change, WholeUnitsLeaveFirst) {
  ProcessSet process_set = first_process_set(2, {1, 2});
  process_set = apply(process_set, change_to(process_set, {2, 2}, groups_of(GroupPolicy::Kind::whole))); // a group of 2
  process_set = apply(process_set, change_to(process_set, {2, 4}, groups_of(GroupPolicy::Kind::whole))); // a group of 4
  const Change less = change_to(process_set, {1, 4}); // 4 must go: the newest group, whole
  check_sound(process_set, less);
  EXPECT_EQ(less.release_groups, std::vector<int>{2});
  EXPECT_TRUE(less.park.empty());
  const Change little = change_to(process_set, {1, 7}); // 1 must leave: no group is that small, so a process sleeps
  check_sound(process_set, little);
  EXPECT_TRUE(little.release_groups.empty());
  EXPECT_EQ(little.park.size(), 1u);
  // when the last of a group's active members leaves, its sleeping ones leave with it
  ProcessSet asleep = apply(process_set, little);
  const Change rest = change_to(asleep, {1, 1});
  check_sound(asleep, rest);
  EXPECT_EQ(rest.release_groups.size(), 2u);
}

TEST(Change, RandomHistoriesAreSound) {
  unsigned seed = 1;
  const auto next = [&](unsigned bound) {
    return static_cast<int>((seed = seed * 1664525u + 1013904223u) >> 8) % static_cast<int>(bound);
  };
  for (int history = 0; history < 60; ++history) {
    const int nprocs = 1 + next(6);
    ProcessSet process_set = first_process_set(nprocs, squarest(1 + next(static_cast<unsigned>(nprocs))));
    for (int step = 0; step < 25; ++step) {
      const Shape to{1 + next(5), 1 + next(5)};
      const auto kind = static_cast<GroupPolicy::Kind>(next(4));
      const Change change = change_to(process_set, to, groups_of(kind, 1 + next(4)), static_cast<Placement>(next(4)));
      check_sound(process_set, change);
      if (HasFatalFailure()) return;
      Packet packet; // a set of processes survives its serialization
      process_set = apply(process_set, change);
      const auto copy = packet.put(process_set).get<ProcessSet>();
      EXPECT_EQ(copy.grid.ids, process_set.grid.ids);
      EXPECT_EQ(copy.groups.size(), process_set.groups.size());
      EXPECT_EQ(copy.next_id, process_set.next_id);
      process_set = copy;
    }
  }
}

// Growths after which (0,0) was another process, and from there through sleep, pop and the groups that must leave; also
// local2 where the published positions have a new column before the old ones.
TEST(Change, ProcessZeroStaysAtTheFirstPlace) {
  for (const auto& [nprocs, from, to] : {std::tuple{2, Shape{1, 2}, Shape{2, 4}},
                                         {4, {2, 2}, {2, 4}},
                                         {4, {2, 2}, {3, 4}},
                                         {4, {4, 1}, {1, 4}},
                                         {1, {1, 1}, {1, 3}}})
    for (const Placement placement : {Placement::optimal, Placement::global, Placement::local1, Placement::local2}) {
      ProcessSet process_set = first_process_set(nprocs, from);
      for (const Shape next : {to, Shape{1, 1}, Shape{3, 4}, from}) {
        const Change change = change_to(process_set, next, groups_of(GroupPolicy::Kind::fixed, 2), placement);
        check_sound(process_set, change);
        process_set = apply(process_set, change);
      }
    }
}

/// Processes that wake get the best places among theirs for a grid distributed by speed; those already there stay where
/// least moves.
TEST(Change, ThoseThatJoinStandBySpeed) {
  const auto time_of = [](const ProcessSet& set, const std::vector<int>& ids, Shape shape) {
    gridmap::MappingRequest request;
    for (const int id : ids) request.speeds.push_back(set.speed_of(id));
    request.nprow = shape.nprow;
    request.npcol = shape.npcol;
    request.m = request.n = 1;
    request.method = gridmap::MapMethod::svd;
    return gridmap::map_in_place(request).t_continuous;
  };
  std::uint64_t random = 12345;
  bool has_mattered = false;
  for (int turn = 0; turn < 60; ++turn) {
    const Shape from = turn % 2 == 0 ? Shape{1, 2} : Shape{2, 2}, to = turn % 2 == 0 ? Shape{2, 2} : Shape{2, 3};
    ProcessSet plain = first_process_set(6, from);
    const std::vector<int> as_before = change_to(plain, to).to.ids;
    ProcessSet set = plain;
    for (int id = 0; id < 6; ++id) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      set.set_speed(id, std::vector<double>{1, 0.5, 0.25}[(random >> 33) % 3]);
    }
    const Change change = change_to(set, to);
    check_sound(set, change);
    std::vector<std::size_t> places;
    std::vector<int> joining;
    for (std::size_t k = 0; k < as_before.size(); ++k) {
      const bool stays = has(from.size() == 2 ? std::vector<int>{0, 1} : std::vector<int>{0, 1, 2, 3}, as_before[k]);
      if (stays) {
        EXPECT_EQ(change.to.ids[k], as_before[k]) << "a process that was there does not move";
        continue;
      }
      places.push_back(k);
      joining.push_back(as_before[k]);
    }
    std::sort(joining.begin(), joining.end());
    double best = 1e300, worst = 0;
    do { // all arrangements
      std::vector<int> ids = as_before;
      for (std::size_t k = 0; k < places.size(); ++k) ids[places[k]] = joining[k];
      best = std::min(best, time_of(set, ids, to));
      worst = std::max(worst, time_of(set, ids, to));
    } while (std::next_permutation(joining.begin(), joining.end()));
    EXPECT_NEAR(time_of(set, change.to.ids, to), best, 1e-9 * best) << turn; // two join: one exchange is the only
                                                                             // choice
    has_mattered = has_mattered || worst > 1.05 * best;
  }
  EXPECT_TRUE(has_mattered);
}

TEST(Change, NewProcessesCountAsThoseOfTheirHost) {
  ProcessSet set = first_process_set(2, {1, 2});
  set.groups[0].member_hosts = {"fast", "slow"};
  set.set_speed(0, 3);
  set.set_speed(1, 1);
  EXPECT_EQ(set.usual_speed("slow"), 1);
  EXPECT_EQ(set.usual_speed("fast"), 3);
  EXPECT_EQ(set.usual_speed("new"), 1);
  EXPECT_EQ(set.usual_speed(""), 1);
  Change change = change_to(set, {1, 5}, groups_of(GroupPolicy::Kind::fixed, 3)); // 2, 3, 4 in one group
  note_hosts(set, change, {"fast", "slow", "fast", "new", "fast"});               // in the order of the union: 0 .. 4
  note_speeds(set, change, {0, 0, 0, 0, 7});
  ASSERT_EQ(change.new_groups.size(), 1u);
  EXPECT_EQ(change.new_groups[0].speeds, (std::vector<double>{3, 1, 7}));
}

TEST(Change, HostsOfSaidSpeed) {
  ProcessSet set = first_process_set(2, {1, 2});
  GroupPolicy policy = groups_of(GroupPolicy::Kind::whole);
  policy.hosts = {"slow", "fast", "same", "silent"};
  policy.slots = {4, 2, 2, 0};
  policy.speeds = {0.5, 3, 3, 0};
  policy.started = {0, 1, 0, 0};
  const auto counts = [&](int n) {
    std::vector<int> list;
    for (const HostShare& share : share_among_hosts(set, n, policy)) list.push_back(share.count);
    return list;
  };
  EXPECT_EQ(counts(1), (std::vector<int>{0, 0, 1, 0})); // one of the two fast ones has a process already
  EXPECT_EQ(counts(4), (std::vector<int>{0, 2, 2, 0}));
  EXPECT_EQ(counts(6), (std::vector<int>{0, 2, 2, 2})); // without a given speed: 1
  policy.slots[3] = 1;
  EXPECT_EQ(counts(9), (std::vector<int>{4, 2, 2, 1}));
  EXPECT_THROW(counts(10), Error);
  EXPECT_EQ(policy.speed_on("fast.cluster"), 3) << "the name with its domain";
  EXPECT_EQ(policy.speed_on("faster"), 0);

  Change change = change_to(set, {2, 4}, policy); // six: 2, 3 on fast, 4, 5 on same, 6 on silent, 7 on slow
  const std::vector<int> order = union_order(set, change);
  std::vector<std::string> hosts(order.size(), "another name of it");
  std::vector<double> said(order.size(), 0);
  said[position(order, 3)] = 7; // its own statement has priority
  note_hosts(set, change, hosts);
  note_speeds(set, change, said);
  note_speeds(set, change, said); // called again, when all are at one place
  const ProcessSet after = apply(set, change);
  std::vector<double> speeds;
  for (int id = 2; id < 8; ++id) speeds.push_back(after.speed_of(id));
  std::vector<std::string> where;
  for (const SpawnGroup& group : after.groups) where.push_back(group.host);
  EXPECT_EQ(where, (std::vector<std::string>{"", "slow", "fast", "same", "silent"}));
  EXPECT_EQ(speeds, (std::vector<double>{0.5, 7, 3, 3, 3, 1}));
}

TEST(Change, OntoHostsThatWereChosen) {
  ProcessSet set = first_process_set(3, {1, 2}); // 2 sleeps
  set.groups[0].member_hosts = {"", "", "own"};
  GroupPolicy policy = groups_of(GroupPolicy::Kind::whole);
  policy.hosts = {"usual"};
  policy.slots = {0};
  const auto onto_hosts = [&](Shape to, std::vector<advise::OfferedHost> hosts) {
    GrowthForm growth;
    growth.hosts = std::move(hosts);
    return decide_change(set, to, square_matrix(100, 5, set.grid.shape, to, Placement::optimal), policy,
                         {nullptr, {}, {}, growth});
  };
  Change change = onto_hosts({2, 2}, {{"a", 2, 3}});
  check_sound(set, change);
  EXPECT_TRUE(change.wake.empty()) << "it sleeps where nothing was chosen";
  ASSERT_EQ(change.new_groups.size(), 1u);
  EXPECT_EQ(change.new_groups[0].host, "a");
  EXPECT_EQ(change.new_groups[0].host_speed, 3);
  change = onto_hosts({2, 2}, {{"own", 1, 1}, {"b", 1, 2}});
  EXPECT_EQ(change.wake, std::vector<int>{2});
  ASSERT_EQ(change.new_groups.size(), 1u);
  EXPECT_EQ(change.new_groups[0].host, "b");
  set = apply(set, change);
  change = onto_hosts({2, 4}, {{"b", 3, 2}, {"c", 1, 5}}); // beside the one that is on b already
  EXPECT_EQ(change.new_groups.size(), 2u);
  EXPECT_EQ(change.new_groups[0].members.size(), 3u);
  EXPECT_EQ(status_of([&] { onto_hosts({2, 4}, {{"b", 3, 2}}); }), Status::no_slots);
  EXPECT_EQ(status_of([&] { onto_hosts({2, 4}, {{"b", 0, 2}}); }), Status::no_slots);
}

Change onto_one_host(const ProcessSet& set, Shape to, const std::string& host, const GroupPolicy& policy) {
  GrowthForm growth;
  growth.hosts = {{host, to.size() - set.grid.shape.size(), 1}};
  return decide_change(set, to, square_matrix(100, 5, set.grid.shape, to, Placement::optimal), policy,
                       {nullptr, {}, {}, growth});
}

// Sleeping processes on other hosts are not woken, so they cannot start any.
TEST(Change, OntoChosenHostsByThoseThatAreAwake) {
  ProcessSet set = first_process_set(4, {1, 1}); // 1, 2 and 3 sleep
  set.groups[0].member_hosts = {"n1", "n1", "n1", "n2"};
  const auto owners_on = [&](const std::string& host) {
    const Change change = onto_one_host(set, {2, 2}, host, groups_of(GroupPolicy::Kind::fixed));
    check_sound(set, change);
    std::vector<int> owners;
    for (const NewGroup& group : change.new_groups) owners.push_back(group.owner);
    return owners;
  };
  EXPECT_EQ(owners_on("n3"), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(owners_on("n2"), (std::vector<int>{0, 3})) << "3 is woken there";
}

TEST(Change, SleepersOnChosenHosts) {
  GroupPolicy policy = groups_of(GroupPolicy::Kind::fixed);
  policy.keeps = true;
  ProcessSet set = first_process_set(2, {1, 2});
  set.groups[0].member_hosts = {"n1", "n1"};
  policy.hosts = {"n2"};
  set = apply(set, change_to(set, {2, 2}, policy)); // on n2: 2 of process 0, 3 of process 1
  set = apply(set, change_to(set, {1, 1}, policy)); // 1, 2 and 3 sleep
  // 3 cannot be woken while process 1 sleeps on n1, and takes no slot from one that can be started
  Change change = onto_one_host(set, {1, 3}, "n2", policy);
  EXPECT_EQ(change.wake, std::vector<int>{2});
  ASSERT_EQ(change.new_groups.size(), 1u);
  EXPECT_EQ(change.new_groups[0].host, "n2");
  EXPECT_EQ(change.new_groups[0].owner, 0);
  change = onto_one_host(set, {1, 2}, "n2.cluster", policy); // with its domain
  EXPECT_EQ(change.wake, std::vector<int>{2});
  EXPECT_TRUE(change.new_groups.empty());
  std::vector<advise::OfferedHost> hosts{{"n2", 4, 1}};
  EXPECT_EQ(woken_for(set, 4, hosts), std::vector<int>{2});
  EXPECT_EQ(hosts[0].slots, 3);
  hosts.clear();
  EXPECT_EQ(woken_for(set, 2, hosts), (std::vector<int>{1, 2})) << "anywhere";
  EXPECT_TRUE(woken_for(set, -1, hosts).empty());
}

TEST(Change, WhereOneProcessDecidesForAll) {
  ProcessSet set = first_process_set(2, {1, 2});
  GroupPolicy policy = groups_of(GroupPolicy::Kind::fixed);
  GrowthForm growth;
  EXPECT_FALSE(is_by_speed(set, change_to(set, {2, 2}, policy), growth));
  policy.hosts = {"a"};
  policy.speeds = {2};
  EXPECT_TRUE(is_by_speed(set, change_to(set, {2, 2}, policy), growth));
  growth.form = gridmap::Strategy::global;
  EXPECT_TRUE(is_by_speed(set, change_to(set, {2, 2}), growth));
  growth.form.reset();
  set.set_speed(1, 3);
  EXPECT_TRUE(is_by_speed(set, change_to(set, {2, 2}), growth));
  EXPECT_FALSE(is_by_speed(set, change_to(set, {1, 1}), growth)) << "nothing is searched for a smaller grid";
}

TEST(Change, FormsOfAGrowth) {
  std::uint64_t seed = 12;
  const auto next = [&](int n) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((seed >> 33) % static_cast<std::uint64_t>(n));
  };
  int faster = 0;
  for (int turn = 0; turn < 60; ++turn) {
    const Shape from{1 + next(2), 2}, to{from.nprow + 1, 2 + next(2)};
    ProcessSet set = first_process_set(from.size(), from);
    for (int id = 0; id < from.size(); ++id) set.set_speed(id, 1 + next(4));
    GroupPolicy policy = groups_of(GroupPolicy::Kind::fixed);
    policy.hosts = {"a", "b", "c"};
    policy.slots = {2, 3, 9};
    policy.speeds = {1.0 + next(9), 1.0 + next(3), 2};
    GrowthForm growth;
    const auto change_as = [&](std::optional<gridmap::Strategy> form, double seconds_left, double move_s) {
      growth.form = form;
      growth.seconds_left = seconds_left;
      growth.seconds_to_move_all = move_s;
      const Change change = decide_change(set, to, square_matrix(1200, 1, from, to, Placement::optimal), policy,
                                          {nullptr, {}, {}, growth});
      check_sound(set, change);
      return change;
    };
    const auto t = [&](const Change& change) {
      std::vector<double> speeds;
      std::map<int, double> of_new;
      for (const NewGroup& group : change.new_groups) of_new[group.members[0]] = group.host_speed;
      for (const int id : change.to.ids) speeds.push_back(of_new.count(id) ? of_new[id] : set.speed_of(id));
      return gridmap::map_in_place({speeds, to.nprow, to.npcol, 1 << 20, 1 << 20, gridmap::MapMethod::best})
          .t_continuous;
    };
    using gridmap::Strategy;
    const Change local = change_as(Strategy::local, -1, 0), global = change_as(Strategy::global, -1, 0);
    EXPECT_EQ(local.to.ids, change_as(std::nullopt, -1, 0).to.ids);
    EXPECT_LE(t(global), t(local) * (1 + 1e-6)) << turn; // the best that the search finds, for all places
    const Change much_left = change_as(Strategy::best, 1e9, 1), little_left = change_as(Strategy::best, 1e-9, 1e9);
    EXPECT_LE(t(much_left), t(local) * (1 + 1e-6));
    const auto stays = [&](const Change& change) {
      gridmap::PlacementRequest request = square_matrix(1200, 1, from, to, Placement::optimal);
      std::vector<int> grid;
      for (const int id : change.to.ids) grid.push_back(id); // ids are places in the old grid here, and new ones beyond
      return gridmap::figures_of(request, grid).retained_elements;
    };
    EXPECT_GE(stays(little_left), stays(global));
    EXPECT_GE(stays(local), stays(global)) << "the optimal placement keeps most";
    faster += t(global) < 0.95 * t(local) ? 1 : 0;
  }
  EXPECT_GT(faster, 10);
}

TEST(Change, NewOnesStandWhereTheirHostsSpeedIsOfUse) {
  // one of each speed joins a row of two: the capacity of a grid of 2x2 with 4, 1 and 2, 2 depends on their places
  ProcessSet set = first_process_set(2, {1, 2});
  set.set_speed(1, 4);
  GroupPolicy policy = groups_of(GroupPolicy::Kind::fixed);
  policy.hosts = {"a", "b"};
  policy.slots = {1, 1};
  policy.speeds = {8, 2};
  const Change change = change_to(set, {2, 2}, policy);
  const ProcessSet after = apply(set, change);
  EXPECT_EQ(after.grid.ids[0], 0);
  EXPECT_EQ(after.grid.ids[1], 1);
  std::vector<double> under(2); // 1 4 / 2 8 is of rank one: no process waits; 1 4 / 8 2 is not
  for (const NewGroup& group : change.new_groups)
    under[position(change.to.ids, group.members[0]) - 2] = group.host_speed;
  EXPECT_EQ(under, (std::vector<double>{2, 8}));
}

TEST(Change, TenThousandProcesses) {
  ProcessSet process_set = first_process_set(64 * 64, {64, 64});
  const Change change =
      decide_change(process_set, {100, 100}, square_matrix(1000000, 64, {64, 64}, {100, 100}, Placement::local2),
                    groups_of(GroupPolicy::Kind::whole));
  check_sound(process_set, change);
  EXPECT_EQ(change.new_ids().size(), 10000u - 4096u);
}

TEST(Packet, RefusesWhatIsCutShort) {
  Packet whole;
  whole.put(first_process_set(4, {2, 2}));
  for (std::size_t cut = 0; cut < whole.bytes().size(); cut += 3) {
    Packet part(std::vector<char>(whole.bytes().begin(), whole.bytes().begin() + static_cast<std::ptrdiff_t>(cut)));
    EXPECT_EQ(status_of([&] { part.get<ProcessSet>(); }), Status::internal);
  }
}

TEST(Packet, RefusesNumbersThatCannotBe) {
  for (const std::int64_t count : {std::int64_t{-1}, std::int64_t{1} << 62, std::int64_t{1} << 40, std::int64_t{3}}) {
    const auto said = [&] {
      Packet packet;
      packet.put(count).put(std::int64_t{7});
      return packet;
    };
    EXPECT_EQ(status_of([&] { said().get<std::vector<std::int64_t>>(); }), Status::internal) << count;
    EXPECT_EQ(status_of([&] { said().get<std::vector<std::string>>(); }), Status::internal) << count;
    EXPECT_EQ(status_of([&] { said().get<ProcessSet>(); }), Status::internal) << count;
    EXPECT_EQ(count == 3, status_of([&] { said().get<std::string>(); }) == Status::success) << count;
  }
}

TEST(Packet, AChangeSurvivesItsJourney) {
  Change change;
  change.to = {{1, 3}, {0, 1, 5}};
  change.wake = {1};
  change.new_groups = {{4, 0, {5}, "node7"}, {5, 1, {}, ""}};
  change.release_groups = {2, 3};
  Packet packet;
  const auto copy = packet.put(change).put('x').get<Change>();
  EXPECT_EQ(copy.to.shape, change.to.shape);
  EXPECT_EQ(copy.to.ids, change.to.ids);
  EXPECT_EQ(copy.wake, change.wake);
  ASSERT_EQ(copy.new_groups.size(), 2u);
  EXPECT_EQ(copy.new_groups[0].host, "node7");
  EXPECT_EQ(copy.new_groups[1].owner, 1);
  EXPECT_EQ(copy.release_groups, change.release_groups);
  EXPECT_EQ(packet.get<char>(), 'x') << "nothing more was read";
}

TEST(Checkpoint, SlabsCoverTheMatrixOnceInWholeColumnsOrPartsOfOne) {
  struct Shape2 {
    std::int64_t m, n, bytes, limit;
  };
  for (const Shape2 c : {Shape2{7, 5, 8, 8 * 14},
                         {7, 5, 8, 8 * 7},
                         {7, 5, 8, 8 * 3},
                         {7, 5, 8, 1},
                         {1, 100, 4, 40},
                         {100, 1, 16, 160},
                         {7, 5, 8, 1 << 20}}) {
    std::vector<int> seen(static_cast<std::size_t>(c.m * c.n), 0);
    const std::vector<Slab> slabs = slabs_of(c.m, c.n, c.bytes, c.limit);
    ASSERT_FALSE(slabs.empty());
    for (const Slab& s : slabs) {
      EXPECT_LE(s.rows * s.cols * c.bytes, std::max(c.limit, c.bytes));
      EXPECT_TRUE(s.rows == c.m || s.cols == 1);
      EXPECT_TRUE(s.rows <= slabs[0].rows && s.cols <= slabs[0].cols);
      EXPECT_TRUE(s.i % slabs[0].rows == 0 && s.j % slabs[0].cols == 0); // each is one chunk of the file
      for (std::int64_t j = s.j; j < s.j + s.cols; ++j)
        for (std::int64_t i = s.i; i < s.i + s.rows; ++i) ++seen[static_cast<std::size_t>(i + j * c.m)];
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), c.m * c.n);
  }
  EXPECT_TRUE(slabs_of(0, 5, 8, 100).empty());
  EXPECT_TRUE(slabs_of(5, 0, 8, 100).empty());
  EXPECT_EQ(slabs_of(std::int64_t{1} << 31, 3, 8, 8 << 20).size(), 3u * 2048u); // a column of more than 2^31 elements
}

// ---- room for new processes

namespace {
/// Two cores, two processes, plenty of everything else.
Room room_for(std::int64_t fresh) {
  Room room;
  room.hosts = {{"", 2, 2, fresh}};
  room.fresh_here = fresh;
  return room;
}
bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}
} // namespace

TEST(Change, KeepsTheSharesThatABalanceDecided) { // nothing is sent
  Processes::Union gathered;
  gathered.before = first_process_set(2, {1, 2});
  gathered.before.set_speed(1, 3);
  GridMap& to = gathered.change.to = gathered.before.grid;
  to.row_shares = {1};
  to.col_shares = {5, 2};
  Processes().share_out(gathered);
  EXPECT_EQ(to.row_shares, (std::vector<double>{1}));
  EXPECT_EQ(to.col_shares, (std::vector<double>{5, 2}));
  EXPECT_EQ(to.speeds, (std::vector<double>{1, 3}));
}

TEST(Room, ProcessesACore) {
  EXPECT_EQ(refusal(room_for(30)), ""); // 32 on two cores
  EXPECT_TRUE(says(refusal(room_for(31)), "33 processes on the 2 core(s), expected at most 32 (16 a core)"))
      << refusal(room_for(31));
  EXPECT_TRUE(says(refusal(room_for(100000)), "100002 processes"));
  EXPECT_FALSE(says(refusal(room_for(31)), "--")) << "the library names an option of the command";
  Room room = room_for(100000);
  room.per_core = 0; // forced
  EXPECT_EQ(refusal(room), "");
  room = room_for(100);
  room.hosts = {{"a", 8, 0, 50}, {"b", 2, 0, 50}};
  EXPECT_TRUE(says(refusal(room), "50 processes on the 2 core(s) of b"));
  room.hosts[1].cores = 0; // not known
  EXPECT_EQ(refusal(room), "");
}

TEST(Room, ThreadsMemoryAndOpenFiles) {
  Room room = room_for(100000);
  room.per_core = 0;
  room.threads = {{"kernel.pid_max", 4194304, 500}, {"pids.max", 1000, 400}};
  room.threads_each = 3;
  EXPECT_TRUE(says(refusal(room),
                   "100000 new processes of 3 thread(s) each, but pids.max is 1000 and 400 are taken: room for 200"))
      << refusal(room);
  room.fresh_here = 200;
  EXPECT_EQ(refusal(room), "");
  room.descriptors = {"", 1024, 26};
  EXPECT_TRUE(says(refusal(room),
                   "200 new processes need 5 open files each in mpirun, which has 26 of at most 1024: room for 196"))
      << refusal(room);
  room.fresh_here = 196;
  EXPECT_EQ(refusal(room), "");
  room.bytes_each = 16 << 20;
  room.matrix_bytes = std::int64_t{1} << 30;
  room.free = {"MemAvailable", std::int64_t{4} << 30};
  EXPECT_TRUE(says(refusal(room), "196 new processes need about 4160 MiB (16 each, and 1024 to move the matrices), "
                                  "4096 MiB are free (MemAvailable)"))
      << refusal(room);
  room.fresh_here = 190;
  EXPECT_EQ(refusal(room), "");
  room.fresh_here = 0; // on other hosts, of which only the cores are known
  room.free.bytes = 0;
  EXPECT_EQ(refusal(room), "");
}

// 2x2 -> 3x3 of a matrix of 900 MB on one host: no more than a slab and the buffers beyond what is there; on a host
// whose processes get more, that too; never more than a second copy takes.
TEST(MoveMemory, SlabsTakeWhatAHostGetsMore) {
  constexpr double mb = 1e6, buffers = 6 << 20;
  MoveMemory same;
  same.processes = 9;
  same.add(900 * mb, 900 * mb, 100);
  EXPECT_EQ(same.with_both(), std::int64_t{900000000});
  EXPECT_EQ(same.in_slabs(), static_cast<std::int64_t>(900 * mb / 16 + 9 * buffers));
  MoveMemory more;
  more.processes = 2;
  more.add(100 * mb, 400 * mb, 100);
  EXPECT_EQ(more.in_slabs(), static_cast<std::int64_t>(300 * mb + 400 * mb / 16 + 2 * buffers));
  MoveMemory column; // cannot be divided
  column.processes = 2;
  column.add(400 * mb, 400 * mb, 1);
  EXPECT_EQ(column.in_slabs(), column.with_both());
  MoveMemory several; // each has its own slab
  several.processes = 2;
  several.add(160 * mb, 160 * mb, 100);
  several.add(0, 16 * mb, 100);
  EXPECT_EQ(several.in_slabs(), static_cast<std::int64_t>(16 * mb + 11 * mb + 2 * buffers));
}

TEST(Settings, EveryExampleOfAVariableIsRead) {
  for (const control::Variable& v : control::variables()) {
    const std::string example = v.example;
    EXPECT_EQ(example.empty(), v.is_internal) << v.name;
    if (v.is_internal) continue;
    if (*v.key) {
      EXPECT_NE(("," + example).find("," + std::string(v.key) + "="), std::string::npos) << v.name << " " << v.key;
    }
    setenv(v.name, v.example, 1);
    EXPECT_NO_THROW(Settings::from_environment()) << v.name << "=" << example;
    unsetenv(v.name);
  }
}

TEST(Room, SharesOfTheHosts) {
  ProcessSet process_set = first_process_set(2, {1, 2});
  GroupPolicy policy;
  const auto anywhere = share_among_hosts(process_set, 1000000, policy);
  ASSERT_EQ(anywhere.size(), 1u);
  EXPECT_EQ(anywhere[0].count, 1000000);
  policy.hosts = {"a", "b"};
  policy.started = {2, 0};
  const auto shares = share_among_hosts(process_set, 4, policy);
  EXPECT_EQ(shares[0].count, 1); // three on each
  EXPECT_EQ(shares[1].count, 3);
  EXPECT_EQ(shares[0].load, 3);
  policy.slots = {0, 2};
  EXPECT_EQ(share_among_hosts(process_set, 9, policy)[1].count, 2);
  policy.slots = {1, 2};
  EXPECT_THROW(share_among_hosts(process_set, 4, policy), Error);
}
