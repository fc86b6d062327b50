// SPDX-License-Identifier: BSD-3-Clause
// C = C + A B, over and over, on a grid of processes that grows and shrinks between two products.
//
// All elements are small whole numbers, so every sum is exact in double precision whatever the order, and the check is
// exact too. With a vector x of whole numbers, C x after s products must be s (A (B x)). That right-hand side is
// computed from the formulae of A and B, once, without ScaLAPACK. With A out of a file (--matrix) its elements are any
// numbers. A (B x) is then summed over the distributed parts of A, and the check is a scaled residual. C is never
// reset, so a wrong element of A, B or C after any change of the grid shows from then on.
#include "common/app.hpp"
#include "common/from_file.hpp"
#include "common/local.hpp"
#include "common/scalapack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

double a_element(std::int64_t i, std::int64_t j) {
  return static_cast<double>(apps::mixed(i, j, 1, 7) - 3);
}
double b_element(std::int64_t i, std::int64_t j) {
  return static_cast<double>(apps::mixed(i, j, 2, 7) - 3);
}
double probe(std::int64_t j) {
  return static_cast<double>(apps::mixed(j, 0, 3, 2001) - 1000);
}

// y = M x, or |M| x, over the current grid, every process gets all of y. Exact for whole numbers below 2^53.
// Collective.
std::vector<double> times(const dyngrid_matrix* matrix, const std::vector<double>& x, bool absolute = false) {
  std::vector<double> y(x.size());
  dyngrid::for_each<double>(matrix, [&](std::int64_t i, std::int64_t j, double element) {
    y[i] += (absolute ? std::fabs(element) : element) * x[j];
  });
  MPI_Allreduce(MPI_IN_PLACE, y.data(), static_cast<int>(y.size()), MPI_DOUBLE, MPI_SUM, dyngrid_comm());
  return y;
}

// B x from the formulae, or |B| |x|. Collective.
std::vector<double> b_times_probe(std::int64_t n, bool absolute) {
  return apps::row_sums(n, [absolute](std::int64_t i, std::int64_t j) {
    return absolute ? std::fabs(b_element(i, j) * probe(j)) : b_element(i, j) * probe(j);
  });
}

// A (B x) from the formulae. Collective.
std::vector<double> expected_product(std::int64_t n) {
  const std::vector<double> bx = b_times_probe(n, false);
  return apps::row_sums(n, [&bx](std::int64_t i, std::int64_t j) { return a_element(i, j) * bx[j]; });
}

/// The increment of C x in each step; for A out of a file also the largest element of |A| |B| |x|. Collective.
void expect(const dyngrid_matrix* a, bool is_from_file, std::vector<double>& expected, double& largest) {
  const auto n = static_cast<std::int64_t>(expected.size());
  const std::vector<double> product = is_from_file ? times(a, b_times_probe(n, false)) : expected_product(n);
  std::copy(product.begin(), product.end(), expected.begin());
  if (!is_from_file) return;
  for (const double sum : times(a, b_times_probe(n, true), true)) largest = std::max(largest, sum);
}

/// Whole numbers are compared exactly. Collective.
void judge(apps::Run& run, const dyngrid_matrix* c, int step, bool is_from_file, const std::vector<double>& expected,
           double largest) {
  const auto n = static_cast<std::int64_t>(expected.size());
  std::vector<double> x(n);
  for (std::int64_t j = 0; j < n; ++j) x[j] = probe(j);
  const std::vector<double> cx = times(c, x);
  bool right = true;
  double residual = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    right = right && cx[i] == step * expected[i];
    residual = std::max(residual, std::fabs(cx[i] - step * expected[i]));
  }
  if (!is_from_file) return run.report_check(right);
  if (largest > 0) residual /= step * largest * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  run.report_check(residual < 16, residual, fmt::format("scaled residual {:.3g}", residual));
}

} // namespace

int main(int argc, char** argv) {
  apps::Options options;
  options.n = 2000;
  std::string file;
  base::CommandLine cli("Multiplies matrices, C = C + A B, while the grid of processes grows and shrinks.", "pdgemm");
  apps::add_options(cli, options, true);
  apps::add_host_speeds(cli, options);
  apps::add_matrix_option(cli, file);
  apps::parse(cli, options, argc, argv);
  apps::take_order("pdgemm", file, options);
  const std::int64_t n = options.n;

  apps::start(options); // dyngrid_init_grid; a spawned process joins its parents here
  apps::Run run("pdgemm", options);

  // they live on the current grid and follow it
  dyngrid_matrix *const a = apps::make_matrix("A", n, n, options), *const b = apps::make_matrix("B", n, n, options),
                        *const c = apps::make_matrix("C", n, n, options);
  int step = 0;
  std::vector<double> expected(options.check ? n : 1);
  apps::require(dyngrid_share("step", &step, sizeof step), "dyngrid_share"); // replicated state, given to new processes
  apps::require(dyngrid_share("expected", expected.data(), expected.size() * sizeof(double)), "dyngrid_share");

  double largest = 0; // of |A| |B| |x|, for A out of a file
  apps::require(dyngrid_share("largest", &largest, sizeof largest), "dyngrid_share");

  if (dyngrid_is_newcomer() == 0 && dyngrid_comm() != MPI_COMM_NULL) {
    if (file.empty())
      apps::fill<double>(a, a_element);
    else
      apps::fill_from_file("pdgemm", a, file);
    apps::fill<double>(b, b_element);
    if (options.check) expect(a, !file.empty(), expected, largest);
  }

  const int order = static_cast<int>(n), i1 = 1;
  const double one = 1;
  while (run.resize_point(step) != DYNGRID_LEAVE) { // the only place where the grid can change
    if (step >= options.steps) break;               // beyond it: a restart with fewer
    run.begin(step, 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n));
    pdgemm_("N", "N", &order, &order, &order, &one, static_cast<double*>(dyngrid_local(a)), &i1, &i1, dyngrid_desc(a),
            static_cast<double*>(dyngrid_local(b)), &i1, &i1, dyngrid_desc(b), &one,
            static_cast<double*>(dyngrid_local(c)), &i1, &i1, dyngrid_desc(c));
    run.end();
    ++step;
    if (options.check) judge(run, c, step, !file.empty(), expected, largest);
  }
  const int status = run.finish();
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return status;
}
