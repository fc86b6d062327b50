// SPDX-License-Identifier: BSD-3-Clause
// The beginning and the end of an application's use of dyngrid, and what it holds in between. Changes of the grid:
// changes.cpp; the classical way: classical.cpp.
#include "session.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <unistd.h>

#include <fmt/format.h>

#include "contexts.hpp"
#include "control/variables.hpp"
#include "launchers/linger.hpp"
#include "preflight.hpp"
#include "redist/gemr2d.hpp"

extern "C" {
int Csys2blacs_handle(MPI_Comm comm);
void Cblacs_gridinit(int* context, const char* order, int nprow, int npcol);
}

namespace blacs_dyn {

using base::Error;
using base::Status;

namespace {

int finalize_hook(MPI_Comm, int, void*, void*) {
  Session::instance().at_mpi_finalize();
  return MPI_SUCCESS;
}

} // namespace

/// At the end of a process that loaded this library, by preload or by its link line, and that never began to use it:
/// what the user asked for did not happen.
[[gnu::destructor]] void tell_what_was_vain() {
  const Processes& processes = Session::instance().processes();
  const char* rank =
      environment("OMPI_COMM_WORLD_RANK") ? environment("OMPI_COMM_WORLD_RANK") : environment("PMI_RANK");
  int was_mpi_used = 0;
  if (processes.is_known() || !rank || std::string_view(rank) != "0") return;
  MPI_Initialized(&was_mpi_used);
  if (!was_mpi_used) return;
  for (const char* name : {"DYNGRID_RESIZE_AT", "DYNGRID_GRID", "DYNGRID_RESTORE"}) {
    if (!std::getenv(name) || !*std::getenv(name)) continue;
    std::fprintf(stderr,
                 "dyngrid: %s is set, but the program never called dyngrid_init, so that its grid cannot be changed: "
                 "it needs resize points (dyngrid(7))\n",
                 name);
    return;
  }
}

Session& Session::instance() {
  static Session session;
  return session;
}

// ---- beginning and end
// ----------------------------------------------------------------------------------------------------

/// Brings MPI up if need be and finds out what this process is: started by mpirun, or spawned by an application of
/// ours.
void Session::start(Mode mode_of_unit0) {
  hide_stock_program();
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized || is_finished_)
    throw Error(Status::bad_state, "blacs-dyn: dyngrid cannot be started again after it, or MPI, was finalized");
  if (!initialized) {
    // a grid that grows may soon have more processes than cores, and Open MPI decides at MPI_Init whether a waiting
    // process gives its core away
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    check_mpi(MPI_Init(nullptr, nullptr), "MPI_Init");
    we_started_mpi_ = true;
  }
  // MPI_COMM_WORLD is the unit that this process was started in; after this line nobody uses it
  const char* newcomer = environment("DYNGRID_NEWCOMER");
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  const bool is_ours = newcomer && (was_sent_for() || parent != MPI_COMM_NULL);
  processes_.start(MPI_COMM_WORLD, is_ours,
                   is_ours && was_sent_for() ? make_join_launcher(loss_text()) : make_spawn_launcher());
  processes_.set_mode(processes_.is_newcomer()
                          ? (std::string_view(newcomer) == "classical" ? Mode::classical : Mode::managed)
                          : mode_of_unit0);
  if (const char* entry = environment("DYNGRID_ENTRY"); entry && processes_.is_newcomer()) entry_point_ = entry;
  unsetenv("DYNGRID_ENTRY");
  unsetenv("DYNGRID_NEWCOMER");
  unsetenv("DYNGRID_JOIN");
  int key = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_hook, &key, nullptr), "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  MPI_Comm_free_keyval(&key);
  if (!processes_.is_newcomer()) {
    if (processes_.id() == 0 && !environment("DYNGRID_CHECKED"))
      for (const std::string& remark : control::remarks_on_environment())
        std::fprintf(stderr, "dyngrid: %s\n", remark.c_str());
    Packet packet;
    together(processes_.world(), [&] { settings_ = Settings::from_environment(); });
    settings_.write(packet); // rank 0's word counts, so that all decide alike
    broadcast(packet.bytes(), 0, processes_.world());
    settings_.read(packet);
    find_hosts();
    if (settings_.way == Way::join) use(Way::join);
  } else {
    settings_.is_verbose = is_switched_on("DYNGRID_VERBOSE", false);
  }
}

/// What is said when a unit that holds part of the matrices ends.
LossText Session::loss_text() const {
  LossText text;
  text.where_to_go_on = [this] {
    if (settings_.checkpoint.empty()) return std::string("; there is no checkpoint");
    return access(settings_.checkpoint.c_str(), R_OK) == 0
               ? fmt::format("; to go on from the last checkpoint: dyngrid restart {}", settings_.checkpoint)
               : std::string("; no checkpoint was written yet");
  };
  return text;
}

/// From here on new processes come that way. Collective over unit 0 or the grid. @throws agreed Error{bad_state,
/// unsupported}
void Session::use(Way way) {
  const MPI_Comm comm = processes_.grid() != MPI_COMM_NULL ? processes_.grid() : processes_.world();
  together(comm, [&] {
    if (processes_.has_grown() || pending_)
      throw Error(
          Status::bad_state,
          fmt::format("blacs-dyn: new processes came by {} already, and those of two ways do not know each other",
                      to_string(settings_.way)));
    if (way == Way::join && hosts_of_unit0_ > 1)
      throw Error(Status::unsupported, fmt::format("blacs-dyn: new processes are to join, but mpirun started the "
                                                   "application on {} hosts; the join way wants every mpirun "
                                                   "on one host: start on one and let the others join",
                                                   hosts_of_unit0_));
    processes_.set_launcher(way == Way::join ? make_join_launcher(loss_text()) : make_spawn_launcher());
  });
  settings_.way = way;
  settings_.unit_policy.one_owner = way == Way::join;
}

void Session::set_processes(int way) {
  require_grid("dyngrid_set_processes");
  if (processes_.grid() == MPI_COMM_NULL)
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_set_processes before this process's first resize point");
  together(processes_.grid(), [&] {
    if (way != DYNGRID_SPAWN && way != DYNGRID_JOIN)
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_set_processes: way is {}, wanted {} or {}", way,
                                                    DYNGRID_SPAWN, DYNGRID_JOIN));
  });
  check_same(processes_.grid(), way, "blacs-dyn: dyngrid_set_processes: way differs between the processes");
  if (static_cast<Way>(way) != settings_.way) use(static_cast<Way>(way));
}

/// Where mpirun started what. On several hosts every unit gets one of them, since children of one spawn must not span
/// hosts. Collective over unit 0.
void Session::find_hosts() {
  char mine[256] = "";
  gethostname(mine, sizeof mine - 1);
  int size = 0;
  MPI_Comm_size(processes_.world(), &size);
  std::vector<char> all(sizeof mine * static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(mine, sizeof mine, MPI_CHAR, all.data(), sizeof mine, MPI_CHAR, processes_.world()),
            "MPI_Allgather");
  const int my_cores = control::usable_cores();
  std::vector<int> cores(static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(&my_cores, 1, MPI_INT, cores.data(), 1, MPI_INT, processes_.world()), "MPI_Allgather");
  std::vector<std::string> hosts;
  std::map<std::string, int> started;
  for (int r = 0; r < size; ++r) {
    const std::string host = all.data() + sizeof mine * static_cast<std::size_t>(r);
    if (started[host]++ == 0) hosts.push_back(host);
    cores_.emplace(host, cores[static_cast<std::size_t>(r)]);
  }
  hosts_of_unit0_ = static_cast<int>(hosts.size());
  if (settings_.unit_policy.hosts.empty() && hosts.size() > 1) {
    settings_.unit_policy.hosts = hosts;
    settings_.unit_policy.slots.assign(hosts.size(), 0);
  }
  for (const std::string& host : settings_.unit_policy.hosts)
    settings_.unit_policy.started.push_back(started.count(host) ? started[host] : 0);
  const std::vector<std::string>& may_come = settings_.unit_policy.hosts;
  const bool all_known = may_come.empty() ? !has_other_hosts(hosts)
                                          : std::all_of(may_come.begin(), may_come.end(),
                                                        [&](const auto& host) { return cores_.count(host) > 0; });
  settings_.known_cores = 0;
  for (const auto& [host, count] : cores_) settings_.known_cores += all_known ? count : 0;
}

/// Process 0 tells of a failure, since not every program looks at the status.
void Session::init(std::optional<Shape> first_grid) {
  try {
    begin(first_grid);
  } catch (const Error& error) {
    if (processes_.id() == 0) std::fprintf(stderr, "dyngrid: dyngrid_init: %s\n", error.what());
    throw;
  }
}

void Session::begin(std::optional<Shape> first_grid) {
  if (processes_.is_started()) throw Error(Status::bad_state, "blacs-dyn: dyngrid_init was called before");
  start(Mode::managed);
  if (processes_.is_newcomer()) return;
  if (processes_.mode() != Mode::managed)
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_init in an application that grew by blacs_setup");
  Shape shape;
  together(processes_.world(), [&] {
    int nprocs = 0;
    MPI_Comm_size(processes_.world(), &nprocs);
    const char* text = environment("DYNGRID_GRID");
    if (settings_.spare >= nprocs)
      throw Error(
          Status::bad_argument,
          fmt::format("blacs-dyn: DYNGRID_SPARE is {}, but {} process(es) were started; wanted one more at least",
                      settings_.spare, nprocs));
    shape = text         ? base::parse_grid_shape(text, "blacs-dyn: DYNGRID_GRID")
            : first_grid ? *first_grid
                         : squarest(nprocs - settings_.spare);
    base::check_grid_shape(shape, "blacs-dyn: dyngrid_init_grid");
    if (std::int64_t{shape.nprow} * shape.npcol > nprocs)
      throw Error(Status::no_slots,
                  fmt::format("blacs-dyn: first grid is {}, which needs {} processes, but {} were started",
                              to_string(shape), std::int64_t{shape.nprow} * shape.npcol, nprocs));
  });
  Packet packet;
  packet.put(shape);
  broadcast(packet.bytes(), 0, processes_.world());
  shape = Packet(packet.bytes()).get<Shape>();
  if (processes_.form_first_grid(shape) == Processes::Fate::stays) {
    tie_grid();
    open_context();
    must_restore_ = !settings_.restore.empty();
    last_checkpoint_s_ = MPI_Wtime();
  } else {
    sleeps_at_first_point_ = true;
  }
  open_job(shape);
}

/// Process 0 is in every grid and lives as long as the application, so it is the one that answers for it.
void Session::open_job(Shape first_grid) {
  if (processes_.id() == 0)
    job_ = std::make_unique<Job>(settings_, first_grid,
                                 is_classical() ? "this application changes its grid itself, by blacs_setup" : "");
}

void Session::finalize() {
  if (!is_active())
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_finalize without dyngrid_init before it, or called twice");
  refuse_inside("dyngrid_finalize");
  drop_everything();
  if (processes_.was_spawned()) linger_prepare();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!we_started_mpi_ || finalized) return; // who called MPI_Init calls MPI_Finalize; linger_wait comes at exit
  MPI_Finalize();
  linger_wait();
}

/// Ends processes, contexts and communicators, so that MPI_Finalize finds nothing of ours.
void Session::drop_everything() {
  if (processes_.id() == 0 && !is_classical() && settings_.points == 0 && !settings_.requests.empty())
    std::fputs(
        "dyngrid: DYNGRID_RESIZE_AT is set, but the program never came to a resize point: its grid was not changed\n",
        stderr);
  if (must_restore_) end_without_restore("the program ends without a resize point or dyngrid_restore");
  job_.reset();
  if (pending_) call_off_pending("the application ends");
  place_ = Place(Place::Kind::end);
  if (led_) go_on_where_led(); // which ends the others' waiting: they do not meet this process here
  if (processes_.is_newcomer())
    processes_.decline();
  else if (sleeps_at_first_point_)
    sleep_until_needed();
  copier_.close();
  close_contexts(nullptr);
  if (processes_.is_member()) processes_.finish();
  is_finished_ = true;
  holdings_.clear();
  change_routines_.clear();
  processes_.close();
}

void Session::at_mpi_finalize() {
  if (!processes_.is_started()) return;
  try {
    if (!is_finished_) drop_everything();
    contexts::close_rest();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dyngrid: at MPI_Finalize: %s\n", error.what());
  }
  if (processes_.was_spawned()) linger_prepare();
}

// ---- contexts
// -------------------------------------------------------------------------------------------------------------

int Session::system_handle() {
  if (system_handle_ < 0) {
    system_handle_ = Csys2blacs_handle(processes_.grid());
  }
  return system_handle_;
}

int Session::fortran_handle() {
  return MPI_Comm_c2f(processes_.grid());
}

void Session::rank_and_size(int* iam, int* nprocs) const {
  const MPI_Comm grid = processes_.grid();
  if (grid == MPI_COMM_NULL) {
    *iam = -1;
    *nprocs = 0;
    return;
  }
  MPI_Comm_rank(grid, iam);
  MPI_Comm_size(grid, nprocs);
}

void Session::forget_contexts() {
  context_ = -1;
  system_handle_ = -1;
  holdings_.set_context(-1);
  redist::forget_all_contexts();
}

void Session::close_contexts(const Processes::Union* change) {
  forget_contexts();
  MPI_Group world = MPI_GROUP_NULL, gathered = MPI_GROUP_NULL, staying = MPI_GROUP_EMPTY;
  check_mpi(MPI_Comm_group(processes_.world(), &world), "MPI_Comm_group");
  if (change) {
    const std::vector<int> order = union_order(change->before, change->change);
    std::vector<int> ranks;
    for (const int id : change->change.to.ids)
      ranks.push_back(static_cast<int>(std::find(order.begin(), order.end(), id) - order.begin()));
    check_mpi(MPI_Comm_group(change->comm.get(), &gathered), "MPI_Comm_group");
    check_mpi(MPI_Group_incl(gathered, static_cast<int>(ranks.size()), ranks.data(), &staying), "MPI_Group_incl");
  }
  contexts::close_ours(staying, world);
  MPI_Group_free(&world);
  if (!change) return;
  MPI_Group_free(&gathered);
  MPI_Group_free(&staying);
}

void Session::close_all_contexts() {
  forget_contexts();
  contexts::close_all(1);
}

void Session::open_context() {
  const Shape shape = processes_.roster().grid.shape;
  context_ = system_handle();
  Cblacs_gridinit(&context_, "Row", shape.nprow, shape.npcol);
  holdings_.set_context(context_);
}

// ---- matrices and shared state
// ----------------------------------------------------------------------------------------------

void Session::require_grid(const char* what) const {
  if (!is_active() || is_classical())
    throw Error(Status::bad_state,
                fmt::format("blacs-dyn: {} without dyngrid_init before it, or after dyngrid_finalize", what));
  if (processes_.has_left())
    throw Error(Status::bad_state, fmt::format("blacs-dyn: {} on a process that has left the application", what));
}

/// What cannot be done inside a routine of dyngrid_on_change, or only not before the change.
void Session::refuse_inside(const char* what, bool only_before) const {
  if (inside_ == Inside::before || (inside_ == Inside::after && !only_before))
    throw Error(Status::bad_state,
                fmt::format("blacs-dyn: {} inside a routine that dyngrid_on_change calls {} a change", what,
                            inside_ == Inside::before ? "before" : "after"));
}

Matrix* Session::create_matrix(const char* name, char type, AxisRule rows, AxisRule cols, bool has_handle) {
  require_grid("dyngrid_matrix_create");
  refuse_inside("dyngrid_matrix_create", true);
  return holdings_.create(name, type, rows, cols, has_handle,
                          {processes_.grid(), processes_.roster().grid.shape, context_});
}

void Session::free_matrix(Matrix* matrix) {
  require_grid("dyngrid_matrix_free");
  refuse_inside("dyngrid_matrix_free", true);
  holdings_.free(matrix);
}

void Session::copy(const Matrix* from, Matrix* to) {
  require_grid("dyngrid_copy");
  if (processes_.grid() == MPI_COMM_NULL)
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_copy before the first resize point of a new process: its "
                                   "matrices have no content yet");
  std::int64_t print = 0;
  together(processes_.grid(), [&] { print = holdings_.check_copy(from, to); });
  check_same(processes_.grid(), print,
             "blacs-dyn: dyngrid_copy: called with different matrices on different processes");
  const Holdings::Site site{processes_.grid(), processes_.roster().grid.shape, context_};
  if (from != to) copier_.copy(*from, *to, site, holdings_.revision());
}

void Session::share(const char* name, void* data, std::size_t bytes) {
  require_grid("dyngrid_share");
  refuse_inside("dyngrid_share", true);
  holdings_.share(name, data, bytes, processes_.grid());
}

void Session::unshare(const char* name) {
  require_grid("dyngrid_unshare");
  refuse_inside("dyngrid_unshare", true);
  holdings_.unshare(name);
}

void Session::request(Shape to) {
  require_grid("dyngrid_request");
  base::check_grid_shape(to, "blacs-dyn: dyngrid_request");
  requested_ = to;
}

void Session::allow(const char* text) {
  require_grid("dyngrid_allow");
  if (!text) throw Error(Status::null_pointer, "blacs-dyn: dyngrid_allow: the text is null");
  const control::Allowed allowed = control::Allowed::parse(text);
  if (job_ && settings_.allowed.text().empty())
    job_->state().set_allowed(allowed); // the environment goes before what the program says
}

void Session::set_steps(std::int64_t steps) {
  require_grid("dyngrid_set_steps");
  if (steps < 0)
    throw Error(Status::bad_argument,
                fmt::format("blacs-dyn: dyngrid_set_steps: steps is {}, wanted 0 (not known) or more", steps));
  if (job_ && settings_.steps == 0) job_->state().set_steps(steps);
}

void Session::experiment(const char* text) {
  require_grid("dyngrid_experiment");
  if (!text) throw Error(Status::null_pointer, "blacs-dyn: dyngrid_experiment: the text is null");
  const control::Experiment wanted = control::Experiment::parse(text, "dyngrid_experiment");
  if (job_ && !settings_.experiment) job_->state().set_experiment(wanted);
}

void Session::set_placement(gridmap::Placement placement) {
  require_grid("dyngrid_set_placement");
  const auto check = [&] {
    const auto number = static_cast<int>(placement);
    if (number < DYNGRID_OPTIMAL || number > DYNGRID_LOCAL2)
      throw Error(Status::bad_argument,
                  fmt::format("blacs-dyn: dyngrid_set_placement: placement is {}, wanted {} .. {}", number,
                              DYNGRID_OPTIMAL, DYNGRID_LOCAL2));
  };
  if (processes_.grid() == MPI_COMM_NULL)
    check();
  else {
    together(processes_.grid(), check);
    check_same(processes_.grid(), static_cast<int>(placement),
               "blacs-dyn: dyngrid_set_placement: placement differs between the processes");
  }
  settings_.placement = placement;
}

void Session::set_schedule(int schedule) {
  require_grid("dyngrid_set_schedule");
  const auto check = [&] {
    if (schedule < static_cast<int>(redist::Schedule::automatic) ||
        schedule > static_cast<int>(redist::Schedule::async))
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_set_schedule: schedule is {}, wanted {} .. {}",
                                                    schedule, static_cast<int>(redist::Schedule::automatic),
                                                    static_cast<int>(redist::Schedule::async)));
  };
  if (processes_.grid() == MPI_COMM_NULL)
    check();
  else {
    together(processes_.grid(), check);
    check_same(processes_.grid(), schedule, "blacs-dyn: dyngrid_set_schedule: schedule differs between the processes");
  }
  settings_.exchange_order = static_cast<redist::Schedule>(schedule);
}

} // namespace blacs_dyn
