// SPDX-License-Identifier: BSD-3-Clause
// Calls of a program that nobody changes: LU and Cholesky where the caller has its matrix, direct (ScaLAPACK's routine)
// and as DYNGRID_CALLS says, in turns. The first calls by DYNGRID_CALLS, which may measure places, are not counted.
//
//   mpirun --oversubscribe -np 4 -x DYNGRID_CALLS=pdgetrf,pdpotrf bench_calls --n 4000 --csv out.csv
//
// With --overhead CALLS: what `report` adds to a call, as tiny calls in turns show it.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include "base/command_line.hpp"
#include "base/grid_shape.hpp"
#include "common/blacs.hpp"
#include "common/mpi_main.hpp"
#include "common/report.hpp"

extern "C" {
int numroc_(const int* n, const int* nb, const int* iproc, const int* isrc, const int* nprocs);
void pdgetrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desca, int* ipiv,
              int* info);
void pdpotrf_(const char* uplo, const int* n, double* a, const int* ia, const int* ja, const int* desca, int* info);
}

namespace {

struct Settings {
  int n = 4000, reps = 3, warm_ups = 1, overhead_calls = 0;
  std::vector<int> blocks{1, 2, 4, 8, 16};
  std::vector<std::string> grids{"1x4", "2x2", "4x1"}, routines{"getrf", "potrf"}, ways{"direct", "calls"};
  std::string csv;
  bool check = false;
};

/// ScaLAPACK's own, behind the library's name. What it calls itself goes by the names, as in any program.
template <class F> F* direct(F*, const char* name) {
  for (const char* file : {"libscalapack-openmpi.so.2.2", "libscalapack-mpich.so.2.2", "libscalapack.so"})
    if (void* library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD))
      if (void* found = dlsym(library, name)) return reinterpret_cast<F*>(found);
  throw base::CommandLineError("no ScaLAPACK library that is known is loaded");
}

struct Case : apps::BlacsGrid {
  int n, nb, info = 0;
  std::vector<int> desc, ipiv;
  std::vector<double> before, a;

  Case(int order, int block, base::GridShape grid) : BlacsGrid(grid.nprow, grid.npcol), n(order), nb(block) {
    const int zero = 0;
    const int rows = numroc_(&n, &nb, &myrow, &zero, &nprow), cols = numroc_(&n, &nb, &mycol, &zero, &npcol);
    desc = {1, ctxt, n, n, nb, nb, 0, 0, std::max(1, rows)};
    ipiv.assign(static_cast<std::size_t>(rows + nb), 0);
    before.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i) {
        const int r = global(i, myrow, nprow), c = global(j, mycol, npcol);
        before[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(rows)] =
            r == c ? n : std::sin(static_cast<double>((r + c) % 1000) + static_cast<double>(r) * c);
      }
    a = before;
  }
  ~Case() { Cblacs_gridexit(ctxt); }
  int global(int local, int at, int nprocs) const { return (local / nb * nprocs + at) * nb + local % nb; }

  double seconds(const std::string& routine, bool is_direct) {
    const int one = 1;
    static auto* const getrf = direct(&pdgetrf_, "pdgetrf_");
    static auto* const potrf = direct(&pdpotrf_, "pdpotrf_");
    a = before;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (routine == "getrf")
      (is_direct ? getrf : &pdgetrf_)(&n, &n, a.data(), &one, &one, desc.data(), ipiv.data(), &info);
    else
      (is_direct ? potrf : &pdpotrf_)("L", &n, a.data(), &one, &one, desc.data(), &info);
    double taken = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return taken;
  }
};

void check(const std::vector<double>& x, const std::vector<double>& y, const std::string& routine) {
  double most[2] = {0, 0};
  for (std::size_t k = 0; k < x.size(); ++k) {
    most[0] = std::max(most[0], std::abs(x[k] - y[k]));
    most[1] = std::max(most[1], std::abs(x[k]));
  }
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (most[0] <= 1e-9 * most[1]) return;
  std::fprintf(stderr, "bench_calls: %s is %g off\n", routine.c_str(), most[0] / most[1]);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// @return medians: direct, by DYNGRID_CALLS; NaN of what is not in --ways
std::pair<double, double> measure(const Settings& settings, Case& k, const std::string& routine,
                                  const std::string& grid, apps::Report& report) {
  std::map<bool, std::vector<double>> runs; // by whether it is direct
  std::vector<double> result;
  const auto is_wanted = [&](bool is_direct) {
    return std::find(settings.ways.begin(), settings.ways.end(), is_direct ? "direct" : "calls") != settings.ways.end();
  };
  for (int rep = -settings.warm_ups; rep < settings.reps; ++rep)
    for (const bool is_direct : {(rep & 1) != 0, (rep & 1) == 0}) {
      if (!is_wanted(is_direct) || (is_direct && rep < -1)) continue;
      const double taken = k.seconds(routine, is_direct);
      if (rep >= 0) runs[is_direct].push_back(taken);
      if (!settings.check) continue;
      if (result.empty()) result = k.a;
      check(result, k.a, routine);
    }
  for (const bool is_direct : {true, false}) {
    if (!is_wanted(is_direct)) continue;
    apps::Sample sample;
    sample.part = "calls";
    sample.application = routine;
    sample.n = k.n;
    sample.nb = std::to_string(k.nb);
    sample.from = sample.to = grid;
    sample.method = is_direct ? "direct" : "calls";
    sample.phase = "call";
    sample.ranks = k.nprow * k.npcol;
    report.add(sample, runs[is_direct]);
  }
  return {apps::median(runs[true]), apps::median(runs[false])};
}

/// Microseconds of each of many tiny calls, direct and looked at, in turns. One block: nothing is called inside.
int compare_overhead(const Settings& settings, int rank, int size) {
  apps::Report report("bench_calls", rank == 0 ? settings.csv : "");
  apps::Table table{"Microseconds of a call, medians", {"routine", "grid", "n", "direct", "report", "more"}, {}};
  for (const std::string& shape : settings.grids) {
    const base::GridShape grid = base::parse_grid_shape(shape, "--grids");
    if (grid.size() != size)
      throw base::CommandLineError("--grids: got " + shape + ", expected a grid of all processes");
    for (const std::string& routine : settings.routines) {
      Case k(settings.n, settings.n, grid);
      std::map<bool, std::vector<double>> runs; // by whether it is direct
      constexpr int warm_ups = 20;
      for (int call = -warm_ups; call < settings.overhead_calls; ++call)
        for (const bool is_direct : {(call & 1) != 0, (call & 1) == 0}) {
          const double taken = k.seconds(routine, is_direct);
          if (call >= 0) runs[is_direct].push_back(1e6 * taken);
        }
      const double direct_us = apps::median(runs[true]), report_us = apps::median(runs[false]);
      table.rows.push_back({routine, shape, settings.n, apps::Cell(direct_us, 4), apps::Cell(report_us, 4),
                            apps::Cell(report_us - direct_us, 3)});
    }
  }
  if (rank != 0) return 0;
  table.note = "report may add 0.5 % to a call: these microseconds to one of 200 times as many.";
  report.add(table);
  return report.finish() ? 0 : 1;
}

int run(int argc, char** argv) {
  Settings settings;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  base::CommandLine app("LU and Cholesky, direct and as DYNGRID_CALLS says", "bench_calls");
  app.add_option("--n", settings.n, "order of the matrix").check(base::positive_number()).show_default();
  app.add_option("--nb", settings.blocks, "block sizes of the caller")
      .separated_by(',')
      .check(base::positive_number())
      .show_default();
  app.add_option("--grids", settings.grids, "grids of the caller").separated_by(',').show_default();
  app.add_option("--routines", settings.routines, "what is called")
      .separated_by(',')
      .check(base::one_of({"getrf", "potrf"}))
      .show_default();
  app.add_option("--ways", settings.ways, "direct, calls (as DYNGRID_CALLS says), or both")
      .separated_by(',')
      .check(base::one_of({"direct", "calls"}))
      .show_default();
  app.add_option("--reps", settings.reps, "runs of each").check(base::positive_number()).show_default();
  app.add_option("--warm-ups", settings.warm_ups, "runs of each before these")
      .check(base::positive_number())
      .show_default();
  app.add_option("--overhead", settings.overhead_calls,
                 "instead: what DYNGRID_CALLS=report adds to N calls of one block; it is set for that")
      .type_name("CALLS")
      .check(base::positive_number());
  app.add_option("--csv", settings.csv, "file for one line per single run").type_name("FILE");
  app.add_flag("--check", settings.check, "results are compared with the direct call's");
  if (const auto status = base::read_command_line(app, argc, argv, rank == 0)) return *status;
  if (settings.overhead_calls > 0) return compare_overhead(settings, rank, size);
  apps::Report report("bench_calls", rank == 0 ? settings.csv : "");
  apps::Table table{"Seconds of a call, medians", {"routine", "grid", "nb", "direct", "calls", "ratio"}, {}};
  apps::Ratios ratios;
  for (const std::string& shape : settings.grids) {
    const base::GridShape grid = base::parse_grid_shape(shape, "--grids");
    if (grid.size() != size)
      throw base::CommandLineError("--grids: got " + shape + ", expected a grid of all processes");
    for (const int nb : settings.blocks)
      for (const std::string& routine : settings.routines) {
        Case k(settings.n, nb, grid);
        const auto [straight, called] = measure(settings, k, routine, shape, report);
        const double ratio = straight / called;
        if (std::isfinite(ratio)) ratios.add(ratio);
        table.rows.push_back(
            {routine, shape, nb, apps::Cell(straight, 4), apps::Cell(called, 4), apps::Cell(ratio, 4)});
      }
  }
  if (rank != 0) return 0;
  const char* calls = std::getenv("DYNGRID_CALLS");
  table.note = (settings.ways.size() > 1 ? ratios.text() + "; " : "") + "DYNGRID_CALLS=" + (calls ? calls : "") + ".";
  report.add(table);
  return report.finish() ? 0 : 1;
}

} // namespace

/// What is looked at is settled before main: with --overhead the program starts once more, with these two in report.
int main(int argc, char** argv) {
  const char* rules = "pdgetrf=report,pdpotrf=report";
  const bool is_of_overhead = std::any_of(
      argv, argv + argc, [](const char* word) { return std::string_view(word).substr(0, 10) == "--overhead"; });
  const char* set = std::getenv("DYNGRID_CALLS");
  if (is_of_overhead && (set == nullptr || std::string_view(set) != rules)) {
    setenv("DYNGRID_CALLS", rules, 1);
    execv("/proc/self/exe", argv);
  }
  return apps::mpi_main("bench_calls", argc, argv, run);
}
