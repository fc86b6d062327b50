// SPDX-License-Identifier: BSD-3-Clause
// ScaLAPACK's names for products.
#include <algorithm>
#include <complex>

#include "arguments.hpp"
#include "dyngrid/pblas.h"
#include "gemm.hpp"
#include "way.hpp"

namespace {

using pblas::Blame;
using pblas::capital;
using pblas::MatrixArgument;
using pblas::op_of;
using pblas::outside;
using pblas::Position;
using pblas::value;
using redist::Op;

pblas::Part part_of(char letter) {
  return capital(letter) == 'U' ? pblas::Part::upper : pblas::Part::lower;
}

template <class T> struct Gemm {
  const char *op_a, *op_b;
  const int *m, *n, *k;
  MatrixArgument a, b, c;
  const void *alpha, *beta;

  int ctxt() const { return a.ctxt(); }
  /// A and B are not copied: they lie as C does.
  bool is_large() const {
    return capital(*op_a) == 'N' && capital(*op_b) == 'N' && std::min({*m, *n, *k}) >= pblas::least_product &&
           pblas::have_equal_rows(a, c) && pblas::have_equal_columns(b, c);
  }
  int check() const {
    const Position here = pblas::position_in(ctxt());
    if (!here.is_inside()) return outside(a.position);
    Blame blame(Blame::Words::pblas);
    blame.letter(*op_a, "NTC", 1);
    blame.letter(*op_b, "NTC", 2);
    const bool turned_a = capital(*op_a) != 'N', turned_b = capital(*op_b) != 'N';
    blame.matrix(a, turned_a ? pblas::SizeArgument{k, 5} : pblas::SizeArgument{m, 3},
                 turned_a ? pblas::SizeArgument{m, 3} : pblas::SizeArgument{k, 5}, ctxt(), here);
    blame.matrix(b, turned_b ? pblas::SizeArgument{n, 4} : pblas::SizeArgument{k, 5},
                 turned_b ? pblas::SizeArgument{k, 5} : pblas::SizeArgument{n, 4}, ctxt(), here);
    blame.matrix(c, {m, 3}, {n, 4}, ctxt(), here);
    return blame.info();
  }
  void run() const {
    pblas::Grid& grid = pblas::Grid::of(ctxt());
    const bool turned_a = capital(*op_a) != 'N', turned_b = capital(*op_b) != 'N';
    const auto x = pblas::operand<const T>(grid, a, turned_a ? *k : *m, turned_a ? *m : *k);
    const auto y = pblas::operand<const T>(grid, b, turned_b ? *n : *k, turned_b ? *k : *n);
    pblas::gemm<T>(value<T>(alpha), {op_of(*op_a), x}, {op_of(*op_b), y}, value<T>(beta),
                   pblas::operand<T>(grid, c, *m, *n));
  }
};

template <class T> struct Syrk {
  bool is_adjoint;
  const char *uplo, *op;
  const int *n, *k;
  const void* alpha;
  MatrixArgument a;
  const void* beta;
  MatrixArgument c;

  int ctxt() const { return a.ctxt(); }
  static bool is_large() { return false; }
  bool is_turned() const { return capital(*op) != 'N'; }
  int check() const {
    const Position here = pblas::position_in(ctxt());
    if (!here.is_inside()) return outside(a.position);
    Blame blame(Blame::Words::pblas);
    blame.letter(*uplo, "UL", 1);
    blame.letter(*op, is_adjoint ? "NC" : pblas::blas::is_complex<T> ? "NT" : "NTC", 2);
    blame.matrix(a, is_turned() ? pblas::SizeArgument{k, 4} : pblas::SizeArgument{n, 3},
                 is_turned() ? pblas::SizeArgument{n, 3} : pblas::SizeArgument{k, 4}, ctxt(), here);
    blame.matrix(c, {n, 3}, {n, 3}, ctxt(), here);
    return blame.info();
  }
  void run() const {
    pblas::Grid& grid = pblas::Grid::of(ctxt());
    using Real = pblas::blas::Real<T>;
    const T factor = is_adjoint ? T(value<Real>(alpha)) : value<T>(alpha);
    const T old = is_adjoint ? T(value<Real>(beta)) : value<T>(beta);
    const auto x = pblas::operand<const T>(grid, a, is_turned() ? *k : *n, is_turned() ? *n : *k);
    pblas::syrk<T>(part_of(*uplo), is_adjoint, factor, {is_turned() ? Op::transpose : Op::none, x}, old,
                   pblas::operand<T>(grid, c, *n, *n));
  }
};

} // namespace

// X: what the array elements are in C; T: here
#define DYNGRID_RANK_K(x, XX, name, NAME, adjoint, X, R, T)                                                            \
  DYNGRID_ROUTINE(call_pblas, x, XX, name, NAME, (DYNGRID_RANK_K_ARGS(X, R)),                                          \
                  (Syrk<T>{adjoint, uplo, trans, n, k, alpha, {a, ia, ja, desca, 9}, beta, {c, ic, jc, descc, 14}}),   \
                  {call.a DYNGRID_COMMA call.c},                                                                       \
                  DYNGRID_PASS(uplo, trans, n, k, alpha, a, ia, ja, desca, beta, c, ic, jc, descc))

#define DYNGRID_MAKE_GEMM(T)                                                                                           \
  Gemm<T> {                                                                                                            \
    transa, transb, m, n, k, {a, ia, ja, desca, 10}, {b, ib, jb, descb, 14}, {c, ic, jc, descc, 19}, alpha, beta       \
  }

extern "C" {
#define DYNGRID_PRODUCTS(x, XX, X, T)                                                                                  \
  DYNGRID_ROUTINE(                                                                                                     \
      call_pblas, x, XX, gemm, GEMM, (DYNGRID_GEMM_ARGS(X)), (DYNGRID_MAKE_GEMM(T)),                                   \
      {call.a DYNGRID_COMMA call.b DYNGRID_COMMA call.c},                                                              \
      DYNGRID_PASS(transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, beta, c, ic, jc, descc))        \
  DYNGRID_RANK_K(x, XX, syrk, SYRK, false, X, X, T)
DYNGRID_PRODUCTS(s, S, float, float)
DYNGRID_PRODUCTS(d, D, double, double)
DYNGRID_PRODUCTS(c, C, void, std::complex<float>)
DYNGRID_PRODUCTS(z, Z, void, std::complex<double>)
DYNGRID_RANK_K(c, C, herk, HERK, true, void, float, std::complex<float>)
DYNGRID_RANK_K(z, Z, herk, HERK, true, void, double, std::complex<double>)
}
