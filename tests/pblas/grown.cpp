// SPDX-License-Identifier: BSD-3-Clause
// DYNGRID_WAIT=on mpirun -np 2 grown: a product, LU and Cholesky after a growth to 2x2, between processes of two
// worlds: the product exact, the factors ScaLAPACK's, and all read in place where the kernel allows it.
#include "reading.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../apps/common/scalapack.h"
#include "dyngrid.hpp"
#include "dyngrid/pblas.h"

namespace {

constexpr int n = 600;

void expect(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "grown: %s\n", what);
  std::exit(1);
}

/// B is twice the identity with its columns in reverse order.
double of_a(std::int64_t i, std::int64_t j) {
  return static_cast<double>(1000 * i + j);
}
double of_b(std::int64_t i, std::int64_t j) {
  return i + j == n - 1 ? 2 : 0;
}

bool is_allowed() {
  int word = 7, read = 0;
  const iovec here{&read, sizeof read}, there{&word, sizeof word};
  return process_vm_readv(getppid(), &here, 1, &there, 1, 0) >= 0 || errno == EFAULT;
}

const int one = 1, order = n;

struct Factors {
  std::vector<double> x;
  std::vector<int> pivots = std::vector<int>(n + 32);
  std::int64_t read = 0; ///< bytes, by all processes
};

/// Of a symmetric matrix whose pivots are (lu) or are not elsewhere than on the diagonal.
template <class Factor> Factors factors(dyngrid_matrix* a, bool is_lu, Factor&& factor) {
  dyngrid::for_each<double>(a, [&](std::int64_t i, std::int64_t j, double& x) {
    x = (is_lu ? n - 1 - j : j) == i ? n : std::sin(static_cast<double>(i * j + i + j));
  });
  Factors made;
  const std::int64_t before = reading::bytes;
  auto* x = static_cast<double*>(dyngrid_local(a));
  int info = -1;
  factor(x, dyngrid_desc(a), made.pivots.data(), &info);
  expect(info == 0, "info of a factorization");
  made.read = reading::bytes - before;
  MPI_Allreduce(MPI_IN_PLACE, &made.read, 1, MPI_INT64_T, MPI_SUM, dyngrid_comm());
  std::int64_t m_loc = 0, n_loc = 0, lld = 1;
  dyngrid_matrix_shape(a, &m_loc, &n_loc, &lld);
  made.x.assign(x, x + lld * n_loc);
  made.pivots.resize(static_cast<std::size_t>(m_loc));
  return made;
}

/// Factors are ScaLAPACK's, but for rounding; half of what comes from the other world is expected to be read at least.
void check(const Factors& own, const Factors& stock, const char* what) {
  expect(own.pivots == stock.pivots && own.x.size() == stock.x.size(), what);
  for (std::size_t k = 0; k < own.x.size(); ++k) expect(std::abs(own.x[k] - stock.x[k]) < 1e-9 * n, what);
  expect(stock.read == 0 && (!is_allowed() || own.read >= 2 * n * n), "panels of a factorization are read in place");
  if (dyngrid_is_first() == 1) std::printf("grown: %s: %ld bytes read\n", what, static_cast<long>(own.read));
}

void check_factorizations(dyngrid_matrix* a) {
  const auto lu = [&](auto* routine) {
    return factors(a, true, [&](double* x, const int* desc, int* pivots, int* info) {
      routine(&order, &order, x, &one, &one, desc, pivots, info);
    });
  };
  check(lu(dyngrid_pdgetrf_), lu(pdgetrf_), "LU");
  for (const char* uplo : {"L", "U"}) {
    const auto cholesky = [&](auto* routine) {
      return factors(a, false, [&](double* x, const int* desc, int*, int* info) {
        routine(uplo, &order, x, &one, &one, desc, info);
      });
    };
    check(cholesky(dyngrid_pdpotrf_), cholesky(pdpotrf_), "Cholesky");
  }
}

} // namespace

int main() {
  expect(dyngrid_init() == 0, "init");
  dyngrid_matrix *a = nullptr, *b = nullptr, *c = nullptr;
  expect(dyngrid_matrix_create("A", 'd', n, n, 32, 32, &a) == 0 &&
             dyngrid_matrix_create("B", 'd', n, n, 32, 32, &b) == 0 &&
             dyngrid_matrix_create("C", 'd', n, n, 32, 32, &c) == 0,
         "matrices");
  if (dyngrid_is_newcomer() == 0) {
    dyngrid::for_each<double>(a, [](std::int64_t i, std::int64_t j, double& x) { x = of_a(i, j); });
    dyngrid::for_each<double>(b, [](std::int64_t i, std::int64_t j, double& x) { x = of_b(i, j); });
    expect(dyngrid_request(2, 2) == 0, "request");
  }
  expect(dyngrid_resize_point() == DYNGRID_RESIZED, "the growth");
  const double alpha = 1, beta = 0;
  const auto* x = static_cast<const double*>(dyngrid_local(a));
  const auto* y = static_cast<const double*>(dyngrid_local(b));
  const std::int64_t before = reading::bytes;
  for (int round = 0; round < 5; ++round)
    dyngrid_pdgemm_("N", "N", &order, &order, &order, &alpha, x, &one, &one, dyngrid_desc(a), y, &one, &one,
                    dyngrid_desc(b), &beta, static_cast<double*>(dyngrid_local(c)), &one, &one, dyngrid_desc(c));
  dyngrid::for_each<double>(
      c, [](std::int64_t i, std::int64_t j, double& z) { expect(z == 2 * of_a(i, n - 1 - j), "an element"); });
  const std::int64_t read = reading::bytes - before;
  // a quarter of B, a little more or less: the other world's half of the panels for my columns
  expect(!is_allowed() || read >= 5 * 8 * n * n / 5, "panels are read in place");
  if (dyngrid_is_first() == 1) std::printf("grown: %ld bytes read\n", static_cast<long>(read));
  check_factorizations(a);
  expect(dyngrid_finalize() == 0, "finalize");
  return 0;
}
