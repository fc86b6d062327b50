// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "grid/change_routines.hpp"
#include "grid/matrices.hpp"
#include "grid/shared_state.hpp"

namespace blacs_dyn {

/// What the program registered: it follows the grid.
struct Registered {
  Matrices matrices;
  SharedState shared;
  ChangeRoutines routines;

  void clear() {
    matrices.clear();
    shared.clear();
    routines.clear();
  }
};

} // namespace blacs_dyn
