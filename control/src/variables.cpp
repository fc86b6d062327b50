// SPDX-License-Identifier: BSD-3-Clause
#include "control/variables.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/status.hpp"

namespace control {

const std::vector<Variable>& variables() {
  // never destroyed: it is read when the library is unloaded
  static const auto* all = new std::vector<Variable>{
      {"DYNGRID_GRID", "", "PxQ", "the program's, or all processes, as square as possible",
       "the first grid; replaces the one of the program", "2x3"},
      {"DYNGRID_SPARE", "", "N", "0",
       "number of processes of mpirun that sleep until a grid needs them, for systems that cannot start processes "
       "later",
       "5"},
      {"DYNGRID_RESIZE_AT", "", "STEP:PxQ[@PLACEMENT],...", "no changes",
       "changes of the grid before these resize points, counted from 0", "5:3x3,10:2x2"},
      {"DYNGRID_EXCHANGE", "schedule", "auto|caterpillar|circulant|matching|async", "auto",
       "order of the messages of an exchange", "schedule=async"},
      {"DYNGRID_EXCHANGE", "placement", "optimal|global|local1|local2", "optimal",
       "positions of the old processes in a new grid", "placement=global"},
      {"DYNGRID_EXCHANGE", "memory", "auto|low", "auto",
       "low: matrices move in slabs and old memory is given back as it goes; auto: where a second copy does not fit",
       "memory=low"},
      {"DYNGRID_EXCHANGE", "hugepages", "on|off", "on", "whether local arrays ask for huge pages", "hugepages=off"},
      {"DYNGRID_EXCHANGE", "gemr2d", "dyngrid|stock", "dyngrid",
       "p?gemr2d and p?trmr2d in use; stock: those of ScaLAPACK", "gemr2d=stock"},
      {"DYNGRID_PBLAS", "", "auto|stock|own", "auto",
       "p?gemm, syrk, herk, trsm, getrf, getrs, gesv, potrf and potrs in use; auto: dyngrid's for matrices in blocks "
       "of any sizes, and for large p?gemm, p?getrf and p?potrf on the application's grid, ScaLAPACK's for others; "
       "own: dyngrid's for all; stock: ScaLAPACK's for all, and a call with a descriptor of DTYPE_ 601 ends the "
       "program",
       "stock"},
      {"DYNGRID_CALLS", "", "off|report|ROUTINE[=auto|off|report|forced|PxQ/NB|PxQ|/NB],...", "off",
       "calls of these ScaLAPACK routines run where they are fastest: on another shape of the same processes, on fewer "
       "of them, or in other blocks; report only prints the possible gain",
       "pdgetrf,pdgemm=auto"},
      {"DYNGRID_HOSTS", "", "HOST[:MAX[:SPEED]],...", "the hosts where mpirun started processes",
       "hosts of new processes, the fastest first, with the largest number on each and the speed of its processes",
       "node1:8,node2:4:0.5"},
      {"DYNGRID_PROCESSES", "", "background|blocking|join", "background where it can be used, else blocking",
       "how new processes start: while the application computes, or while it waits for MPI_Comm_spawn; join needs "
       "mpirun --ompi-server, as dyngrid run --processes join starts it",
       "blocking"},
      {"DYNGRID_WAIT", "", "on|off", "off",
       "a resize point waits for the new processes that it starts: the grid changes at exactly that step", "on"},
      {"DYNGRID_START", "program", "PATH", "the running program",
       "program of the new processes; a relative path begins at the folder in which the program was started",
       "program=bin/worker"},
      {"DYNGRID_START", "unit", "auto|all|N", "auto", "processes of a group; a group is released as a whole", "unit=4"},
      {"DYNGRID_START", "timeout", "SECONDS", "60", "time after which new processes are given up", "timeout=120"},
      {"DYNGRID_START", "warm", "N", "0",
       "number of spare processes: started in advance, sleeping until a growth uses them, and then replaced", "warm=5"},
      {"DYNGRID_START", "keep", "SECONDS", "0",
       "time for which processes that a smaller grid does not need are parked before they leave; a growth uses them "
       "first",
       "keep=30"},
      {"DYNGRID_START", "setup", "PATH", "blacs_setup.dat", "file that blacs_setup reads", "setup=run.dat"},
      {"DYNGRID_START", "mpirun", "PATH", "mpirun", "the launcher of joining groups", "mpirun=/opt/openmpi/bin/mpirun"},
      {"DYNGRID_START", "listen", "unix|tcp|tcp:ADDRESS", "unix; tcp with DYNGRID_HOSTS or DYNGRID_START=command",
       "where process 0 waits for joining processes, which need a random token", "listen=tcp:10.0.0.1"},
      {"DYNGRID_START", "agent", "COMMAND", "ssh -x",
       "command that starts the mpirun of a joining group on another host: COMMAND HOST LINE", "agent=rsh"},
      {"DYNGRID_START", "command", "LINE", "not set",
       "a shell line that starts joining groups in another way: it gets DYNGRID_UNIT_COMMAND, _HOST, _PROCESSES and "
       "_NUMBER. The last entry of the list: commas in it are its own",
       "command=ssh \"$DYNGRID_UNIT_HOST\" \"$DYNGRID_UNIT_COMMAND\""},
      {"DYNGRID_CHECKPOINT", "", "PATH", "not set", "where dyngrid_checkpoint writes when the program gives no path",
       "run.h5"},
      {"DYNGRID_CHECKPOINT", "every", "N|SECONDSs", "never",
       "a checkpoint at every N-th resize point, or every SECONDS seconds", "run.h5,every=600s"},
      {"DYNGRID_CHECKPOINT", "signal", "TERM|USR1", "none",
       "a checkpoint at the first resize point after this signal; after TERM the run then ends", "run.h5,signal=TERM"},
      {"DYNGRID_RESTORE", "", "PATH", "not set",
       "the checkpoint from which the application continues; if it cannot, the run ends with status 1; dyngrid restart "
       "sets it",
       "run.h5"},
      {"DYNGRID_ALLOW", "", "any|4:32:*2|2x2,2x3|aspect 2; ...", "the program's, or any grid",
       "grids allowed for requests from outside", "4:32:*2; aspect 2"},
      {"DYNGRID_DECIDE", "steps", "N", "not known",
       "steps that the program will make, for judging whether a change saves more than it costs", "steps=200"},
      {"DYNGRID_DECIDE", "cores", "N", "those that the launcher may use, at most the control group's quota",
       "cores of each host: beyond them no gain of a larger grid is predicted", "cores=8"},
      {"DYNGRID_DECIDE", "per-core", "N", "16", "a growth to more processes a core is refused; 0: any number",
       "per-core=1"},
      {"DYNGRID_DECIDE", "experiment", "PxQ,...[@STEPS]", "none",
       "grids tried in the first steps, STEPS on each; then the fastest is used", "experiment=2x2,2x3@5"},
      {"DYNGRID_DECIDE", "undo", "on|off", "on",
       "whether a growth requested from outside is undone if its steps measure slower", "undo=off"},
      {"DYNGRID_BALANCE", "", "off|advise|auto", "off",
       "for processes that get less of their processor than others: do nothing, print a remedy, or apply it", "auto"},
      {"DYNGRID_JOB", "", "NAME|off", "the process number of process 0",
       "name of the application for requests from outside (dyngrid ps, resize, ...); off: no requests", "heat"},
      {"DYNGRID_RUNTIME_DIR", "", "PATH", "$XDG_RUNTIME_DIR/dyngrid, else /tmp/dyngrid-<uid>",
       "folder of the sockets of running applications", "/run/user/1000/dyngrid"},
      {"DYNGRID_HISTORY", "", "PATH|off",
       "$XDG_STATE_HOME/dyngrid/history.jsonl, else ~/.local/state/dyngrid/history.jsonl",
       "where step times of earlier runs are kept: a regular file", "off"},
      {"DYNGRID_YIELD", "", "on|off", "on",
       "off: processes that wait where processes outnumber cores never sleep; dyngrid run then preloads no "
       "libdyngrid-yield.so",
       "off"},
      {"DYNGRID_VERBOSE", "", "on|off", "off",
       "a line on standard error for every change, and at the start whose p?gemr2d, p?gemm, p?getrf and p?potrf are "
       "called",
       "on"},
      {"DYNGRID_CHECKED", "", "1", "not set", "set by dyngrid run, which has reported unknown variables already", "",
       true},
      {"DYNGRID_CORETYPE", "", "CORE", "not set",
       "set by dyngrid run: the OPENBLAS_CORETYPE that it has chosen, for processes on its own host; not for users", "",
       true},
      {"DYNGRID_ENTRY", "", "NAME", "not set",
       "set by dyngrid for the processes that it starts: the resize point at which they are expected; not for users",
       "", true},
      {"DYNGRID_JOIN", "", "PLACE|NUMBER", "not set", "set by dyngrid for joining processes; not for users", "", true},
      {"DYNGRID_MEET", "", "PLACE|NUMBER", "not set",
       "set by dyngrid for processes that start in the background; not for users", "", true},
      {"DYNGRID_POOL", "", "NAME", "not set",
       "set by dyngrid for the processes that it starts: the name given to dyngrid_init_on; not for users", "", true},
      {"DYNGRID_SCHED", "", "on|off", "off",
       "set by dyngrid-sched for its jobs: it must approve growths that the program requests itself; not for users", "",
       true},
      {"DYNGRID_SCHED_JOB", "", "WORD", "not set",
       "set by dyngrid-sched for its jobs: how it recognizes their processes, on other hosts too; not for users", "",
       true},
      {"DYNGRID_UNIT_COMMAND", "", "LINE", "not set",
       "set by dyngrid for DYNGRID_START=command: what to run on the host", "", true},
      {"DYNGRID_UNIT_HOST", "", "HOST", "not set",
       "set by dyngrid for DYNGRID_START=command: the host where the group shall start; empty: any", "", true},
      {"DYNGRID_UNIT_NUMBER", "", "N", "not set", "set by dyngrid for DYNGRID_START=command: number of the group", "",
       true},
      {"DYNGRID_UNIT_PROCESSES", "", "N", "not set",
       "set by dyngrid for DYNGRID_START=command: number of processes of the group", "", true},
      {"DYNGRID_LOAD_ROOT", "", "PATH", "not set",
       "where the load monitor finds /proc and /sys, for dyngrid's own tests; not for users", "", true},
      {"DYNGRID_NEWCOMER", "", "managed|classical", "not set",
       "set by dyngrid for the processes that it starts; not for users", "", true},
  };
  return *all;
}

namespace {
bool has_keys(std::string_view name) {
  return std::any_of(variables().begin(), variables().end(),
                     [&](const Variable& v) { return *v.key && name == v.name; });
}

/// "gemr2d= is no part of it" and the like; "" when all entries are known.
std::string unknown_entries(const std::string& name, const std::string& value) {
  std::string known;
  for (const Variable& v : variables())
    if (name == v.name) known += (known.empty() ? "" : ", ") + std::string(v.key) + (*v.key ? "=" : "") + v.value;
  for (const auto& [key, text] : base::entries_of(value)) {
    const bool is_known = std::any_of(variables().begin(), variables().end(),
                                      [&, &k = key](const Variable& v) { return name == v.name && k == v.key; });
    if (!is_known) return fmt::format("{}{}{}\", expected {}", key, key.empty() ? "" : "=", text, known);
  }
  return {};
}

/// The edit distance of two texts: insertions, deletions and replacements.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}
} // namespace

std::vector<std::string> whole_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

std::string closest_word(const std::string& word, const std::vector<std::string>& words) {
  std::string closest;
  std::size_t least = std::min<std::size_t>(4, (word.size() + 1) / 2);
  for (const std::string& other : words) {
    const std::size_t d = distance(word, other);
    if (d < least) closest = other;
    least = std::min(least, d);
  }
  return closest;
}

std::optional<std::string> value_of(const Variable& variable) {
  if (has_keys(variable.name)) return base::environment(variable.name, variable.key);
  const char* value = base::environment(variable.name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

std::vector<std::string> trouble_with(const std::vector<std::string>& environment) {
  std::vector<std::string> trouble;
  for (const std::string& entry : environment) {
    const std::size_t at = entry.find('=');
    const std::string name = entry.substr(0, at), value = at == std::string::npos ? "" : entry.substr(at + 1);
    if (value.empty()) continue; // counts as not set
    if (!has_keys(name)) continue;
    if (const std::string unknown = unknown_entries(name, value); !unknown.empty())
      trouble.push_back(fmt::format("{} has \"{}", name, unknown));
  }
  return trouble;
}

void check_environment() {
  for (const std::string& what : trouble_with(whole_environment())) throw base::Error(base::Status::bad_argument, what);
}

std::vector<UnknownVariable> unknown_variables(const std::vector<std::string>& environment) {
  std::vector<std::string> of_users, all;
  for (const Variable& v : variables()) {
    all.emplace_back(v.name);
    if (!v.is_internal) of_users.emplace_back(v.name);
  }
  std::vector<UnknownVariable> unknown;
  for (const std::string& entry : environment) {
    const std::string name = entry.substr(0, entry.find('='));
    if (name.compare(0, 8, "DYNGRID_") == 0 && std::find(all.begin(), all.end(), name) == all.end())
      unknown.push_back({name, closest_word(name, of_users)});
  }
  return unknown;
}

std::vector<std::string> remarks_on_environment() {
  std::vector<std::string> remarks;
  for (const UnknownVariable& u : unknown_variables(whole_environment()))
    remarks.push_back(u.name + " is none of dyngrid's variables and has no effect; " +
                      (u.closest.empty() ? "dyngrid env lists them" : "is it " + u.closest + "?"));
  return remarks;
}

} // namespace control
