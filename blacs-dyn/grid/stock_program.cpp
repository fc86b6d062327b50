// SPDX-License-Identifier: BSD-3-Clause
#include "grid/stock_program.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "grid/control.hpp"
#include "grid/stock_blacs.hpp"

namespace blacs_dyn {
namespace {

std::unique_ptr<Control> stock_program;

} // namespace

void show_stock_program(Shape grid, bool always) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank); // there is no application of ours with another one
  if (rank != 0 || environment("DYNGRID_NEWCOMER")) return;
  say_whose_copier();
  static bool is_shown = false;
  if (is_shown || (!always && !environment("DYNGRID_CHECKED"))) return;
  is_shown = true;
  try {
    stock_program = std::make_unique<Control>(
        Settings::from_environment(), grid,
        "this program has no resize points: it never called dyngrid_init, so its grid cannot be changed (dyngrid(7))");
    std::atexit(hide_stock_program);
  } catch (const base::Error& error) {
    std::fprintf(stderr, "dyngrid: %s\n", error.what());
  }
}

const Control* shown_stock_program() {
  return stock_program.get();
}

void hide_stock_program() {
  stock_program.reset();
}

} // namespace blacs_dyn
