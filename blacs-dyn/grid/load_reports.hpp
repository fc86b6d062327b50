// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "advise/process_load.hpp"
#include "control/load_monitor.hpp"
#include "grid/settings.hpp"
#include "processes/processes.hpp"

namespace blacs_dyn {

/// What processes get of their processors: each measures its own by a monitor; those that sleep send it to process 0.
/// docs/decisions/0048. Local.
class LoadReports {
public:
  LoadReports(Processes& processes, const Settings& settings) : processes_(processes), settings_(settings) {}

  // ---- a process of the grid
  /// The monitor runs from here on, if this is on; a process that slept works again. @return false: it did not sleep
  bool begin_or_wake();
  bool is_on() const { return is_on_; }
  void turn_on() { is_on_ = true; } ///< some process requested it: the same on all processes of the grid
  bool has_changed() const { return monitor_ && monitor_->has_changed(); }
  advise::LoadFigures own() const;
  void was_sent(); ///< own() has been sent
  // marked work. @throws Error{bad_state, bad_argument}
  void work_begins();
  void work_ends(double units);

  // ---- a process that sleeps
  /// Now and then: sends its load to process 0 when that changes, and as a sign of life. Passes on the reports of the
  /// groups that this process owns.
  void while_asleep();

  // ---- process 0
  /// Of all sleeping processes, as they reported last.
  std::vector<advise::LoadFigures> of_sleepers();

  void end(); ///< no thread is left, and no report is on its way

private:
  void start_monitor();
  void receive();

  Processes& processes_;
  const Settings& settings_;
  control::LoadMonitor::Pointer monitor_;
  bool is_on_ = false;
  struct Clocks {
    double wall_s, cpu_s;
  };
  std::optional<Clocks> marked_; ///< when the work began that is marked
  struct Report {
    advise::LoadFigures load;
    double at_s = 0;
  };
  std::optional<Report> sent_;     ///< by this process, which sleeps
  bool is_asleep_ = false;         ///< its monitor measures it so
  std::map<int, Report> received_; ///< on process 0, by process
};

} // namespace blacs_dyn
