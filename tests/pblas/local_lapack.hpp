// SPDX-License-Identifier: BSD-3-Clause
// LAPACK and BLAS of one process, and dyngrid's routines, by one name for the four types.
#pragma once
#include <complex>

#include "dyngrid/pblas.h"
#include "element_types.hpp"

/// A routine by the type of an argument.
#define NAMED(name, T, routine)                                                                                        \
  constexpr auto name(T) {                                                                                             \
    return routine;                                                                                                    \
  }
#define LOCAL(x, T, R)                                                                                                 \
  extern "C" {                                                                                                         \
  void x##gemm_(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,          \
                const T*, const int*, const T*, T*, const int*);                                                       \
  void x##syrk_(const char*, const char*, const int*, const int*, const T*, const T*, const int*, const T*, T*,        \
                const int*);                                                                                           \
  void x##trsm_(const char*, const char*, const char*, const char*, const int*, const int*, const T*, const T*,        \
                const int*, T*, const int*);                                                                           \
  void x##getrf_(const int*, const int*, T*, const int*, int*, int*);                                                  \
  void x##potrf_(const char*, const int*, T*, const int*, int*);                                                       \
  }                                                                                                                    \
  namespace local {                                                                                                    \
  NAMED(gemm, T, x##gemm_)                                                                                             \
  NAMED(syrk, T, x##syrk_)                                                                                             \
  NAMED(trsm, T, x##trsm_)                                                                                             \
  NAMED(getrf, T, x##getrf_)                                                                                           \
  NAMED(potrf, T, x##potrf_)                                                                                           \
  }                                                                                                                    \
  namespace spread_out {                                                                                               \
  NAMED(gemm, T, dyngrid_p##x##gemm_)                                                                                  \
  NAMED(syrk, T, dyngrid_p##x##syrk_)                                                                                  \
  NAMED(trsm, T, dyngrid_p##x##trsm_)                                                                                  \
  NAMED(getrf, T, dyngrid_p##x##getrf_)                                                                                \
  NAMED(getrs, T, dyngrid_p##x##getrs_)                                                                                \
  NAMED(gesv, T, dyngrid_p##x##gesv_)                                                                                  \
  NAMED(potrf, T, dyngrid_p##x##potrf_)                                                                                \
  NAMED(potrs, T, dyngrid_p##x##potrs_)                                                                                \
  }
LOCAL(s, float, float)
LOCAL(d, double, double)
LOCAL(c, std::complex<float>, float)
LOCAL(z, std::complex<double>, double)
#undef LOCAL
extern "C" {
void cherk_(const char*, const char*, const int*, const int*, const float*, const std::complex<float>*, const int*,
            const float*, std::complex<float>*, const int*);
void zherk_(const char*, const char*, const int*, const int*, const double*, const std::complex<double>*, const int*,
            const double*, std::complex<double>*, const int*);
}
namespace local {
NAMED(herk, std::complex<float>, cherk_)
NAMED(herk, std::complex<double>, zherk_)

template <class T>
elements::Dense<T> product(char op_a, char op_b, const elements::Dense<T>& a, const elements::Dense<T>& b) {
  const int m = op_a == 'N' ? a.m : a.n, k = op_a == 'N' ? a.n : a.m, n = op_b == 'N' ? b.n : b.m;
  const int la = a.ld(), lb = b.ld();
  elements::Dense<T> c(m, n);
  const T one(1), zero(0);
  const int lc = c.ld();
  if (m > 0 && n > 0)
    gemm(T{})(&op_a, &op_b, &m, &n, &k, &one, a.x.data(), &la, b.x.data(), &lb, &zero, c.x.data(), &lc);
  return c;
}
} // namespace local
namespace spread_out {
NAMED(herk, std::complex<float>, dyngrid_pcherk_)
NAMED(herk, std::complex<double>, dyngrid_pzherk_)
} // namespace spread_out
#undef NAMED
