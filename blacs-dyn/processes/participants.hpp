// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include "processes/names.hpp"

namespace blacs_dyn {

/// Which processes take part in a change of the grid and their ranks in the union communicator: determined once. Pure.
struct Participants {
  Participants(const ProcessSet& before, const Change& change, int me);

  int my_rank = 0;            ///< in the union
  std::vector<int> old_ranks; ///< in the union, of the old grid's processes, row-major
  std::vector<int> new_ranks; ///< the same of the new grid
  bool is_joining = false;    ///< this process is new or woken
  int my_position = 0;        ///< in the new grid, row-major; its size when this process is not in it
};

} // namespace blacs_dyn
