// SPDX-License-Identifier: BSD-3-Clause
// y = y + A x, over and over, on a grid of processes that grows and shrinks between two products: little work per
// element that moves.
//
// All elements are small whole numbers, so every sum is exact whatever the order. After s products y must be s times A
// x, which is computed from the formulae of A and x, once, without ScaLAPACK. With A out of a file (--matrix) its
// elements are any numbers. A x is then summed over the distributed parts of A, and the check is a scaled residual.
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
double x_element(std::int64_t i) {
  return static_cast<double>(apps::mixed(i, 0, 2, 2001) - 1000);
}

// A x from the formulae. Collective.
std::vector<double> expected_product(std::int64_t n) {
  return apps::row_sums(n, [](std::int64_t i, std::int64_t j) { return a_element(i, j) * x_element(j); });
}

// A x, or |A| |x|, from the distributed elements. Collective.
std::vector<double> product_of(const dyngrid_matrix* a, std::int64_t n, bool absolute) {
  std::vector<double> ax(n);
  dyngrid::for_each<double>(a, [&](std::int64_t i, std::int64_t j, double element) {
    ax[i] += absolute ? std::fabs(element * x_element(j)) : element * x_element(j);
  });
  MPI_Allreduce(MPI_IN_PLACE, ax.data(), static_cast<int>(n), MPI_DOUBLE, MPI_SUM, dyngrid_comm());
  return ax;
}

/// The increment of y in each step; for A out of a file also the largest element of |A| |x|. Collective.
void expect(const dyngrid_matrix* a, bool is_from_file, std::vector<double>& expected, double& largest) {
  const auto n = static_cast<std::int64_t>(expected.size());
  const std::vector<double> product = is_from_file ? product_of(a, n, false) : expected_product(n);
  std::copy(product.begin(), product.end(), expected.begin());
  if (!is_from_file) return;
  for (const double sum : product_of(a, n, true)) largest = std::max(largest, sum);
}

/// Whole numbers are compared exactly. Collective.
void judge(apps::Run& run, const dyngrid_matrix* y, int step, bool is_from_file, const std::vector<double>& expected,
           double largest) {
  double wrong = 0, residual = 0; // of my elements of y
  dyngrid::for_each<double>(y, [&](std::int64_t i, std::int64_t, double element) {
    wrong += element == step * expected[i] ? 0 : 1;
    residual = std::max(residual, std::fabs(element - step * expected[i]));
  });
  if (!is_from_file) return run.report_check(apps::sum_over_grid(wrong) == 0);
  residual = apps::max_over_grid(residual);
  if (largest > 0)
    residual /= step * largest * static_cast<double>(expected.size()) * std::numeric_limits<double>::epsilon();
  run.report_check(residual < 16, residual, fmt::format("scaled residual {:.3g}", residual));
}

} // namespace

int main(int argc, char** argv) {
  apps::Options options;
  options.n = 4000;
  std::string file;
  base::CommandLine cli("Multiplies a matrix and a vector, y = y + A x, while the grid of processes grows and shrinks.",
                        "pdgemv");
  apps::add_options(cli, options, true);
  apps::add_matrix_option(cli, file);
  apps::parse(cli, options, argc, argv);
  apps::take_order("pdgemv", file, options);
  const std::int64_t n = options.n;

  apps::start(options);
  apps::Run run("pdgemv", options);

  dyngrid_matrix* const a = apps::make_matrix("A", n, n, options);
  dyngrid_matrix* const x = apps::make_matrix("x", n, 1, options); // a vector is a matrix of one column
  dyngrid_matrix* const y = apps::make_matrix("y", n, 1, options);
  int step = 0;
  std::vector<double> expected(options.check ? n : 1);
  apps::require(dyngrid_share("step", &step, sizeof step), "dyngrid_share");
  apps::require(dyngrid_share("expected", expected.data(), expected.size() * sizeof(double)), "dyngrid_share");

  double largest = 0; // of |A| |x|, for A out of a file
  apps::require(dyngrid_share("largest", &largest, sizeof largest), "dyngrid_share");

  if (dyngrid_is_newcomer() == 0 && dyngrid_comm() != MPI_COMM_NULL) {
    if (file.empty())
      apps::fill<double>(a, a_element);
    else
      apps::fill_from_file("pdgemv", a, file);
    apps::fill<double>(x, [](std::int64_t i, std::int64_t) { return x_element(i); });
    if (options.check) expect(a, !file.empty(), expected, largest);
  }

  const int order = static_cast<int>(n), i1 = 1;
  const double one = 1;
  while (run.resize_point(step) != DYNGRID_LEAVE) {
    if (step >= options.steps) break; // beyond it: a restart with fewer
    run.begin(step, 2.0 * static_cast<double>(n) * static_cast<double>(n));
    pdgemv_("N", &order, &order, &one, static_cast<double*>(dyngrid_local(a)), &i1, &i1, dyngrid_desc(a),
            static_cast<double*>(dyngrid_local(x)), &i1, &i1, dyngrid_desc(x), &i1, &one,
            static_cast<double*>(dyngrid_local(y)), &i1, &i1, dyngrid_desc(y), &i1);
    run.end();
    ++step;
    if (options.check) judge(run, y, step, !file.empty(), expected, largest);
  }
  const int status = run.finish();
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return status;
}
