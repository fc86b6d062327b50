// SPDX-License-Identifier: BSD-3-Clause
// What an application's steps and changes of the grid took, in this run and in earlier ones. No MPI.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gridmap/topology.hpp"

namespace control {

/// Step times of one grid: enough to add more and to give mean and spread. Pure.
struct StepTimes {
  std::int64_t count = 0;
  double mean = 0;    ///< seconds
  double squares = 0; ///< sum of squared deviations from the mean
  double least = 0;

  void add(double step_s);
  void add(const StepTimes& more);
  /// Standard error of the mean; of a single step, where there is none, a tenth of it.
  double error() const;
  /// Counts for no more than `most` steps from here on, so that what is new weighs more than what is old.
  void forget_beyond(std::int64_t most);
};

/// What one change of the grid took. Seconds as in dyngrid_resize_report.
struct ChangeCost {
  gridmap::GridShape from, to;
  int spawned = 0;
  double spawn_s = 0, merge_s = 0, plan_s = 0, exchange_s = 0;
  std::int64_t moved_bytes = 0;
  double predicted_exchange_s = 0; ///< by redist's plan, before; 0: not known
};

/// Which runs may be compared: the same program on the same problem on the same kind of machine.
struct HistoryKey {
  std::string app, size, machine;
  bool operator<(const HistoryKey& o) const {
    return std::tie(app, size, machine) < std::tie(o.app, o.size, o.machine);
  }
  bool operator==(const HistoryKey& o) const {
    return std::tie(app, size, machine) == std::tie(o.app, o.size, o.machine);
  }
};

/// Model name of the processor and the number of cores: what makes step times comparable. Local.
std::string machine_name();

struct History {
  std::map<std::pair<int, int>, StepTimes> steps; ///< by (nprow, npcol)
  std::vector<ChangeCost> changes;                ///< oldest first, at most 200
  std::vector<ChangeCost>
      spawns; ///< growths of any application on this machine, at most 200: what starting processes takes

  std::vector<gridmap::ShapeTime> shape_times() const;
};

/// Steps of earlier runs do not count for more than this many new ones.
constexpr std::int64_t remembered_steps = 200;

// ---- prediction (pure)
// -----------------------------------------------------------------------------------------------------

struct Prediction {
  double seconds = 0;
  double error = 0;         ///< one standard deviation: of the measurements, or of the fit and between fits
  bool is_measured = false; ///< on this very grid
  int grids = 0;            ///< measured grids that the fit goes through
};

/// Seconds of a step on `shape`. Measured: their mean. Otherwise fits of
///     t(p, q) = a + b/(p q) + c (1/p + 1/q) + d (p + q),   a, b, c, d >= 0
/// (what does not scale; work; messages of row and column blocks; messages by their number) through the measured grids,
/// weighted by their errors, with every choice of terms that the number of grids allows (d alone only with two grids or
/// more); their mean by Akaike's weights, and as error their own and the spread between them. Empty when nothing was
/// measured. docs/decisions/0006. `cores` of the hosts, 0 when not known: a grid of more processes shares its work
/// among so many only, and is predicted to be no quicker than the quickest measured one that fills them.
std::optional<Prediction> predict_step(const std::map<std::pair<int, int>, StepTimes>& measured,
                                       gridmap::GridShape shape, int cores = 0);

/// The measured grid with the fewest processes that is within `tolerance` of the quickest measured one.
std::optional<gridmap::GridShape> sweet_spot(const std::map<std::pair<int, int>, StepTimes>& measured,
                                             double tolerance = 0.05);

/// Seconds to start n processes: a line through the measured growths, `otherwise` when there are none.
double predict_spawn(const std::vector<ChangeCost>& growths, int n, double otherwise);

/// Seconds of an exchange: the mean of the measured ones from -> to; else `planned` (redist's), corrected by the median
/// of measured over planned.
double predict_exchange(const std::vector<ChangeCost>& changes, gridmap::GridShape from, gridmap::GridShape to,
                        double planned);

// ---- the file
// ----------------------------------------------------------------------------------------------------------------

/// $XDG_STATE_HOME/dyngrid/history.jsonl, else ~/.local/state/dyngrid/history.jsonl; empty: nowhere (neither is set, or
/// DYNGRID_HISTORY=off). A path in DYNGRID_HISTORY goes first.
std::string history_file();

/// All that is known of `key`. An absent file, and lines that cannot be read, are nothing.
History read_history(const std::string& file, const HistoryKey& key);
/// Every key in the file.
std::vector<std::pair<HistoryKey, History>> read_all_history(const std::string& file);

/// Adds to the file what is new; other jobs may do the same at the same time. The folder is made. A file beyond 512 KiB
/// is put together anew: one line per grid, the 1000 keys used last. Cost: one write, under a lock waited for at most
/// `wait_s`.
/// @return false when it could not be done now (the lock, the disk): keep it and try later.
bool append_history(const std::string& file, const HistoryKey& key,
                    const std::map<std::pair<int, int>, StepTimes>& steps, const std::vector<ChangeCost>& changes,
                    double wait_s = 0.2);

} // namespace control
