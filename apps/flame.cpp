// SPDX-License-Identifier: BSD-3-Clause
// A flame in two phases, as SUIF-Adapt's example of that name [MorrisLowenthal2001]. Heat spreads by a stencil on all n
// x n cells. Fuel burns by an adaptive solver, nearly all of whose work is in the top quarter. The stencil is best in
// large blocks, as its borders go to neighbours; burning is best in small ones, so that each process has its share of
// the top. dyngrid decides which layout each phase has, with the cost of moving.
//
// A cell is a complex number: its heat, and its fuel. Each is computed by the same operations whatever the layout, so
// the result is compared bit for bit with one process alone.
#include "base/command_line.hpp"
#include "common/alone.hpp"
#include "common/app.hpp"
#include "common/local.hpp"
#include "common/own_work.hpp"
#include "common/phase_record.hpp"

#include <dyngrid.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <vector>

namespace {

using Cell = std::complex<double>;

Cell at_first(std::int64_t i, std::int64_t j) {
  return {1 + 0.001 * static_cast<double>((3 * i + 7 * j) % 11), 1};
}

/// From the cell and its neighbours `stride` apart.
Cell spread(const Cell* here, std::int64_t stride) {
  const double around = here[-1].real() + here[1].real() + here[-stride].real() + here[stride].real();
  return {here->real() + 0.2 * (around - 4 * here->real()), here->imag()};
}

/// The number of small steps: the hotter, the faster.
Cell burnt(Cell cell, int steps) {
  double heat = cell.real(), fuel = cell.imag();
  for (int k = 0; k < steps; ++k) {
    const double hot = heat * heat, burns = 0.001 * fuel * hot / (1 + hot);
    fuel -= burns;
    heat += burns;
  }
  return {heat, fuel};
}

int burn_steps(std::int64_t i, std::int64_t n, int spin) {
  return 4 * i < n ? spin : 1;
}

/// All cells after this many cycles, by one process.
std::vector<Cell> alone(std::int64_t n, int cycles, int sweeps, int spin) {
  const std::int64_t stride = n + 2;
  std::vector<Cell> cells(stride * stride), next(stride * stride);
  const auto each = [&](auto visit) {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) visit(i, j, i + 1 + (j + 1) * stride);
  };
  each([&](std::int64_t i, std::int64_t j, std::int64_t k) { cells[k] = at_first(i, j); });
  for (int cycle = 0; cycle < cycles; ++cycle) {
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      each([&](std::int64_t, std::int64_t, std::int64_t k) { next[k] = spread(&cells[k], stride); });
      cells.swap(next);
    }
    each([&](std::int64_t i, std::int64_t, std::int64_t k) { cells[k] = burnt(cells[k], burn_steps(i, n, spin)); });
  }
  std::vector<Cell> inner(n * n);
  each([&](std::int64_t i, std::int64_t j, std::int64_t k) { inner[i + j * n] = cells[k]; });
  return inner;
}

void stencil(const dyngrid_matrix* cells, dyngrid::Borders<Cell>& borders, int sweeps) {
  const std::int64_t stride = borders.update().stride(1);
  auto* local = static_cast<Cell*>(dyngrid_local(cells));
  std::int64_t m_loc = 0, n_loc = 0;
  dyngrid_matrix_shape(cells, &m_loc, &n_loc, nullptr);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    if (sweep > 0) borders.refresh();
    const apps::OwnWork work(7.0 * static_cast<double>(m_loc) * static_cast<double>(n_loc));
    borders.for_each_line([&](const auto& line) {
      for (std::int64_t i = 0; i < line.count; ++i) local[line.local + i] = spread(&line.x[i], stride);
    });
  }
}

void burn(dyngrid_matrix* cells, std::int64_t n, int spin) {
  double steps = 0;
  dyngrid::for_each<Cell>(cells, [&](std::int64_t i, std::int64_t, Cell) { steps += burn_steps(i, n, spin); });
  const apps::OwnWork work(7.0 * steps);
  dyngrid::for_each<Cell>(
      cells, [&](std::int64_t i, std::int64_t, Cell& cell) { cell = burnt(cell, burn_steps(i, n, spin)); });
}

struct FlameOptions {
  int sweeps = 10, spin = 200;
  std::vector<std::int64_t> stencil_blocks{4, 0}, burn_blocks{4, 0};
  std::string csv;
};

void add_options(base::CommandLine& cli, FlameOptions& flame) {
  cli.add_option("--sweeps", flame.sweeps, "of the stencil in a step").check(base::positive_number()).show_default();
  cli.add_option("--spin", flame.spin, "small steps of a cell in the top quarter that burns; 1 elsewhere")
      .check(base::positive_number())
      .show_default();
  apps::add_blocks(cli, "--stencil", flame.stencil_blocks,
                   "block sizes that the stencil may have; block: one for each process [4,block]");
  apps::add_blocks(cli, "--burn", flame.burn_blocks, "block sizes that burning may have [4,block]");
  cli.add_option("--phases", flame.csv, "write what each phase took, and what was planned, as CSV").type_name("FILE");
}

/// It reads and writes the cells, in any of these block sizes.
dyngrid_phase* phase_in(const char* name, dyngrid_matrix* cells, const std::vector<std::int64_t>& blocks) {
  dyngrid_phase* phase = apps::make_phase(name, {{cells, DYNGRID_READ | DYNGRID_WRITE}});
  for (const std::int64_t nb : blocks) apps::add_layout(phase, cells, nb);
  return phase;
}

} // namespace

int main(int argc, char** argv) {
  apps::Options options;
  options.n = 256;
  options.steps = 20;
  FlameOptions flame;
  base::CommandLine cli(
      "Heat spreads and fuel burns, in two phases that each would like its cells to lie another way. A "
      "step is a cycle of both.",
      "flame");
  apps::add_options(cli, options);
  add_options(cli, flame);
  apps::parse(cli, options, argc, argv);
  const std::int64_t n = options.n;

  apps::start(options);
  apps::Run run("flame", options, "cycle");
  apps::PhaseRecord record;
  options.nb = flame.stencil_blocks[0];
  dyngrid_matrix* const cells = apps::make_matrix("cells", n, n, options, 'z');
  dyngrid_phase* const spreads = phase_in("stencil", cells, flame.stencil_blocks);
  dyngrid_phase* const burns = phase_in("burn", cells, flame.burn_blocks);
  int step = 0;
  apps::require(dyngrid_share("step", &step, sizeof step), "dyngrid_share");
  if (dyngrid_is_newcomer() == 0) apps::fill<Cell>(cells, at_first);

  dyngrid::Borders<Cell> borders(cells, {1, 1}, {1, 1});
  while (run.resize_point(step) != DYNGRID_LEAVE) {
    if (step >= options.steps) break; // beyond it: a restart with fewer
    run.begin(step, 0);
    record.begin(step, "stencil", spreads);
    stencil(cells, borders, flame.sweeps);
    record.end();
    record.begin(step, "burn", burns);
    burn(cells, n, flame.spin);
    record.end();
    ++step;
    run.end(step == options.steps);
    if (!options.check || step < options.steps) continue;
    const double wrong = apps::differing<Cell>(cells, n, [&] { return alone(n, step, flame.sweeps, flame.spin); });
    run.report_check(wrong == 0, wrong,
                     wrong == 0 ? "equal to the serial run"
                                : fmt::format("{} cells differ from the serial run", wrong));
  }
  const bool is_written = dyngrid_comm() == MPI_COMM_NULL || record.write_csv(flame.csv);
  if (!is_written) std::fprintf(stderr, "flame: cannot write %s\n", flame.csv.c_str());
  const int status = run.finish();
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return is_written ? status : 1;
}
