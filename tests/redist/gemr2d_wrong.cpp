// SPDX-License-Identifier: BSD-3-Clause
// One wrong argument ends the program with a message, as with the stock routine: argv[1] says which.
#include <cstring>
#include <vector>

#include <mpi.h>

#include "base/mpi/blacs.hpp"

extern "C" void Cpdgemr2d(int, int, void*, int, int, int*, void*, int, int, int*, int);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ctxt = 0, world = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  Cblacs_get(-1, 0, &ctxt);
  Cblacs_gridinit(&ctxt, "R", 1, world);
  const int n = 10;
  int a[9] = {1, ctxt, n, n, n, 2, 0, 0, n}, b[9] = {1, ctxt, n, n, n, 3, 0, 0, n};
  std::vector<double> x(n * n), y(n * n);
  int ia = 1, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* what = argc > 1 ? argv[1] : "";
  // DTYPE_ 601: one row size, two column sizes
  int listed[12] = {601, ctxt, n, n, 1, 2, 0, 0, n, n, 2, 3};
  bool is_listed = true;
  if (std::strcmp(what, "listed_lld") == 0)
    listed[8] = n - 1;
  else if (std::strcmp(what, "listed_none") == 0)
    listed[4] = 0;
  else if (std::strcmp(what, "listed_many") == 0)
    listed[5] = 1 << 30;
  else if (std::strcmp(what, "listed_negative") == 0)
    listed[10] = -2;
  else if (std::strcmp(what, "listed_zeros") == 0)
    listed[10] = listed[11] = 0;
  else if (std::strcmp(what, "listed_differ") == 0)
    listed[11] += rank;
  else if (std::strcmp(what, "listed_source") == 0)
    listed[7] = world;
  else
    is_listed = std::strcmp(what, "listed_good") == 0;
  if (std::strcmp(what, "wide") == 0) { // integers of 8 bytes, seen as two of 4
    int wide[18] = {1, 0, ctxt, 0, n, 0, n, 0, n, 0, 3, 0, 0, 0, 0, 0, n, 0};
    Cpdgemr2d(n, n, x.data(), ia, 1, a, y.data(), 1, 1, wide, ctxt);
  }
  if (std::strcmp(what, "lld") == 0) a[8] = n - 1;
  if (std::strcmp(what, "corner") == 0) ia = 2;
  if (std::strcmp(what, "source") == 0) b[7] = world;
  Cpdgemr2d(n, n, x.data(), ia, 1, a, y.data(), 1, 1, is_listed ? listed : b, ctxt);
  MPI_Finalize();
  return 0;
}
