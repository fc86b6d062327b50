// SPDX-License-Identifier: BSD-3-Clause
// Our kernels on emulated processors of unequal speed, in blocks of unequal sizes, against what can be done with
// ScaLAPACK's; and on one that becomes slow in the middle of a factorization.
//
//   mpirun --oversubscribe -np 9 -x LD_PRELOAD=.../libdyngrid-slow.so bench_kernels --unequal --processors 4 --n 2048
//   mpirun --oversubscribe -np 4 -x LD_PRELOAD=.../libdyngrid-slow.so bench_kernels --competitor --n 2048

#include <string>
#include <vector>

#include <mpi.h>

#include "base/command_line.hpp"
#include "common/mpi_main.hpp"
#include "common/report.hpp"
#include "emulated.hpp"

namespace {

struct Settings {
  bench::EmulatedSettings emulated{{1000, 2000}, 64, {"gemm", "getrf", "potrf"}, 5};
  std::string csv;
  bool is_unequal = false, has_competitor = false;
};

void add_options(base::CommandLine& app, Settings& settings) {
  bench::EmulatedSettings& emulated = settings.emulated;
  app.add_option("--n", emulated.orders, "orders of the matrices")
      .separated_by(',')
      .check(base::positive_number())
      .show_default();
  app.add_option("--nb", emulated.nb, "block size").check(base::positive_number()).show_default();
  app.add_option("--routines", emulated.routines, "what is measured")
      .separated_by(',')
      .check(base::one_of({"gemm", "getrf", "potrf"}))
      .show_default();
  app.add_option("--reps", emulated.reps, "runs of each").check(base::positive_number()).show_default();
  app.add_option("--csv", settings.csv, "file for one line per single run").type_name("FILE");
  app.add_flag("--check", emulated.check, "results are compared with ScaLAPACK's");
  app.add_flag("--unequal", settings.is_unequal,
               "processors of unequal speed, emulated by libdyngrid-slow.so, which is to be preloaded: shares by speed "
               "against equal ones, with the bound, for the sets of speeds that have as many as there are processes "
               "(2, 4 or 6), and against what can be done with ScaLAPACK's kernels: threads, more processes");
  app.add_option("--processors", emulated.processors,
                 "with --unequal: their number, 2, 4 or 6; all processes are on them in the way with more processes")
      .check(base::positive_number());
  app.add_flag(
      "--competitor", settings.has_competitor,
      "on such processors, one of which has to be shared from a third of a factorization on: seconds of a "
      "program that had known, of one that adapts inside (DYNGRID_BALANCE=auto) and of one that never does, with the "
      "bound");
  app.add_option("--gflops", emulated.gflops, "of a processor of speed 1").show_default();
}

int run(int argc, char** argv) {
  Settings settings;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  base::CommandLine app("Products, LU and Cholesky on emulated processors of unequal speed", "bench_kernels");
  add_options(app, settings);
  if (const auto status = base::read_command_line(app, argc, argv, rank == 0)) return *status;
  if (settings.is_unequal == settings.has_competitor)
    throw base::CommandLineError("expected either --unequal or --competitor");
  apps::Report report(settings.is_unequal ? "bench_unequal" : "bench_competitor", rank == 0 ? settings.csv : "");
  const bool is_done = settings.is_unequal ? bench::run_unequal(settings.emulated, report)
                                           : bench::run_competitor(settings.emulated, report);
  return is_done && (rank != 0 || report.finish()) ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  return apps::mpi_main("bench_kernels", argc, argv, run);
}
