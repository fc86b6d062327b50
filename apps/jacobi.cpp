// SPDX-License-Identifier: BSD-3-Clause
// Poisson's equation on the unit square, -(u_xx + u_yy) = f with u = 0 on the border, by Jacobi's iteration on n x n
// inner points. The grid of processes grows and shrinks between the steps.
//
// f is chosen so that the discrete solution is s(i,j) = sin(pi x_i) sin(pi y_j). That is an eigenvector of the
// iteration, with eigenvalue cos(pi h). Starting at u = 0, after k sweeps u is exactly (1 - cos(pi h)^k) s. So every
// step can be checked, converged or not. After the last step u is also compared, bit for bit, with the same sweeps done
// by one process alone.
//
// With --phases a step is a cycle of two phases. The sweeps are best in one block for each process. The other, w = Q u
// by PDGEMM for the matrix Q of all sines, is best in smaller blocks. Of w only the first row is not 0. dyngrid decides
// in which of its layouts u goes to the product.
#include "base/command_line.hpp"
#include "common/alone.hpp"
#include "common/app.hpp"
#include "common/local.hpp"
#include "common/own_work.hpp"
#include "common/phase_record.hpp"
#include "common/scalapack.h"

#include <dyngrid.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
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

// All of u after this many sweeps, by one process, column by column.
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

struct Settings {
  apps::Options common;
  int sweeps = 50;
  std::string phases_csv;
  std::vector<std::int64_t> product_blocks{64, 0};

  bool has_phases() const { return !phases_csv.empty(); }
};

class Jacobi {
public:
  explicit Jacobi(const Settings& settings)
      : settings_(settings), problem_(settings.common.n), u_(apps::make_matrix("u", n(), n(), settings.common)),
        load_(apps::make_matrix("load", n(), n(), settings.common)), borders_(u_, {1, 1}, {1, 1}) {
    if (settings.has_phases()) make_phases();
    if (dyngrid_is_newcomer() != 0) return;
    apps::fill<double>(load_, [&](std::int64_t i, std::int64_t j) { return problem_.load(i, j); }); // u begins as zero
    if (sines_)
      apps::fill<double>(sines_, [&](std::int64_t k, std::int64_t i) {
        return std::sin(pi * static_cast<double>((k + 1) * (i + 1)) * problem_.h);
      });
  }

  /// The sweeps of a step. The largest change of the last one.
  double sweep() {
    const std::int64_t stride = borders_.update().stride(1);
    auto* local = static_cast<double*>(dyngrid_local(u_));
    const auto* my_load = static_cast<const double*>(dyngrid_local(load_));
    std::int64_t m_loc = 0, n_loc = 0;
    dyngrid_matrix_shape(u_, &m_loc, &n_loc, nullptr);
    const double mine = static_cast<double>(m_loc) * static_cast<double>(n_loc);
    double change = 0;
    for (int sweep = 0; sweep < settings_.sweeps; ++sweep) {
      if (sweep > 0) borders_.refresh();
      change = 0;
      const apps::OwnWork work(6.0 * mine);
      borders_.for_each_line([&](const auto& line) {
        const double *x = line.x, *load = &my_load[line.local];
        double* target = &local[line.local];
        for (std::int64_t i = 0; i < line.count; ++i) {
          target[i] = updated(x[i - 1], x[i + 1], x[i - stride], x[i + stride], load[i]);
          change = std::max(change, std::fabs(target[i] - x[i]));
        }
      });
    }
    return change;
  }

  double run_phases(int step, apps::PhaseRecord& record) {
    record.begin(step, "sweep", sweeps_);
    const double change = sweep();
    record.end();
    record.begin(step, "product", product_);
    const int order = static_cast<int>(n()), i1 = 1;
    const double one = 1, zero = 0;
    const auto local = [](const dyngrid_matrix* a) { return static_cast<double*>(dyngrid_local(a)); };
    pdgemm_("N", "N", &order, &order, &order, &one, local(sines_), &i1, &i1, dyngrid_desc(sines_), local(u_), &i1, &i1,
            dyngrid_desc(u_), &zero, local(products_), &i1, &i1, dyngrid_desc(products_));
    record.end();
    return change;
  }

  /// Collective, after this many steps; prints what is wrong.
  void check(apps::Run& run, int step, double residual) const {
    const std::int64_t done = static_cast<std::int64_t>(step) * settings_.sweeps;
    const bool is_last = step == settings_.common.steps;
    const double grown = 1 - std::pow(problem_.eigenvalue, static_cast<double>(done));
    double error = 0;
    dyngrid::for_each<double>(u_, [&](std::int64_t i, std::int64_t j, double e) {
      error = std::max(error, std::fabs(e - grown * problem_.solution(i, j)));
    });
    error = apps::max_over_grid(error);
    const double product_error = products_ ? apps::max_over_grid(error_of_product(grown)) : 0;
    const double wrong = is_last ? apps::differing<double>(u_, n(), [&] { return serial(problem_, done); }) : 0;
    run.report_check(error < 1e-12 && wrong == 0 && product_error < 1e-13 * static_cast<double>(n()),
                     std::max(error, product_error),
                     fmt::format("residual {:.2e}, {:.2e} from the expected iterate{}{}", residual, error,
                                 products_ ? fmt::format(", {:.2e} from the expected product", product_error) : "",
                                 !is_last     ? ""
                                 : wrong == 0 ? ", equal to the serial run"
                                              : fmt::format(", {} elements differ from the serial run", wrong)));
  }

private:
  std::int64_t n() const { return settings_.common.n; }

  void make_phases() {
    apps::Options in_blocks = settings_.common;
    in_blocks.nb = settings_.product_blocks[0];
    sines_ = apps::make_matrix("sines", n(), n(), in_blocks);
    products_ = apps::make_matrix("products", n(), n(), in_blocks);
    sweeps_ = apps::make_phase("sweep", {{u_, DYNGRID_READ | DYNGRID_WRITE}, {load_, DYNGRID_READ}});
    for (dyngrid_matrix* a : {u_, load_}) apps::add_layout(sweeps_, a, settings_.common.nb);
    product_ = apps::make_phase("product", {{u_, DYNGRID_READ}, {sines_, DYNGRID_READ}, {products_, DYNGRID_WRITE}});
    for (const std::int64_t nb : settings_.product_blocks) apps::add_layout(product_, u_, nb);
    for (dyngrid_matrix* a : {sines_, products_}) apps::add_layout(product_, a, in_blocks.nb);
  }

  /// Sums of sin(pi k x_i) sin(pi x_i) are 0 but for k = 1, where they are (n + 1) / 2.
  double error_of_product(double grown) const {
    double error = 0;
    dyngrid::for_each<double>(products_, [&](std::int64_t k, std::int64_t j, double e) {
      const double expected = k == 0 ? grown * problem_.sine[j] / (2 * problem_.h) : 0;
      error = std::max(error, std::fabs(e - expected));
    });
    return error;
  }

  const Settings& settings_;
  Problem problem_;
  dyngrid_matrix *u_, *load_;
  dyngrid::Borders<double> borders_; ///< of u
  dyngrid_matrix *sines_ = nullptr, *products_ = nullptr;
  dyngrid_phase *sweeps_ = nullptr, *product_ = nullptr;
};

void read_command_line(Settings& s, int argc, char** argv) {
  s.common.n = 400;
  base::CommandLine cli(
      "Solves Poisson's equation by Jacobi's iteration while the grid of processes grows and shrinks. A step "
      "is some sweeps.",
      "jacobi");
  apps::add_options(cli, s.common, true);
  cli.add_option("--sweeps", s.sweeps, "sweeps in a step").check(base::positive_number()).show_default();
  apps::add_speeds(cli, s.common);
  cli.add_option("--phases", s.phases_csv,
                 "a step is the sweeps and a product by PDGEMM, as two phases; write what each took, and what was "
                 "planned, as CSV")
      .type_name("FILE");
  apps::add_blocks(cli, "--product", s.product_blocks,
                   "block sizes that u may have in the product; its others have the first one [64,block]");
  apps::parse(cli, s.common, argc, argv);
  if (s.has_phases() && s.common.is_weighted())
    apps::refuse("jacobi", "--phases is given with --speeds or --balance, but PDGEMM needs equal blocks");
}

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  read_command_line(settings, argc, argv);
  const double n = static_cast<double>(settings.common.n);

  apps::start(settings.common);
  apps::Run run("jacobi", settings.common, settings.has_phases() ? "cycle" : "step");
  apps::PhaseRecord record;
  Jacobi jacobi(settings);
  int step = 0;
  double residual = 0;
  apps::require(dyngrid_share("step", &step, sizeof step), "dyngrid_share");
  apps::require(dyngrid_share("residual", &residual, sizeof residual), "dyngrid_share");

  while (run.resize_point(step) != DYNGRID_LEAVE) {
    if (step >= settings.common.steps) break; // beyond it: a restart with fewer
    run.begin(step, 6.0 * n * n * settings.sweeps + (settings.has_phases() ? 2 * n * n * n : 0));
    const double change = settings.has_phases() ? jacobi.run_phases(step, record) : jacobi.sweep();
    run.end();
    ++step;
    residual = 4 * apps::max_over_grid(change); // of the equations 4u - neighbours = h^2 f, before the last sweep
    if (settings.common.check) jacobi.check(run, step, residual);
  }
  const bool is_written = dyngrid_comm() == MPI_COMM_NULL || record.write_csv(settings.phases_csv);
  if (!is_written) std::fprintf(stderr, "jacobi: cannot write %s\n", settings.phases_csv.c_str());
  const int status = run.finish(
      fmt::format("residual {:.2e} after {} sweeps", residual, static_cast<std::int64_t>(step) * settings.sweeps));
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return is_written ? status : 1;
}
