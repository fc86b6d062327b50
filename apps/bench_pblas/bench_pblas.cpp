// SPDX-License-Identifier: BSD-3-Clause
// Our kernels against ScaLAPACK's: products, LU and Cholesky of matrices in equal blocks, as DTYPE_ 1 and as 601; the
// products also against COSMA's, where it is found. The runs of a case take turns in one mpirun.
//
//   mpirun --oversubscribe -np 4 bench_pblas --n 2000,4000 --csv out.csv
//   mpirun --oversubscribe -np 2 bench_pblas --grow 2x2 --n 256,512,1000,2000
//   mpirun --oversubscribe -np 4 bench_pblas --speeds 2,2,1,1 --n 2000

#include <string>
#include <vector>

#include <mpi.h>

#include "base/command_line.hpp"
#include "base/grid_shape.hpp"
#include "common/blacs.hpp"
#include "common/mpi_main.hpp"
#include "common/report.hpp"
#include "equal.hpp"

namespace {

using bench::Settings;

/// COSMA has products alone.
std::vector<std::string> methods_for(const std::string& routine) {
  std::vector<std::string> methods{"stock", "own", "listed"};
  if (bench::has_cosma && routine == "gemm") methods.emplace_back("cosma");
  return methods;
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
  app.add_option("--grow", settings.grow,
                 "dyngrid starts more processes beside those of mpirun, up to this grid, and then ours is measured "
                 "against ScaLAPACK's on it: between old and new processes Open MPI sends over TCP")
      .type_name("PxQ");
  app.add_option("--speeds", settings.speeds,
                 "speeds of the processes, by rank: ours is measured on shares by speed, against ScaLAPACK's on equal "
                 "ones")
      .separated_by(',')
      .check(base::positive_number())
      .type_name("S,...");
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
  if (!settings.grow.empty() && !settings.speeds.empty())
    throw base::CommandLineError("--grow and --speeds are measurements of their own");
  if (!settings.speeds.empty()) return bench::run_shares(settings);
  if (!settings.grow.empty()) return bench::run_grown(settings);
  apps::Report report("bench_pblas", rank == 0 ? settings.csv : "");
  apps::Table table{"Seconds of a call, medians; ratios are stock's time over ours",
                    {"routine", "grid", "n", "nb", "stock", "own", "listed", "own ratio", "listed ratio"},
                    {}};
  if (bench::has_cosma) table.columns.insert(table.columns.end(), {"cosma", "cosma over own"});
  apps::Ratios ratios;
  for (const std::string& shape : settings.grids) {
    const base::GridShape asked = base::parse_grid_shape(shape, "--grids");
    if (asked.size() != size)
      throw base::CommandLineError("--grids: got " + shape + ", expected a grid of all processes");
    const apps::BlacsGrid grid(asked.nprow, asked.npcol);
    for (const int n : settings.orders)
      for (const int nb : settings.blocks)
        for (const std::string& routine : settings.routines) {
          const bench::EqualCase what{"equal blocks",      routine, "", grid, n, nb, settings.reps, settings.check,
                                      methods_for(routine)};
          const auto seconds = bench::measure(what, MPI_COMM_WORLD, report);
          const double stock = seconds.at("stock"), own = seconds.at("own"), listed = seconds.at("listed");
          for (const double ours : {own, listed}) ratios.add(stock / ours);
          table.rows.push_back({routine, shape, n, nb, apps::Cell(stock, 3), apps::Cell(own, 3), apps::Cell(listed, 3),
                                apps::Cell(stock / own, 3), apps::Cell(stock / listed, 3)});
          if (!bench::has_cosma) continue;
          const auto cosma = seconds.find("cosma");
          std::vector<apps::Cell>& row = table.rows.back();
          row.push_back(cosma != seconds.end() ? apps::Cell(cosma->second, 3) : apps::Cell("-"));
          row.push_back(cosma != seconds.end() ? apps::Cell(cosma->second / own, 3) : apps::Cell("-"));
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
