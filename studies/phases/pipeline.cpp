// SPDX-License-Identifier: BSD-3-Clause
// A pipeline of ScaLAPACK calls in three phases: C = A A by PDGEMM, the eigenvectors of C by PDSYEVD in a block size of
// its own, and A = Z sqrt(values) Z' by PDGEMM again. A is 2 on the diagonal and -1 beside it, so that the k-th
// eigenvalue of C is (2 - 2 cos(k pi / (n + 1)))^2, and A comes out of each cycle as it went in.
#include "base/command_line.hpp"
#include "common/app.hpp"
#include "common/local.hpp"
#include "common/phase_record.hpp"
#include "common/scalapack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

const int i1 = 1;

double tridiagonal(std::int64_t i, std::int64_t j) {
  return i == j ? 2 : std::abs(i - j) == 1 ? -1 : 0;
}

double* local(const dyngrid_matrix* a) {
  return static_cast<double*>(dyngrid_local(a));
}

struct Pipeline {
  int n;
  std::vector<double> values;
  dyngrid_matrix *a = nullptr, *c = nullptr, *z = nullptr, *w = nullptr;
  dyngrid_phase *product = nullptr, *solve = nullptr, *back = nullptr;

  Pipeline(const apps::Options& options, const std::vector<std::int64_t>& product_blocks, std::int64_t solve_block)
      : n(static_cast<int>(options.n)), values(options.n) {
    a = apps::make_matrix("A", n, n, options);
    c = apps::make_matrix("C", n, n, options);
    z = apps::make_matrix("Z", n, n, options);
    w = apps::make_matrix("W", n, n, options);
    product = apps::make_phase("product", {{a, DYNGRID_READ}, {c, DYNGRID_WRITE}});
    solve = apps::make_phase("solve", {{c, DYNGRID_READ | DYNGRID_WRITE}, {z, DYNGRID_WRITE}});
    back = apps::make_phase("back", {{z, DYNGRID_READ}, {w, DYNGRID_WRITE}, {a, DYNGRID_WRITE}});
    for (const std::int64_t nb : product_blocks) {
      apps::add_layout(product, a, nb);
      apps::add_layout(back, a, nb);
    }
    apps::add_layout(product, c, product_blocks[0]);
    for (dyngrid_matrix* matrix : {c, z}) apps::add_layout(solve, matrix, solve_block); // PDSYEVD wants both alike
    for (dyngrid_matrix* matrix : {z, w}) apps::add_layout(back, matrix, product_blocks[0]);
  }

  /// to = left op(right)
  void multiply(dyngrid_matrix* left, const char* how, dyngrid_matrix* right, dyngrid_matrix* to) const {
    const double one = 1, zero = 0;
    pdgemm_("N", how, &n, &n, &n, &one, local(left), &i1, &i1, dyngrid_desc(left), local(right), &i1, &i1,
            dyngrid_desc(right), &zero, local(to), &i1, &i1, dyngrid_desc(to));
  }
  void eigenvectors() {
    int info = 0, length = -1, int_length = -1;
    std::vector<double> work(1);
    std::vector<int> int_work(1);
    for (const bool is_query : {true, false}) {
      pdsyevd_("V", "U", &n, local(c), &i1, &i1, dyngrid_desc(c), values.data(), local(z), &i1, &i1, dyngrid_desc(z),
               work.data(), &length, int_work.data(), &int_length, &info);
      if (!is_query) break;
      length = static_cast<int>(work[0]);
      int_length = int_work[0];
      work.resize(static_cast<std::size_t>(length));
      int_work.resize(static_cast<std::size_t>(int_length));
    }
    if (info != 0) std::fprintf(stderr, "pipeline: PDSYEVD: info is %d\n", info);
  }
  /// W = Z sqrt(values): both lie alike.
  void scale() const {
    const double* from = local(z);
    double* to = local(w);
    dyngrid::for_each<double>(
        w, [&](std::int64_t, std::int64_t j, double& e) { e = std::sqrt(std::fabs(values[j])) * from[&e - to]; });
  }
  /// Collective. Largest error of A and of the eigenvalues.
  double error() const {
    double worst = 0;
    dyngrid::for_each<double>(a, [&](std::int64_t i, std::int64_t j, double e) {
      worst = std::max(worst, std::fabs(e - tridiagonal(i, j)));
    });
    for (int k = 0; k < n; ++k) {
      const double root = 2 - 2 * std::cos((k + 1) * std::acos(-1.0) / (n + 1));
      worst = std::max(worst, std::fabs(values[static_cast<std::size_t>(k)] - root * root));
    }
    return apps::max_over_grid(worst);
  }
};

void run_cycle(Pipeline& p, int step, apps::PhaseRecord& record) {
  record.begin(step, "product", p.product);
  p.multiply(p.a, "N", p.a, p.c);
  record.end();
  record.begin(step, "solve", p.solve);
  p.eigenvectors();
  record.end();
  record.begin(step, "back", p.back);
  p.scale();
  p.multiply(p.w, "T", p.z, p.a);
  record.end();
}

} // namespace

int main(int argc, char** argv) {
  apps::Options options;
  options.n = 300;
  options.steps = 12;
  std::vector<std::int64_t> product_blocks{64, 16};
  std::string csv;
  int solve_block = 32;
  base::CommandLine cli("A product, an eigensolver and a product back, in three phases that each would like its "
                        "matrices to lie another way. A step is a cycle of all.",
                        "pipeline");
  apps::add_options(cli, options);
  apps::add_blocks(cli, "--product", product_blocks,
                   "block sizes of A in the products; the others have the first one [64,16]");
  cli.add_option("--solve", solve_block, "block size of PDSYEVD").check(base::positive_number()).show_default();
  cli.add_option("--phases", csv, "write what each phase took, and what was planned, as CSV").type_name("FILE");
  apps::parse(cli, options, argc, argv);

  apps::start(options);
  apps::Run run("pipeline", options, "cycle");
  apps::PhaseRecord record;
  options.nb = product_blocks[0];
  Pipeline pipeline(options, product_blocks, solve_block);
  int step = 0;
  apps::require(dyngrid_share("step", &step, sizeof step), "dyngrid_share");
  if (dyngrid_is_newcomer() == 0) apps::fill<double>(pipeline.a, tridiagonal);
  const double n = static_cast<double>(options.n);
  while (run.resize_point(step) != DYNGRID_LEAVE) {
    if (step >= options.steps) break; // beyond it: a restart with fewer
    run.begin(step, 4 * n * n * n);   // of the products alone
    run_cycle(pipeline, step, record);
    run.end();
    ++step;
    if (!options.check) continue;
    const double error = pipeline.error(); // rounding adds up from cycle to cycle
    run.report_check(error < 1e-13 * n * step * 10, error, fmt::format("{:.1e} from the known values", error));
  }
  const bool is_written = dyngrid_comm() == MPI_COMM_NULL || record.write_csv(csv);
  if (!is_written) std::fprintf(stderr, "pipeline: cannot write %s\n", csv.c_str());
  const int status = run.finish();
  apps::require(dyngrid_finalize(), "dyngrid_finalize");
  return is_written ? status : 1;
}
