// SPDX-License-Identifier: BSD-3-Clause
// Conway's Game of Life on n x n cells, dead outside, on a grid of processes that grows and shrinks between the steps.
// Every cell needs its eight neighbours, so the borders of the blocks travel with their corners.
//
// The cells may lie in blocks of one size, in one block per process, or in blocks in proportion to the speeds of
// processes. The speeds come from a rule of this program, which knows one for each place, or are those that belong to
// the processes. Unequal processors are simulated as in [Chinnusamy 2004, section 6.4]: a process of speed P computes
// each of its cells 1000/P times.
//
// --check compares every cell after every step with a run by one process alone.
#include "base/command_line.hpp"
#include "common/alone.hpp"
#include "common/app.hpp"
#include "common/local.hpp"
#include "common/own_work.hpp"

#include <dyngrid.hpp>
#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <vector>

namespace {

int first_generation(std::int64_t i, std::int64_t j) {
  return apps::mixed(i, j, 11, 100) < 35 ? 1 : 0;
}

int next_state(int alive, int neighbours) {
  return neighbours == 3 || (alive == 1 && neighbours == 2) ? 1 : 0;
}

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

// The layout of the cells on a grid, and the stated speeds of its processes.
struct Distribution {
  enum class Kind { cyclic, block, weighted, shares } kind = Kind::cyclic;
  std::int64_t n = 0;
  std::vector<double> speeds;              // one per process; used again from the start when there are more processes
  int method = DYNGRID_MAP_BEST;           // of the mapping
  std::vector<std::int64_t> rows, columns; // weighted: given by the user instead of by the mapping

  struct OnGrid {
    std::vector<std::int64_t> rows, columns; // of each grid row and column
    std::vector<double> speeds;              // row-major, of the process at each position
  };
  OnGrid on(int nprow, int npcol) const {
    OnGrid g;
    for (int k = 0; k < nprow * npcol; ++k)
      g.speeds.push_back(speeds.empty() ? 1000 : speeds[static_cast<std::size_t>(k) % speeds.size()]);
    if (kind != Kind::weighted || !rows.empty()) {
      const auto blocks = [&](int procs) {
        std::vector<std::int64_t> sizes;
        const std::int64_t block = (n + procs - 1) / procs;
        for (int p = 0; p < procs; ++p) sizes.push_back(std::clamp<std::int64_t>(n - p * block, 0, block));
        return sizes;
      };
      g.rows = rows.empty() ? blocks(nprow) : rows;
      g.columns = columns.empty() ? blocks(npcol) : columns;
      return g;
    }
    // gridmap's mapping assigns processors to places and gives their parts
    std::vector<int> order(g.speeds.size());
    g.rows.resize(static_cast<std::size_t>(nprow));
    g.columns.resize(static_cast<std::size_t>(npcol));
    std::vector<double> r(g.rows.size()), c(g.columns.size());
    double t_continuous = 0, t_theory = 0;
    apps::require(dyngrid_map(nprow, npcol, g.speeds.data(), n, n, method, order.data(), r.data(), c.data(),
                              g.rows.data(), g.columns.data(), &t_continuous, &t_theory),
                  "dyngrid_map");
    const std::vector<double> unordered = g.speeds;
    for (std::size_t k = 0; k < order.size(); ++k) g.speeds[k] = unordered[static_cast<std::size_t>(order[k])];
    return g;
  }
};

// dyngrid calls this when the grid changes: the sizes of one axis on that grid.
std::int64_t sizes_on(void* context, char axis, std::int64_t, int nprow, int npcol, std::int64_t* sizes) {
  const auto* distribution = static_cast<const Distribution*>(context);
  const std::size_t count = static_cast<std::size_t>(axis == 'R' ? nprow : npcol);
  const Distribution::OnGrid g = distribution->on(nprow, npcol);
  const std::vector<std::int64_t>& list = axis == 'R' ? g.rows : g.columns;
  if (list.size() != count) return -1; // the user's own rows and columns are for another grid
  if (sizes != nullptr) std::copy(list.begin(), list.end(), sizes);
  return static_cast<std::int64_t>(count);
}

double own_seconds() { // of this process on its core, whatever other processes run meanwhile
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// The time of a process for its own cells.
struct Seconds {
  double own = 0;  ///< on its core
  double wall = 0; ///< wall-clock time; on an emulated processor as long as that takes
};

// One line for every process to the file of --loads. False on process 0 when it cannot be written. Collective.
bool write_loads(const std::string& path, int step, double speed, const Seconds& seconds, const dyngrid_matrix* cells) {
  int nprow = 0, npcol = 0, rank = 0;
  dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
  MPI_Comm_rank(dyngrid_comm(), &rank);
  std::int64_t m_loc = 0, n_loc = 0;
  dyngrid_matrix_shape(cells, &m_loc, &n_loc, nullptr);
  using Line = std::array<double, 5>; // speed, rows, columns, seconds
  const Line mine{speed, static_cast<double>(m_loc), static_cast<double>(n_loc), seconds.own, seconds.wall};
  std::vector<Line> all(static_cast<std::size_t>(nprow * npcol));
  MPI_Gather(mine.data(), 5, MPI_DOUBLE, all.data(), 5, MPI_DOUBLE, 0, dyngrid_comm());
  if (rank != 0) return true;
  std::ofstream out(path, step == 0 ? std::ios::trunc : std::ios::app);
  if (step == 0) out << "step,nprow,npcol,row,column,speed,rows,columns,own_seconds,wall_seconds\n";
  for (int k = 0; k < nprow * npcol; ++k) {
    const Line& line = all[static_cast<std::size_t>(k)];
    out << fmt::format("{},{},{},{},{},{},{},{},{:.6f},{:.6f}\n", step, nprow, npcol, k / npcol, k % npcol, line[0],
                       line[1], line[2], line[3], line[4]);
  }
  return static_cast<bool>(out.flush());
}

/// The command line's values.
struct Settings {
  apps::Options common;
  int generations = 10;
  double repeats = 1000;
  std::string kind = "cyclic", mapping = "best", loads;
  Distribution distribution;
};

/// Values derived from the given ones.
void settle(Settings& settings) {
  Distribution& distribution = settings.distribution;
  using Kind = Distribution::Kind;
  if (settings.common.has_host_speeds()) settings.kind = "shares";
  distribution.kind = settings.kind == "cyclic"   ? Kind::cyclic
                      : settings.kind == "block"  ? Kind::block
                      : settings.kind == "shares" ? Kind::shares
                                                  : Kind::weighted;
  if (distribution.kind == Kind::shares && !settings.common.has_host_speeds())
    settings.common.speeds = distribution.speeds.empty() ? std::vector<double>{1} : distribution.speeds;
  distribution.method = settings.mapping == "best"  ? DYNGRID_MAP_BEST
                        : settings.mapping == "svd" ? DYNGRID_MAP_SVD
                                                    : DYNGRID_MAP_NATURAL;
  distribution.n = settings.common.n;
}

void read_command_line(Settings& settings, int argc, char** argv) {
  Distribution& distribution = settings.distribution;
  base::CommandLine cli(
      "Plays the Game of Life while the grid of processes grows and shrinks. A step is some generations.", "life");
  apps::add_options(cli, settings.common);
  apps::add_host_speeds(cli, settings.common);
  cli.add_option("--generations", settings.generations, "generations in a step")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--distribution", settings.kind,
                 "how the cells lie on each grid: cyclic (blocks of --nb), block (one block per process, all alike), "
                 "weighted (one block per process, larger for the faster, by --speeds), shares (the same, in blocks of "
                 "--nb, by speeds that stay with their processes)")
      .check(base::one_of({"cyclic", "block", "weighted", "shares"}))
      .type_name("NAME")
      .show_default();
  cli.add_option("--speeds,--powers", distribution.speeds,
                 "simulates unequal processors: process k of the grid (row by row; with weighted, where the mapping "
                 "puts it; with shares in the order of mpirun and of each group that comes) works out each cell "
                 "1000/SPEED times; the list is used again from its start when there are more processes")
      .separated_by(',')
      .check(base::positive_number())
      .type_name("SPEED,...");
  cli.add_option("--mapping", settings.mapping, "weighted: best, svd, natural")
      .check(base::one_of({"best", "svd", "natural"}))
      .type_name("NAME")
      .show_default();
  base::Option& rows =
      cli.add_option(
             "--rows", distribution.rows,
             "weighted: rows of each grid row, instead of the mapping's; processes then stay where --speeds says")
          .separated_by(',')
          .check(base::non_negative_number())
          .type_name("ROWS,...");
  base::Option& columns = cli.add_option("--columns", distribution.columns, "weighted: columns of each grid column")
                              .separated_by(',')
                              .check(base::non_negative_number())
                              .type_name("COLUMNS,...");
  rows.needs(columns);
  columns.needs(rows);
  cli.add_option("--repeats", settings.repeats,
                 "a cell is worked out REPEATS/SPEED times, at least once; 1000 as in the description of --speeds")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--loads", settings.loads,
                 "write to this file what each process had to do in each step: speed, rows, columns, seconds on its "
                 "core and by the clock on the wall")
      .type_name("FILE");
  apps::parse(cli, settings.common, argc, argv);
  settle(settings);
}

/// Why --rows and --columns are invalid; empty when they are valid.
std::string problem_of(const Settings& settings) {
  const Distribution& distribution = settings.distribution;
  const apps::Options& options = settings.common;
  if (distribution.rows.empty()) return "";
  const auto sum = [](const std::vector<std::int64_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  };
  if (distribution.kind != Distribution::Kind::weighted) return "--rows and --columns need --distribution weighted";
  if (!options.resize_at.empty()) return "--rows and --columns are for one grid: without --resize-at";
  if (static_cast<int>(distribution.rows.size()) != options.nprow ||
      static_cast<int>(distribution.columns.size()) != options.npcol)
    return fmt::format("{} --rows and {} --columns, expected as many as --grid has", distribution.rows.size(),
                       distribution.columns.size());
  if (sum(distribution.rows) != options.n || sum(distribution.columns) != options.n)
    return fmt::format("--rows add up to {} and --columns to {}, expected n = {}", sum(distribution.rows),
                       sum(distribution.columns), options.n);
  return "";
}

/// How often a process goes over its cells in one generation.
struct Passes {
  std::int64_t whole;
  std::int64_t last_columns; ///< of one pass more
};

Passes passes_of(double count, std::int64_t columns) {
  const auto whole = static_cast<std::int64_t>(count);
  return {whole, std::llround((count - static_cast<double>(whole)) * static_cast<double>(columns))};
}

/// The generations of one step.
Seconds play(dyngrid_matrix* cells, dyngrid::Borders<int>& borders, int generations, double repeated) {
  auto* local = static_cast<int*>(dyngrid_local(cells));
  std::int64_t lld = 1, m_loc = 0, n_loc = 0;
  dyngrid_matrix_shape(cells, &m_loc, &n_loc, &lld);
  const Passes passes = passes_of(repeated, n_loc);
  const std::int64_t s = borders.update().stride(1);
  Seconds seconds;
  for (int generation = 0; generation < generations; ++generation) {
    if (generation > 0) borders.refresh();
    apps::OwnWork work(apps::life_flops_per_cell * repeated * static_cast<double>(m_loc * n_loc));
    const double begin = own_seconds();
    for (std::int64_t pass = 0; pass <= passes.whole; ++pass) {
      const std::int64_t columns = pass < passes.whole ? n_loc : passes.last_columns;
      borders.for_each_line([&](const auto& line) {
        if (line.local >= columns * lld) return;
        const int* c = line.x;
        int* target = &local[line.local];
        for (std::int64_t i = 0; i < line.count; ++i)
          target[i] = next_state(c[i], c[i - 1] + c[i + 1] + c[i - s - 1] + c[i - s] + c[i - s + 1] + c[i + s - 1] +
                                           c[i + s] + c[i + s + 1]);
      });
      asm volatile("" : : "r"(local) : "memory"); // no pass may be optimized away
    }
    seconds.own += own_seconds() - begin;
    seconds.wall += work.end();
  }
  return seconds;
}

/// Compares every cell with a game that one process plays alone.
void check(apps::Run& run, dyngrid_matrix* cells, Alone& alone, std::int64_t n, std::int64_t generation) {
  const double wrong = apps::differing<int>(cells, n, [&] { return alone.at_generation(generation); });
  run.report_check(wrong == 0, 0, wrong == 0 ? "" : fmt::format("{} cells", wrong));
}

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  apps::Options& options = settings.common;
  Distribution& distribution = settings.distribution;
  options.n = 1000;
  read_command_line(settings, argc, argv);
  if (const std::string problem = problem_of(settings); !problem.empty())
    apps::refuse("life", problem + " (see --help)");
  const std::int64_t n = options.n;

  apps::start(options);
  apps::Run run("life", options);

  dyngrid_matrix* cells = nullptr;
  if (distribution.kind == Distribution::Kind::cyclic || distribution.kind == Distribution::Kind::shares)
    cells = apps::make_matrix("cells", n, n, options, 'i');
  else
    apps::require(dyngrid_matrix_create_by("cells", 'i', n, n, sizes_on, &distribution, &cells),
                  "dyngrid_matrix_create_by");
  int step = 0;
  apps::require(dyngrid_share("step", &step, sizeof step), "dyngrid_share");
  if (dyngrid_is_newcomer() == 0) apps::fill<int>(cells, first_generation);
  dyngrid::Borders<int> borders(cells, {1, 1}, {1, 1}, dyngrid::Neighbours::all);
  Alone alone(n);
  double population = 0;
  bool is_written = true;

  while (run.resize_point(step) != DYNGRID_LEAVE) {
    population = 0;
    dyngrid::for_each<int>(cells, [&](std::int64_t, std::int64_t, int alive) { population += alive; });
    population = apps::sum_over_grid(population);
    if (step >= options.steps) break; // beyond it: a restart with fewer
    int rank = 0, nprow = 0, npcol = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    MPI_Comm_rank(dyngrid_comm(), &rank);
    const Distribution::OnGrid here = distribution.on(nprow, npcol);
    const double speed =
        distribution.kind == Distribution::Kind::shares ? dyngrid_speed() : here.speeds[static_cast<std::size_t>(rank)];
    const double repeated = distribution.speeds.empty() ? 1 : std::max(1.0, settings.repeats / speed);

    run.begin(step, 0);
    const Seconds seconds = play(cells, borders, settings.generations, repeated);
    run.end();
    if (!settings.loads.empty()) is_written = write_loads(settings.loads, step, speed, seconds, cells) && is_written;
    ++step;
    if (options.check) check(run, cells, alone, n, static_cast<std::int64_t>(step) * settings.generations);
  }
  if (!is_written) std::fprintf(stderr, "life: cannot write %s\n", settings.loads.c_str());
  const int status = run.finish(fmt::format("{:.0f} cells alive after {} generations", population,
                                            static_cast<std::int64_t>(step) * settings.generations));
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return is_written ? status : 1;
}
