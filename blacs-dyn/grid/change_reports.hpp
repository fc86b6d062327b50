// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>

#include "dyngrid.h"
#include "grid/control.hpp"
#include "grid/matrix_move.hpp"
#include "grid/settings.hpp"
#include "processes/processes.hpp"

namespace blacs_dyn {

/// What each change took: for the program (dyngrid_last_resize), the clients, and stderr where DYNGRID_VERBOSE says so.
class ChangeReports {
public:
  ChangeReports(const Processes& processes, const Settings& settings, const std::unique_ptr<Control>& control)
      : processes_(processes), settings_(settings), control_(control) {}

  const dyngrid_resize_report& last() const { return last_; } ///< before the first change: zeros

  /// New layouts on the same grid. started: when, by MPI_Wtime. Collective over the grid.
  void relaid(const MatrixMove& move, double started);
  /// As this process knows it: the report has the largest of each.
  struct Resized {
    double merge_s = 0, total_s = 0;
    double asked_at_step = -1; ///< -1: this process does not know it
  };
  /// Another grid. Answers the request. Collective over the new grid.
  void resized(const Processes::Union& gathered, const MatrixMove& move, const Resized& mine,
               std::optional<control::ResizeRequest>& request);
  /// A change that was tried at a resize point: the program goes on with the grid that it has. Answers the request.
  /// Local.
  void failed(Shape to, const base::Error& error, std::optional<control::ResizeRequest>& request);

private:
  bool are_printed() const { return settings_.is_verbose && processes_.id() == 0; }
  void print(bool is_in_slabs) const;

  const Processes& processes_;
  const Settings& settings_;
  const std::unique_ptr<Control>& control_; ///< of process 0; null on others
  dyngrid_resize_report last_{};
};

} // namespace blacs_dyn
