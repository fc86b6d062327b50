// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with the arguments of the factorizations is said as ScaLAPACK says it: the same info for the same
// mistake, on all processes, also when one process alone makes it.
#include <functional>
#include <string>
#include <vector>

#include "spread.hpp"

extern "C" {
void pdgetrf_(const int*, const int*, double*, const int*, const int*, const int*, int*, int*);
void pdpotrf_(const char*, const int*, double*, const int*, const int*, const int*, int*);
void pdgetrs_(const char*, const int*, const int*, const double*, const int*, const int*, const int*, const int*,
              double*, const int*, const int*, const int*, int*);
}

namespace {

struct Arguments {
  char letter = 'L';
  int m = 8, n = 8, nrhs = 4, ia = 1, ja = 1;
  std::vector<int> desc, descb;
  std::vector<double> a = std::vector<double>(400, 1), b = a;
  std::vector<int> ipiv = std::vector<int>(100, 1);

  explicit Arguments(int ctxt) : desc{1, ctxt, 10, 10, 2, 2, 0, 0, 10}, descb{desc} {
    for (std::size_t i = 0; i < 20; ++i) a[i * 11 % 400] = 9;
  }
};

struct Mistake {
  const char* what;
  std::function<void(Arguments&)> make;
};

const Mistake mistakes[] = {
    {"m", [](Arguments& x) { x.m = -1; }},
    {"n", [](Arguments& x) { x.n = -3; }},
    {"ia", [](Arguments& x) { x.ia = 0; }},
    {"ja", [](Arguments& x) { x.ja = -2; }},
    {"too many rows", [](Arguments& x) { x.m = 11; }},
    {"too many columns", [](Arguments& x) { x.n = 11; }},
    {"ia behind the end", [](Arguments& x) { x.ia = 11; }},
    {"ja behind the end", [](Arguments& x) { x.ja = 11; }},
    {"mb", [](Arguments& x) { x.desc[4] = 0; }},
    {"nb", [](Arguments& x) { x.desc[5] = -1; }},
    {"rsrc", [](Arguments& x) { x.desc[6] = 2; }},
    {"csrc", [](Arguments& x) { x.desc[7] = -1; }},
    {"lld", [](Arguments& x) { x.desc[8] = 1; }},
};

int getrf(decltype(&pdgetrf_) routine, Arguments x) {
  int info = 99;
  routine(&x.m, &x.n, x.a.data(), &x.ia, &x.ja, x.desc.data(), x.ipiv.data(), &info);
  return info;
}
int potrf(decltype(&pdpotrf_) routine, Arguments x) {
  int info = 99;
  routine(&x.letter, &x.n, x.a.data(), &x.ia, &x.ja, x.desc.data(), &info);
  return info;
}

TEST(Arguments, AreRefusedAsStockRefuses) {
  const spread::Grid grid(2, 2);
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.what);
    Arguments x(grid.ctxt);
    mistake.make(x);
    const int expected = getrf(pdgetrf_, x);
    EXPECT_LT(expected, 0);
    EXPECT_EQ(getrf(dyngrid_pdgetrf_, x), expected);
    if (x.m == 8) {
      EXPECT_EQ(potrf(dyngrid_pdpotrf_, x), potrf(pdpotrf_, x));
    }
  }
  Arguments x(grid.ctxt);
  x.letter = 'X';
  EXPECT_EQ(potrf(dyngrid_pdpotrf_, x), -1);
  EXPECT_EQ(potrf(dyngrid_pdpotrf_, x), potrf(pdpotrf_, x));
}

int getrs(decltype(&pdgetrs_) routine, Arguments x) {
  const int one = 1;
  int info = 99;
  routine("N", &x.n, &x.nrhs, x.a.data(), &x.ia, &x.ja, x.desc.data(), x.ipiv.data(), x.b.data(), &one, &one,
          x.descb.data(), &info);
  return info;
}

/// The right-hand sides do not fit the matrix.
TEST(Arguments, OfTwoDescriptorsThatDoNotFit) {
  const spread::Grid grid(2, 2), other(2, 2);
  const Mistake misfits[] = {
      {"too many right-hand sides", [](Arguments& x) { x.nrhs = 11; }},
      {"too few rows", [](Arguments& x) { x.descb[2] = 7; }},
      {"another context", [&](Arguments& x) { x.descb[1] = other.ctxt; }},
      {"lld", [](Arguments& x) { x.descb[8] = 1; }},
  };
  for (const Mistake& misfit : misfits) {
    SCOPED_TRACE(misfit.what);
    Arguments x(grid.ctxt);
    misfit.make(x);
    const int expected = getrs(pdgetrs_, x);
    EXPECT_LT(expected, 0);
    EXPECT_EQ(getrs(dyngrid_pdgetrs_, x), expected);
  }
}

/// One process is wrong, all hear of it.
TEST(Arguments, OneIsWrong) {
  const spread::Grid grid(2, 2);
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.what);
    Arguments wrong(grid.ctxt), x(grid.ctxt);
    mistake.make(wrong);
    const int expected = getrf(dyngrid_pdgetrf_, wrong);
    const bool is_one = grid.myrow == 1 && grid.mycol == 0;
    const int info = getrf(dyngrid_pdgetrf_, is_one ? wrong : x);
    EXPECT_LT(info, 0);
    int least = info, most = info;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_EQ(least, most);
    EXPECT_EQ(info, expected);
  }
}

TEST(Arguments, OfListsAreRefused) {
  const spread::Grid grid(2, 2);
  Arguments x(grid.ctxt);
  x.desc = {601, grid.ctxt, 10, 10, 2, 1, 0, 0, 10, 3, -2, 4};
  EXPECT_EQ(getrf(dyngrid_pdgetrf_, x), -611);
  EXPECT_EQ(getrf(pdgetrf_, x), -611) << "the ordinary name leads here";
  x.desc = {601, grid.ctxt, 10, 10, 2, 1, 0, 0, 10, 0, 0, 4};
  EXPECT_EQ(getrf(dyngrid_pdgetrf_, x), -610);
  x.desc = {601, grid.ctxt, 10, 10, 2, 1, 0, 0, 10, 3, grid.myrow == 0 && grid.mycol == 1 ? 1 : 2, 4};
  EXPECT_EQ(getrf(dyngrid_pdgetrf_, x), -610) << "lists that differ";
}

} // namespace
