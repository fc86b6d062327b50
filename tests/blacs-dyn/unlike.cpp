// SPDX-License-Identifier: BSD-3-Clause
// unlike: processes on unlike processors. Results of LAPACK differ between processor models, and the places of
// processes of different speed are found with it: what process 0 finds counts. Here LAPACK is the program's own.
#include "dyngrid/balance.h"
#include "follow.hpp"

extern "C" int LAPACKE_dgesdd(int layout, char job, int m, int n, double* a, int lda, double* s, double* u, int ldu,
                              double* vt, int ldvt);

namespace {
int number = 0; // of this process
int calls = 0;
} // namespace

/// Leading left vectors by which 2 below 1 and 3 below 4 is better than 3 and 2 on process 0, and worse on others.
int LAPACKE_dgesdd(int, char, int m, int, double*, int, double*, double* u, int ldu, double*, int) {
  for (int i = 0; i < m; ++i) u[i * ldu] = 1;
  if (number != 0 && m == 2) u[ldu] = ++calls % 2 == 1 ? 0.5 : 1.732;
  return 0;
}

int main(int argc, char** argv) {
  using follow::expect;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  expect(dyngrid_init_grid(1, 2) == 0, "dyngrid_init_grid");
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "dyngrid_share");
  dyngrid_matrix* a = follow::create("A", 'd', 36, 30, 4, 4);
  if (dyngrid_context() >= 0) follow::fill(a, 'd', 3);
  const double speeds[] = {1, 4, 3, 2};
  expect(dyngrid_set_speed(speeds[number]) == 0, "dyngrid_set_speed");
  // the speeds of 2 and 3 are known from their first growth on, and their places are found by them in the second one
  follow::on_each_grid([&] {
    expect(follow::wrong(a, 'd', 3) == 0, "elements at step " + std::to_string(step));
    if (step == 3) return false;
    follow::request(step++ == 1 ? "1x2" : "2x2");
    return true;
  });
  expect(follow::ids_here() == std::vector<int>{0, 1, 3, 2}, "the places that process 0 finds");
  if (number == 0) std::printf("all right\n");
  expect(dyngrid_finalize() == 0, "dyngrid_finalize");
  MPI_Finalize();
  return 0;
}
