// SPDX-License-Identifier: BSD-3-Clause
// dyngrid-sched: runs a queue of jobs on one machine or allocation, and resizes them while they run.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <signal.h>

#include "base/command_line.hpp"
#include "base/printable.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "control/limits.hpp"
#include "control/mpi_settings.hpp"
#include "control/runtime_dir.hpp"
#include "sched/daemon.hpp"

namespace {

std::atomic<bool> stopped{false};
std::atomic<int> passed_on{0}; ///< a signal to pass on to jobs
extern "C" void on_signal(int number) {
  if (number == SIGTERM || number == SIGUSR1) passed_on = number;
  if (number != SIGUSR1) stopped = true;
}

int stop(bool cancel) {
  std::printf("stopped; %d jobs %s\n", sched::shut_down(cancel), cancel ? "are asked to end" : "go on running");
  return 0;
}

int fail(const char* text, int status) {
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "dyngrid-sched: %s\n", base::printable(line).c_str());
  return status;
}

/// The command line's values.
struct Given {
  sched::DaemonOptions daemon;
  std::string hosts, share = "even";
  bool stops = false, cancels_jobs = false; ///< the running one, and its jobs

  Given() {
    daemon.launch.mpirun = DYNGRID_MPIRUN;
    daemon.launch.is_mpich = DYNGRID_IS_MPICH;
    if (daemon.launch.is_mpich) daemon.launch.mpirun_options.clear(); // it starts the number that is given
    daemon.procs = control::allowed_cores(control::CoresOf::caller);
  }
};

void add_options(base::CommandLine& cli, Given& given) {
  sched::DaemonOptions& o = given.daemon;
  cli.add_option("--procs", o.procs, "processors to give to jobs; by default those that this process may use")
      .check(base::in_range(1, 1 << 20))
      .show_default();
  cli.add_option("--hosts", given.hosts,
                 "their hosts instead, with their speeds where they differ: node1:8:1.4,node2:8 (the allocation; "
                 "DYNGRID_HOSTS of "
                 "the jobs)")
      .type_name("LIST");
  cli.add_option("--policy", o.policy, "ls lazy, as adaptive, rs reconfigurable, tp throughput, qos finish-by times")
      .check(base::one_of({"ls", "as", "rs", "tp", "qos"}))
      .show_default();
  cli.add_option("--share", given.share,
                 "processors left over go to all jobs (even), or to the first of the queue (first)")
      .check(base::one_of({"even", "first"}))
      .show_default();
  cli.add_flag("--payoff", o.policy_options.payoff,
               "rs: ask to grow only where the history shows that this saves time");
  cli.add_flag("--dictate", o.dictates,
               "choose the grids of jobs; otherwise they choose what to release, and what to take of an offer");
  cli.add_flag("--suspend", o.suspends,
               "stop a job that ignores a shrink beyond its deadline, until its processors are free again");
  cli.add_flag("--end-unresponsive", o.ends_unresponsive,
               "end a job that ignores a shrink beyond its deadline, as dyngrid cancel does");
  cli.add_option("--shell", o.shell,
                 "with --suspend and --hosts: the command that reaches a host; its name and a line follow")
      .type_name("WORDS")
      .show_default();
  cli.add_option("--folder", o.folder, "journal and output of jobs (default: dyngrid/sched in the user's state folder)")
      .type_name("PATH");
  cli.add_option("--deadline", o.deadline_s, "seconds a job has to answer a request")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--unresponsive", o.unresponsive_s, "seconds a job is left alone after it did not answer or declined")
      .check(base::non_negative_number())
      .show_default();
  cli.add_option("--mpirun", o.launch.mpirun, "the launcher of the jobs").show_default();
  cli.add_option(
         "--mpirun-options", [&o](const std::string& text) { o.launch.mpirun_options = base::words_in(text); },
         "its options, separated by blanks (default: --oversubscribe --bind-to none; no options with MPICH)")
      .type_name("TEXT");
  cli.add_flag("--other-host-ended", o.other_host_ended,
               "jobs that the journal has on another host have ended; otherwise it starts only there");
  cli.add_flag("--until-empty", o.until_empty, "end when no job is left, after the first has come");
  cli.add_flag("--verbose", o.is_verbose, "what happens, on stderr");
  cli.add_flag("--stop", given.stops, "stop the running scheduler; its jobs go on, and the next scheduler finds them");
  cli.add_flag("--cancel-jobs", given.cancels_jobs, "with --stop: end its jobs too");
}

/// @throws base::Error
sched::DaemonOptions options_of(const Given& given) {
  sched::DaemonOptions o = given.daemon;
  if (o.suspends && o.ends_unresponsive)
    throw base::Error(base::Status::bad_argument, "--suspend and --end-unresponsive are given, expected one of them: a "
                                                  "job that ignores a shrink is stopped, or ended");
  if (!given.hosts.empty()) {
    o.launch.hosts = sched::Hosts::parse(given.hosts);
    o.procs = o.launch.hosts.procs();
  }
  std::string& mpirun = o.launch.mpirun; // jobs have folders of their own
  if (mpirun.find('/') != std::string::npos) mpirun = std::filesystem::absolute(mpirun).string();
  using Share = sched::PolicyOptions::Share;
  o.policy_options.share = given.share == "first" ? Share::first : Share::even;
  o.folder = o.folder.empty() ? sched::default_folder() : std::filesystem::absolute(o.folder).string();
  o.runtime_folder = std::filesystem::absolute(control::runtime_directory()).string();
  return o;
}

void listen_to_signals() {
  for (const int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN); // the failing write reports the error
  signal(SIGCHLD, SIG_DFL); // a parent that ignores it hands that down, and the status of each child is lost
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    struct sigaction action {};
    action.sa_handler = on_signal; // no SA_RESTART: poll returns
    struct sigaction before {};
    sigaction(number, &action, &before);
    const bool is_of_terminal = number == SIGINT || number == SIGHUP; // under nohup, or behind a script's &, ignored
    if (is_of_terminal && before.sa_handler == SIG_IGN) sigaction(number, &before, nullptr);
  }
}

} // namespace

int main(int argc, char** argv) {
  control::forget_outer_mpirun();
  base::CommandLine cli("Runs a queue of jobs on the processors of one machine or allocation: starts them with "
                        "mpirun, asks running ones to shrink for "
                        "those that wait and to grow into what is free. Jobs come by `dyngrid submit`; `dyngrid "
                        "queue` shows them.",
                        "dyngrid-sched");
  cli.help_column(30);
  cli.add_version(DYNGRID_VERSION);
  Given given;
  add_options(cli, given);
  cli.footer("One scheduler per user and runtime directory (DYNGRID_RUNTIME_DIR). SIGTERM is as --stop; it and SIGUSR1 "
             "are passed on to jobs whose DYNGRID_CHECKPOINT asks for a checkpoint then. "
             "After a crash, start it again with the same "
             "--folder: nothing is lost. See docs/scheduler.md.");
  if (const auto status = base::read_command_line(cli, argc, argv)) return *status;
  try {
    if (given.stops) return stop(given.cancels_jobs);
    if (given.cancels_jobs)
      throw base::Error(base::Status::bad_argument,
                        "--cancel-jobs is given without --stop, expected both: dyngrid-sched --stop --cancel-jobs");
    const sched::DaemonOptions o = options_of(given);
    setenv("DYNGRID_RUNTIME_DIR", o.runtime_folder.c_str(), 1); // of its jobs, which have folders of their own
    listen_to_signals();
    sched::Daemon daemon(o);
    std::printf("dyngrid-sched: %d processors, policy %s, journal in %s, socket %s\n", o.procs, o.policy.c_str(),
                o.folder.c_str(), sched::scheduler_socket().c_str());
    std::fflush(stdout);
    daemon.run([] { return stopped.load(); },
               [] {
                 const int number = passed_on.exchange(0);
                 return number == SIGTERM ? "TERM" : number == SIGUSR1 ? "USR1" : "";
               });
    return 0;
  } catch (const base::Error& error) {
    return fail(error.what(), error.status() == base::Status::bad_argument ? 2 : 1);
  } catch (const std::exception& error) {
    return fail(error.what(), 1);
  }
}
