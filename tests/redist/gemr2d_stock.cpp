// SPDX-License-Identifier: BSD-3-Clause
// The drop-in against the stock routine: random sub-matrices of all types on random grids, compared byte by
// byte. The stock routine is the one of the ScaLAPACK library that this program is linked with, reached past
// ours as DYNGRID_EXCHANGE=gemr2d=stock does.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "../sanitized.hpp"
#include "gemr2d/gemr2d.hpp"
#include "gemr2d_routines.hpp"
#include "random_grid.hpp"
#include "redist/gemr2d.hpp"
#include "resources.hpp"
#include "world.hpp"

namespace {

using resources::next_communicator;
using resources::open_files;
using resources::resident_pages;

using GeFunction = void(int, int, void*, int, int, int*, void*, int, int, int*, int);
using TrFunction = void(char*, char*, int, int, void*, int, int, int*, void*, int, int, int*, int);

struct Type {
  char letter;
  int bytes;
  GeFunction* ge;
  TrFunction* tr;
};
const Type of_types[] = {{'s', 4, Cpsgemr2d, Cpstrmr2d},
                         {'d', 8, Cpdgemr2d, Cpdtrmr2d},
                         {'c', 8, Cpcgemr2d, Cpctrmr2d},
                         {'z', 16, Cpzgemr2d, Cpztrmr2d},
                         {'i', 4, Cpigemr2d, Cpitrmr2d}};

template <class F> F* stock(const char* part, char letter) {
  return reinterpret_cast<F*>(redist::detail::stock_symbol((std::string("Cp") + letter + part).c_str()));
}

struct Matrix {
  int ctxt = -1;
  int desc[9] = {1, -1, 0, 0, 1, 1, 0, 0, 1};
  std::vector<unsigned char> bytes;
};

int owned(int n, int nb, int p, int src, int nprocs) { // counted, not NUMROC
  int mine = 0;
  for (int i = 0; i < n; ++i) mine += (i / nb + src) % nprocs == p ? 1 : 0;
  return mine;
}

Matrix random_matrix(Random& random, int world, int m, int n, int esize, bool target) {
  const auto [ctxt, nprow, npcol, p, q] = RandomGrid(random, world);
  Matrix x;
  x.ctxt = ctxt;
  const int mb = random.pick(1, 9), nb = random.pick(1, 9), rsrc = random.pick(0, nprow - 1),
            csrc = random.pick(0, npcol - 1), pad = random.pick(0, 3);
  if (p < 0) {
    for (int& entry : x.desc) entry = -77; // nothing but the context may be looked at
    x.desc[1] = -1;
    return x;
  }
  const int rows = owned(m, mb, p, rsrc, nprow), cols = owned(n, nb, q, csrc, npcol);
  const int entries[9] = {1, x.ctxt, m, n, mb, nb, rsrc, csrc, std::max(1, rows) + pad};
  std::copy(entries, entries + 9, x.desc);
  x.bytes.assign(static_cast<std::size_t>(x.desc[8]) * static_cast<std::size_t>(std::max(1, cols)) *
                     static_cast<std::size_t>(esize),
                 0xEE);
  if (target) return x;
  std::mt19937 content(static_cast<unsigned>(world_rank() * 7919 + m));
  for (auto& byte : x.bytes)
    byte = static_cast<unsigned char>(content() & 0x3f); // no NaN, which a copy through registers might change
  return x;
}

void compare(Random& random, bool trapezoid) {
  int world = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  int global = 0;
  Cblacs_get(-1, 0, &global);
  const int shape = random.pick(0, 1); // the global context may be any grid of all processes
  if (shape == 1 && world % 2 == 0)
    Cblacs_gridinit(&global, "C", 2, world / 2);
  else
    Cblacs_gridinit(&global, "R", 1, world);
  const Type& type = of_types[random.pick(0, 4)];
  const int m = random.pick(1, 50), n = random.pick(1, 50);
  const int ia = random.pick(1, 12), ja = random.pick(1, 12), ib = random.pick(1, 12), jb = random.pick(1, 12);
  Matrix a =
      random_matrix(random, world, ia - 1 + m + random.pick(0, 9), ja - 1 + n + random.pick(0, 9), type.bytes, false);
  Matrix b =
      random_matrix(random, world, ib - 1 + m + random.pick(0, 9), jb - 1 + n + random.pick(0, 9), type.bytes, true);
  Matrix want = b;
  char uplo = "ULul"[random.pick(0, 3)], diag = "UNun"[random.pick(0, 3)];
  for (int repeat = 0; repeat < 2; ++repeat) { // the second time the plan is there already
    b.bytes.assign(b.bytes.size(), 0xEE);
    if (trapezoid)
      type.tr(&uplo, &diag, m, n, a.bytes.data(), ia, ja, a.desc, b.bytes.data(), ib, jb, b.desc, global);
    else
      type.ge(m, n, a.bytes.data(), ia, ja, a.desc, b.bytes.data(), ib, jb, b.desc, global);
    if (repeat == 0) {
      if (trapezoid)
        stock<TrFunction>("trmr2d", type.letter)(&uplo, &diag, m, n, a.bytes.data(), ia, ja, a.desc, want.bytes.data(),
                                                 ib, jb, want.desc, global);
      else
        stock<GeFunction>("gemr2d", type.letter)(m, n, a.bytes.data(), ia, ja, a.desc, want.bytes.data(), ib, jb,
                                                 want.desc, global);
    }
    EXPECT_TRUE(b.bytes == want.bytes) << type.letter << " " << m << "x" << n << " " << uplo << diag;
  }
  if (a.ctxt >= 0) Cblacs_gridexit(a.ctxt);
  if (b.ctxt >= 0) Cblacs_gridexit(b.ctxt);
  Cblacs_gridexit(global);
}

TEST(Gemr2d, HundredsOfRandomSubmatricesAsStock) {
  Random random{std::mt19937(42)};
  for (int k = 0; k < 300 && !HasFailure(); ++k) compare(random, false);
  EXPECT_EQ(redist::remembered_contexts(), 0u); // gone with their contexts
}

TEST(Gemr2d, HundredsOfRandomTrapezoidsAsStock) {
  Random random{std::mt19937(43)};
  for (int k = 0; k < 200 && !HasFailure(); ++k) compare(random, true);
}

TEST(Gemr2d, FortranNamesTwinsAndTheFormWithoutContext) {
  int world = 0, ctxt = 0, p = 0, q = 0, nprow = 0, npcol = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  Cblacs_get(-1, 0, &ctxt);
  Cblacs_gridinit(&ctxt, "R", 1, world);
  Cblacs_gridinfo(ctxt, &nprow, &npcol, &p, &q);
  int n = 20, one = 1;
  int from[9] = {1, ctxt, n, n, 20, 2, 0, 0, n}, to[9] = {1, ctxt, n, n, 20, 3, 0, world - 1, n};
  const int cols = owned(n, 2, q, 0, world), cols_to = owned(n, 3, q, world - 1, world);
  std::vector<double> a(static_cast<std::size_t>(n * std::max(1, cols))),
      b(static_cast<std::size_t>(n * std::max(1, cols_to)));
  for (int j = 0, jl = 0; j < n; ++j)
    if (j / 2 % world == q) {
      for (int i = 0; i < n; ++i) a[static_cast<std::size_t>(i + jl * n)] = i * 100 + j;
      ++jl;
    }
  const auto right = [&] {
    bool all = true;
    for (int j = 0, jl = 0; j < n; ++j)
      if ((j / 3 + world - 1) % world == q) {
        for (int i = 0; i < n; ++i) all = all && b[static_cast<std::size_t>(i + jl * n)] == i * 100 + j;
        ++jl;
      }
    std::fill(b.begin(), b.end(), -1.0);
    return all;
  };
  pdgemr2d_(&n, &n, a.data(), &one, &one, from, b.data(), &one, &one, to, &ctxt);
  EXPECT_TRUE(right());
  EXPECT_EQ(redist::remembered_contexts(), redist::detail::wants_stock() ? 0u : 1u); // which of the two did it
  dyngrid_pdgemr2d_(&n, &n, a.data(), &one, &one, from, b.data(), &one, &one, to, &ctxt);
  EXPECT_TRUE(right());
  pdgemr2do_(&n, &n, a.data(), &one, &one, from, b.data(), &one, &one, to);
  EXPECT_TRUE(right());
  EXPECT_EQ(redist::remembered_contexts(), 1u);
  redist::forget_all_contexts();
  EXPECT_EQ(redist::remembered_contexts(), 0u);
  pdgemr2d_(&n, &n, a.data(), &one, &one, from, b.data(), &one, &one, to, &ctxt);
  EXPECT_TRUE(right());
  redist::forget_all_contexts();
  EXPECT_EQ(redist::remembered_contexts(), 0u);
  Cblacs_gridexit(ctxt);
}

TEST(Gemr2d, ManyCallsLeaveNothingBehind) {
  int world = 0, ctxt = 0, p = 0, q = 0, nprow = 0, npcol = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  Cblacs_get(-1, 0, &ctxt);
  Cblacs_gridinit(&ctxt, "R", 1, world);
  Cblacs_gridinfo(ctxt, &nprow, &npcol, &p, &q);
  int n = 12;
  int from[9] = {1, ctxt, n, n, n, 2, 0, 0, n}, to[9] = {1, ctxt, n, n, n, 1, 0, 0, n};
  std::vector<double> a(static_cast<std::size_t>(n * n), 1.0), b(static_cast<std::size_t>(n * n));
  const auto calls = [&](int count) {
    for (int k = 0; k < count; ++k) {
      to[5] = 1 + k % 11; // more plans than are kept
      Cpdgemr2d(n, n, a.data(), 1, 1, from, b.data(), 1, 1, to, ctxt);
    }
  };
  const char* many = std::getenv("DYNGRID_TEST_CALLS");
  const int count = many != nullptr ? std::atoi(many) : 3000;
  calls(500);
  const int files = open_files();
  const int communicators = next_communicator();
  const long pages = resident_pages();
  calls(count);
  const int next_communicator_after = next_communicator();
  EXPECT_EQ(next_communicator_after, communicators);
  const int files_after = open_files();
  const long pages_after = resident_pages();
  EXPECT_EQ(files_after, files);
  if (!is_sanitized) {
    EXPECT_LE(pages_after, pages + 64) << "pages of 4 KiB after " << count << " calls";
  }
  if (world_rank() == 0)
    std::printf("%d calls: files %d -> %d, communicator %d -> %d, resident %ld -> %ld KiB\n", count, files, files_after,
                communicators, next_communicator_after, pages * 4, pages_after * 4);
  // contexts that come and go
  for (int k = 0; k < 60; ++k) {
    int other = 0;
    Cblacs_get(-1, 0, &other);
    Cblacs_gridinit(&other, "R", 1, world);
    from[1] = to[1] = other;
    to[5] = 1;
    Cpdgemr2d(n, n, a.data(), 1, 1, from, b.data(), 1, 1, to, other);
    Cblacs_gridexit(other);
  }
  EXPECT_EQ(open_files(), files);
  EXPECT_EQ(next_communicator(), communicators);
  EXPECT_EQ(redist::remembered_contexts(), 1u);
  Cblacs_gridexit(ctxt);
}

} // namespace
