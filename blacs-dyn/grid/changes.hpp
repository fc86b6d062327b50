// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "grid/balancing.hpp"
#include "grid/resize.hpp"

namespace blacs_dyn {

class Headroom;
class Relayout;

/// The changes of the application's grid: what this process asks for, the goal that all agree on, and the change that
/// is carried out or under way.
class Changes {
public:
  Changes(const Resize::Parts& parts, const Headroom& headroom, Relayout& relayout, Balancing& balancing,
          const std::unique_ptr<Control>& control)
      : parts_(parts), headroom_(headroom), relayout_(relayout), balancing_(balancing), control_(control) {}

  // ---- what is asked for at a resize point. Local
  struct Asked {
    std::optional<Resize::Goal> goal = std::nullopt; ///< of this process: its program's, or the timetable's
    bool has_waited = false;                         ///< that goal, at an earlier point; newer ones go before it
    std::optional<control::ResizeRequest> request = std::nullopt; ///< process 0: from outside
    std::uint64_t flags() const;                                  ///< PlaceWord::Flag of what this process asks for
  };
  void request(Shape to, advise::Without without = {}); ///< by the program, at the next point
  /// Where nothing was requested, waits or is under way. A request of any process goes before it. @return whether it
  /// was taken
  bool request_if_none(Shape to);
  Asked next_asked();        ///< a point is passed, and this is taken there
  void pass_point();         ///< a point is passed, and what is asked for waits
  void put_off(Asked asked); ///< to the next point
  bool is_due();             ///< at the next point something would be done

  /// The goal that counts: that of the lowest rank with a goal of its own, where some process has one (is_own), else
  /// that of process 0. Goals that have waited count only where no process has a newer one. That process sends it to
  /// the others. Collective over the grid.
  Resize::Goal agree_on_goal(const Asked& asked, bool is_own);

  // ---- the result of each: a dyngrid_outcome
  /// Makes the grid the requested one, or starts the processes that it needs. all: what the processes found out at this
  /// resize point, PlaceWord::Flag. Collective over the grid.
  int make(Resize::Goal goal, std::optional<control::ResizeRequest> request = std::nullopt, std::uint64_t all = 0);
  /// At a resize point: admits the new processes when all of the requested ones are ready. Where the program waits for
  /// them now: awaits them. Collective over the grid.
  int let_in(std::uint64_t all);
  /// Carries the change through on this process, through all sleeps, until it goes on in the program. Collective over
  /// the union.
  int see_through(Resize& change);
  /// A process that is not in the grid comes into it, or does not. Empty: it is in the grid.
  std::optional<int> come_in();
  int join(); ///< on a new process
  int sleep_until_needed();
  int leave();
  int pop();                                        ///< dyngrid_pop
  int balance(const Balancing::Decision& decision); ///< @throws agreed Error when it could not be done
  /// A growth that is decided already, by blacs_setup.dat. Closes all contexts, as blacs_exit does.
  int grow(Change change);

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
  void make_way(const Resize& newer);
  void give_back(const Resize& change);
  bool waits_for_growth(const Resize& newer) const;
  Resize::Goal goal_of(const control::ResizeRequest& request) const;
  int lay_out_anew(const GridMap& to);
  std::optional<Resize> sleep();

  const Resize::Parts parts_;
  const Headroom& headroom_;
  Relayout& relayout_;
  Balancing& balancing_;
  const std::unique_ptr<Control>& control_; ///< of process 0; null on others
  std::optional<Resize::Goal> requested_;   ///< by the program, for the next point
  std::optional<Resize::Goal> waiting_;     ///< was requested at an earlier point
  std::optional<Resize> under_way_;
  bool has_called_off_ = false; ///< a growth, for a newer request, and the grid has not changed since
};

} // namespace blacs_dyn
