// SPDX-License-Identifier: BSD-3-Clause
// Poisson's equation on the unit square, -(u_xx + u_yy) = f with u = 0 on the border, by Jacobi's iteration on n x n
// inner points, on a grid of processes that grows and shrinks between the steps.
//
// f is chosen so that the discrete solution is s(i,j) = sin(pi x_i) sin(pi y_j). That is an eigenvector of the
// iteration, with eigenvalue cos(pi h); begun at u = 0, after k sweeps u is exactly (1 - cos(pi h)^k) s. So every step
// can be checked, converged or not. After the last step u is also compared, bit for bit, with the same sweeps done by
// one process alone.
#include "base/command_line.hpp"
#include "common/app.hpp"
#include "common/ghosted.hpp"
#include "common/local.hpp"
#include "common/own_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

const double pi = std::acos(-1.0);

struct Problem {
  std::int64_t n;
  double h, eigenvalue;
  std::vector<double> sine; // sin(pi x_i)

  explicit Problem(std::int64_t order)
      : n(order), h(1.0 / static_cast<double>(order + 1)), eigenvalue(std::cos(pi * h)), sine(order) {
    for (std::int64_t i = 0; i < n; ++i) sine[i] = std::sin(pi * static_cast<double>(i + 1) * h);
  }
  double solution(std::int64_t i, std::int64_t j) const { return sine[i] * sine[j]; }
  double load(std::int64_t i, std::int64_t j) const { return 4 * (1 - eigenvalue) * solution(i, j); } // h^2 f
};

double updated(double north, double south, double west, double east, double load) {
  return (north + south + west + east + load) / 4;
}

// All of u after so many sweeps, by one process, column by column.
std::vector<double> serial(const Problem& problem, std::int64_t sweeps) {
  const std::int64_t n = problem.n, stride = n + 2;
  std::vector<double> u(stride * stride), next(stride * stride);
  for (; sweeps > 0; --sweeps) {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t k = i + 1 + (j + 1) * stride;
        next[k] = updated(u[k - 1], u[k + 1], u[k - stride], u[k + stride], problem.load(i, j));
      }
    u.swap(next);
  }
  std::vector<double> inner(n * n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) inner[i + j * n] = u[i + 1 + (j + 1) * stride];
  return inner;
}

} // namespace

int main(int argc, char** argv) {
  apps::Options options;
  options.n = 400;
  int sweeps = 50;
  base::CommandLine cli(
      "Solves Poisson's equation by Jacobi's iteration while the grid of processes grows and shrinks. A step "
      "is some sweeps.",
      "jacobi");
  apps::add_options(cli, options);
  cli.add_option("--sweeps", sweeps, "sweeps in a step").check(base::positive_number()).show_default();
  apps::add_speeds(cli, options);
  apps::parse(cli, options, argc, argv);
  const std::int64_t n = options.n;
  const Problem problem(n);

  apps::start(options);
  apps::Run run("jacobi", options);

  dyngrid_matrix* u = apps::make_matrix("u", n, n, options);
  dyngrid_matrix* load = apps::make_matrix("load", n, n, options);
  int step = 0;
  double residual = 0;
  apps::require(dyngrid_share("step", &step, sizeof step), "dyngrid_share");
  apps::require(dyngrid_share("residual", &residual, sizeof residual), "dyngrid_share");
  if (dyngrid_is_newcomer() == 0)
    apps::fill<double>(load, [&](std::int64_t i, std::int64_t j) { return problem.load(i, j); }); // u begins as zero

  while (run.resize_point(step) != DYNGRID_LEAVE) {
    if (step >= options.steps) break; // beyond it: a restart with fewer
    auto* local = static_cast<double*>(dyngrid_local(u));
    const auto* my_load = static_cast<const double*>(dyngrid_local(load));
    std::int64_t lld = 1, m_loc = 0, n_loc = 0;
    dyngrid_matrix_shape(u, &m_loc, &n_loc, &lld);
    const double mine = static_cast<double>(m_loc) * static_cast<double>(n_loc);
    apps::Ghosted<double> ghosted(u, DYNGRID_NEIGHBOURS_FOUR, 0.0);

    run.begin(step, 6.0 * static_cast<double>(n) * static_cast<double>(n) * sweeps);
    double change = 0;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      ghosted.fetch(local);
      change = 0;
      const apps::OwnWork work(6.0 * mine);
      ghosted.for_each_piece(
          [&](std::int64_t i_loc, std::int64_t j_loc, std::int64_t count, const double* centre, std::int64_t stride) {
            const double* load_here = &my_load[i_loc + j_loc * lld];
            double* target = &local[i_loc + j_loc * lld];
            for (std::int64_t i = 0; i < count; ++i) {
              target[i] = updated(centre[i - 1], centre[i + 1], centre[i - stride], centre[i + stride], load_here[i]);
              change = std::max(change, std::fabs(target[i] - centre[i]));
            }
          });
    }
    run.end();
    ++step;
    residual = 4 * apps::max_over_grid(change); // of the equations 4u - neighbours = h^2 f, before the last sweep

    if (options.check) {
      const std::int64_t done = static_cast<std::int64_t>(step) * sweeps;
      const double grown = 1 - std::pow(problem.eigenvalue, static_cast<double>(done));
      double error = 0, wrong = 0;
      dyngrid::for_each<double>(u, [&](std::int64_t i, std::int64_t j, double e) {
        error = std::max(error, std::fabs(e - grown * problem.solution(i, j)));
      });
      error = apps::max_over_grid(error);
      if (step == options.steps) { // and once against one process alone
        std::vector<double> alone(n * n);
        int rank = 0;
        MPI_Comm_rank(dyngrid_comm(), &rank);
        if (rank == 0) alone = serial(problem, done);
        MPI_Bcast(alone.data(), static_cast<int>(alone.size()), MPI_DOUBLE, 0, dyngrid_comm());
        dyngrid::for_each<double>(
            u, [&](std::int64_t i, std::int64_t j, double e) { wrong += e == alone[i + j * n] ? 0 : 1; });
        wrong = apps::sum_over_grid(wrong);
      }
      run.verdict(error < 1e-12 && wrong == 0, error,
                  fmt::format("residual {:.2e}, {:.2e} from the expected iterate{}", residual, error,
                              step < options.steps ? ""
                              : wrong == 0         ? ", equal to the serial run"
                                                   : fmt::format(", {} elements differ from the serial run", wrong)));
    }
  }
  const int status =
      run.finish(fmt::format("residual {:.2e} after {} sweeps", residual, static_cast<std::int64_t>(step) * sweeps));
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return status;
}
