// SPDX-License-Identifier: BSD-3-Clause
// LAPACK and BLAS of one process, and dyngrid's routines, by one name for the four types.
#pragma once
#include <complex>

#include "dyngrid/pblas.h"

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
  constexpr auto gemm(T) {                                                                                             \
    return x##gemm_;                                                                                                   \
  }                                                                                                                    \
  constexpr auto syrk(T) {                                                                                             \
    return x##syrk_;                                                                                                   \
  }                                                                                                                    \
  constexpr auto trsm(T) {                                                                                             \
    return x##trsm_;                                                                                                   \
  }                                                                                                                    \
  constexpr auto getrf(T) {                                                                                            \
    return x##getrf_;                                                                                                  \
  }                                                                                                                    \
  constexpr auto potrf(T) {                                                                                            \
    return x##potrf_;                                                                                                  \
  }                                                                                                                    \
  }                                                                                                                    \
  namespace spread_out {                                                                                               \
  constexpr auto gemm(T) {                                                                                             \
    return dyngrid_p##x##gemm_;                                                                                        \
  }                                                                                                                    \
  constexpr auto syrk(T) {                                                                                             \
    return dyngrid_p##x##syrk_;                                                                                        \
  }                                                                                                                    \
  constexpr auto trsm(T) {                                                                                             \
    return dyngrid_p##x##trsm_;                                                                                        \
  }                                                                                                                    \
  constexpr auto getrf(T) {                                                                                            \
    return dyngrid_p##x##getrf_;                                                                                       \
  }                                                                                                                    \
  constexpr auto getrs(T) {                                                                                            \
    return dyngrid_p##x##getrs_;                                                                                       \
  }                                                                                                                    \
  constexpr auto gesv(T) {                                                                                             \
    return dyngrid_p##x##gesv_;                                                                                        \
  }                                                                                                                    \
  constexpr auto potrf(T) {                                                                                            \
    return dyngrid_p##x##potrf_;                                                                                       \
  }                                                                                                                    \
  constexpr auto potrs(T) {                                                                                            \
    return dyngrid_p##x##potrs_;                                                                                       \
  }                                                                                                                    \
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
constexpr auto herk(std::complex<float>) {
  return cherk_;
}
constexpr auto herk(std::complex<double>) {
  return zherk_;
}
} // namespace local
namespace spread_out {
constexpr auto herk(std::complex<float>) {
  return dyngrid_pcherk_;
}
constexpr auto herk(std::complex<double>) {
  return dyngrid_pzherk_;
}
} // namespace spread_out
