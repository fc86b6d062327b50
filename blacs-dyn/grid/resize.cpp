// SPDX-License-Identifier: BSD-3-Clause
#include "grid/resize.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "base/host_list.hpp"

#include "grid/application.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

namespace {

constexpr double scheduler_patience_s = 10; ///< for an answer that takes it no time

/// The matrix that decides the position of each process: the largest. Without one, a square one in single elements.
/// `told`: its layout, where its rule is missing here.
gridmap::PlacementRequest placement_request(const Matrix* a, const Matrices::Told& told, Shape from, Shape to) {
  gridmap::PlacementRequest request;
  if (a) {
    const redist::Layout after = told.count(a) != 0 ? told.at(a) : a->on({to, {}}); // the positions are not known yet
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

Resize::Resize(Application& app, Goal goal, std::optional<control::ResizeRequest> request)
    : app_(&app), goal_(std::move(goal)), started_(MPI_Wtime()), asked_at_(app.settings.points - 1),
      request_(std::move(request)) {}

Resize::Resize(Application& app, Processes::Union gathered, double started)
    : app_(&app), started_(started), change_(gathered.change), gathered_(std::move(gathered)) {
  goal_.to = change_.to.shape;
  who_.emplace(gathered_->before, change_, app.processes.id());
}

// ---- decide

bool Resize::is_grid_already() {
  const ProcessSet& process_set = app_->processes.process_set();
  if (!goal_.without.is_empty())
    together(app_->grid.comm(), [&] { without_ = goal_.without.among(process_set.everybody()); });
  const auto is_inside = [&](int id) { return has(process_set.grid.ids, id); };
  return goal_.to == process_set.grid.shape && !goal_.exact && goal_.leave.empty() &&
         std::none_of(without_.begin(), without_.end(), is_inside);
}

void Resize::ask_scheduler() {
  const Processes& processes = app_->processes;
  const GridMap& grid = processes.process_set().grid;
  if (goal_.need.empty() && (!app_->settings.is_scheduled || goal_.to.size() <= grid.shape.size())) return;
  together(app_->grid.comm(), [&] {
    if (processes.id() != 0) return;
    if (!goal_.need.empty())
      ask_for_need();
    else if (!request_ || request_->origin != control::ResizeRequest::Origin::outside)
      ask();
  });
  Packet packet;
  packet.put(goal_.to).put(goal_.growth.hosts);
  broadcast(packet.bytes(), 0, app_->grid.comm());
  packet = Packet(packet.bytes());
  goal_.to = packet.get<Shape>();
  goal_.growth.hosts = packet.get<std::vector<advise::OfferedHost>>();
}

/// On process 0.
void Resize::ask() {
  const auto grant = app_->control->ask(to_string(goal_.to), false, scheduler_patience_s);
  if (!grant)
    throw Error(Status::timeout,
                fmt::format("blacs-dyn: the scheduler did not answer within {} s whether {} may be had",
                            scheduler_patience_s, to_string(goal_.to)));
  if (grant->procs == 0)
    throw Error(Status::no_slots,
                fmt::format("blacs-dyn: the scheduler refuses {}: {}", to_string(goal_.to), grant->reason));
  take(*grant);
}

/// On process 0. Where a smaller grid would do, the program does not wait for a larger one.
void Resize::ask_for_need() {
  const advise::Allowed allowed = app_->control->allowed(), needed = advise::Allowed::parse(goal_.need);
  std::optional<base::GridShape> smaller;
  for (int n = app_->processes.process_set().grid.shape.size(); n > 0 && !smaller; --n)
    smaller = control::grid_of(n, allowed, needed);
  if (smaller) goal_.to = {smaller->nprow, smaller->npcol};
  if (!app_->settings.is_scheduled) {
    if (smaller) return;
    throw Error(Status::unsupported,
                fmt::format("blacs-dyn: dyngrid_need: grids {} are waited for, and no scheduler started this job that "
                            "could grant one (DYNGRID_SCHED, dyngrid submit)",
                            goal_.need));
  }
  const auto grant = app_->control->ask(goal_.need, !smaller, smaller ? scheduler_patience_s : -1);
  if (smaller && (!grant || grant->procs == 0)) return;
  if (!grant || grant->procs == 0)
    throw Error(Status::no_slots, fmt::format("blacs-dyn: dyngrid_need: the scheduler refuses {}: {}", goal_.need,
                                              grant ? grant->reason : "no answer"));
  const auto shape = control::grid_of(grant->procs, allowed, needed);
  if (!shape) {
    app_->control->asks_no_more();
    throw Error(Status::internal, fmt::format("blacs-dyn: dyngrid_need: the scheduler grants {} processes, of which no "
                                              "grid of {} is",
                                              grant->procs, goal_.need));
  }
  goal_.to = {shape->nprow, shape->npcol};
  take(*grant);
}

void Resize::take(const control::Grant& grant) {
  if (!goal_.exact) goal_.growth.hosts = grant.hosts;
}

void Resize::check_room() const {
  if (goal_.exact || !without_.empty()) return; // no process is started then
  if (app_->settings.way == LauncherKind::background)
    for (const advise::OfferedHost& host : goal_.growth.hosts)
      if (!base::is_this_host(host.name))
        throw Error(
            Status::unsupported,
            fmt::format("blacs-dyn: {} was offered, and new processes come in the background, on this host only; "
                        "DYNGRID_PROCESSES=join or DYNGRID_HOSTS lets them come to others",
                        host.name));
  const ProcessSet& process_set = app_->processes.process_set();
  const int fresh = goal_.to.size() - process_set.grid.shape.size() - static_cast<int>(process_set.all_parked().size());
  if (fresh > 0) app_->headroom.check(fresh, goal_.to.size(), policy(), goal_.is_forced);
}

GroupPolicy Resize::policy() const {
  const GroupPolicy& policy = app_->settings.group_policy;
  return goal_.growth.hosts.empty() ? policy : onto(app_->processes.process_set(), policy, goal_.growth.hosts);
}

void Resize::decide() {
  const Settings& settings = app_->settings;
  const ProcessSet& process_set = app_->processes.process_set();
  Matrix* const largest = app_->matrices.largest();
  Matrices::Told told;
  const std::optional<Error> trouble = attempt([&] {
    if (largest) told = Matrices::told_by_others(app_->grid.comm(), {largest}, {goal_.to, {}});
  });
  if (trouble && trouble->status() == Status::mpi_failure) throw *trouble;
  agree_to_begin([&] {
    if (trouble) throw *trouble;
    gridmap::PlacementRequest placement = placement_request(largest, told, process_set.grid.shape, goal_.to);
    placement.method = goal_.placement;
    change_ = decide_change(process_set, goal_.to, std::move(placement), settings.group_policy,
                            goal_.exact ? &*goal_.exact : nullptr, goal_.leave, without_, goal_.growth);
  });
}

void Resize::decide_by(Change change) {
  agree_to_begin([&] { change_ = std::move(change); });
}

/// On process 0, for new processes.
void Resize::send_for() {
  if (change_.new_groups.empty() || app_->processes.id() != 0) return;
  app_->newcomers.check();
  app_->processes.send_for(change_, app_->spawn_options());
}

/// First the decision, then process 0 starts the processes: nothing is started where another process cannot take part.
template <class Decision> void Resize::agree_to_begin(Decision&& decision) {
  const MPI_Comm grid = app_->grid.comm();
  try {
    together(grid, [&] {
      decision();
      require_memory();
    });
    if (!change_.new_groups.empty()) together(grid, [&] { send_for(); });
  } catch (...) {
    app_->processes.call_off(); // another process could not decide
    throw;
  }
  goal_.to = change_.to.shape;
  sent_for_s_ = MPI_Wtime();
}

// ---- gather

bool Resize::must_await() const {
  return app_->settings.way != LauncherKind::blocking && !change_.new_groups.empty();
}

/// On process 0: whether all are there. @throws Error when they will not be; they are called off then.
bool Resize::look_for_newcomers() {
  const Launch::Progress progress = app_->processes.progress();
  const double limit_s = app_->settings.join_limit_s;
  const bool is_late = !progress.is_complete() && MPI_Wtime() - sent_for_s_ > limit_s;
  if (progress.failure.empty() && !is_late) return progress.is_complete();
  app_->processes.call_off();
  if (!progress.failure.empty())
    throw Error(Status::spawn_failure, "blacs-dyn: new processes do not come: " + progress.failure);
  throw Error(Status::timeout,
              fmt::format("blacs-dyn: new processes do not come: they were not there within {} s and "
                          "are called off; raise DYNGRID_START=timeout=SECONDS if they only need longer",
                          limit_s));
}

void Resize::await_newcomers() {
  together(app_->grid.comm(), [&] {
    if (app_->processes.id() != 0) return;
    while (!look_for_newcomers()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      let_mpi_progress(app_->grid.comm()); // the others may still wait for this process's part of a broadcast
    }
  });
}

bool Resize::are_they_there_already() {
  if (app_->settings.group_policy.warm == 0) return false;
  int are_there = app_->processes.id() == 0 && news() == News::they_are_there ? 1 : 0;
  check_mpi(MPI_Bcast(&are_there, 1, MPI_INT, 0, app_->grid.comm()), "MPI_Bcast");
  return are_there != 0;
}

std::optional<Resize::News> Resize::news() {
  bool are_there = false;
  if (!trouble_) trouble_ = attempt([&] { are_there = look_for_newcomers(); });
  if (trouble_) return News::they_do_not_come;
  return are_there ? std::optional(News::they_are_there) : std::nullopt;
}

void Resize::tell_why_not() {
  together(app_->grid.comm(), [&] {
    if (trouble_) throw *trouble_;
  });
  throw Error(Status::internal, "blacs-dyn: new processes do not come, and process 0 does not say why");
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
  if (change_.is_growth()) {
    try {
      together(app_->grid.comm(), [&] { require_memory(); });
    } catch (const Error&) {
      app_->processes.call_off();
      throw;
    }
  }
  gathered_ = app_->processes.gather(change_, app_->spawn_options());
  who_.emplace(gathered_->before, change_, app_->processes.id());
}

// ---- move

Resize::Outcome Resize::move_and_commit() {
  MatrixMove move(*who_);
  try {
    if (!share_state()) return Outcome::redirected;
    app_->processes.share_out(*gathered_);
    app_->machine.measure_once(gathered_->comm.get());
    const GridMap& to = gathered_->change.to;
    move.told = Matrices::told_by_others(gathered_->comm.get(), app_->matrices.list(), to);
    const bool has_anything = !who_->is_joining;
    const MoveOrders orders =
        has_anything ? move_orders(app_->settings, app_->checkpoints, app_->routines) : MoveOrders{};
    move.run(gathered_->comm.get(), to, app_->matrices.list(), orders);
  } catch (const Error& error) {
    if (error.status() == Status::mpi_failure) throw; // not agreed: the union's communicator is of no use any more
    const Outcome outcome = abandon();
    if (outcome == Outcome::resized) throw; // this process goes on in the old grid
    return outcome;
  }
  return commit(move);
}

Packet Resize::write_state() const {
  Packet packet;
  packet.put(app_->matrices.may_lack_rules(!change_.wake.empty()));
  packet.put(app_->shared.list());
  app_->whereabouts.write(packet);
  app_->settings.write(packet);
  app_->balancing.write(packet);
  app_->machine.write(packet);
  app_->matrices.write(packet);
  return packet;
}

void Resize::read_state(Packet& state, const std::vector<SavedShared>& shared) {
  const bool is_newcomer = app_->processes.is_newcomer();
  app_->whereabouts.read(state);
  app_->shared.expect(shared, is_newcomer);
  app_->settings.read(state);
  app_->balancing.read(state);
  app_->machine.read(state);
  app_->matrices.read(state, is_newcomer || app_->grid.is_still_outside(), is_newcomer);
}

/// Sends to those that join what the others know: the resize point where they are, settings, matrices, shared state. A
/// process that joins from another resize point, and can be led, goes to the others' while they wait. @return false: it
/// has to go there first. @throws agreed Error
bool Resize::share_state() {
  if (!change_.is_growth()) return true;
  const MPI_Comm comm = gathered_->comm.get();
  const bool was_led = is_led();
  Packet state;
  if (was_led) {
    state = std::move(*state_);
  } else {
    if (!who_->is_joining) state = write_state();
    broadcast(state.bytes(), who_->old_ranks[0], comm);
  }
  Packet told(state.bytes());
  const bool may_lack_rules = told.get<bool>();
  const auto shared = told.get_vector<SavedShared>();
  const Place others = Place::read(told);
  using Where = Whereabouts::Where;
  const Where where = who_->is_joining ? app_->whereabouts.compare(others, !was_led) : Where::here;
  bool is_one_led = was_led;
  if (!was_led) {
    const auto worst = static_cast<Where>(app_->processes.hear_all(*gathered_, static_cast<int>(where)));
    is_one_led = worst == Where::elsewhere;
  }
  if (where == Where::elsewhere && is_one_led) {
    app_->whereabouts.lead_to(others);
    state_ = std::move(state);
    return false;
  }
  if (is_one_led) { // the others wait for those, and receive again what they send
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(comm, &request), "MPI_Ibarrier");
    wait_asleep(&request);
    app_->processes.hear_all(*gathered_, 0);
  }
  std::vector<char> buffer;
  together(comm, [&] {
    if (where == Where::nowhere) app_->whereabouts.refuse(others, app_->processes.is_newcomer() ? "new" : "woken");
    buffer = SharedState::buffer_for(shared);
    if (who_->is_joining && where == Where::here) read_state(told, shared);
  });
  if (may_lack_rules) app_->matrices.compare_rules(comm);
  // before the matrices are laid out, since a rule may look at it
  const bool is_teller = who_->my_rank == who_->old_ranks[0];
  app_->shared.spread(comm, who_->old_ranks[0], is_teller ? app_->shared.list() : shared, who_->is_joining, buffer);
  return true;
}

// ---- commit, or abandon

/// New processes leave, the woken sleep on. @return resized: this process is in the grid, which is the old one
Resize::Outcome Resize::abandon() {
  switch (app_->processes.dismiss(*gathered_)) {
  case Processes::Fate::sleeps:
    return Outcome::asleep;
  case Processes::Fate::leaves:
    return Outcome::gone;
  case Processes::Fate::stays:
    break;
  }
  if (app_->routines.owes_after()) app_->routines.call_after(); // what was taken down is built again
  return Outcome::resized;
}

/// From here on the new grid is the grid.
Resize::Outcome Resize::commit(MatrixMove& move) {
  const double t0 = MPI_Wtime();
  app_->copier.close();
  app_->phases.grid_changes();
  const std::string which = goal_.is_at_point ? fmt::format("at step {}", app_->settings.points - 1)
                                              : fmt::format("to {}", to_string(change_.to.shape));
  app_->grid.close_contexts(gathered_->comm.get(), who_->new_ranks, "the change " + which);
  app_->grid.enter_or_go();
  move.use_new(app_->grid.context());
  app_->relayout.forget();
  const Processes::Fate fate = app_->processes.commit(*gathered_);
  app_->grid.tie();
  app_->processes.keep_for(app_->settings.keep_s);
  if (fate == Processes::Fate::leaves) return Outcome::gone;
  if (fate == Processes::Fate::sleeps) return Outcome::asleep;
  if (!app_->is_classical()) app_->grid.open_context();
  report(move, gathered_->merge_s + (MPI_Wtime() - t0));
  app_->whereabouts.changed();
  app_->routines.call_after();
  return Outcome::resized;
}

/// Collective over the new grid.
void Resize::report(const MatrixMove& move, double merge_s) {
  // those that join did not receive the step at which the change was requested
  const double asked_at = !who_->is_joining && goal_.is_at_point ? static_cast<double>(asked_at_) : -1;
  const std::array<double, 6> mine{gathered_->spawn_s,
                                   merge_s,
                                   move.plan_s,
                                   move.exchange_s,
                                   who_->is_joining ? 0 : MPI_Wtime() - started_,
                                   asked_at};
  std::array<double, 6> most{};
  check_mpi(MPI_Allreduce(mine.data(), most.data(), 6, MPI_DOUBLE, MPI_MAX, app_->grid.comm()), "MPI_Allreduce");
  const Shape from = gathered_->before.grid.shape, to = change_.to.shape;
  dyngrid_resize_report& r = app_->last_resize;
  r = {};
  r.from_nprow = from.nprow;
  r.from_npcol = from.npcol;
  r.to_nprow = to.nprow;
  r.to_npcol = to.npcol;
  r.spawned = static_cast<int>(change_.new_ids().size());
  r.woken = static_cast<int>(change_.wake.size());
  r.parked = static_cast<int>(change_.park.size());
  r.released = from.size() + r.spawned + r.woken - to.size() - r.parked;
  r.spawn_s = most[0];
  r.merge_s = most[1];
  r.plan_s = most[2];
  r.exchange_s = most[3];
  r.total_s = most[4];
  r.asked_at_step = static_cast<std::int64_t>(most[5]);
  r.changed_at_step = r.asked_at_step < 0 ? -1 : app_->settings.points - 1;
  r.moved_bytes = move.moved_bytes;
  r.kept_bytes = move.kept_bytes;
  app_->tell_control_who_is_where(); // before any client is sent the change, since it may ask
  if (app_->control)
    app_->control->changed(r, static_cast<int>(app_->processes.process_set().all_parked().size()), request_);
  if (app_->settings.is_verbose && app_->processes.id() == 0) say_report(move);
}

void Resize::say_report(const MatrixMove& move) const {
  const dyngrid_resize_report& r = app_->last_resize;
  const std::string when = r.asked_at_step < 0 ? ""
                                               : fmt::format("; asked for at step {}, changed at step {}",
                                                             r.asked_at_step, r.changed_at_step);
  std::fputs(fmt::format("dyngrid: {} -> {}: {} spawned, {} woken, {} released, {} parked; spawn {:.3f} s, merge "
                         "{:.3f} s, plan {:.4f} s, exchange {:.3f} s{}, other {:.3f} s, all {:.3f} s; "
                         "{} bytes moved, {} kept{}\n",
                         to_string(gathered_->before.grid.shape), to_string(change_.to.shape), r.spawned, r.woken,
                         r.released, r.parked, r.spawn_s, r.merge_s, r.plan_s, r.exchange_s,
                         move.is_in_slabs ? " in slabs" : "",
                         std::max(0.0, r.total_s - r.spawn_s - r.merge_s - r.plan_s - r.exchange_s), r.total_s,
                         move.moved_bytes, move.kept_bytes, when)
                 .c_str(),
             stderr);
}

void Resize::say_sent_for() const {
  if (!app_->settings.is_verbose || app_->processes.id() != 0) return;
  std::fputs(fmt::format("dyngrid: {} -> {}: {} new process(es) sent for in {:.3f} s, computing on\n",
                         to_string(app_->grid.shape()), to_string(goal_.to), change_.new_ids().size(),
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
  if (app_->processes.id() == 0)
    std::fprintf(stderr, "dyngrid: no change to %s: %s; going on with %s\n", to_string(goal_.to).c_str(), error.what(),
                 to_string(app_->grid.shape()).c_str());
  if (app_->control) app_->control->failed(goal_.to, error.status(), error.what(), request_);
}

void Resize::call_off(const std::string& why) {
  if (app_->processes.id() != 0) return;
  app_->processes.call_off();
  if (request_) request_->refused(Status::bad_state, "blacs-dyn: called off: " + why);
  std::fprintf(stderr, "dyngrid: the new processes for %s are called off: %s\n", to_string(goal_.to).c_str(),
               why.c_str());
}

void Resize::take_over(Resize& newer) {
  if (!newer.request_) return;
  if (request_) request_->superseded(newer.request_->number);
  request_ = std::move(newer.request_);
}

} // namespace blacs_dyn
