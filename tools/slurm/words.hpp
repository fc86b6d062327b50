// SPDX-License-Identifier: BSD-3-Clause
// Texts from Slurm's commands and their arguments: pure. Nothing is started here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slurm {

/// The request of `dyngrid slurm submit`; the job's own process (`dyngrid slurm agent`) gets the same.
struct Request {
  int min_nodes = 1, max_nodes = 0;
  int tasks_per_node = 0;       ///< 0: the number of processors of a node, and whole nodes
  std::string partition, spare; ///< of the nodes that stay, and of those that join and leave; empty: Slurm's default,
                                ///< the preemptable one
  std::string name, time, node_time, account, output, node_output, interface, grid, allow;
  int queued = 4;          ///< the most jobs for more nodes that wait at a time
  int lead_s = 0;          ///< seconds before a node's end at which it is notified; 0: the grace time of the partition
  double poll_s = 10;      ///< between two queries of the queue
  double settle_s = 2;     ///< for how long a node that is ready waits for others
  double patience_s = 120; ///< for how long an unusable node is kept
  std::vector<std::string> sbatch_options; ///< for all jobs, unchanged
  std::string mpirun;
  bool preload = false, verbose = false;
  std::vector<std::string> program; ///< and its arguments
};

/// A command for exec, and its standard input.
struct Command {
  std::vector<std::string> words;
  std::string input;
};

// ---- asking ----

Command show_config();
Command show_partitions();
/// Jobs of this name, of this user.
Command show_queue(const std::string& name);
Command show_hostnames(const std::string& list); ///< "n[1-3]"

/// "Key = value" of `scontrol show config`; lines of another form are skipped, since there are headings.
/// @throws Failure when there is none at all.
std::map<std::string, std::string> parse_config(const std::string& text);

struct Partition {
  std::string name, preempt_mode, state;
  bool is_default = false;
  std::int64_t grace_s = 0, priority_tier = 0, nodes = 0;
};
/// @throws Failure that quotes an invalid partition.
std::vector<Partition> parse_partitions(const std::string& text);

struct QueuedJob {
  std::int64_t id = 0;
  std::string state;               ///< PENDING, RUNNING, COMPLETING, ...
  std::optional<std::int64_t> end; ///< seconds since 1970; empty: no limit, or not known
  std::string where;               ///< its node, or why it waits
};
/// @throws Failure that quotes an invalid job.
std::vector<QueuedJob> parse_queue(const std::string& text);
/// "2026-11-21T12:43:25" of this host's time zone in seconds since 1970; empty for "N/A" and the like. @throws Failure
std::optional<std::int64_t> parse_time(const std::string& text);
/// From the output of `sbatch --parsable`.
/// @throws Failure
std::int64_t parse_submitted(const std::string& text);
std::vector<std::string> parse_lines(const std::string& text);

// ---- telling ----

/// The application's own job: `min` nodes for as long as it runs.
Command submit_base(const Request& request, const std::string& dyngrid);
/// A job that adds one node. `place` is where it reports, with its token: in the script, which no other user can read,
/// not on a command line.
Command submit_node(const Request& request, const std::string& dyngrid, const std::string& name,
                    const std::string& place);
/// The same on a further node of the application's own job.
Command start_on_base(const std::string& dyngrid, std::int64_t job, const std::string& host, const std::string& place);
/// Only those that still wait: a job that has just begun ends by itself.
Command cancel_waiting(const std::vector<std::int64_t>& jobs);
/// All of this name.
Command cancel_all_waiting(const std::string& name);
/// The command words by which the base job starts the agent.
std::vector<std::string> agent_words(const Request& request, const std::string& dyngrid);
/// The line of DYNGRID_START=command: it passes the command of a group to the agent.
std::string hand_line(const std::string& dyngrid, const std::string& file);

/// Bytes as hexadecimal digits, so that any command fits into one word of a line.
std::string to_hex(const std::string& bytes);
std::optional<std::string> from_hex(const std::string& digits);

/// Whether an environment variable shows a program that it runs inside a job. It is hidden from mpirun, and sbatch
/// would take it for an option.
bool is_of_a_job(const std::string& name);

// ---- choosing ----

/// Whether Slurm takes nodes back from a partition of this PreemptMode.
bool takes_back(const std::string& preempt_mode);
/// The partition for nodes that join and leave: `wanted`, or else the one of lowest priority from which nodes can be
/// taken back.
/// @throws Failure that lists the partitions.
const Partition& choose_spare(const std::vector<Partition>& all, const std::string& wanted);
const Partition& choose_main(const std::vector<Partition>& all, const std::string& wanted);

} // namespace slurm
