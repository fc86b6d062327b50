// SPDX-License-Identifier: BSD-3-Clause
#include "grid/application.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

#include "base/stock_symbol.hpp"
#include "control/runtime_dir.hpp"
#include "control/variables.hpp"
#include "grid/calls/calls.hpp"
#include "grid/contexts.hpp"
#include "grid/stock_blacs.hpp"
#include "pblas/stock_calls.hpp"
#include "processes/launchers/linger.hpp"
#include "processes/launchers/this_mpi.hpp"
#include "processes/messages.hpp"
#include "processes/preflight.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

namespace {

/// Name of a pool on comm, the same on all of its processes. Collective over comm. @throws agreed Error{bad_argument,
/// null_pointer, rank_mismatch}; where comm is none, Error of this process alone
std::string checked_pool(MPI_Comm comm, const char* name) {
  int initialized = 0, finalized = 0, is_inter = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || finalized)
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_init_on before MPI_Init or after MPI_Finalize");
  if (comm == MPI_COMM_NULL)
    throw Error(Status::bad_argument,
                "blacs-dyn: dyngrid_init_on: the communicator is MPI_COMM_NULL, expected one that "
                "contains this process; a process outside all pools does not call it");
  check_mpi(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0)
    throw Error(Status::bad_argument, "blacs-dyn: dyngrid_init_on: the communicator is an intercommunicator, expected "
                                      "an intracommunicator; MPI_Intercomm_merge makes one");
  Comm ours = Comm::duplicate(comm);
  const auto all = [&](auto&& step) {
    try {
      together(ours.get(), step);
    } catch (const Error&) {
      ours.close();
      throw;
    }
  };
  all([&] {
    if (!name) throw Error(Status::null_pointer, "blacs-dyn: dyngrid_init_on: the name is null");
    control::check_pool_name(name, "dyngrid_init_on: the name of the pool");
  });
  const std::string expected = value_of_root(std::string(name), 0, ours.get());
  all([&] {
    if (expected != name)
      throw Error(
          Status::rank_mismatch,
          "blacs-dyn: dyngrid_init_on: the name of the pool is \"{}\", but \"{}\" on process 0 of the communicator",
          name, expected);
  });
  ours.close();
  return expected;
}

/// In mpirun's program; null: not started by mpirun.
const char* rank_by_environment() {
  return environment("OMPI_COMM_WORLD_RANK") ? environment("OMPI_COMM_WORLD_RANK") : environment("PMI_RANK");
}

/// Whether this process prints for those of comm. A process without a communicator prints for itself.
bool is_first_of(MPI_Comm comm) {
  if (!base::mpi_is_up()) {
    const char* rank = rank_by_environment();
    return !rank || std::string_view(rank) == "0";
  }
  int rank = 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_rank(comm, &rank);
  return rank == 0;
}

int finalize_hook(MPI_Comm, int, void*, void*) {
  Application::instance().at_mpi_finalize();
  return MPI_SUCCESS;
}

} // namespace

/// At the end of a process that loaded this library, by preload or by its link line, and that never began to use it:
/// what the user asked for did not happen.
[[gnu::destructor]] void tell_what_was_vain() {
  const Processes& processes = Application::instance().processes;
  const char* rank = rank_by_environment();
  int was_mpi_used = 0;
  if (processes.has_left() || processes.was_spawned() || !rank || std::string_view(rank) != "0") return;
  MPI_Initialized(&was_mpi_used);
  if (!was_mpi_used) return;
  if (calls::is_library_missing())
    std::fprintf(stderr, "dyngrid: DYNGRID_CALLS is set, but libdyngrid-calls.so is not loaded, so no call was looked "
                         "at. Start the program with dyngrid run --calls.\n");
  if (Application::instance().was_called()) return;
  if (calls::were_none_seen())
    std::fprintf(stderr, "dyngrid: no call of the routines in DYNGRID_CALLS was seen: %s\n",
                 why_nothing_is_called().c_str());
  if (processes.is_known()) return;
  for (const std::string& what : control::trouble_with(control::whole_environment()))
    std::fprintf(stderr, "dyngrid: %s\n", what.c_str());
  if (is_verbose() && !base::was_replaced_called && !calls::were_none_seen())
    std::fprintf(stderr,
                 "dyngrid: libdyngrid.so is loaded for ScaLAPACK's routines, and none of its routines was called: %s\n",
                 why_nothing_is_called().c_str());
  for (const char* name : {"DYNGRID_RESIZE_AT", "DYNGRID_GRID", "DYNGRID_RESTORE"}) {
    if (!std::getenv(name) || !*std::getenv(name)) continue;
    std::fprintf(stderr,
                 "dyngrid: %s is set, but the program never called dyngrid_init, so that its grid cannot be changed: "
                 "it needs resize points (dyngrid(7))\n",
                 name);
    return;
  }
}

Application& Application::instance() {
  // never destroyed: a program may end it last of all, in an atexit handler or the destructor of a global
  static auto* const application = new Application;
  return *application;
}

Application::Application() {
  calls::belong_to(processes, control);
  grid.on_close = [this] {
    phases.grid_changes();
    copier.close();
    borders.close();
    relayout.forget();
  };
}

/// Brings MPI up if need be and finds out what this process is: started by mpirun, or spawned by an application of
/// ours.
/// first: the processes that begin the application.
void Application::start(Mode mode_of_unit0, MPI_Comm first) {
  pid_ = getpid();
  hide_stock_program();
  start_mpi();
  if (const std::string why = trouble_with_integers(); !why.empty())
    throw Error(Status::unsupported, "blacs-dyn: " + why);
  // MPI_COMM_WORLD is the group that this process was started in. Processes duplicates it; what else asks for it wants
  // MPI_UNIVERSE_SIZE, or to abort
  const char* newcomer = environment("DYNGRID_NEWCOMER");
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  const LauncherKind own_way = way_of_this_process();
  const bool was_spawned = own_way == LauncherKind::background || parent != MPI_COMM_NULL;
  const bool is_ours = newcomer && (own_way == LauncherKind::join || was_spawned);
  processes.while_asleep = [this] { balancing.while_asleep(); };
  processes.start(is_ours ? MPI_COMM_WORLD : first, is_ours, was_spawned,
                  make_launcher(is_ours ? own_way : LauncherKind::blocking, loss_text()));
  processes.set_mode(processes.is_newcomer()
                         ? (std::string_view(newcomer) == "classical" ? Mode::classical : Mode::managed)
                         : mode_of_unit0);
  if (const char* entry = environment("DYNGRID_ENTRY"); entry && processes.is_newcomer())
    program_position.set_entry_point(entry);
  pool(); // before its variable goes
  for (const char* name : {"DYNGRID_ENTRY", "DYNGRID_NEWCOMER", "DYNGRID_JOIN", "DYNGRID_MEET", "DYNGRID_POOL"})
    unsetenv(name);
  int key = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_hook, &key, nullptr), "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  MPI_Comm_free_keyval(&key);
  if (processes.is_newcomer() && !processes.arrive()) end_unneeded();
  if (!processes.is_newcomer()) return read_environment();
  settings.is_verbose = is_switched_on("DYNGRID_VERBOSE", false);
  // mpirun passes signals on to it before it receives the others' settings
  const auto signal = base::environment("DYNGRID_CHECKPOINT", "signal");
  settings.checkpoint_signal = !signal ? 0 : *signal == "TERM" ? SIGTERM : SIGUSR1;
  checkpoints.heed_signal();
}

/// A new process that was called off while it started: to the program nothing has gone wrong, and there is nothing that
/// it could do.
void Application::end_unneeded() {
  linger_prepare();
  MPI_Finalize(); // which ends what is ours
  linger_wait();
  std::fflush(nullptr);
  _exit(0);
}

void Application::start_mpi() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized || is_finished_)
    throw Error(Status::bad_state, "blacs-dyn: dyngrid cannot be started again after it, or MPI, was finalized");
  if (initialized) return;
  // a grid that grows may soon have more processes than cores, and Open MPI decides at MPI_Init whether a waiting
  // process gives its core away
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  check_mpi(MPI_Init(nullptr, nullptr), "MPI_Init");
  we_started_mpi_ = true;
}

/// Collective over group 0.
void Application::read_environment() {
  if (processes.id() == 0 && !environment("DYNGRID_CHECKED"))
    for (const std::string& remark : control::remarks_on_environment())
      std::fprintf(stderr, "dyngrid: %s\n", remark.c_str());
  Packet packet;
  together(processes.world(), [&] { settings = Settings::from_environment(settings.pool); });
  packet.put(settings); // rank 0's word counts, so that all decide alike
  broadcast(packet.bytes(), 0, processes.world());
  packet.get(settings); // what is of this process alone stays
  checkpoints.heed_signal();
  // rank 0's of both, too: a script may lie between mpirun and some of the processes, and hide its options from them
  settings.known_cores = value_of_root(hosts.find(processes.world(), settings.group_policy), 0, processes.world());
  const LauncherKind way = value_of_root(first_way(), 0, processes.world());
  if (never_by(way).empty()) use(way); // else no growth
}

/// The way that is asked for, or MPI_Comm_spawn where the application cannot compute on while processes come.
LauncherKind Application::first_way() const {
  if (settings.way != LauncherKind::background) return settings.way;
  const std::string trouble = trouble_with(settings.way, hosts.are_several(), settings.known_cores > 0);
  if (trouble.empty() && (settings.is_way_asked_for || is_open_mpi())) return settings.way;
  if (settings.is_way_asked_for && processes.id() == 0)
    std::fprintf(stderr, "dyngrid: %s; DYNGRID_PROCESSES is blocking\n", trouble.c_str());
  return LauncherKind::blocking;
}

const std::string& Application::pool() {
  const char* pool_of_newcomer = environment("DYNGRID_NEWCOMER") ? environment("DYNGRID_POOL") : nullptr;
  if (pool_of_newcomer) settings.pool = pool_of_newcomer;
  return settings.pool;
}

/// The message when a group that holds part of the matrices ends.
LossText Application::loss_text() const {
  return [this] {
    if (settings.checkpoint.empty()) return std::string("; there is no checkpoint");
    if (access(settings.checkpoint.c_str(), R_OK) != 0) return std::string("; no checkpoint was written yet");
    return fmt::format("; to go on from the last checkpoint: dyngrid restart {}", settings.checkpoint);
  };
}

void Application::use(LauncherKind way) {
  const MPI_Comm comm = grid.has_me() ? grid.comm() : processes.world();
  together(comm, [&] {
    if (processes.has_grown() || changes.awaits_newcomers())
      throw Error(Status::bad_state,
                  "blacs-dyn: new processes were started in the way \"{}\" already, and all must start in the same "
                  "way; choose another way before the first growth",
                  to_string(settings.way));
    if (grid.has_me() && !processes.process_set().all_parked().empty())
      throw Error(Status::bad_state,
                  "blacs-dyn: {} process(es) outside the grid do not receive the new way to start processes; expected "
                  "a grid of all processes, or DYNGRID_PROCESSES={} in the environment",
                  processes.process_set().all_parked().size(), to_string(way));
    if (const std::string why = trouble_with(way, hosts.are_several(), settings.known_cores > 0); !why.empty())
      throw Error(Status::unsupported, "blacs-dyn: {}{}", why,
                  way == LauncherKind::background ? "; take DYNGRID_BLOCKING" : "");
    processes.set_launcher(make_launcher(way, loss_text()));
  });
  settings.way = way;
  settings.group_policy.one_owner = way == LauncherKind::join || starts_all_by_process_0();
  settings.group_policy.warm = way == LauncherKind::background ? settings.warm : 0;
  if (settings.warm > 0 && way != LauncherKind::background && processes.id() == 0)
    std::fprintf(stderr,
                 "dyngrid: no spare processes are started (`DYNGRID_START=warm`): the launcher is %s, and only the "
                 "launcher background has spare processes\n",
                 to_string(way));
}

/// Process 0 prints a failure, since not every program looks at the status. comm: of the processes that called.
void Application::print_failure(const char* routine, const Error& error, MPI_Comm comm) const {
  if (processes.is_known() ? processes.id() == 0 : is_first_of(comm))
    std::fprintf(stderr, "dyngrid: %s: %s\n", routine, error.what());
}

void Application::init(std::optional<Shape> first_grid) {
  was_called_ = true;
  try {
    begin(first_grid);
  } catch (const Error& error) {
    print_failure("dyngrid_init", error, MPI_COMM_WORLD);
    throw;
  }
}

void Application::init_on(MPI_Comm comm, const char* name) {
  was_called_ = true;
  try {
    refuse_second_init();
    if (pool().empty()) settings.pool = checked_pool(comm, name); // else a new process, which has both
    begin(std::nullopt, comm);
  } catch (const Error& error) {
    print_failure("dyngrid_init_on", error, comm);
    throw;
  }
}

void Application::refuse_second_init() const {
  if (!processes.is_started()) return;
  const bool is_pool = !settings.pool.empty();
  throw Error(Status::bad_state, "blacs-dyn: {} was called before{}", is_pool ? "dyngrid_init_on" : "dyngrid_init",
              is_pool ? " (pool " + settings.pool + "); a process is in one pool" : "");
}

void Application::begin(std::optional<Shape> first_grid, MPI_Comm first) {
  refuse_second_init();
  start(Mode::managed, first);
  has_begun_ = processes.is_newcomer();
  if (has_begun_) return;
  if (processes.id() == 0) {
    say_whose_copier();
    if (settings.is_verbose) std::fprintf(stderr, "dyngrid: %s\n", pblas::choice_in_words().c_str());
  }
  if (is_classical())
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_init in an application that grew by blacs_setup");
  Shape shape;
  together(processes.world(), [&] { shape = choose_first_grid(first_grid); });
  shape = value_of_root(shape, 0, processes.world());
  const bool is_in_grid =
      processes.form_first_grid(shape, hosts.of_ranks(), settings.group_policy) == Processes::Fate::stays;
  if (is_in_grid) {
    grid.tie();
    const int seen_before = grids_seen;
    grid.open_context();
    note_first_grid(seen_before);
  } else {
    grid.stay_outside();
  }
  together(processes.world(), [&] {
    if (processes.id() != 0) return; // all run the same program, and its file is read
    if (const std::string why = trouble_with_blacs(grid.context(), shape); !why.empty())
      throw Error(Status::unsupported, "blacs-dyn: " + why);
  });
  if (is_in_grid) checkpoints.begin();
  open_control(shape);
  has_begun_ = true;
}

/// The environment's, else the program's, else the most square one.
Shape Application::choose_first_grid(std::optional<Shape> first_grid) const {
  int nprocs = 0;
  MPI_Comm_size(processes.world(), &nprocs);
  const char* text = environment("DYNGRID_GRID");
  if (settings.spare >= nprocs)
    throw Error(Status::bad_argument,
                "blacs-dyn: DYNGRID_SPARE is {}, but {} process(es) were started; expected one more at least",
                settings.spare, nprocs);
  const Shape shape = text         ? base::parse_grid_shape(text, "blacs-dyn: DYNGRID_GRID")
                      : first_grid ? *first_grid
                                   : squarest(nprocs - settings.spare);
  base::check_grid_shape(shape, "blacs-dyn: dyngrid_init_grid");
  if (std::int64_t{shape.nprow} * shape.npcol > nprocs)
    throw Error(Status::no_slots, "blacs-dyn: first grid is {}, which needs {} processes, but {} were started",
                to_string(shape), std::int64_t{shape.nprow} * shape.npcol, nprocs);
  return shape;
}

/// Process 0 lives as long as the application, so it is the one that answers for it.
void Application::open_control(Shape first_grid) {
  if (processes.id() == 0)
    control = std::make_unique<Control>(
        settings, first_grid, is_classical() ? "this application changes its grid itself, by blacs_setup" : "");
  balancing.set_mode(settings.balance);
  if (control) control->know(processes);
}

void Application::require_begun(const char* routine) const {
  if (!is_active() || is_classical() || !has_begun_)
    throw Error(Status::bad_state, "blacs-dyn: {} {}", routine,
                is_active() && was_called_ && !has_begun_
                    ? "after a dyngrid_init that failed"
                    : "without dyngrid_init before it, or after dyngrid_finalize");
  if (processes.has_left())
    throw Error(Status::bad_state, "blacs-dyn: {} on a process that has left the application", routine);
}

void Application::finalize() {
  if (!is_active())
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_finalize without dyngrid_init before it, or called twice");
  if (is_fork())
    throw Error(
        Status::bad_state,
        fmt::format("blacs-dyn: dyngrid_finalize in a fork of process {}, expected it there alone: end the fork "
                    "by _exit",
                    pid_));
  registered.routines.refuse_inside("dyngrid_finalize");
  drop_everything();
  if (processes.was_spawned()) linger_prepare();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!we_started_mpi_ || finalized) return; // the caller of MPI_Init calls MPI_Finalize; linger_wait comes at exit
  MPI_Finalize();
  linger_wait();
}

bool Application::is_fork() const {
  return getpid() != pid_;
}

/// Ends processes, contexts and communicators, so that none of ours is left at MPI_Finalize.
void Application::drop_everything() {
  if (processes.id() == 0 && !is_classical() && settings.points == 0 && !settings.requests.empty())
    std::fputs(
        "dyngrid: DYNGRID_RESIZE_AT is set, but the program never came to a resize point: its grid was not changed\n",
        stderr);
  if (checkpoints.must_restore())
    checkpoints.end_without_restore("the program ends without a resize point or dyngrid_restore");
  if (control) control->hang_up(); // clients that wait for an answer are informed that the application ended
  points.end();
  control.reset();
  if (processes.is_newcomer())
    processes.decline();
  else if (grid.is_still_outside())
    changes.sleep_until_needed();
  balancing.end();
  if (processes.is_member()) processes.meet_at_end();
  grid.close_contexts(MPI_COMM_NULL, {}, "dyngrid_finalize");
  if (processes.is_member()) processes.finish();
  is_finished_ = true;
  phases.clear();
  borders.clear();
  registered.clear();
  processes.close();
}

void Application::at_mpi_finalize() {
  if (!processes.is_started() || is_fork()) return;
  try {
    if (!is_finished_) drop_everything();
    contexts::close_rest();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dyngrid: at MPI_Finalize: %s\n", error.what());
  }
  if (processes.was_spawned()) linger_prepare();
}

} // namespace blacs_dyn
