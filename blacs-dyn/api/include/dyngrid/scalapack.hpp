// SPDX-License-Identifier: BSD-3-Clause
// The routines of the PBLAS and ScaLAPACK that most programs call, for dyngrid::Matrix: one name for float, double and
// their complex types, whole matrices or a view of one, sizes taken from them, work space asked for inside. Scalars and
// matrices come first, in the order of the formula, options last.
//
//   dyngrid::gemm(1, a, b, 0, c);                                  // C = A B
//   dyngrid::gemm(-1, view(a, k, 0, m, k), b, 1, c, Op::adjoint);  // C = C - A(k: k+m, 0: k)^H B
//   if (const int info = dyngrid::gesv(a, b)) ...                  // B = A^-1 B; U(info, info), counted from 1, is 0
//
// All are collective over the current grid; a process outside it does nothing in them. gemm, syrk, herk, trsm, getrf,
// getrs, gesv, potrf, potrs and posv take matrices in blocks of any sizes, which lie as a rule says or are dealt out by
// speed. For the others copy() them into one in blocks of one size: these, matrices On::all (call LAPACK on local()),
// and sizes that do not fit, throw the same Error on all processes before anything is computed. So does an info below
// 0: of matrices in blocks of one size the factorizations want square blocks (mb = nb) and views that begin where a
// block does. An info above 0 is about the numbers in the matrix, as ScaLAPACK's manual says, and is returned.
#ifndef DYNGRID_SCALAPACK_HPP
#define DYNGRID_SCALAPACK_HPP

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dyngrid.hpp"

namespace dyngrid {

enum class Uplo : char { upper = 'U', lower = 'L' };
enum class Side : char { left = 'L', right = 'R' };
enum class Diag : char { any = 'N', unit = 'U' };
enum class Norm : char { largest = 'M', one = '1', infinity = 'I', frobenius = 'F' };

/// m x n elements of a matrix from row i and column j, counted from 0. Good for the whole life of the matrix, on every
/// grid.
template <class T> struct View {
  using element = T;
  const dyngrid_matrix* matrix;
  std::int64_t i, j, m, n;
};
template <class T> View<T> view(Matrix<T>& a) {
  return {a.handle(), 0, 0, a.m(), a.n()};
}
template <class T> View<const T> view(const Matrix<T>& a) {
  return {a.handle(), 0, 0, a.m(), a.n()};
}
template <class T> View<T> view(const View<T>& a) {
  return a;
}
/// A part of a matrix or of a view. @throws Error when it is not inside.
template <class A> auto view(A& a, std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) {
  auto v = view(a);
  if (i < 0 || j < 0 || m < 0 || n < 0 || i > v.m - m || j > v.n - n) {
    const auto pair = [](std::int64_t x, const char* between, std::int64_t y) {
      return std::to_string(x) + between + std::to_string(y);
    };
    throw Error(DYNGRID_ERR_SHAPE, "dyngrid::view: got " + pair(m, " x ", n) + " elements from (" + pair(i, ", ", j) +
                                       "), expected a part of " + pair(v.m, " x ", v.n));
  }
  v.i += i, v.j += j, v.m = m, v.n = n;
  return v;
}

namespace detail {

template <class A> using Element = std::remove_const_t<typename decltype(view(std::declval<A&>()))::element>;
template <class T> struct RealOf { using type = T; };
template <class T> struct RealOf<std::complex<T>> { using type = T; };
template <class A> using Real = typename RealOf<Element<A>>::type;
template <class A> constexpr bool is_complex = !std::is_same_v<Element<A>, Real<A>>;

/// ScaLAPACK's routines under names of our own. It has no header, so programs declare pdgemm_ themselves, each a little
/// differently. A second declaration of the same C function with other types would not compile: the names that the
/// linker looks for are labels here.
namespace scalapack {
using Length = std::size_t; ///< hidden, of each CHARACTER argument of a routine in Fortran
#define DYNGRID_M(T) T*, const int*, const int*, const int*
#define DYNGRID_DECLARE(p, T, R, he)                                                                                   \
  void gemm(const char*, const char*, const int*, const int*, const int*, const T*, DYNGRID_M(const T),                \
            DYNGRID_M(const T), const T*, DYNGRID_M(T)) __asm__("p" #p "gemm_");                                       \
  void gemv(const char*, const int*, const int*, const T*, DYNGRID_M(const T), DYNGRID_M(const T), const int*,         \
            const T*, DYNGRID_M(T), const int*) __asm__("p" #p "gemv_");                                               \
  void symm(const char*, const char*, const int*, const int*, const T*, DYNGRID_M(const T), DYNGRID_M(const T),        \
            const T*, DYNGRID_M(T)) __asm__("p" #p "symm_");                                                           \
  void hemm(const char*, const char*, const int*, const int*, const T*, DYNGRID_M(const T), DYNGRID_M(const T),        \
            const T*, DYNGRID_M(T)) __asm__("p" #p #he "mm_");                                                         \
  void syrk(const char*, const char*, const int*, const int*, const T*, DYNGRID_M(const T), const T*,                  \
            DYNGRID_M(T)) __asm__("p" #p "syrk_");                                                                     \
  void herk(const char*, const char*, const int*, const int*, const R*, DYNGRID_M(const T), const R*,                  \
            DYNGRID_M(T)) __asm__("p" #p #he "rk_");                                                                   \
  void trsm(const char*, const char*, const char*, const char*, const int*, const int*, const T*, DYNGRID_M(const T),  \
            DYNGRID_M(T)) __asm__("p" #p "trsm_");                                                                     \
  void geadd(const char*, const int*, const int*, const T*, DYNGRID_M(const T), const T*,                              \
             DYNGRID_M(T)) __asm__("p" #p "geadd_");                                                                   \
  void getrf(const int*, const int*, DYNGRID_M(T), int*, int*) __asm__("p" #p "getrf_");                               \
  void getrs(const char*, const int*, const int*, DYNGRID_M(const T), const int*, DYNGRID_M(T), int*,                  \
             Length = 1) __asm__("p" #p "getrs_");                                                                     \
  void potrf(const char*, const int*, DYNGRID_M(T), int*, Length = 1) __asm__("p" #p "potrf_");                        \
  void potrs(const char*, const int*, const int*, DYNGRID_M(const T), DYNGRID_M(T), int*,                              \
             Length = 1) __asm__("p" #p "potrs_");                                                                     \
  void geqrf(const int*, const int*, DYNGRID_M(T), T*, T*, const int*, int*) __asm__("p" #p "geqrf_");                 \
  void gels(const char*, const int*, const int*, const int*, DYNGRID_M(T), DYNGRID_M(T), T*, const int*, int*,         \
            Length = 1) __asm__("p" #p "gels_");                                                                       \
  R lange(const char*, const int*, const int*, DYNGRID_M(const T), R*, Length = 1) __asm__("p" #p "lange_");
DYNGRID_DECLARE(s, float, float, sy)
DYNGRID_DECLARE(d, double, double, sy)
DYNGRID_DECLARE(c, std::complex<float>, float, he)
DYNGRID_DECLARE(z, std::complex<double>, double, he)
#undef DYNGRID_DECLARE
#define DYNGRID_DECLARE(p, T)                                                                                          \
  void heevd(const char*, const char*, const int*, DYNGRID_M(T), T*, DYNGRID_M(T), T*, const int*, int*, const int*,   \
             int*, Length = 1, Length = 1) __asm__("p" #p "syevd_");                                                   \
  void gsum2d(const int*, const char*, const char*, const int*, const int*, T*, const int*, const int*, const int*,    \
              Length = 1, Length = 1) __asm__(#p "gsum2d_");
DYNGRID_DECLARE(s, float)
DYNGRID_DECLARE(d, double)
#undef DYNGRID_DECLARE
#define DYNGRID_DECLARE(p, R)                                                                                          \
  void heevd(const char*, const char*, const int*, DYNGRID_M(std::complex<R>), R*, DYNGRID_M(std::complex<R>),         \
             std::complex<R>*, const int*, R*, const int*, int*, const int*, int*, Length = 1,                         \
             Length = 1) __asm__("p" #p "heevd_");
DYNGRID_DECLARE(c, float)
DYNGRID_DECLARE(z, double)
#undef DYNGRID_DECLARE
#undef DYNGRID_M
} // namespace scalapack

/// The layouts that a routine takes: ScaLAPACK's own need blocks of one size.
enum class Blocks { equal, any };

/// A view as ScaLAPACK is given it, good for one call.
template <class T> struct Operand {
  T* data = nullptr;
  int i = 1, j = 1, m = 0, n = 0; // i, j from 1
  const int* desc = nullptr;
  std::int64_t m_loc = 0, n_loc = 0; // of the whole matrix
  bool is_here = false;              // this process is in the grid

  Operand(const char* routine, const View<T>& v, Blocks blocks)
      : data(static_cast<T*>(dyngrid_local(v.matrix))), i(static_cast<int>(v.i) + 1), j(static_cast<int>(v.j) + 1),
        m(static_cast<int>(v.m)), n(static_cast<int>(v.n)), desc(dyngrid_desc(v.matrix)) {
    check(dyngrid_matrix_shape(v.matrix, &m_loc, &n_loc, nullptr));
    if (!desc) throw Error(DYNGRID_ERR_UNSUPPORTED, dyngrid_last_message()); // too many sizes for one
    is_here = desc[1] >= 0;
    if (!is_here && m_loc > 0 && n_loc > 0)
      throw Error(DYNGRID_ERR_UNSUPPORTED,
                  std::string("dyngrid::") + routine +
                      ": got a matrix without a BLACS context, expected one over the processes of the grid. Of a "
                      "matrix On::all every process has all: call LAPACK on local(), or dyngrid::copy it into such a "
                      "one. After blacs_exit there is no context until the next change of the grid");
    if (desc[0] == DYNGRID_DTYPE && blocks == Blocks::equal)
      throw Error(DYNGRID_ERR_UNSUPPORTED,
                  std::string("dyngrid::") + routine +
                      ": got a matrix that lies as a rule says, expected one in blocks of one size, as ScaLAPACK "
                      "needs it: dyngrid::copy it into such a one");
  }
  int rows(Op op = Op::none) const { return op == Op::none ? m : n; }
  int cols(Op op = Op::none) const { return op == Op::none ? n : m; }
  bool is_square() const { return m == n; }
  bool is_vector() const { return m == 1 || n == 1; }
  int length() const { return n == 1 ? m : n; }
  const int* step() const { return n == 1 ? &one : desc + 2; } // along a row it is M_
  static constexpr int one = 1;
};
template <class A> auto operand(const char* routine, A& a, Blocks blocks = Blocks::equal) {
  const auto v = view(a);
  return Operand<typename decltype(v)::element>(routine, v, blocks);
}

/// Throws unless the sizes fit: "dyngrid::gemm: got 3 x 4, 5 x 6, 3 x 6, expected m x k, k x n, m x n".
template <class... Operands>
void fit(const char* routine, bool is_fit, const char* expected, const Operands&... operands) {
  if (is_fit) return;
  std::string got;
  for (const auto& [m, n] : {std::pair(operands.m, operands.n)...})
    got += (got.empty() ? "" : ", ") + std::to_string(m) + " x " + std::to_string(n);
  throw Error(DYNGRID_ERR_SHAPE, std::string("dyngrid::") + routine + ": got " + got + ", expected " + expected);
}

/// Of real numbers the adjoint is the transpose, which is the only one of the two that some routines know; of complex
/// ones `refused` is none of theirs.
template <class A> char letter(const char* routine, Op op, Op refused) {
  if (!is_complex<A>) return op == Op::none ? 'N' : 'T';
  if (op == refused)
    throw Error(DYNGRID_ERR_ARGUMENT, std::string("dyngrid::") + routine + ": got '" + static_cast<char>(op) +
                                          "' for complex numbers, expected 'N' or '" +
                                          (refused == Op::adjoint ? 'T' : 'C') + "'");
  return static_cast<char>(op);
}
template <class Option> const char* flag(const Option& option) {
  static_assert(sizeof(Option) == 1);
  return reinterpret_cast<const char*>(&option);
}

inline int done(const char* routine, int info) {
  if (info >= 0) return info;
  const int argument = info > -100 ? -info : -info / 100;
  throw Error(info > -100 ? DYNGRID_ERR_ARGUMENT : DYNGRID_ERR_DESCRIPTOR,
              std::string("dyngrid::") + routine + ": ScaLAPACK refuses its argument " + std::to_string(argument) +
                  (info > -100 ? "" : ", entry " + std::to_string(-info % 100) + " of a descriptor") +
                  " (info = " + std::to_string(info) +
                  "), expected square blocks (mb = nb), the same ones in all matrices, and views that begin where a "
                  "block does");
}
/// Work space as a routine answered that it needs, and `more`. A large size is rounded in single precision: up here.
template <class T> std::vector<T> work_space(const T& answer, std::int64_t more = 0) {
  auto needed = std::real(answer);
  needed = std::nextafter(needed, std::numeric_limits<decltype(needed)>::max());
  const auto size = static_cast<std::int64_t>(needed) + more;
  return std::vector<T>(static_cast<std::size_t>(std::clamp<std::int64_t>(size, 1, std::numeric_limits<int>::max())));
}
template <class T> int size_of(const std::vector<T>& work) {
  return static_cast<int>(work.size());
}

/// Eigenvalues and info of a problem that fits into one block of Z: PDSTEDC solves it on the process of that block, and
/// the others do not get them. Collective over Z's context. @return info
template <class T, class Z, class R> int from_owner(const Operand<T>& y, Z& z, std::vector<R>& w, int info) {
  w.push_back(static_cast<R>(info));
  const auto is_mine = [&z](char axis, int index) {
    const std::vector<std::int64_t> mine = global_indices(view(z).matrix, axis);
    return std::find(mine.begin(), mine.end(), index) != mine.end();
  };
  if (!is_mine('R', y.i - 1) || !is_mine('C', y.j - 1)) std::fill(w.begin(), w.end(), R{});
  const int count = size_of(w), one = 1, all = -1;
  scalapack::gsum2d(&y.desc[1], "All", " ", &count, &one, w.data(), &count, &all, &all);
  info = static_cast<int>(w.back());
  w.pop_back();
  return info;
}

} // namespace detail

#define DYNGRID_ARG(x) x.data, &x.i, &x.j, x.desc

// ---- PBLAS

/// C = alpha op(A) op(B) + beta C.
template <class A, class B, class C>
void gemm(detail::Element<C> alpha, const A& a, const B& b, detail::Element<C> beta, C&& c, Op op_a = Op::none,
          Op op_b = Op::none) {
  const auto x = detail::operand("gemm", a, detail::Blocks::any);
  const auto y = detail::operand("gemm", b, detail::Blocks::any);
  const auto z = detail::operand("gemm", c, detail::Blocks::any);
  const int k = x.cols(op_a);
  detail::fit("gemm", x.rows(op_a) == z.m && y.cols(op_b) == z.n && y.rows(op_b) == k,
              "op(A) m x k, op(B) k x n, C m x n", x, y, z);
  if (z.is_here)
    detail::scalapack::gemm(detail::flag(op_a), detail::flag(op_b), &z.m, &z.n, &k, &alpha, DYNGRID_ARG(x),
                            DYNGRID_ARG(y), &beta, DYNGRID_ARG(z));
}

/// y = alpha op(A) x + beta y; x and y are columns or rows.
template <class A, class X, class Y>
void gemv(detail::Element<Y> alpha, const A& a, const X& x, detail::Element<Y> beta, Y&& y, Op op = Op::none) {
  const auto f = detail::operand("gemv", a);
  const auto u = detail::operand("gemv", x);
  const auto v = detail::operand("gemv", y);
  detail::fit("gemv", u.is_vector() && v.is_vector() && u.length() == f.cols(op) && v.length() == f.rows(op),
              "op(A) m x n, x of n, y of m", f, u, v);
  if (v.is_here)
    detail::scalapack::gemv(detail::flag(op), &f.m, &f.n, &alpha, DYNGRID_ARG(f), DYNGRID_ARG(u), u.step(), &beta,
                            DYNGRID_ARG(v), v.step());
}

/// C = alpha A B + beta C (left) or alpha B A + beta C (right), A symmetric, given by one triangle.
template <class A, class B, class C>
void symm(detail::Element<C> alpha, const A& a, const B& b, detail::Element<C> beta, C&& c, Side side = Side::left,
          Uplo uplo = Uplo::lower) {
  const auto x = detail::operand("symm", a);
  const auto y = detail::operand("symm", b);
  const auto z = detail::operand("symm", c);
  detail::fit("symm", x.is_square() && x.m == (side == Side::left ? z.m : z.n) && y.m == z.m && y.n == z.n,
              "A square, B and C m x n", x, y, z);
  if (z.is_here)
    detail::scalapack::symm(detail::flag(side), detail::flag(uplo), &z.m, &z.n, &alpha, DYNGRID_ARG(x), DYNGRID_ARG(y),
                            &beta, DYNGRID_ARG(z));
}
/// The same, A Hermitian.
template <class A, class B, class C>
void hemm(detail::Element<C> alpha, const A& a, const B& b, detail::Element<C> beta, C&& c, Side side = Side::left,
          Uplo uplo = Uplo::lower) {
  const auto x = detail::operand("hemm", a);
  const auto y = detail::operand("hemm", b);
  const auto z = detail::operand("hemm", c);
  detail::fit("hemm", x.is_square() && x.m == (side == Side::left ? z.m : z.n) && y.m == z.m && y.n == z.n,
              "A square, B and C m x n", x, y, z);
  if (z.is_here)
    detail::scalapack::hemm(detail::flag(side), detail::flag(uplo), &z.m, &z.n, &alpha, DYNGRID_ARG(x), DYNGRID_ARG(y),
                            &beta, DYNGRID_ARG(z));
}

/// One triangle of C = alpha op(A) op(A)^T + beta C.
template <class A, class C>
void syrk(detail::Element<C> alpha, const A& a, detail::Element<C> beta, C&& c, Uplo uplo = Uplo::lower,
          Op op = Op::none) {
  const auto x = detail::operand("syrk", a, detail::Blocks::any);
  const auto z = detail::operand("syrk", c, detail::Blocks::any);
  const int k = x.cols(op);
  const char trans = detail::letter<C>("syrk", op, Op::adjoint);
  detail::fit("syrk", z.is_square() && x.rows(op) == z.n, "op(A) n x k, C n x n", x, z);
  if (z.is_here)
    detail::scalapack::syrk(detail::flag(uplo), &trans, &z.n, &k, &alpha, DYNGRID_ARG(x), &beta, DYNGRID_ARG(z));
}
/// One triangle of C = alpha op(A) op(A)^H + beta C.
template <class A, class C>
void herk(detail::Real<C> alpha, const A& a, detail::Real<C> beta, C&& c, Uplo uplo = Uplo::lower, Op op = Op::none) {
  const auto x = detail::operand("herk", a, detail::Blocks::any);
  const auto z = detail::operand("herk", c, detail::Blocks::any);
  const int k = x.cols(op);
  const char trans = detail::letter<C>("herk", op, Op::transposed);
  detail::fit("herk", z.is_square() && x.rows(op) == z.n, "op(A) n x k, C n x n", x, z);
  if (z.is_here)
    detail::scalapack::herk(detail::flag(uplo), &trans, &z.n, &k, &alpha, DYNGRID_ARG(x), &beta, DYNGRID_ARG(z));
}

/// B = alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), A triangular.
template <class A, class B>
void trsm(detail::Element<B> alpha, const A& a, B&& b, Side side, Uplo uplo, Op op = Op::none, Diag diag = Diag::any) {
  const auto x = detail::operand("trsm", a, detail::Blocks::any);
  const auto y = detail::operand("trsm", b, detail::Blocks::any);
  detail::fit("trsm", x.is_square() && x.m == (side == Side::left ? y.m : y.n), "A square, B m x n", x, y);
  if (y.is_here)
    detail::scalapack::trsm(detail::flag(side), detail::flag(uplo), detail::flag(op), detail::flag(diag), &y.m, &y.n,
                            &alpha, DYNGRID_ARG(x), DYNGRID_ARG(y));
}

/// C = alpha op(A) + beta C: sums, transposes and copies between parts of matrices.
template <class A, class C>
void geadd(detail::Element<C> alpha, const A& a, detail::Element<C> beta, C&& c, Op op = Op::none) {
  const auto x = detail::operand("geadd", a);
  const auto z = detail::operand("geadd", c);
  detail::fit("geadd", x.rows(op) == z.m && x.cols(op) == z.n, "op(A) and C m x n", x, z);
  if (z.is_here) detail::scalapack::geadd(detail::flag(op), &z.m, &z.n, &alpha, DYNGRID_ARG(x), &beta, DYNGRID_ARG(z));
}

// ---- linear systems

/// The rows that getrf exchanged, as ScaLAPACK keeps them: for the grid on which they were made, and no other.
struct Pivots {
  std::vector<int> rows;
  int context = -1;
  int m = 0, n = 0, mb = 0; ///< of the matrix
};
namespace detail {
/// With room for the pivots of a matrix with this descriptor.
inline Pivots pivots_of(const int* desc, std::int64_t local_rows) {
  return {std::vector<int>(static_cast<std::size_t>(local_rows + desc[4])), desc[1], desc[2], desc[3], desc[4]};
}
} // namespace detail

/// A = P L U. @return 0, or i when U(i,i), counted from 1, is 0
template <class A> int getrf(A&& a, Pivots& pivots) {
  const auto x = detail::operand("getrf", a, detail::Blocks::any);
  if (!x.is_here) return 0;
  pivots = detail::pivots_of(x.desc, x.m_loc);
  int info = 0;
  detail::scalapack::getrf(&x.m, &x.n, DYNGRID_ARG(x), pivots.rows.data(), &info);
  return detail::done("getrf", info);
}
/// getrf of a whole matrix, whose panels are resize points. The grid may change in it, and the pivots are for the grid
/// at the end; see dyngrid_lu. Collective; unlike the others for new processes too. info: as getrf returns it, set
/// where this process goes on in the grid. options: DYNGRID_GIVE_BACK
template <class T> Outcome lu(Matrix<T>& a, Pivots& pivots, int& info, int options = 0) {
  std::vector<int> all(static_cast<std::size_t>(std::min(a.m(), a.n())));
  const auto outcome = static_cast<Outcome>(check(dyngrid_lu(a.handle(), options, all.data(), &info)));
  if (outcome != Outcome::same && outcome != Outcome::resized) return outcome;
  pivots = detail::pivots_of(a.desc(), a.rows());
  check(dyngrid_lu_pivots(a.handle(), all.data(), pivots.rows.data()));
  return outcome;
}
/// potrf in the same way; see dyngrid_cholesky.
template <class T> Outcome cholesky(Matrix<T>& a, int& info, Uplo uplo = Uplo::lower, int options = 0) {
  return static_cast<Outcome>(check(dyngrid_cholesky(a.handle(), static_cast<char>(uplo), options, &info)));
}
/// B = op(A)^-1 B after getrf.
template <class A, class B> void getrs(const A& a, const Pivots& pivots, B&& b, Op op = Op::none) {
  const auto x = detail::operand("getrs", a, detail::Blocks::any);
  const auto y = detail::operand("getrs", b, detail::Blocks::any);
  detail::fit("getrs", x.is_square() && x.n == y.m, "A n x n, B n x k", x, y);
  if (!y.is_here) return;
  if (pivots.context != x.desc[1] || pivots.m != x.desc[2] || pivots.n != x.desc[3] || pivots.mb != x.desc[4])
    throw Error(DYNGRID_ERR_STATE, "dyngrid::getrs: got pivots of another grid or matrix, expected those of getrf for "
                                   "this one on this grid: factor "
                                   "it again after a change");
  int info = 0;
  detail::scalapack::getrs(detail::flag(op), &x.n, &y.n, DYNGRID_ARG(x), pivots.rows.data(), DYNGRID_ARG(y), &info);
  detail::done("getrs", info);
}
/// B = A^-1 B; A becomes its factors. @return as getrf; B is as it was then
template <class A, class B> int gesv(A&& a, Pivots& pivots, B&& b) {
  const auto x = detail::operand("gesv", a, detail::Blocks::any);
  const auto y = detail::operand("gesv", b, detail::Blocks::any);
  detail::fit("gesv", x.is_square() && x.n == y.m, "A n x n, B n x k", x, y);
  const int info = getrf(a, pivots);
  if (info == 0) getrs(a, pivots, b);
  return info;
}
template <class A, class B> int gesv(A&& a, B&& b) {
  Pivots pivots;
  return gesv(a, pivots, b);
}

/// A = L L^H or U^H U, A Hermitian and positive definite, given by one triangle. @return 0, or the order of the first
/// leading part that is not
template <class A> int potrf(A&& a, Uplo uplo = Uplo::lower) {
  const auto x = detail::operand("potrf", a, detail::Blocks::any);
  detail::fit("potrf", x.is_square(), "A n x n", x);
  int info = 0;
  if (x.is_here) detail::scalapack::potrf(detail::flag(uplo), &x.n, DYNGRID_ARG(x), &info);
  return detail::done("potrf", info);
}
/// B = A^-1 B after potrf.
template <class A, class B> void potrs(const A& a, B&& b, Uplo uplo = Uplo::lower) {
  const auto x = detail::operand("potrs", a, detail::Blocks::any);
  const auto y = detail::operand("potrs", b, detail::Blocks::any);
  detail::fit("potrs", x.is_square() && x.n == y.m, "A n x n, B n x k", x, y);
  int info = 0;
  if (y.is_here) detail::scalapack::potrs(detail::flag(uplo), &x.n, &y.n, DYNGRID_ARG(x), DYNGRID_ARG(y), &info);
  detail::done("potrs", info);
}
/// Both. @return as potrf; B is as it was then
template <class A, class B> int posv(A&& a, B&& b, Uplo uplo = Uplo::lower) {
  const auto x = detail::operand("posv", a, detail::Blocks::any);
  const auto y = detail::operand("posv", b, detail::Blocks::any);
  detail::fit("posv", x.is_square() && x.n == y.m, "A n x n, B n x k", x, y);
  const int info = potrf(a, uplo);
  if (info == 0) potrs(a, b, uplo);
  return info;
}

// ---- least squares, eigenvalues, norms

/// A = Q R; R above the diagonal, Q below it and in what is returned (TAU).
template <class A> std::vector<detail::Element<A>> geqrf(A&& a) {
  using T = detail::Element<A>;
  const auto x = detail::operand("geqrf", a);
  std::vector<T> tau(static_cast<std::size_t>(std::max<std::int64_t>(1, x.n_loc)));
  if (!x.is_here) return tau;
  int info = 0, size = -1;
  T answer{};
  detail::scalapack::geqrf(&x.m, &x.n, DYNGRID_ARG(x), tau.data(), &answer, &size, &info);
  detail::done("geqrf", info);
  std::vector<T> work = detail::work_space(answer);
  size = detail::size_of(work);
  detail::scalapack::geqrf(&x.m, &x.n, DYNGRID_ARG(x), tau.data(), work.data(), &size, &info);
  detail::done("geqrf", info);
  return tau;
}

/// The X of the least |B - op(A) X|, or the least X with op(A) X = B, in the first rows of B, which has max(m, n); A
/// becomes its factors. A is of full rank.
template <class A, class B> void gels(A&& a, B&& b, Op op = Op::none) {
  using T = detail::Element<B>;
  const auto x = detail::operand("gels", a);
  const auto y = detail::operand("gels", b);
  const char trans = detail::letter<B>("gels", op, Op::transposed);
  detail::fit("gels", y.m == std::max(x.m, x.n), "A m x n, B max(m, n) x k", x, y);
  if (!y.is_here) return;
  int info = 0, size = -1;
  T answer{};
  detail::scalapack::gels(&trans, &x.m, &x.n, &y.n, DYNGRID_ARG(x), DYNGRID_ARG(y), &answer, &size, &info);
  detail::done("gels", info);
  std::vector<T> work = detail::work_space(answer);
  size = detail::size_of(work);
  detail::scalapack::gels(&trans, &x.m, &x.n, &y.n, DYNGRID_ARG(x), DYNGRID_ARG(y), work.data(), &size, &info);
  detail::done("gels", info);
}

/// All eigenvalues of a Hermitian A, ascending, into w on every process, the eigenvectors into the columns of Z, by
/// divide and conquer; A, given by one triangle, is used up. @return 0, or above 0 when it did not converge
template <class A, class Z> int heevd(A&& a, std::vector<detail::Real<A>>& w, Z&& z, Uplo uplo = Uplo::lower) {
  using T = detail::Element<A>;
  using R = detail::Real<A>;
  const auto x = detail::operand("heevd", a);
  const auto y = detail::operand("heevd", z);
  detail::fit("heevd", x.is_square() && y.m == x.m && y.n == x.n, "A and Z n x n", x, y);
  w.assign(static_cast<std::size_t>(x.n), R{});
  if (!x.is_here) return 0;
  const auto call = [&](T* work, int size, [[maybe_unused]] R* real_work, [[maybe_unused]] int real_size, int* int_work,
                        int int_size) {
    int info = 0;
    if constexpr (detail::is_complex<A>)
      detail::scalapack::heevd("V", detail::flag(uplo), &x.n, DYNGRID_ARG(x), w.data(), DYNGRID_ARG(y), work, &size,
                               real_work, &real_size, int_work, &int_size, &info);
    else
      detail::scalapack::heevd("V", detail::flag(uplo), &x.n, DYNGRID_ARG(x), w.data(), DYNGRID_ARG(y), work, &size,
                               int_work, &int_size, &info);
    return detail::done("heevd", info);
  };
  T answer{};
  R real_answer{};
  int int_answer = 0;
  call(&answer, -1, &real_answer, -1, &int_answer, -1);
  // ScaLAPACK 2.2 asks for less than its PDORMTR and PDLASRT need where blocks are large: wrong vectors, info 0
  const std::int64_t nb = y.desc[4], more = nb * (2 * (y.m_loc + y.n_loc) + 3 * nb) + y.n;
  std::vector<T> work = detail::work_space(answer, more);
  std::vector<R> real_work = detail::work_space(real_answer, detail::is_complex<A> ? more : 0);
  std::vector<int> int_work(static_cast<std::size_t>(std::max(1, int_answer)));
  const int info = call(work.data(), detail::size_of(work), real_work.data(), detail::size_of(real_work),
                        int_work.data(), detail::size_of(int_work));
  return x.n <= nb ? detail::from_owner(y, z, w, info) : info;
}
/// heevd by its name for real matrices.
template <class A, class Z> int syevd(A&& a, std::vector<detail::Real<A>>& w, Z&& z, Uplo uplo = Uplo::lower) {
  static_assert(!detail::is_complex<A>, "of complex matrices heevd is the one that ScaLAPACK has");
  return heevd(a, w, z, uplo);
}

/// A norm of A, on every process; 0 outside the grid.
template <class A> detail::Real<const A> lange(const A& a, Norm norm = Norm::frobenius) {
  using R = detail::Real<const A>;
  const auto x = detail::operand("lange", a);
  if (!x.is_here) return 0;
  std::vector<R> work(static_cast<std::size_t>(std::max(x.m_loc + x.desc[4], x.n_loc + x.desc[5])));
  return detail::scalapack::lange(detail::flag(norm), &x.m, &x.n, DYNGRID_ARG(x), work.data());
}

#undef DYNGRID_ARG

} // namespace dyngrid
#endif
