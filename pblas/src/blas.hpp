// SPDX-License-Identifier: BSD-3-Clause
// The BLAS and LAPACK of one process: one name for the four types.
#pragma once
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

template <class T>
void gemm(char op_a, char op_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a, std::int64_t lda,
          const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  if (m == 0 || n == 0) return;
  const int m_ = to_int(m), n_ = to_int(n), k_ = to_int(k), la = ld_int(lda), lb = ld_int(ldb), lc = ld_int(ldc);
  fortran::gemm(&op_a, &op_b, &m_, &n_, &k_, &alpha, a, &la, b, &lb, &beta, c, &lc, 1, 1);
}

template <class T>
void trsm(char side, char uplo, char op, char diag, std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, T* b,
          std::int64_t ldb) {
  if (m == 0 || n == 0) return;
  const int m_ = to_int(m), n_ = to_int(n), la = ld_int(lda), lb = ld_int(ldb);
  const T one{1};
  fortran::trsm(&side, &uplo, &op, &diag, &m_, &n_, &one, a, &la, b, &lb, 1, 1, 1, 1);
}

/// One triangle of C := alpha A A' + C.
template <class T>
void herk(char uplo, std::int64_t n, std::int64_t k, Real<T> alpha, const T* a, std::int64_t lda, T* c,
          std::int64_t ldc) {
  const int n_ = to_int(n), k_ = to_int(k), la = ld_int(lda), lc = ld_int(ldc);
  const char op = 'N';
  const Real<T> one{1};
  if (n > 0) fortran::herk(&uplo, &op, &n_, &k_, &alpha, a, &la, &one, c, &lc, 1, 1);
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
template <class T>
void rank_one(std::int64_t m, std::int64_t n, T alpha, const T* x, const T* y, T* a, std::int64_t lda) {
  const int m_ = to_int(m), n_ = to_int(n), one = 1, la = ld_int(lda);
  if (m > 0 && n > 0) fortran::ger(&m_, &n_, &alpha, x, &one, y, &one, a, &la);
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
