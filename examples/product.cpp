// SPDX-License-Identifier: BSD-3-Clause
// C = A B, step after step, on a grid that may change between two steps; product.c in C++.
//
//   cmake -S examples -B b -DCMAKE_PREFIX_PATH=... && cmake --build b
//   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 1:2x2,2:3x1 -- b/product_cpp
#include <cstdio>
#include <dyngrid/scalapack.hpp>
#include <string>

extern "C" void Cdgsum2d(int context, const char* scope, const char* topology, int m, int n, double* a, int lda,
                         int row, int col);

int main() try {
  const int n = 60, nb = 8, steps = 4;
  dyngrid::Application app; // a new process joins the others here
  dyngrid::Matrix<double> a("A", n, n, nb, nb), b("B", n, n, nb, nb),
      c("C", n, n, nb, nb);             // live on the grid and follow it
  dyngrid::Shared<int> step("step", 0); // all processes have it, new ones get it
  if (!app.is_newcomer()) {             // i and j count from 0 over the whole matrix
    dyngrid::for_each(a, [](auto i, auto j, double& x) { x = static_cast<double>((i + 1 + 2 * (j + 1)) % 7); });
    dyngrid::for_each(b, [](auto i, auto j, double& x) { x = static_cast<double>((3 * (i + 1) + j + 1) % 5); });
  }
  std::string refusal;
  for (;; step = step + 1) {
    const auto outcome = app.resize_point(refusal); // the grid may change here and nowhere else
    if (outcome == dyngrid::Outcome::leave || step == steps) break;
    if (!refusal.empty()) std::fprintf(stderr, "product: the grid stays as it is: %s\n", refusal.c_str());
    dyngrid::gemm(1, a, b, 0, c); // pdgemm_ as ever would do as well, with a.local() and a.desc()
    double sum = 0;
    dyngrid::for_each(c, [&](auto, auto, double x) { sum += x; });
    Cdgsum2d(app.context(), "All", " ", 1, 1, &sum, 1, -1, -1); // the BLACS work as ever
    const dyngrid::Grid grid = app.grid();
    if (app.is_first()) std::printf("step %d on %d x %d: sum of C = %.0f\n", step.get(), grid.nprow, grid.npcol, sum);
  }
  return 0; // matrices, shared variables and the application end in this order
} catch (const dyngrid::Error& error) {
  std::fprintf(stderr, "product: %s\n", error.what());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
