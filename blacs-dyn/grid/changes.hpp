// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "grid/resize.hpp"

namespace blacs_dyn {

class Application;

/// The changes of the application's grid: carries them out, and holds the one that is under way.
class Changes {
public:
  explicit Changes(Application& app) : app_(app) {}

  // ---- the result of each: a dyngrid_outcome
  /// Makes the grid the requested one, or starts the processes that it needs. all: what the processes found out at this
  /// resize point, PlaceWord::Flag. Collective over the grid.
  int make(Resize::Goal goal, std::optional<control::ResizeRequest> request = std::nullopt, std::uint64_t all = 0);
  /// At a resize point: admits the new processes when all of the requested ones are ready. Collective over the grid.
  int let_in(std::uint64_t all);
  /// Carries the change through on this process, through all sleeps, until it goes on in the program. Collective over
  /// the union.
  int see_through(Resize& change);
  int join(); ///< on a new process
  int sleep_until_needed();
  int leave();

  // ---- the one that is under way: new processes start while the application computes on, or this process is led to
  // where the others wait. Local
  const Resize* under_way() const { return under_way_ ? &*under_way_ : nullptr; }
  bool is_led() const { return under_way_ && under_way_->is_led(); }
  bool awaits_newcomers() const { return under_way_ && !under_way_->is_led(); }
  Resize take_under_way();
  void call_off(const std::string& why);

  // ---- the processes that were requested, or are kept
  std::uint64_t news(); ///< PlaceWord::Flag. Local
  void keep_warm();     ///< on process 0: replaces spare processes that a growth took or that ended. Local
  void release_kept();  ///< those that no growth took in time leave. Collective over the grid
  /// PlaceWord::Flag: process 0 knows of spare processes that are not yet introduced to the others. Local
  std::uint64_t introductions() const;
  /// Introduces them, where process 0 announced it. @return what is left to be acted on. Collective over the grid
  std::uint64_t introduce(std::uint64_t all);

private:
  int carry_out(Resize& next);
  bool waits_for_growth(const Resize& newer) const;
  std::optional<Resize> sleep();

  Application& app_;
  std::optional<Resize> under_way_;
  bool has_called_off_ = false; ///< a growth, for a newer request, and the grid has not changed since
};

} // namespace blacs_dyn
