// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>

#include "grid/balancing.hpp"
#include "grid/changes.hpp"
#include "grid/place.hpp"
#include "processes/packet.hpp"

namespace blacs_dyn {

class Application;

/// The points of the program where its grid may change, and the actions there. The steps of a request: a process makes
/// it, all exchange their requests (look), all agree on one goal (act), and Changes carries it out.
class ResizePoints {
public:
  explicit ResizePoints(Application& app) : app_(app) {}

  // ---- for the program. Collective over the grid. @return a dyngrid_outcome
  int arrive(const Place& place);
  int arrive_at(const char* name);
  /// At the last resize point a change was refused or failed, and the program goes on with the current grid. Local
  bool was_refused() const { return was_refused_; }
  bool is_change_due();                                               ///< dyngrid_pending
  void request(Shape to, advise::Without without = {});               ///< at the next point; local
  void ask_again(Resize::Goal goal) { requested_ = std::move(goal); } ///< it waited for a growth; local
  // it waits for these: resize_now.cpp
  /// without: advise::Without as text; null: all processes may stay.
  int resize(Shape to, gridmap::Placement placement, const char* without = nullptr);
  int need(const char* grids); ///< advise::Allowed as text: waits until the scheduler grants one of them
  int pop();
  int rebalance(); ///< now, whatever the mode is. @throws agreed Error when it could not be done

  // ---- arrive() in parts, for a routine of ours that has something to finish before a matrix may move
  /// A process that is not in the grid comes into it, or does not. Empty: it is in the grid.
  std::optional<int> come_in(const Place& place);
  /// What all processes request at the place where they are.
  struct Findings {
    std::optional<Resize::Goal> goal = std::nullopt; ///< of this process: its program's, or the timetable's
    std::optional<control::ResizeRequest> request = std::nullopt; ///< process 0: from outside
    std::uint64_t all = 0;                                        ///< PlaceWord::Flag
    std::uint64_t asked() const;                                  ///< PlaceWord::Flag of what this process asks for
    bool is_anything() const;                                     ///< but for a checkpoint
    bool wants_checkpoint() const { return (all & PlaceWord::checkpoint) != 0; }
  };
  Findings look(); ///< collective over the grid
  /// What DYNGRID_RESTORE asks for, at the first resize point: all local arrays have moved then, as in a change of the
  /// grid. False: nothing. Collective over the grid
  bool restore_if_due();
  int act(Findings findings);

  void end(); ///< the application ends: no process is waited for any more

private:
  Findings next_asked();
  bool passes_by();
  std::uint64_t looks_to_come();
  int act_on(Findings found);
  bool save_as_asked(Findings& found);
  Resize::Goal agree_on_goal(const Findings& found, bool is_own);
  int balance();
  int balance_as(const Balancing::Verdict& verdict);
  int lay_out_anew(const GridMap& to);
  int change_now(Resize::Goal goal);
  int go_on_where_led();

  Application& app_;
  std::optional<Resize::Goal> requested_;
  bool was_refused_ = false;
  int to_pass_ = 0;     ///< points, while new processes start; the same on all processes of the grid
  double looked_s_ = 0; ///< process 0: when, and at which point
  std::int64_t looked_at_ = 0;
};

} // namespace blacs_dyn
