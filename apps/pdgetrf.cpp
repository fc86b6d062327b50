// SPDX-License-Identifier: BSD-3-Clause
// P A = L U by one call, on a grid of processes that may change between two of its panels; then A x = b.
// dyngrid_on_panel serves the table alone: without it the program is examples/lu.c.
#include "common/app.hpp"
#include "common/from_file.hpp"
#include "common/local.hpp"

#include <dyngrid/scalapack.hpp>
#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace {

// Well conditioned enough for a small residual, far enough from diagonally dominant that rows are exchanged in nearly
// every panel.
double a_element(std::int64_t i, std::int64_t j) {
  return static_cast<double>(apps::mixed(i, j, 5, 2000001) - 1000000) * 1e-6;
}

double flops(const dyngrid_panel& panel) { // including its updates to the right
  const auto w = static_cast<double>(panel.columns), m = static_cast<double>(panel.of - panel.first), right = m - w;
  return w * w * (m - w / 3) + w * w * right + 2 * right * right * w;
}

using Matrix = dyngrid::Matrix<double>;

/// Infinite where it is no number. Collective.
double largest(const Matrix& x) {
  double most = 0;
  dyngrid::for_each(x, [&](std::int64_t, std::int64_t, double e) {
    most = std::isfinite(e) ? std::max(most, std::fabs(e)) : std::numeric_limits<double>::infinity();
  });
  return apps::max_over_grid(most);
}

/// Up to this column. One process alone takes several at once where blocks are small.
int panels_before(std::int64_t column, std::int64_t nb) {
  return static_cast<int>(column / nb * ((nb + 63) / 64) + column % nb / 64);
}

struct Table {
  apps::Run run;
  std::int64_t nb;
  int panel = 0; ///< that is next
};
void tell_change(void* data) {
  auto& [run, nb, panel] = *static_cast<Table*>(data);
  run.changed(panel, DYNGRID_RESIZED);
}
void tell_panel(const dyngrid_panel* done, void* data) {
  auto& [run, nb, panel] = *static_cast<Table*>(data);
  if (done->outcome < 0) run.changed(panel, done->outcome);
  run.done(panel, flops(*done), done->seconds);
  const std::int64_t next = done->first + done->columns;
  const int next_panel = next < done->of ? panels_before(next, nb) : panels_before(next - 1, nb) + 1;
  while (panel < next_panel) run.ask(++panel);
}

/// @return exit status
int run_pdgetrf(const apps::Options& options, const std::string& file) {
  const std::int64_t n = options.n, nb = options.nb;
  apps::start(options);
  Table table{apps::Run("pdgetrf", options, "panel"), nb};
  auto& [run, its_nb, panel] = table;
  Matrix a("A", n, n, nb, nb), original("original", n, n, nb, nb), x("x", n, 1, nb, nb), b("b", n, 1, nb, nb);
  // panels are counted in blocks: a restart with other ones must be refused, not continue at another column
  apps::require(dyngrid_share(fmt::format("panel of {} columns", nb).c_str(), &panel, sizeof panel), "dyngrid_share");
  apps::require(dyngrid_on_change(nullptr, tell_change, &table), "dyngrid_on_change");
  apps::require(dyngrid_on_panel(tell_panel, &table), "dyngrid_on_panel");
  if (dyngrid_is_newcomer() == 0 && dyngrid_comm() != MPI_COMM_NULL) {
    if (file.empty())
      apps::fill<double>(original.handle(), a_element);
    else
      apps::fill_from_file("pdgetrf", original.handle(), file);
    dyngrid::copy(original, a);
    for (const Matrix* side : {&b, &x})
      apps::fill<double>(side->handle(), [](std::int64_t i, std::int64_t) { return static_cast<double>(i % 10 + 1); });
  }
  run.ask(panel);
  dyngrid::Pivots pivots;
  int info = 0;
  if (dyngrid::lu(a, pivots, info) != dyngrid::Outcome::leave) {
    const auto order = static_cast<double>(n);
    run.begin(panel, 2 * order * order);
    dyngrid::getrs(a, pivots, x);
    run.end();
    if (options.check) {
      dyngrid::gemm(-1, original, x, 1, b); // the residual
      const double scale = dyngrid::lange(original, dyngrid::Norm::infinity) * largest(x) * order;
      const double residual = largest(b) / (scale * std::numeric_limits<double>::epsilon());
      run.report_check(
          info == 0 && residual < 16, residual,
          fmt::format("scaled residual {:.3g}{}", residual, info != 0 ? fmt::format(", info {}", info) : ""));
    }
  }
  const int status = run.finish();
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return status;
}

} // namespace

int main(int argc, char** argv) {
  apps::Options options;
  options.n = 1000;
  options.nb = 50;
  std::string file;
  base::CommandLine cli(
      "Factorizes a matrix panel by panel while the grid of processes grows and shrinks, then solves A "
      "x = b. A step is one panel, of at most 64 columns; the last step is the solution, whose "
      "scaled residual max|b - A x| / (max row sum of |A| * max|x| * n * eps) must be below 16. The "
      "grid changes at the panel that is asked for or at the next one, where the matrix is whole.",
      "pdgetrf");
  apps::add_options(cli, options);
  cli.option("--steps").description("not used: there are as many steps as panels, plus one");
  apps::add_matrix_option(cli, file);
  apps::parse(cli, options, argc, argv);
  apps::take_order("pdgetrf", file, options);
  options.steps = panels_before(options.n - 1, options.nb) + 2;
  try {
    return run_pdgetrf(options, file);
  } catch (const dyngrid::Error& error) {
    apps::require(error.status(), "pdgetrf");
    throw;
  }
}
