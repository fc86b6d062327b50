// SPDX-License-Identifier: BSD-3-Clause
// Jobs for the simulator: modelled ones that arrive at random, and recorded ones.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "random.hpp"
#include "sched/sizes.hpp"
#include "sched/time.hpp"

namespace sched {

/// @throws base::Error{bad_argument} "scheduler: <text>"
[[noreturn]] void refuse_input(const std::string& text);

/// Written as the numbers of dyngrid_allow (advise::parse_set): "6", "2:9", "8:32:4", "4:32:*2", lists of
/// these with commas; or "any": 1 to `most`.
/// @throws base::Error{bad_argument} naming `where`.
Sizes parse_sizes(std::string_view text, int most, std::string_view where);

/// A kind of job. Its time on n processors is steps * step_s(n).
struct App {
  std::string name;
  int category = 0; ///< for the statistics, from 0
  int priority = 0;
  Sizes sizes;
  std::vector<double> step_s; ///< on each of sizes
  double steps = 1;           ///< mean, when random_steps
  bool random_steps = false;  ///< exponentially distributed steps, for comparisons with queueing theory
  bool resizable = true;
  double work_s = 0; ///< time on one processor, for the utilization
  /// Cost of a change between sizes p and q: resize_base_s + resize_per_proc_s * max(p, q).
  double resize_base_s = 0, resize_per_proc_s = 0;

  double seconds_on(int procs) const { return steps * step_s[static_cast<std::size_t>(sizes.index_of(procs))]; }
};

struct Newcomers {
  double at_s = 0;
  const App* app = nullptr;
  double steps = 0;
  bool ignores = false;       ///< looks at no request
  double crashes_at = -1;     ///< part of its steps after which it crashes; -1: never
  double finish_by_s = never; ///< when it is to have ended; infinite: whenever
};

class Arrivals {
public:
  virtual ~Arrivals() = default;
  /// The next job, times ascending. @return false when there are no more.
  virtual bool next(Newcomers& arrival) = 0;
};

/// Independent exponential times between arrivals; the same seed gives the same jobs whatever is done with
/// them, so that policies are compared on the same jobs.
class RandomArrivals : public Arrivals {
public:
  /// @param per_s mean arrivals per second of each of `apps` (borrowed).
  RandomArrivals(const std::vector<App>& apps, std::vector<double> per_s, std::uint64_t seed, double ignoring = 0,
                 double crashing = 0);
  bool next(Newcomers& arrival) override;

private:
  const std::vector<App>& apps_;
  std::vector<double> cumulative_;
  Random random_;
  double now_s_ = 0, ignoring_, crashing_;
};

class RecordedArrivals : public Arrivals {
public:
  explicit RecordedArrivals(std::vector<Newcomers> list);
  bool next(Newcomers& arrival) override;

private:
  std::vector<Newcomers> list_;
  std::size_t at_ = 0;
};

/// What section 9 of DRMS leaves open; the defaults are explained in docs/scheduler.md.
struct DrmsChoices {
  /// Multiply, for the categories I, II, III, the serial fractions fitted to the published step times.
  double serial[3] = {8, 4, 1};
  double small_shortest_s = 100, small_longest_s = 1480; ///< category I on one processor
  bool resize_small = false;
  double resize_scale = 1;
};

/// The 21 applications of DRMS, section 9: seven in each of the categories I (small), II and III (large).
std::vector<App> drms_apps(const DrmsChoices& choices = {});

/// The six mixes, percent of the utilization from categories I, II, III.
struct Mix {
  int percent[3];
};
const std::vector<Mix>& drms_mixes();
/// "25:25:50"; adds up to 100. @throws base::Error{bad_argument}
Mix parse_mix(std::string_view text);
std::string to_string(const Mix& mix);

/// Arrivals per second of each app such that (rate * mean time on one processor) / procs adds up to
/// `utilization`, in the parts of `mix` for the three categories, the same rate for all apps of a category.
std::vector<double> rates_for(const std::vector<App>& apps, const Mix& mix, double utilization, int procs);

/// A file of recorded jobs: a line each of `name,arrival_s,sizes,steps,step times` and optionally
/// `,key=value`s: sizes with blanks or semicolons between them ("4 8 16", "4:16:*2"), step times in seconds
/// the same way, one for each size. Keys: priority, resize (seconds), rigid, ignores, crashes (part of the
/// steps). '#' starts a comment.
struct RecordedJobs {
  std::vector<App> apps;
  std::vector<Newcomers> arrivals; ///< refer to apps
};
/// @throws base::Error{bad_argument} that names the line.
RecordedJobs parse_jobs(std::string_view text, std::string_view where);

} // namespace sched
