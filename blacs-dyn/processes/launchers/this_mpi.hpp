// SPDX-License-Identifier: BSD-3-Clause
// Queries for the abilities of this process's MPI and of the mpirun that started it. The file of each version answers
// them. Local; after MPI_Init. docs/mpi.md.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace blacs_dyn {

/// For how many processes mpirun has room.
struct Slots {
  int universe = 0; ///< its slots; 0: it does not say
  bool may_oversubscribe = false;

  bool are_limited() const { return !may_oversubscribe && universe > 0; }
  bool has_room_for(std::int64_t processes) const { return !are_limited() || processes <= universe; }
};
Slots slots();

/// Why no process can be started here; empty when nothing is known against it. Some MPIs hang instead of saying so.
/// are_several_hosts: on which processes of mpirun are.
std::string spawn_trouble(bool are_several_hosts);
/// The same for a process on another host than this.
std::string remote_spawn_trouble();
/// Why integers of this program are not those of dyngrid's interfaces, as far as MPI and the libraries that are loaded
/// show it; empty: nothing is known against them. Also before MPI_Init.
std::string trouble_with_integers();
/// Whether mpirun started all of this program on this host, as far as it says.
bool is_on_one_host();

/// Whether new processes are to run on any core: mpirun has not bound this one. By itself Open MPI 4 would bind a group
/// of one or two to the first cores, and Open MPI 5 any group. (Open MPI 4's --bind-to none does not apply to processes
/// that are started later.)
bool is_unbound();

/// Whether process 0 has to start all new processes. MPICH 5 crashes in MPI_Intercomm_create where groups come together
/// that several processes have started.
bool starts_all_by_process_0();

/// Of version 4 or 5: with these starting processes by PMIx has been tried.
bool is_open_mpi();
bool is_open_mpi_5();

/// While one is there, MPI looks for new connections at each of its calls. Otherwise Open MPI does so every 10 ms, and
/// a growth has a chain of first messages. (Its TCP transport asks for more looks only on the side that already knows
/// the partner.) It is not on for the whole run, since each look is a system call. Several count; with another MPI it
/// does nothing.
class LooksForConnections {
public:
  LooksForConnections();
  ~LooksForConnections() { stop(); }
  LooksForConnections(LooksForConnections&& other) noexcept : holds_(std::exchange(other.holds_, false)) {}
  LooksForConnections& operator=(LooksForConnections&& other) noexcept {
    std::swap(holds_, other.holds_);
    return *this;
  }
  void stop();

private:
  bool holds_ = false;
};

/// Keys and values for MPI_Comm_spawn. host: where to, empty: wherever mpirun likes.
std::vector<std::pair<std::string, std::string>> spawn_info(const std::string& host, int count);

} // namespace blacs_dyn
