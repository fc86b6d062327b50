// SPDX-License-Identifier: BSD-3-Clause
// What stands behind the handles of dyngrid/redist.h.
#pragma once
#include <string>

#include "plan/axis_table.hpp"
#include "redist/layout.hpp"
#include "redist/plan.hpp"

struct dyngrid_layout {
  redist::Layout layout;
};

struct dyngrid_plan {
  redist::Plan plan;
  int element_bytes;
  std::string text;
};
