// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "advise/calls.hpp"
#include "base/command_line.hpp"
#include "base/environment.hpp"
#include "base/grid_shape.hpp"
#include "base/process.hpp"
#include "base/status.hpp"
#include "command.hpp"
#include "control/balance_mode.hpp"
#include "control/variables.hpp"
#include "gridmap/placement.hpp"
#include "gridmap/timetable.hpp"
#include "redist/schedule.hpp"
#include "run_options.hpp"
#include "shared/launch.hpp"
#include "shared/text.hpp"
#include "shared/transport.hpp"

namespace command {
namespace {

/// DYNGRID_CALLS, as the program receives it, names calls to examine.
bool are_calls_looked_at(const RunOptions& o) {
  const char* set = base::environment("DYNGRID_CALLS");
  const std::string calls = o.request.calls.empty() && set != nullptr ? set : o.request.calls;
  return !calls.empty() && calls != "off";
}

/// The notice of a preload that takes no routine, for a user who wants details; else empty.
std::string notice_of_idle_preload(const RunOptions& o) {
  const bool is_preloaded = o.preload || are_calls_looked_at(o);
  if (!is_preloaded || (!o.request.is_verbose && o.request.calls.empty()) || o.request.program.empty()) return {};
  try {
    return idle_preload(look_at_program(o.request.program[0]));
  } catch (const Failure&) { // mpirun reports what is wrong with it
    return {};
  }
}

} // namespace

void run_application(const RunOptions& o) {
  for (const std::string& remark : control::remarks_on_environment()) fmt::print(stderr, "dyngrid run: {}\n", remark);
  setenv("DYNGRID_CHECKED", "1", 1); // dyngrid_init must not report it again
  RunRequest request = o.request;
  try {
    gridmap::parse_timetable(request.resize_at, "--resize-at");
    advise::parse_call_rules(request.calls, "--calls");
  } catch (const base::Error& error) {
    throw Failure(error.what());
  }
  if (are_calls_looked_at(o))
    request.preload = calls_libraries();
  else if (o.preload)
    request.preload = own_library();
  Site site = look_around(o.mpirun);
  if (site.mpi == Mpi::unknown)
    throw Failure(
        fmt::format("{} is neither Open MPI's nor MPICH's; run it by hand, with libdyngrid.so before ScaLAPACK",
                    site.mpirun),
        1);
  if (site.mpi != (std::string(DYNGRID_MPI) == "MPICH" ? Mpi::mpich : Mpi::open_mpi))
    throw Failure(
        fmt::format(
            "{} is not of {}, which this dyngrid and its applications are built for; give the right one by --mpirun",
            site.mpirun, DYNGRID_MPI),
        1);
  look_at_transports(request, site, o.dry_run ? UcxTrial::never : UcxTrial::where_unknown);
  if (request.processes_come == "join" && site.mpi == Mpi::open_mpi) {
    request.ompi_server = "URI"; // first all checks
    plan_launch(request, site);
    request.ompi_server = o.dry_run ? "file:FILE" : start_ompi_server();
  }
  const Launch launch = plan_launch(request, site);
  if (o.explain) {
    for (const Setting& s : launch.environment) fmt::print(stderr, "dyngrid run: {}={}: {}\n", s.name, s.value, s.why);
    for (const std::string& remark : launch.remarks) fmt::print(stderr, "dyngrid run: {}\n", remark);
  }
  const bool shows_transport = request.is_verbose || is_trial_open(request, site);
  if (shows_transport && !o.explain && !launch.transport.empty())
    fmt::print(stderr, "dyngrid run: {}\n", launch.transport);
  if (!o.dry_run && !o.explain)
    for (const std::string& notice : launch.notices) fmt::print(stderr, "dyngrid run: {}\n", notice);
  if (const std::string notice = notice_of_idle_preload(o); !notice.empty())
    fmt::print(stderr, "dyngrid run: {}\n", notice);
  if (o.dry_run) {
    if (!request.ompi_server.empty()) fmt::print("ompi-server --no-daemonize -r FILE &\n");
    fmt::print("{}\n", shell_line(launch));
    return;
  }
  std::fflush(stdout);
  if (const auto saves_at = base::environment("DYNGRID_CHECKPOINT", "signal"))
    std::exit(run_with_signals(launch, *saves_at == "TERM"));
  become(launch);
}

namespace {

/// Processes and grids, and when they change.
void add_grid_options(CommandLine& app, RunRequest& r) {
  app.add_option("-n,--np", r.processes, "processes to start with; default: as many as --grid has. Also -np")
      .type_name("N")
      .check(base::in_range(1, static_cast<int>(base::max_processes)));
  app.add_option(
         "--spare", r.spare,
         "N more processes, which sleep until a grid needs them (DYNGRID_SPARE), where they cannot be started later "
         "or only slowly; default: 0, or, where this MPI cannot start processes later (MPICH before 4.3; Open MPI 5 on "
         "several hosts), as many as --resize-at needs or --hosts has slots")
      .type_name("N")
      .check(base::in_range(0, 1 << 20));
  app.add_option("--warm", r.warm,
                 "N spare processes are started in advance and sleep until a growth takes them, one by one or as "
                 "--unit says; others take their place (DYNGRID_START=warm). For --processes background")
      .type_name("N")
      .check(base::in_range(0, 1 << 20));
  app.add_option("--keep", r.keep,
                 "how long processes that a smaller grid does not need sleep before they leave; a growth takes them "
                 "first (DYNGRID_START=keep)")
      .type_name("SECONDS");
  app.add_option("--grid", r.grid, "first grid (DYNGRID_GRID)").type_name("PxQ");
  app.add_option("--resize-at", r.resize_at, "changes before these resize points (DYNGRID_RESIZE_AT)")
      .type_name("STEP:PxQ,...");
  app.add_flag("--wait", r.waits,
               "resize points wait for the new processes that they start: the grid changes at exactly that step "
               "(DYNGRID_WAIT)");
  app.add_option("--placement", r.placement,
                 "positions of the old processes in a new grid (DYNGRID_EXCHANGE=placement=...)")
      .check(base::one_of(gridmap::placement_names()));
}

} // namespace

void add_run_options(CommandLine& app, RunOptions& o) {
  RunRequest& r = o.request;
  add_grid_options(app, r);
  app.add_option(
         "--transport", r.transport,
         "how messages travel between processes (OMPI_MCA_pml). ucx connects old and new processes of a host by shared "
         "memory, where ob1, Open MPI's usual choice, uses TCP between them. auto, the default: ucx where it works and "
         "no transport is chosen elsewhere (--verbose says why), else as Open MPI chooses")
      .check(base::one_of({"auto", "ob1", "ucx"}));
  app.add_option("--schedule", r.schedule, "order of the messages (DYNGRID_EXCHANGE=schedule=...)")
      .check(base::one_of(redist::schedule_names()));
  app.add_option("--processes", r.processes_come,
                 "how new processes start (DYNGRID_PROCESSES): background, blocking (MPI_Comm_spawn), or join: each "
                 "group by an mpirun of its own, which connects over an ompi-server that is started here and ends with "
                 "the application")
      .check(base::one_of({"background", "blocking", "join"}));
  app.add_option("--balance", r.balance,
                 "what is done about processes that get less of their processor than others (DYNGRID_BALANCE): off, "
                 "advise, auto")
      .check(base::one_of(control::balance_mode_names()));
  app.add_option(
         "--calls", r.calls,
         "calls of these routines of ScaLAPACK run where they are fastest (DYNGRID_CALLS): pdgetrf,pdpotrf=2x2/64, "
         "p?gemm, all; report only prints the possible gain. Preloads libdyngrid-calls.so, so that the program "
         "needs no change")
      .type_name("ROUTINE,...");
  app.add_option("--unit", r.group,
                 "processes of a group, which is released as a whole: auto, all or a number (DYNGRID_START=unit=...)");
  app.add_option("--hosts", r.hosts, "hosts to start on, with their slots; as mpirun's -H").type_name("HOST:SLOTS,...");
  app.add_flag("--preload", o.preload, "preload libdyngrid.so, for a program that was linked with ScaLAPACK alone");
  app.add_flag("--verbose", r.is_verbose, "a line on standard error for every change of the grid (DYNGRID_VERBOSE)");
  app.add_option("--mpirun", o.mpirun, "the launcher").type_name("PATH").show_default();
  app.add_option("--mpirun-option", r.mpirun_options, "a further argument of it; may be given several times")
      .type_name("WORD")
      .repeatable();
  app.add_flag("--dry-run", o.dry_run, "print the command line and start nothing; UCX is not tried either");
  app.add_flag("--explain", o.explain, "print on standard error why variables are set and processes added");
}

void add_run(CommandLine& root) {
  CommandLine& app = root.add_command("run", "Starts an application under mpirun, with what a growing grid needs");
  auto o = std::make_shared<RunOptions>();
  add_run_options(app, *o);
  app.add_option("program", o->request.program, "the application and its arguments, after --")
      .required()
      .type_name("-- PROGRAM ARGUMENTS");
  app.footer(
      "Becomes mpirun: signals, standard streams and the exit status are those of the application. What is set in the\n"
      "environment already stays as it is. Example:\n"
      "  dyngrid run -np 4 --grid 2x2 --resize-at 5:3x3,10:2x2 -- ./app --n 2000");
  app.action([o] { run_application(*o); });
}

} // namespace command
