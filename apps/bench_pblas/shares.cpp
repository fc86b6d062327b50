// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include "base/index.hpp"
#include "base/text.hpp"
#include "common/local.hpp"
#include "common/need.hpp"
#include "common/report.hpp"
#include "common/scalapack.h"
#include "dyngrid.h"
#include "dyngrid/pblas.h"
#include "equal.hpp"

namespace bench {
namespace {

/// Three matrices of one kind of shares, and one routine on them.
class Way {
public:
  Way(std::string routine, bool is_stock, int n, int nb)
      : routine_(std::move(routine)), is_stock_(is_stock), n_(n), pivots_(base::at(n) + base::at(nb)) {
    const int order = routine_ == "gemm" ? DYNGRID_ORDER_CYCLIC : DYNGRID_ORDER_FACTOR;
    for (int k = 0; k < (routine_ == "gemm" ? 3 : 1); ++k) {
      const std::string name = fmt::format("{} {}", is_stock ? "stock" : "own", k);
      dyngrid_matrix*& made = matrices_.emplace_back(nullptr);
      need((is_stock ? dyngrid_matrix_create(name.c_str(), 'd', n, n, nb, nb, &made)
                     : dyngrid_matrix_create_weighted(name.c_str(), 'd', n, n, nb, nb, order, &made)) == 0,
           "dyngrid_matrix_create");
      fill(made);
    }
  }
  ~Way() {
    for (dyngrid_matrix* matrix : matrices_) dyngrid_matrix_free(&matrix);
  }
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;

  double seconds() {
    fill(result());
    MPI_Barrier(dyngrid_comm());
    const double begin = MPI_Wtime();
    call();
    double seconds = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, dyngrid_comm());
    return seconds;
  }
  dyngrid_matrix* result() { return matrices_.back(); }

private:
  /// Symmetric, with a dominant diagonal; one more everywhere for LU, so that its pivots differ.
  void fill(dyngrid_matrix* matrix) const {
    const double more = routine_ == "getrf" ? 1 : 0;
    apps::fill<double>(matrix, [&](std::int64_t i, std::int64_t j) {
      const auto small = static_cast<double>(apps::mixed(std::min(i, j), std::max(i, j), 3, 2001) - 1000) * 1e-3;
      return more + (i == j ? n_ : small);
    });
  }
  void call() {
    const auto array = [&](std::size_t k) { return static_cast<double*>(dyngrid_local(matrices_[k])); };
    const auto desc = [&](std::size_t k) { return dyngrid_desc(matrices_[k]); };
    const double alpha = 1, beta = 0;
    int info = 0;
    if (routine_ == "gemm")
      (is_stock_ ? pdgemm_ : dyngrid_pdgemm_)("N", "N", &n_, &n_, &n_, &alpha, array(0), &one, &one, desc(0), array(1),
                                              &one, &one, desc(1), &beta, array(2), &one, &one, desc(2));
    else if (routine_ == "getrf")
      (is_stock_ ? pdgetrf_ : dyngrid_pdgetrf_)(&n_, &n_, array(0), &one, &one, desc(0), pivots_.data(), &info);
    else
      (is_stock_ ? pdpotrf_ : dyngrid_pdpotrf_)("L", &n_, array(0), &one, &one, desc(0), &info);
  }
  std::string routine_;
  bool is_stock_;
  int n_;
  std::vector<dyngrid_matrix*> matrices_;
  std::vector<int> pivots_;
};

/// Ends the program where the results differ. Changes that of `stock`.
void compare(const std::string& routine, Way& stock, Way& own) {
  std::int64_t n_loc = 0, lld = 1;
  dyngrid_matrix_shape(stock.result(), nullptr, &n_loc, &lld);
  const auto* x = static_cast<const double*>(dyngrid_local(stock.result()));
  const std::vector<double> expected(x, x + lld * n_loc);
  need(dyngrid_copy(own.result(), stock.result()) == 0, "dyngrid_copy");
  double most[2] = {0, 0};
  for (std::size_t k = 0; k < expected.size(); ++k) {
    most[0] = std::max(most[0], std::abs(expected[k] - x[k]));
    most[1] = std::max(most[1], std::abs(expected[k]));
  }
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, dyngrid_comm());
  if (most[0] <= 1e-9 * most[1]) return;
  std::fprintf(stderr, "bench_pblas: %s on shares by speed is %g off\n", routine.c_str(), most[0] / most[1]);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

} // namespace

int run_shares(const Settings& settings) {
  need(dyngrid_init() == 0, "dyngrid_init");
  int rank = 0, size = 1, nprow = 0, npcol = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  need(dyngrid_set_speed(settings.speeds[base::at(rank) % settings.speeds.size()]) == 0, "dyngrid_set_speed");
  need(dyngrid_grid(&nprow, &npcol, nullptr, nullptr) == 0, "dyngrid_grid");
  const std::string grid = fmt::format("{}x{}", nprow, npcol),
                    speeds = fmt::format("{}", fmt::join(settings.speeds, " "));
  apps::Report report("bench_shares", rank == 0 ? settings.csv : "");
  apps::Table table{"Seconds of a call, medians: ScaLAPACK's on equal shares, ours on shares by speed",
                    {"routine", "speeds", "grid", "n", "nb", "equal", "by speed", "ratio"},
                    {}};
  for (const int n : settings.orders)
    for (const int nb : settings.blocks)
      for (const std::string& routine : settings.routines) {
        Way stock(routine, true, n, nb), own(routine, false, n, nb);
        std::map<const Way*, std::vector<double>> runs;
        for (int rep = -1; rep < settings.reps; ++rep) // the first warms up
          for (Way* way : {&stock, &own})
            if (const double seconds = way->seconds(); rep >= 0) runs[way].push_back(seconds);
        if (settings.check) compare(routine, stock, own);
        apps::Sample sample;
        sample.part = "speeds " + speeds;
        sample.application = routine;
        sample.n = n;
        sample.nb = std::to_string(nb);
        sample.from = sample.to = grid;
        sample.phase = "call";
        sample.ranks = size;
        for (Way* way : {&stock, &own}) {
          sample.method = way == &stock ? "stock" : "own";
          report.add(sample, runs[way]);
        }
        const double equal = apps::median(runs[&stock]), by_speed = apps::median(runs[&own]);
        table.rows.push_back({routine, speeds, grid, n, nb, apps::Cell(equal, 3), apps::Cell(by_speed, 3),
                              apps::Cell(equal / by_speed, 3)});
      }
  if (rank == 0) report.add(table);
  const bool is_written = report.finish();
  need(dyngrid_finalize() == 0, "dyngrid_finalize");
  return is_written ? 0 : 1;
}

} // namespace bench
