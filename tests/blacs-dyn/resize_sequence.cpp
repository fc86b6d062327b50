// SPDX-License-Identifier: BSD-3-Clause
// resize_sequence [--now] GRID PLACEMENT SHAPE...: from the first grid through all shapes, five matrices of five types
// compared element by element on every grid, a PDGEMM on each. A sixth matrix lies in unequal blocks. The changes
// happen at resize points by dyngrid_request, or with --now by dyngrid_resize.
#include <cstring>

#include "../../apps/common/scalapack.h"
#include "dyngrid/control.h"
#include "dyngrid/layout.h"
#include "dyngrid/redist.h"
#include "follow.hpp"

int main(int argc, char** argv) {
  using follow::expect;
  int at = 1;
  const bool now = argc > 1 && !std::strcmp(argv[1], "--now");
  if (now) ++at;
  std::vector<std::pair<int, int>> shapes;
  for (int a = at; a < argc; ++a) {
    int r = 0, c = 0;
    if (a == at + 1) continue;
    expect(std::sscanf(argv[a], "%dx%d", &r, &c) == 2, "arguments");
    shapes.emplace_back(r, c);
  }
  const int placement = std::atoi(argv[at + 1]);
  expect(dyngrid_init_grid(shapes[0].first, shapes[0].second) == DYNGRID_SUCCESS, "dyngrid_init_grid");
  expect(dyngrid_set_placement(placement) == DYNGRID_SUCCESS, "dyngrid_set_placement");

  struct Case {
    char type;
    int m, n, mb, nb;
  };
  const std::vector<Case> cases{
      {'s', 23, 17, 3, 2}, {'d', 37, 41, 4, 5}, {'c', 1, 29, 2, 3}, {'z', 19, 19, 19, 1}, {'i', 64, 2, 8, 1}};
  std::vector<dyngrid_matrix*> a(cases.size());
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const Case& c = cases[k];
    const std::string name = std::string("matrix ") + c.type;
    expect(dyngrid_matrix_create(name.c_str(), c.type, c.m, c.n, c.mb, c.nb, &a[k]) == DYNGRID_SUCCESS,
           "dyngrid_matrix_create");
  }
  const int n = 24, nb = 5, one_i = 1;
  dyngrid_matrix *b = follow::create("b", 'd', n, n, nb, nb), *c = follow::create("c", 'd', n, n, nb, nb);
  int context_of_rule = 42;
  dyngrid_matrix* unequal = nullptr;
  expect(!dyngrid_matrix_create_by("unequal", 'd', 31, 26, follow::unequal, &context_of_rule, &unequal),
         "dyngrid_matrix_create_by");
  int step = 0;
  double history[8] = {0};
  expect(!dyngrid_share("step", &step, sizeof step) && !dyngrid_share("history", history, sizeof history),
         "dyngrid_share");
  if (!dyngrid_is_newcomer()) {
    for (std::size_t k = 0; k < cases.size(); ++k) follow::fill(a[k], cases[k].type, static_cast<int>(k));
    follow::fill(unequal, 'd', 99);
    // b is a cyclic shift: b times b has its single ones two columns on, exactly
    auto* x = static_cast<double*>(dyngrid_local(b));
    follow::for_mine(b, [&](std::int64_t l, std::int64_t i, std::int64_t j) { x[l] = j == (i + 1) % n; });
    step = 1;
    history[0] = 0.5;
  }

  int outcome = 0;
  for (bool first = true;; first = false) {
    if (!now || first) outcome = dyngrid_resize_point();
    if (outcome < 0) follow::fail("change of the grid: " + std::string(dyngrid_status_string(outcome)));
    if (outcome == DYNGRID_LEAVE) break;
    int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
    dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
    const auto want = shapes[static_cast<std::size_t>(step - 1)];
    expect(nprow == want.first && npcol == want.second && myrow >= 0 && mycol >= 0,
           "shape after step " + std::to_string(step));
    expect(history[0] == 0.5, "shared state");
    int size = 0;
    MPI_Comm_size(dyngrid_comm(), &size);
    expect(size == nprow * npcol, "communicator of the grid");
    for (std::size_t k = 0; k < cases.size(); ++k)
      expect(follow::wrong(a[k], cases[k].type, static_cast<int>(k)) == 0,
             std::string("elements of type ") + cases[k].type);
    expect(follow::wrong(unequal, 'd', 99) == 0, "elements in unequal blocks");
    const int* d = dyngrid_desc(unequal); // on one process the rule gives one size for each axis: ScaLAPACK accepts
                                          // that
    expect(size == 1 ? d[0] == 1 && d[4] == 31 : d[0] == DYNGRID_DTYPE && d[4] == nprow && d[5] == npcol,
           "descriptor with lists");

    const double one = 1, zero = 0;
    pdgemm_("N", "N", &n, &n, &n, &one, static_cast<double*>(dyngrid_local(b)), &one_i, &one_i, dyngrid_desc(b),
            static_cast<double*>(dyngrid_local(b)), &one_i, &one_i, dyngrid_desc(b), &zero,
            static_cast<double*>(dyngrid_local(c)), &one_i, &one_i, dyngrid_desc(c));
    const auto* y = static_cast<const double*>(dyngrid_local(c));
    follow::for_mine(c, [&](std::int64_t l, std::int64_t i, std::int64_t j) {
      expect(y[l] == (j == (i + 2) % n ? 1.0 : 0.0), "product");
    });

    if (myrow == 0 && mycol == 0) {
      std::printf("step %d on %dx%d right, depth %d\n", step, nprow, npcol, dyngrid_depth());
      std::fflush(stdout);
    }
    if (step == static_cast<int>(shapes.size())) break;
    const auto next = shapes[static_cast<std::size_t>(step)];
    ++step;
    if (now) {
      outcome = dyngrid_resize(next.first, next.second, placement);
    } else {
      expect(!dyngrid_request(next.first, next.second), "dyngrid_request");
    }
  }
  expect(dyngrid_finalize() == DYNGRID_SUCCESS, "dyngrid_finalize");
  return 0;
}
