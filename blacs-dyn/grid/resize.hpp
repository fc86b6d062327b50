// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "control/ask.hpp"
#include "control/resize_request.hpp"
#include "grid/grid.hpp"
#include "grid/matrix_move.hpp"
#include "grid/registered.hpp"
#include "grid/settings.hpp"
#include "processes/launchers/spawn_turn.hpp"
#include "processes/packet.hpp"
#include "processes/participants.hpp"
#include "processes/processes.hpp"

namespace blacs_dyn {

class ChangeReports;
class Checkpoints;
class Control;
class Headroom;
class MachineFigures;
class NewcomerCommand;
class StateTransfer;

/// One change of the grid. On a process of the grid: decide, await the new processes, gather. Then, with every process
/// that takes part, move and commit, or all is as it was. It knows which processes are new, which wake, which leave,
/// and in which order.
class Resize {
public:
  /// The requested change: the same on all processes of the grid.
  struct Goal {
    Shape to;
    gridmap::Placement placement = gridmap::Placement::optimal;
    std::optional<GridMap> exact; ///< an earlier grid, of processes that are all there
    std::vector<int> leave;       ///< ids of groups that are not in the new grid
    advise::Without without;      ///< processes that are not in it either
    GrowthForm growth;            ///< where those that join come from, and which process stands where
    bool is_granted = false;      ///< by the scheduler, which was asked; it is given back where nothing comes of it
    std::vector<advise::OfferedHost> granted; ///< hosts, in place of those of `growth`; empty: no certain ones
    std::string need;             ///< dyngrid_need: one of these grids, and `to` is one when the scheduler has answered
    bool is_forced = false;       ///< however many processes a core gets
    bool is_from_outside = false; ///< the scheduler is not asked
    /// Requested at a resize point: new processes are admitted at a later one, a failure is printed and the program
    /// goes on. Otherwise the program waits for them.
    bool is_at_point = false;
  };
  enum class Outcome { resized, redirected, asleep, gone };

  /// What a change of the grid works on, and one of layouts on it.
  struct Parts {
    Processes& processes;
    Grid& grid;
    Settings& settings;
    Registered& registered;
    const NewcomerCommand& newcomers;
    StateTransfer& transfer;
    Checkpoints& checkpoints; ///< one is written before matrices move in slabs
    ChangeReports& reports;
    MachineFigures& machine;
  };

  /// On a process of the grid. request: on process 0, when one came from outside. parts: live longer.
  Resize(const Parts& parts, Goal goal, std::optional<control::ResizeRequest> request);
  /// On a process that is new or woken: the others have decided.
  Resize(const Parts& parts, Processes::Union gathered, double started);

  const Goal& goal() const { return goal_; }
  bool is_led() const { return state_.has_value(); } ///< to the resize point where the others are

  // ---- collective over the grid
  /// Whether the current grid is the new one already. @throws agreed Error{not_found, bad_argument} for processes that
  /// cannot be left out.
  bool is_grid_already();
  bool asks_scheduler() const; ///< the program requests processes of its own accord
  /// Asks whether the program may grow as it requests; sleeps until it has what it needs. @throws agreed
  /// Error{no_slots, timeout, unsupported, bad_argument}
  /// @param control  of process 0; null on others
  void ask_scheduler(Control* control);
  void check_room(const Headroom& headroom); ///< before anything is decided. @throws agreed Error{no_slots, ...}
  /// Determines which processes join, wake and leave; starts the new ones. @throws agreed Error, and nothing was
  /// started.
  void decide(const Headroom& headroom);
  /// The same for a change that is decided already, by blacs_setup.dat.
  void decide_by(Change change, const Headroom& headroom);
  bool must_await() const;       ///< new processes start on their own and have to be awaited
  void await_newcomers();        ///< @throws agreed Error when they do not come; they are called off then
  bool are_they_there_already(); ///< all of them slept until this growth
  /// After they_do_not_come on process 0: why they do not come, to all. @throws agreed Error, always
  [[noreturn]] void tell_why_not();
  /// Local: whether MPI, which does not survive without it, would get what it needs. @throws Error{out_of_memory}
  void require_memory() const;
  void gather(); ///< brings all processes together. @throws agreed Error, all as before.

  // ---- collective over the union
  /// Moves the matrices and makes the new grid the grid, or abandons it. redirected: this process has to go to another
  /// resize point first, and calls again there. @throws agreed Error where this process goes on in the old grid.
  Outcome move_and_commit();

  // ---- local
  /// Process 0: whether the new processes are there, or will not come and are called off. Empty: neither yet.
  enum class News { they_are_there, they_do_not_come };
  std::optional<News> news();
  void begin_again() { started_ = MPI_Wtime(); } ///< what the program does not wait for does not count
  void rest() {                                  ///< this process sleeps from here on
    if (gathered_) gathered_->looks.stop();
  }
  void say_sent_for() const;
  void say_why() const; ///< process 0: of a request that has a reason for people
  void put_off();       ///< the request waits for a later resize point
  // the request is answered
  void already_there();
  void failed(const base::Error& error);
  void call_off(const std::string& why); ///< the new processes are not needed any more
  /// Which requests the same: its request counts from here on, and whether the program waits.
  void take_over(Resize& newer);

private:
  void ask(Control& control);
  void ask_for_need(Control& control);
  void take(const control::Grant& grant);
  GrowthForm growth() const;
  void await_turn();
  void await_answer();
  void send_for(const Headroom& headroom);
  template <class Decision> void agree_to_begin(Decision&& decision, const Headroom& headroom);
  bool look_for_newcomers();
  Outcome abandon();
  Outcome commit(MatrixMove& move);

  const Parts* parts_;
  Goal goal_;
  std::vector<int> without_; ///< ids of those that goal_.without names
  double started_;
  std::int64_t asked_at_ = 0; ///< resize point
  double sent_for_s_ = 0;     ///< when the new processes were requested
  std::optional<control::ResizeRequest> request_;
  SpawnTurn turn_;                     ///< process 0 of a pool: from the count of free slots until they are taken
  std::optional<base::Error> trouble_; ///< process 0: why the new processes do not come
  Change change_;
  std::optional<Processes::Union> gathered_;
  std::optional<Participants> who_;
  std::optional<Packet> state_; ///< what the others sent, on a process that is led
};

template <class Archive> void fields(Archive& a, Resize::Goal& goal) {
  bool is_exact = goal.exact.has_value();
  GridMap map = goal.exact.value_or(GridMap{});
  a(goal.to, goal.placement, is_exact, map, goal.leave, goal.without, goal.growth, goal.is_granted, goal.granted,
    goal.need, goal.is_forced, goal.is_at_point, goal.is_from_outside);
  if (is_exact) goal.exact = std::move(map);
}

} // namespace blacs_dyn
