// SPDX-License-Identifier: BSD-3-Clause
// Particles that wander over n x n cells, on a grid of processes that grows and shrinks between the steps. The cost of
// a cell depends on the number of its particles. A crowd of them begins in the first rows and drifts down, so the work
// is unequal and moves: A-MPI's case [Weatherly2002, section 5.6].
//
// A rule lays out the cells by two inputs: the work of every cell, from counts that all processes have as shared state,
// and the speeds of the processes (dyngrid_rule_speed). dyngrid_cut_cells cuts rows and columns by both. From time to
// time the program checks whether a new cut is worthwhile, and redistributes the cells.
//
// With --deal items dyngrid does this: after each step every process reports the costs of its rows and columns
// (dyngrid_work_items), and DYNGRID_BALANCE=auto cuts them again where that is worthwhile.
//
// The direction of a particle is drawn from its cell, its number in the cell and the step, in integers. With --check
// every cell is compared with a run by one process alone after every step, and no particle is ever lost.
#include "base/command_line.hpp"
#include "common/alone.hpp"
#include "common/app.hpp"
#include "common/local.hpp"
#include "common/own_work.hpp"
#include "common/pieces.hpp"

#include <dyngrid.hpp>
#include <dyngrid/halo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace {

using Counts = std::vector<std::int32_t>; ///< of all cells, column by column

constexpr double flops_of_round = 8;

struct Settings {
  apps::Options common;
  int crowd = 50, crowded_rows = 0, cell_rounds = 100, particle_rounds = 15, drift = 300, wander = 40;
  std::string deal = "pays";
  int look = 5;
  bool is_measured = false;

  bool has_looks() const { return deal == "pays" || deal == "always"; }
  bool is_by_items() const { return deal == "items"; }
  std::int64_t n() const { return common.n; }
  std::int64_t rows_with_crowd() const { return crowded_rows > 0 ? crowded_rows : std::max<std::int64_t>(1, n() / 16); }
  std::int32_t at_first(std::int64_t i, std::int64_t j) const { return i < rows_with_crowd() ? crowd : j == 0 ? 1 : 0; }
  double cost(std::int32_t particles) const { return cell_rounds + static_cast<double>(particle_rounds) * particles; }
};

std::uint64_t drawn(std::uint64_t seed, int rounds) {
  for (int k = 0; k < rounds; ++k) {
    seed += 0x9E3779B97F4A7C15U;
    seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9U;
    seed ^= seed >> 27;
  }
  return seed;
}

/// The particles that leave a cell in a step, by direction, and those that stay.
struct Moves {
  std::int32_t north = 0, south = 0, west = 0, east = 0, stay = 0;
};

/// The work of one cell. Of 1,000 particles, `drift` go down and `wander` each other way; no particle leaves the field.
Moves moves_of(const Settings& s, std::int64_t i, std::int64_t j, int step, std::int32_t particles) {
  Moves moves;
  const std::int64_t last = s.n() - 1;
  const auto cell =
      static_cast<std::uint64_t>(i) << 40 ^ static_cast<std::uint64_t>(j) << 20 ^ static_cast<std::uint64_t>(step);
  const std::uint64_t seed = drawn(cell, s.cell_rounds);
  for (std::int32_t p = 0; p < particles; ++p) {
    const auto die = static_cast<int>(drawn(seed + static_cast<std::uint64_t>(p), s.particle_rounds) % 1000);
    std::int32_t Moves::*const to = die < s.drift                ? (i < last ? &Moves::south : &Moves::stay)
                                    : die >= 1000 - s.wander     ? (i > 0 ? &Moves::north : &Moves::stay)
                                    : die >= 1000 - 2 * s.wander ? (j > 0 ? &Moves::west : &Moves::stay)
                                    : die >= 1000 - 3 * s.wander ? (j < last ? &Moves::east : &Moves::stay)
                                                                 : &Moves::stay;
    ++(moves.*to);
  }
  return moves;
}

/// The whole field, by one process.
class Alone {
public:
  explicit Alone(const Settings& settings) : settings_(settings) {}

  const Counts& after(int steps) {
    const std::int64_t n = settings_.n();
    if (counts_.empty() || steps < done_) {
      counts_.clear();
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) counts_.push_back(settings_.at_first(i, j));
      done_ = 0;
    }
    for (; done_ < steps; ++done_) {
      Counts next(counts_.size(), 0);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
          const std::int64_t k = i + j * n;
          const Moves m = moves_of(settings_, i, j, done_, counts_[static_cast<std::size_t>(k)]);
          const auto add = [&](std::int64_t to, std::int32_t count) {
            if (count > 0) next[static_cast<std::size_t>(to)] += count;
          };
          add(k, m.stay);
          add(k - 1, m.north);
          add(k + 1, m.south);
          add(k - n, m.west);
          add(k + n, m.east);
        }
      counts_.swap(next);
    }
    return counts_;
  }

private:
  const Settings& settings_;
  int done_ = 0;
  Counts counts_;
};

/// A cut of the cells on a grid, and what the slowest process takes.
struct Borders {
  std::vector<std::int64_t> first_row, first_col;
  double rounds = 0;
};

/// How the cells are cut on a grid, by counts that all processes have.
class Cut {
public:
  Cut(const Settings& settings, const Counts& counts) : settings_(settings), counts_(counts) {}

  Borders of(const Counts& counts, int nprow, int npcol, const std::vector<double>& speeds) const {
    const std::int64_t n = settings_.n();
    std::vector<double> costs(counts.size()); // row by row
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        costs[static_cast<std::size_t>(i * n + j)] = settings_.cost(counts[static_cast<std::size_t>(i + j * n)]);
    Borders borders;
    borders.first_row.resize(static_cast<std::size_t>(nprow) + 1);
    borders.first_col.resize(static_cast<std::size_t>(npcol) + 1);
    apps::require(dyngrid_cut_cells(n, n, costs.data(), nprow, npcol, speeds.data(), borders.first_row.data(),
                                    borders.first_col.data(), &borders.rounds),
                  "dyngrid_cut_cells");
    return borders;
  }

  /// dyngrid's question, a dyngrid_distribution.
  static std::int64_t sizes(void* context, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes) {
    auto& self = *static_cast<Cut*>(context);
    if (self.settings_.deal == "never") return dyngrid_block_rule(nullptr, axis, length, nprow, npcol, sizes);
    std::vector<double> speeds;
    for (int row = 0; row < nprow; ++row)
      for (int col = 0; col < npcol; ++col) speeds.push_back(dyngrid_rule_speed(row, col));
    if (self.known_shape_ != std::array{nprow, npcol} || self.known_speeds_ != speeds ||
        self.known_counts_ != self.counts_) { // shared state, which may have been received from another process
      self.borders_ = self.of(self.counts_, nprow, npcol, speeds);
      self.known_shape_ = {nprow, npcol};
      self.known_speeds_ = std::move(speeds);
      self.known_counts_ = self.counts_;
    }
    const std::vector<std::int64_t>& first = axis == 'R' ? self.borders_.first_row : self.borders_.first_col;
    if (sizes != nullptr)
      for (std::size_t k = 0; k + 1 < first.size(); ++k) sizes[k] = first[k + 1] - first[k];
    return static_cast<std::int64_t>(first.size()) - 1;
  }

private:
  const Settings& settings_;
  const Counts& counts_;
  Borders borders_;
  std::array<int, 2> known_shape_{};
  std::vector<double> known_speeds_;
  Counts known_counts_;
};

struct Work {
  double rounds = 0, seconds = 0; ///< of this process, in one step
};

/// The borders of the moves, which are no elements of a matrix. Collective.
dyngrid_halo* halo_of_moves(const dyngrid_matrix* cells) {
  int nprow = 0, npcol = 0;
  dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
  const dyngrid::Layout layout(dyngrid_desc(cells), nprow, npcol);
  dyngrid_halo* halo = nullptr;
  apps::require(
      dyngrid_halo_create(dyngrid_comm(), layout.get(), 1, DYNGRID_NEIGHBOURS_FOUR, 0, 0, sizeof(Moves), &halo),
      "dyngrid_halo_create");
  return halo;
}

/// One step of all particles.
Work wander(const Settings& settings, dyngrid_matrix* cells, int step) {
  Work done;
  dyngrid::for_each<std::int32_t>(
      cells, [&](std::int64_t, std::int64_t, std::int32_t count) { done.rounds += settings.cost(count); });

  // one block of cells on each process, so one border around it; no particle comes from outside
  std::int64_t m_loc = 0, n_loc = 0;
  dyngrid_matrix_shape(cells, &m_loc, &n_loc, nullptr);
  const std::int64_t stride = m_loc + 2;
  std::vector<Moves> moves(static_cast<std::size_t>(stride * (n_loc + 2)));
  const auto for_each_cell = [&](auto visit) { // for_each goes column by column
    std::int64_t k = 0;
    dyngrid::for_each<std::int32_t>(cells, [&](std::int64_t i, std::int64_t j, std::int32_t& count) {
      visit(i, j, count, &moves[static_cast<std::size_t>(k % m_loc + 1 + (k / m_loc + 1) * stride)]);
      ++k;
    });
  };
  dyngrid_halo* halo = halo_of_moves(cells);
  apps::OwnWork work(flops_of_round * done.rounds);
  for_each_cell([&](std::int64_t i, std::int64_t j, std::int32_t count, Moves* here) {
    *here = moves_of(settings, i, j, step, count);
  });
  done.seconds = work.end();
  apps::require(dyngrid_halo_exchange(halo, moves.data(), stride), "dyngrid_halo_exchange");
  dyngrid_halo_destroy(&halo);
  for_each_cell([&](std::int64_t, std::int64_t, std::int32_t& count, const Moves* here) {
    count = here->stay + here[-1].south + here[1].north + here[-stride].east + here[stride].west;
  });
  return done;
}

/// The costs of this process's rows and columns in the next step, in rounds. A round counts as a nanosecond at speed 1,
/// since the measured time of a stretch includes all other activity. speed: as the program knows it.
void report(const Settings& settings, const dyngrid_matrix* cells, double speed) {
  for (const char axis : {'R', 'C'}) {
    std::int64_t first = 0, end = 0;
    if (dyngrid_my_range(cells, axis, 0, &first, &end) != 1) continue;
    std::vector<double> seconds(static_cast<std::size_t>(end - first));
    dyngrid::for_each<std::int32_t>(cells, [&](std::int64_t i, std::int64_t j, std::int32_t count) {
      seconds[static_cast<std::size_t>((axis == 'R' ? i : j) - first)] += 1e-9 * settings.cost(count) / speed;
    });
    apps::require(dyngrid_work_items(cells, axis, first, end - first, seconds.data()), "dyngrid_work_items");
  }
}

/// All cells, on every process of the grid. Collective.
Counts gathered(const dyngrid_matrix* cells, std::int64_t n) {
  Counts all(static_cast<std::size_t>(n * n), 0);
  dyngrid::for_each<std::int32_t>(cells, [&](std::int64_t i, std::int64_t j, std::int32_t count) {
    all[static_cast<std::size_t>(i + j * n)] = count;
  });
  apps::in_pieces(all, [](std::int32_t* first, int count) {
    MPI_Allreduce(MPI_IN_PLACE, first, count, MPI_INT32_T, MPI_SUM, dyngrid_comm());
  });
  return all;
}

std::vector<double> on_all(double mine) {
  int size = 0;
  MPI_Comm_size(dyngrid_comm(), &size);
  std::vector<double> all(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, dyngrid_comm());
  return all;
}

/// The data of the balancing, the same on all processes.
struct Balance {
  std::int32_t looks = 0, changes = 0;
  double change_s = 0; ///< of the last one; nothing is known of the first
};

/// Checks whether another cut is worthwhile, and makes it. Collective.
void look(apps::Run& run, const Settings& settings, const Cut& cut, dyngrid_matrix* cells, Counts& counts,
          const Work& last, Balance& balance, int step) {
  int nprow = 0, npcol = 0;
  dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
  const double round_s = last.rounds > 0 ? last.seconds / last.rounds : 0;
  const std::vector<double> measured = on_all(round_s > 0 ? 1 / round_s : 0);
  const double fastest = *std::max_element(measured.begin(), measured.end());
  const double mine = round_s > 0 ? 1 / round_s / fastest : 1;
  if (settings.is_measured && fastest > 0) apps::require(dyngrid_set_speed(mine), "dyngrid_set_speed");
  const std::vector<double> speeds = on_all(dyngrid_speed());

  ++balance.looks;
  const Counts here = gathered(cells, settings.n());
  double rounds = 0;
  dyngrid::for_each<std::int32_t>(
      cells, [&](std::int64_t, std::int64_t, std::int32_t count) { rounds += settings.cost(count); });
  const double now = apps::max_over_grid(rounds / dyngrid_speed());
  const double then = cut.of(here, nprow, npcol, speeds).rounds;
  // seconds of a unit of this clock: the measured time of all rounds over their nominal time
  const double unit_s =
      apps::sum_over_grid(last.seconds) / std::max(1.0, apps::sum_over_grid(rounds / dyngrid_speed()));
  const std::int64_t payoff =
      then < now ? dyngrid_payoff_point(std::max(0.0, balance.change_s), now * unit_s, then * unit_s) : -1;
  const int left = settings.common.steps - step;
  if (settings.deal == "pays" && (payoff < 0 || payoff > std::min(left, 2 * settings.look) || then > 0.98 * now))
    return;
  std::copy(here.begin(), here.end(), counts.begin()); // shared state stays where it is
  const double begin = MPI_Wtime();
  const int outcome = dyngrid_relayout();
  apps::require(outcome, "dyngrid_relayout");
  if (outcome != DYNGRID_RESIZED) return;
  balance.change_s = apps::max_over_grid(MPI_Wtime() - begin);
  ++balance.changes;
  run.print(
      fmt::format("  dealt out anew before step {}: the slowest process has {:.0f} rounds, {:.0f} before, in {:.4f} s",
                  step, then, now, balance.change_s));
}

/// Prints dyngrid's distribution of the cells, beside the exact cut. Collective.
void say_cut(apps::Run& run, const Settings& settings, const Cut& cut, const dyngrid_matrix* cells, int step) {
  int nprow = 0, npcol = 0;
  dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
  double rounds = 0;
  dyngrid::for_each<std::int32_t>(
      cells, [&](std::int64_t, std::int64_t, std::int32_t count) { rounds += settings.cost(count); });
  const double here = apps::max_over_grid(rounds / dyngrid_speed());
  const double exact = cut.of(gathered(cells, settings.n()), nprow, npcol, on_all(dyngrid_speed())).rounds;
  run.print(fmt::format("  dealt out by dyngrid before step {}: the slowest process has {:.0f} rounds, {:.3f} times "
                        "the exact cut{}",
                        step, here, here / exact, here <= 1.05 * exact ? ", within 5 %" : ""));
}

void check(apps::Run& run, const dyngrid_matrix* cells, Alone& alone, const Settings& settings, int steps) {
  const std::int64_t n = settings.n();
  const std::int64_t rows = std::min(settings.rows_with_crowd(), n);
  const double wrong = apps::differing<std::int32_t>(cells, n, [&] { return alone.after(steps); });
  double particles = 0;
  dyngrid::for_each<std::int32_t>(cells, [&](std::int64_t, std::int64_t, std::int32_t count) { particles += count; });
  particles = apps::sum_over_grid(particles);
  const auto begun = static_cast<double>(rows * n * settings.crowd + (n - rows));
  run.report_check(wrong == 0 && particles == begun, wrong,
                   wrong > 0 ? fmt::format("{:.0f} cells", wrong)
                             : fmt::format("{:.0f} particles{}", particles,
                                           particles == begun ? "" : fmt::format(" of {:.0f}", begun)));
}

void read_command_line(Settings& s, int argc, char** argv) {
  s.common.n = 256;
  base::CommandLine cli(
      "Particles wander over cells, so that the work is unequal and moves, while the grid of processes "
      "grows and shrinks.",
      "particles");
  apps::add_options(cli, s.common);
  cli.add_option("--crowd", s.crowd, "particles in each cell of the first rows; one in the first cell of others")
      .check(base::in_range(0, 100000))
      .show_default();
  cli.add_option("--crowded-rows", s.crowded_rows, "how many rows are crowded (default: n / 16)")
      .check(base::positive_number());
  cli.add_option("--drift", s.drift, "of 1,000 particles, how many go down a row in a step")
      .check(base::in_range(0, 700))
      .show_default();
  cli.add_option("--wander", s.wander, "how many go up, left and right, each")
      .check(base::in_range(0, 100))
      .show_default();
  cli.add_option("--cell-rounds", s.cell_rounds, "work of a cell").check(base::positive_number()).show_default();
  cli.add_option("--particle-rounds", s.particle_rounds, "work of a particle, in the same unit")
      .check(base::positive_number())
      .show_default();
  cli.add_option(
         "--deal", s.deal,
         "never (equal blocks), pays (a new cut, by work and speed, where it saves time), always, items (dyngrid does "
         "it, under --balance auto)")
      .check(base::one_of({"never", "pays", "always", "items"}))
      .type_name("NAME")
      .show_default();
  cli.add_option("--look", s.look, "steps between two counts of the particles")
      .check(base::positive_number())
      .show_default();
  cli.add_flag("--measure", s.is_measured, "speeds are measured at every count, by the work of the last step");
  apps::add_speeds(cli, s.common);
  apps::parse(cli, s.common, argc, argv);
  if (s.is_by_items() && s.common.balance.empty()) setenv("DYNGRID_BALANCE", "auto", 0);
}

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  read_command_line(settings, argc, argv);
  const std::int64_t n = settings.n();

  apps::start(settings.common);
  const double own_speed = dyngrid_speed(); // before a balance sets another one for it
  apps::Run run("particles", settings.common);
  Counts counts(static_cast<std::size_t>(n * n), 0); // the basis of the layout: at first nothing is known
  Cut cut(settings, counts);
  dyngrid_matrix* cells = nullptr;
  int step = 0;
  Balance balance;
  apps::require(dyngrid_share("counts", counts.data(), counts.size() * sizeof counts[0]), "dyngrid_share");
  apps::require(dyngrid_share("step", &step, sizeof step), "dyngrid_share");
  apps::require(dyngrid_share("balance", &balance, sizeof balance), "dyngrid_share");
  apps::require(settings.is_by_items()
                    ? dyngrid_matrix_create_weighted("cells", 'i', n, n, 1, 1, DYNGRID_ORDER_BLOCK, &cells)
                    : dyngrid_matrix_create_by("cells", 'i', n, n, &Cut::sizes, &cut, &cells),
                "dyngrid_matrix_create");
  if (dyngrid_is_newcomer() == 0)
    apps::fill<std::int32_t>(cells, [&](std::int64_t i, std::int64_t j) { return settings.at_first(i, j); });
  Alone alone(settings);
  Work last;

  for (int outcome = 0; (outcome = run.resize_point(step)) != DYNGRID_LEAVE;) {
    if (step >= settings.common.steps) break; // beyond it: a restart with fewer
    if (settings.is_by_items() && outcome == DYNGRID_RESIZED) {
      ++balance.changes;
      say_cut(run, settings, cut, cells, step);
    }
    if (settings.has_looks() && step > 0 && step % settings.look == 0)
      look(run, settings, cut, cells, counts, last, balance, step);
    run.begin(step, 0);
    last = wander(settings, cells, step);
    run.end();
    ++step;
    if (settings.is_by_items()) report(settings, cells, own_speed);
    if (settings.common.check) check(run, cells, alone, settings, step);
  }
  const int status = run.finish(fmt::format("dealt out anew {} times in {} looks", balance.changes, balance.looks));
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return status;
}
