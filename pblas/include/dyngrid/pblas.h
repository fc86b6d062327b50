/* SPDX-License-Identifier: BSD-3-Clause */
/* PBLAS and ScaLAPACK for matrices in blocks of any sizes (DTYPE_ 601) as well as in equal ones (DTYPE_ 1): the same
 * arguments, info values and error exits as p?gemm and the others, any ia and ja, under names that begin with dyngrid_.
 * The ordinary names lead here too where a descriptor has DTYPE_ 601, and for large products and factorizations
 * in dyngrid_context() (DYNGRID_PBLAS=own: wherever they can; stock: nowhere).
 *
 * All matrices of a call lie on one BLACS context. Every process of it calls. void stands for complex numbers. */
#ifndef DYNGRID_PBLAS_H
#define DYNGRID_PBLAS_H

#include "dyngrid/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DYNGRID_GEMM_ARGS(T)                                                                                           \
  const char *transa, const char *transb, const int *m, const int *n, const int *k, const T *alpha, const T *a,        \
      const int *ia, const int *ja, const int *desca, const T *b, const int *ib, const int *jb, const int *descb,      \
      const T *beta, T *c, const int *ic, const int *jc, const int *descc
#define DYNGRID_RANK_K_ARGS(T, R)                                                                                      \
  const char *uplo, const char *trans, const int *n, const int *k, const R *alpha, const T *a, const int *ia,          \
      const int *ja, const int *desca, const R *beta, T *c, const int *ic, const int *jc, const int *descc
#define DYNGRID_TRSM_ARGS(T)                                                                                           \
  const char *side, const char *uplo, const char *transa, const char *diag, const int *m, const int *n,                \
      const T *alpha, const T *a, const int *ia, const int *ja, const int *desca, T *b, const int *ib, const int *jb,  \
      const int *descb
#define DYNGRID_GETRF_ARGS(T)                                                                                          \
  const int *m, const int *n, T *a, const int *ia, const int *ja, const int *desca, int *ipiv, int *info
#define DYNGRID_GETRS_ARGS(T)                                                                                          \
  const char *trans, const int *n, const int *nrhs, const T *a, const int *ia, const int *ja, const int *desca,        \
      const int *ipiv, T *b, const int *ib, const int *jb, const int *descb, int *info
#define DYNGRID_GESV_ARGS(T)                                                                                           \
  const int *n, const int *nrhs, T *a, const int *ia, const int *ja, const int *desca, int *ipiv, T *b, const int *ib, \
      const int *jb, const int *descb, int *info
#define DYNGRID_POTRF_ARGS(T)                                                                                          \
  const char *uplo, const int *n, T *a, const int *ia, const int *ja, const int *desca, int *info
#define DYNGRID_POTRS_ARGS(T)                                                                                          \
  const char *uplo, const int *n, const int *nrhs, const T *a, const int *ia, const int *ja, const int *desca, T *b,   \
      const int *ib, const int *jb, const int *descb, int *info

/* C := alpha op(A) op(B) + beta C */
DYNGRID_API void dyngrid_psgemm_(DYNGRID_GEMM_ARGS(float));
DYNGRID_API void dyngrid_pdgemm_(DYNGRID_GEMM_ARGS(double));
DYNGRID_API void dyngrid_pcgemm_(DYNGRID_GEMM_ARGS(void));
DYNGRID_API void dyngrid_pzgemm_(DYNGRID_GEMM_ARGS(void));
/* One triangle of C := alpha op(A) op(A)^T + beta C, or with the adjoint */
DYNGRID_API void dyngrid_pssyrk_(DYNGRID_RANK_K_ARGS(float, float));
DYNGRID_API void dyngrid_pdsyrk_(DYNGRID_RANK_K_ARGS(double, double));
DYNGRID_API void dyngrid_pcsyrk_(DYNGRID_RANK_K_ARGS(void, void));
DYNGRID_API void dyngrid_pzsyrk_(DYNGRID_RANK_K_ARGS(void, void));
DYNGRID_API void dyngrid_pcherk_(DYNGRID_RANK_K_ARGS(void, float));
DYNGRID_API void dyngrid_pzherk_(DYNGRID_RANK_K_ARGS(void, double));
/* B := alpha op(A)^-1 B, or alpha B op(A)^-1; A is triangular */
DYNGRID_API void dyngrid_pstrsm_(DYNGRID_TRSM_ARGS(float));
DYNGRID_API void dyngrid_pdtrsm_(DYNGRID_TRSM_ARGS(double));
DYNGRID_API void dyngrid_pctrsm_(DYNGRID_TRSM_ARGS(void));
DYNGRID_API void dyngrid_pztrsm_(DYNGRID_TRSM_ARGS(void));
/* A = P L U in place. ipiv lies as the rows of A, of LOCr(M_A) + MB_A integers; of a DTYPE_ 601, LOCr(M_A) */
DYNGRID_API void dyngrid_psgetrf_(DYNGRID_GETRF_ARGS(float));
DYNGRID_API void dyngrid_pdgetrf_(DYNGRID_GETRF_ARGS(double));
DYNGRID_API void dyngrid_pcgetrf_(DYNGRID_GETRF_ARGS(void));
DYNGRID_API void dyngrid_pzgetrf_(DYNGRID_GETRF_ARGS(void));
/* B := op(A)^-1 B after getrf */
DYNGRID_API void dyngrid_psgetrs_(DYNGRID_GETRS_ARGS(float));
DYNGRID_API void dyngrid_pdgetrs_(DYNGRID_GETRS_ARGS(double));
DYNGRID_API void dyngrid_pcgetrs_(DYNGRID_GETRS_ARGS(void));
DYNGRID_API void dyngrid_pzgetrs_(DYNGRID_GETRS_ARGS(void));
/* Both */
DYNGRID_API void dyngrid_psgesv_(DYNGRID_GESV_ARGS(float));
DYNGRID_API void dyngrid_pdgesv_(DYNGRID_GESV_ARGS(double));
DYNGRID_API void dyngrid_pcgesv_(DYNGRID_GESV_ARGS(void));
DYNGRID_API void dyngrid_pzgesv_(DYNGRID_GESV_ARGS(void));
/* A = L L^H or U^H U in place */
DYNGRID_API void dyngrid_pspotrf_(DYNGRID_POTRF_ARGS(float));
DYNGRID_API void dyngrid_pdpotrf_(DYNGRID_POTRF_ARGS(double));
DYNGRID_API void dyngrid_pcpotrf_(DYNGRID_POTRF_ARGS(void));
DYNGRID_API void dyngrid_pzpotrf_(DYNGRID_POTRF_ARGS(void));
/* B := A^-1 B after potrf */
DYNGRID_API void dyngrid_pspotrs_(DYNGRID_POTRS_ARGS(float));
DYNGRID_API void dyngrid_pdpotrs_(DYNGRID_POTRS_ARGS(double));
DYNGRID_API void dyngrid_pcpotrs_(DYNGRID_POTRS_ARGS(void));
DYNGRID_API void dyngrid_pzpotrs_(DYNGRID_POTRS_ARGS(void));

#ifdef __cplusplus
}
#endif

#endif
