// SPDX-License-Identifier: BSD-3-Clause
// p?gemr2d and p?trmr2d with descriptors of DTYPE_ 601 on either side, element by element against the definition:
// stock has no such descriptors to compare with.
#include <algorithm>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "gemr2d_routines.hpp"
#include "random_grid.hpp"
#include "redist/gemr2d.hpp"

namespace {

enum Form { c_name, c_twin, c_everybody, fortran, fortran_twin, fortran_everybody, forms };

struct Call {
  int m, n, ia, ja, ib, jb;
  void *a, *b;
  int *desc_a, *desc_b;
  char uplo, diag;
  bool is_trapezoid;
  int ctxt;
};

#define CALL(x)                                                                                                        \
  void call_##x(Form form, Call k) {                                                                                   \
    switch (form) {                                                                                                    \
    case c_name:                                                                                                       \
      return k.is_trapezoid ? Cp##x##trmr2d(&k.uplo, &k.diag, k.m, k.n, k.a, k.ia, k.ja, k.desc_a, k.b, k.ib, k.jb,    \
                                            k.desc_b, k.ctxt)                                                          \
                            : Cp##x##gemr2d(k.m, k.n, k.a, k.ia, k.ja, k.desc_a, k.b, k.ib, k.jb, k.desc_b, k.ctxt);   \
    case c_twin:                                                                                                       \
      return k.is_trapezoid                                                                                            \
                 ? dyngrid_Cp##x##trmr2d(&k.uplo, &k.diag, k.m, k.n, k.a, k.ia, k.ja, k.desc_a, k.b, k.ib, k.jb,       \
                                         k.desc_b, k.ctxt)                                                             \
                 : dyngrid_Cp##x##gemr2d(k.m, k.n, k.a, k.ia, k.ja, k.desc_a, k.b, k.ib, k.jb, k.desc_b, k.ctxt);      \
    case c_everybody:                                                                                                  \
      return k.is_trapezoid                                                                                            \
                 ? Cp##x##trmr2do(&k.uplo, &k.diag, k.m, k.n, k.a, k.ia, k.ja, k.desc_a, k.b, k.ib, k.jb, k.desc_b)    \
                 : Cp##x##gemr2do(k.m, k.n, k.a, k.ia, k.ja, k.desc_a, k.b, k.ib, k.jb, k.desc_b);                     \
    case fortran:                                                                                                      \
      return k.is_trapezoid                                                                                            \
                 ? p##x##trmr2d_(&k.uplo, &k.diag, &k.m, &k.n, k.a, &k.ia, &k.ja, k.desc_a, k.b, &k.ib, &k.jb,         \
                                 k.desc_b, &k.ctxt)                                                                    \
                 : p##x##gemr2d_(&k.m, &k.n, k.a, &k.ia, &k.ja, k.desc_a, k.b, &k.ib, &k.jb, k.desc_b, &k.ctxt);       \
    case fortran_twin:                                                                                                 \
      return k.is_trapezoid ? dyngrid_p##x##trmr2d_(&k.uplo, &k.diag, &k.m, &k.n, k.a, &k.ia, &k.ja, k.desc_a, k.b,    \
                                                    &k.ib, &k.jb, k.desc_b, &k.ctxt)                                   \
                            : dyngrid_p##x##gemr2d_(&k.m, &k.n, k.a, &k.ia, &k.ja, k.desc_a, k.b, &k.ib, &k.jb,        \
                                                    k.desc_b, &k.ctxt);                                                \
    default:                                                                                                           \
      return k.is_trapezoid ? p##x##trmr2do_(&k.uplo, &k.diag, &k.m, &k.n, k.a, &k.ia, &k.ja, k.desc_a, k.b, &k.ib,    \
                                             &k.jb, k.desc_b)                                                          \
                            : p##x##gemr2do_(&k.m, &k.n, k.a, &k.ia, &k.ja, k.desc_a, k.b, &k.ib, &k.jb, k.desc_b);    \
    }                                                                                                                  \
  }
CALL(s)
CALL(d)
CALL(c)
CALL(z)
CALL(i)

template <class T> T value_of(int v) {
  return static_cast<T>(v);
}
template <> std::complex<float> value_of(int v) {
  return {static_cast<float>(v), static_cast<float>(-v)};
}
template <> std::complex<double> value_of(int v) {
  return {v + 0.5, -v - 0.25};
}

/// Which global indices a position has, in their local order: counted block by block.
std::vector<int> indices_of(int n, const std::vector<int>& sizes, int src, int p, int nprocs) {
  std::vector<int> mine;
  int i = 0;
  for (int block = 0; i < n; ++block)
    for (int k = 0; k < sizes[static_cast<std::size_t>(block) % sizes.size()] && i < n; ++k, ++i)
      if ((block + src) % nprocs == p) mine.push_back(i);
  return mine;
}

std::vector<int> random_sizes(Random& random, int nprocs) {
  std::vector<int> sizes(static_cast<std::size_t>(random.pick(1, 2 * nprocs + 1)));
  for (int& size : sizes) size = random.pick(0, 3) == 0 ? 0 : random.pick(1, 11);
  sizes[static_cast<std::size_t>(random.pick(0, static_cast<int>(sizes.size()) - 1))] = random.pick(1, 5);
  return sizes;
}

struct Place { // of a matrix on its grid
  int ctxt = -1;
  std::vector<int> desc, rows, cols;
  std::size_t lld() const { return desc[1] < 0 ? 1 : static_cast<std::size_t>(desc[8]); }
};

Place random_place(Random& random, int world, int m, int n, bool is_listed) {
  const auto [ctxt, nprow, npcol, p, q] = RandomGrid(random, world);
  Place x;
  x.ctxt = ctxt;
  std::vector<int> row_sizes = random_sizes(random, nprow), col_sizes = random_sizes(random, npcol);
  if (!is_listed) row_sizes = {random.pick(1, 9)}, col_sizes = {random.pick(1, 9)};
  const int rsrc = random.pick(0, nprow - 1), csrc = random.pick(0, npcol - 1), pad = random.pick(0, 3);
  if (p < 0) {
    x.desc.assign(9, -77); // nothing but the context may be looked at
    x.desc[1] = -1;
    return x;
  }
  x.rows = indices_of(m, row_sizes, rsrc, p, nprow);
  x.cols = indices_of(n, col_sizes, csrc, q, npcol);
  const int lld = std::max(1, static_cast<int>(x.rows.size())) + pad;
  if (is_listed) {
    x.desc = {601,  x.ctxt, m,  n, static_cast<int>(row_sizes.size()), static_cast<int>(col_sizes.size()),
              rsrc, csrc,   lld};
    x.desc.insert(x.desc.end(), row_sizes.begin(), row_sizes.end());
    x.desc.insert(x.desc.end(), col_sizes.begin(), col_sizes.end());
  } else {
    x.desc = {1, x.ctxt, m, n, row_sizes[0], col_sizes[0], rsrc, csrc, lld};
  }
  return x;
}

bool is_in_part(const Call& k, int i, int j) { // of the window, from 0
  if (!k.is_trapezoid) return true;
  const int unit = k.diag == 'U' || k.diag == 'u' ? 1 : 0;
  if (k.uplo == 'U' || k.uplo == 'u') return i + unit <= j + std::max(k.m - k.n, 0);
  return i - unit >= j - std::max(k.n - k.m, 0);
}

template <class T>
void try_one(Random& random, void (*routine)(Form, Call), bool from_listed, bool to_listed, bool is_trapezoid) {
  int world = 0, global = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  Cblacs_get(-1, 0, &global);
  Cblacs_gridinit(&global, "R", 1, world);
  Call k{};
  k.m = random.pick(1, 50), k.n = random.pick(1, 50);
  k.ia = random.pick(1, 12), k.ja = random.pick(1, 12), k.ib = random.pick(1, 12), k.jb = random.pick(1, 12);
  const int ma = k.ia - 1 + k.m + random.pick(0, 9), na = k.ja - 1 + k.n + random.pick(0, 9),
            mb = k.ib - 1 + k.m + random.pick(0, 9), nb = k.jb - 1 + k.n + random.pick(0, 9);
  Place a = random_place(random, world, ma, na, from_listed), b = random_place(random, world, mb, nb, to_listed);
  std::vector<T> from(a.lld() * std::max<std::size_t>(1, a.cols.size()), value_of<T>(-2));
  for (std::size_t j = 0; j < a.cols.size(); ++j)
    for (std::size_t i = 0; i < a.rows.size(); ++i) from[i + j * a.lld()] = value_of<T>(a.rows[i] * 128 + a.cols[j]);
  k.a = from.data();
  k.desc_a = a.desc.data();
  k.desc_b = b.desc.data();
  k.is_trapezoid = is_trapezoid;
  k.uplo = "ULul"[random.pick(0, 3)], k.diag = "UNun"[random.pick(0, 3)];
  k.ctxt = global;
  const auto form = static_cast<Form>(random.pick(0, forms - 1));
  for (int repeat = 0; repeat < 2; ++repeat) { // the second time the plan may be there already
    std::vector<T> to(b.lld() * std::max<std::size_t>(1, b.cols.size()), value_of<T>(-1));
    k.b = to.data();
    routine(form, k);
    int wrong = 0;
    std::vector<T> want(to.size(), value_of<T>(-1));
    for (std::size_t j = 0; j < b.cols.size(); ++j)
      for (std::size_t i = 0; i < b.rows.size(); ++i) {
        const int iw = b.rows[i] - (k.ib - 1), jw = b.cols[j] - (k.jb - 1);
        if (iw >= 0 && iw < k.m && jw >= 0 && jw < k.n && is_in_part(k, iw, jw))
          want[i + j * b.lld()] = value_of<T>((iw + k.ia - 1) * 128 + jw + k.ja - 1);
      }
    for (std::size_t e = 0; e < to.size(); ++e) wrong += to[e] == want[e] ? 0 : 1;
    EXPECT_EQ(wrong, 0) << k.m << "x" << k.n << " form " << form << (from_listed ? " 601" : " 1")
                        << (to_listed ? " -> 601 " : " -> 1 ") << (is_trapezoid ? k.uplo : '-')
                        << (is_trapezoid ? k.diag : '-');
  }
  if (a.ctxt >= 0) Cblacs_gridexit(a.ctxt);
  if (b.ctxt >= 0) Cblacs_gridexit(b.ctxt);
  Cblacs_gridexit(global);
}

void try_many(int seed, bool is_trapezoid) {
  Random random{std::mt19937(static_cast<unsigned>(seed))};
  for (int k = 0; k < 160; ++k) {
    const bool from_listed = (k & 1) != 0, to_listed = (k & 2) != 0;
    switch (k / 4 % 5) {
    case 0:
      try_one<float>(random, call_s, from_listed, to_listed, is_trapezoid);
      break;
    case 1:
      try_one<double>(random, call_d, from_listed, to_listed, is_trapezoid);
      break;
    case 2:
      try_one<std::complex<float>>(random, call_c, from_listed, to_listed, is_trapezoid);
      break;
    case 3:
      try_one<std::complex<double>>(random, call_z, from_listed, to_listed, is_trapezoid);
      break;
    default:
      try_one<int>(random, call_i, from_listed, to_listed, is_trapezoid);
    }
  }
}

TEST(Gemr2dListed, RandomSubmatricesInAllFourCombinations) {
  try_many(51, false);
  redist::forget_process_sets();
}
TEST(Gemr2dListed, RandomTrapezoidsInAllFourCombinations) {
  try_many(52, true);
  redist::forget_process_sets();
}

} // namespace
