// SPDX-License-Identifier: BSD-3-Clause
// refused WHAT WAY: a product or a triangular system whose descriptors do not fit each other. These routines have no
// info: the program ends. WAY: stock, own, or which of the descriptors are lists: a b ab.
#include <cstdio>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/mpi/blacs.hpp"
#include "dyngrid/pblas.h"

extern "C" {
void pdgemm_(DYNGRID_GEMM_ARGS(double));
void pdtrsm_(DYNGRID_TRSM_ARGS(double));
}

namespace {

int context() {
  int ctxt = -1;
  Cblacs_get(0, 0, &ctxt);
  Cblacs_gridinit(&ctxt, "R", 1, 2);
  return ctxt;
}

void list(std::vector<int>& desc) {
  const int mb = desc[4], nb = desc[5];
  desc[0] = 601, desc[4] = desc[5] = 1;
  desc.insert(desc.end(), {mb, nb});
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string what = argc > 2 ? argv[1] : "", way = argc > 2 ? argv[2] : "";
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int ctxt = context(), other = context(), one = 1;
  std::vector<int> a{1, ctxt, 10, 10, 2, 2, 0, 0, 10}, b = a, c = a;
  int n = 8, ib = 1;
  if (what == "context") b[1] = other;
  if (what == "inner") b[2] = 7;
  if (what == "corner") ib = 4;
  if (what == "one") b[8] = rank == 1 ? 3 : 10;
  if (way.find('a') == 0) list(a);
  if (way.find('b') != std::string::npos) list(b);
  const bool is_stock = way == "stock", is_own = way == "own";
  std::vector<double> x(100, 1), y(100, 1), z(100, 1);
  const double alpha = 1;
  if (what == "system") {
    b[3] = 5;
    (is_own ? dyngrid_pdtrsm_ : pdtrsm_)("L", "L", "N", "N", &n, &n, &alpha, x.data(), &one, &one, a.data(), y.data(),
                                         &one, &one, b.data());
  } else {
    (is_own ? dyngrid_pdgemm_ : pdgemm_)("N", "N", &n, &n, &n, &alpha, x.data(), &one, &one, a.data(), y.data(), &ib,
                                         &one, b.data(), &alpha, z.data(), &one, &one, c.data());
  }
  std::printf("refused: %s by %s went through\n", what.c_str(), is_stock ? "ScaLAPACK" : way.c_str());
  MPI_Finalize();
  return 0;
}
