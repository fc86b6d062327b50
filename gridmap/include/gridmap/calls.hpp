// SPDX-License-Identifier: BSD-3-Clause
// Calls of ScaLAPACK's routines by a program that nobody changes: where each of them would run best, and what is asked
// of them. Pure.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/grid_shape.hpp"

namespace gridmap {

using base::GridShape;

/// Where a call runs: on a grid of the caller's first processes, row-major, in square blocks.
struct CallPlace {
  GridShape grid;
  int nb = 0;

  bool operator==(const CallPlace& o) const { return grid == o.grid && nb == o.nb; }
  bool operator<(const CallPlace& o) const { return grid != o.grid ? grid < o.grid : nb < o.nb; }
};
std::string to_string(const CallPlace& place); ///< "2x2/64"

// ---- what is asked for

struct CallRule {
  enum class Mode {
    direct,    ///< not looked at
    report,    ///< runs where it is; what another place would bring is reported
    automatic, ///< runs where it is expected to end first
    fixed,     ///< runs on `place`
    measure,   ///< is measured in all places at its full size, then runs where it is
    forced     ///< is moved each time, to odd grids and block sizes: for tests
  };
  Mode mode = Mode::direct;
  CallPlace place; ///< of Mode::fixed; nb 0: the caller's; an empty grid: the caller's
};

/// By the routine's name: pdgetrf. Empty: off.
using CallRules = std::map<std::string, CallRule>;

/// "off", "report", or routines and what they are to do: "pdgetrf,pdpotrf=2x2/64,p?gemm=/32,all=forced". A colon does
/// for =; ? stands for all types of a routine, `all` for all routines; a later entry goes before an earlier one.
/// @throws Error{bad_argument} naming `where`
CallRules parse_call_rules(std::string_view text, std::string_view where);
/// The routines whose calls can be moved: pdgetrf, ...
const std::vector<std::string>& call_routines();

// ---- what is known

/// What calls of one routine took at one place for one size.
struct CallSample {
  std::string routine;
  int aspect = 0; ///< problems of one aspect differ in size only: sizes over the largest, in powers of two
  CallPlace place;
  std::int64_t n = 0; ///< the largest size
  double work = 0;    ///< operations
  double seconds = 0; ///< as is usual
  std::int64_t count = 1;
};

/// The last eight of some measurements: one that was disturbed does not count.
class Recent {
public:
  void add(double value);
  std::int64_t count() const { return static_cast<std::int64_t>(values_.size()); }
  double usual() const { return at(0.25); } ///< the lower quartile: what is disturbed only takes longer. NaN of none
  /// What that may be off by: twice its standard error, as the least tells.
  double spread() const;

private:
  double at(double part) const;
  std::vector<double> values_;
};

/// What is expected of a call, and what that may be off by.
struct CallExpectation {
  double seconds = std::numeric_limits<double>::quiet_NaN();
  double spread_s = 0;
};

/// The seconds of routines by place and size, measured in short and corrected by each call.
class CallSpeeds {
public:
  /// One more measurement. What is older than the last eight is forgotten.
  void add(const CallSample& sample);
  /// Expected seconds; NaN where nothing is known of this routine, aspect and place. What was measured for this very
  /// size is taken as it is; else a n + b work is fitted, neither below 0, by relative errors, near sizes first.
  double predict(const std::string& routine, int aspect, const CallPlace& place, std::int64_t n, double work) const;
  /// predict(), and how sure that is: few measurements of this size are as unsure as they are above what other sizes
  /// let expect. looks_again_below above 0: fewer than these are left out, and what is expected is taken as if it were
  /// sure.
  CallExpectation expect(const std::string& routine, int aspect, const CallPlace& place, std::int64_t n, double work,
                         std::int64_t looks_again_below = 0) const;
  bool knows(const std::string& routine, int aspect, const CallPlace& place) const;
  std::vector<CallSample> samples() const;

private:
  struct Size {
    double work = 0;
    Recent seconds;
  };
  using Sizes = std::map<std::int64_t, Size>;
  static double fitted(const Sizes& sizes, std::int64_t n, double work, std::int64_t without);

  using Key = std::tuple<std::string, int, CallPlace>;
  std::map<Key, Sizes> known_;
};

// ---- what is decided

/// One way to carry out a call.
struct CallOption {
  CallPlace place;
  double run_s = std::numeric_limits<double>::quiet_NaN(); ///< of the routine there; NaN: not known
  double copy_s = 0;                                       ///< there and back
  double spread_s = 0;                                     ///< what the run may be off by
  double seconds() const { return run_s + copy_s; }
};

/// A move has to save this part of the call.
constexpr double least_call_gain = 0.1;

/// The number of the option to take: the least of those that are known, where it saves enough against the first one,
/// which is to stay, and more than both may be off by; else 0. Nothing is known of the first one: 0.
std::size_t choose_call(const std::vector<CallOption>& options, double least_gain = least_call_gain);

/// What calls of one size did so far, and when the other way is looked at again: a choice that was wrong by chance
/// would stay for good, because only what is done is measured.
class CallTurns {
public:
  /// `seconds`: that the call was to take where it ran, copies included; the same on all processes, and finite.
  void count(bool is_moved, double seconds) {
    moved_ += is_moved ? 1 : 0;
    moved_s_ = is_moved ? moved_s_ + seconds : 0;
    stayed_ = is_moved ? 0 : stayed_ + 1;
    if (!is_moved)
      while (check_ <= moved_) check_ *= 4;
  }
  /// The next one stays although it is to be moved, to be compared: after the 4th, the 16th, the 64th, ... that is
  /// moved, as soon as it loses little of what those since the last one that stayed have taken; at the next turn in any
  /// case, since what it would lose may be wrong.
  bool checks_staying(double lost_s) const {
    constexpr double most_lost = 1.0 / 16;
    return moved_ >= check_ && (!(lost_s > most_lost * moved_s_) || moved_ >= 4 * check_);
  }
  /// Places where fewer calls ran are taken for what other sizes let expect: of a few calls those that were disturbed
  /// may be most. At the 4th, the 8th, the 16th, ... in a row that stays, from the 64th on all; else 0.
  std::int64_t looks_again_below() const;

private:
  std::int64_t moved_ = 0;
  double moved_s_ = 0;      ///< since one stayed
  std::int64_t stayed_ = 0; ///< in a row
  std::int64_t check_ = 4;
};

/// What calls of one size, all of which stay, would take where they run best: of Mode::report.
class CallGain {
public:
  /// Options as for choose_call(); what is known of the first one, to stay, is from before the first call.
  void look_at(std::vector<CallOption> options);
  /// One more call, where it was.
  void add(double seconds);
  std::int64_t calls() const { return calls_; }
  /// Something is known of another place.
  bool is_known() const { return is_known_; }
  /// Where calls would run; `here` as long as no place is better by more than choose_call() wants.
  CallPlace best() const { return options_[chosen_].place; }
  bool is_to_move() const { return chosen_ != 0; }
  /// Of all calls, in the best place; never more than they took.
  double best_s() const;

private:
  void choose();
  std::vector<CallOption> options_{CallOption{}};
  Recent stayed_;
  double expected_s_ = std::numeric_limits<double>::quiet_NaN(), seconds_ = 0;
  std::int64_t calls_ = 0;
  std::size_t chosen_ = 0;
  bool is_known_ = false;
};

/// The places worth looking at for a call that is now in blocks of nb on `here`: other block sizes, other shapes of the
/// same processes, fewer processes. Not `here` itself.
std::vector<CallPlace> call_places(GridShape here, int nb);

/// Mode::forced: never the same place twice in a row, neither where the call is.
CallPlace forced_place(GridShape here, int nb, std::int64_t call);

// ---- the report

/// Calls of one routine and size.
struct CallTally {
  std::string routine, size;
  std::int64_t calls = 0;
  std::map<std::string, std::int64_t> places; ///< how many ran where; "-" is in the caller's own place
  double seconds = 0;                         ///< that they took, copies included
  double other_s = 0;     ///< that they would have taken in the caller's place; Mode::report: in the best one
  std::int64_t known = 0; ///< of them: calls of which that is known
  double moved_bytes = 0; ///< there and back
  std::string best{};     ///< Mode::report: the best place, "-" for the caller's; empty: not known
};

/// A table for people of the forty that took longest, these first; empty without tallies. `is_report`: all are of
/// Mode::report.
std::string describe(const std::vector<CallTally>& tallies, bool is_report);

} // namespace gridmap
