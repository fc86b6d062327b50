// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "base/grid_shape.hpp"
#include "common/need.hpp"
#include "dyngrid.h"
#include "equal.hpp"

namespace bench {
namespace {

/// Old processes request the larger grid, new processes start on it.
/// @return the grid before, on old processes
std::string grow(const base::GridShape& to) {
  std::string from;
  if (dyngrid_is_newcomer() == 0 && dyngrid_comm() != MPI_COMM_NULL) {
    int nprow = 0, npcol = 0;
    need(dyngrid_grid(&nprow, &npcol, nullptr, nullptr) == 0, "dyngrid_grid");
    from = fmt::format("{}x{}", nprow, npcol);
    if (nprow * npcol >= to.size()) {
      if (dyngrid_is_first() != 0)
        std::fprintf(stderr, "bench_pblas: --grow: got %dx%d, expected a grid larger than the %s there is\n", to.nprow,
                     to.npcol, from.c_str());
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    need(dyngrid_request(to.nprow, to.npcol) == 0, "dyngrid_request");
  }
  need(dyngrid_resize_point() == DYNGRID_RESIZED, "the growth");
  return from;
}

apps::BlacsGrid grown_grid() {
  apps::BlacsGrid grid;
  grid.ctxt = dyngrid_context();
  Cblacs_gridinfo(grid.ctxt, &grid.nprow, &grid.npcol, &grid.myrow, &grid.mycol);
  return grid;
}

} // namespace

int run_grown(const Settings& settings) {
  const base::GridShape to = base::parse_grid_shape(settings.grow, "--grow");
  setenv("DYNGRID_PBLAS", "stock", 1); // what p?gemm and the others without dyngrid_ are
  setenv("DYNGRID_WAIT", "on", 1);     // new processes exist at the first resize point
  need(dyngrid_init() == 0, "dyngrid_init");
  const std::string from = grow(to);
  const bool is_first = dyngrid_is_first() != 0;
  apps::Report report("bench_grown", is_first ? settings.csv : "");
  apps::Table table{"Seconds of a call on a grid that grew, medians; the ratio is stock's time over ours",
                    {"routine", "from", "to", "n", "nb", "stock", "own", "ratio"},
                    {}};
  for (const std::string& routine : settings.routines) {
    apps::Ratios ratios;
    for (const int n : settings.orders)
      for (const int nb : settings.blocks) {
        const EqualCase what{"after a growth", routine,         from, grown_grid(), n, nb, settings.reps,
                             settings.check,   {"stock", "own"}};
        const auto seconds = measure(what, dyngrid_comm(), report);
        const double stock = seconds.at("stock"), own = seconds.at("own");
        ratios.add(stock / own);
        table.rows.push_back({routine, from, settings.grow, n, nb, apps::Cell(stock, 3), apps::Cell(own, 3),
                              apps::Cell(stock / own, 3)});
      }
    table.note += fmt::format("{}{}: {}.", table.note.empty() ? "" : " ", routine, ratios.text());
  }
  if (is_first) report.add(table);
  const bool is_written = report.finish();
  need(dyngrid_finalize() == 0, "dyngrid_finalize");
  return is_written ? 0 : 1;
}

} // namespace bench
