// SPDX-License-Identifier: BSD-3-Clause
#include "grid/headroom.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/host_list.hpp"
#include "control/limits.hpp"
#include "grid/move_memory.hpp"
#include "grid/stock_blacs.hpp"
#include "processes/launchers/this_mpi.hpp"
#include "processes/launchers/ways.hpp"
#include "processes/preflight.hpp"
#include "redist/rank_plan.hpp"

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;

void refuse_without_room(const Room& room) {
  if (const std::string why = refusal(room); !why.empty()) throw Error(Status::no_slots, "blacs-dyn: no room: " + why);
}

void refuse(const std::string& why) {
  if (!why.empty()) throw Error(Status::unsupported, "blacs-dyn: " + why);
}

void refuse_without_slots(std::int64_t fresh, std::int64_t taken, const Slots& room) {
  if (room.has_room_for(taken + fresh)) return;
  throw Error(Status::no_slots,
              "blacs-dyn: {} new processes requested, but {} of mpirun's {} slots are taken; start with mpirun "
              "--oversubscribe or with more slots (-H, hostfile)",
              fresh, taken, room.universe);
}

/// Where all are on this host, mpirun's children are counted too: some may be leaving.
std::int64_t with_children(std::int64_t known) {
  return is_on_one_host() ? std::max(known, control::children_of(getppid())) : known;
}

} // namespace

void Headroom::check(int fresh, Shape after, const GroupPolicy& policy, bool is_forced) const {
  std::int64_t mine = bytes_of_a_process(), least = 0;
  check_mpi(MPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, processes_.grid()), "MPI_Allreduce");
  together(processes_.grid(), [&] {
    if (processes_.id() == 0) check_here(fresh, after, policy, least, is_forced);
  });
}

/// The memory of this process without its matrices: the amount that a new one will need, too.
std::int64_t Headroom::bytes_of_a_process() const {
  constexpr std::int64_t least =
      16 << 20; // of a process of Open MPI that does nothing: 6 MiB and what it shares with the others
  return std::max(least, control::own_bytes() - matrices_.bytes_of_mine());
}

std::int64_t Headroom::living() const {
  std::int64_t all = 0;
  for (const SpawnGroup& group : processes_.process_set().groups)
    all += static_cast<std::int64_t>(group.members.size());
  return all;
}

std::int64_t Headroom::living_and_spare() const {
  const Reserve::Count spares = processes_.warm();
  return living() + spares.asleep + spares.starting;
}

/// Cores and matrices; what has to be looked up is not in it yet.
Room Headroom::room_for(const std::vector<HostShare>& shares, Shape after) const {
  Room room;
  for (const HostShare& share : shares) {
    const bool is_anywhere =
        share.host.empty() && settings_.known_cores == 0; // mpirun decides, among hosts that are not known
    Room::Host host{share.host, hosts_.cores_of(share.host), share.host.empty() ? living() : share.load - share.count,
                    share.count};
    if (is_anywhere) host.cores = std::max(host.cores, slots().universe);
    room.hosts.push_back(host);
    if (is_anywhere || !base::is_this_host(share.host)) continue;
    room.fresh_here += share.count;
    MoveMemory memory;
    const auto processes = static_cast<double>(host.living), with_fresh = static_cast<double>(host.living + host.fresh);
    memory.processes = static_cast<int>(host.living + host.fresh);
    const Shape before = processes_.process_set().grid.shape;
    const double old_part = std::min(1.0, processes / std::max(1, before.size())),
                 new_part = with_fresh / std::max(1, after.size());
    memory.add((matrices_.bytes() + matrices_.bytes_of_copies(before)) * old_part,
               (matrices_.bytes() + matrices_.bytes_of_copies(after)) * new_part, redist::usual_slabs);
    room.matrix_bytes = memory.in_slabs();
  }
  return room;
}

void Headroom::check_here(int fresh, Shape after, const GroupPolicy& policy, std::int64_t bytes_each,
                          bool is_forced) const {
  refuse(growth_trouble());
  const std::vector<HostShare> shares = share_among_hosts(processes_.process_set(), fresh, policy);
  Room room = room_for(shares, after);
  room.per_core = is_forced ? 0 : settings_.per_core;
  room.bytes_each = bytes_each;
  refuse_without_room(room); // before anything is looked up
  room.threads = control::thread_limits();
  room.threads_each = control::own_threads();
  room.free = base::free_memory_soon(bytes_needed(room));
  if (settings_.way != LauncherKind::join) room.descriptors = control::open_files(getppid());
  refuse_without_room(room);
  if (settings_.way != LauncherKind::join)
    check_slots(shares);
  else
    refuse(never_by(settings_.way));
}

/// By all processes of mpirun, on process 0. Those that other pools have started are known where all are on this host:
/// mpirun has started them.
std::int64_t Headroom::slots_taken() const {
  if (settings_.pool.empty()) return living();
  int first = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &first); // process 0 is one of those that mpirun started
  const auto of_pool = static_cast<std::int64_t>(processes_.process_set().groups[0].members.size());
  return with_children(living() + first - of_pool);
}

/// Pools have counted all of mpirun's children before, and take turns.
void Headroom::await_slots(const std::vector<NewGroup>& groups, const std::function<void()>& meanwhile) const {
  const Slots room = slots();
  if (settings_.way == LauncherKind::join || !room.are_limited() || !settings_.pool.empty()) return;
  std::int64_t fresh = -processes_.spares_taken_by(groups);
  for (const NewGroup& group : groups) fresh += static_cast<std::int64_t>(group.members.size());
  if (fresh == 0) return;
  const std::int64_t known = living_and_spare();
  refuse_without_slots(fresh, known, room);
  const base::Deadline limit(settings_.join_limit_s);
  std::int64_t taken = with_children(known); // reads a file of each process of this host
  while (!room.has_room_for(taken + fresh) && !limit.is_over()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    let_mpi_progress(processes_.grid()); // the others may still wait for this process's part of a broadcast
    meanwhile();
    taken = with_children(known);
  }
  refuse_without_slots(fresh, taken, room);
}

/// mpirun ends the application when it has no slot for a spare process. Between a count and the start that it allows
/// another pool may take the slots, and to await a turn for spare processes would hold up the program.
std::string Headroom::trouble_with_spares(int fresh) const {
  const Slots room = slots();
  if (!room.are_limited()) return {};
  if (!settings_.pool.empty())
    return fmt::format("several pools share mpirun's {} slots; start mpirun with --oversubscribe", room.universe);
  const std::int64_t taken = with_children(living_and_spare());
  if (room.has_room_for(taken + fresh)) return {};
  return fmt::format("{} requested, but {} of mpirun's {} slots are taken; start mpirun with --oversubscribe or with "
                     "more slots (-H, hostfile)",
                     fresh, taken, room.universe);
}

/// Checks slots and hosts, as far as they can be known before a spawn. After a spawn that fails for want of them the
/// application goes on, but Open MPI's mpirun never ends by itself.
void Headroom::check_slots(const std::vector<HostShare>& shares) const {
  refuse(spawn_trouble(hosts_.are_several()));
  std::set<std::string> unseen;
  int requested = 0;
  for (const HostShare& share : shares) {
    if (share.count > 0 && !share.host.empty()) unseen.insert(share.host);
    requested += share.count;
  }
  const GroupPolicy& policy = settings_.group_policy;
  for (std::size_t h = 0; h < policy.started.size(); ++h)
    if (policy.started[h] > 0) unseen.erase(policy.hosts[h]);
  for (const std::string& host : unseen) check_host(host);
  for (const HostShare& share : shares)
    if (share.count > 0 && !base::is_this_host(share.host)) refuse(remote_spawn_trouble());
  refuse_without_slots(requested, slots_taken(), slots());
}

} // namespace blacs_dyn
