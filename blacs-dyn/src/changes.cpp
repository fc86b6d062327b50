// SPDX-License-Identifier: BSD-3-Clause
// Changes of the grid: when one is due, what it takes, and carrying it through with all matrices.
#include "session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <set>
#include <thread>
#include <unordered_map>

#include <unistd.h>

#include <fmt/format.h>

#include "preflight.hpp"
#include "redist/executor.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

SpawnOptions Session::spawn_options() const {
  // through env(1), since Open MPI hands a spawned process the environment of mpirun and not that of its parent
  SpawnOptions options;
  options.program = find_program("env");
  options.join_limit_s = settings_.join_limit_s;
  options.arguments.push_back(fmt::format("DYNGRID_NEWCOMER={}", is_classical() ? "classical" : "managed"));
  if (place_.kind == Place::Kind::named) options.arguments.push_back("DYNGRID_ENTRY=" + place_.text);
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_for_one = name == "DYNGRID_NEWCOMER" || name == "DYNGRID_ENTRY" || name == "DYNGRID_JOIN";
    const bool ours = name.substr(0, 8) == "DYNGRID_" && !is_for_one;
    if (ours || name == "LD_PRELOAD" || name == "LD_LIBRARY_PATH" || name == "OPENBLAS_NUM_THREADS" ||
        name == "OMP_NUM_THREADS" || name == "OPENBLAS_CORETYPE" || name == "OMPI_MCA_mpi_yield_when_idle")
      options.arguments.emplace_back(text);
  }
  const char* program = environment("DYNGRID_SPAWN_PROGRAM");
  options.shown = !setup_program_.empty() ? setup_program_ : program ? program : own_program();
  if (options.shown.find('=') != std::string::npos) // which env(1) would take for a variable
    for (const char* word : {"sh", "-c", "exec \"$0\" \"$@\""}) options.arguments.emplace_back(word);
  options.arguments.push_back(options.shown);
  for (const std::string& word : setup_arguments_ ? *setup_arguments_ : own_arguments())
    options.arguments.push_back(word);
  return options;
}

/// One all-reduce: what all processes of the grid want, by PlaceWord::Flag. @throws agreed Error{bad_state} when they
/// are at different places.
std::uint64_t Session::compare_places(const Place& place, std::uint64_t flags) {
  const MPI_Comm grid = processes_.grid();
  const bool counts = plain_places_count_ || place.kind != Place::Kind::plain;
  static const Place some_line(Place::Kind::plain);
  const std::uint64_t mine = PlaceWord::of(counts ? place : some_line, flags);
  std::uint64_t all = 0;
  check_mpi(MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BOR, grid), "MPI_Allreduce");
  if (PlaceWord::is_one_place(all)) {
    place.check_name();
    return all;
  }
  Packet packet;
  place.write(packet);
  broadcast(packet.bytes(), 0, grid);
  together(grid, [&] {
    place.check_name();
    Packet told(packet.bytes());
    const Place first = Place::read(told);
    int rank = 0;
    MPI_Comm_rank(grid, &rank);
    if (!first.meets(place))
      throw Error(Status::bad_state,
                  fmt::format("blacs-dyn: the processes of the grid are at different resize points: rank 0 at {}, rank "
                              "{} at {}; all of them have to come to the "
                              "same one (two lines that mean one place take one name, by dyngrid_resize_point_at)",
                              first.shown(), rank, place.shown()));
  });
  plain_places_count_ = false; // they are of different programs
  return all;
}

int Session::resize_point_at(const char* name) {
  if (place_.kind == Place::Kind::named && name && place_.text == name) return resize_point(place_);
  return resize_point(Place::named(name));
}

const char* Session::entry_point() {
  if (!is_active()) return "";
  can_be_led_ = true;
  return entry_point_.c_str();
}

int Session::resize_point(const Place& place) {
  if (is_active() && !is_classical() && processes_.has_left()) return DYNGRID_LEAVE;
  require_grid("dyngrid_resize_point");
  refuse_inside("dyngrid_resize_point");
  if (processes_.grid() == MPI_COMM_NULL) place.check_name();
  if (place_.hash != place.hash) place_ = place;
  if (led_) return go_on_where_led();
  if (processes_.is_newcomer()) {
    const double started = MPI_Wtime();
    auto gathered = processes_.join();
    if (!gathered) return leave();
    return carry_through(std::move(*gathered), started);
  }
  if (sleeps_at_first_point_) return sleep_until_needed();

  save_if_due();
  const std::int64_t point = settings_.points++;
  Shape wanted = requested_;
  gridmap::Placement placement = settings_.placement;
  requested_ = {};
  if (processes_.id() == 0 && wanted.size() == 0)
    for (const TimedRequest& entry : settings_.requests)
      if (entry.step == point) {
        wanted = entry.to;
        placement = entry.placement.value_or(settings_.placement);
      }
  std::optional<control::Wanted> outside;
  if (job_) outside = job_->resize_point(holdings_, wanted.size() > 0);
  std::uint64_t all = 0;
  if (wanted.size() > 0)
    all = PlaceWord::own_request;
  else if (outside)
    all = PlaceWord::outside_request;
  try {
    all = compare_places(place_, all);
  } catch (const Error&) { // what was asked for waits for a resize point where all are
    requested_ = wanted;
    if (outside) job_->defer(*outside);
    throw;
  }
  const bool is_own = (all & PlaceWord::own_request) != 0; // goes before a wish from outside, which process 0 has
  if (!is_own && (all & PlaceWord::outside_request) == 0) return pending_ ? settle_pending() : DYNGRID_SAME;

  const MPI_Comm grid = processes_.grid();
  int root = 0;
  if (is_own) { // the lowest rank's counts
    int mine = INT_MAX;
    if (wanted.size() > 0) MPI_Comm_rank(grid, &mine);
    check_mpi(MPI_Allreduce(&mine, &root, 1, MPI_INT, MPI_MIN, grid), "MPI_Allreduce");
    if (outside) job_->defer(*outside);
  } else {
    const std::vector<int>& ids = processes_.roster().grid.ids;
    root = static_cast<int>(std::find(ids.begin(), ids.end(), 0) - ids.begin());
    if (outside) {
      wanted = {outside->to.nprow, outside->to.npcol};
      placement = outside->placement.value_or(settings_.placement);
      job_->carries_out(*outside);
    }
  }
  std::vector<int> leave;
  if (!is_own && outside) leave = units_of(outside->leave);
  std::array<int, 4> told{wanted.nprow, wanted.npcol, static_cast<int>(placement), static_cast<int>(leave.size())};
  check_mpi(MPI_Bcast(told.data(), 4, MPI_INT, root, grid), "MPI_Bcast");
  leave.resize(static_cast<std::size_t>(told[3]));
  if (!leave.empty()) check_mpi(MPI_Bcast(leave.data(), told[3], MPI_INT, root, grid), "MPI_Bcast");
  try {
    const int result = change_to({told[0], told[1]}, static_cast<gridmap::Placement>(told[2]), nullptr, false, leave,
                                 !is_own && outside && outside->is_forced);
    if (job_ && result == DYNGRID_SAME && !pending_) job_->was_there_already();
    return result;
  } catch (const Error& error) {
    if (processes_.id() == 0)
      std::fprintf(stderr, "dyngrid: no change to %dx%d: %s; going on with %s\n", told[0], told[1], error.what(),
                   to_string(processes_.roster().grid.shape).c_str());
    if (job_) job_->failed({told[0], told[1]}, error.status(), error.what());
    throw;
  }
}

int Session::pending() {
  require_grid("dyngrid_pending");
  if (processes_.grid() == MPI_COMM_NULL) return 1;
  bool is_due = requested_.size() > 0;
  if (processes_.id() == 0) {
    for (const TimedRequest& entry : settings_.requests) is_due = is_due || entry.step == settings_.points;
    is_due = is_due || (job_ && job_->state().is_pending()) || (pending_ && processes_.progress().is_complete);
  }
  const std::uint64_t mine = is_due ? 1 : 0;
  return (compare_places(Place(Place::Kind::query), mine) & 1) != 0 ? 1 : 0;
}

int Session::resize(Shape to, gridmap::Placement placement) {
  if (is_active() && !is_classical() && (processes_.is_newcomer() || led_)) return resize_point(Place());
  require_grid("dyngrid_resize");
  refuse_inside("dyngrid_resize");
  place_ = Place();
  if (sleeps_at_first_point_) return sleep_until_needed();
  together(processes_.grid(), [&] {
    const auto number = static_cast<int>(placement);
    base::check_grid_shape(to, "blacs-dyn: dyngrid_resize");
    if (number < DYNGRID_OPTIMAL || number > DYNGRID_LOCAL2)
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_resize: placement is {}, wanted {} .. {}",
                                                    number, DYNGRID_OPTIMAL, DYNGRID_LOCAL2));
  });
  const std::array<std::int64_t, 3> mine{to.nprow, to.npcol, static_cast<int>(placement)};
  std::array<std::int64_t, 6> range{mine[0], -mine[0], mine[1], -mine[1], mine[2], -mine[2]}, most{};
  check_mpi(MPI_Allreduce(range.data(), most.data(), 6, MPI_INT64_T, MPI_MAX, processes_.grid()), "MPI_Allreduce");
  if (most[0] != -most[1] || most[2] != -most[3] || most[4] != -most[5])
    throw Error(Status::rank_mismatch, fmt::format("blacs-dyn: dyngrid_resize: arguments differ between the processes: "
                                                   "rows {} .. {}, columns {} .. {}, placement {} .. {}",
                                                   -most[1], most[0], -most[3], most[2], -most[5], most[4]));
  return change_to(to, placement, nullptr);
}

int Session::pop() {
  if (!is_active()) throw Error(Status::bad_state, "blacs-dyn: dyngrid_pop before any growth");
  if (!is_classical()) require_grid("dyngrid_pop");
  refuse_inside("dyngrid_pop");
  place_ = Place();
  const Roster& roster = processes_.roster();
  if (processes_.grid() == MPI_COMM_NULL || roster.levels.size() < 2)
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_pop: this is the first grid, there is none below it");
  const GridMap level = roster.levels[roster.levels.size() - 2];
  const auto is_here = [&](int id) {
    return std::find(roster.grid.ids.begin(), roster.grid.ids.end(), id) != roster.grid.ids.end();
  };
  const bool all_here = std::all_of(level.ids.begin(), level.ids.end(), is_here);
  return change_to(level.shape, settings_.placement, all_here ? &level : nullptr);
}

/// Slots and hosts, as far as they can be known before a spawn. After a spawn that fails for want of them the
/// application goes on, but Open MPI's mpirun never ends by itself.
void Session::check_slots(const std::vector<HostShare>& shares) const {
  check_mpi_can_spawn();
  std::set<std::string> hosts;
  int wanted = 0;
  for (const HostShare& share : shares) {
    if (share.count > 0 && !share.host.empty()) hosts.insert(share.host);
    wanted += share.count;
  }
  const UnitPolicy& policy = settings_.unit_policy;
  for (std::size_t h = 0; h < policy.started.size(); ++h)
    if (policy.started[h] > 0) hosts.erase(policy.hosts[h]); // mpirun has it, seen
  for (const std::string& host : hosts) check_host(host);

  const char* oversubscribe = environment("OMPI_MCA_rmaps_base_oversubscribe");
  const char* mapping = environment("OMPI_MCA_rmaps_base_mapping_policy");
  if ((oversubscribe && *oversubscribe != '0') ||
      (mapping && std::string_view(mapping).find("OVERSUBSCRIBE") != std::string_view::npos &&
       std::string_view(mapping).find("NOOVERSUBSCRIBE") == std::string_view::npos))
    return;
  int* universe = nullptr;
  int is_known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &is_known);
  if (!is_known || !universe || *universe <= 0) return;
  std::size_t living = 0;
  for (const Unit& unit : processes_.roster().units) living += unit.members.size();
  if (living + static_cast<std::size_t>(wanted) > static_cast<std::size_t>(*universe))
    throw Error(Status::no_slots, fmt::format("blacs-dyn: {} new processes wanted, but {} of mpirun's {} slots are "
                                              "taken; start with mpirun --oversubscribe or "
                                              "with more slots (-H, hostfile)",
                                              wanted, living, *universe));
}

/// What this process has for itself, without its matrices: what a new one will want, too.
std::int64_t Session::bytes_of_a_process() const {
  constexpr std::int64_t least =
      16 << 20; // of a process of Open MPI that does nothing: 6 MiB and what it shares with the others
  std::int64_t matrices = 0;
  for (const auto& a : holdings_.matrices()) matrices += static_cast<std::int64_t>(a->bytes(a->lay));
  return std::max(least, control::own_bytes() - matrices);
}

void Session::check_room(int fresh, int after, const UnitPolicy& policy, std::int64_t bytes_each,
                         bool is_forced) const {
  const std::vector<HostShare> shares = share_among_hosts(processes_.roster(), fresh, policy);
  char own[256] = "";
  gethostname(own, sizeof own - 1);
  int* universe = nullptr;
  int is_known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &is_known);
  std::int64_t living = 0;
  for (const Unit& unit : processes_.roster().units) living += static_cast<std::int64_t>(unit.members.size());

  Room room;
  room.per_core = is_forced ? 0 : settings_.per_core;
  for (const HostShare& share : shares) {
    const bool is_anywhere =
        share.host.empty() && settings_.known_cores == 0; // mpirun decides, among hosts that are not known
    auto cores = cores_.find(share.host.empty() ? own : share.host);
    if (cores == cores_.end()) cores = cores_.find(own); // a host not seen yet is taken for one like this
    Room::Host host{share.host, cores == cores_.end() ? 0 : cores->second,
                    share.host.empty() ? living : share.load - share.count, share.count};
    if (is_anywhere && is_known && universe) host.cores = std::max(host.cores, *universe);
    room.hosts.push_back(host);
    if (is_anywhere || (!share.host.empty() && share.host != own)) continue;
    room.fresh_here += share.count;
    room.matrix_bytes = static_cast<std::int64_t>(
        std::min(1e18, holdings_.bytes() * static_cast<double>(host.living + host.fresh) / std::max(1, after)));
  }
  room.bytes_each = bytes_each;
  if (const std::string why = refusal(room); !why.empty())
    throw Error(Status::no_slots, "blacs-dyn: no room: " + why); // before anything is looked up
  room.threads = control::thread_limits();
  room.threads_each = control::own_threads();
  room.free = control::free_memory_soon(bytes_needed(room));
  if (settings_.way == Way::spawn) room.descriptors = control::open_files(getppid());
  if (const std::string why = refusal(room); !why.empty()) throw Error(Status::no_slots, "blacs-dyn: no room: " + why);
  if (settings_.way == Way::spawn) check_slots(shares);
}

/// The matrix that decides who goes where: the largest. Without one, a square one in single elements.
gridmap::PlacementRequest Session::placement_request(Shape to, gridmap::Placement placement) const {
  const Shape from = processes_.roster().grid.shape;
  gridmap::PlacementRequest request;
  request.method = placement;
  request.keep_first = settings_.keep_first;
  if (const Matrix* a = holdings_.largest()) {
    const Lay after = a->on(to, -1);
    request.rows_from = a->lay.rows;
    request.cols_from = a->lay.cols;
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

/// On process 0: units as they are called outside; those that have gone are left out.
std::vector<int> Session::units_of(const std::vector<std::int64_t>& numbers) const {
  std::vector<int> ids;
  for (const Unit& unit : processes_.roster().units)
    if (unit.id != 0 && std::find(numbers.begin(), numbers.end(), processes_.number_of(unit.id)) != numbers.end())
      ids.push_back(unit.id);
  return ids;
}

std::vector<control::UnitInfo> Session::units() const {
  std::vector<control::UnitInfo> all;
  for (const Unit& unit : processes_.roster().units)
    if (unit.id != 0)
      all.push_back({processes_.number_of(unit.id), static_cast<int>(unit.members.size()), unit.active()});
  return all;
}

int Session::change_to(Shape to, gridmap::Placement placement, const GridMap* exact, bool may_wait,
                       const std::vector<int>& leave, bool is_forced) {
  const double started = MPI_Wtime();
  const Roster& roster = processes_.roster();
  const int fresh = exact ? 0 : to.size() - roster.grid.shape.size() - static_cast<int>(roster.all_parked().size());
  if (fresh > 0 && !(pending_ && pending_->change.to.shape == to)) { // before anything that grows with their number
    std::int64_t mine = bytes_of_a_process(), least = 0;
    check_mpi(MPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, processes_.grid()), "MPI_Allreduce");
    together(processes_.grid(), [&] {
      if (processes_.id() == 0) check_room(fresh, to.size(), settings_.unit_policy, least, is_forced);
    });
  }
  if (pending_) {
    if (!may_wait && !exact && pending_->change.to.shape == to) return settle_pending();
    call_off_pending(fmt::format("{} is wanted instead", to_string(to)));
  }
  if (to == roster.grid.shape && !exact) return DYNGRID_SAME;
  Change change;
  together(processes_.grid(), [&] {
    change = decide_change(roster, to, placement_request(to, placement), settings_.unit_policy, exact, leave);
    if (change.new_units.empty() || processes_.id() != 0) return;
    const char* program = environment("DYNGRID_SPAWN_PROGRAM");
    check_program(program ? find_program(program) : own_program());
    processes_.send_for(change, spawn_options());
  });
  if (settings_.way == Way::join && !change.new_units.empty()) {
    if (!may_wait) {
      pending_ = Pending{change, started, job_ ? job_->asked() : 0};
      if (settings_.is_verbose && processes_.id() == 0)
        std::fputs(fmt::format("dyngrid: {} -> {}: {} new process(es) sent for in {:.3f} s, computing on\n",
                               to_string(roster.grid.shape), to_string(to), change.new_ids().size(),
                               MPI_Wtime() - started)
                       .c_str(),
                   stderr);
      return DYNGRID_SAME;
    }
    await_newcomers();
  }
  return carry_through(processes_.gather(change, spawn_options()), started);
}

/// Collective over the grid. @throws agreed Error when they do not come; they are called off then.
void Session::await_newcomers() {
  const double since = MPI_Wtime();
  together(processes_.grid(), [&] {
    if (processes_.id() != 0) return;
    for (;;) {
      const Launch::Progress progress = processes_.progress();
      if (progress.is_complete) return;
      const bool is_late = MPI_Wtime() - since > settings_.join_limit_s;
      if (is_late || !progress.failure.empty()) {
        processes_.call_off();
        if (!progress.failure.empty())
          throw Error(Status::spawn_failure, "blacs-dyn: new processes do not come: " + progress.failure);
        throw Error(Status::timeout, fmt::format("blacs-dyn: the new processes were not there within {} s and are "
                                                 "called off; raise DYNGRID_JOIN_TIMEOUT if they only need longer",
                                                 settings_.join_limit_s));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
}

/// At a resize point while new processes are on their way: lets them in when all of them are ready. Collective over the
/// grid.
int Session::settle_pending() {
  const double started = MPI_Wtime();
  const Change change = pending_->change;
  const Shape to = change.to.shape;
  if (job_) job_->goes_on_with(pending_->asked);
  enum : int { coming, ready, failed };
  int state = coming;
  std::string why;
  Status status = Status::spawn_failure;
  if (processes_.id() == 0) {
    const Launch::Progress progress = processes_.progress();
    why = progress.failure;
    if (why.empty() && !progress.is_complete && MPI_Wtime() - pending_->since > settings_.join_limit_s) {
      why = fmt::format("they were not there within {} s; raise DYNGRID_JOIN_TIMEOUT if they only need longer",
                        settings_.join_limit_s);
      status = Status::timeout;
    }
    state = !why.empty() ? failed : progress.is_complete ? ready : coming;
  }
  const std::vector<int>& ids = processes_.roster().grid.ids;
  const auto process0 = static_cast<int>(std::find(ids.begin(), ids.end(), 0) - ids.begin());
  std::array<int, 2> told{state, static_cast<int>(status)};
  check_mpi(MPI_Bcast(told.data(), 2, MPI_INT, process0, processes_.grid()), "MPI_Bcast");
  if (told[0] == coming) return DYNGRID_SAME;
  try {
    pending_.reset();
    if (told[0] == failed) {
      if (processes_.id() == 0) processes_.call_off();
      std::vector<char> text(why.begin(), why.end());
      broadcast(text, process0, processes_.grid());
      throw Error(static_cast<Status>(told[1]),
                  "blacs-dyn: new processes do not come: " + std::string(text.begin(), text.end()));
    }
    return carry_through(processes_.gather(change, spawn_options()), started);
  } catch (const Error& error) {
    if (processes_.id() == 0)
      std::fprintf(stderr, "dyngrid: no change to %s: %s; going on with %s\n", to_string(to).c_str(), error.what(),
                   to_string(processes_.roster().grid.shape).c_str());
    if (job_) job_->failed({to.nprow, to.npcol}, error.status(), error.what());
    throw;
  }
}

/// Local, on every process of the grid.
void Session::call_off_pending(const std::string& why) {
  if (processes_.id() == 0) {
    processes_.call_off();
    const Shape to = pending_->change.to.shape;
    if (job_ && pending_->asked > 0) job_->called_off(pending_->asked, to, why);
    std::fprintf(stderr, "dyngrid: the new processes for %s are called off: %s\n", to_string(to).c_str(), why.c_str());
  }
  pending_.reset();
}

/// Tells those that join what the others know: the resize point where they are, settings, matrices, shared state.
/// Collective over the union. A process that joins from another resize point, and can be led, goes to the others' while
/// they wait. @throws agreed Error.
bool Session::exchange_state(Processes::Union& gathered, bool is_joining, double started, const Packet* state_of_led) {
  if (!gathered.change.is_growth()) return true;
  const MPI_Comm comm = gathered.comm.get();
  Packet packet;
  if (state_of_led) {
    packet = *state_of_led;
  } else {
    if (!is_joining) {
      place_.write(packet);
      packet.put(plain_places_count_);
      settings_.write(packet);
      holdings_.write(packet);
    }
    broadcast(packet.bytes(), 0, comm);
  }
  Packet state(packet.bytes());
  const Place others = Place::read(state);
  enum : int { here, elsewhere, nowhere };
  int mine = here, worst = here;
  if (is_joining && !others.meets(place_)) {
    const bool can_be_led =
        can_be_led_ && !state_of_led && others.kind == Place::Kind::named && place_.kind != Place::Kind::end;
    mine = can_be_led ? elsewhere : nowhere;
  }
  if (!state_of_led) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, comm, &request), "MPI_Iallreduce");
    wait_asleep(&request);
  }
  if (worst == elsewhere && mine == elsewhere) {
    entry_point_ = others.text;
    led_.emplace(Led{std::move(gathered), started, std::move(packet)});
    return false;
  }
  together(comm, [&] { // where the others wait for those that are led
    if (mine == nowhere)
      throw Error(Status::bad_state,
                  fmt::format("blacs-dyn: a {} process is at {}, the others are at {}: it would go on in another part "
                              "of the program; give lines that mean one "
                              "place one name by dyngrid_resize_point_at, or lead it to a name by dyngrid_entry_point",
                              processes_.is_newcomer() ? "new" : "woken", place_.shown(), others.shown()));
    if (!is_joining || mine != here) return;
    plain_places_count_ = state.get<bool>();
    settings_.read(state);
    holdings_.read(state, processes_.is_newcomer() || sleeps_at_first_point_);
  });
  return true;
}

/// At another resize point than the one where this process was woken or let in: the right one, or not.
int Session::go_on_where_led() {
  Led led = std::move(*led_);
  led_.reset();
  entry_point_.clear();
  return carry_through(std::move(led.gathered), led.started, &led.state);
}

void Session::on_change(dyngrid_change_routine before, dyngrid_change_routine after, void* data) {
  require_grid("dyngrid_on_change");
  if (before || after) {
    change_routines_.push_back({before, after, data});
    return;
  }
  const auto kept = std::remove_if(change_routines_.begin(), change_routines_.end(),
                                   [&](const ChangeRoutine& r) { return r.data == data; });
  if (kept == change_routines_.end())
    throw Error(Status::not_found,
                "blacs-dyn: dyngrid_on_change: before and after are null, and no routines are known with this data");
  change_routines_.erase(kept, change_routines_.end());
}

/// After a change: which grids of before, whose duplicates may live on, have all their processes in the one there is.
/// Local.
void Session::tie_grid() {
  const std::vector<int>& ids = processes_.roster().grid.ids;
  const bool is_in = processes_.grid() != MPI_COMM_NULL;
  const auto is_gone = [](const TiedGrid& grid) { return grid.life.expired(); };
  tied_grids_.erase(std::remove_if(tied_grids_.begin(), tied_grids_.end(), is_gone), tied_grids_.end());
  for (const TiedGrid& grid : tied_grids_)
    if (const auto life = grid.life.lock())
      life->is_whole = is_in && std::all_of(grid.ids.begin(), grid.ids.end(),
                                            [&](int id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); });
  if (!is_in) return;
  const auto life = std::make_shared<redist::GridLife>();
  redist::tie_to_grid(processes_.grid(), life);
  tied_grids_.push_back({life, ids});
}

/// The user's routines of dyngrid_on_change. What they throw is said, and stops nothing: the other processes go on.
void Session::call_routines(Inside when) {
  const bool is_before = when == Inside::before;
  is_noticed_ = is_before;
  std::vector<ChangeRoutine> routines = change_routines_;
  if (is_before) std::reverse(routines.begin(), routines.end());
  inside_ = when;
  for (const ChangeRoutine& one : routines) {
    const dyngrid_change_routine routine = is_before ? one.before : one.after;
    const auto say = [&](const char* what) {
      std::fprintf(stderr,
                   "dyngrid: a routine of dyngrid_on_change that is called %s a change threw an exception: %s; the "
                   "change goes on\n",
                   is_before ? "before" : "after", what);
    };
    try {
      if (routine) routine(one.data);
    } catch (const std::exception& error) {
      say(error.what());
    } catch (...) {
      say("of an unknown type");
    }
  }
  inside_ = Inside::nothing;
}

/// All matrices from the old grid into new arrays of the new one; the old arrays stay as they are. Collective over the
/// union. @throws agreed Error.
Session::Moved Session::move_matrices(const Processes::Union& gathered, bool is_joining) {
  const MPI_Comm comm = gathered.comm.get();
  const GridMap& from = gathered.before.grid;
  const GridMap& to = gathered.change.to;
  const int me = processes_.id();
  const std::vector<int> order = union_order(gathered.before, gathered.change);
  std::unordered_map<int, int> rank_of;
  for (std::size_t i = 0; i < order.size(); ++i) rank_of[order[i]] = static_cast<int>(i);
  const auto position = static_cast<int>(std::find(to.ids.begin(), to.ids.end(), me) - to.ids.begin());
  const auto ranks_of = [&](const GridMap& grid) {
    std::vector<int> ranks;
    for (const int id : grid.ids) ranks.push_back(rank_of.at(id));
    return ranks;
  };
  const redist::Grid from_grid{from.shape.nprow, from.shape.npcol, ranks_of(from)},
      to_grid{to.shape.nprow, to.shape.npcol, ranks_of(to)};

  Moved moved;
  const double set_up = MPI_Wtime();
  redist::Executor executor(comm);
  moved.exchange_s = MPI_Wtime() - set_up;
  try {
    // on one host nothing is gained by steps; between hosts the plan chooses by predicted cost
    const bool on_one_host = executor.range(executor.ranks_on_host()).first == static_cast<std::int64_t>(order.size());
    const bool is_free = settings_.exchange_order == redist::Schedule::automatic;
    std::int64_t print = 0;
    together(comm, [&] {
      for (const auto& a : holdings_.matrices()) moved.lays.push_back(a->on(to.shape, position));
      print = fingerprint(moved.lays);
    });
    check_same(comm, print, "blacs-dyn: the rules of the matrices give different block sizes on different processes");
    std::vector<redist::RankPlan> plans;
    together(comm, [&] {
      const double t0 = MPI_Wtime();
      for (std::size_t i = 0; i < moved.lays.size(); ++i) {
        const Matrix& a = *holdings_.matrices()[i];
        const Lay& lay = moved.lays[i];
        moved.arrays.emplace_back(position < to.shape.size() ? a.bytes(lay) : 0);
        redist::PlanOptions options;
        options.schedule = is_free && on_one_host ? redist::Schedule::async : settings_.exchange_order;
        options.element_bytes = static_cast<int>(element_bytes(a.type));
        const redist::Plan plan({a.lay.rows, a.lay.cols, from_grid}, {lay.rows, lay.cols, to_grid}, options);
        const redist::PlanTotals totals = plan.totals();
        moved.moved_bytes += totals.moved_elements * options.element_bytes;
        moved.kept_bytes += totals.kept_elements * options.element_bytes;
        plans.push_back(plan.for_rank(rank_of.at(me)));
      }
      moved.plan_s = MPI_Wtime() - t0;
    });
    if (!is_joining) call_routines(Inside::before); // nothing is moved yet, and nothing stands against it any more
    if (!plans.empty()) {
      const double t0 = MPI_Wtime();
      std::vector<redist::Transfer> transfers;
      for (std::size_t i = 0; i < plans.size(); ++i) {
        const Matrix& a = *holdings_.matrices()[i];
        transfers.push_back({&plans[i], is_joining ? nullptr : a.local.data(), a.lay.lld(), moved.arrays[i].data(),
                             std::max<std::int64_t>(1, plans[i].m_loc_to), a.type});
      }
      executor.execute(transfers);
      moved.exchange_s += MPI_Wtime() - t0;
    }
  } catch (const Error& error) {
    // agreed errors only: after a failure of MPI nothing collective is left to do
    if (error.status() != Status::mpi_failure) executor.close();
    throw;
  }
  executor.close();
  return moved;
}

int Session::carry_through(Processes::Union gathered, double started, const Packet* state_of_led) {
  const Change change = gathered.change;
  const GridMap from = gathered.before.grid;
  const bool is_joining = std::find(from.ids.begin(), from.ids.end(), processes_.id()) == from.ids.end();
  Moved moved;
  try {
    if (!exchange_state(gathered, is_joining, started, state_of_led)) return DYNGRID_REDIRECT;
    moved = move_matrices(gathered, is_joining);
  } catch (const Error&) {
    switch (processes_.dismiss(gathered)) {
    case Processes::Fate::stays:
      if (is_noticed_) call_routines(Inside::after); // the buffers of the exchange: what was taken down is built again
      throw;
    case Processes::Fate::sleeps:
      return sleep_until_needed();
    case Processes::Fate::leaves:
      return leave();
    }
  }

  // from here on the new grid is the grid
  const double t0 = MPI_Wtime();
  copier_.close();
  close_contexts(&gathered);
  sleeps_at_first_point_ = false;
  for (std::size_t i = 0; i < moved.arrays.size(); ++i)
    holdings_.matrices()[i]->place(std::move(moved.lays[i]), std::move(moved.arrays[i]), context_);
  const double spawn_s = gathered.spawn_s, merge_s = gathered.merge_s;
  const Processes::Fate fate = processes_.commit(gathered);
  tie_grid();
  if (fate == Processes::Fate::leaves) return leave();
  if (fate == Processes::Fate::sleeps) return sleep_until_needed();
  if (!is_classical()) open_context();
  report(
      from.shape, change, moved,
      {spawn_s, merge_s + (MPI_Wtime() - t0), moved.plan_s, moved.exchange_s, is_joining ? 0 : MPI_Wtime() - started});
  entry_point_.clear();
  call_routines(Inside::after);
  return DYNGRID_RESIZED;
}

/// Fills in the report of a change. seconds: spawn, merge, plan, exchange, all. Collective over the new grid.
void Session::report(Shape from, const Change& change, const Moved& moved, std::array<double, 5> seconds) {
  std::array<double, 5> most{};
  check_mpi(MPI_Allreduce(seconds.data(), most.data(), 5, MPI_DOUBLE, MPI_MAX, processes_.grid()), "MPI_Allreduce");
  report_ = {};
  report_.from_nprow = from.nprow;
  report_.from_npcol = from.npcol;
  report_.to_nprow = change.to.shape.nprow;
  report_.to_npcol = change.to.shape.npcol;
  report_.spawned = static_cast<int>(change.new_ids().size());
  report_.woken = static_cast<int>(change.wake.size());
  report_.parked = static_cast<int>(change.park.size());
  report_.released = from.size() + report_.spawned + report_.woken - change.to.shape.size() - report_.parked;
  report_.spawn_s = most[0];
  report_.merge_s = most[1];
  report_.plan_s = most[2];
  report_.exchange_s = most[3];
  report_.total_s = most[4];
  report_.moved_bytes = moved.moved_bytes;
  report_.kept_bytes = moved.kept_bytes;
  if (job_) job_->changed(report_, static_cast<int>(processes_.roster().all_parked().size()), units());
  if (settings_.is_verbose && processes_.id() == 0)
    std::fputs(fmt::format("dyngrid: {} -> {}: {} spawned, {} woken, {} released, {} parked; spawn {:.3f} s, merge "
                           "{:.3f} s, plan {:.4f} s, exchange {:.3f} s, all {:.3f} s; "
                           "{} bytes moved, {} kept\n",
                           to_string(from), to_string(change.to.shape), report_.spawned, report_.woken,
                           report_.released, report_.parked, report_.spawn_s, report_.merge_s, report_.plan_s,
                           report_.exchange_s, report_.total_s, moved.moved_bytes, moved.kept_bytes)
                   .c_str(),
               stderr);
}

int Session::sleep_until_needed() {
  const double started = MPI_Wtime();
  auto gathered = processes_.sleep(spawn_options());
  if (!gathered) return leave();
  return carry_through(std::move(*gathered), started);
}

int Session::leave() {
  sleeps_at_first_point_ = false;
  context_ = -1;
  holdings_.leave();
  return DYNGRID_LEAVE;
}

} // namespace blacs_dyn
