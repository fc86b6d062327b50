// SPDX-License-Identifier: BSD-3-Clause
// deal.II's ScaLAPACKMatrix on a grid that may change before each step: the square root of A by Newton's method,
// X = (X + A inv(X))/2. A and X follow. The eigenvalues of A, 2.5 - 2 cos(k pi/(n + 1)), give all norms.
//
//   mpicxx -O2 deal_ii.cpp $(pkg-config --cflags --libs dyngrid) $(pkg-config --cflags petsc slepc)
//     -I/usr/include/deal.II -I/usr/include/trilinos -I/usr/include/suitesparse -ldeal.ii -ltrilinos_teuchoscomm
//     -ltrilinos_teuchoscore -o deal_ii
//   dyngrid run -np 4 --wait --resize-at 2:3x3,4:2x3,6:1x2,8:2x2 -- ./deal_ii
#include <cstdio>
#include <cstdlib>
#include <deal.II/lac/scalapack.h>
#include <dyngrid.hpp>
#include <memory>

namespace {
const unsigned n = 90, nb = 8;
const int steps = 10;
using Grid = dealii::Utilities::MPI::ProcessGrid;
using Matrix = dealii::ScaLAPACKMatrix<double>;

// Local arrays are alike in both libraries: column after column, without gaps.
void load(Matrix& to, const double* from) {
  for (unsigned j = 0; j < to.local_n(); ++j)
    for (unsigned i = 0; i < to.local_m(); ++i) to.local_el(i, j) = from[i + std::size_t{j} * to.local_m()];
}
void save(const Matrix& from, double* to) {
  for (unsigned j = 0; j < from.local_n(); ++j)
    for (unsigned i = 0; i < from.local_m(); ++i) to[i + std::size_t{j} * from.local_m()] = from.local_el(i, j);
}
bool is_first(const Grid& grid) {
  return grid.get_this_process_row() + grid.get_this_process_column() == 0;
}
void set_first_values(Matrix& a, Matrix& x) { // -1, 2.5, -1, and the identity
  for (unsigned j = 0; j < x.local_n(); ++j)
    for (unsigned i = 0; i < x.local_m(); ++i) {
      const auto distance = std::abs(static_cast<int>(x.global_row(i)) - static_cast<int>(x.global_column(j)));
      x.local_el(i, j) = distance == 0;
      a.local_el(i, j) = distance == 0 ? 2.5 : distance == 1 ? -1 : 0;
    }
}
} // namespace

int main() try {
  dyngrid::Application app; // a new process joins the others here
  dyngrid::Matrix<double> a_follows("A", n, n, nb, nb), x_follows("X", n, n, nb, nb);
  dyngrid::Shared<int> step("step", 0); // new processes get it
  std::shared_ptr<Grid> grid;           // a grid of deal.II belongs to one communicator
  std::unique_ptr<Matrix> a, x;
  const auto make = [&] { // on each process of a new grid
    const auto shape = app.grid();
    if (!shape.is_mine()) return; // not in the grid, or a new process before its first resize point
    const double begin = MPI_Wtime();
    grid = std::make_shared<Grid>(app.comm(), shape.nprow, shape.npcol);
    a = std::make_unique<Matrix>(n, n, grid, nb, nb);
    x = std::make_unique<Matrix>(n, n, grid, nb, nb);
    if (step == 0) {
      set_first_values(*a, *x);
    } else {
      load(*a, a_follows.local());
      load(*x, x_follows.local());
    }
    if (is_first(*grid))
      std::printf("made for %d x %d in %.3f ms\n", shape.nprow, shape.npcol, 1e3 * (MPI_Wtime() - begin));
  };
  const auto drop = [&] { // on each process of the old grid, also on those that leave
    if (!x) return;
    save(*a, a_follows.local());
    save(*x, x_follows.local());
    a.reset();
    x.reset();
    grid.reset();
  };
  app.on_change(drop, make);
  for (make(); app.resize_point() != dyngrid::Outcome::leave && step < steps; ++step.get()) {
    Matrix inverse(n, n, grid, nb, nb), residual(n, n, grid, nb, nb);
    x->copy_to(inverse);
    inverse.invert();
    a->mult(0.5, inverse, 0.5, *x);
    a->copy_to(residual);
    x->mult(1, *x, -1, residual);
    const double norm = x->frobenius_norm(), error = residual.frobenius_norm();
    if (is_first(*grid))
      std::printf("step %d on %u x %u: norm %.15e residual %.15e\n", step.get(), grid->get_process_grid_rows(),
                  grid->get_process_grid_columns(), norm, error);
  }
  drop();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "deal_ii: %s\n", error.what());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
