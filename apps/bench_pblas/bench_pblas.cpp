// SPDX-License-Identifier: BSD-3-Clause
// Our kernels against ScaLAPACK's: products, LU and Cholesky of matrices in equal blocks, as DTYPE_ 1 and as 601, and
// in blocks of unequal sizes, which ScaLAPACK does not know. The runs of a case take turns in one mpirun.
//
//   mpirun --oversubscribe -np 4 bench_pblas --n 2000,4000 --csv out.csv
//   mpirun --oversubscribe -np 9 -x LD_PRELOAD=.../libdyngrid-slow.so bench_pblas --unequal --processors 4 --n 2048
//   mpirun --oversubscribe -np 4 -x LD_PRELOAD=.../libdyngrid-slow.so bench_pblas --competitor --n 2048

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/command_line.hpp"
#include "base/grid_shape.hpp"
#include "common/blacs.hpp"
#include "common/mpi_main.hpp"
#include "common/report.hpp"
#include "common/scalapack.h"
#include "dyngrid/pblas.h"
#include "emulated.hpp"

extern "C" {
int numroc_(const int* n, const int* nb, const int* iproc, const int* isrc, const int* nprocs);
}

namespace {

struct Settings {
  std::vector<int> orders{1000, 2000};
  std::vector<int> blocks{64};
  std::vector<std::string> grids, routines{"gemm", "getrf", "potrf"};
  int reps = 5;
  std::string csv;
  bool check = false, is_unequal = false, has_competitor = false;
  double gflops = 0.2;
  int processors = 0;
};

using Grid = apps::BlacsGrid;

const int one = 1;

/// Three matrices in equal blocks; `listed`: the descriptor says the same as lists.
struct Case {
  Grid grid;
  int n, nb;
  std::vector<int> stock_desc, listed_desc;
  std::size_t elements = 0;
  std::vector<double> a, b, c;
  std::vector<int> ipiv;
  int info = 0;

  Case(const Grid& where, int order, int block) : grid(where), n(order), nb(block) {
    const int zero = 0;
    const int rows = numroc_(&n, &nb, &grid.myrow, &zero, &grid.nprow);
    const int cols = numroc_(&n, &nb, &grid.mycol, &zero, &grid.npcol);
    const int lld = std::max(1, rows);
    stock_desc = {1, grid.ctxt, n, n, nb, nb, 0, 0, lld};
    listed_desc = {601, grid.ctxt, n, n, 1, 1, 0, 0, lld, nb, nb};
    elements = static_cast<std::size_t>(lld) * static_cast<std::size_t>(std::max(1, cols));
    for (std::vector<double>* x : {&a, &b, &c}) x->assign(elements, 0);
    ipiv.assign(static_cast<std::size_t>(lld + nb), 0);
    fill();
  }
  /// Symmetric, with a dominant diagonal: good for all three routines.
  void fill() {
    const int rows = stock_desc[8];
    for (std::size_t k = 0; k < elements; ++k) {
      const int i = global(static_cast<int>(k) % rows, grid.myrow, grid.nprow);
      const int j = global(static_cast<int>(k / static_cast<std::size_t>(rows)), grid.mycol, grid.npcol);
      a[k] = i == j ? n : std::sin(static_cast<double>((i + j) % 1000) + static_cast<double>(i) * j);
      b[k] = a[k] + 1;
    }
  }
  int global(int local, int at, int nprocs) const { return (local / nb * nprocs + at) * nb + local % nb; }
};

/// One run of `routine` by `method`; a and c are what they were before.
void call(Case& k, const std::string& routine, const std::string& method) {
  const double alpha = 1, beta = 0;
  const int* desc = method == "listed" ? k.listed_desc.data() : k.stock_desc.data();
  const bool is_stock = method == "stock";
  if (routine == "gemm")
    (is_stock ? pdgemm_ : dyngrid_pdgemm_)("N", "N", &k.n, &k.n, &k.n, &alpha, k.a.data(), &one, &one, desc, k.b.data(),
                                           &one, &one, desc, &beta, k.c.data(), &one, &one, desc);
  else if (routine == "getrf")
    (is_stock ? pdgetrf_ : dyngrid_pdgetrf_)(&k.n, &k.n, k.c.data(), &one, &one, desc, k.ipiv.data(), &k.info);
  else
    (is_stock ? pdpotrf_ : dyngrid_pdpotrf_)("L", &k.n, k.c.data(), &one, &one, desc, &k.info);
}

double seconds_of(Case& k, const std::string& routine, const std::string& method, MPI_Comm comm) {
  if (routine == "getrf") k.c = k.b; // no pivot is on the diagonal by itself
  if (routine == "potrf") k.c = k.a;
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  call(k, routine, method);
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

/// Largest difference of the results, over the largest element.
double difference(const std::vector<double>& x, const std::vector<double>& y, MPI_Comm comm) {
  double most[2] = {0, 0};
  for (std::size_t k = 0; k < x.size(); ++k) {
    most[0] = std::max(most[0], std::abs(x[k] - y[k]));
    most[1] = std::max(most[1], std::abs(x[k]));
  }
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, comm);
  return most[0] / std::max(most[1], 1e-300);
}

const std::vector<std::string> methods{"stock", "own", "listed"};

/// @return medians by method
std::map<std::string, double> measure(const Settings& settings, Case& k, const std::string& routine, MPI_Comm comm,
                                      apps::Report& report) {
  std::map<std::string, std::vector<double>> runs;
  std::vector<double> stock;
  for (int rep = -1; rep < settings.reps; ++rep)
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const std::string& method = methods[(m + static_cast<std::size_t>(rep + 1)) % methods.size()];
      const double seconds = seconds_of(k, routine, method, comm);
      if (rep >= 0) runs[method].push_back(seconds);
      if (!settings.check) continue;
      if (stock.empty() && method == "stock") stock = k.c;
      if (const double off = stock.empty() ? 0 : difference(stock, k.c, comm); off > 1e-9 * k.n) {
        std::fprintf(stderr, "bench_pblas: %s by %s is %g off\n", routine.c_str(), method.c_str(), off);
        MPI_Abort(comm, 1);
      }
    }
  std::map<std::string, double> medians;
  for (const std::string& method : methods) {
    apps::Sample sample;
    sample.part = "equal blocks";
    sample.application = routine;
    sample.n = k.n;
    sample.nb = std::to_string(k.nb);
    sample.from = sample.to = std::to_string(k.grid.nprow) + "x" + std::to_string(k.grid.npcol);
    sample.method = method;
    sample.phase = "call";
    sample.ranks = k.grid.nprow * k.grid.npcol;
    report.add(sample, runs[method]);
    medians[method] = apps::median(runs[method]);
  }
  return medians;
}

std::vector<std::string> all_shapes(int processes) {
  std::vector<std::string> shapes;
  for (int p = 1; p <= processes; ++p)
    if (processes % p == 0) shapes.push_back(std::to_string(p) + "x" + std::to_string(processes / p));
  return shapes;
}

void add_options(base::CommandLine& app, Settings& settings) {
  app.add_option("--n", settings.orders, "orders of the matrices")
      .separated_by(',')
      .check(base::positive_number())
      .show_default();
  app.add_option("--nb", settings.blocks, "block sizes")
      .separated_by(',')
      .check(base::positive_number())
      .show_default();
  app.add_option("--grids", settings.grids, "grids of all processes; by default all there are").separated_by(',');
  app.add_option("--routines", settings.routines, "what is measured")
      .separated_by(',')
      .check(base::one_of({"gemm", "getrf", "potrf"}))
      .show_default();
  app.add_option("--reps", settings.reps, "runs of each").check(base::positive_number()).show_default();
  app.add_option("--csv", settings.csv, "file for one line per single run").type_name("FILE");
  app.add_flag("--check", settings.check, "results are compared with ScaLAPACK's");
  app.add_flag("--unequal", settings.is_unequal,
               "processors of unequal speed, emulated by libdyngrid-slow.so, which is to be preloaded: shares by speed "
               "against equal ones, with the bound, for the sets of speeds that have as many as there are processes "
               "(2, 4 or 6), and against what can be done with ScaLAPACK's kernels: threads, more processes; the first "
               "of --nb");
  app.add_option("--processors", settings.processors,
                 "with --unequal: so many, 2, 4 or 6, on which all processes are for the way with more processes")
      .check(base::positive_number());
  app.add_flag(
      "--competitor", settings.has_competitor,
      "on such processors, one of which has to be shared from a third of a factorization on: what it takes who "
      "had known, who adapts inside (DYNGRID_BALANCE=auto) and who never does, with the bound; the first of "
      "--nb");
  app.add_option("--gflops", settings.gflops, "with --unequal and --competitor: of a processor of speed 1")
      .show_default();
}

int run(int argc, char** argv) {
  Settings settings;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  base::CommandLine app("Products, LU and Cholesky: dyngrid's kernels against ScaLAPACK's", "bench_pblas");
  add_options(app, settings);
  if (const auto status = base::read_command_line(app, argc, argv, rank == 0)) return *status;
  if (settings.grids.empty()) settings.grids = all_shapes(size);
  if (settings.is_unequal && settings.has_competitor)
    throw base::CommandLineError("--unequal and --competitor are two measurements");
  apps::Report report(settings.is_unequal       ? "bench_unequal"
                      : settings.has_competitor ? "bench_competitor"
                                                : "bench_pblas",
                      rank == 0 ? settings.csv : "");
  if (settings.is_unequal || settings.has_competitor) {
    const bench::EmulatedSettings emulated{settings.orders, settings.blocks[0], settings.routines,  settings.reps,
                                           settings.gflops, settings.check,     settings.processors};
    const bool is_done =
        settings.is_unequal ? bench::run_unequal(emulated, report) : bench::run_competitor(emulated, report);
    return is_done && (rank != 0 || report.finish()) ? 0 : 1;
  }
  apps::Table table{"Seconds of a call, medians; ratios are stock's time over ours",
                    {"routine", "grid", "n", "nb", "stock", "own", "listed", "own ratio", "listed ratio"},
                    {}};
  apps::Ratios ratios;
  for (const std::string& shape : settings.grids) {
    const base::GridShape asked = base::parse_grid_shape(shape, "--grids");
    if (asked.size() != size)
      throw base::CommandLineError("--grids: got " + shape + ", expected a grid of all processes");
    const Grid grid(asked.nprow, asked.npcol);
    for (const int n : settings.orders)
      for (const int nb : settings.blocks)
        for (const std::string& routine : settings.routines) {
          Case k(grid, n, nb);
          const auto seconds = measure(settings, k, routine, MPI_COMM_WORLD, report);
          const double stock = seconds.at("stock"), own = seconds.at("own"), listed = seconds.at("listed");
          for (const double ours : {own, listed}) ratios.add(stock / ours);
          table.rows.push_back({routine, shape, n, nb, apps::Cell(stock, 3), apps::Cell(own, 3), apps::Cell(listed, 3),
                                apps::Cell(stock / own, 3), apps::Cell(stock / listed, 3)});
        }
    Cblacs_gridexit(grid.ctxt);
  }
  if (rank != 0) return 0;
  table.note = ratios.text() + ".";
  report.add(table);
  return report.finish() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  return apps::mpi_main("bench_pblas", argc, argv, run);
}
