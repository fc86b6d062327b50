// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with the arguments of the factorizations on one process, or of a kind that ScaLAPACK does not know, is
// the same error on all. Mistakes of all processes are compared with ScaLAPACK's in error_exits.cpp.
#include <functional>
#include <string>
#include <vector>

#include "../../apps/common/scalapack.h"
#include "pblas/contexts.hpp"
#include "spread.hpp"

extern "C" {
void pdgesv_(DYNGRID_GESV_ARGS(double));
void pdpotrs_(DYNGRID_POTRS_ARGS(double));
}

namespace {

using spread::list;

struct Arguments {
  char letter = 'L';
  int m = 8, n = 8, nrhs = 4, ia = 1, ja = 1, ib = 1, jb = 1;
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
    {"too many rows", [](Arguments& x) { x.m = x.desc[2] + 1; }},
    {"too many columns", [](Arguments& x) { x.n = x.desc[3] + 1; }},
    {"ia behind the end", [](Arguments& x) { x.ia = x.desc[2] + 1; }},
    {"ja behind the end", [](Arguments& x) { x.ja = x.desc[3] + 1; }},
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

int getrs(decltype(&pdgetrs_) routine, Arguments x) {
  int info = 99;
  routine("N", &x.n, &x.nrhs, x.a.data(), &x.ia, &x.ja, x.desc.data(), x.ipiv.data(), x.b.data(), &x.ib, &x.jb,
          x.descb.data(), &info);
  return info;
}
int gesv(decltype(&pdgesv_) routine, Arguments x) {
  int info = 99;
  routine(&x.n, &x.nrhs, x.a.data(), &x.ia, &x.ja, x.desc.data(), x.ipiv.data(), x.b.data(), &x.ib, &x.jb,
          x.descb.data(), &info);
  return info;
}
int potrs(decltype(&pdpotrs_) routine, Arguments x) {
  int info = 99;
  routine("L", &x.n, &x.nrhs, x.a.data(), &x.ia, &x.ja, x.desc.data(), x.b.data(), &x.ib, &x.jb, x.descb.data(), &info);
  return info;
}

/// ScaLAPACK does not look, and its PDTRSM ends the program.
TEST(Arguments, OfTwoContexts) {
  const spread::Grid grid(2, 2), other(2, 2);
  Arguments x(grid.ctxt);
  x.descb[1] = other.ctxt;
  EXPECT_EQ(potrs(dyngrid_pdpotrs_, x), -1102);
}

/// CSRC_ and LLD_ of B, which lists have too, are judged alike there.
TEST(Arguments, OfListsAsOfOrdinaryOnes) {
  const spread::Grid grid(2, 2);
  for (const auto& [entry, wrong] : {std::pair{7, 2}, std::pair{8, 1}}) {
    Arguments x(grid.ctxt);
    x.descb[static_cast<std::size_t>(entry)] = wrong;
    const int by_lu = getrs(pdgetrs_, x), solved = gesv(pdgesv_, x), by_cholesky = potrs(pdpotrs_, x);
    EXPECT_LT(by_lu, 0);
    for (int lists = 1; lists < 4; ++lists) {
      Arguments y = x;
      if (lists % 2 == 1) list(y.desc);
      if (lists >= 2) list(y.descb);
      EXPECT_EQ(getrs(dyngrid_pdgetrs_, y), by_lu) << entry << ", " << lists;
      EXPECT_EQ(gesv(dyngrid_pdgesv_, y), solved) << entry << ", " << lists;
      EXPECT_EQ(potrs(dyngrid_pdpotrs_, y), by_cholesky) << entry << ", " << lists;
    }
  }
}

/// Axes that are cut in other places ScaLAPACK cannot bring together; we can.
TEST(Arguments, OfOtherBlocksAreTaken) {
  const spread::Grid grid(2, 2);
  for (int lists = 0; lists < 4; ++lists) {
    Arguments x(grid.ctxt);
    x.descb[4] = 3, x.descb[6] = 1;
    EXPECT_LT(getrs(pdgetrs_, x), 0);
    if (lists % 2 == 1) list(x.desc);
    if (lists >= 2) list(x.descb);
    EXPECT_EQ(getrs(dyngrid_pdgetrs_, x), 0) << lists;
    EXPECT_EQ(potrs(dyngrid_pdpotrs_, x), 0) << lists;
  }
}

/// All have the same info, which is returned.
int on_all(int info) {
  int least = info, most = info;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(least, most);
  return info;
}

/// ScaLAPACK does not look at the elements of a matrix of one row.
TEST(Arguments, OneRowIsItsOwnFactor) {
  const spread::Grid grid(2, 2);
  for (const auto routine : {pdgetrf_, dyngrid_pdgetrf_}) {
    Arguments x(grid.ctxt);
    x.m = 1, x.desc[2] = 1, x.a.assign(x.a.size(), 0), x.ipiv.assign(x.ipiv.size(), 9);
    int info = 99;
    routine(&x.m, &x.n, x.a.data(), &x.ia, &x.ja, x.desc.data(), x.ipiv.data(), &info);
    EXPECT_EQ(info, 0);
    EXPECT_EQ(x.ipiv[0], 1);
    EXPECT_EQ(x.ipiv[1], 9);
  }
}

/// As the PBLAS: without columns it does not matter how many rows there are.
TEST(Arguments, NoColumnsOfAnEmptyMatrix) {
  const spread::Grid grid(2, 2);
  const int m = 8, none = 0, one = 1;
  const double alpha = 1;
  double x = 1;
  const std::vector<int> desc{601, grid.ctxt, 0, 0, 1, 1, 0, 0, 1, 0, 0}; // all sizes are 0
  dyngrid_pdgemm_("N", "N", &m, &none, &none, &alpha, &x, &one, &one, desc.data(), &x, &one, &one, desc.data(), &alpha,
                  &x, &one, &one, desc.data());
  EXPECT_EQ(x, 1);
}

/// One process is wrong, all get its error.
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
    EXPECT_EQ(on_all(info), expected);
  }
}

/// The same of the ordinary names in a context where large calls are ours: as ScaLAPACK says it elsewhere.
TEST(Arguments, OneIsWrongInALargeCall) {
  const spread::Grid ours(2, 2), stock(2, 2);
  pblas::prefer_ours(ours.ctxt);
  const bool is_one = ours.myrow == 1 && ours.mycol == 0;
  const auto large = [](int ctxt) {
    Arguments x(ctxt);
    x.m = x.n = 512;
    x.desc = x.descb = {1, ctxt, 512, 512, 32, 32, 0, 0, 256};
    x.a.assign(256 * 256, 1);
    x.ipiv.resize(256 + 32);
    return x;
  };
  std::vector<Mistake> all(std::begin(mistakes), std::end(mistakes));
  all.push_back({"a small m", [](Arguments& x) { x.m = 200; }});
  all.push_back({"a small n", [](Arguments& x) { x.n = 200; }});
  all.push_back({"letter", [](Arguments& x) { x.letter = 'X'; }});
  all.push_back({"the other letter", [](Arguments& x) { x.letter = 'U'; }});
  all.push_back({"another block", [](Arguments& x) { x.desc[4] = x.desc[5] = 65; }});
  all.push_back({"another corner", [](Arguments& x) { x.m = x.n = 480, x.ia = x.ja = 33; }});
  all.push_back({"a negative rsrc", [](Arguments& x) { x.desc[6] = -1; }});
  all.push_back({"dtype", [](Arguments& x) { x.desc[0] = 7; }});
  for (const Mistake& mistake : all) {
    SCOPED_TRACE(mistake.what);
    int info[2][2];
    for (const spread::Grid* grid : {&stock, &ours}) {
      Arguments x = large(grid->ctxt);
      if (is_one) mistake.make(x);
      info[grid == &ours][0] = on_all(getrf(pdgetrf_, x));
      info[grid == &ours][1] = on_all(potrf(pdpotrf_, x));
    }
    EXPECT_EQ(info[1][0], info[0][0]);
    EXPECT_EQ(info[1][1], info[0][1]);
  }
  Arguments x = large(ours.ctxt); // ScaLAPACK's own would not know how to go on
  if (is_one) list(x.desc);
  EXPECT_EQ(on_all(getrf(pdgetrf_, x)), -601);
  EXPECT_EQ(on_all(potrf(pdpotrf_, x)), -601);
  EXPECT_EQ(on_all(getrs(pdgetrs_, x)), -701);
  EXPECT_EQ(on_all(gesv(pdgesv_, x)), -601);
  EXPECT_EQ(on_all(potrs(pdpotrs_, x)), -701);
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
