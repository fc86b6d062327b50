// SPDX-License-Identifier: BSD-3-Clause
#include "grid/resize.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/host_list.hpp"

#include "grid/change_reports.hpp"
#include "grid/control.hpp"
#include "grid/headroom.hpp"
#include "grid/newcomer_command.hpp"
#include "grid/state_transfer.hpp"
#include "processes/messages.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

namespace {

constexpr double scheduler_patience_s = 10; ///< for an answer that takes it no time

/// The matrix that decides the position of each process: the largest. Without one, a square one in single elements.
/// `received`: its layout, where its rule is missing here.
gridmap::PlacementRequest placement_request(const Matrix* a, const Matrices::Layouts& received, Shape from, Shape to) {
  gridmap::PlacementRequest request;
  if (a) {
    const redist::Layout after =
        received.count(a) != 0 ? received.at(a) : a->on({to, {}}); // the positions are not known yet
    request.rows_from = a->layout.rows;
    request.cols_from = a->layout.cols;
    request.rows_to = after.rows;
    request.cols_to = after.cols;
    return request;
  }
  const std::int64_t any = std::int64_t{64} * from.nprow * from.npcol;
  using gridmap::Axis;
  request.rows_from = Axis::block_cyclic(any, 1, from.nprow);
  request.cols_from = Axis::block_cyclic(any, 1, from.npcol);
  request.rows_to = Axis::block_cyclic(any, 1, to.nprow);
  request.cols_to = Axis::block_cyclic(any, 1, to.npcol);
  return request;
}

} // namespace

Resize::Resize(const Parts& parts, Goal goal, std::optional<control::ResizeRequest> request)
    : parts_(&parts), goal_(std::move(goal)), started_(MPI_Wtime()), asked_at_(parts.settings.points - 1),
      request_(std::move(request)) {}

Resize::Resize(const Parts& parts, Processes::Union gathered, double started)
    : parts_(&parts), started_(started), change_(gathered.change), gathered_(std::move(gathered)) {
  goal_.to = change_.to.shape;
  who_.emplace(gathered_->before, change_, parts.processes.id());
}

// ---- decide

bool Resize::is_grid_already() {
  const ProcessSet& process_set = parts_->processes.process_set();
  if (!goal_.without.is_empty())
    together(parts_->grid.comm(), [&] { without_ = goal_.without.among(process_set.everybody()); });
  const auto is_inside = [&](int id) { return has(process_set.grid.ids, id); };
  return goal_.to == process_set.grid.shape && !goal_.exact && goal_.leave.empty() &&
         std::none_of(without_.begin(), without_.end(), is_inside);
}

bool Resize::asks_scheduler() const {
  const bool grows = goal_.to.size() > parts_->processes.process_set().grid.shape.size();
  return !goal_.need.empty() || (parts_->settings.is_scheduled && grows && !goal_.is_from_outside);
}

void Resize::ask_scheduler(Control* control) {
  if (!asks_scheduler()) return;
  together(parts_->grid.comm(), [&] {
    if (parts_->processes.id() != 0) return;
    if (!goal_.need.empty())
      ask_for_need(*control);
    else
      ask(*control);
  });
  goal_ = value_of_root(goal_, 0, parts_->grid.comm());
}

/// On process 0.
void Resize::ask(Control& control) {
  const auto grant = control.ask(to_string(goal_.to), false, scheduler_patience_s);
  if (!grant)
    throw Error(Status::timeout, "blacs-dyn: the scheduler did not answer within {} s whether grid {} is granted",
                scheduler_patience_s, to_string(goal_.to));
  if (grant->procs == 0)
    throw Error(Status::no_slots, "blacs-dyn: the scheduler refuses {}: {}", to_string(goal_.to), grant->reason);
  take(*grant);
}

/// On process 0. Where a smaller grid would do, the program does not wait for a larger one.
void Resize::ask_for_need(Control& control) {
  const advise::Allowed allowed = control.state().allowed(), needed = advise::Allowed::parse(goal_.need);
  std::optional<base::GridShape> smaller;
  for (int n = parts_->processes.process_set().grid.shape.size(); n > 0 && !smaller; --n)
    smaller = control::grid_of(n, allowed, needed);
  if (smaller) goal_.to = *smaller;
  if (!parts_->settings.is_scheduled) {
    if (smaller) return;
    throw Error(Status::unsupported,
                "blacs-dyn: dyngrid_need: grids {} are waited for, and no scheduler started this job that could grant "
                "one (DYNGRID_SCHED, dyngrid submit)",
                goal_.need);
  }
  const auto grant = control.ask(goal_.need, !smaller, smaller ? scheduler_patience_s : -1);
  if (smaller && (!grant || grant->procs == 0)) return;
  if (!grant || grant->procs == 0)
    throw Error(Status::no_slots, "blacs-dyn: dyngrid_need: the scheduler refuses {}: {}", goal_.need,
                grant ? grant->reason : "no answer");
  const auto shape = control::grid_of(grant->procs, allowed, needed);
  if (!shape) {
    control.state().asks_no_more();
    throw Error(Status::internal,
                "blacs-dyn: dyngrid_need: the scheduler grants {} processes, of which no grid of {} is", grant->procs,
                goal_.need);
  }
  goal_.to = *shape;
  take(*grant);
}

void Resize::take(const control::Grant& grant) {
  goal_.is_granted = true;
  if (!goal_.exact) goal_.granted = grant.hosts;
}

/// As requested, on what was granted.
GrowthForm Resize::growth() const {
  GrowthForm growth = goal_.growth;
  if (!goal_.granted.empty()) growth.hosts = goal_.granted;
  return growth;
}

void Resize::check_room(const Headroom& headroom) {
  if (goal_.exact || !without_.empty()) return; // no process is started then
  std::vector<advise::OfferedHost> hosts = growth().hosts;
  if (parts_->settings.way == LauncherKind::background && !hosts.empty())
    together(parts_->grid.comm(), [&] {
      if (parts_->processes.id() != 0) return; // the host of process 0 is meant
      for (const advise::OfferedHost& host : hosts)
        if (!base::is_this_host(host.name))
          throw Error(Status::unsupported,
                      "blacs-dyn: host {} was offered, but new processes start in the background, on this host only; "
                      "set DYNGRID_PROCESSES=join or DYNGRID_HOSTS to start them on others",
                      host.name);
    });
  const ProcessSet& process_set = parts_->processes.process_set();
  const int count = goal_.to.size() - process_set.grid.shape.size();
  const int fresh = count - static_cast<int>(woken_for(process_set, count, hosts).size());
  if (fresh <= 0) return;
  const GroupPolicy policy = onto(process_set, parts_->settings.group_policy, hosts);
  if (!parts_->settings.pool.empty()) await_turn();
  headroom.check(fresh, goal_.to, policy, goal_.is_forced);
}

/// Until no other pool is between its count of free slots and their use. Collective over the grid.
void Resize::await_turn() {
  const MPI_Comm grid = parts_->grid.comm();
  together(grid, [&] {
    if (parts_->processes.id() != 0 || parts_->settings.way == LauncherKind::join || !slots().are_limited()) return;
    const base::Deadline limit(parts_->settings.join_limit_s);
    while (!turn_.take()) {
      if (limit.is_over())
        throw Error(
            Status::timeout,
            "blacs-dyn: no processes are started for {}: another pool of this mpirun has been starting some for {} s, "
            "and only one pool at a time takes slots. Request the grid again, or start mpirun with --oversubscribe",
            to_string(goal_.to), parts_->settings.join_limit_s);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      let_mpi_progress(grid); // the others may still wait for this process's part of a broadcast
    }
  });
}

/// Process 0 of a pool that has a turn: until mpirun has started the processes, their slots look free to other pools.
void Resize::await_answer() {
  const base::Deadline limit(parts_->settings.join_limit_s);
  while (turn_.is_mine() && !parts_->processes.is_answered() && !limit.is_over()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    let_mpi_progress(parts_->grid.comm()); // as above
  }
  if (parts_->settings.way == LauncherKind::background) turn_.end(); // else gather() starts them
}

void Resize::decide(const Headroom& headroom) {
  const Settings& settings = parts_->settings;
  const ProcessSet& process_set = parts_->processes.process_set();
  Matrix* const largest = parts_->registered.matrices.largest();
  Matrices::Layouts received;
  const std::optional<Error> trouble = attempt([&] {
    if (largest) received = Matrices::missing_layouts(parts_->grid.comm(), {largest}, {goal_.to, {}});
  });
  if (trouble && trouble->status() == Status::mpi_failure) throw *trouble;
  const auto decision = [&] {
    if (trouble) throw *trouble;
    gridmap::PlacementRequest placement = placement_request(largest, received, process_set.grid.shape, goal_.to);
    placement.method = goal_.placement;
    change_ = decide_change(process_set, goal_.to, std::move(placement), settings.group_policy,
                            {goal_.exact ? &*goal_.exact : nullptr, goal_.leave, without_, growth()});
  };
  agree_to_begin(decision, headroom);
}

void Resize::decide_by(Change change, const Headroom& headroom) {
  agree_to_begin([&] { change_ = std::move(change); }, headroom);
}

/// On process 0, for new processes.
void Resize::send_for(const Headroom& headroom) {
  if (change_.new_groups.empty() || parts_->processes.id() != 0) return;
  parts_->newcomers.check();
  headroom.await_slots(change_.new_groups, [&] { parts_->processes.look_after_called_off(); });
  parts_->processes.send_for(change_, parts_->newcomers.options());
  await_answer();
}

/// First the decision, then process 0 starts the processes: nothing is started where another process cannot take part.
template <class Decision> void Resize::agree_to_begin(Decision&& decision, const Headroom& headroom) {
  const MPI_Comm grid = parts_->grid.comm();
  parts_->processes.look_after_called_off(); // they hold slots until the process that started them releases them
  try {
    together(grid, [&] {
      decision();
      require_memory();
    });
    if (is_by_speed(parts_->processes.process_set(), change_, growth())) // process 0's counts
      change_ = value_of_root(change_, 0, grid);
    if (!change_.new_groups.empty()) together(grid, [&] { send_for(headroom); });
  } catch (...) {
    parts_->processes.call_off(); // another process could not decide
    throw;
  }
  goal_.to = change_.to.shape;
  sent_for_s_ = MPI_Wtime();
}

// ---- gather

bool Resize::must_await() const {
  return parts_->settings.way != LauncherKind::blocking && !change_.new_groups.empty();
}

/// On process 0: whether all are there. @throws Error when they will not be; they are called off then.
bool Resize::look_for_newcomers() {
  const Launch::Progress progress = parts_->processes.progress();
  const double limit_s = parts_->settings.join_limit_s;
  const bool is_late = !progress.is_complete() && MPI_Wtime() - sent_for_s_ > limit_s;
  if (progress.failure.empty() && !is_late) return progress.is_complete();
  parts_->processes.call_off();
  if (!progress.failure.empty())
    throw Error(Status::spawn_failure, "blacs-dyn: the new processes did not start: " + progress.failure);
  throw Error(Status::timeout,
              "blacs-dyn: the new processes did not start within {} s and are cancelled; raise "
              "DYNGRID_START=timeout=SECONDS if they need longer",
              limit_s);
}

void Resize::await_newcomers() {
  together(parts_->grid.comm(), [&] {
    if (parts_->processes.id() != 0) return;
    while (!news()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      let_mpi_progress(parts_->grid.comm()); // the others may still wait for this process's part of a broadcast
    }
    if (trouble_) throw *trouble_; // an earlier look may have found it
  });
}

bool Resize::are_they_there_already() {
  if (parts_->settings.group_policy.warm == 0) return false;
  int are_there = parts_->processes.id() == 0 && news() == News::they_are_there ? 1 : 0;
  check_mpi(MPI_Bcast(&are_there, 1, MPI_INT, 0, parts_->grid.comm()), "MPI_Bcast");
  return are_there != 0;
}

std::optional<Resize::News> Resize::news() {
  bool are_there = false;
  if (!trouble_) trouble_ = attempt([&] { are_there = look_for_newcomers(); });
  if (trouble_) return News::they_do_not_come;
  return are_there ? std::optional(News::they_are_there) : std::nullopt;
}

void Resize::tell_why_not() {
  together(parts_->grid.comm(), [&] {
    if (trouble_) throw *trouble_;
  });
  throw Error(Status::internal,
              "blacs-dyn: the new processes did not start, and process 0 gives no reason; dyngrid doctor looks for it");
}

/// To start processes and connect to them, Open MPI and PMIx take some 40 MiB in pieces (4.1.4). glibc reserves up to
/// 128 MiB of addresses when a thread first allocates. Without that memory the application ends inside MPI.
void Resize::require_memory() const {
  constexpr std::size_t addresses = 192 << 20;
  constexpr std::int64_t bytes = 40 << 20;
  if (!change_.is_growth()) return;
  const char* const what = "starting processes or connecting to them by MPI";
  base::require_addresses(what, addresses);
  base::require_memory(what, bytes);
}

void Resize::gather() {
  SpawnOptions options;
  if (change_.is_growth()) {
    try {
      together(parts_->grid.comm(), [&] {
        if (must_await()) require_memory(); // the program has computed, or processes have started, since the decision
        options = parts_->newcomers.options();
      });
    } catch (const Error&) {
      parts_->processes.call_off();
      throw;
    }
  }
  gathered_ = parts_->processes.gather(change_, options);
  turn_.end();
  who_.emplace(gathered_->before, change_, parts_->processes.id());
}

// ---- move

Resize::Outcome Resize::move_and_commit() {
  MatrixMove move(*who_);
  try {
    if (!parts_->transfer.share(*gathered_, *who_, parts_->grid.is_still_outside(), state_)) return Outcome::redirected;
    parts_->processes.share_out(*gathered_);
    const GridMap& to = gathered_->change.to;
    move.received = Matrices::missing_layouts(gathered_->comm.get(), parts_->registered.matrices.list(), to);
    move.run(gathered_->comm.get(), to, parts_->registered.matrices.list(),
             {parts_->settings, parts_->machine, !who_->is_joining, parts_->checkpoints, parts_->registered.routines});
  } catch (const Error& error) {
    if (error.status() == Status::mpi_failure) throw; // not agreed: the union's communicator is of no use any more
    const Outcome outcome = abandon();
    if (outcome == Outcome::resized) throw; // this process goes on in the old grid
    return outcome;
  }
  return commit(move);
}

// ---- commit, or abandon

/// New processes leave, the woken sleep on. @return resized: this process is in the grid, which is the old one
Resize::Outcome Resize::abandon() {
  switch (parts_->processes.dismiss(*gathered_)) {
  case Processes::Fate::sleeps:
    return Outcome::asleep;
  case Processes::Fate::leaves:
    return Outcome::gone;
  case Processes::Fate::stays:
    break;
  }
  if (parts_->registered.routines.owes_after())
    parts_->registered.routines.call_after(); // what was taken down is built again
  return Outcome::resized;
}

/// From here on the new grid is the grid.
Resize::Outcome Resize::commit(MatrixMove& move) {
  const double t0 = MPI_Wtime();
  const std::string which = goal_.is_at_point ? fmt::format("at step {}", parts_->settings.points - 1)
                                              : fmt::format("to {}", to_string(change_.to.shape));
  parts_->grid.close_contexts(gathered_->comm.get(), who_->new_ranks, "the change " + which);
  parts_->grid.enter_or_go();
  move.use_new();
  const Processes::Fate fate = parts_->processes.commit(*gathered_);
  parts_->grid.tie();
  parts_->processes.keep_for(parts_->settings.keep_s);
  if (fate == Processes::Fate::leaves) return Outcome::gone;
  if (fate == Processes::Fate::sleeps) return Outcome::asleep;
  if (parts_->processes.mode() != Mode::classical) parts_->grid.open_context();
  // those that join did not receive the step at which the change was requested
  const bool has_step = !who_->is_joining && goal_.is_at_point;
  parts_->reports.resized(*gathered_, move,
                          {gathered_->merge_s + (MPI_Wtime() - t0), who_->is_joining ? 0 : MPI_Wtime() - started_,
                           has_step ? static_cast<double>(asked_at_) : -1},
                          request_);
  parts_->registered.routines.call_after();
  return Outcome::resized;
}

void Resize::say_sent_for() const {
  if (!parts_->settings.is_verbose || parts_->processes.id() != 0) return;
  std::fputs(fmt::format("dyngrid: {} -> {}: the request for {} new process(es) took {:.3f} s; the program continues\n",
                         to_string(parts_->grid.shape()), to_string(goal_.to), change_.new_ids().size(),
                         MPI_Wtime() - started_)
                 .c_str(),
             stderr);
}

void Resize::say_why() const {
  if (request_ && !request_->why.empty()) std::fprintf(stderr, "dyngrid: %s\n", request_->why.c_str());
}

void Resize::put_off() {
  if (request_) request_->put_off();
}

// ---- answers

void Resize::already_there() {
  if (request_) request_->done_already();
}

void Resize::failed(const Error& error) {
  parts_->reports.failed(goal_.to, error, request_);
}

void Resize::call_off(const std::string& why) {
  if (parts_->processes.id() != 0) return;
  parts_->processes.call_off();
  if (request_) request_->refused(Status::bad_state, "blacs-dyn: called off: " + why);
  std::fprintf(stderr, "dyngrid: the new processes for %s are cancelled: %s\n", to_string(goal_.to).c_str(),
               why.c_str());
}

void Resize::take_over(Resize& newer) {
  goal_.is_at_point = newer.goal_.is_at_point;
  if (!newer.request_) return;
  const auto is_clients = [](const control::ResizeRequest& request) {
    return request.origin == control::ResizeRequest::Origin::outside;
  };
  if (request_ && is_clients(*request_) && !is_clients(*newer.request_)) {
    newer.put_off(); // a client waits for the answer
    return;
  }
  if (request_ && is_clients(*request_))
    request_->superseded(newer.request_->number);
  else
    put_off();
  request_ = std::move(newer.request_);
}

} // namespace blacs_dyn
