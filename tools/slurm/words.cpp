// SPDX-License-Identifier: BSD-3-Clause
#include "words.hpp"

#include <cstdio>
#include <ctime>
#include <sstream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "control/mpi_settings.hpp"
#include "shared/failure.hpp"

namespace slurm {

using command::Failure;

namespace {

std::optional<std::int64_t> whole(std::string_view text) {
  const auto value = base::whole_number(text);
  return value && *value >= 0 ? value : std::nullopt;
}

std::string quoted(std::string text) {
  if (text.size() > 120) text = text.substr(0, 120) + "...";
  return "\"" + text + "\"";
}

/// Options of both kinds of job.
void add_common(std::vector<std::string>& words, const Request& r) {
  if (!r.account.empty()) words.push_back("--account=" + r.account);
  words.insert(words.end(), r.sbatch_options.begin(), r.sbatch_options.end());
}

void add_size(std::vector<std::string>& words, int nodes, int tasks_per_node, bool is_whole) {
  words.push_back(fmt::format("--nodes={}", nodes));
  if (is_whole) words.emplace_back("--exclusive");
  if (tasks_per_node > 0) words.push_back(fmt::format("--ntasks-per-node={}", tasks_per_node));
}

} // namespace

// ---- asking ----

Command show_config() {
  return {{"scontrol", "show", "config"}, ""};
}
Command show_partitions() {
  return {{"scontrol", "--oneliner", "show", "partition"}, ""};
}
Command show_queue(const std::string& name) {
  return {{"squeue", "--noheader", "--me", "--name=" + name, "--format=%i|%T|%e|%R"}, ""};
}
Command show_hostnames(const std::string& list) {
  return {{"scontrol", "show", "hostnames", list}, ""};
}

std::vector<std::string> parse_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(line);
  return lines;
}

std::map<std::string, std::string> parse_config(const std::string& text) {
  std::map<std::string, std::string> config;
  for (const std::string& line : parse_lines(text)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string key(base::trimmed(line.substr(0, equals))), value(base::trimmed(line.substr(equals + 1)));
    if (key.empty() ||
        key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != std::string::npos)
      continue;
    config.emplace(key, value == "(null)" ? "" : value);
  }
  if (config.empty()) throw Failure("scontrol show config printed no line KEY = VALUE", 1);
  return config;
}

std::vector<Partition> parse_partitions(const std::string& text) {
  std::vector<Partition> all;
  for (const std::string& line : parse_lines(text)) {
    std::map<std::string, std::string> fields;
    for (const std::string& word : base::words_in(line)) {
      const std::size_t equals = word.find('=');
      if (equals != std::string::npos) fields.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
    const auto field = [&](const char* name) -> const std::string& {
      const auto at = fields.find(name);
      if (at == fields.end()) throw Failure(fmt::format("scontrol show partition: no {} in {}", name, quoted(line)), 1);
      return at->second;
    };
    const auto number = [&](const char* name) {
      const auto value = whole(field(name));
      if (!value)
        throw Failure(fmt::format("scontrol show partition: {} is {}, expected a number", name, quoted(field(name))),
                      1);
      return *value;
    };
    if (line.compare(0, 14, "PartitionName=") != 0)
      throw Failure(fmt::format("scontrol show partition: {} is no partition", quoted(line)), 1);
    Partition p;
    p.name = field("PartitionName");
    p.preempt_mode = field("PreemptMode");
    p.state = field("State");
    p.is_default = field("Default") == "YES";
    p.grace_s = number("GraceTime");
    p.priority_tier = number("PriorityTier");
    p.nodes = number("TotalNodes");
    all.push_back(std::move(p));
  }
  return all;
}

std::optional<std::int64_t> parse_time(const std::string& text) {
  for (const char* none : {"N/A", "NONE", "Unknown", "UNLIMITED"})
    if (text == none) return std::nullopt;
  std::tm t{};
  int used = 0;
  const bool has_form = std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday,
                                    &t.tm_hour, &t.tm_min, &t.tm_sec, &used) == 6 &&
                        used == static_cast<int>(text.size()) && used == 19;
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  t.tm_isdst = -1;
  const std::tm given = t;
  const std::time_t seconds = has_form ? std::mktime(&t) : -1;
  if (seconds < 0 || t.tm_mday != given.tm_mday ||
      t.tm_mon != given.tm_mon) // mktime turns the 31st of November into the 1st of December
    throw Failure(fmt::format("squeue: time is {}, expected YYYY-MM-DDTHH:MM:SS", quoted(text)), 1);
  return seconds;
}

std::vector<QueuedJob> parse_queue(const std::string& text) {
  std::vector<QueuedJob> jobs;
  for (const std::string& line : parse_lines(text)) {
    std::vector<std::string> fields;
    std::size_t at = 0;
    for (int k = 0; k < 3; ++k) { // the last one, a reason, may contain anything
      const std::size_t bar = line.find('|', at);
      if (bar == std::string::npos) break;
      fields.push_back(line.substr(at, bar - at));
      at = bar + 1;
    }
    const auto id = fields.empty() ? std::nullopt : whole(fields[0]);
    if (fields.size() != 3 || !id || *id == 0 || fields[1].empty() ||
        fields[1].find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != std::string::npos)
      throw Failure(fmt::format("squeue: {} is no job in the form ID|STATE|END|WHERE", quoted(line)), 1);
    jobs.push_back({*id, fields[1], parse_time(fields[2]), line.substr(at)});
  }
  return jobs;
}

std::int64_t parse_submitted(const std::string& text) {
  const auto lines = parse_lines(text);
  const auto id = lines.size() == 1 ? whole(lines[0].substr(0, lines[0].find(';'))) : std::nullopt;
  if (!id || *id == 0) throw Failure(fmt::format("sbatch: {} is no job number", quoted(text)), 1);
  return *id;
}

// ---- telling ----

std::vector<std::string> agent_words(const Request& r, const std::string& dyngrid) {
  std::vector<std::string> words{dyngrid, "slurm", "agent", "--max", std::to_string(r.max_nodes)};
  const auto put = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  put("--min", std::to_string(r.min_nodes));
  if (r.tasks_per_node > 0) put("--tasks-per-node", std::to_string(r.tasks_per_node));
  put("--spare", r.spare);
  put("--name", r.name);
  put("--node-time", r.node_time);
  put("--node-output", r.node_output);
  put("--account", r.account);
  put("--interface", r.interface);
  put("--grid", r.grid);
  put("--allow", r.allow);
  put("--queued", std::to_string(r.queued));
  put("--lead", std::to_string(r.lead_s));
  put("--poll", fmt::format("{:g}", r.poll_s));
  put("--settle", fmt::format("{:g}", r.settle_s));
  put("--patience", fmt::format("{:g}", r.patience_s));
  put("--mpirun", r.mpirun);
  for (const std::string& option : r.sbatch_options) words.push_back("--sbatch-option=" + option);
  if (r.preload) words.emplace_back("--preload");
  if (r.verbose) words.emplace_back("--verbose");
  words.emplace_back("--");
  words.insert(words.end(), r.program.begin(), r.program.end());
  return words;
}

Command submit_base(const Request& r, const std::string& dyngrid) {
  Command c;
  c.words = {"sbatch", "--parsable", "--no-requeue", "--job-name=" + r.name};
  if (!r.partition.empty()) c.words.push_back("--partition=" + r.partition);
  if (!r.time.empty()) c.words.push_back("--time=" + r.time);
  if (!r.output.empty()) c.words.push_back("--output=" + r.output);
  add_size(c.words, r.min_nodes, r.tasks_per_node, r.tasks_per_node == 0);
  add_common(c.words, r);
  c.input = "#!/bin/sh\n# dyngrid slurm submit: the application, and what looks for nodes for it\nexec " +
            base::shell_line(agent_words(r, dyngrid)) + "\n";
  return c;
}

Command submit_node(const Request& r, const std::string& dyngrid, const std::string& name, const std::string& place) {
  Command c;
  c.words = {"sbatch",
             "--parsable",
             "--no-requeue",
             "--job-name=" + name,
             "--partition=" + r.spare,
             fmt::format("--signal=B:USR1@{}", r.lead_s)};
  if (!r.node_time.empty()) c.words.push_back("--time=" + r.node_time);
  if (!r.node_output.empty()) c.words.push_back("--output=" + r.node_output);
  add_size(c.words, 1, r.tasks_per_node, true);
  add_common(c.words, r);
  // exec: the signal goes to the process of the script; an earlier one must not end it before it can receive it (the
  // queue reports the same a little later)
  c.input = "#!/bin/sh\n# dyngrid: a node more for a running application\ntrap '' USR1\nexec " +
            base::shell_line({dyngrid, "slurm", "node"}) + " <<'PLACE'\n" + place + "\nPLACE\n";
  return c;
}

Command start_on_base(const std::string& dyngrid, std::int64_t job, const std::string& host, const std::string& place) {
  return {{"srun", fmt::format("--jobid={}", job), "--overlap", "--nodes=1", "--ntasks=1", "--nodelist=" + host,
           "--mpi=none", "--quiet", dyngrid, "slurm", "node"},
          place + "\n"};
}

Command cancel_waiting(const std::vector<std::int64_t>& jobs) {
  Command c{{"scancel", "--state=PENDING"}, ""};
  for (const std::int64_t id : jobs) c.words.push_back(std::to_string(id));
  return c;
}

Command cancel_all_waiting(const std::string& name) {
  return {{"scancel", "--state=PENDING", "--name=" + name}, ""};
}

std::string hand_line(const std::string& dyngrid, const std::string& file) {
  return "exec " + base::shell_line({dyngrid, "slurm", "hand", "--agent", file});
}

std::string to_hex(const std::string& bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char b : bytes) hex += {digits[b >> 4], digits[b & 15]};
  return hex;
}

std::optional<std::string> from_hex(const std::string& digits) {
  const auto value = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t k = 0; k < digits.size(); k += 2) {
    const int high = value(digits[k]), low = value(digits[k + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

bool is_of_a_job(const std::string& name) {
  for (const char* prefix : {"SLURM_", "SLURMD_", "SBATCH_", "SRUN_"})
    if (base::begins_with(name, prefix)) return name != "SLURM_CONF";
  return control::is_of_an_mpirun(name);
}

// ---- choosing ----

namespace {
std::string names_of(const std::vector<Partition>& all) {
  std::string names;
  for (const Partition& p : all) names += (names.empty() ? "" : ", ") + p.name;
  return names.empty() ? "none" : names;
}
/// Null where the user named none.
const Partition* named(const std::vector<Partition>& all, const std::string& name, const char* option) {
  if (name.empty()) return nullptr;
  for (const Partition& p : all)
    if (p.name == name) return &p;
  throw Failure(fmt::format("{}: there is no partition {}; there are: {}", option, name, names_of(all)), 1);
}
} // namespace

bool takes_back(const std::string& preempt_mode) {
  return preempt_mode.find("CANCEL") != std::string::npos || preempt_mode.find("REQUEUE") != std::string::npos;
}

const Partition& choose_spare(const std::vector<Partition>& all, const std::string& wanted) {
  if (const Partition* p = named(all, wanted, "--spare")) return *p;
  const Partition* best = nullptr;
  for (const Partition& p : all)
    if (takes_back(p.preempt_mode) && (!best || p.priority_tier < best->priority_tier)) best = &p;
  if (!best)
    throw Failure(
        fmt::format(
            "no partition from which Slurm takes nodes back (PreemptMode CANCEL); there are: {}. Name one by --spare",
            names_of(all)),
        1);
  return *best;
}

const Partition& choose_main(const std::vector<Partition>& all, const std::string& wanted) {
  if (const Partition* p = named(all, wanted, "--partition")) return *p;
  for (const Partition& p : all)
    if (p.is_default) return p;
  throw Failure(fmt::format("Slurm has no default partition; name one by --partition: {}", names_of(all)), 1);
}

} // namespace slurm
