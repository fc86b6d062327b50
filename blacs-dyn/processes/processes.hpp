// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "processes/launchers/launcher.hpp"
#include "processes/launchers/this_mpi.hpp"
#include "processes/mpi_util.hpp"
#include "processes/names.hpp"

namespace blacs_dyn {

/// What kind of program the processes run: dyngrid_init and resize points, or the classical blacs_setup. A new process
/// finds it in its environment.
enum class Mode : int { managed = 1, classical = 2 };

bool are_alike(const std::vector<double>& speeds);

/// Sets the shares of rows and columns of `map` by the speeds of its processes, row-major. Rank 0 of comm works them
/// out, so that all have the same to the last bit. Nothing is sent when all speeds are alike. Collective. @throws
/// agreed Error
void share_out(MPI_Comm comm, GridMap& map, const std::vector<double>& speeds);

struct Roll; ///< which processes come together for a change, and how: processes.cpp

/// The processes of one application, the communicators among them, and how they start, sleep, wake and leave.
///
/// Every group is connected to one process of group 0, its owner, by the intercommunicator of its spawn and by the
/// merged parent communicator. All other communicators are made for one grid and freed with it, but for that of the
/// last meeting, of which a process frees its own part, so that any group can leave at any time (docs/decisions/0007).
class Processes {
public:
  /// All processes that take part in one change: old grid, woken, new. Ranks as union_order.
  struct Union {
    Comm comm;
    ProcessSet before;
    Change change;
    double spawn_s = 0;        ///< until all new processes were there
    double merge_s = 0;        ///< from there to the union communicator
    LooksForConnections looks; ///< those that have not talked yet do so while the matrices move
  };
  enum class Fate { stays, sleeps, leaves };

  /// Collective over world (MPI_COMM_WORLD of this mpirun or spawn). is_ours: started by an application of dyngrid,
  /// which it is to join; a process that the user's own MPI_Comm_spawn started begins an application of its own.
  /// was_spawned: in the application's mpirun.
  void start(MPI_Comm world, bool is_ours, bool was_spawned, std::unique_ptr<Launcher> launcher);
  /// Selects another way for all later growths. Only before any process was started the present way: processes started
  /// one way do not know those started the other way.
  void set_launcher(std::unique_ptr<Launcher> launcher);
  bool has_grown() const { return process_set_.groups.size() > 1; }
  bool is_started() const { return static_cast<bool>(world_); }
  bool is_known() const { return id_ >= 0; } ///< was started, even if all is over
  bool is_newcomer() const { return state_ == State::newcomer; }
  bool is_member() const { return state_ == State::member; }
  bool has_left() const { return state_ == State::left; }
  Mode mode() const { return mode_; }
  void set_mode(Mode mode) { mode_ = mode; }
  /// Sends a few bytes to process 0, which need not wait for them: called by the owner of a spawned group, which passes
  /// them on. Local.
  void send_to_process0(base::Tag tag, const std::vector<char>& bytes) const;
  /// Messages that came by send_to_process0. Processes other than 0 pass on the messages of their groups and return
  /// nothing. Local.
  std::vector<std::vector<char>> receive_reports(base::Tag tag) const;
  int id() const { return id_; }
  std::function<void()> while_asleep; ///< called now and then by a process that sleeps
  bool was_spawned() const { return was_spawned_; }
  const ProcessSet& process_set() const { return process_set_; }
  MPI_Comm grid() const { return grid_.get(); } ///< ranks row-major in the grid; rank 0 is process 0
  MPI_Comm world() const { return world_.get(); }

  // ---- speeds: speeds.cpp
  /// Mine, relative to the others'. Collective over the grid, local on a process that is not in it yet. @throws agreed
  /// Error{bad_argument}
  void set_speed(double speed);
  double speed() const;
  bool is_speed_given() const { return is_speed_given_; } ///< by the program; on a process that was in the grid then
  /// The speeds and hosts that joining processes report go into `gathered`. @return the largest `number` of all.
  /// Collective over the union. Sleeps while it waits.
  int exchange_speeds(Union& gathered, int number) const;
  /// Derives the shares of the new grid from all speeds, where the change has none: a balance has decided them.
  /// Collective over the union where speeds differ.
  void share_out(Union& gathered) const;
  /// Of the processes of the grid, row-major, from elsewhere: `map` is the grid with the shares that follow.
  void take_speeds(const std::vector<double>& speeds, GridMap map);
  /// Of any processes, the same on all of the grid; what is dealt out stays as it is. @return what they were
  std::vector<double> know_speeds(const std::vector<int>& ids, const std::vector<double>& speeds);

  /// Group 0 only, collective over world: the first grid, of the first shape.size() processes. The others are parked,
  /// without sleeping yet. hosts: of world's ranks.
  /// Where the policy says how fast a host is, that is the speed of its processes.
  Fate form_first_grid(Shape shape, const std::vector<std::string>& hosts, const GroupPolicy& policy);

  /// Process 0: starts the new groups of a change, where they start in the background (elsewhere gather() does it).
  /// @throws Error, and nothing was started.
  void send_for(const Change& change, const SpawnOptions& options);
  Launch::Progress progress();  ///< process 0: of those that were requested
  bool is_answered() const;     ///< process 0: see Launch
  void call_off();              ///< process 0: they are not needed any more
  void look_after_called_off(); ///< see Launcher
  /// Process 0: starts groups of these sizes, which sleep until a growth takes them. Returns at once; prints a message
  /// when they cannot be started. trouble_now: why this number of them cannot be started now; empty: it can.
  void keep_warm(std::vector<int> sizes, const std::function<std::string(int)>& trouble_now,
                 const std::function<SpawnOptions()>& options);
  Reserve::Count warm() const;                                    ///< process 0
  int spares_taken_by(const std::vector<NewGroup>& groups) const; ///< process 0: see Reserve
  /// Process 0: whether there are spare processes that are not yet introduced to the others.
  bool has_to_introduce() const { return !to_introduce_.empty(); }
  /// Introduces them to the others. @return whether there are kept groups whose time is over. Collective over the grid.
  bool introduce();
  /// The number of a group for its launcher, which receives it as DYNGRID_UNIT_NUMBER. Process 0.
  std::int64_t number_of(int group) const { return launcher_->number_of(group); }

  /// Brings all processes together that `change` needs. Collective over the grid. @throws agreed Error, all as before.
  Union gather(const Change& change, const SpawnOptions& options);
  /// The new process's side of gather. Empty: the growth was given up, this process has left.
  std::optional<Union> join();
  /// On a new process that ends without having joined. Collective over its group.
  void decline();
  /// On a new process: see Launcher. Collective over the world.
  bool arrive() { return launcher_->arrive(world_.get()); }
  /// The side of a process that is parked: it sleeps until it is woken. Empty: the application or this process's group
  /// ends.
  std::optional<Union> sleep(const SpawnOptions& options);

  /// Makes the new grid and releases the processes that are not in it. Collective over the union, which is freed.
  Fate commit(Union& gathered);

  /// Process 0, after a change: groups that sleep as a whole from now on leave after `keep_s` seconds. Local.
  void keep_for(double seconds);
  /// Process 0: whether there are some whose time is over.
  bool is_keeping_over() const;
  /// They leave. Collective over the grid.
  void release_kept();
  /// Undoes a gather whose change was given up: new processes leave, the woken sleep again. Collective over the union,
  /// which is freed.
  Fate dismiss(Union& gathered);

  /// The end of the application. Collective over the grid; wakes the sleeping processes, which leave.
  void finish();
  /// Before finish(), while all contexts are open: no process ends before all of the grid are here. Messages that a new
  /// process has sent may still need its progress; Open MPI would drop them at its end. Collective over the grid.
  void meet_at_end() const;
  /// Frees what is left, before MPI_Finalize. Local.
  void close();

private:
  enum class State { none, member, newcomer, parked, left };
  struct Hold { ///< what an owner holds of a group
    Comm intercomm, parent_comm;
  };
  /// Some of those that take part in a change and have come together, over a communicator of theirs or of others.
  struct CommRef {
    CommRef() = default;
    explicit CommRef(MPI_Comm borrowed) : comm(borrowed) {}
    explicit CommRef(Comm made) : own(std::move(made)), comm(own.get()) {}
    Comm own;
    MPI_Comm comm = MPI_COMM_NULL;
  };
  void admit(const Change& change, const SpawnOptions& options, std::vector<Newcomers>& newcomers);
  void meet(Meeting& meeting, const Change& change, const SpawnOptions& options, MPI_Comm base,
            std::vector<Newcomers>& newcomers);
  void send_away(std::vector<Newcomers>& newcomers);
  void wake_members(const SpawnGroup& group, const ProcessSet& before, const Change& change, bool have_met);
  CommRef base_of(const ProcessSet& before, const Change& change, bool have_met);
  void let_in(std::vector<Newcomers>& newcomers, const ProcessSet& before, const Change& change, bool have_met);
  CommRef assemble(const ProcessSet& before, const Change& change, const Roll& roll, CommRef base);
  CommRef attach_joining_groups(const ProcessSet& before, const Change& change, const Roll& roll);
  bool part(const ProcessSet& before, const Change& change);
  void release_group(int group, const std::vector<int>& parked_ranks_in_parent_comm);
  void leave_group();
  std::vector<int> parked_ranks_in_parent_comm(const ProcessSet& process_set, int group) const;
  Union gather_from(const ProcessSet& before, const Change& change, bool have_met, const SpawnOptions& options);
  Union complete(const ProcessSet& before, const Change& change, CommRef all, const std::vector<int>& ids);
  Union complete_from(const ProcessSet& before, const Change& change, const Roll& roll, CommRef base);

  State state_ = State::none;
  Mode mode_ = Mode::managed;
  int id_ = -1;
  int group_ = 0;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<Launch> launch_; ///< the new groups that were requested
  bool can_keep_warm_ = true, is_trouble_with_warm_said_ = false;
  std::vector<Known> to_introduce_; ///< spare groups that are there; process 0
  bool was_spawned_ = false;
  Comm world_;       ///< my group
  Comm intercomm_;   ///< to my owner, outside group 0
  Comm parent_comm_; ///< my owner (rank 0) and my group, outside group 0
  Comm grid_;
  /// Of the last change that brought processes together that had no communicator in common, for all that took part.
  /// Another one of these makes communicators from it: MPI_Intercomm_create introduces its processes once more, and
  /// keeps memory each time (pml/ucx of Open MPI 4.1). Some may have left since. Empty in group 0: it is world_.
  Comm met_;
  std::vector<int> met_ids_; ///< of its ranks
  ProcessSet process_set_;
  bool is_speed_given_ = false;
  double own_speed_ = 0;                     ///< that this process was given before it was in a grid; 0: none
  std::map<int, base::Deadline> kept_until_; ///< groups that sleep as a whole; process 0
  std::map<int, Hold> owned_;                ///< group id -> what I hold of it; group 0 only
};

} // namespace blacs_dyn
