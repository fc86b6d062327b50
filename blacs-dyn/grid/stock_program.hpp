// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "processes/names.hpp"

namespace blacs_dyn {

class Control;

/// A program that makes BLACS grids and never calls dyngrid_init: `dyngrid ps` shows it with its first grid, as one
/// that cannot be resized. Only of process 0, and only where `dyngrid run` started it, or always: for a program whose
/// calls are looked at (DYNGRID_CALLS). Once. Local.
void show_stock_program(Shape grid, bool always = false);
/// Null when there is none. Local.
const Control* shown_stock_program();
/// The program calls dyngrid_init after all, or ends.
void hide_stock_program();

} // namespace blacs_dyn
