// SPDX-License-Identifier: BSD-3-Clause
#include "check.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "shared/failure.hpp"

namespace slurm {

using command::Failure;
using command::Finding;
using command::Mpi;
using command::Verdict;
using command::Version;

namespace {

constexpr std::int64_t short_grace_s = 30; ///< a resize point must be reached within it, and the matrices must move

std::string value(const Site& site, const std::string& key) {
  const auto at = site.config.find(key);
  return at == site.config.end() ? "" : at->second;
}

void judge_version(const Site& site, std::vector<Finding>& out) {
  const std::string text = value(site, "SLURM_VERSION");
  const Version v = command::version_in(text);
  if (v == Version{0, 0, 0})
    out.push_back({"version", Verdict::warning, "Slurm does not report its version",
                   "scontrol show config should have a line SLURM_VERSION"});
  else if (v < Version{20, 11, 0})
    out.push_back({"version", Verdict::warning,
                   fmt::format("Slurm {}; what dyngrid asks for (srun --overlap, squeue --me) came with 20.11", text),
                   "take Slurm 20.11 or later"});
  else
    out.push_back(
        {"version", Verdict::ok,
         fmt::format("Slurm {}{}", text, v < Version{22, 5, 0} || v >= Version{22, 6, 0} ? "; tried with 22.05" : ""),
         ""});
}

void judge_preemption(const Site& site, const Partition* main, const Partition* spare, std::vector<Finding>& out) {
  const std::string type = value(site, "PreemptType"), mode = value(site, "PreemptMode");
  if (type.empty() || type == "preempt/none")
    out.push_back(
        {"preemption", Verdict::warning,
         "PreemptType is preempt/none: nodes that were borrowed are kept until their job's time is over, whoever waits",
         "PreemptType=preempt/partition_prio and PreemptMode=CANCEL in slurm.conf; until then give borrowed nodes "
         "little time (--node-time)"});
  else if (mode.find("SUSPEND") != std::string::npos ||
           (spare && spare->preempt_mode.find("SUSPEND") != std::string::npos))
    out.push_back({"preemption", Verdict::error,
                   "PreemptMode is SUSPEND: a node that is put to sleep stops the whole application",
                   "PreemptMode=CANCEL for the partition of nodes that come and go"});
  else if (spare && !takes_back(spare->preempt_mode))
    out.push_back({"preemption", Verdict::warning,
                   fmt::format("partition {} has PreemptMode {}: its nodes are never taken back", spare->name,
                               spare->preempt_mode),
                   fmt::format("PreemptMode=CANCEL for partition {}, or another one by --spare", spare->name)});
  else
    out.push_back({"preemption", Verdict::ok, fmt::format("{}, {}", type, spare ? spare->preempt_mode : mode), ""});
  if (!spare) return;
  if (type == "preempt/partition_prio" && main && main != spare && main->priority_tier <= spare->priority_tier)
    out.push_back({"priorities", Verdict::warning,
                   fmt::format("partition {} has PriorityTier {}, {} has {}: jobs of the former take nothing back",
                               main->name, main->priority_tier, spare->name, spare->priority_tier),
                   fmt::format("PriorityTier of {} below that of {}", spare->name, main->name)});
  if (!takes_back(spare->preempt_mode)) return;
  if (spare->grace_s == 0)
    out.push_back(
        {"grace time", Verdict::error,
         fmt::format("partition {} has GraceTime 0: its jobs are ended at once, and the application with them",
                     spare->name),
         fmt::format(
             "GraceTime=120 for partition {}: longer than a step of the application and the move of its matrices",
             spare->name)});
  else if (spare->grace_s < short_grace_s)
    out.push_back(
        {"grace time", Verdict::warning,
         fmt::format("partition {} has GraceTime {} s; within it a resize point must come and the matrices must move",
                     spare->name, spare->grace_s),
         fmt::format("GraceTime=120 for partition {}", spare->name)});
  else
    out.push_back(
        {"grace time", Verdict::ok,
         fmt::format("{} s in partition {}: steps of the application must be shorter", spare->grace_s, spare->name),
         ""});
  const std::vector<std::string> parameters = base::split(value(site, "SlurmctldParameters"), ',');
  if (std::find(parameters.begin(), parameters.end(), "preempt_send_user_signal") != parameters.end())
    out.push_back({"signal", Verdict::ok, "a job gets a signal of its own when Slurm takes its node back", ""});
  else
    out.push_back(
        {"signal", Verdict::warning,
         "SlurmctldParameters lacks preempt_send_user_signal: a job gets no signal when Slurm takes its node back; "
         "dyngrid "
         "sees it at its next query of the queue",
         "SlurmctldParameters=preempt_send_user_signal in slurm.conf; until then --poll well below the grace time"});
}

const Partition* choose(const Partition& (*choose_one)(const std::vector<Partition>&, const std::string&),
                        const Site& site, const std::string& wanted, const char* check, std::vector<Finding>& out) {
  try {
    const Partition& p = choose_one(site.partitions, wanted);
    if (p.state != "UP")
      out.push_back({check, Verdict::error, fmt::format("partition {} is {}", p.name, p.state),
                     fmt::format("scontrol update PartitionName={} State=UP", p.name)});
    else if (p.nodes == 0)
      out.push_back(
          {check, Verdict::error, fmt::format("partition {} has no nodes", p.name), "give it nodes in slurm.conf"});
    else
      out.push_back({check, Verdict::ok, fmt::format("{}, {} node{}", p.name, p.nodes, p.nodes == 1 ? "" : "s"), ""});
    return &p;
  } catch (const Failure& failure) {
    out.push_back({check, Verdict::error, failure.what(),
                   "a line like: PartitionName=spare Nodes=ALL PriorityTier=1 PreemptMode=CANCEL GraceTime=120"});
    return nullptr;
  }
}

void judge_launcher(const Site& site, std::vector<Finding>& out) {
  if (!site.launcher_trouble.empty())
    out.push_back(
        {"launcher", Verdict::error, site.launcher_trouble, "install Open MPI 4.1 on all nodes (Debian: openmpi-bin)"});
  else if (site.mpi != Mpi::open_mpi)
    out.push_back({"launcher", Verdict::error,
                   "the launcher is not Open MPI's: only its mpiruns can meet (accept and connect over an ompi-server)",
                   "name Open MPI 4.1's by --mpirun"});
  else if (base::is_open_mpi_5({site.mpi, site.mpi_version}))
    out.push_back(
        {"launcher", Verdict::error,
         fmt::format("Open MPI {} has no ompi-server over which mpiruns meet", command::to_string(site.mpi_version)),
         "take Open MPI 4.1"});
  else if (!site.has_ompi_server)
    out.push_back({"launcher", Verdict::error, "there is no ompi-server in PATH",
                   "it comes with Open MPI 4.1 (Debian: openmpi-bin)"});
  else
    out.push_back({"launcher", Verdict::ok,
                   fmt::format("Open MPI {} with its ompi-server", command::to_string(site.mpi_version)), ""});
}

void judge_interfaces(const Site& site, const Request& request, std::vector<Finding>& out) {
  std::vector<std::string> outside;
  bool is_there = false;
  for (const auto& [name, address] : site.interfaces) {
    is_there = is_there || name == request.interface;
    if (address.compare(0, 4, "127.") != 0 && std::find(outside.begin(), outside.end(), name) == outside.end())
      outside.push_back(name);
  }
  const std::string names = fmt::format("{}", fmt::join(outside, ", "));
  if (!request.interface.empty() && !is_there)
    out.push_back(
        {"interface", Verdict::error,
         fmt::format(
             "--interface {}: there is none of that name here that is up and has an IPv4 address; there are: {}",
             request.interface, names.empty() ? "lo" : names),
         "name one that all nodes have"});
  else if (!request.interface.empty())
    out.push_back({"interface", Verdict::ok, fmt::format("{}, as asked", request.interface), ""});
  else if (outside.empty())
    out.push_back({"interface", Verdict::warning, "there is only loopback here, which Open MPI leaves out by itself",
                   "--interface lo, if all nodes are on this machine"});
  else if (outside.size() > 1)
    out.push_back(
        {"interface", Verdict::note,
         fmt::format("several: {}; Open MPI tries all of them, and waits long for an address that nodes cannot reach",
                     names),
         "name the one between the nodes by --interface"});
  else
    out.push_back({"interface", Verdict::ok, names, ""});
}

} // namespace

std::vector<Finding> judge(const Site& site, const Request& request) {
  std::vector<Finding> out;
  if (!site.missing.empty()) {
    out.push_back({"commands", Verdict::error, fmt::format("not in PATH: {}", fmt::join(site.missing, ", ")),
                   "install Slurm's commands (Debian: slurm-client), or run this where jobs are submitted"});
  } else if (!site.trouble.empty()) {
    out.push_back({"controller", Verdict::error, site.trouble,
                   "is slurmctld running, and does SLURM_CONF name the right file? scontrol ping"});
  } else {
    judge_version(site, out);
    const Partition* main = choose(choose_main, site, request.partition, "partition", out);
    const Partition* spare = choose(choose_spare, site, request.spare, "spare", out);
    judge_preemption(site, main, spare, out);
  }
  judge_launcher(site, out);
  judge_interfaces(site, request, out);
  return out;
}

} // namespace slurm
