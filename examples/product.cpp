// SPDX-License-Identifier: BSD-3-Clause
// C = A B, step after step, on a grid that may change between two steps; product.c in C++.
//
//   cmake -S examples -B b -DCMAKE_PREFIX_PATH=... && cmake --build b
//   dyngrid run -np 2 --resize-at 1:2x2,2:3x1 -- b/product_cpp
#include <cstdio>
#include <dyngrid.hpp>
#include <string>

extern "C" { // ScaLAPACK has no header
void pdelset_(double* a, const int* i, const int* j, const int* desc, const double* value);
void pdgemm_(const char*, const char*, const int* m, const int* n, const int* k, const double* alpha, const double* a, const int* ia,
             const int* ja, const int* desca, const double* b, const int* ib, const int* jb, const int* descb, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);
void Cdgsum2d(int context, const char* scope, const char* topology, int m, int n, double* a, int lda, int row, int col);
}

int main() try {
  const int n = 60, nb = 8, steps = 4, i1 = 1;
  const double one = 1, zero = 0;
  dyngrid::Application app; // a new process joins the others here
  dyngrid::Matrix<double> a("A", n, n, nb, nb), b("B", n, n, nb, nb), c("C", n, n, nb, nb); // live on the grid and follow it
  dyngrid::Shared<int> step("step", 0); // all processes have it, new ones get it
  if (!app.is_newcomer() && a.local())
    for (int j = 1; j <= n; ++j)
      for (int i = 1; i <= n; ++i) {
        const double a_ij = (i + 2 * j) % 7, b_ij = (3 * i + j) % 5;
        pdelset_(a.local(), &i, &j, a.desc(), &a_ij);
        pdelset_(b.local(), &i, &j, b.desc(), &b_ij);
      }
  std::string refusal;
  for (;; step = step + 1) {
    const auto outcome = app.resize_point(refusal); // the grid may change here and nowhere else
    if (outcome == dyngrid::Outcome::leave || step == steps) break;
    if (!refusal.empty()) std::fprintf(stderr, "product: the grid stays as it is: %s\n", refusal.c_str());
    pdgemm_("N", "N", &n, &n, &n, &one, a.local(), &i1, &i1, a.desc(), b.local(), &i1, &i1, b.desc(), &zero, c.local(), &i1, &i1,
            c.desc());
    double sum = 0;
    for (std::int64_t jj = 0; jj < c.columns(); ++jj)
      for (std::int64_t ii = 0; ii < c.rows(); ++ii) sum += c(ii, jj);
    Cdgsum2d(app.context(), "All", " ", 1, 1, &sum, 1, -1, -1); // the BLACS work as ever
    const dyngrid::Grid grid = app.grid();
    if (app.is_first())
      std::printf("step %d on %d x %d: sum of C = %.0f\n", step.get(), grid.nprow, grid.npcol, sum);
  }
  return 0; // matrices, shared variables and the application end in this order
} catch (const dyngrid::Error& error) {
  std::fprintf(stderr, "product: %s\n", error.what());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
