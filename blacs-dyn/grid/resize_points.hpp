// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>

#include "grid/balancing.hpp"
#include "grid/changes.hpp"
#include "grid/place.hpp"

namespace blacs_dyn {

class Checkpoints;
class ProgramPosition;
struct Settings;

/// The points of the program where its grid may change, and the actions there. The steps of a request: a process makes
/// it, all exchange their requests (look), all agree on one goal (act), and Changes carries it out.
class ResizePoints {
public:
  ResizePoints(const Grid& grid, Settings& settings, ProgramPosition& program_position, Checkpoints& checkpoints,
               Balancing& balancing, Changes& changes)
      : grid_(grid), settings_(settings), program_position_(program_position), checkpoints_(checkpoints),
        balancing_(balancing), changes_(changes) {}

  // ---- for the program. Collective over the grid. @return a dyngrid_outcome
  int arrive(const Place& place);
  int arrive_at(const char* name);
  /// At the last resize point a change was refused or failed, and the program goes on with the current grid. Local
  bool was_refused() const { return was_refused_; }
  bool is_change_due(); ///< dyngrid_pending
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
    Changes::Asked asked;     ///< by this process
    std::uint64_t all = 0;    ///< PlaceWord::Flag
    bool is_anything() const; ///< but for a checkpoint
    bool wants_checkpoint() const { return (all & PlaceWord::checkpoint) != 0; }
  };
  Findings look(); ///< collective over the grid
  /// What DYNGRID_RESTORE asks for, at the first resize point. Collective over the grid. @return false: nothing
  bool restore_if_due();
  /// DYNGRID_CHECKPOINT: whether one is written at this resize point. Collective over the grid. @throws agreed Error
  /// when processes are at different places
  bool agree_on_due(const Place& place);
  int act(Findings findings);

  void end(); ///< the application ends: no process is waited for any more

private:
  bool restore_or_save();
  bool passes_by();
  std::uint64_t looks_to_come();
  int act_on(Findings found);
  bool save_as_asked(Findings& found);
  int balance();
  int go_on_where_led();

  const Grid& grid_;
  Settings& settings_;
  ProgramPosition& program_position_;
  Checkpoints& checkpoints_;
  Balancing& balancing_;
  Changes& changes_;
  bool was_refused_ = false;
  int to_pass_ = 0;     ///< points, while new processes start; the same on all processes of the grid
  double looked_s_ = 0; ///< process 0: when, and at which point
  std::int64_t looked_at_ = 0;
};

} // namespace blacs_dyn
