// SPDX-License-Identifier: BSD-3-Clause
// dyngrid slurm submit, dyngrid slurm check; and the programs of their jobs: slurm agent, slurm node, slurm hand.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "base/grid_shape.hpp"
#include "base/parse_json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "check.hpp"
#include "commands.hpp"
#include "control/host.hpp"
#include "jobs.hpp"
#include "link.hpp"
#include "runner.hpp"
#include "shared/failure.hpp"
#include "shared/findings.hpp"
#include "shared/launch.hpp"
#include "shared/program.hpp"
#include "shared/text.hpp"
#include "words.hpp"

namespace command {
namespace {

using base::CommandLine;

constexpr double ask_limit_s = 20;

struct SlurmOptions {
  SlurmOptions() { request.mpirun = DYNGRID_MPIRUN; }
  slurm::Request request;
  bool dry_run = false, no_check = false, wait = false, json = false;
};

slurm::Site look_at_site(const std::string& mpirun) {
  slurm::Site site;
  for (const char* name : {"scontrol", "sbatch", "squeue", "scancel", "srun"})
    if (base::search_path(name).empty()) site.missing.emplace_back(name);
  if (site.missing.empty()) {
    const slurm::Outcome config = slurm::run(slurm::show_config(), ask_limit_s);
    const slurm::Outcome partitions = config.is_good() ? slurm::run(slurm::show_partitions(), ask_limit_s) : config;
    if (!partitions.is_good())
      site.trouble = partitions.trouble();
    else
      try {
        site.config = slurm::parse_config(config.out);
        site.partitions = slurm::parse_partitions(partitions.out);
      } catch (const Failure& failure) {
        site.trouble = failure.what();
      }
  }
  try {
    const Site local = look_around(mpirun);
    site.mpi = local.mpi;
    site.mpi_version = version_in(local.version);
    site.has_ompi_server = local.has_ompi_server;
  } catch (const Failure& failure) {
    site.launcher_trouble = failure.what();
  }
  site.interfaces = control::interfaces();
  return site;
}

void check(const SlurmOptions& o) {
  const auto findings = slurm::judge(look_at_site(o.request.mpirun), o.request);
  if (show(findings, o.json) == Verdict::error)
    throw Failure("applications cannot grow and shrink with this Slurm as it is; see above", 1);
}

/// Completes open values from Slurm's output.
/// @throws Failure
void complete(SlurmOptions& o) {
  slurm::Request& r = o.request;
  if (r.max_nodes == 0) r.max_nodes = r.min_nodes;
  if (r.max_nodes < r.min_nodes) throw Failure(fmt::format("--max {} is below --min {}", r.max_nodes, r.min_nodes));
  if (const auto all = std::int64_t{r.max_nodes} * r.tasks_per_node; all > base::max_processes)
    throw Failure(
        fmt::format("{} nodes (--max) of {} processes (--tasks-per-node) are {} processes, expected at most {}",
                    r.max_nodes, r.tasks_per_node, all, base::max_processes));
  if (const std::string trouble = tools::trouble_with_program(r.program); !trouble.empty()) throw Failure(trouble);
  if (!r.grid.empty()) base::parse_grid_shape(r.grid, "--grid");
  if (r.name.empty()) r.name = "dyngrid";
  if (r.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") !=
      std::string::npos)
    throw Failure(fmt::format("--name: '{}' has other characters than letters, digits, _ . -",
                              r.name)); // squeue takes a comma for a list
}

void submit(SlurmOptions& o) {
  complete(o);
  slurm::Request& r = o.request;
  const slurm::Site site = look_at_site(r.mpirun);
  const auto findings = slurm::judge(site, r);
  if (!o.no_check)
    for (const Finding& f : findings)
      if (f.verdict == Verdict::error)
        throw Failure(fmt::format("{}: {} -> {} (dyngrid slurm check says more; --no-check submits without the check)",
                                  f.check, f.text, f.cure),
                      1);
  if (!site.missing.empty() || !site.trouble.empty())
    throw Failure(site.missing.empty() ? site.trouble : "Slurm's commands are not in PATH", 1);
  const slurm::Partition& spare = slurm::choose_spare(site.partitions, r.spare);
  r.spare = spare.name;
  if (r.lead_s == 0) r.lead_s = spare.grace_s > 0 ? static_cast<int>(std::min<std::int64_t>(spare.grace_s, 3600)) : 60;

  slurm::Command command = slurm::submit_base(r, base::own_program());
  if (o.wait && o.json) throw Failure("--wait is given with --json, expected one of them: with --wait sbatch prints");
  if (o.wait) command.words.insert(command.words.begin() + 1, "--wait");
  if (o.dry_run) {
    fmt::print("{} <<'END'\n{}END\n", base::shell_line(command.words), command.input);
    return;
  }
  if (o.wait) { // as long as it takes
    const pid_t pid = slurm::start_apart(command, {});
    const int status = base::wait_for(pid);
    if (status != 0) throw Failure(fmt::format("the application's job ended with status {}", status), status);
    return;
  }
  const slurm::Outcome outcome = slurm::run(command, ask_limit_s);
  if (!outcome.is_good()) throw Failure(outcome.trouble(), 1);
  const std::int64_t job = slurm::parse_submitted(outcome.out);
  if (!print_json(o.json, {{"job", job}, {"spare", r.spare}, {"name", fmt::format("slurm-{}", job)}}))
    fmt::print("{}\n", job);
}

/// Options about the place, whether to examine or to use it.
void add_place(CommandLine& app, slurm::Request& r) {
  app.add_option("--spare", r.spare,
                 "partition of the nodes that come and go (default: the one of lowest priority from which Slurm takes "
                 "nodes back)")
      .type_name("NAME");
  app.add_option("--interface", r.interface, "network interface between the nodes, for example ib0").type_name("NAME");
  app.add_option("--mpirun", r.mpirun, "the launcher").type_name("PATH").show_default();
}

void add_partition(CommandLine& app, slurm::Request& r) {
  app.add_option("--partition", r.partition, "partition of the nodes that stay (default: Slurm's default)")
      .type_name("NAME");
}

/// Options that the agent receives too.
void add_request(CommandLine& app, slurm::Request& r) {
  add_place(app, r);
  app.add_option("--min", r.min_nodes, "nodes that it begins with and keeps")
      .check(base::in_range(1, 100000))
      .show_default();
  app.add_option("--max", r.max_nodes, "nodes that it grows to when there are some (default: --min)")
      .check(base::in_range(1, 100000));
  app.add_option("--tasks-per-node", r.tasks_per_node, "processes on each node (default: one for each processor)")
      .check(base::in_range(1, 100000));
  app.add_option("--name", r.name, "of the job (default: dyngrid)");
  app.add_option("--node-time", r.node_time,
                 "time limit of a node that comes and goes; it leaves in time and another one is asked for")
      .type_name("TIME");
  app.add_option("--node-output", r.node_output,
                 "where the output of processes on nodes that come and go is written (default: slurm-JOB-node-%j.out)")
      .type_name("FILE");
  app.add_option("--account", r.account, "as sbatch has it").type_name("NAME");
  app.add_option("--grid", r.grid, "first grid (DYNGRID_GRID)").type_name("PxQ");
  app.add_option("--allow", r.allow, "grids that the application can use (DYNGRID_ALLOW)").type_name("SIZES");
  app.add_option("--queued", r.queued, "jobs for more nodes that wait in the queue at a time, at most")
      .check(base::in_range(1, 1000))
      .show_default();
  app.add_option(
         "--lead", r.lead_s,
         "seconds before the end of a node's time at which it leaves (default: the grace time of its partition)")
      .check(base::in_range(0, 65535)); // sbatch --signal takes no more
  app.add_option("--poll", r.poll_s, "seconds between two queries of the queue")
      .check(base::in_range(0.2, 3600.0))
      .show_default();
  app.add_option("--settle", r.settle_s, "seconds that a node waits for others that come with it")
      .check(base::in_range(0.0, 3600.0))
      .show_default();
  app.add_option("--patience", r.patience_s, "seconds for which a node is kept that the application cannot use")
      .check(base::in_range(0.0, 86400.0))
      .show_default();
  app.add_option("--sbatch-option", r.sbatch_options,
                 "a further word for sbatch, for all jobs; may be given several times")
      .type_name("WORD")
      .repeatable();
  app.add_flag("--preload", r.preload, "preload libdyngrid.so, for a program that was linked with ScaLAPACK alone");
  app.add_flag("--verbose", r.verbose,
               "a line in the output for every change of the grid, and for every process group");
  app.add_option("program", r.program, "the application and its arguments, after --")
      .required()
      .type_name("-- PROGRAM ARGUMENTS");
}

} // namespace

void add_slurm(base::CommandLine& root) {
  CommandLine& app =
      root.add_command("slurm", "Applications under Slurm that grow onto free nodes and leave reclaimed ones");
  app.require_command();
  app.footer("dyngrid slurm submit --help and dyngrid slurm check --help say more; docs/slurm.md shows it.");

  auto o = std::make_shared<SlurmOptions>();
  CommandLine& submitted =
      app.add_command("submit", "Submits an application that begins on some nodes and grows while others are free");
  add_partition(submitted, o->request);
  submitted.add_option("--time", o->request.time, "time limit of the application").type_name("TIME");
  submitted
      .add_option("--output", o->request.output,
                  "where the application's output goes (default: slurm-JOB.out); as sbatch has it")
      .type_name("FILE");
  add_request(submitted, o->request);
  submitted.add_flag("--wait", o->wait, "until it has ended; its exit status");
  submitted.add_flag("--no-check", o->no_check, "submit without dyngrid slurm check");
  submitted.add_flag("--dry-run", o->dry_run, "print what would be submitted");
  submitted.add_flag("--json", o->json, "print one JSON object");
  submitted.footer("Prints the number of the job. The application runs in the join way: each node more is a job of "
                   "its own, which ends with status 0\n"
                   "when the application has left the node. On the first node it answers as slurm-JOB (dyngrid ps, "
                   "resize, ...). Example:\n"
                   "  dyngrid slurm submit --min 4 --max 32 --time 8:00:00 -- ./app --n 50000");
  submitted.action([o] { submit(*o); });

  auto c = std::make_shared<SlurmOptions>();
  CommandLine& checked = app.add_command(
      "check", "Says what in this Slurm would keep applications from growing and shrinking, and what helps");
  add_partition(checked, c->request);
  add_place(checked, c->request);
  checked.add_flag("--json", c->json, "print one JSON object");
  checked.footer("Starts nothing. Each line is one of: ok; note; warning; error. Status 1 when there is an error.");
  checked.action([c] { check(*c); });

  // not for users: run by the jobs
  auto a = std::make_shared<SlurmOptions>();
  CommandLine& agent = app.add_command("agent", "In the application's job: starts it, and brings nodes to it");
  agent.group("");
  add_request(agent, a->request);
  agent.action([a] {
    complete(*a);
    std::fflush(nullptr);
    const int status = slurm::run_agent(a->request, base::own_program());
    if (status != 0) throw Failure(fmt::format("the application ended with status {}", status), status);
  });
  CommandLine& node =
      app.add_command("node", "On a node: reports that it is ready, and runs the commands that it receives");
  node.group("");
  node.action([] {
    const int status = slurm::run_node();
    if (status != 0) throw Failure("the application's job has ended", status);
  });
  CommandLine& hand = app.add_command("hand", "Hands a process group of the application to a node");
  hand.group("");
  auto file = std::make_shared<std::string>();
  hand.add_option("--agent", *file, "where the agent's place is written").required();
  hand.action([file] { std::exit(slurm::hand_over(*file)); });
}

} // namespace command
