// SPDX-License-Identifier: BSD-3-Clause
// How an application is started: the decision (plan_launch) is a function of the request and of the state of this
// machine. Examining the machine and starting are separate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mpi_version.hpp"
#include "base/process.hpp"
#include "findings.hpp"

namespace command {

using base::Mpi;

/// The user's request.
struct RunRequest {
  int processes = 0; ///< 0: the number of processes of the grid
  int warm = -1;     ///< spare processes that sleep until a growth takes them, started later; -1: as DYNGRID_START says
  std::string keep;  ///< seconds that processes without a place in the grid sleep before they leave; empty: they leave
                     ///< at once
  int spare =
      -1; ///< more that are started and sleep; -1: as many as resize_at needs where the MPI cannot start them later
  std::string grid; ///< "2x2" or empty; checked
  std::string resize_at, placement, schedule, group, hosts;
  std::string balance;            ///< off, advise, auto or empty
  std::string calls;              ///< as DYNGRID_CALLS, or empty
  std::string processes_come;     ///< background, blocking, join or empty
  std::string ompi_server;        ///< for join: its address
  std::string transport = "auto"; ///< of messages between processes: auto, ob1 or ucx
  std::string preload;            ///< full paths of libraries, with a colon between them, or empty
  bool is_verbose = false;
  bool waits = false;            ///< resize points wait for new processes
  bool gets_other_hosts = false; ///< new processes start on hosts that are not known yet
  std::vector<std::string> mpirun_options;
  std::vector<std::string> program; ///< and its arguments
};

struct Setting {
  std::string name, value, why;
};

/// The properties of this machine.
struct Site {
  std::string mpirun;  ///< full path
  std::string version; ///< what it printed when asked for its version
  Mpi mpi = Mpi::open_mpi;
  std::vector<Setting> before_mpi; ///< the library's settings of Open MPI 5 that the user has not made
  bool is_open_mpi_5 = false;
  bool can_spawn = true;           ///< MPI_Comm_spawn works
  bool can_spawn_elsewhere = true; ///< also on other hosts than those where the application is
  int processors = 1;              ///< in the affinity mask of this process, as mpirun counts slots
  int cores = 1;                   ///< the same, at most the control group's quota
  std::string yield_library;       ///< lets waiting processes release their cores; empty: there is none
  std::string blas_core,
      better_core; ///< which processor OpenBLAS takes this one for; what OPENBLAS_CORETYPE should say, empty: nothing
  bool is_root = false;
  bool has_ompi_server = false; ///< in PATH
  // of transports, by look_at_transports()
  bool has_ucx = false;                   ///< Open MPI's component pml/ucx is there; for a request of it
  std::string fast_network;               ///< a device; empty: none
  std::optional<std::string> ucx_trouble; ///< why auto leaves UCX alone; empty text: UCX works; none: not looked at
  bool can_read_other_processes = true;   ///< process_vm_readv is allowed between processes of one user
  std::int64_t shm_free_bytes = -1;       ///< of /dev/shm; -1: there is none
  std::map<std::string, std::string> environment;

  /// The value of a variable of the environment; empty where it is not set.
  std::string variable(const std::string& name) const;
};

/// A plain command line: variables for mpirun itself, then words.
struct Launch {
  std::vector<Setting> environment;
  std::vector<std::string> words;
  std::vector<std::string> remarks; ///< the reasons for some of the words
  std::vector<std::string> notices; ///< notices that the user must see in any case
  std::string transport;            ///< what auto has chosen, and why
};

/// The options of mpirun for an application that grows. The user's own settings are not changed.
/// @throws Failure when the request contradicts itself.
Launch plan_launch(const RunRequest& request, const Site& site);

/// Whether LD_PRELOAD can hold these paths: it ends one at a blank, and there is no way to quote it.
bool can_preload(const std::string& libraries);

/// Whether all processes stay on this host. The processors and folders of other hosts are unknown.
bool is_on_one_host(const RunRequest& request, const Site& site);
/// Whether /dev/shm has room for the largest grid that is named. @throws Failure when the request contradicts itself.
bool has_room_in_shared_memory(const RunRequest& request, const Site& site);

/// The launch as a line for a shell: NAME=value ... mpirun ...
std::string shell_line(const Launch& launch);

// ---- looking ----

/// What is known of this machine without mpirun.
Site look_at_machine();
/// The same, with mpirun (or the launcher by the path given).
/// @throws Failure when there is no mpirun.
Site look_around(const std::string& mpirun);
/// A file that belongs to this command: candidates relative to the folder of the running program; "" when none exists.
std::string find_beside(const std::vector<std::string>& candidates);
/// A program by its path, or as found in PATH.
/// @throws Failure when there is none.
ProgramFiles look_at_program(const std::string& program);
/// libdyngrid.so that belongs to this command. @throws Failure
std::string own_library();
/// The libraries that examine calls of ScaLAPACK's routines, in the form of LD_PRELOAD.
/// @throws Failure
std::string calls_libraries();

// ---- starting ----

/// Starts the ompi-server by which mpiruns find each other. It ends when this process, or the program that replaces it,
/// ends. Returns its address.
/// @throws Failure
std::string start_ompi_server();

/// Replaces this process by the launch. Signals, standard streams and the exit status are then mpirun's own. Returns
/// only by Failure.
[[noreturn]] void become(const Launch& launch);
/// Runs it and passes on to mpirun the signals that a user or a batch system sends. `saves_at_term`: the first SIGTERM
/// as SIGUSR1, which mpirun forwards to its processes: at a SIGTERM it would end them itself.
/// @return its exit status as a shell gives it.
/// @throws base::Error
int run_with_signals(const Launch& launch, bool saves_at_term);

/// Runs it, standard output and error together, for at most `seconds`; then it and all processes that it started are
/// ended.
/// @throws base::Error
base::Outcome run_for(const Launch& launch, double seconds);

} // namespace command
