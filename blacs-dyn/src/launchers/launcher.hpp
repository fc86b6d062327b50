// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpi_util.hpp"
#include "processes/roster.hpp"

namespace blacs_dyn {

struct SpawnOptions {
  std::string program; ///< as given to MPI_Comm_spawn
  std::vector<std::string> arguments;
  std::string shown;        ///< what error texts call it
  double join_limit_s = 60; ///< newcomers that are not there by then are given up
};

/// A new unit and the bridge to it, on its owner.
struct Newcomers {
  NewUnit unit;
  Comm bridge;
  bool arrived = false; ///< every process of it has said hello
};

/// The ways in which new processes come to be; DYNGRID_PROCESSES=spawn|join.
enum class Way : int { spawn = 0, join = 1 };
const char* to_string(Way way);

/// What differs between the ways: how new processes are started, get a bridge to their owner and come to know the
/// others; and what is heard of their end. Everything after that (hello, home, union, sleep, release) is the same and
/// the matter of Processes.
class Launcher {
public:
  struct Progress {
    bool is_complete = false; ///< bring() will not wait
    std::string failure;      ///< not empty: it will not be
  };

  virtual ~Launcher() = default;

  // ---- process 0, while the application computes on
  /// Sends for the new units of a change. @throws Error, and nothing was started.
  virtual void send_for(const Change& change, const SpawnOptions& options) = 0;
  virtual Progress progress(const Change& change) = 0;
  /// They are not wanted any more.
  virtual void call_off(const Change& change) = 0;

  // ---- a growth
  /// From here on all of `base` hear of the end of a new unit. Collective over base; root: process 0's rank in it.
  virtual void watch(MPI_Comm base, int root) = 0;
  /// Of the process `me`: bridges to the new units that it owns. Blocks; what came before an Error is in `newcomers`.
  virtual void bring(const Change& change, int me, const SpawnOptions& options, std::vector<Newcomers>& newcomers) = 0;
  /// Makes all of `base` and the new units able to talk to each other. Collective over base and the new units; `root`:
  /// process 0's rank in base. A new unit gives its world instead of base, and its own number.
  virtual void introduce(const Change& change, MPI_Comm base_or_world, int root, int my_unit) = 0;
  virtual void let_go(int unit) = 0; ///< owner: it leaves now
  /// What a unit is called outside: what its launcher was told as DYNGRID_UNIT_NUMBER. Process 0.
  virtual std::int64_t number_of(int unit) const { return unit; }

  // ---- a new unit
  /// The bridge to my owner, when it wants us; empty: it does not. Collective over world. Waits asleep.
  virtual std::optional<Comm> reach(MPI_Comm world) = 0;
  /// This unit ends without having joined. Collective over world.
  virtual void decline(MPI_Comm world) = 0;

  /// Nothing that ends from here on is a fault.
  virtual void close() = 0;
};

/// MPI_Comm_spawn by owners over MPI_COMM_SELF, in the mpirun that there is.
std::unique_ptr<Launcher> make_spawn_launcher();

} // namespace blacs_dyn
