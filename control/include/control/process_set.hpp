// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "advise/offer.hpp"
#include "advise/without.hpp"
#include "base/grid_shape.hpp"
#include "base/host_list.hpp"
#include "gridmap/placement.hpp"

namespace control {

bool has(const std::vector<int>& ids, int id);
std::size_t position(const std::vector<int>& ids, int id); ///< ids.size() when it is not among them

/// Ids of processes in the order of a grid, row-major. An id is given once and names one process while the application
/// runs.
struct GridMap {
  base::GridShape shape;
  std::vector<int> ids;
  /// The proportion of each grid row and column in work that is dealt out by speed; empty: all alike.
  std::vector<double> row_shares = {}, col_shares = {};
  std::vector<double> speeds = {}; ///< of the processes, row-major, as far as shares are by them; empty: 1 each
};

/// One MPI world of the application: the processes that mpirun started (group 0), or those of one spawn. It is released
/// as a whole.
struct SpawnGroup {
  int id = 0;
  int owner = -1; ///< id of the process of group 0 that spawned it and holds its intercommunicator; -1 for group 0
  std::vector<int> members;                   ///< ids, in the order of the group's own ranks
  std::vector<int> parked;                    ///< those of them that sleep
  std::string host;                           ///< the requested host; empty: mpirun decided
  std::vector<double> speeds = {};            ///< of the members; empty: 1 each
  std::vector<std::string> member_hosts = {}; ///< where each member is, as it says itself; empty: not known
  int active() const { return static_cast<int>(members.size() - parked.size()); } ///< in the grid
  /// None of it is needed, and it sleeps for a while until it leaves.
  bool is_kept() const { return id != 0 && active() == 0; }
};

/// Which processes live, which sleep, and where each is. The same on every process of the grid; a sleeping process
/// receives it again when it is woken.
struct ProcessSet {
  std::vector<SpawnGroup> groups; ///< ascending id; groups[0] is what mpirun started
  GridMap grid;
  std::vector<GridMap> levels; ///< the stack: levels.back() is the current grid
  int next_id = 0;
  int next_group = 1;

  const SpawnGroup& group_of(int id) const;
  bool is_parked(int id) const;
  double speed_of(int id) const; ///< 1 until it is given another
  void set_speed(int id, double speed);
  double usual_speed(const std::string& host) const; ///< mean of those that are there; 1 where none is known to be
  std::vector<double> speeds_on(const GridMap& map) const; ///< row-major
  std::vector<int> all_parked() const; ///< first those of group 0, since they hold intercommunicators to the others
  /// By group.
  std::vector<advise::ProcessInfo> everybody() const;
};

// The fields of each in a packet to another process.
template <class Archive> void fields(Archive& a, GridMap& grid) {
  a(grid.shape, grid.ids, grid.row_shares, grid.col_shares, grid.speeds);
}
template <class Archive> void fields(Archive& a, SpawnGroup& group) {
  a(group.id, group.owner, group.members, group.parked, group.host, group.speeds, group.member_hosts);
}
template <class Archive> void fields(Archive& a, ProcessSet& process_set) {
  a(process_set.groups, process_set.grid, process_set.levels, process_set.next_id, process_set.next_group);
}

/// The application at its start: nprocs processes, the first shape.size() of them in the grid, the others parked.
ProcessSet first_process_set(int nprocs, base::GridShape shape);

/// How new processes are grouped.
struct GroupPolicy {
  enum class Kind { automatic, fixed, whole } kind = Kind::automatic;
  int size = 1;                   ///< for fixed
  std::vector<std::string> hosts; ///< where groups may go, one host each; empty: wherever mpirun puts them
  std::vector<int> slots;         ///< per host: most spawned processes at a time, 0 for no limit
  std::vector<double> speeds;     ///< per host: of each process there; 0 or missing: not given
  std::vector<int> started;       ///< per host: processes that mpirun started there
  bool one_owner = false; ///< the join way: process 0 admits all, and a group is an mpirun, so that automatic means one
                          ///< for each host
  bool keeps = false;     ///< groups of which no process is needed sleep on, instead of leaving
  int warm = 0;           ///< number of the new processes that wait already, where mpirun has put them, in warm_groups

  double speed_on(const std::string& host) const; ///< 0: not given
  void set_hosts(std::vector<base::HostEntry> entries);
};

/// Sizes of the groups of spare processes (started in advance): one process each, unless the policy gives a group size.
std::vector<int> warm_groups(const GroupPolicy& policy);

/// Onto these hosts, as many more on each as it has slots, and nowhere else; without hosts the policy itself.
/// @throws Error{no_slots} when none of them has a slot
GroupPolicy onto(const ProcessSet& process_set, GroupPolicy policy, const std::vector<advise::OfferedHost>& hosts);

/// Seconds to start n processes as one group, and as n groups of one by `spawners` processes side by side.
/// Fitted on Open MPI 4.1.4, two cores; only their ratio matters. See docs/decisions/0008.
double seconds_as_one_group(int n);
double seconds_as_single_groups(int n, int spawners);

struct NewGroup {
  int id = 0;
  int owner = 0;
  std::vector<int> members;
  std::string host;                           ///< empty: mpirun decides
  std::vector<double> speeds = {};            ///< of the members, when they have given them; empty: 1 each
  std::vector<std::string> member_hosts = {}; ///< the same
  double host_speed = 0;                      ///< of each process on its host, as given beforehand; 0: not given
};

/// The steps from one grid to another. Decided the same on every process, without MPI, but for is_by_speed().
struct Change {
  GridMap to;
  std::vector<int> wake; ///< parked ids, group 0 first
  std::vector<NewGroup> new_groups;
  std::vector<int> park;           ///< ids that are to be parked
  std::vector<int> release_groups; ///< group ids, all of whose members leave for good
  bool is_growth() const { return !wake.empty() || !new_groups.empty(); }
  std::vector<int> new_ids() const;
};
template <class Archive> void fields(Archive& a, NewGroup& group) {
  a(group.id, group.owner, group.members, group.host, group.speeds, group.member_hosts, group.host_speed);
}
template <class Archive> void fields(Archive& a, Change& change) {
  a(change.to, change.wake, change.new_groups, change.park, change.release_groups);
}

/// A growth onto processors that were chosen, or with a form of its own.
struct GrowthForm {
  std::vector<advise::OfferedHost> hosts; ///< where those that join are, and how many; empty: as GroupPolicy says
  /// Which process stands where among processors of different speed. local: only those that join are arranged. global,
  /// mixed: all are. best: the form with the least predicted time. Empty: as local.
  std::optional<gridmap::Strategy> form;
  double seconds_left = -1;       ///< of the program, on the grid there is; -1: not known, the faster one is taken
  double seconds_to_move_all = 0; ///< the matrices, if no element stayed where it is

  bool is_like(const GrowthForm& other) const; ///< compares what is requested, whatever it takes.
};
template <class Archive> void fields(Archive& a, GrowthForm& growth) {
  int form = growth.form ? static_cast<int>(*growth.form) : -1;
  a(growth.hosts, form, growth.seconds_left, growth.seconds_to_move_all);
  if (form >= 0) growth.form = static_cast<gridmap::Strategy>(form);
}

/// How many of the new processes go to one host.
struct HostShare {
  std::string host; ///< empty: mpirun decides
  int count = 0;    ///< new
  int spawned = 0;  ///< living there, and new; not those that mpirun started
  int load = 0;     ///< the same with those that mpirun started
};

/// Assigns `n` new processes to the hosts, one by one to the fastest that has a slot; among equally fast ones to that
/// with the fewest living processes. A host without a given speed counts as 1. @throws Error{no_slots}
std::vector<HostShare> share_among_hosts(const ProcessSet& process_set, int n, const GroupPolicy& policy);

/// Groups `n` new processes into groups, whose owners are those of group 0 that are awake, or that are `woken` for the
/// same change. @throws Error{no_slots} when the hosts' slots do not suffice.
std::vector<NewGroup> group_into_groups(const ProcessSet& process_set, int n, const GroupPolicy& policy,
                                        const std::vector<int>& woken = {});

/// What a change has to keep to beside its shape.
struct ChangeOptions {
  const GridMap* exact = nullptr; ///< the new grid of known ids (a pop), taken as it is
  std::vector<int> leave{};       ///< ids of groups that are not in the new grid
  std::vector<int> without{};     ///< ids of processes that are not, each alive and not process 0
  GrowthForm growth{};            ///< with hosts: only processes on these join
};

/// The sleeping processes that a growth by `count` wakes, at most that many, and none of `without`; the rest are
/// started. With `hosts` only those there, each in one of the slots, which is taken out of `hosts`.
std::vector<int> woken_for(const ProcessSet& process_set, int count, std::vector<advise::OfferedHost>& hosts,
                           const std::vector<int>& without = {});

/// `placement`: method, and the matrix that decides the position of each process, on the old grid and on the new one.
/// Process 0 is at (0,0) of every grid. No process is started for a grid without those of `leave` and `without`. A
/// parked process is woken by its owner, so only where the owner is in the grid or is woken, too.
/// @throws Error{bad_argument} when the new grid is too large to do without them.
Change decide_change(const ProcessSet& process_set, base::GridShape to, gridmap::PlacementRequest placement,
                     const GroupPolicy& policy, const ChangeOptions& options = {});

/// Whether the places of such a change may come from a search in floating point. Its result can differ between
/// processor models, so that one process decides for the others. Each process gets the same answer here, whatever its
/// own search has found.
bool is_by_speed(const ProcessSet& process_set, const Change& change, const GrowthForm& growth);

/// The set of processes after the change. A growth pushes a level. Any other change cuts the stack down to the levels
/// smaller than the new grid and puts the new grid on top of them.
ProcessSet apply(const ProcessSet& process_set, const Change& change);

/// The speeds that joining processes report, by rank in the union communicator, 0 for none: noted in `process_set` for
/// the woken, in `change` for the new. A new one that reports none has the given speed of its host, else the usual one
/// there: after note_hosts.
void note_speeds(ProcessSet& process_set, Change& change, const std::vector<double>& given);
/// The same for the hosts of the new ones.
void note_hosts(const ProcessSet& process_set, Change& change, const std::vector<std::string>& given);

/// Whether every process that takes part is in the new grid.
bool is_union_the_grid(const ProcessSet& process_set, const Change& change);

/// The ids of the old grid row-major, of those that are woken, of those that are new.
std::vector<int> old_then_joining(const ProcessSet& process_set, const Change& change);

/// Ids in the order of the union communicator: that of the new grid where no process leaves the grid, so that the union
/// is its communicator afterwards; else old_then_joining.
std::vector<int> union_order(const ProcessSet& process_set, const Change& change);

} // namespace control
