/* SPDX-License-Identifier: BSD-3-Clause */
/* Array descriptors, layouts, plans and what carries them out, in C. Calls are local, nothing communicates, unless it
 * says "collective". Statuses are those of dyngrid/status.h; outputs are written on success only. Descriptors and the
 * index maps count from 1, as ScaLAPACK does; layouts and plans count from 0. */
#ifndef DYNGRID_REDIST_H
#define DYNGRID_REDIST_H
#include <mpi.h>
#include <stdint.h>

#include "dyngrid/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- descriptors ---- */

/* A descriptor with lists of block sizes: DTYPE_ = DYNGRID_DTYPE, CTXT_, M_, N_, number of row sizes, number of column
 * sizes, RSRC_, CSRC_, LLD_, then the row sizes, then the column sizes. The sizes repeat; block j lies on process row
 * (RSRC_ + j) mod nprow. Sizes may be 0. Everything here also takes DTYPE_ = 1, ScaLAPACK's nine integers; ScaLAPACK
 * and the PBLAS take only that. */
enum { DYNGRID_DTYPE = 601, DYNGRID_DESC_FIXED = 9 };

/* Integers that a descriptor with this number of sizes takes. */
#define DYNGRID_DESC_LENGTH(row_sizes, col_sizes) (DYNGRID_DESC_FIXED + (row_sizes) + (col_sizes))

/* Fills in `desc`, DYNGRID_DESC_LENGTH(n_row_sizes, n_col_sizes) integers, for an m x n matrix on the BLACS grid
 * `ctxt`. The DESCINIT of these matrices. lld is at least max(1, local rows). On a process outside the grid (ctxt = -1)
 * what needs the grid is not checked. info (may be null) is 0 or -i when argument i is wrong, counted from 1 with desc;
 * desc is then left alone. Returns DYNGRID_SUCCESS, DYNGRID_ERR_NULL or DYNGRID_ERR_DESCRIPTOR. */
DYNGRID_API int dyngrid_desc_init(int* desc, int m, int n, int n_row_sizes, const int* row_sizes, int n_col_sizes,
                                  const int* col_sizes, int rsrc, int csrc, int ctxt, int lld, int* info);
/* Checks a descriptor that is argument number `argument` of the caller, for the process (myrow, mycol) of an nprow x
 * npcol grid; nprow = -1 outside it. `length`: integers in desc, 0 when not known. info (may be null) is 0 or -(100 *
 * argument + entry), entries counted from 1. Returns DYNGRID_SUCCESS, DYNGRID_ERR_NULL or DYNGRID_ERR_DESCRIPTOR. */
DYNGRID_API int dyngrid_desc_check(const int* desc, int length, int argument, int nprow, int npcol, int myrow,
                                   int mycol, int* info);

/* The maps of one axis: 'R' (rows, nprocs = nprow) or 'C' (columns, nprocs = npcol) of a valid descriptor. Each returns
 * the number asked for, or a negative status (dyngrid/status.h). Indices count from 1, positions from 0. Cost:
 * O(sizes). */
DYNGRID_API int dyngrid_desc_numroc(const int* desc, char axis, int position, int nprocs); /* elements on a position */
DYNGRID_API int dyngrid_desc_indxg2p(const int* desc, char axis, int i_glo, int nprocs);   /* its position */
DYNGRID_API int dyngrid_desc_indxg2l(const int* desc, char axis, int i_glo, int nprocs);   /* its local index there */
DYNGRID_API int dyngrid_desc_indxl2g(const int* desc, char axis, int i_loc, int position, int nprocs); /* and back */

/* ---- layouts: any distribution on any processes ---- */

typedef struct dyngrid_layout dyngrid_layout;

/* `ranks`: row-major, which process (by its rank in the communicator of the exchange) is at each position of the nprow
 * x npcol grid; null: 0, 1, ... Each process appears at most once. Destroy what was created with
 * dyngrid_layout_destroy. */
DYNGRID_API int dyngrid_layout_create(const int* desc, int nprow, int npcol, const int* ranks, dyngrid_layout** layout);
/* Lists of blocks, each with its size and the grid row (column) it lies on; the lists repeat until m rows (n columns)
 * are covered. */
DYNGRID_API int dyngrid_layout_create_block_list(int64_t m, int64_t n, int n_row_blocks, const int64_t* row_sizes,
                                                 const int* row_owners, int n_col_blocks, const int64_t* col_sizes,
                                                 const int* col_owners, int nprow, int npcol, const int* ranks,
                                                 dyngrid_layout** layout);
/* Every process holds the whole matrix. */
DYNGRID_API int dyngrid_layout_create_replicated(int64_t m, int64_t n, int nprow, int npcol, const int* ranks,
                                                 dyngrid_layout** layout);
/* Rows and columns that `rank` holds, 0 and 0 outside the grid. Either pointer may be null. */
DYNGRID_API int dyngrid_layout_local_size(const dyngrid_layout* layout, int rank, int64_t* rows, int64_t* cols);
DYNGRID_API int dyngrid_layout_destroy(dyngrid_layout** layout);

/* ---- plans ---- */

enum {
  DYNGRID_SCHEDULE_AUTO = 0,
  DYNGRID_SCHEDULE_CATERPILLAR = 1,
  DYNGRID_SCHEDULE_CIRCULANT = 2,
  DYNGRID_SCHEDULE_MATCHING = 3,
  DYNGRID_SCHEDULE_ASYNC = 4
};

typedef struct dyngrid_plan dyngrid_plan;

/* Figures of a plan, for the whole machine; counts of elements. */
typedef struct dyngrid_plan_figures {
  int schedule;     /* the one in use, never DYNGRID_SCHEDULE_AUTO */
  int64_t messages; /* between different processes */
  int64_t steps;
  int64_t moved;   /* elements that change their process */
  int64_t kept;    /* that stay */
  int64_t max_out; /* out of one process, the most */
  int64_t max_in;
  int64_t lower_bound;      /* one-port: the larger of the two */
  int64_t sum_of_largest;   /* over the steps, the largest message */
  double predicted_seconds; /* on a machine with the default figures */
} dyngrid_plan_figures;

/* The whole of a matrix with elements of element_bytes from one layout to another of the same shape. transpose: 'N',
 * 'T' or 'C'. */
DYNGRID_API int dyngrid_plan_create(const dyngrid_layout* from, const dyngrid_layout* to, char transpose, int schedule,
                                    int element_bytes, dyngrid_plan** plan);
/* A rectangle of m rows and n columns (of the target, should the two be turned) of matrices that may differ in shape:
 * its first row and column, from 0, in the source and in the target. */
DYNGRID_API int dyngrid_plan_create_window(const dyngrid_layout* from, int64_t i_from, int64_t j_from,
                                           const dyngrid_layout* to, int64_t i_to, int64_t j_to, int64_t m, int64_t n,
                                           char transpose, int schedule, int element_bytes, dyngrid_plan** plan);
DYNGRID_API int dyngrid_plan_get_figures(const dyngrid_plan* plan, dyngrid_plan_figures* figures);
/* What one process has to do: messages and elements it sends and receives, elements it keeps. Any pointer may be null.
 */
DYNGRID_API int dyngrid_plan_of_rank(const dyngrid_plan* plan, int rank, int64_t* sends, int64_t* recvs, int64_t* out,
                                     int64_t* in, int64_t* kept);
/* A few lines of text for people; valid while the plan lives. */
DYNGRID_API int dyngrid_plan_describe(const dyngrid_plan* plan, const char** text);
DYNGRID_API int dyngrid_plan_destroy(dyngrid_plan** plan);

/* ---- moving the data ---- */

typedef struct dyngrid_array dyngrid_array;
/* An array that other processes on the host can read in place (one copy instead of two), on huge pages where the kernel
 * gives them, zeroed. sharing: DYNGRID_SHARING_AUTO only where shared memory gets huge pages. Local. */
enum { DYNGRID_SHARING_AUTO = 0, DYNGRID_SHARING_YES = 1, DYNGRID_SHARING_NO = 2 };
DYNGRID_API int dyngrid_array_create(int64_t bytes, int sharing, dyngrid_array** array);
DYNGRID_API void* dyngrid_array_data(const dyngrid_array* array); /* null when the array is null or empty */
/* Frees the array and sets the pointer to null. Local. */
DYNGRID_API int dyngrid_array_destroy(dyngrid_array** array);

typedef struct dyngrid_executor dyngrid_executor;
enum { DYNGRID_TRANSPORT_AUTO = 0, DYNGRID_TRANSPORT_MPI = 1, DYNGRID_TRANSPORT_SHARED = 2 };
typedef struct dyngrid_executor_options {
  int transport;       /* AUTO: shared memory between ranks found to be on one host, MPI between hosts */
  int host_key;        /* ranks with different keys are taken to be on different hosts */
  int64_t extra_bytes; /* cap on buffers per process; 0: 64 MiB. In use are about 6 MB at most */
} dyngrid_executor_options;

/* One matrix on its way. from: this process's share of the source, column-major with leading dimension lld_from, null
 * when it has none; to: its share of the target, of other elements than any source. type: one of s d c z i. The plan is
 * not destroyed before the exchange has ended. */
typedef struct dyngrid_transfer {
  const dyngrid_plan* plan;
  const void* from;
  int64_t lld_from;
  void* to;
  int64_t lld_to;
  char type;
} dyngrid_transfer;

/* Of this process: seconds and bytes. peak_bytes: buffers at most. */
typedef struct dyngrid_execute_report {
  double pack_s, transfer_s, wait_s, copy_s;
  int64_t bytes_out, bytes_in, bytes_kept, peak_bytes;
} dyngrid_execute_report;

/* Collective over comm, which is duplicated and covers the ranks of the plans to come; made once for any number of
 * exchanges. options: null for the defaults; may differ between ranks in host_key only, DYNGRID_ERR_MISMATCH where
 * transport does. Errors of all calls here are agreed among the ranks, but for DYNGRID_ERR_STATE, DYNGRID_ERR_TIMEOUT
 * and DYNGRID_ERR_MPI. */
DYNGRID_API int dyngrid_executor_create(MPI_Comm comm, const dyngrid_executor_options* options,
                                        dyngrid_executor** executor);
DYNGRID_API int dyngrid_executor_create_f(MPI_Fint comm, const dyngrid_executor_options* options,
                                          dyngrid_executor** executor);
/* Collective: moves `count` matrices in one round. report may be null. */
DYNGRID_API int dyngrid_execute(dyngrid_executor* executor, int count, const dyngrid_transfer* transfers,
                                dyngrid_execute_report* report);
/* What becomes of a matrix: to := alpha op(from) + beta to, where op is that of its plan and `to` is the window of the
 * plan. alpha, beta: one element of the matrix's type each: float, double, float[2], double[2] (real and imaginary
 * part) or int32_t, which is calculated modulo 2^32. With alpha = 0 nothing of `from` is read and with beta = 0 nothing
 * of `to`, as in PxGEADD: a NaN there does no harm. */
typedef struct dyngrid_scaling {
  const void* alpha;
  const void* beta;
} dyngrid_scaling;
/* Collective: dyngrid_execute with one scaling for each transfer, in the same pass over the data. A target of a
 * replicated layout is scaled in each copy. Both numbers are the same on all ranks, also on those that have no share,
 * bit by bit: otherwise DYNGRID_ERR_MISMATCH. DYNGRID_ERR_NULL when one of them is null. Nothing has moved then. */
DYNGRID_API int dyngrid_execute_scaled(dyngrid_executor* executor, int count, const dyngrid_transfer* transfers,
                                       const dyngrid_scaling* scalings, dyngrid_execute_report* report);
/* Collective: dyngrid_execute in two halves, to compute in between; neither side's memory may be touched until
 * finish. */
DYNGRID_API int dyngrid_execute_start(dyngrid_executor* executor, int count, const dyngrid_transfer* transfers);
/* Moves what can be moved without waiting; *done is 1 when finish will not wait. Local. */
DYNGRID_API int dyngrid_execute_advance(dyngrid_executor* executor, int* done);
DYNGRID_API int dyngrid_execute_finish(dyngrid_executor* executor, dyngrid_execute_report* report);
/* Collective: dyngrid_execute, but the content of the sources is lost: in `slabs` rounds (16 is a good number) their
 * pages go back to the system as the targets fill, so that never much more than the larger share is held. For arrays
 * straight from the system: dyngrid_array, mmap, a large malloc. Rows between m_loc and lld_from stay as they are. A
 * source that overlaps another one, or a target, is kept until the end, and so is one of a transposed plan. */
DYNGRID_API int dyngrid_execute_in_place(dyngrid_executor* executor, int count, const dyngrid_transfer* transfers,
                                         int slabs, dyngrid_execute_report* report);
/* Collective. Waits for an exchange under way. */
DYNGRID_API int dyngrid_executor_destroy(dyngrid_executor** executor);

#ifdef __cplusplus
}
#endif
#endif
