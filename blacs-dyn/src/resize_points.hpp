// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "balancing.hpp"
#include "control/resize_request.hpp"
#include "council.hpp"
#include "packet.hpp"
#include "place.hpp"
#include "resize.hpp"

namespace blacs_dyn {

class Application;

/// The points of the program where its grid may change: where this process is, whether all are at the same one, and
/// what is done there.
class ResizePoints {
public:
  explicit ResizePoints(Application& app) : app_(app) {}

private:
  struct Wish { ///< of this process, for this resize point
    Shape to;
    gridmap::Placement placement = gridmap::Placement::optimal;
    control::Without without = {};
    std::optional<control::ResizeRequest> request = std::nullopt; ///< process 0: somebody outside has it
    std::uint64_t flags() const;                                  ///< PlaceWord::Flag
  };

public:
  // ---- for the program. Collective over the grid, to which process 0 is called where it is outside. @return a
  // dyngrid_outcome
  int arrive(const Place& place);
  int arrive_at(const char* name);
  /// without: control::Without as text; null: everybody may stay.
  int resize(Shape to, gridmap::Placement placement, const char* without = nullptr);
  int need(const char* grids); ///< control::Allowed as text: waits until the scheduler grants one of them
  int pop();
  int rebalance();      ///< now, whatever the mode is. @throws agreed Error when it could not be done
  bool is_change_due(); ///< dyngrid_pending
  void request(Shape to, control::Without without = {}); ///< at the next point; local
  const char* entry_point();                             ///< also says that this process can be led; local
  void set_entry_point(std::string name) { entry_point_ = std::move(name); }

  /// Carries the change through on this process, through all sleeps, until it goes on in the program. Collective over
  /// the union.
  int see_through(Resize& change);
  int sleep_until_needed();

  // ---- arrive() in parts, for a routine of ours that has something to finish before a matrix may move
  /// A process that is not in the grid comes into it, or does not. Empty: it is in the grid.
  std::optional<int> come_in(const Place& place);
  /// What all processes want at the place where they are.
  struct Findings {
    Wish wish;
    std::uint64_t all = 0; ///< PlaceWord::Flag
    bool is_anything() const;
  };
  Findings look(); ///< collective over the grid
  int act(Findings findings);

  bool awaits_newcomers() const { return under_way_ && !under_way_->is_led(); }
  void end(); ///< the application ends: nobody is waited for any more

  // ---- for a change: what newcomers are told of the place, and where they meet the others
  enum class Where : int { here, elsewhere, nowhere };
  void write(Packet& packet) const;
  void read(Packet& packet);       ///< after the place itself
  void take_place(Packet& packet); ///< both: of process 0 that is called to the others
  Where compare(const Place& others, bool may_be_led) const;
  void lead_to(const Place& others) { entry_point_ = others.text; }
  [[noreturn]] void refuse(const Place& others, const char* who) const;
  void changed() { entry_point_.clear(); }
  std::string name_for_newcomers() const;

private:
  static constexpr int asleep_outside = -1000; ///< process 0's outcome of a change that it is not in the grid after
  struct CouncilEnds {
    explicit CouncilEnds(Council& council) : council_(council) {}
    ~CouncilEnds() { council_.is_over(); }
    CouncilEnds(const CouncilEnds&) = delete;
    CouncilEnds& operator=(const CouncilEnds&) = delete;

  private:
    Council& council_;
  };
  int after(int outcome);
  int act_on(Findings found);
  int change_now(Resize::Goal goal);
  // process 0 outside the grid: attend.cpp
  int attend();
  bool wants_the_grid();
  int answer(Packet& packet);
  int end_outside();

  Wish next_wish();
  std::uint64_t compare_places(const Place& place, std::uint64_t flags);
  void check_places(const Place& place) const;
  int balance();
  int balance_as(const Balancing::Verdict& verdict);
  Resize::Goal agree_on_goal(const Wish& wish, bool is_own);
  int change(Resize::Goal goal, std::optional<control::ResizeRequest> request = std::nullopt, std::uint64_t all = 0);
  int carry_out(Resize& next);
  int carry_out_or_give_back(Resize& next);
  std::uint64_t news();
  bool passes_by();
  std::uint64_t looks_to_come();
  void keep_warm();
  void release_kept();
  int let_in(std::uint64_t all);
  int join();
  int go_on_where_led();
  int leave();

  Application& app_;
  Shape requested_{};
  control::Without without_;       ///< of that request
  Place place_;                    ///< the last one that this process came to
  Place others_place_;             ///< process 0 outside the grid: where the others called it
  bool plain_places_count_ = true; ///< false where programs differ; the same on all processes of the grid
  std::string entry_point_;
  bool can_be_led_ = false;
  /// Newcomers are on their way while the application computes on; or this process is led to where the others wait.
  std::optional<Resize> under_way_;
  int to_pass_ = 0;     ///< points, while newcomers are on their way; the same on all processes of the grid
  double looked_s_ = 0; ///< process 0: when, and at which point
  std::int64_t looked_at_ = 0;
};

} // namespace blacs_dyn
