// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include "control/job_server.hpp"
#include "control/job_state.hpp"
#include "dyngrid.h"
#include "holdings.hpp"
#include "settings.hpp"

namespace blacs_dyn {

/// What process 0 of an application shows to the outside, and what it learns of its own steps. Lives from the first
/// grid to the end.
class Job {
public:
  /// Without a usable runtime directory there is a line on stderr and no socket; the rest works.
  /// why_fixed: why its grid cannot be changed from outside; empty: it can.
  Job(const Settings& settings, Shape first_grid, const std::string& why_fixed);
  ~Job(); ///< says good-bye, writes the history

  static double now(); ///< seconds on the clock of everything here
  const std::string& name() const { return name_; }

  /// A resize point is reached: what is to be done about wishes from outside, unless the program has one of its own.
  std::optional<control::Wanted> resize_point(const Holdings& holdings, bool wants_itself);
  /// Another process of the program wanted something else: `wanted` waits.
  void defer(const control::Wanted& wanted);
  /// `wanted` is tried now; one of the next three tells how it went.
  void carries_out(const control::Wanted& wanted);
  void was_there_already();
  void failed(Shape to, base::Status status, const std::string& why);
  /// Called for every change, whoever wanted it. parked: processes that sleep now.
  void changed(const dyngrid_resize_report& report, int parked, std::vector<control::UnitInfo> units);
  /// The request that is being carried out, 0 for none: new processes may come many resize points after they were sent
  /// for.
  std::int64_t asked() const { return asked_; }
  void goes_on_with(std::int64_t asked) { asked_ = asked; }
  void called_off(std::int64_t asked, Shape to, const std::string& why);

  control::JobState& state() { return *state_; }

private:
  void look_at(const Holdings& holdings);

  std::string name_;
  std::unique_ptr<control::JobState> state_;
  std::unique_ptr<control::JobServer> server_;
  std::int64_t seen_ = -1; ///< revision of the holdings
  std::int64_t asked_ = 0; ///< number of the request that is being carried out
  std::function<gridmap::Cost(gridmap::GridShape, gridmap::GridShape)> planned_exchange_;
};

/// A program that makes BLACS grids and never calls dyngrid_init: `dyngrid ps` shows it with its first grid, as one
/// that cannot be resized. Only of process 0, and only where `dyngrid run` started it. Local.
void show_stock_program(Shape grid);
/// The program calls dyngrid_init after all, or ends.
void hide_stock_program();

} // namespace blacs_dyn
