// SPDX-License-Identifier: BSD-3-Clause
// The BLAS and LAPACK of one process: one name for the four types.
#pragma once
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <mpi.h>

#include "base/status.hpp"

namespace pblas::blas {

template <class T> struct RealOf { using type = T; };
template <class T> struct RealOf<std::complex<T>> { using type = T; };
template <class T> using Real = typename RealOf<T>::type;
template <class T> constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

namespace fortran {
// the lengths of the letters come last, as gfortran passes them
#define DYNGRID_BLAS(x, T)                                                                                             \
  void gemm(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*, const T*,    \
            const int*, const T*, T*, const int*, std::size_t, std::size_t) __asm__(#x "gemm_");                       \
  void trsm(const char*, const char*, const char*, const char*, const int*, const int*, const T*, const T*,            \
            const int*, T*, const int*, std::size_t, std::size_t, std::size_t, std::size_t) __asm__(#x "trsm_");       \
  void potrf(const char*, const int*, T*, const int*, int*, std::size_t) __asm__(#x "potrf_");                         \
  void potf2(const char*, const int*, T*, const int*, int*, std::size_t) __asm__(#x "potf2_");                         \
  void getrf(const int*, const int*, T*, const int*, int*, int*) __asm__(#x "getrf_");                                 \
  void scal(const int*, const T*, T*, const int*) __asm__(#x "scal_");
DYNGRID_BLAS(s, float)
DYNGRID_BLAS(d, double)
DYNGRID_BLAS(c, std::complex<float>)
DYNGRID_BLAS(z, std::complex<double>)
#undef DYNGRID_BLAS
// with the adjoint where there is one
#define DYNGRID_BLAS(name, T, R)                                                                                       \
  void herk(const char*, const char*, const int*, const int*, const R*, const T*, const int*, const R*, T*,            \
            const int*, std::size_t, std::size_t) __asm__(#name "_");
DYNGRID_BLAS(ssyrk, float, float)
DYNGRID_BLAS(dsyrk, double, double)
DYNGRID_BLAS(cherk, std::complex<float>, float)
DYNGRID_BLAS(zherk, std::complex<double>, double)
#undef DYNGRID_BLAS
#define DYNGRID_BLAS(name, T)                                                                                          \
  void ger(const int*, const int*, const T*, const T*, const int*, const T*, const int*, T*,                           \
           const int*) __asm__(#name "_");
DYNGRID_BLAS(sger, float)
DYNGRID_BLAS(dger, double)
DYNGRID_BLAS(cgeru, std::complex<float>)
DYNGRID_BLAS(zgeru, std::complex<double>)
#undef DYNGRID_BLAS
int iamax(const int*, const float*, const int*) __asm__("isamax_");
int iamax(const int*, const double*, const int*) __asm__("idamax_");
int iamax(const int*, const std::complex<float>*, const int*) __asm__("icamax_");
int iamax(const int*, const std::complex<double>*, const int*) __asm__("izamax_");
} // namespace fortran

inline int to_int(std::int64_t value) {
  if (value > std::numeric_limits<int>::max())
    throw base::Error(base::Status::shape_mismatch, "pblas: a local array has more than 2^31 rows or columns");
  return static_cast<int>(value);
}
/// Elements that one message may have. Tests set it lower.
inline std::int64_t& most_elements() {
  static std::int64_t most = std::numeric_limits<int>::max();
  return most;
}
inline int to_count(std::int64_t elements) {
  if (elements > most_elements())
    throw base::Error(base::Status::shape_mismatch, "pblas: a message has " + std::to_string(elements) +
                                                        " elements, expected at most " +
                                                        std::to_string(most_elements()));
  return static_cast<int>(elements);
}
/// A leading dimension: at least 1.
inline int ld_int(std::int64_t value) {
  return to_int(value < 1 ? 1 : value);
}

/// m x n elements of a column-major array.
template <class T> struct Block {
  T* data;
  std::int64_t ld, m, n;
};

/// op(A), as large as the other operands of a routine say.
template <class T> struct Panel {
  const T* data;
  std::int64_t ld;
  char op = 'N';
};

/// Column after column, without gaps.
template <class T> void pack(const Block<const T>& from, T* to) {
  for (std::int64_t j = 0; from.m > 0 && j < from.n; ++j) std::copy_n(from.data + j * from.ld, from.m, to + j * from.m);
}

/// C := alpha op(A) op(B) + beta C, where op(A) has k columns.
template <class T> void gemm(std::int64_t k, T alpha, const Panel<T>& a, const Panel<T>& b, T beta, const Block<T>& c) {
  if (c.m == 0 || c.n == 0) return;
  const int m = to_int(c.m), n = to_int(c.n), k_ = to_int(k), lda = ld_int(a.ld), ldb = ld_int(b.ld),
            ldc = ld_int(c.ld);
  fortran::gemm(&a.op, &b.op, &m, &n, &k_, &alpha, a.data, &lda, b.data, &ldb, &beta, c.data, &ldc, 1, 1);
}

template <class T> void trsm(char side, char uplo, char diag, const Panel<T>& a, const Block<T>& b) {
  if (b.m == 0 || b.n == 0) return;
  const int m = to_int(b.m), n = to_int(b.n), lda = ld_int(a.ld), ldb = ld_int(b.ld);
  const T one{1};
  fortran::trsm(&side, &uplo, &a.op, &diag, &m, &n, &one, a.data, &lda, b.data, &ldb, 1, 1, 1, 1);
}

/// One triangle of C := alpha op(A) op(A)' + C, where op(A) has k columns.
template <class T> void herk(char uplo, std::int64_t k, Real<T> alpha, const Panel<T>& a, const Block<T>& c) {
  const int n = to_int(c.n), k_ = to_int(k), lda = ld_int(a.ld), ldc = ld_int(c.ld);
  const Real<T> one{1};
  if (n > 0) fortran::herk(&uplo, &a.op, &n, &k_, &alpha, a.data, &lda, &one, c.data, &ldc, 1, 1);
}

/// @return as LAPACK's info
template <class T> int potrf(char uplo, std::int64_t n, T* a, std::int64_t lda) {
  const int n_ = to_int(n), la = ld_int(lda);
  int info = 0;
  if (n > 0) fortran::potrf(&uplo, &n_, a, &la, &info, 1);
  return info;
}

/// The same column by column.
template <class T> int potf2(char uplo, std::int64_t n, T* a, std::int64_t lda) {
  const int n_ = to_int(n), la = ld_int(lda);
  int info = 0;
  fortran::potf2(&uplo, &n_, a, &la, &info, 1);
  return info;
}

template <class T> int getrf(std::int64_t m, std::int64_t n, T* a, std::int64_t lda, int* pivots) {
  const int m_ = to_int(m), n_ = to_int(n), la = ld_int(lda);
  int info = 0;
  if (m > 0 && n > 0) fortran::getrf(&m_, &n_, a, &la, pivots, &info);
  return info;
}

template <class T> void scale(std::int64_t n, T alpha, T* x) {
  const int n_ = to_int(n), one = 1;
  if (n > 0) fortran::scal(&n_, &alpha, x, &one);
}

/// A := alpha x y^T + A.
template <class T> void rank_one(T alpha, const T* x, const T* y, const Block<T>& a) {
  const int m = to_int(a.m), n = to_int(a.n), one = 1, lda = ld_int(a.ld);
  if (m > 0 && n > 0) fortran::ger(&m, &n, &alpha, x, &one, y, &one, a.data, &lda);
}

/// 0-based place of the element that partial pivoting takes; -1 when there is none.
template <class T> std::int64_t largest(std::int64_t n, const T* x) {
  const int n_ = to_int(n), one = 1;
  return n > 0 ? fortran::iamax(&n_, x, &one) - 1 : -1;
}

inline MPI_Datatype mpi_type(const float*) {
  return MPI_FLOAT;
}
inline MPI_Datatype mpi_type(const double*) {
  return MPI_DOUBLE;
}
inline MPI_Datatype mpi_type(const std::complex<float>*) {
  return MPI_C_FLOAT_COMPLEX;
}
inline MPI_Datatype mpi_type(const std::complex<double>*) {
  return MPI_C_DOUBLE_COMPLEX;
}
template <class T> MPI_Datatype mpi_type() {
  return mpi_type(static_cast<const T*>(nullptr));
}

/// Instantiates templates for the four types of elements: `instantiate` is a macro of one.
#define DYNGRID_FOR_ELEMENTS(instantiate)                                                                              \
  instantiate(float) instantiate(double) instantiate(std::complex<float>) instantiate(std::complex<double>)

template <class T> T conj(T x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}

} // namespace pblas::blas
