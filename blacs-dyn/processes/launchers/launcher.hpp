// SPDX-License-Identifier: BSD-3-Clause
// How new processes are started: one interface, and an implementation for each way.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "processes/mpi_util.hpp"
#include "processes/names.hpp"

namespace blacs_dyn {

struct SpawnOptions {
  std::string program; ///< as given to MPI_Comm_spawn
  std::vector<std::string> arguments;
  /// NAME=value, which mpirun does not have. They are no arguments where that is possible: any user can read arguments.
  std::vector<std::string> variables;
  std::string folder;       ///< in which they start; empty: mpirun's
  std::string shown;        ///< what error texts call it
  double join_limit_s = 60; ///< new processes that are not there by then are given up
};

/// A new group and the intercommunicator to it, on its owner.
struct Newcomers {
  NewGroup group;
  Comm intercomm;
};

/// Groups that were started and are not admitted yet. Destroyed before they are admitted, they are called off.
class Launch {
public:
  struct Progress {
    std::string failure; ///< not empty: they will not come, and why
    int coming = 0;      ///< processes that are not there yet
    /// All are at a resize point: admit() does not wait for them.
    bool is_complete() const { return coming == 0; }
  };
  virtual ~Launch() = default;
  virtual Progress progress() = 0;
  virtual bool is_answered() const { return true; } ///< mpirun has started them, or says that it does not
  /// Intercommunicators to all of them; the caller then admits them or sends them away. Once, when all are there.
  /// @throws Error; those that came before it are in `newcomers`, the others are called off. Where owners connect to
  /// them (Meeting) it is called after that.
  virtual void admit(std::vector<Newcomers>& newcomers) = 0;
};

/// The additional steps for processes of several mpiruns, which know nothing of each other.
class Introduction {
public:
  virtual ~Introduction() = default;
  /// From here on all of `base` are notified of the end of a new group. Collective over base; root: process 0's rank in
  /// it.
  virtual void watch(MPI_Comm base, int root) = 0;
  /// Makes all of `base` and the new groups able to talk to each other. Collective over base and the new groups. A new
  /// group gives its world instead of base, and its own number; the others -1.
  virtual void introduce(const std::vector<NewGroup>& groups, MPI_Comm base_or_world, int root, int my_group) = 0;
};

/// Where the owners of groups that process 0 has started connect to them.
class Meeting {
public:
  virtual ~Meeting() = default;
  /// Process 0, when all are there: sends them the order to connect. @return where each is reached, in their order.
  /// @throws Error when one has gone; none has received the order then.
  virtual std::vector<std::string> call_in(const std::vector<NewGroup>& groups) = 0;
  /// On a group's owner. Blocks.
  virtual Comm meet(const std::string& where) = 0;
};

/// A group by the name that mpirun has for it.
struct Known {
  std::string name;
  int processes = 0;
};
template <class Archive> void fields(Archive& a, Known& known) {
  a(known.name, known.processes);
}
/// Fetches in the background the data that MPI needs before it can communicate with these processes. Local.
void look_up_groups(const std::vector<Known>& groups);

/// Processes that were started beforehand and sleep until a growth takes them: start() wakes them first, and they are
/// ready at once. Process 0.
class Reserve {
public:
  virtual ~Reserve() = default;
  /// Which groups are to be started so that groups of these sizes are there. Those that have ended by themselves are
  /// forgotten.
  virtual std::vector<int> missing(std::vector<int> sizes) = 0;
  /// Starts groups of these sizes, and returns at once. @throws Error
  virtual void add(const std::vector<int>& sizes, const SpawnOptions& options) = 0;
  /// Introduces the sleeping processes to each other, and the first one also to the groups that are in. @return those
  /// that are new, to be introduced to the groups that are in
  virtual std::vector<Known> introduce(const std::vector<SpawnGroup>& in) = 0;
  struct Count { ///< of processes
    int asleep = 0, starting = 0;
  };
  virtual Count count() const = 0;
  virtual int taken_by(const std::vector<NewGroup>& groups) const = 0; ///< the processes that start() would wake
};

/// One way in which processes start and leave. The later steps (parent communicator, union, sleep) are the same for all
/// ways; Processes does them.
class Launcher {
public:
  virtual ~Launcher() = default;

  // ---- the application's side
  /// Whether start() returns at once, so that the application computes on: process 0 starts all groups at the resize
  /// point that asks for them. Otherwise each owner starts its own when the grid is about to change.
  virtual bool is_background() const = 0;
  /// @throws Error, and nothing was started.
  virtual std::unique_ptr<Launch> start(const std::vector<NewGroup>& groups, const SpawnOptions& options) = 0;
  /// On the owner: a group that was admitted, or is sent away, leaves now, and gives up its intercommunicator with us.
  virtual void release(int group, Comm intercomm) = 0;
  /// Process 0: these groups have taken part in a change. From the order to connect until then some process waits for
  /// them in MPI.
  virtual void are_in(const std::vector<NewGroup>&) {}
  /// The number of a group for its launcher, which receives it as DYNGRID_UNIT_NUMBER. Process 0.
  virtual std::int64_t number_of(int group) const { return group; }
  virtual Introduction* introduction() { return nullptr; } ///< null: one mpirun knows all
  virtual Meeting* meeting() { return nullptr; }           ///< null: admit() has the intercommunicators
  virtual Reserve* reserve() { return nullptr; }           ///< null: no spare processes
  /// Now and then, on all of the grid: delivers the end to groups that this process called off while they started.
  virtual void look_after_called_off() {}

  // ---- a new group's side
  /// The intercommunicator to my owner, when it admits us; empty: it does not. Collective over world. Sleeps while it
  /// waits.
  virtual std::optional<Comm> enter(MPI_Comm world) = 0;
  /// In dyngrid_init: reports that this group has started. False: it was called off while it started, or the
  /// application has ended, so it has nothing to do. Collective over world.
  virtual bool arrive(MPI_Comm world) = 0;
  /// This group ends without having joined. Collective over world.
  virtual void decline(MPI_Comm world) = 0;

  // ---- both
  /// Nothing that ends from here on is a fault; what is left over is waited for a while.
  virtual void close() = 0;
};

/// DYNGRID_PROCESSES. The numbers are those of dyngrid.h.
enum class LauncherKind : int { blocking = 0, join = 1, background = 2 };
const char* to_string(LauncherKind kind);
/// background, blocking, join. @throws Error{bad_argument}
LauncherKind launcher_kind_from(const std::string& word);

/// MPI_Comm_spawn by owners over MPI_COMM_SELF, in the application's mpirun.
std::unique_ptr<Launcher> make_spawn_launcher();

} // namespace blacs_dyn
