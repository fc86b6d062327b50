// SPDX-License-Identifier: BSD-3-Clause
#include "processes/processes.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <thread>

#include "base/mpi/comm.hpp"
#include "processes/messages.hpp"

namespace blacs_dyn {

/// One group of processes that joins through its owner: woken members of a group, or a new group.
struct JoiningGroup {
  int owner;
  int group;
  std::vector<int> members; ///< ids; their ranks in the group's parent communicator are index + 1
  int leader_in_parent_comm;
  bool are_new;
};

/// Where the processes of one change are before they come together. All of them derive the same.
struct Roll {
  std::vector<int> base; ///< ids of those that come together first, the grid among them, in their order
  std::vector<JoiningGroup> joining;
  bool is_meeting; ///< some of them have no communicator in common yet
};

namespace {

using base::Error;
using base::Status;

using base::tag_go, base::tag_join, base::tag_wake;

/// The orders to a sleeping process.
enum class Order : int {
  wake = 1, ///< set of processes and change follow: take part
  release,  ///< as owner: let a group of mine go, whose members leave in this moment
  leave,    ///< as member of a group: it leaves as a whole
  finish    ///< group 0: the application ends; let all my groups go
};

/// One intracommunicator of two, over an intercommunicator between rank `leader` of `part` and rank `remote` of `peer`.
/// Collective over both parts; peer counts on the leader only. The ranks of the lower part come first.
Comm merge_with(MPI_Comm part, MPI_Comm peer, int remote, bool is_upper) {
  MPI_Comm intercomm = MPI_COMM_NULL, merged = MPI_COMM_NULL;
  check_mpi(MPI_Intercomm_create(part, 0, peer, remote, tag_join, &intercomm), "MPI_Intercomm_create");
  Comm intercomm_owner = Comm::adopt(intercomm);
  check_mpi(MPI_Intercomm_merge(intercomm, is_upper ? 1 : 0, &merged), "MPI_Intercomm_merge");
  intercomm_owner.close();
  return Comm::adopt(merged);
}

/// Communicator of some ranks of comm, in that order. Collective over those only.
Comm subset(MPI_Comm comm, const std::vector<int>& ranks) {
  const base::Group some = base::Group::of(comm).with_ranks(ranks);
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Comm_create_group(comm, some.get(), tag_join, &made), "MPI_Comm_create_group");
  return Comm::adopt(made);
}

/// Communicator of some ranks of comm, in that order; empty on the others. Collective over comm, and all know the
/// ranks: MPI_Comm_split would communicate with all processes first.
Comm arranged(MPI_Comm comm, const std::vector<int>& ranks) {
  const base::Group some = base::Group::of(comm).with_ranks(ranks);
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Comm_create(comm, some.get(), &made), "MPI_Comm_create");
  return Comm::adopt(made);
}

/// Where processes, by their ids, are in `order`.
std::vector<int> positions(const std::vector<int>& order, const std::vector<int>& ids) {
  std::vector<int> ranks;
  for (const int id : ids) ranks.push_back(static_cast<int>(position(order, id)));
  return ranks;
}

/// Content of the message that calls a process into a change.
void put_summons(Packet& packet, Mode mode, const ProcessSet& before, const Change& change, bool have_met) {
  packet.put(Order::wake).put(mode).put(have_met).put(before).put(change);
}

/// Members of the group that are woken.
std::vector<int> woken_of(const Change& change, const SpawnGroup& group) {
  std::vector<int> ids;
  for (const int id : change.wake)
    if (has(group.members, id)) ids.push_back(id);
  return ids;
}

/// have_met: there is a communicator of the grid and of all woken processes. Otherwise the woken members of groups
/// other than 0 join through their owners, as new groups do.
Roll roll_of(const ProcessSet& before, const Change& change, bool have_met) {
  Roll roll;
  roll.is_meeting = !have_met || !change.new_groups.empty();
  if (!roll.is_meeting) {
    roll.base = union_order(before, change);
    return roll;
  }
  const std::vector<int> with_grid = have_met ? change.wake : woken_of(change, before.groups[0]);
  roll.base = before.grid.ids;
  roll.base.insert(roll.base.end(), with_grid.begin(), with_grid.end());
  for (const SpawnGroup& group : before.groups) {
    if (group.id == 0 || have_met) continue;
    const std::vector<int> woken = woken_of(change, group);
    if (!woken.empty())
      roll.joining.push_back(
          {group.owner, group.id, woken, static_cast<int>(position(group.members, woken[0])) + 1, false});
  }
  for (const NewGroup& group : change.new_groups)
    roll.joining.push_back({group.owner, group.id, group.members, 1, true});
  return roll;
}

std::vector<int> owners_of(const std::vector<JoiningGroup>& joining) {
  std::vector<int> owners;
  for (const JoiningGroup& g : joining)
    if (!has(owners, g.owner)) owners.push_back(g.owner);
  return owners;
}

/// Ids in the order in which assemble() brings all processes together: each owner with its joining processes, then the
/// rest of the base.
std::vector<int> assembled_order(const Roll& roll) {
  const std::vector<int> owners = owners_of(roll.joining);
  std::vector<int> ids;
  for (const int owner : owners) {
    ids.push_back(owner);
    for (const JoiningGroup& g : roll.joining)
      if (g.owner == owner) ids.insert(ids.end(), g.members.begin(), g.members.end());
  }
  for (const int id : roll.base)
    if (!has(owners, id)) ids.push_back(id);
  return ids;
}

} // namespace

void Processes::start(MPI_Comm world, bool is_ours, bool was_spawned, std::unique_ptr<Launcher> launcher) {
  world_ = Comm::duplicate(world);
  launcher_ = std::move(launcher);
  if (is_ours) {
    was_spawned_ = was_spawned;
    state_ = State::newcomer;
    return;
  }
  id_ = world_.rank();
  SpawnGroup first;
  for (int i = 0; i < world_.size(); ++i) first.members.push_back(i);
  process_set_.next_id = world_.size();
  met_ids_ = first.members;
  process_set_.groups = {first};
  state_ = State::member;
}

void Processes::set_launcher(std::unique_ptr<Launcher> launcher) {
  launch_.reset();
  launcher_->close();
  launcher_ = std::move(launcher);
}

Processes::Fate Processes::form_first_grid(Shape shape, const std::vector<std::string>& hosts,
                                           const GroupPolicy& policy) {
  process_set_ = control::first_process_set(world_.size(), shape);
  process_set_.groups[0].member_hosts = hosts;
  bool is_speed_said = false;
  for (std::size_t id = 0; id < hosts.size(); ++id)
    if (const double speed = std::max(policy.speed_on(hosts[id]),
                                      hosts[id] == hosts[0] ? policy.speed_on("localhost") : 0); // as Hosts reads it
        speed > 0) {
      process_set_.set_speed(static_cast<int>(id), speed);
      is_speed_said = true;
    }
  const bool inside = id_ < shape.size();
  MPI_Comm grid = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(world_.get(), inside ? 0 : MPI_UNDEFINED, id_, &grid), "MPI_Comm_split");
  grid_ = Comm::adopt(grid);
  if (inside && is_speed_said) {
    GridMap& map = process_set_.grid;
    blacs_dyn::share_out(grid_.get(), map, process_set_.speeds_on(map));
    process_set_.levels = {map};
  }
  state_ = inside ? State::member : State::parked;
  return inside ? Fate::stays : Fate::sleeps;
}

// ---- gathering

/// Wakes the members of a group of mine that take part.
void Processes::wake_members(const SpawnGroup& group, const ProcessSet& before, const Change& change, bool have_met) {
  const std::vector<int> woken = woken_of(change, group);
  if (woken.empty()) return;
  Packet packet;
  put_summons(packet, mode_, before, change, have_met);
  const MPI_Comm comm = group.id == 0 ? world_.get() : owned_[group.id].parent_comm.get();
  const int first = group.id == 0 ? 0 : 1; // the owner is rank 0 of the parent communicator
  for (const int id : woken) send(comm, static_cast<int>(position(group.members, id)) + first, tag_wake, packet);
}

/// Wakes those of the base that sleep, and makes one communicator of the base. Collective over it.
Processes::CommRef Processes::base_of(const ProcessSet& before, const Change& change, bool have_met) {
  for (const SpawnGroup& group : before.groups)
    if (group.id == 0 ? id_ == 0 : have_met && group.owner == id_) wake_members(group, before, change, have_met);
  if (change.wake.empty()) return CommRef(grid());
  if (have_met) {
    const MPI_Comm met = met_ ? met_.get() : world_.get();
    return CommRef(subset(met, positions(met_ids_, roll_of(before, change, have_met).base)));
  }
  const std::vector<int> woken = woken_of(change, before.groups[0]);
  if (woken.empty()) return CommRef(grid());
  if (has(woken, id_)) return CommRef(merge_with(subset(world_.get(), woken).get(), world_.get(), 0, true));
  return CommRef(merge_with(grid(), world_.get(), woken[0], false));
}

void Processes::send_for(const Change& change, const SpawnOptions& options) {
  if (id_ != 0 || !launcher_->is_background()) return;
  launch_.reset(); // first: groups of both have the same ids
  launch_ = launcher_->start(change.new_groups, options);
}

void Processes::keep_warm(std::vector<int> sizes, const std::function<std::string(int)>& trouble_now,
                          const std::function<SpawnOptions()>& options) {
  Reserve* reserve = !sizes.empty() && can_keep_warm_ ? launcher_->reserve() : nullptr;
  if (!reserve) return;
  const std::optional<Error> trouble = attempt([&] { // the other processes do not wait for it
    const std::vector<int> missing = reserve->missing(std::move(sizes));
    for (Known& group : reserve->introduce(process_set_.groups)) to_introduce_.push_back(std::move(group));
    if (missing.empty()) return;
    const std::string why = trouble_now(std::accumulate(missing.begin(), missing.end(), 0));
    if (why.empty()) {
      reserve->add(missing, options());
    } else if (!is_trouble_with_warm_said_) { // at a later resize point they may be
      std::fprintf(stderr, "dyngrid: spare processes are not started: %s\n", why.c_str());
      is_trouble_with_warm_said_ = true;
    }
  });
  if (!trouble) return;
  can_keep_warm_ = false;
  std::fprintf(stderr, "dyngrid: no spare processes are started: %s\n", trouble->what());
}

bool Processes::introduce() {
  Packet packet;
  packet.put(is_keeping_over()).put(std::exchange(to_introduce_, {}));
  broadcast(packet.bytes(), 0, grid());
  Packet received(packet.bytes());
  const bool is_over = received.get<bool>();
  look_up_groups(received.get<std::vector<Known>>());
  return is_over;
}

Reserve::Count Processes::warm() const {
  const Reserve* reserve = launcher_->reserve();
  return reserve ? reserve->count() : Reserve::Count{};
}

int Processes::spares_taken_by(const std::vector<NewGroup>& groups) const {
  const Reserve* reserve = launcher_->reserve();
  return reserve ? reserve->taken_by(groups) : 0;
}

Launch::Progress Processes::progress() {
  return launch_ ? launch_->progress() : Launch::Progress{};
}

bool Processes::is_answered() const {
  return !launch_ || launch_->is_answered();
}

void Processes::call_off() {
  launch_.reset();
}

void Processes::look_after_called_off() {
  launcher_->look_after_called_off();
}

/// Intercommunicators to the new groups that I own. Blocks; what came before an Error is in `newcomers`.
void Processes::admit(const Change& change, const SpawnOptions& options, std::vector<Newcomers>& newcomers) {
  std::unique_ptr<Launch> launch = std::move(launch_);
  if (!launcher_->is_background()) {
    std::vector<NewGroup> mine;
    for (const NewGroup& group : change.new_groups)
      if (group.owner == id_) mine.push_back(group);
    if (!mine.empty()) launch = launcher_->start(mine, options);
  }
  if (!launch) return;
  const double start = MPI_Wtime();
  for (auto pause = std::chrono::microseconds(200);; pause = std::min(2 * pause, std::chrono::microseconds(5000))) {
    const Launch::Progress progress = launch->progress();
    if (!progress.failure.empty()) throw Error(Status::spawn_failure, "blacs-dyn: " + progress.failure);
    if (progress.is_complete()) break;
    if (MPI_Wtime() - start > options.join_limit_s)
      throw Error(Status::timeout,
                  "blacs-dyn: {} new process(es) did not reach their first resize point within {} s and are given up; "
                  "raise DYNGRID_START=timeout=SECONDS if they only need longer",
                  progress.coming, options.join_limit_s);
    std::this_thread::sleep_for(pause);
    let_mpi_progress(world_.get()); // the others may still wait for this process's part of a broadcast
  }
  launch->admit(newcomers);
}

/// Each owner gets the intercommunicators to its groups. One broadcast and one agreement. @throws agreed Error
void Processes::meet(Meeting& meeting, const Change& change, const SpawnOptions& options, MPI_Comm base,
                     std::vector<Newcomers>& newcomers) {
  Packet packet;
  if (id_ == 0) {
    std::vector<std::string> where;
    const std::optional<Error> trouble = attempt([&] { where = meeting.call_in(change.new_groups); });
    packet.put(trouble ? trouble->status() : Status::success);
    packet.put(std::string(trouble ? trouble->what() : "")).put(where);
  }
  broadcast(packet.bytes(), 0, base);
  Packet received(packet.bytes());
  const auto status = received.get<Status>();
  const std::string why = received.get<std::string>();
  if (status != Status::success) throw Error(status, why);
  const auto where = received.get<std::vector<std::string>>();
  together(base, [&] {
    for (std::size_t i = 0; i < where.size(); ++i)
      if (change.new_groups[i].owner == id_) newcomers.push_back({change.new_groups[i], meeting.meet(where[i])});
    admit(change, options, newcomers);
  });
}

void Processes::send_away(std::vector<Newcomers>& newcomers) {
  for (Newcomers& n : newcomers) {
    tell_to_go(n.intercomm.get(), static_cast<int>(n.group.members.size()));
    launcher_->release(n.group.id, std::move(n.intercomm));
  }
  newcomers.clear();
}

/// all: of the processes that take part; `ids` in its order.
Processes::Union Processes::complete(const ProcessSet& before, const Change& change, CommRef all,
                                     const std::vector<int>& ids) {
  const std::vector<int> order = union_order(before, change);
  Union gathered;
  gathered.comm = all.own && ids == order ? std::move(all.own) : arranged(all.comm, positions(ids, order));
  if (gathered.comm.rank() != static_cast<int>(position(order, id_)))
    throw Error(Status::internal, "blacs-dyn: process {} has rank {} of those that change the grid, and expected {}",
                id_, gathered.comm.rank(), position(order, id_));
  gathered.before = before;
  gathered.change = change;
  return gathered;
}

/// The same from the base, which is all of the process's own group on one that joins.
Processes::Union Processes::complete_from(const ProcessSet& before, const Change& change, const Roll& roll,
                                          CommRef base) {
  CommRef all = assemble(before, change, roll, std::move(base));
  const std::vector<int> ids = assembled_order(roll);
  if (roll.is_meeting) {
    met_ = all.own ? std::move(all.own) : Comm::duplicate(all.comm);
    met_ids_ = ids;
    all = CommRef(met_.get());
  }
  return complete(before, change, std::move(all), ids);
}

/// Informs the new groups of mine that they take part, and in what; from here on I hold them.
void Processes::let_in(std::vector<Newcomers>& newcomers, const ProcessSet& before, const Change& change,
                       bool have_met) {
  std::vector<Packet> orders(newcomers.size());
  std::vector<MPI_Request> under_way;
  for (std::size_t k = 0; k < newcomers.size(); ++k) { // first all of them, since each connection takes its time
    const NewGroup& group = newcomers[k].group;
    orders[k].put(1).put(group.id);
    put_summons(orders[k], mode_, before, change, have_met);
    for (std::size_t i = 0; i < group.members.size(); ++i)
      under_way.push_back(start_send(newcomers[k].intercomm.get(), static_cast<int>(i), tag_go, orders[k]));
  }
  for (Newcomers& n : newcomers) {
    MPI_Comm parent_comm = MPI_COMM_NULL;
    check_mpi(MPI_Intercomm_merge(n.intercomm.get(), 0, &parent_comm), "MPI_Intercomm_merge");
    owned_[n.group.id] = Hold{std::move(n.intercomm), Comm::adopt(parent_comm)};
  }
  check_mpi(MPI_Waitall(static_cast<int>(under_way.size()), under_way.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

/// Of an owner: me and all my joining processes, me first.
Processes::CommRef Processes::attach_joining_groups(const ProcessSet& before, const Change& change, const Roll& roll) {
  CommRef joined(MPI_COMM_SELF);
  for (const JoiningGroup& g : roll.joining) {
    if (g.owner != id_) continue;
    const MPI_Comm parent_comm = owned_[g.group].parent_comm.get();
    if (!g.are_new) wake_members(before.group_of(g.members[0]), before, change, false);
    if (g.are_new && joined.comm == MPI_COMM_SELF)
      joined = CommRef(parent_comm); // I and all of them
    else
      joined = CommRef(merge_with(joined.comm, parent_comm, g.leader_in_parent_comm, false));
  }
  return joined;
}

/// From the base to all processes. Those that join call it with the communicator of their own owner and group.
Processes::CommRef Processes::assemble(const ProcessSet& before, const Change& change, const Roll& roll, CommRef base) {
  const std::vector<JoiningGroup>& joining = roll.joining;
  if (joining.empty()) return base;
  const std::vector<int> owners = owners_of(joining);

  const std::vector<int>& in_order = roll.base;
  const auto rank_in_base = [&](int id) { return static_cast<int>(position(in_order, id)); };

  int my_owner = id_;
  CommRef part;
  const bool in_base = has(in_order, id_);
  if (in_base) {
    if (has(owners, id_)) part = attach_joining_groups(before, change, roll);
  } else {
    std::size_t mine = 0;
    while (!has(joining[mine].members, id_)) ++mine;
    my_owner = joining[mine].owner;
    const auto first =
        std::find_if(joining.begin(), joining.end(), [&](const JoiningGroup& g) { return g.owner == my_owner; });
    if (joining[mine].are_new && first->group == joining[mine].group)
      part = CommRef(parent_comm_.get());
    else
      part = CommRef(merge_with(base.comm, parent_comm_.get(), 0, true));
    for (std::size_t g = mine + 1; g < joining.size(); ++g)
      if (joining[g].owner == my_owner) part = CommRef(merge_with(part.comm, MPI_COMM_NULL, -1, false));
  }

  // the owners' parts in a binary tree; the owners know the ranks of the bases, since each owner is rank 0 of its part
  const auto count = static_cast<int>(owners.size());
  const MPI_Comm base_comm = in_base ? base.comm : MPI_COMM_NULL;
  if (part.comm != MPI_COMM_NULL) {
    int at = static_cast<int>(position(owners, my_owner));
    for (int d = 1; d < count; d *= 2) {
      const int low = at / (2 * d) * (2 * d);
      const bool is_upper = at % (2 * d) >= d;
      const int other = is_upper ? low : low + d;
      if (other >= count) continue;
      part = CommRef(merge_with(part.comm, base_comm, rank_in_base(owners[static_cast<std::size_t>(other)]), is_upper));
      at = low;
    }
  }

  // the rest of the base
  std::vector<int> rest;
  for (const int id : in_order)
    if (!has(owners, id)) rest.push_back(id);
  if (rest.empty()) return part;
  if (part.comm != MPI_COMM_NULL) return CommRef(merge_with(part.comm, base_comm, rank_in_base(rest[0]), false));
  std::vector<int> ranks;
  for (const int id : rest) ranks.push_back(rank_in_base(id));
  return CommRef(merge_with(subset(base.comm, ranks).get(), base.comm, rank_in_base(owners[0]), true));
}

Processes::Union Processes::gather(const Change& change, const SpawnOptions& options) {
  const LooksForConnections looks;
  const ProcessSet before = process_set_;
  if (!change.is_growth()) return complete(before, change, CommRef(grid()), before.grid.ids);
  // whoever is in the communicator that process 0 has of the last meeting still has it
  const bool have_met = std::all_of(change.wake.begin(), change.wake.end(), [&](int id) { return has(met_ids_, id); });
  return gather_from(before, change, have_met, options);
}

/// The part of gather that the base does together.
Processes::Union Processes::gather_from(const ProcessSet& before, const Change& change, bool have_met,
                                        const SpawnOptions& options) {
  const double begin = MPI_Wtime();
  CommRef base = base_of(before, change, have_met);
  const double t0 = MPI_Wtime();
  constexpr int process0 = 0; // the base begins with the grid
  Introduction* introduction = change.new_groups.empty() ? nullptr : launcher_->introduction();
  Meeting* meeting = change.new_groups.empty() ? nullptr : launcher_->meeting();
  std::vector<Newcomers> newcomers;
  try {
    if (meeting) {
      meet(*meeting, change, options, base.comm, newcomers);
    } else {
      if (introduction) together(base.comm, [&] { introduction->watch(base.comm, process0); });
      together(base.comm, [&] { admit(change, options, newcomers); });
    }
  } catch (const Error& error) {
    if (error.status() == Status::mpi_failure) throw; // not agreed: the other processes are not here
    launch_.reset();                                  // where it was not admitted
    send_away(newcomers);
    base.own.close();
    throw;
  }
  const double t1 = MPI_Wtime();
  let_in(newcomers, before, change, have_met);
  if (introduction) introduction->introduce(change.new_groups, base.comm, process0, -1);
  Union gathered = complete_from(before, change, roll_of(before, change, have_met), std::move(base));
  if (id_ == 0 && !change.new_groups.empty()) launcher_->are_in(change.new_groups);
  gathered.spawn_s = t1 - t0;
  gathered.merge_s = t0 - begin + MPI_Wtime() - t1;
  return gathered;
}

void Processes::decline() {
  launcher_->decline(world_.get());
  state_ = State::left;
}

std::optional<Processes::Union> Processes::join() {
  std::optional<Comm> entered = launcher_->enter(world_.get());
  if (!entered) {
    state_ = State::left;
    return std::nullopt;
  }
  const LooksForConnections looks;
  intercomm_ = std::move(*entered);
  Packet packet = receive_soon(intercomm_.get(), 0, tag_go);
  if (packet.get<int>() == 0) {
    launcher_->close();
    state_ = State::left;
    intercomm_.disconnect();
    return std::nullopt;
  }
  group_ = packet.get<int>();
  MPI_Comm parent_comm = MPI_COMM_NULL;
  check_mpi(MPI_Intercomm_merge(intercomm_.get(), 1, &parent_comm), "MPI_Intercomm_merge");
  parent_comm_ = Comm::adopt(parent_comm);
  packet.get<Order>();
  mode_ = packet.get<Mode>();
  const bool have_met = packet.get<bool>();
  const auto before = packet.get<ProcessSet>();
  const auto change = packet.get<Change>();
  for (const NewGroup& group : change.new_groups)
    if (group.id == group_) id_ = group.members.at(static_cast<std::size_t>(world_.rank()));
  if (Introduction* introduction = launcher_->introduction())
    introduction->introduce(change.new_groups, world_.get(), 0, group_);
  return complete_from(before, change, roll_of(before, change, have_met), CommRef(world_.get()));
}

std::optional<Processes::Union> Processes::sleep(const SpawnOptions& options) {
  state_ = State::parked;
  for (;;) {
    Packet packet = group_ == 0 ? receive_asleep(world_.get(), 0, tag_wake, 50, while_asleep)
                                : receive_asleep(parent_comm_.get(), 0, tag_wake, 50, while_asleep);
    switch (packet.get<Order>()) {
    case Order::wake: {
      const LooksForConnections looks;
      mode_ = packet.get<Mode>();
      const bool have_met = packet.get<bool>();
      const auto before = packet.get<ProcessSet>();
      const auto change = packet.get<Change>();
      if (group_ != 0 && !have_met) {
        const SpawnGroup& group = before.group_of(id_);
        CommRef woken(subset(world_.get(), positions(group.members, woken_of(change, group))));
        return complete_from(before, change, roll_of(before, change, have_met), std::move(woken));
      }
      try {
        return gather_from(before, change, have_met, options);
      } catch (
          const Error& error) { // the growth was given up, and the grid that requested it received the error: sleep on
        if (error.status() == Status::mpi_failure) throw;
      }
      break;
    }
    case Order::release: {
      const int group = packet.get<int>();
      release_group(group, packet.get_vector<int>());
      break;
    }
    case Order::leave:
      send_to_process0(base::tag_load, {}); // my last message: none is on its way when the communicator is freed
      leave_group();
      return std::nullopt;
    case Order::finish:
      for (int groups = packet.get<int>(); groups > 0; --groups) {
        const int group = packet.get<int>();
        release_group(group, packet.get_vector<int>());
      }
      launcher_->close();
      state_ = State::left;
      return std::nullopt;
    }
  }
}

// ---- small messages to process 0

void Processes::send_to_process0(base::Tag tag, const std::vector<char>& bytes) const {
  const MPI_Comm comm = group_ == 0 ? world_.get() : parent_comm_.get(); // process 0, or my owner, is the first of it
  check_mpi(MPI_Send(bytes.data(), base::mpi_count(bytes.size()), MPI_BYTE, 0, tag, comm), "MPI_Send");
}

std::vector<std::vector<char>> Processes::receive_reports(base::Tag tag) const {
  std::vector<std::vector<char>> received;
  const auto receive_all = [&](MPI_Comm comm) {
    while (auto bytes = receive_if_there(comm, MPI_ANY_SOURCE, tag)) received.push_back(std::move(*bytes));
  };
  for (const auto& [group, held] : owned_) receive_all(held.parent_comm.get());
  if (id_ == 0) {
    receive_all(world_.get());
    return received;
  }
  for (const std::vector<char>& bytes : received) send_to_process0(tag, bytes);
  return {};
}

// ---- parting

std::vector<int> Processes::parked_ranks_in_parent_comm(const ProcessSet& process_set, int group) const {
  std::vector<int> ranks;
  for (const SpawnGroup& u : process_set.groups)
    if (u.id == group)
      for (const int id : u.parked) ranks.push_back(static_cast<int>(position(u.members, id)) + 1);
  return ranks;
}

void Processes::release_group(int group, const std::vector<int>& parked_ranks) {
  const auto held = owned_.find(group);
  if (held == owned_.end())
    throw Error(Status::internal, "blacs-dyn: process {} does not own process group {}", id_, group);
  const MPI_Comm parent_comm = held->second.parent_comm.get();
  while (receive_if_there(parent_comm, MPI_ANY_SOURCE, base::tag_load)) { // load reports, which are not needed any more
  }
  Packet packet;
  packet.put(Order::leave);
  for (const int rank : parked_ranks) send(parent_comm, rank, tag_wake, packet);
  for (const int rank : parked_ranks) // and what is on its way: they end with an empty message
    while (!receive_soon(parent_comm, rank, base::tag_load).bytes().empty()) {
    }
  held->second.parent_comm.close();
  launcher_->release(group, std::move(held->second.intercomm));
  owned_.erase(held);
}

void Processes::leave_group() {
  launcher_->close(); // from here on my end is no fault
  met_.close();
  parent_comm_.close();
  intercomm_.disconnect();
  state_ = State::left;
}

Processes::Fate Processes::commit(Union& gathered) {
  const Change& change = gathered.change;
  const ProcessSet after = apply(gathered.before, change);
  const bool stays = has(change.to.ids, id_);
  Comm next = std::move(gathered.comm);
  const std::vector<int> order = union_order(gathered.before, change);
  if (!is_union_the_grid(gathered.before, change)) {
    Comm those_that_stay = arranged(next.get(), positions(order, change.to.ids));
    next.close();
    next = std::move(those_that_stay);
  }
  grid_.close();
  grid_ = std::move(next);
  const ProcessSet& before = gathered.before;
  process_set_ = after;
  own_speed_ = 0; // it is in there
  state_ = State::member;
  if (part(before, change)) return Fate::leaves;
  if (stays) return Fate::stays;
  state_ = State::parked;
  return Fate::sleeps;
}

/// Lets the groups go that the change releases. @return whether this process was in one of them
bool Processes::part(const ProcessSet& before, const Change& change) {
  // owners that sleep on, before those that hold intercommunicators themselves wait in a disconnect
  for (const int group : change.release_groups) {
    int owner = 0;
    for (const SpawnGroup& u : before.groups)
      if (u.id == group) owner = u.owner;
    const bool owner_sleeps = owner != 0 && before.is_parked(owner) && !has(change.wake, owner);
    if (id_ == 0 && owner_sleeps) {
      Packet packet;
      packet.put(Order::release).put(group).put(parked_ranks_in_parent_comm(before, group));
      send(world_.get(), owner, tag_wake, packet);
    }
  }
  for (const int group : change.release_groups) {
    if (owned_.count(group)) release_group(group, parked_ranks_in_parent_comm(before, group));
    if (group == group_ && group != 0) {
      leave_group();
      return true;
    }
  }
  return false;
}

void Processes::keep_for(double seconds) {
  if (id_ != 0) return;
  std::map<int, base::Deadline> before;
  before.swap(kept_until_);
  for (const SpawnGroup& group : process_set_.groups) {
    if (!group.is_kept()) continue;
    const auto known = before.find(group.id);
    kept_until_.emplace(group.id, known == before.end() ? base::Deadline(seconds) : known->second);
  }
}

bool Processes::is_keeping_over() const {
  return std::any_of(kept_until_.begin(), kept_until_.end(), [](const auto& kept) { return kept.second.is_over(); });
}

void Processes::release_kept() {
  Packet packet;
  std::vector<int> over;
  for (const auto& [group, until] : kept_until_)
    if (until.is_over()) over.push_back(group);
  packet.put(over);
  broadcast(packet.bytes(), 0, grid());
  Change change;
  change.to = process_set_.grid;
  Packet(packet.bytes()).get(change.release_groups);
  const ProcessSet before = process_set_;
  process_set_ = apply(before, change);
  part(before, change);
  for (const int group : change.release_groups) kept_until_.erase(group);
}

Processes::Fate Processes::dismiss(Union& gathered) {
  const Change change = gathered.change;
  gathered.comm.close();
  for (const NewGroup& group : change.new_groups) {
    if (owned_.count(group.id)) release_group(group.id, {});
    if (group.id == group_ && group_ != 0) {
      leave_group();
      return Fate::leaves;
    }
  }
  return has(change.wake, id_) ? Fate::sleeps : Fate::stays;
}

void Processes::meet_at_end() const {
  if (has_grown()) MPI_Barrier(grid());
}

void Processes::finish() {
  grid_.close();
  if (id_ == 0)
    for (const int sleeper : process_set_.groups[0].parked) {
      Packet packet;
      packet.put(Order::finish);
      std::vector<int> groups;
      for (const SpawnGroup& group : process_set_.groups)
        if (group.owner == sleeper) groups.push_back(group.id);
      packet.put(static_cast<int>(groups.size()));
      for (const int group : groups) packet.put(group).put(parked_ranks_in_parent_comm(process_set_, group));
      send(world_.get(), sleeper, tag_wake, packet);
    }
  if (group_ != 0) {
    leave_group();
    return;
  }
  while (!owned_.empty()) {
    const int group = owned_.begin()->first;
    release_group(group, parked_ranks_in_parent_comm(process_set_, group));
  }
  launcher_->close();
  state_ = State::left;
}

void Processes::close() {
  grid_.close();
  met_.close();
  parent_comm_.close();
  world_.close();
}

} // namespace blacs_dyn
