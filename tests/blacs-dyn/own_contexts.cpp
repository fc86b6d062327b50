// SPDX-License-Identifier: BSD-3-Clause
// own_contexts: a library with BLACS contexts over communicators of its own, in a program whose grid changes. They are
// used before and after every change and closed by the library at the end. The change closes those with a process that
// leaves; closing them once more does no harm.
// own_contexts stale ROUTINE: a handle of the grid before a change, passed to a routine of ScaLAPACK, ends the program
// with a message. ROUTINE: gemr2d context trmr2d gemm potrf
#include <cstring>

#include "../../apps/common/scalapack.h"
#include "base/mpi/blacs.hpp"
#include "follow.hpp"

extern "C" {
void Cdgsum2d(int context, const char* scope, const char* top, int m, int n, double* a, int lda, int rdest, int cdest);
void Cdgesd2d(int context, int m, int n, const double* a, int lda, int rdest, int cdest);
void Cdgerv2d(int context, int m, int n, double* a, int lda, int rsrc, int csrc);
void Cpdgemr2d(int, int, const double*, int, int, const int*, double*, int, int, const int*, int);
void Cpdtrmr2d(const char*, const char*, int, int, const double*, int, int, const int*, double*, int, int, const int*,
               int);
void blacs_gridinit_(int* context, const char* order, const int* nprow, const int* npcol);
void blacs_gridexit_(const int* context);
}

namespace {

using follow::expect;

/// A grid of one row over a communicator of the library's own.
struct Own {
  MPI_Comm comm = MPI_COMM_NULL;
  int context = -1, columns = 0, me = 0;
  const char* name = "";

  void open(MPI_Comm given, const char* what, bool by_fortran = false) {
    comm = given;
    name = what;
    MPI_Comm_size(comm, &columns);
    MPI_Comm_rank(comm, &me);
    if (by_fortran) {
      const int one = 1;
      context = MPI_Comm_c2f(comm);
      blacs_gridinit_(&context, "R", &one, &columns);
    } else {
      const int handle = Csys2blacs_handle(comm);
      context = handle;
      Cblacs_gridinit(&context, "R", 1, columns);
      Cfree_blacs_system_handle(handle);
    }
    use();
  }
  bool is_there() const {
    int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
    Cblacs_gridinfo(context, &nprow, &npcol, &myrow, &mycol);
    return nprow == 1 && npcol == columns && mycol == me;
  }
  /// A sum, a message around the ring, and a product.
  void use() const {
    expect(is_there(), std::string(name) + ": the context is not there");
    double sum = me + 1;
    Cdgsum2d(context, "All", " ", 1, 1, &sum, 1, -1, -1);
    expect(sum == 0.5 * columns * (columns + 1), std::string(name) + ": sum");
    const double sent[] = {1.0 * me, 2.0 * me};
    double got[] = {-1, -1};
    Cdgesd2d(context, 2, 1, sent, 2, 0, (me + 1) % columns);
    Cdgerv2d(context, 2, 1, got, 2, 0, (me + columns - 1) % columns);
    expect(got[1] == 2.0 * ((me + columns - 1) % columns), std::string(name) + ": message");
    const int n = 4 * columns, one_i = 1, desc[] = {1, context, n, n, 4, 4, 0, 0, n};
    const double one = 1, zero = 0;
    std::vector<double> a(static_cast<std::size_t>(4 * n)), c(a.size());
    for (int j = 0; j < 4; ++j) a[static_cast<std::size_t>((4 * me + j + 1) % n + j * n)] = 1; // a cyclic shift
    pdgemm_("N", "N", &n, &n, &n, &one, a.data(), &one_i, &one_i, desc, a.data(), &one_i, &one_i, desc, &zero, c.data(),
            &one_i, &one_i, desc);
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < n; ++i)
        expect(c[static_cast<std::size_t>(i + j * n)] == ((4 * me + j + 2) % n == i ? 1 : 0),
               std::string(name) + ": product");
  }
  void close() const {
    Cblacs_gridexit(context);
    expect(!is_there(), std::string(name) + ": closed");
  }
};

int give_stale(const std::string& routine) {
  expect(dyngrid_init_grid(1, 2) == 0, "init");
  dyngrid_matrix *a = follow::create("a", 'd', 20, 20, 3, 3), *b = follow::create("b", 'd', 20, 20, 2, 2);
  const int n = 20, i1 = 1;
  const int context = dyngrid_context();
  std::vector<int> desc(dyngrid_desc(a), dyngrid_desc(a) + 9);
  expect(!dyngrid_request(2, 1) && dyngrid_resize_point() == DYNGRID_RESIZED, "a change");
  auto *x = static_cast<double*>(dyngrid_local(a)), *y = static_cast<double*>(dyngrid_local(b));
  const int* now = dyngrid_desc(b);
  const double one = 1;
  if (routine == "gemr2d") Cpdgemr2d(n, n, x, 1, 1, desc.data(), y, 1, 1, now, dyngrid_context());
  if (routine == "context") Cpdgemr2d(n, n, x, 1, 1, dyngrid_desc(a), y, 1, 1, now, context);
  if (routine == "trmr2d") Cpdtrmr2d("U", "N", n, n, y, 1, 1, now, x, 1, 1, desc.data(), dyngrid_context());
  if (routine == "gemm")
    pdgemm_("N", "N", &n, &n, &n, &one, y, &i1, &i1, now, x, &i1, &i1, desc.data(), &one, y, &i1, &i1, now);
  int info = 0;
  if (routine == "potrf") pdpotrf_("U", &n, x, &i1, &i1, desc.data(), &info);
  expect(false, "it came back");
  return 1;
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 3) return give_stale(argv[2]);
  expect(dyngrid_init_grid(2, 2) == DYNGRID_SUCCESS, "dyngrid_init_grid");
  constexpr int n = 24, nb = 5, one_i = 1;
  dyngrid_matrix *b = nullptr, *c = nullptr;
  int step = 0;
  expect(!dyngrid_matrix_create("b", 'd', n, n, nb, nb, &b) && !dyngrid_matrix_create("c", 'd', n, n, nb, nb, &c) &&
             !dyngrid_share("step", &step, sizeof step),
         "create");
  const bool is_newcomer = dyngrid_is_newcomer() != 0;
  Own self, pair, first, of_grid; // a new process has the first only
  self.open(MPI_COMM_SELF, "over one process");
  MPI_Comm comm = MPI_COMM_NULL;
  if (!is_newcomer) {
    auto* x = static_cast<double*>(dyngrid_local(b));
    follow::for_mine(b, [&](std::int64_t at, std::int64_t i, std::int64_t j) { x[at] = j == (i + 1) % n; });
    int rank = 0;
    MPI_Comm_rank(dyngrid_comm(), &rank);
    MPI_Comm_split(dyngrid_comm(), rank / 2, rank, &comm);
    pair.open(comm, "over a pair", true);
    MPI_Comm_dup(dyngrid_comm(), &comm);
    first.open(comm, "over a duplicate");
  }

  const std::vector<std::pair<int, int>> shapes{{2, 2}, {3, 3}, {2, 2}, {1, 7}, {4, 4}, {2, 3}, {2, 2}};
  std::vector<int> stale;
  for (;;) {
    const int outcome = dyngrid_resize_point();
    expect(outcome >= 0, "resize point");
    if (outcome == DYNGRID_LEAVE) break;
    int nprow = 0, npcol = 0, myrow = 0, mycol = 0, iam = 0, nprocs = 0;
    dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
    expect(std::make_pair(nprow, npcol) == shapes[static_cast<std::size_t>(step)],
           "shape of step " + std::to_string(step));
    Cblacs_pinfo(&iam, &nprocs);
    expect(nprocs == nprow * npcol && iam == myrow * npcol + mycol, "blacs_pinfo");
    self.use();
    if (!is_newcomer) {
      pair.use();
      first.use();
    }
    // contexts that a change has closed: once more, under numbers that are not in use
    for (const int context : stale) Cblacs_gridexit(context);
    if (of_grid.columns > 0) {
      if (step == 2) expect(!of_grid.is_there(), "a context with processes that left");
      Cblacs_gridexit(of_grid.context);
      MPI_Comm_free(&of_grid.comm);
      of_grid = Own{};
    }
    stale.push_back(dyngrid_context());
    int mine = -1;
    Cblacs_get(0, 0, &mine);
    Cblacs_gridinit(&mine, "C", nprow, npcol); // of dyngrid's processes: closed by the next change
    stale.push_back(mine);
    int derived = -1;
    Cblacs_get(mine, 10, &derived);
    Cblacs_gridinit(&derived, "R", 1, nprow * npcol); // of that context's
    stale.push_back(derived);
    if (step == 1) {
      MPI_Comm_dup(dyngrid_comm(), &comm);
      of_grid.open(comm, "over a duplicate of the large grid");
    }
    const double one = 1, zero = 0;
    pdgemm_("N", "N", &n, &n, &n, &one, static_cast<double*>(dyngrid_local(b)), &one_i, &one_i, dyngrid_desc(b),
            static_cast<double*>(dyngrid_local(b)), &one_i, &one_i, dyngrid_desc(b), &zero,
            static_cast<double*>(dyngrid_local(c)), &one_i, &one_i, dyngrid_desc(c));
    const auto* y = static_cast<const double*>(dyngrid_local(c));
    follow::for_mine(c, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
      expect(y[at] == (j == (i + 2) % n ? 1.0 : 0.0), "product on the grid");
    });
    if (myrow == 0 && mycol == 0) {
      std::printf("step %d on %dx%d: the library's contexts are right\n", step, nprow, npcol);
      std::fflush(stdout);
    }
    if (++step == static_cast<int>(shapes.size())) break;
    const auto next = shapes[static_cast<std::size_t>(step)];
    expect(!dyngrid_request(next.first, next.second), "dyngrid_request");
  }
  self.use();
  if (!is_newcomer) {
    pair.close();
    MPI_Comm_free(&pair.comm);
    const int twice = pair.context;
    blacs_gridexit_(&twice);
    first.close();
    MPI_Comm_free(&first.comm);
  }
  self.close();
  self.close();
  for (const int context : stale) Cblacs_gridexit(context);
  expect(dyngrid_finalize() == DYNGRID_SUCCESS, "dyngrid_finalize");
  return 0;
}
