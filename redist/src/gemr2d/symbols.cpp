// SPDX-License-Identifier: BSD-3-Clause
// ScaLAPACK's names for the copy of a general and of a trapezoidal matrix, each with a twin that begins with
// dyngrid_ and cannot be switched to stock.
#include <cctype>

#include "base/spellings.hpp"
#include "dyngrid/status.h"
#include "gemr2d/gemr2d.hpp"

namespace {

using redist::detail::copy_matrix;
using redist::detail::copy_matrix_everybody;
using redist::detail::SubMatrix;
using redist::detail::Trapezoid;

Trapezoid part_of(const char* uplo, const char* diag) {
  return {false, std::toupper(static_cast<unsigned char>(*uplo)) == 'U',
          std::toupper(static_cast<unsigned char>(*diag)) == 'U'};
}

/// The hidden routine of that name, looked up once.
template <class Function> Function* stock(const char* name) {
  return reinterpret_cast<Function*>(redist::detail::stock_symbol(name));
}

} // namespace

#define DYNGRID_GE_ARGS int m, int n, void *a, int ia, int ja, int *desc_a, void *b, int ib, int jb, int *desc_b
#define DYNGRID_GE_PASS m, n, a, ia, ja, desc_a, b, ib, jb, desc_b
#define DYNGRID_GE_MATRICES SubMatrix{a, ia, ja, desc_a}, SubMatrix{b, ib, jb, desc_b}, m, n
#define DYNGRID_GE_F_ARGS int *m, int *n, void *a, int *ia, int *ja, int *desc_a, void *b, int *ib, int *jb, int *desc_b
#define DYNGRID_GE_F_PASS *m, *n, a, *ia, *ja, desc_a, b, *ib, *jb, desc_b

// A routine in C and in Fortran, and the twin of each. `copy` does what they are called for.
#define DYNGRID_COPY(name, arguments, pass, f_arguments, f_pass, copy)                                                 \
  DYNGRID_API void dyngrid_C##name arguments {                                                                         \
    copy;                                                                                                              \
  }                                                                                                                    \
  DYNGRID_API void dyngrid_##name##_ f_arguments {                                                                     \
    dyngrid_C##name f_pass;                                                                                            \
  }                                                                                                                    \
  DYNGRID_API void C##name arguments {                                                                                 \
    if (redist::detail::wants_stock()) {                                                                               \
      redist::detail::refuse_listed("C" #name, desc_a, desc_b);                                                        \
      static auto* const hidden = stock<void arguments>("C" #name);                                                    \
      hidden pass;                                                                                                     \
      return;                                                                                                          \
    }                                                                                                                  \
    dyngrid_C##name pass;                                                                                              \
  }                                                                                                                    \
  DYNGRID_API void name##_ f_arguments {                                                                               \
    C##name f_pass;                                                                                                    \
  }

// x: letter of the type, X: its capital
#define DYNGRID_COPIES(x, X)                                                                                           \
  extern "C" {                                                                                                         \
  DYNGRID_COPY(p##x##gemr2d, (DYNGRID_GE_ARGS, int ctxt), (DYNGRID_GE_PASS, ctxt), (DYNGRID_GE_F_ARGS, int* ctxt),     \
               (DYNGRID_GE_F_PASS, *ctxt), copy_matrix({#x[0], {}, DYNGRID_GE_MATRICES}, ctxt))                        \
  DYNGRID_COPY(p##x##gemr2do, (DYNGRID_GE_ARGS), (DYNGRID_GE_PASS), (DYNGRID_GE_F_ARGS), (DYNGRID_GE_F_PASS),          \
               copy_matrix_everybody({#x[0], {}, DYNGRID_GE_MATRICES}))                                                \
  DYNGRID_COPY(p##x##trmr2d, (char* uplo, char* diag, DYNGRID_GE_ARGS, int ctxt), (uplo, diag, DYNGRID_GE_PASS, ctxt), \
               (char* uplo, char* diag, DYNGRID_GE_F_ARGS, int* ctxt), (uplo, diag, DYNGRID_GE_F_PASS, *ctxt),         \
               copy_matrix({#x[0], part_of(uplo, diag), DYNGRID_GE_MATRICES}, ctxt))                                   \
  DYNGRID_COPY(p##x##trmr2do, (char* uplo, char* diag, DYNGRID_GE_ARGS), (uplo, diag, DYNGRID_GE_PASS),                \
               (char* uplo, char* diag, DYNGRID_GE_F_ARGS), (uplo, diag, DYNGRID_GE_F_PASS),                           \
               copy_matrix_everybody({#x[0], part_of(uplo, diag), DYNGRID_GE_MATRICES}))                               \
  }                                                                                                                    \
  DYNGRID_SPELLINGS_WITH_TWIN(p##x##gemr2d, P##X##GEMR2D)                                                              \
  DYNGRID_SPELLINGS_WITH_TWIN(p##x##gemr2do, P##X##GEMR2DO)                                                            \
  DYNGRID_SPELLINGS_WITH_TWIN(p##x##trmr2d, P##X##TRMR2D)                                                              \
  DYNGRID_SPELLINGS_WITH_TWIN(p##x##trmr2do, P##X##TRMR2DO)
DYNGRID_COPIES(s, S)
DYNGRID_COPIES(d, D)
DYNGRID_COPIES(c, C)
DYNGRID_COPIES(z, Z)
DYNGRID_COPIES(i, I)
