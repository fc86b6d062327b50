/* SPDX-License-Identifier: BSD-3-Clause */
// The classical way: a program of BLACS and PBLAS calls only. It grows by blacs_exit(1), blacs_setup and
// blacs_setup.dat, moves its matrix with pdgemr2d, and shrinks by dyngrid_pop. The spawned processes are the same
// program, and reach the same place by blacs_pinfo.
// classical FOLDER: where it writes and reads blacs_setup.dat (each process changes to it first)
#include <cmath>
#include <cstring>
#include <fstream>

#include <unistd.h>

#include "dyngrid/control.h"
#include "follow.hpp"

extern "C" {
void blacs_pinfo_(int*, int*);
void blacs_setup_(int*, int*);
void blacs_get_(const int*, const int*, int*);
void blacs_gridinit_(int*, const char*, const int*, const int*);
void blacs_gridinfo_(const int*, int*, int*, int*, int*);
void blacs_exit_(const int*);
void igebs2d_(const int*, const char*, const char*, const int*, const int*, const int*, const int*);
void igebr2d_(const int*, const char*, const char*, const int*, const int*, int*, const int*, const int*, const int*);
int numroc_(const int*, const int*, const int*, const int*, const int*);
void descinit_(int*, const int*, const int*, const int*, const int*, const int*, const int*, const int*, const int*,
               int*);
void pdgemr2d_(const int*, const int*, const double*, const int*, const int*, const int*, double*, const int*,
               const int*, const int*, const int*);
}

namespace {

const int zero = 0, one = 1, n = 37, nb = 4;

struct Grid {
  int context = -1, nprow = 0, npcol = 0, myrow = -1, mycol = -1;
  std::vector<int> desc = std::vector<int>(9, -1);
  std::vector<double> a;
};

Grid open_grid(int nprow, int npcol) {
  Grid g;
  blacs_get_(&zero, &zero, &g.context);
  blacs_gridinit_(&g.context, "R", &nprow, &npcol);
  blacs_gridinfo_(&g.context, &g.nprow, &g.npcol, &g.myrow, &g.mycol);
  g.desc[0] = 1;
  g.desc[1] = -1;
  if (g.myrow < 0) return g;
  const int rows = numroc_(&n, &nb, &g.myrow, &zero, &g.nprow), cols = numroc_(&n, &nb, &g.mycol, &zero, &g.npcol);
  const int lld = std::max(1, rows);
  int info = 0;
  descinit_(g.desc.data(), &n, &n, &nb, &nb, &zero, &zero, &g.context, &lld, &info);
  follow::expect(info == 0, "descinit");
  g.a.assign(static_cast<std::size_t>(lld) * static_cast<std::size_t>(std::max(1, cols)), -1.0);
  return g;
}

template <class F> void each(Grid& g, F&& f) {
  if (g.myrow < 0) return;
  const auto rows = gridmap::Axis::block_cyclic(n, nb, g.nprow), cols = gridmap::Axis::block_cyclic(n, nb, g.npcol);
  for (std::int64_t j = 0; j < cols.local_size(g.mycol); ++j)
    for (std::int64_t i = 0; i < rows.local_size(g.myrow); ++i)
      f(g.a[static_cast<std::size_t>(i + j * g.desc[8])],
        static_cast<double>(rows.to_global(i, g.myrow) * n + cols.to_global(j, g.mycol)));
}

void check(Grid& g, const std::string& where) {
  each(g, [&](double x, double want) { follow::expect(x == want, "elements " + where); });
}

void move(Grid& from, Grid& to, int context) {
  pdgemr2d_(&n, &n, from.a.data(), &one, &one, from.desc.data(), to.a.data(), &one, &one, to.desc.data(), &context);
}

} // namespace

int main(int argc, char** argv) {
  follow::expect(argc > 1 && chdir(argv[1]) == 0, "the folder");
  int iam = -1, nprocs = -1;
  blacs_pinfo_(&iam, &nprocs); // a spawned process joins its parents here
  const int first = 2, second = 6;
  std::vector<double> kept; // the matrix of the small grid, between its context and the next

  for (int round = 0; round < 2; ++round) {
    if (nprocs == first) {
      if (iam == 0) std::ofstream("blacs_setup.dat") << "# four more of the same\nexecutable self\nprocesses 4\n";
      if (iam == 0) std::ofstream("absurd_setup.dat") << "executable self\nprocesses 100000\n";
      Grid small = open_grid(1, 2); // collective: after it the file exists for all processes
      if (round == 0)
        each(small, [](double& x, double want) { x = want; });
      else
        small.a = kept;
      check(small, "on 1x2");
      kept = small.a;
      // grow: the old contexts are closed, blacs_setup spawns as in blacs_setup.dat
      blacs_exit_(&one);
      if (round == 0) { // more than any core takes: nothing is started, and the application goes on
        setenv("DYNGRID_START", "setup=absurd_setup.dat", 1);
        blacs_setup_(&iam, &nprocs);
        follow::expect(nprocs == first && std::strstr(dyngrid_last_message(), "100002 processes on"),
                       "100000 processes are refused");
        unsetenv("DYNGRID_START");
        blacs_exit_(&one);
      }
      // the file of process 0 counts, and the program that it names
      setenv("DYNGRID_START", iam == 0 ? "program=/no/such/program" : "setup=missing_setup.dat", 1);
      blacs_setup_(&iam, &nprocs);
      unsetenv("DYNGRID_START");
    }
    follow::expect(nprocs == second, "six processes");
    if (iam == 0) unlink("blacs_setup.dat");
    Grid all = open_grid(1, nprocs); // covers both
    Grid small = open_grid(1, 2), large = open_grid(2, 3);
    if (small.myrow >= 0) small.a = kept;
    move(small, large, all.context);
    check(large, "on 2x3");
    each(large, [](double& x, double) { x = x + 0.0; });
    if (small.myrow >= 0) std::fill(small.a.begin(), small.a.end(), -5.0);
    move(large, small, all.context);
    if (small.myrow >= 0) kept = small.a;
    follow::expect(dyngrid_depth() == 2, "two levels");
    const int outcome = dyngrid_pop(); // the last four leave; contexts are closed
    if (outcome == DYNGRID_LEAVE) break;
    follow::expect(outcome == DYNGRID_RESIZED, "dyngrid_pop");
    blacs_pinfo_(&iam, &nprocs);
    follow::expect(nprocs == first && iam >= 0 && iam < first, "two again");
    follow::expect(dyngrid_pop() == DYNGRID_ERR_STATE, "nothing below the first grid");
    Grid back = open_grid(1, 2);
    back.a = kept;
    check(back, "back on 1x2");
    if (iam == 0) std::printf("round %d: 2 -> 6 -> 2 right\n", round), std::fflush(stdout);
    blacs_exit_(&one);
  }
  blacs_exit_(&zero);
  return 0;
}
