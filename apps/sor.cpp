// SPDX-License-Identifier: BSD-3-Clause
// Poisson's equation on the unit square, -(u_xx + u_yy) = f with u = 0 on the border, by red-black successive
// over-relaxation on n x n inner points. The grid of processes grows and shrinks between the steps.
//
// A sweep is two passes, one over the points whose i + j is even, one over the others. Each reads points of the other
// colour only. So the work is done in place, in one array with a frame around it, and the result does not depend on the
// layout. After every step u is compared, bit for bit, with the same sweeps done by one process alone. f is that of
// jacobi.cpp, so that the discrete solution is known too.
#include "base/command_line.hpp"
#include "common/alone.hpp"
#include "common/app.hpp"
#include "common/own_work.hpp"

#include <dyngrid.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

const double pi = std::acos(-1.0);
constexpr double flops_of_point = 8;

struct Problem {
  std::int64_t n;
  double h, omega, factor; ///< h^2 f = factor * solution
  std::vector<double> sine;

  Problem(std::int64_t order, double relaxation)
      : n(order), h(1.0 / static_cast<double>(order + 1)), omega(relaxation > 0 ? relaxation : best_omega(h)),
        factor(4 * (1 - std::cos(pi * h))), sine(static_cast<std::size_t>(order)) {
    for (std::int64_t i = 0; i < n; ++i)
      sine[static_cast<std::size_t>(i)] = std::sin(pi * static_cast<double>(i + 1) * h);
  }
  static double best_omega(double h) { return 2 / (1 + std::sin(pi * h)); }
  double solution(std::int64_t i, std::int64_t j) const {
    return sine[static_cast<std::size_t>(i)] * sine[static_cast<std::size_t>(j)];
  }
};

/// Every second one of `count` points of column j from row i on, those of the colour. Returns the largest change.
double relax(const Problem& problem, int colour, std::int64_t i, std::int64_t j, std::int64_t count, double* u,
             std::int64_t stride) {
  double change = 0;
  for (std::int64_t k = (i + j + colour) % 2; k < count; k += 2) {
    const double load = problem.factor * problem.solution(i + k, j);
    const double step = problem.omega * ((u[k - 1] + u[k + 1] + u[k - stride] + u[k + stride] + load) / 4 - u[k]);
    u[k] += step;
    change = std::max(change, std::fabs(step));
  }
  return change;
}

/// All of u, by one process.
class Alone {
public:
  explicit Alone(const Problem& problem) : problem_(problem), stride_(problem.n + 2) {}

  /// Column by column. Goes on from where it is, or begins again.
  std::vector<double> after(std::int64_t sweeps) {
    if (u_.empty() || sweeps < done_) {
      u_.assign(static_cast<std::size_t>(stride_ * stride_), 0);
      done_ = 0;
    }
    const std::int64_t n = problem_.n;
    for (; done_ < sweeps; ++done_)
      for (const int colour : {0, 1})
        for (std::int64_t j = 0; j < n; ++j) relax(problem_, colour, 0, j, n, column(j), stride_);
    std::vector<double> inner;
    for (std::int64_t j = 0; j < n; ++j) inner.insert(inner.end(), column(j), column(j) + n);
    return inner;
  }

private:
  double* column(std::int64_t j) { return &u_[static_cast<std::size_t>(1 + (j + 1) * stride_)]; }

  const Problem& problem_;
  std::int64_t stride_, done_ = 0;
  std::vector<double> u_;
};

/// The sweeps of one step. Returns the largest change of the last one on this process.
double sweep(const Problem& problem, const dyngrid_matrix* u, dyngrid::Borders<double>& borders, int sweeps) {
  std::int64_t m_loc = 0, n_loc = 0;
  dyngrid_matrix_shape(u, &m_loc, &n_loc, nullptr);
  const double half = static_cast<double>(m_loc) * static_cast<double>(n_loc) / 2;
  const std::int64_t stride = borders.update().stride(1);
  double change = 0;
  for (int k = 0; k < sweeps; ++k) {
    change = 0;
    for (const int colour : {0, 1}) {
      if (k + colour > 0) borders.exchange();
      const apps::OwnWork work(flops_of_point * half);
      borders.for_each_line([&](const auto& line) {
        change = std::max(change, relax(problem, colour, line.first[0], line.first[1], line.count, line.x, stride));
      });
    }
  }
  borders.store();
  return change;
}

void check(apps::Run& run, dyngrid_matrix* u, const Problem& problem, Alone& alone, std::int64_t sweeps) {
  const double wrong = apps::differing<double>(u, problem.n, [&] { return alone.after(sweeps); });
  double error = 0;
  dyngrid::for_each<double>(u, [&](std::int64_t i, std::int64_t j, double e) {
    error = std::max(error, std::fabs(e - problem.solution(i, j)));
  });
  error = apps::max_over_grid(error);
  run.report_check(wrong == 0, error,
                   wrong == 0 ? fmt::format("equal to the serial run, {:.2e} from the solution", error)
                              : fmt::format("{:.0f} elements differ from the serial run", wrong));
}

} // namespace

int main(int argc, char** argv) {
  apps::Options options;
  options.n = 400;
  int sweeps = 50;
  double omega = 0;
  base::CommandLine cli(
      "Solves Poisson's equation by red-black successive over-relaxation, in place, while the grid of "
      "processes grows and shrinks. A step is some sweeps.",
      "sor");
  apps::add_options(cli, options, true);
  cli.add_option("--sweeps", sweeps, "sweeps in a step").check(base::positive_number()).show_default();
  cli.add_option("--omega", omega, "relaxation, above 0 and below 2 (default: the best, 2 / (1 + sin(pi h)))")
      .check(base::in_range(1e-6, 2 - 1e-6))
      .type_name("W");
  apps::add_speeds(cli, options);
  apps::parse(cli, options, argc, argv);
  const Problem problem(options.n, omega);

  apps::start(options);
  apps::Run run("sor", options);
  dyngrid_matrix* u = apps::make_matrix("u", options.n, options.n, options); // begins as zero
  dyngrid::Borders<double> borders(u, {1, 1}, {1, 1});
  int step = 0;
  double change = 0;
  apps::require(dyngrid_share("step", &step, sizeof step), "dyngrid_share");
  apps::require(dyngrid_share("change", &change, sizeof change), "dyngrid_share");
  Alone alone(problem);

  while (run.resize_point(step) != DYNGRID_LEAVE) {
    if (step >= options.steps) break; // beyond it: a restart with fewer
    const auto n = static_cast<double>(options.n);
    run.begin(step, flops_of_point * n * n * sweeps);
    const double my_change = sweep(problem, u, borders, sweeps);
    run.end();
    ++step;
    change = apps::max_over_grid(my_change);
    if (options.check) check(run, u, problem, alone, static_cast<std::int64_t>(step) * sweeps);
  }
  const int status =
      run.finish(fmt::format("largest change {:.2e} in sweep {}", change, static_cast<std::int64_t>(step) * sweeps));
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return status;
}
