// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "control/job_server.hpp"
#include "control/job_state.hpp"
#include "dyngrid.h"
#include "grid/matrices.hpp"
#include "grid/settings.hpp"
#include "processes/processes.hpp"

namespace blacs_dyn {

/// What process 0 of an application shows to the outside, the requests that it receives from there, and what it learns
/// of its own steps. Lives from the first grid to the end; its requests die before it.
class Control {
public:
  /// Without a usable runtime directory there is a line on stderr and no socket; the rest works.
  /// why_fixed: why its grid cannot be changed from outside; empty: it can.
  Control(const Settings& settings, Shape first_grid, const std::string& why_fixed);
  ~Control();     ///< writes the history
  void hang_up(); ///< says good-bye: no request is received or answered any more

  const std::string& name() const { return name_; }
  control::JobState& state() const { return *state_; }
  void know(const Processes& processes);
  void know(const Matrices& matrices);
  void know_warm(Reserve::Count warm) { state_->set_warm(warm.asleep, warm.starting); }
  // where the environment does not say otherwise
  void allow(const advise::Allowed& allowed);
  void set_steps(std::int64_t steps);
  void set_experiment(const advise::Experiment& experiment);

  void wake() const {
    if (state_->wake) state_->wake();
  }
  /// As JobState's. @throws Error{unsupported} where no scheduler can answer
  std::optional<control::Grant> ask(const std::string& grids, bool waits, double patience_s);

  /// A resize point is reached: takes a request from outside, unless the program has a request of its own.
  std::optional<control::ResizeRequest> resize_point(const Matrices& matrices, bool wants_itself);
  /// A checkpoint was requested from outside: PlaceWord::Flag.
  std::uint64_t checkpoint_flags() const;
  /// What a checkpoint took is no part of a step. failure: empty where it was written
  void checkpointed(const std::optional<control::CheckpointRequest>& request, const std::string& path,
                    const std::string& failure);
  /// Called for every change, whatever requested it; answers the request. parked: processes that sleep now.
  void changed(const dyngrid_resize_report& report, int parked, std::optional<control::ResizeRequest>& request);
  void relaid(); ///< the matrices lie otherwise on the same grid: what that took is no part of a step
  /// A change that was tried at a resize point; answers the request.
  void failed(Shape to, base::Status status, const std::string& why, std::optional<control::ResizeRequest>& request);

private:
  std::string name_;
  bool may_allow_, may_set_steps_, may_experiment_;
  std::unique_ptr<control::JobState> state_;
  std::unique_ptr<control::JobServer> server_;
  std::int64_t seen_ = -1; ///< revision of the matrices
  std::function<advise::Cost(base::GridShape, base::GridShape)> planned_exchange_;
};

/// A program that makes BLACS grids and never calls dyngrid_init: `dyngrid ps` shows it with its first grid, as one
/// that cannot be resized. Only of process 0, and only where `dyngrid run` started it, or always: for a program whose
/// calls are looked at (DYNGRID_CALLS). Once. Local.
void show_stock_program(Shape grid, bool always = false);
/// Null when there is none. Local.
const Control* shown_stock_program();
/// The program calls dyngrid_init after all, or ends.
void hide_stock_program();

} // namespace blacs_dyn
