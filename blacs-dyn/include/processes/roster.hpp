// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "processes/shape.hpp"

namespace blacs_dyn {

/// Ids of processes in the order of a grid, row-major. An id is given once and names one process while the application
/// runs.
struct GridMap {
  Shape shape;
  std::vector<int> ids;
};

/// One MPI world of the application: what mpirun started (unit 0) or what one spawn started. It leaves as a whole or
/// not at all.
struct Unit {
  int id = 0;
  int owner = -1;           ///< id of the process of unit 0 that spawned it and holds its bridge; -1 for unit 0
  std::vector<int> members; ///< ids, in the order of the unit's own ranks
  std::vector<int> parked;  ///< those of them that are asleep
  std::string host;         ///< where it was asked to be; empty: mpirun decided
  int active() const { return static_cast<int>(members.size() - parked.size()); } ///< in the grid
};

/// Who lives, who sleeps, who is where. The same on every process of the grid; sleepers get it anew when they are
/// woken.
struct Roster {
  std::vector<Unit> units; ///< ascending id; units[0] is what mpirun started
  GridMap grid;
  std::vector<GridMap> levels; ///< the stack: levels.back() is the current grid
  int next_id = 0;
  int next_unit = 1;

  const Unit& unit_of(int id) const;
  bool is_parked(int id) const;
  std::vector<int> all_parked() const; ///< first those of unit 0, since they hold bridges to the others
};

// What a packet to another process has of each.
template <class Archive> void fields(Archive& a, GridMap& grid) {
  a(grid.shape, grid.ids);
}
template <class Archive> void fields(Archive& a, Unit& unit) {
  a(unit.id, unit.owner, unit.members, unit.parked, unit.host);
}
template <class Archive> void fields(Archive& a, Roster& roster) {
  a(roster.units, roster.grid, roster.levels, roster.next_id, roster.next_unit);
}

/// The application at its start: nprocs processes, the first shape.size() of them in the grid, the others asleep.
Roster first_roster(int nprocs, Shape shape);

/// How new processes are grouped.
struct UnitPolicy {
  enum class Kind { automatic, one_each, fixed, whole } kind = Kind::automatic;
  int size = 1;                   ///< for fixed
  std::vector<std::string> hosts; ///< where units may go, one host each; empty: wherever mpirun puts them
  std::vector<int> slots;         ///< per host: most spawned processes at a time, 0 for no limit
  std::vector<int> started;       ///< per host: processes that mpirun started there
  bool one_owner = false; ///< the join way: process 0 lets all in, and a unit is an mpirun, so that automatic means one
                          ///< for each host
};

/// Seconds to start n processes as one unit, and as n units of one by `spawners` processes side by side.
/// Fitted on Open MPI 4.1.4, two cores; only their ratio matters. See docs/decisions/0008.
double seconds_as_one_unit(int n);
double seconds_as_single_units(int n, int spawners);

struct NewUnit {
  int id = 0;
  int owner = 0;
  std::vector<int> members;
  std::string host; ///< empty: mpirun decides
};

/// What it takes to come from one grid to another. Decided the same on every process, without MPI.
struct Change {
  GridMap to;
  std::vector<int> wake; ///< parked ids, unit 0 first
  std::vector<NewUnit> new_units;
  std::vector<int> park;          ///< ids that fall asleep
  std::vector<int> release_units; ///< unit ids, all of whose members leave for good
  bool is_growth() const { return !wake.empty() || !new_units.empty(); }
  std::vector<int> new_ids() const;
};
template <class Archive> void fields(Archive& a, NewUnit& unit) {
  a(unit.id, unit.owner, unit.members, unit.host);
}
template <class Archive> void fields(Archive& a, Change& change) {
  a(change.to, change.wake, change.new_units, change.park, change.release_units);
}

/// How many of the new processes go to one host.
struct HostShare {
  std::string host; ///< empty: mpirun decides
  int count = 0;    ///< new
  int spawned = 0;  ///< living there, and new; not those that mpirun started
  int load = 0;     ///< the same with those that mpirun started
};

/// `n` new processes to the hosts, one by one to the one with the fewest living processes that has a slot. @throws
/// Error{no_slots}
std::vector<HostShare> share_among_hosts(const Roster& roster, int n, const UnitPolicy& policy);

/// Groups `n` new processes into units. @throws Error{no_slots} when the hosts' slots do not suffice.
std::vector<NewUnit> group_into_units(const Roster& roster, int n, const UnitPolicy& policy);

/// `placement`: method, and the matrix that decides who goes where, on the old grid and on the new one. With its
/// keep_first the process at (0,0) stays there; in the first grid that is process 0. A target grid of known ids (a pop)
/// is taken as it is when `exact` is given. `leave`: ids of units that are not in the new grid; none or more.
/// @throws Error{bad_argument} when the new grid is too large to do without them.
Change decide_change(const Roster& roster, Shape to, gridmap::PlacementRequest placement, const UnitPolicy& policy,
                     const GridMap* exact = nullptr, const std::vector<int>& leave = {});

/// The roster after the change. A growth pushes a level, everything else cuts the stack down to the levels smaller than
/// the new grid and puts the new grid on top of them.
Roster apply(const Roster& roster, const Change& change);

/// Ids in the order of the union communicator: the old grid, those that are woken, those that are new.
std::vector<int> union_order(const Roster& roster, const Change& change);

} // namespace blacs_dyn
