// SPDX-License-Identifier: BSD-3-Clause
// by_default auto|own|stock: which calls of p?gemm, p?getrf and p?potrf on ordinary descriptors go to ScaLAPACK, with
// DYNGRID_PBLAS set to that, before and after a growth of 1x2 to 2x2. Results are compared with ScaLAPACK's: a context
// that is not dyngrid's goes there.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <mpi.h>

#include "../../apps/common/scalapack.h"
#include "base/mpi/blacs.hpp"
#include "dyngrid.h"
#include "dyngrid/calls.h"
#include "dyngrid/pblas.h"

extern "C" {
extern int scalapack_calls;
int numroc_(const int* n, const int* nb, const int* iproc, const int* isrc, const int* nprocs);
void pdgesv_(DYNGRID_GESV_ARGS(double));
}

namespace {

const int one = 1;
constexpr int least_product = 1000, least_lu = 256, least_cholesky = 512; // docs/guide.md

void expect(bool is_true, const std::string& what) {
  if (is_true) return;
  std::fprintf(stderr, "FAILED: %s [%s]\n", what.c_str(), dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Symmetric and positive definite, of order n in blocks of mb x nb; but for diagonal element `negative`.
struct Matrix {
  std::vector<int> desc;
  std::vector<double> x;

  Matrix(int context, int nprow, int npcol, int myrow, int mycol, int n, int mb, int nb, int negative = -1) {
    const int zero = 0;
    const int rows = std::max(1, numroc_(&n, &mb, &myrow, &zero, &nprow));
    const int cols = numroc_(&n, &nb, &mycol, &zero, &npcol);
    desc = {1, context, n, n, mb, nb, 0, 0, rows};
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i) {
        const int row = (i / mb * nprow + myrow) * mb + i % mb, col = (j / nb * npcol + mycol) * nb + j % nb;
        x.push_back(row != col ? std::cos(row + col) : row == negative ? -1 : 2 * n);
      }
  }
};

/// Whether any of the three is called in ScaLAPACK by f.
bool is_stock(const std::function<void()>& f) {
  const int before = scalapack_calls;
  f();
  return scalapack_calls > before;
}

struct Calls {
  int context, nprow = 0, npcol = 0, myrow = 0, mycol = 0;

  explicit Calls(int of) : context(of) { expect(!dyngrid_grid(&nprow, &npcol, &myrow, &mycol), "grid"); }
  Matrix matrix(int n, int mb, int nb, int negative = -1) const {
    return {context, nprow, npcol, myrow, mycol, n, mb, nb, negative};
  }

  struct Product {
    int n;
    const char* op_a = "N";
    int nb_of_a = 64, first = 1;
  };
  std::vector<double> result; ///< of the last one
  bool product(const Product& p) {
    const double alpha = 1, beta = 0;
    const int n = p.n, all = n + p.first - 1;
    const Matrix a = matrix(all, p.nb_of_a, p.nb_of_a), b = matrix(all, 64, 64);
    Matrix c = matrix(all, 64, 64);
    const bool calls_stock = is_stock([&] {
      pdgemm_(p.op_a, "N", &n, &n, &n, &alpha, a.x.data(), &p.first, &one, a.desc.data(), b.x.data(), &one, &one,
              b.desc.data(), &beta, c.x.data(), &one, &one, c.desc.data());
    });
    result = c.x;
    return calls_stock;
  }
  bool lu(int n, int mb = 32, int wanted = 0) {
    Matrix a = matrix(n, mb, 32);
    std::vector<int> pivots(static_cast<std::size_t>(a.desc[8] + 32));
    int info = -1;
    const bool calls_stock =
        is_stock([&] { pdgetrf_(&n, &n, a.x.data(), &one, &one, a.desc.data(), pivots.data(), &info); });
    expect(info == wanted, "LU: " + std::to_string(info));
    result = a.x;
    return calls_stock;
  }
  bool solution(int n) {
    Matrix a = matrix(n, 32, 32), b = matrix(n, 32, 32);
    std::vector<int> pivots(static_cast<std::size_t>(a.desc[8] + 32));
    int info = -1;
    const bool calls_stock = is_stock([&] {
      pdgesv_(&n, &one, a.x.data(), &one, &one, a.desc.data(), pivots.data(), b.x.data(), &one, &one, b.desc.data(),
              &info);
    });
    expect(info == 0, "a solution");
    result = a.x;
    return calls_stock;
  }
  bool cholesky(int n, int nb = 64, const char* triangle = "L", int negative = -1) {
    Matrix a = matrix(n, nb, nb, negative);
    int info = -1;
    const bool calls_stock = is_stock([&] { pdpotrf_(triangle, &n, a.x.data(), &one, &one, a.desc.data(), &info); });
    expect(info == negative + 1, "Cholesky: " + std::to_string(info));
    result = a.x;
    return calls_stock;
  }
};

void expect_close(const std::vector<double>& ours, const std::vector<double>& theirs, const std::string& what) {
  for (std::size_t k = 0; k < ours.size(); ++k)
    expect(std::abs(ours[k] - theirs[k]) <= 1e-9 * (1 + std::abs(theirs[k])), what + ": as ScaLAPACK's");
}

void check(const std::string& setting) {
  Calls here(dyngrid_context());
  int own_context = 0;
  Cblacs_get(0, 0, &own_context);
  Cblacs_gridinit(&own_context, "Row", here.nprow, here.npcol);
  Calls elsewhere(own_context);
  const bool is_auto = setting == "auto", is_own = setting == "own";
  const auto both = [&](const std::string& what, bool is_large, const std::function<bool(Calls&)>& calls_stock) {
    expect(calls_stock(here) != (is_own || (is_auto && is_large)), what);
    expect(calls_stock(elsewhere) != is_own, what + " in another context");
    expect_close(here.result, elsewhere.result, what);
  };
  const int n = least_product;
  both("a product", true, [&](Calls& on) { return on.product({n}); });
  both("a small product", false, [&](Calls& on) { return on.product({n - 1}); });
  both("a transposed product", false, [&](Calls& on) { return on.product({n, "T"}); });
  both("a product of other blocks", false, [&](Calls& on) { return on.product({n, "N", 32}); });
  both("a product of other rows", false, [&](Calls& on) { return on.product({n, "N", 64, 2}); });
  both("LU", true, [&](Calls& on) { return on.lu(least_lu); });
  both("a small LU", false, [&](Calls& on) { return on.lu(least_lu - 1); });
  constexpr int nb_differs = -606; // ScaLAPACK's info
  if (!is_own) both("LU of oblong blocks", false, [&](Calls& on) { return on.lu(least_lu, 16, nb_differs); });
  both("the LU in p?gesv", true, [&](Calls& on) { return on.solution(least_lu); });
  both("Cholesky", true, [&](Calls& on) { return on.cholesky(least_cholesky); });
  both("a small Cholesky", false, [&](Calls& on) { return on.cholesky(least_cholesky - 1); });
  both("Cholesky of wide blocks", false, [&](Calls& on) { return on.cholesky(least_cholesky, 65); });
  for (const char* triangle : {"L", "U"}) // what is left in the matrix, too
    for (const int negative : {10, 40, 100})
      both("Cholesky that fails", true, [&](Calls& on) { return on.cholesky(least_cholesky, 64, triangle, negative); });
  Cblacs_gridexit(own_context);
}

/// In a scope of dyngrid_run_on_begin that only some processes have, as after a growth, calls are ScaLAPACK's.
void check_scope_of_some(bool is_mine, const std::string& setting) {
  if (is_mine) expect(dyngrid_run_on_begin(1, 1, 16, "pdgeqrf") == 0, "a scope");
  Calls here(dyngrid_context());
  const bool is_own = setting == "own";
  expect(here.lu(least_lu) == !is_own && here.cholesky(least_cholesky) == !is_own, "a factorization");
  expect(here.product({least_product}) == !is_own, "a product");
  if (is_mine) expect(dyngrid_run_on_end() == 0, "its end");
  expect(here.lu(least_lu) == (setting == "stock"), "LU after it");
}

} // namespace

int main(int argc, char** argv) {
  const std::string setting = argc > 1 ? argv[1] : "auto";
  setenv("DYNGRID_PBLAS", setting.c_str(), 1);
  expect(dyngrid_init_grid(1, 2) == 0, "init");
  const bool is_new = dyngrid_is_newcomer() != 0;
  if (!is_new) {
    check(setting);
    expect(dyngrid_request(2, 2) == 0, "request");
  }
  expect(dyngrid_resize_point() == DYNGRID_RESIZED, "the growth");
  check(setting);
  check_scope_of_some(!is_new, setting);
  if (dyngrid_is_first()) std::printf("right by DYNGRID_PBLAS=%s\n", setting.c_str());
  expect(dyngrid_finalize() == 0, "finalize");
  return 0;
}
