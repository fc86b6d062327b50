// SPDX-License-Identifier: BSD-3-Clause
// Calls of ScaLAPACK's routines by an unmodified program: where each of them would run best, and what is asked
// of them. Pure.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "advise/rules.hpp"
#include "advise/usual_time.hpp"
#include "base/grid_shape.hpp"

namespace advise {

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
    forced     ///< is moved each time, to odd grids and block sizes: for tests
  };
  Mode mode = Mode::direct;
  CallPlace place; ///< of Mode::fixed; nb 0: the caller's; an empty grid: the caller's
};

/// Where a call that lies at `here` runs under Mode::fixed.
CallPlace place_asked(const CallPlace& asked, const CallPlace& here);

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
  /// size is taken as it is; else a n + b work is fitted, neither below 0, by relative errors, near sizes first. Fewer
  /// than three measurements of this size do not count where other sizes promise less.
  CallExpectation expect(const std::string& routine, int aspect, const CallPlace& place, std::int64_t n,
                         double work) const;

private:
  struct Size {
    double work = 0;
    UsualTime seconds{CallChoiceRules().kept};
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

/// Where a call runs, and the terms that led to it.
struct CallDecision {
  std::size_t chosen = 0;                                   ///< number of the option; 0: it stays
  double stay_s = std::numeric_limits<double>::quiet_NaN(); ///< expected where it is; NaN: not known
  CallPlace best;                                           ///< the other place that would take least
  double run_s = std::numeric_limits<double>::quiet_NaN();  ///< expected of the routine there; NaN: no place is known
  double copy_s = 0;                                        ///< of its operands, there and back
  double needed_s = 0;                                      ///< a move has to save at least this
  bool is_moved() const { return chosen != 0; }
};
/// The first option is to stay. The fastest other option is chosen if it saves at least the gain of the rules, and more
/// than the spreads of both. The call stays where the time of the first option is not known.
CallDecision decide_call(const std::vector<CallOption>& options);
std::string to_string(const CallDecision& decision); ///< "moves to 2x2/64: 0.1 s + 0.01 s of copies, here 0.5 s"

/// What calls of a routine took so far, and what its places were measured for.
struct CallsSoFar {
  double spent_s = 0;    ///< in the calls
  double measured_s = 0; ///< in measuring places
  int rounds = 0;        ///< of measuring all places
};
/// Whether all places are measured before a call that is expected to take `expected_s`. The first time: once the calls
/// take long enough for it. Again, at most four times in all: once the calls took a hundred times as long as measuring.
/// That corrects a disturbed measurement.
bool is_time_to_measure(const CallsSoFar& so_far, double expected_s);

/// What calls of one size, all of which stay, would take where they run best: of Mode::report.
class CallGain {
public:
  /// Options as for decide_call(); what is known of the first one, to stay, is from before this call.
  void look_at(std::vector<CallOption> options);
  /// One more call, where it was.
  void add(double seconds);
  std::int64_t calls() const { return calls_; }
  /// Something is known of another place.
  bool is_known() const { return is_known_; }
  /// Where calls would run; `here` as long as no place is better by more than decide_call() asks for.
  CallPlace best() const { return options_[chosen_].place; }
  bool is_to_move() const { return chosen_ != 0; }
  /// Of all calls, in the best place; never more than they took.
  double best_s() const;

private:
  void choose();
  std::vector<CallOption> options_{CallOption{}};
  UsualTime stayed_{CallChoiceRules().kept};
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

} // namespace advise
