// SPDX-License-Identifier: BSD-3-Clause
// The times of the phases of a program, by grid and by the layouts of their matrices; and of the moves between layouts.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>

#include "advise/step_time.hpp"

namespace control {

/// A phase in a choice of layouts of its matrices, or the move of one matrix.
struct PhaseKey {
  base::GridShape grid;
  std::string name;    ///< of the phase, or of the matrix that was moved
  std::string from;    ///< its layout before; empty: this is a phase
  std::string layouts; ///< "A 64x64, B 24x24", or the layout that the matrix was moved to
  bool is_move() const { return !from.empty(); }
  bool operator<(const PhaseKey& o) const {
    return std::tie(grid, from, name, layouts) < std::tie(o.grid, o.from, o.name, o.layouts);
  }
};

/// Seconds: of the slowest process. The first run of a phase in a layout opens connections; it is left out where there
/// is another.
using PhaseTimes = std::map<PhaseKey, advise::StepTimes>;
constexpr std::size_t most_phase_times = 400; ///< stored of one program and size

} // namespace control
