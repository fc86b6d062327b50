// SPDX-License-Identifier: BSD-3-Clause
// ScaLAPACK's names for triangular systems and factorizations.
#include <algorithm>
#include <complex>
#include <vector>

#include "arguments.hpp"
#include "dyngrid/pblas.h"
#include "factor.hpp"
#include "pivots.hpp"
#include "trsm.hpp"
#include "way.hpp"

namespace {

using pblas::Blame;
using pblas::capital;
using pblas::Grid;
using pblas::MatrixArgument;
using pblas::op_of;
using pblas::operand;
using pblas::outside;
using pblas::Position;
using pblas::value;

using SameValues = std::vector<std::pair<std::int64_t, int>>;

/// The checks of one process, then of all.
template <class Checks> int agreed(const MatrixArgument& a, SameValues same, Checks&& checks) {
  const Position here = pblas::position_in(a.ctxt());
  if (!here.is_inside()) return outside(a.position);
  Blame blame;
  checks(blame, here);
  pblas::add_same(same, a);
  blame.agree(Grid::of(a.ctxt()).all(), same);
  return blame.info();
}

bool is_lower(char uplo) {
  return capital(uplo) == 'L';
}

template <class T> struct Trsm {
  const char *side, *uplo, *op, *diag;
  const int *m, *n;
  const void* alpha;
  MatrixArgument a, b;

  int ctxt() const { return a.ctxt(); }
  static bool is_large() { return false; }
  bool is_left() const { return capital(*side) == 'L'; }
  int check() const {
    const Position here = pblas::position_in(ctxt());
    if (!here.is_inside()) return outside(a.position);
    Blame blame(Blame::Words::pblas);
    blame.letter(*side, "LR", 1);
    blame.letter(*uplo, "UL", 2);
    blame.letter(*op, "NTC", 3);
    blame.letter(*diag, "UN", 4);
    const pblas::SizeArgument order = is_left() ? pblas::SizeArgument{m, 5} : pblas::SizeArgument{n, 6};
    blame.matrix(a, order, order, ctxt(), here);
    blame.matrix(b, {m, 5}, {n, 6}, ctxt(), here);
    return blame.info();
  }
  void run() const {
    Grid& grid = Grid::of(ctxt());
    const int order = is_left() ? *m : *n;
    pblas::trsm<T>({is_left(), is_lower(*uplo), capital(*diag) == 'U'}, op_of(*op), value<T>(alpha),
                   operand<const T>(grid, a, order, order), operand<T>(grid, b, *m, *n));
  }
};

template <class T> struct Getrf {
  const int *m, *n;
  MatrixArgument a;
  int *ipiv, *info;

  int ctxt() const { return a.ctxt(); }
  bool is_large() const { return std::min(*m, *n) >= pblas::least_lu && pblas::begins_with_a_square_block(a); }
  int check() const {
    return agreed(a, {{*m, 100}, {*n, 200}}, [&](Blame& blame, const Position& here) {
      blame.matrix(a, {m, 1}, {n, 2}, ctxt(), here);
    });
  }
  int run() const {
    if (!is_listed(a) && a.desc[2] == 1) { // as ScaLAPACK where M_ is 1: no element is looked at
      *ipiv = 1;
      return 0;
    }
    const pblas::Operand<T> x = operand<T>(Grid::of(ctxt()), a, *m, *n);
    std::vector<std::int64_t> pivots;
    const std::int64_t failed = pblas::getrf(x, pivots);
    pblas::write_pivots(x.rows, x.myrow(), pivots, *a.i, ipiv);
    return static_cast<int>(failed);
  }
};

template <class T> struct Getrs {
  const char* op;
  const int *n, *nrhs;
  MatrixArgument a;
  const int* ipiv;
  MatrixArgument b;
  int* info;

  int ctxt() const { return a.ctxt(); }
  static bool is_large() { return false; }
  int check() const {
    SameValues same{{capital(*op), 100}, {*n, 200}, {*nrhs, 300}};
    pblas::add_same(same, b);
    return agreed(a, std::move(same), [&](Blame& blame, const Position& here) {
      blame.matrix(a, {n, 2}, {n, 2}, ctxt(), here);
      blame.matrix(b, {n, 2}, {nrhs, 3}, ctxt(), here);
      if (blame.is_clean()) blame.letter(*op, "NTC", 1);
      if (blame.is_clean()) blame.context(b, ctxt());
    });
  }
  int run() const {
    Grid& grid = Grid::of(ctxt());
    const pblas::Operand<const T> x = operand<const T>(grid, a, *n, *n);
    const std::vector<std::int64_t> pivots = pblas::read_pivots(grid, x.rows, *a.i, ipiv);
    pblas::getrs(op_of(*op), x, pivots, operand<T>(grid, b, *n, *nrhs));
    return 0;
  }
};

template <class T> struct Gesv {
  const int *n, *nrhs;
  MatrixArgument a;
  int* ipiv;
  MatrixArgument b;
  int* info;

  int ctxt() const { return a.ctxt(); }
  static bool is_large() { return false; } // ScaLAPACK's own calls the factorization above
  int check() const {
    SameValues same{{*n, 100}, {*nrhs, 200}};
    pblas::add_same(same, b);
    return agreed(a, std::move(same), [&](Blame& blame, const Position& here) {
      blame.matrix(a, {n, 1}, {n, 1}, ctxt(), here);
      blame.matrix(b, {n, 1}, {nrhs, 2}, ctxt(), here);
      if (blame.is_clean()) blame.context(b, ctxt());
    });
  }
  int run() const {
    Grid& grid = Grid::of(ctxt());
    const pblas::Operand<T> x = operand<T>(grid, a, *n, *n);
    std::vector<std::int64_t> pivots;
    const std::int64_t failed = pblas::getrf(x, pivots);
    pblas::write_pivots(x.rows, x.myrow(), pivots, *a.i, ipiv);
    if (failed == 0) pblas::getrs<T>(redist::Op::none, as_source(x), pivots, operand<T>(grid, b, *n, *nrhs));
    return static_cast<int>(failed);
  }
};

template <class T> struct Potrf {
  const char* uplo;
  const int* n;
  MatrixArgument a;
  int* info;

  int ctxt() const { return a.ctxt(); }
  bool is_large() const {
    return *n >= pblas::least_cholesky && pblas::begins_with_a_square_block(a, pblas::widest_block_of_cholesky);
  }
  int check() const {
    return agreed(a, {{capital(*uplo), 100}, {*n, 200}}, [&](Blame& blame, const Position& here) {
      blame.matrix(a, {n, 2}, {n, 2}, ctxt(), here);
      if (blame.is_clean()) blame.letter(*uplo, "UL", 1);
    });
  }
  int run() const { return static_cast<int>(pblas::potrf(is_lower(*uplo), operand<T>(Grid::of(ctxt()), a, *n, *n))); }
};

template <class T> struct Potrs {
  const char* uplo;
  const int *n, *nrhs;
  MatrixArgument a, b;
  int* info;

  int ctxt() const { return a.ctxt(); }
  static bool is_large() { return false; }
  int check() const {
    SameValues same{{capital(*uplo), 100}, {*n, 200}, {*nrhs, 300}};
    pblas::add_same(same, b);
    return agreed(a, std::move(same), [&](Blame& blame, const Position& here) {
      blame.matrix(a, {n, 2}, {n, 2}, ctxt(), here);
      blame.matrix(b, {n, 2}, {nrhs, 3}, ctxt(), here);
      if (blame.is_clean()) blame.letter(*uplo, "UL", 1);
      if (blame.is_clean()) blame.context(b, ctxt());
    });
  }
  int run() const {
    Grid& grid = Grid::of(ctxt());
    pblas::potrs(is_lower(*uplo), operand<const T>(grid, a, *n, *n), operand<T>(grid, b, *n, *nrhs));
    return 0;
  }
};

} // namespace

extern "C" {
// X: what the array elements are in C; T: here
#define DYNGRID_SOLVERS(x, XX, X, T)                                                                                   \
  DYNGRID_ROUTINE(call_pblas, x, XX, trsm, TRSM, (DYNGRID_TRSM_ARGS(X)),                                               \
                  (Trsm<T>{side, uplo, transa, diag, m, n, alpha, {a, ia, ja, desca, 11}, {b, ib, jb, descb, 15}}),    \
                  {call.a DYNGRID_COMMA call.b},                                                                       \
                  DYNGRID_PASS(side, uplo, transa, diag, m, n, alpha, a, ia, ja, desca, b, ib, jb, descb))             \
  DYNGRID_ROUTINE(call_lapack, x, XX, getrf, GETRF, (DYNGRID_GETRF_ARGS(X)),                                           \
                  (Getrf<T>{m, n, {a, ia, ja, desca, 6}, ipiv, info}), {call.a},                                       \
                  DYNGRID_PASS(m, n, a, ia, ja, desca, ipiv, info))                                                    \
  DYNGRID_ROUTINE(call_lapack, x, XX, getrs, GETRS, (DYNGRID_GETRS_ARGS(X)),                                           \
                  (Getrs<T>{trans, n, nrhs, {a, ia, ja, desca, 7}, ipiv, {b, ib, jb, descb, 12}, info}),               \
                  {call.a DYNGRID_COMMA call.b},                                                                       \
                  DYNGRID_PASS(trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info))                        \
  DYNGRID_ROUTINE(call_lapack, x, XX, gesv, GESV, (DYNGRID_GESV_ARGS(X)),                                              \
                  (Gesv<T>{n, nrhs, {a, ia, ja, desca, 6}, ipiv, {b, ib, jb, descb, 11}, info}),                       \
                  {call.a DYNGRID_COMMA call.b},                                                                       \
                  DYNGRID_PASS(n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info))                               \
  DYNGRID_ROUTINE(call_lapack, x, XX, potrf, POTRF, (DYNGRID_POTRF_ARGS(X)),                                           \
                  (Potrf<T>{uplo, n, {a, ia, ja, desca, 6}, info}), {call.a},                                          \
                  DYNGRID_PASS(uplo, n, a, ia, ja, desca, info))                                                       \
  DYNGRID_ROUTINE(call_lapack, x, XX, potrs, POTRS, (DYNGRID_POTRS_ARGS(X)),                                           \
                  (Potrs<T>{uplo, n, nrhs, {a, ia, ja, desca, 7}, {b, ib, jb, descb, 11}, info}),                      \
                  {call.a DYNGRID_COMMA call.b},                                                                       \
                  DYNGRID_PASS(uplo, n, nrhs, a, ia, ja, desca, b, ib, jb, descb, info))
DYNGRID_SOLVERS(s, S, float, float)
DYNGRID_SOLVERS(d, D, double, double)
DYNGRID_SOLVERS(c, C, void, std::complex<float>)
DYNGRID_SOLVERS(z, Z, void, std::complex<double>)
}
