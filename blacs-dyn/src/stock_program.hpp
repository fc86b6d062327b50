// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "processes/shape.hpp"

namespace blacs_dyn {

/// A program that makes BLACS grids and never calls dyngrid_init: `dyngrid ps` shows it with its first grid, as one
/// that cannot be resized. Only of process 0, and only where `dyngrid run` started it. Local.
void show_stock_program(Shape grid);
/// The program calls dyngrid_init after all, or ends.
void hide_stock_program();

} // namespace blacs_dyn
