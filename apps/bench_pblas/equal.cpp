// SPDX-License-Identifier: BSD-3-Clause
#include "equal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#ifdef DYNGRID_HAVE_COSMA
#include <cosma/cosma_pxgemm.hpp>
#endif

#include "common/scalapack.h"
#include "dyngrid/pblas.h"

extern "C" {
int numroc_(const int* n, const int* nb, const int* iproc, const int* isrc, const int* nprocs);
}

namespace bench {
namespace {

/// Three matrices in equal blocks; `listed`: the descriptor says the same as lists.
struct Matrices {
  apps::BlacsGrid grid;
  int n, nb;
  std::vector<int> stock_desc, listed_desc;
  std::size_t elements = 0;
  std::vector<double> a, b, c;
  std::vector<int> ipiv;
  int info = 0;

  Matrices(const apps::BlacsGrid& where, int order, int block) : grid(where), n(order), nb(block) {
    const int zero = 0;
    const int rows = numroc_(&n, &nb, &grid.myrow, &zero, &grid.nprow);
    const int cols = numroc_(&n, &nb, &grid.mycol, &zero, &grid.npcol);
    const int lld = std::max(1, rows);
    stock_desc = {1, grid.ctxt, n, n, nb, nb, 0, 0, lld};
    listed_desc = {601, grid.ctxt, n, n, 1, 1, 0, 0, lld, nb, nb};
    elements = static_cast<std::size_t>(lld) * static_cast<std::size_t>(std::max(1, cols));
    for (std::vector<double>* x : {&a, &b, &c}) x->assign(elements, 0);
    ipiv.assign(static_cast<std::size_t>(lld + nb), 0);
    fill();
  }
  /// Symmetric, with a dominant diagonal: good for all three routines.
  void fill() {
    const auto rows = static_cast<std::size_t>(stock_desc[8]);
    for (std::size_t k = 0; k < elements; ++k) {
      const int i = global(static_cast<int>(k % rows), grid.myrow, grid.nprow);
      const int j = global(static_cast<int>(k / rows), grid.mycol, grid.npcol);
      a[k] = i == j ? n : std::sin(static_cast<double>((i + j) % 1000) + static_cast<double>(i) * j);
      b[k] = a[k] + 1;
    }
  }
  int global(int local, int at, int nprocs) const { return (local / nb * nprocs + at) * nb + local % nb; }
};

/// One run of `routine` by `method`; a and c are restored first.
void call(Matrices& k, const std::string& routine, const std::string& method) {
  const double alpha = 1, beta = 0;
  const int* desc = method == "listed" ? k.listed_desc.data() : k.stock_desc.data();
  const bool is_stock = method == "stock";
#ifdef DYNGRID_HAVE_COSMA
  if (method == "cosma") {
    cosma::pxgemm<double>('N', 'N', k.n, k.n, k.n, alpha, k.a.data(), 1, 1, desc, k.b.data(), 1, 1, desc, beta,
                          k.c.data(), 1, 1, desc);
    return;
  }
#endif
  if (routine == "gemm")
    (is_stock ? pdgemm_ : dyngrid_pdgemm_)("N", "N", &k.n, &k.n, &k.n, &alpha, k.a.data(), &one, &one, desc, k.b.data(),
                                           &one, &one, desc, &beta, k.c.data(), &one, &one, desc);
  else if (routine == "getrf")
    (is_stock ? pdgetrf_ : dyngrid_pdgetrf_)(&k.n, &k.n, k.c.data(), &one, &one, desc, k.ipiv.data(), &k.info);
  else
    (is_stock ? pdpotrf_ : dyngrid_pdpotrf_)("L", &k.n, k.c.data(), &one, &one, desc, &k.info);
}

double seconds_of(Matrices& k, const std::string& routine, const std::string& method, MPI_Comm comm) {
  if (routine == "getrf") k.c = k.b; // no pivot is on the diagonal without exchanges
  if (routine == "potrf") k.c = k.a;
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  call(k, routine, method);
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

/// Largest difference of the results, over the largest element.
double difference(const std::vector<double>& x, const std::vector<double>& y, MPI_Comm comm) {
  double most[2] = {0, 0};
  for (std::size_t k = 0; k < x.size(); ++k) {
    most[0] = std::max(most[0], std::abs(x[k] - y[k]));
    most[1] = std::max(most[1], std::abs(x[k]));
  }
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, comm);
  return most[0] / std::max(most[1], 1e-300);
}

} // namespace

std::map<std::string, double> measure(const EqualCase& what, MPI_Comm comm, apps::Report& report) {
  Matrices k(what.grid, what.n, what.nb);
  std::map<std::string, std::vector<double>> runs;
  std::vector<double> stock;
  for (int rep = -1; rep < what.reps; ++rep) // the first warms up
    for (std::size_t m = 0; m < what.methods.size(); ++m) {
      const std::string& method = what.methods[(m + static_cast<std::size_t>(rep + 1)) % what.methods.size()];
      const double seconds = seconds_of(k, what.routine, method, comm);
      if (rep >= 0) runs[method].push_back(seconds);
      if (!what.check) continue;
      if (stock.empty() && method == "stock") stock = k.c;
      if (const double off = stock.empty() ? 0 : difference(stock, k.c, comm); off > 1e-9 * k.n) {
        std::fprintf(stderr, "bench_pblas: %s by %s is %g off\n", what.routine.c_str(), method.c_str(), off);
        MPI_Abort(comm, 1);
      }
    }
  std::map<std::string, double> medians;
  for (const std::string& method : what.methods) {
    apps::Sample sample;
    sample.part = what.part;
    sample.application = what.routine;
    sample.n = k.n;
    sample.nb = std::to_string(k.nb);
    sample.to = fmt::format("{}x{}", k.grid.nprow, k.grid.npcol);
    sample.from = what.from.empty() ? sample.to : what.from;
    sample.method = method;
    sample.phase = "call";
    sample.ranks = k.grid.nprow * k.grid.npcol;
    report.add(sample, runs[method]);
    medians[method] = apps::median(runs[method]);
  }
  return medians;
}

} // namespace bench
