// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "grid/control.hpp"
#include "grid/grid.hpp"
#include "grid/registered.hpp"
#include "grid/settings.hpp"
#include "processes/processes.hpp"

namespace blacs_dyn {

/// Checkpoints of the application: what it holds to a file, and back on any grid. Collective over the grid.
class Checkpoints {
public:
  Checkpoints(Processes& processes, Settings& settings, Grid& grid, Registered& registered,
              const std::unique_ptr<Control>& control)
      : processes_(processes), settings_(settings), grid_(grid), registered_(registered), control_(control) {}

  void begin(); ///< the first grid is there
  /// To the path, null or empty: to where the environment says.
  void write(const char* path);
  /// The program's own path: a status. The environment's: taken, or the end of the run. The user that set it expects
  /// the run to go on from there. A program that does not look at statuses would compute on from zeros.
  void restore(const char* path);
  /// At a resize point: what DYNGRID_RESTORE asks for. All local arrays have moved then, as in a change of the grid.
  /// @return false: nothing was restored
  bool restore_if_due();
  /// At this resize point the environment may ask for a checkpoint. Local, alike on all processes of the grid.
  bool may_be_due() const;
  /// It does ask for one. Local; process 0 decides, since clocks differ.
  bool is_due() const;
  /// What the environment asks for. A checkpoint that cannot be written is reported and does not stop the application.
  /// @return why there is none; empty: it was written
  std::string save();
  /// While it lives, a run that is restored from what is written begins with the last resize point, not after it.
  class RepeatsPoint {
  public:
    explicit RepeatsPoint(Checkpoints& checkpoints) : checkpoints_(checkpoints) { checkpoints_.repeats_point_ = true; }
    ~RepeatsPoint() { checkpoints_.repeats_point_ = false; }
    RepeatsPoint(const RepeatsPoint&) = delete;
    RepeatsPoint& operator=(const RepeatsPoint&) = delete;

  private:
    Checkpoints& checkpoints_;
  };
  /// Resize points that a run restored from a checkpoint of now has passed.
  std::int64_t points_passed() const { return settings_.points - (repeats_point_ ? 1 : 0); }
  /// One that a signal or a client asked for. @return whether it was written
  bool save_as_asked();
  /// DYNGRID_CHECKPOINT=signal=...: this process handles the signal from here on.
  void heed_signal() const;
  /// A signal came, to this process at least, or a client asks for one: PlaceWord::Flag.
  std::uint64_t flags() const;
  static void forget_signal();

  /// DYNGRID_RESTORE: at the first resize point, unless the program does it itself before. Alike on all processes of
  /// the grid, false on others.
  bool must_restore() const { return grid_.has_me() && settings_.must_restore; }
  /// The restore that DYNGRID_RESTORE requests failed: the run ends, status 1.
  [[noreturn]] void end_without_restore(const std::string& why) const;

private:
  struct Restored;
  void restore_from(const std::string& name);
  void take(Restored& restored);

  Processes& processes_;
  Settings& settings_;
  Grid& grid_;
  Registered& registered_;
  const std::unique_ptr<Control>& control_; ///< of process 0; null on others
  bool repeats_point_ = false;
  double last_s_ = -1; ///< when the last one was written or restored
};

} // namespace blacs_dyn
