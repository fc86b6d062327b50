// SPDX-License-Identifier: BSD-3-Clause
#include "emulated.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include "base/index.hpp"
#include "common/blacs.hpp"
#include "common/scalapack.h"
#include "dyngrid/pblas.h"
#include "gridmap/dealing.hpp"
#include "gridmap/factor_mapping.hpp"
#include "processor.hpp"

extern "C" void pdgemr2d_(const int* m, const int* n, const double* a, const int* ia, const int* ja, const int* desca,
                          double* b, const int* ib, const int* jb, const int* descb, const int* ctxt);

namespace bench {
namespace {

using base::at;
using gridmap::Axis;

/// Speeds of a set, and the grid that they are put on.
struct Set {
  int nprow, npcol;
  std::vector<double> speeds;
};

/// SPEC.md, B3.4.
const std::vector<Set> sets{{1, 2, {1, .5}},       {2, 2, {1, .5, .5, .25}},      {2, 2, {313, 279, 34, 25}},
                            {2, 2, {1, 1, 1, .5}}, {2, 3, {1, 1, 1, .6, .6, .6}}, {2, 3, {.9, .7, .5, .4, .3, .2}}};

const int one = 1;

/// A square matrix on the grid.
struct Spread {
  Axis rows, cols;
  std::vector<int> desc;
  std::vector<double> x;
  int myrow, mycol;

  Spread(const apps::BlacsGrid& grid, Axis row_axis, Axis col_axis)
      : rows(std::move(row_axis)), cols(std::move(col_axis)), myrow(grid.myrow), mycol(grid.mycol) {
    const auto lld = static_cast<int>(std::max<std::int64_t>(1, rows.local_size(myrow)));
    const auto n = static_cast<int>(rows.n);
    if (rows.is_uniform() && cols.is_uniform()) {
      desc = {1, grid.ctxt, n, n, static_cast<int>(rows.sizes[0]), static_cast<int>(cols.sizes[0]), 0, 0, lld};
    } else {
      desc = {601, grid.ctxt, n,  n, static_cast<int>(rows.sizes.size()), static_cast<int>(cols.sizes.size()),
              0,   0,         lld};
      for (const Axis* axis : {&rows, &cols})
        for (const std::int64_t size : axis->sizes) desc.push_back(static_cast<int>(size));
    }
    x.assign(at(lld) * at(std::max<std::int64_t>(1, cols.local_size(mycol))), 0);
  }
  /// Symmetric, with a dominant diagonal; all: LU finds other pivots.
  void fill(double more) {
    const std::int64_t lld = desc[8];
    std::int64_t j_loc = 0;
    for (const Axis::Stretch& col : cols.stretches(mycol))
      for (std::int64_t j = col.first; j < col.last; ++j, ++j_loc) {
        std::int64_t i_loc = 0;
        for (const Axis::Stretch& row : rows.stretches(myrow))
          for (std::int64_t i = row.first; i < row.last; ++i, ++i_loc)
            x[at(i_loc + j_loc * lld)] =
                more + (i == j ? static_cast<double>(rows.n)
                               : static_cast<double>((i + j) * 7919 % 1000 + i * j % 997) * 1e-3 - 1);
      }
  }
};

/// By ScaLAPACK or by us, of matrices that lie as these do.
class Call {
public:
  Call(std::string routine, bool is_stock, const apps::BlacsGrid& grid, const Axis& rows, const Axis& cols)
      : routine_(std::move(routine)), is_stock_(is_stock), a_(grid, rows, cols), c_(a_),
        pivots_(at(c_.desc[8]) + at(*std::max_element(rows.sizes.begin(), rows.sizes.end()))) {
    if (routine_ == "gemm") a_.fill(0), b_ = a_.x;
  }
  double seconds(MPI_Comm comm) {
    if (routine_ != "gemm") c_.fill(routine_ == "getrf" ? 1 : 0);
    MPI_Barrier(comm);
    const double begin = MPI_Wtime();
    run();
    double seconds = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    return seconds;
  }
  Spread& result() { return c_; }

private:
  void run() {
    const int n = c_.desc[2];
    const int* desc = c_.desc.data();
    const double alpha = 1, beta = 0;
    int info = 0;
    if (routine_ == "gemm")
      (is_stock_ ? pdgemm_ : dyngrid_pdgemm_)("N", "N", &n, &n, &n, &alpha, a_.x.data(), &one, &one, desc, b_.data(),
                                              &one, &one, desc, &beta, c_.x.data(), &one, &one, desc);
    else if (routine_ == "getrf")
      (is_stock_ ? pdgetrf_ : dyngrid_pdgetrf_)(&n, &n, c_.x.data(), &one, &one, desc, pivots_.data(), &info);
    else
      (is_stock_ ? pdpotrf_ : dyngrid_pdpotrf_)("L", &n, c_.x.data(), &one, &one, desc, &info);
  }
  std::string routine_;
  bool is_stock_;
  Spread a_, c_;
  std::vector<double> b_;
  std::vector<int> pivots_;
};

/// Largest difference over the largest element.
double difference(const apps::BlacsGrid& grid, Spread& expected, const Spread& got, MPI_Comm comm) {
  const int n = expected.desc[2];
  Spread moved = expected;
  pdgemr2d_(&n, &n, got.x.data(), &one, &one, got.desc.data(), moved.x.data(), &one, &one, moved.desc.data(),
            &grid.ctxt);
  double most[2] = {0, 0};
  for (std::size_t k = 0; k < moved.x.size(); ++k) {
    most[0] = std::max(most[0], std::abs(moved.x[k] - expected.x[k]));
    most[1] = std::max(most[1], std::abs(expected.x[k]));
  }
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, comm);
  return most[0] / most[1];
}

/// One routine on one set of speeds. @return medians: equal shares, shares by speed
std::pair<double, double> measure(const EmulatedSettings& settings, const apps::BlacsGrid& grid, const Set& set, int n,
                                  const std::string& routine, apps::Report& report) {
  const gridmap::MappingRequest request{set.speeds, set.nprow, set.npcol, n, n, gridmap::MapMethod::best};
  const gridmap::FactorMapping f = gridmap::map_for_factors(request, settings.nb);
  const int p = set.nprow, q = set.npcol, nb = settings.nb;
  const bool is_product = routine == "gemm";
  const auto shares = [&](int nprocs, const std::vector<double>& r, const std::vector<int>& owners) {
    return is_product ? gridmap::deal_out(n, nb, nprocs, r, gridmap::DealOrder::cyclic)
                      : gridmap::axis_of_owners(n, nb, nprocs, owners);
  };
  Call equal(routine, true, grid, Axis::block_cyclic(n, nb, p), Axis::block_cyclic(n, nb, q));
  Call by_speed(routine, false, grid, shares(p, f.map.r, f.row_owners), shares(q, f.map.c, f.col_owners));
  std::map<std::string, std::vector<double>> runs;
  for (int rep = 0; rep < settings.reps; ++rep) {
    runs["stock, equal"].push_back(equal.seconds(MPI_COMM_WORLD));
    runs["own, by speed"].push_back(by_speed.seconds(MPI_COMM_WORLD));
  }
  if (settings.check)
    if (const double off = difference(grid, equal.result(), by_speed.result(), MPI_COMM_WORLD); off > 1e-9) {
      std::fprintf(stderr, "bench_pblas: %s by speed is %g off\n", routine.c_str(), off);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  for (const auto& [method, seconds] : runs) {
    apps::Sample sample;
    sample.part = fmt::format("speeds {}", fmt::join(set.speeds, " "));
    sample.application = routine;
    sample.n = n;
    sample.nb = std::to_string(nb);
    sample.from = sample.to = fmt::format("{}x{}", p, q);
    sample.method = method;
    sample.phase = "call";
    sample.ranks = p * q;
    report.add(sample, seconds);
  }
  return {apps::median(runs["stock, equal"]), apps::median(runs["own, by speed"])};
}

} // namespace

bool run_unequal(const EmulatedSettings& settings, apps::Report& report) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!Processor::is_there("--unequal", rank)) return false;
  if (std::none_of(sets.begin(), sets.end(), [&](const Set& set) { return set.nprow * set.npcol == size; })) {
    if (rank == 0)
      std::fprintf(stderr, "bench_pblas: --unequal on %d processes: the sets of speeds are of 2, 4 and 6\n", size);
    return false;
  }
  const Processor processor;
  apps::Table table{"Shares by speed, our kernels, against equal shares, ScaLAPACK's, on emulated processors: medians",
                    {"routine", "speeds", "grid", "n", "nb", "equal s", "by speed s", "ratio", "bound", "of the bound"},
                    {}};
  for (const Set& set : sets) {
    if (set.nprow * set.npcol != size) continue;
    const apps::BlacsGrid grid(set.nprow, set.npcol);
    for (const int n : settings.orders) {
      const gridmap::FactorMapping f =
          gridmap::map_for_factors({set.speeds, set.nprow, set.npcol, n, n, gridmap::MapMethod::best}, settings.nb);
      const double fastest = *std::max_element(set.speeds.begin(), set.speeds.end());
      const double slowest = *std::min_element(set.speeds.begin(), set.speeds.end());
      processor.set(settings.gflops * f.map.speed(grid.myrow, grid.mycol) / fastest);
      for (const std::string& routine : settings.routines) {
        const auto [equal, by_speed] = measure(settings, grid, set, n, routine, report);
        const double bound = static_cast<double>(n) * n / (f.map.t_continuous * set.nprow * set.npcol * slowest);
        table.rows.push_back({routine, fmt::format("{}", fmt::join(set.speeds, " ")),
                              fmt::format("{}x{}", set.nprow, set.npcol), n, settings.nb, apps::Cell(equal, 3),
                              apps::Cell(by_speed, 3), apps::Cell(equal / by_speed, 3), apps::Cell(bound, 3),
                              apps::Cell(equal / by_speed / bound, 2)});
      }
    }
  }
  table.note = fmt::format("A processor of the highest speed has {} GFLOP/s. The bound is that of the updates alone: "
                           "what all shares together can use over what equal ones use.",
                           settings.gflops);
  if (rank == 0) report.add(table);
  return true;
}

} // namespace bench
