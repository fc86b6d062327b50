// SPDX-License-Identifier: BSD-3-Clause
// Conway's Game of Life on n x n cells, dead outside, on a grid of processes that grows and shrinks between the steps. Every cell needs
// its eight neighbours, so the borders of the blocks travel with their corners.
//
// --check compares every cell after every step with a run by one process alone.
#include "common/app.hpp"
#include "common/halo.hpp"
#include "common/local.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace {

int first_generation(std::int64_t i, std::int64_t j) { return apps::mixed(i, j, 11, 100) < 35 ? 1 : 0; }

int next_state(int alive, int neighbours) { return neighbours == 3 || (alive == 1 && neighbours == 2) ? 1 : 0; }

// The whole field, by one process.
class Alone {
public:
  explicit Alone(std::int64_t n) : n_(n), stride_(n + 2) {}

  // Cells, column by column. Goes on from where it is, or begins again.
  std::vector<int> at_generation(std::int64_t generation) {
    if (cells_.empty() || generation < generation_) {
      cells_.assign(stride_ * stride_, 0);
      generation_ = 0;
      for (std::int64_t j = 0; j < n_; ++j)
        for (std::int64_t i = 0; i < n_; ++i) cells_[i + 1 + (j + 1) * stride_] = first_generation(i, j);
    }
    for (; generation_ < generation; ++generation_) {
      std::vector<int> next(cells_.size());
      for (std::int64_t j = 1; j <= n_; ++j)
        for (std::int64_t i = 1; i <= n_; ++i) {
          int neighbours = 0;
          for (std::int64_t dj = -1; dj <= 1; ++dj)
            for (std::int64_t di = -1; di <= 1; ++di)
              if (di != 0 || dj != 0) neighbours += cells_[i + di + (j + dj) * stride_];
          next[i + j * stride_] = next_state(cells_[i + j * stride_], neighbours);
        }
      cells_.swap(next);
    }
    std::vector<int> inner(n_ * n_);
    for (std::int64_t j = 0; j < n_; ++j)
      for (std::int64_t i = 0; i < n_; ++i) inner[i + j * n_] = cells_[i + 1 + (j + 1) * stride_];
    return inner;
  }

private:
  std::int64_t n_, stride_, generation_ = 0;
  std::vector<int> cells_;
};

} // namespace

int main(int argc, char** argv) {
  apps::Options options;
  options.n = 1000;
  int generations = 10;
  std::vector<double> powers;
  CLI::App cli("Plays the Game of Life while the grid of processes grows and shrinks. A step is some generations.", "life");
  apps::add_options(cli, options);
  cli.add_option("--generations", generations, "generations in a step")->check(CLI::PositiveNumber)->capture_default_str();
  cli.add_option("--powers", powers,
                 "simulates unequal processors: process k of the grid (row by row) works out each cell 1000/POWER times; the list is used again from its start "
                 "when there are more processes")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->type_name("POWER,...");
  apps::parse(cli, options, argc, argv);
  const std::int64_t n = options.n, nb = options.nb;

  apps::start(options);
  apps::Run run("life", options);

  dyngrid_matrix* cells = nullptr;
  apps::require(dyngrid_matrix_create("cells", 'i', n, n, nb, nb, &cells), "dyngrid_matrix_create");
  int step = 0;
  apps::require(dyngrid_share("step", &step, sizeof step), "dyngrid_share");
  if (dyngrid_is_newcomer() == 0) apps::fill<int>(cells, first_generation);
  Alone alone(n);
  double population = 0;

  while (run.resize_point(step) != DYNGRID_LEAVE) {
    population = 0;
    apps::for_each_local<int>(cells, [&](std::int64_t, std::int64_t, int alive) { population += alive; });
    population = apps::sum_over_grid(population);
    if (step == options.steps) break;
    auto* local = static_cast<int*>(dyngrid_local(cells));
    std::int64_t lld = 1;
    int rank = 0;
    dyngrid_matrix_shape(cells, nullptr, nullptr, &lld);
    MPI_Comm_rank(dyngrid_comm(), &rank);
    const double power = powers.empty() ? 1000 : powers[static_cast<std::size_t>(rank) % powers.size()];
    const int repeats = std::max(1, static_cast<int>(std::lround(1000 / power)));
    apps::Bordered<int> bordered(cells, MPI_INT, 0);

    run.begin(step, 0);
    for (int generation = 0; generation < generations; ++generation) {
      bordered.fetch(local);
      for (int repeat = 0; repeat < repeats; ++repeat)
        bordered.for_each([&](std::int64_t i, std::int64_t j, const int* c, std::int64_t s) {
          const int neighbours = c[-1] + c[1] + c[-s - 1] + c[-s] + c[-s + 1] + c[s - 1] + c[s] + c[s + 1];
          const_cast<volatile int&>(local[i + j * lld]) = next_state(*c, neighbours); // volatile: every repeat is to be done
        });
    }
    run.end();
    ++step;

    if (options.check) {
      std::vector<int> expected(n * n);
      if (rank == 0) expected = alone.at_generation(static_cast<std::int64_t>(step) * generations);
      MPI_Bcast(expected.data(), static_cast<int>(expected.size()), MPI_INT, 0, dyngrid_comm());
      double wrong = 0;
      apps::for_each_local<int>(cells, [&](std::int64_t i, std::int64_t j, int alive) { wrong += alive == expected[i + j * n] ? 0 : 1; });
      wrong = apps::sum_over_grid(wrong);
      run.verdict(wrong == 0, 0, wrong == 0 ? "" : fmt::format("{} cells", wrong));
    }
  }
  const int status = run.finish(fmt::format("{:.0f} cells alive after {} generations", population, static_cast<std::int64_t>(step) * generations));
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return status;
}
