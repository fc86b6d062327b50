// SPDX-License-Identifier: BSD-3-Clause
#include "emulated.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

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
#include "stock_ways.hpp"

extern "C" void pdgemr2d_(const int* m, const int* n, const double* a, const int* ia, const int* ja, const int* desca,
                          double* b, const int* ib, const int* jb, const int* descb, const int* ctxt);

namespace bench {
namespace {

using base::at;
using gridmap::Axis;

constexpr int one = 1; ///< the first row or column

/// Speeds of a set, and the grid that they are put on.
struct Set {
  int nprow, npcol;
  std::vector<double> speeds;
};

/// SPEC.md, B3.4.
const std::vector<Set> sets{{1, 2, {1, .5}},       {2, 2, {1, .5, .5, .25}},      {2, 2, {313, 279, 34, 25}},
                            {2, 2, {1, 1, 1, .5}}, {2, 3, {1, 1, 1, .6, .6, .6}}, {2, 3, {.9, .7, .5, .4, .3, .2}}};

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
  /// First values.
  void prepare() {
    if (routine_ != "gemm") c_.fill(routine_ == "getrf" ? 1 : 0);
  }
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
  Spread& result() { return c_; }

private:
  std::string routine_;
  bool is_stock_;
  Spread a_, c_;
  std::vector<double> b_;
  std::vector<int> pivots_;
};

/// Largest difference on this process, and largest element.
std::array<double, 2> difference(int ctxt, const Spread& expected, const Spread& got) {
  const int n = expected.desc[2];
  Spread moved = expected;
  pdgemr2d_(&n, &n, got.x.data(), &one, &one, got.desc.data(), moved.x.data(), &one, &one, moved.desc.data(), &ctxt);
  std::array<double, 2> most{};
  for (std::size_t k = 0; k < moved.x.size(); ++k) {
    most[0] = std::max(most[0], std::abs(moved.x[k] - expected.x[k]));
    most[1] = std::max(most[1], std::abs(expected.x[k]));
  }
  return most;
}

/// One way to use the processors of a set.
struct Way {
  const char* name;
  apps::BlacsGrid grid;
  double speed;               ///< of this process; 0: it is not in the grid
  bool is_own = false;        ///< on shares by speed
  std::optional<Call> call{}; ///< there: what it computes

  bool has_me() const { return grid.myrow >= 0; }
};

double speed_in(const apps::BlacsGrid& grid, const std::vector<double>& speeds) {
  return grid.myrow < 0 ? 0 : speeds[at(grid.myrow * grid.npcol + grid.mycol)];
}

/// All ways on one set of speeds; the fastest processor does `gflops`.
class Ways {
public:
  Ways(const Set& set, double gflops, int processes)
      : set_(set), per_speed_(gflops / *std::max_element(set.speeds.begin(), set.speeds.end())),
        map_(gridmap::map_processors({set.speeds, set.nprow, set.npcol, 1000, 1000, gridmap::MapMethod::best})) {
    const apps::BlacsGrid grid(set.nprow, set.npcol);
    const double mapped = speed_in(grid, map_.speeds);
    ways_.push_back({"stock on equal shares", grid, mapped});
    ways_.push_back({"own by speed", grid, mapped, true});
    ways_.push_back({"stock with threads", grid, speed_in(grid, speeds_with_threads(set.speeds))});
    const std::vector<double> speeds = speeds_of_more_processes(set.speeds, processes);
    if (speeds.size() <= set.speeds.size()) return;
    const base::GridShape shape = base::squarest(static_cast<int>(speeds.size()));
    const apps::BlacsGrid more(shape.nprow, shape.npcol);
    ways_.push_back({"stock with more processes", more, speed_in(more, speeds)});
  }
  ~Ways() {
    if (ways_[0].has_me()) Cblacs_gridexit(ways_[0].grid.ctxt);
    if (ways_.size() > 3 && ways_[3].has_me()) Cblacs_gridexit(ways_[3].grid.ctxt);
  }
  Ways(const Ways&) = delete;
  Ways& operator=(const Ways&) = delete;

  void prepare(const std::string& routine, int n, int nb) {
    const gridmap::FactorMapping f =
        gridmap::map_for_factors({set_.speeds, set_.nprow, set_.npcol, n, n, gridmap::MapMethod::best}, nb);
    for (Way& way : ways_) {
      way.call.reset();
      if (!way.has_me()) continue;
      const auto axis = [&](int nprocs, const std::vector<double>& r, const std::vector<int>& owners) {
        if (!way.is_own) return Axis::block_cyclic(n, nb, nprocs);
        return routine == "gemm" ? gridmap::deal_out(n, nb, nprocs, r, gridmap::DealOrder::cyclic)
                                 : gridmap::axis_of_owners(n, nb, nprocs, owners);
      };
      way.call.emplace(routine, !way.is_own, way.grid, axis(way.grid.nprow, f.map.r, f.row_owners),
                       axis(way.grid.npcol, f.map.c, f.col_owners));
    }
  }
  double seconds(Way& way, const Processor& processor, MPI_Comm comm) const {
    processor.set(per_speed_ * way.speed);
    if (way.call) way.call->prepare();
    MPI_Barrier(comm);
    const double begin = MPI_Wtime();
    if (way.call) way.call->run();
    double seconds = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    return seconds;
  }
  /// By how much all shares together can be faster than equal ones.
  double bound() const {
    const double slowest = *std::min_element(set_.speeds.begin(), set_.speeds.end());
    return 1e6 / (map_.t_continuous * set_.nprow * set_.npcol * slowest);
  }
  const Set& set() const { return set_; }
  std::vector<Way>& list() { return ways_; }

private:
  const Set& set_;
  double per_speed_;
  gridmap::Mapping map_;
  std::vector<Way> ways_;
};

void check(Ways& ways, const std::string& routine) {
  Way &equal = ways.list()[0], &own = ways.list()[1];
  std::array<double, 2> most{};
  if (own.call) most = difference(own.grid.ctxt, equal.call->result(), own.call->result());
  MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (most[0] <= 1e-9 * most[1]) return;
  std::fprintf(stderr, "bench_kernels: %s by speed is %g off\n", routine.c_str(), most[0] / most[1]);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// One routine. @return medians, in the order of the ways
std::vector<double> measure(const EmulatedSettings& settings, const Processor& processor, Ways& ways, int n,
                            const std::string& routine, apps::Report& report) {
  ways.prepare(routine, n, settings.nb);
  std::map<const Way*, std::vector<double>> runs;
  for (int rep = 0; rep < settings.reps; ++rep)
    for (Way& way : ways.list()) runs[&way].push_back(ways.seconds(way, processor, MPI_COMM_WORLD));
  if (settings.check) check(ways, routine);
  std::vector<double> medians;
  for (const Way& way : ways.list()) {
    apps::Sample sample;
    sample.part = fmt::format("speeds {}", fmt::join(ways.set().speeds, " "));
    sample.application = routine;
    sample.n = n;
    sample.nb = std::to_string(settings.nb);
    sample.from = sample.to = fmt::format("{}x{}", way.grid.nprow, way.grid.npcol);
    sample.method = way.name;
    sample.phase = "call";
    sample.ranks = way.grid.nprow * way.grid.npcol;
    report.add(sample, runs[&way]);
    medians.push_back(apps::median(runs[&way]));
  }
  return medians;
}

const char* const columns[] = {"routine",   "speeds",      "grid",       "n",     "nb",    "equal s",
                               "threads s", "processes s", "by speed s", "ratio", "bound", "of the bound"};
constexpr const char* unequal_note =
    "A processor of the highest speed has {} GFLOP/s. Threads: as many processes, placed by dyngrid plan hosts "
    "--procs, with threads on processors of up to 16 cores. Processes: up to {} share the processors, so that all are "
    "about equally "
    "fast (HeteroScaLAPACK). The bound is that of the updates alone: what all shares together can use over what equal "
    "ones use.";

} // namespace

bool run_unequal(const EmulatedSettings& settings, apps::Report& report) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!Processor::is_there("--unequal", rank)) return false;
  const int processors = settings.processors > 0 ? settings.processors : size;
  const auto fits = [&](const Set& set) { return set.nprow * set.npcol == processors && processors <= size; };
  if (std::none_of(sets.begin(), sets.end(), fits)) {
    if (rank == 0)
      std::fprintf(stderr,
                   "bench_kernels: --unequal for %d processors on %d processes: the sets of speeds are of 2, 4 and 6\n",
                   processors, size);
    return false;
  }
  const Processor processor;
  apps::Table table{"Shares by speed, our kernels, against ScaLAPACK's, on emulated processors: medians",
                    {std::begin(columns), std::end(columns)},
                    {}};
  for (const Set& set : sets) {
    if (!fits(set)) continue;
    Ways ways(set, settings.gflops, size);
    for (const int n : settings.orders)
      for (const std::string& routine : settings.routines) {
        const std::vector<double> s = measure(settings, processor, ways, n, routine, report);
        const double ratio = s[0] / s[1], bound = ways.bound();
        table.rows.push_back({routine, fmt::format("{}", fmt::join(set.speeds, " ")),
                              fmt::format("{}x{}", set.nprow, set.npcol), n, settings.nb, apps::Cell(s[0], 3),
                              apps::Cell(s[2], 3), s.size() > 3 ? apps::Cell(s[3], 3) : apps::Cell("-"),
                              apps::Cell(s[1], 3), apps::Cell(ratio, 3), apps::Cell(bound, 3),
                              apps::Cell(ratio / bound, 2)});
      }
  }
  table.note = fmt::format(unequal_note, settings.gflops, size);
  if (rank == 0) report.add(table);
  return true;
}

} // namespace bench
