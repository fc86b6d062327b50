/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices by a rule, on other processes than the whole p x q grid, or in memory of the program's own. Matrices that
 * change their layout while the grid stays. Statuses, outcomes and "collective" are those of dyngrid.h. */
#ifndef DYNGRID_LAYOUT_H
#define DYNGRID_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "dyngrid.h"
#include "dyngrid/halo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- matrices that lie by a rule ---- */

/* How one axis of a matrix lies on a grid. The first call, with sizes null, returns how many block sizes there are for
 * the rows (axis 'R') or columns ('C') of length `length` on an nprow x npcol grid. The second call fills them in and
 * returns the same number. The sizes repeat: block j lies on grid row j mod nprow (grid column j mod npcol). Sizes may
 * be 0: nprow (npcol) sizes that add up to length are one block for each. Negative, or above 2^31 - 1: such a layout is
 * not possible. The same on all processes. dyngrid_rule_speed returns the speed of each process. A C++ exception that
 * leaves it on one process is DYNGRID_ERR_INTERNAL on all, std::bad_alloc DYNGRID_ERR_MEMORY; a balance is not made. */
typedef int64_t (*dyngrid_distribution)(void* context, char axis, int64_t length, int nprow, int npcol, int64_t* sizes);
/* As dyngrid_matrix_create, with the layout that `rule` gives on every grid it comes to. A rule that gives one size for
 * the rows and one for the columns makes an ordinary descriptor, which ScaLAPACK takes. Otherwise it is of DTYPE_
 * DYNGRID_DTYPE (dyngrid/redist.h), for everything here and in dyngrid/pblas.h, but not for all of ScaLAPACK. The rule
 * may read shared state, which new processes have before it is called. New processes must declare such a matrix before
 * their first resize point. A process that slept meanwhile gets the layouts of the others' rule, as after
 * dyngrid_matrix_set_rule. */
DYNGRID_API int dyngrid_matrix_create_by(const char* name, char type, int64_t m, int64_t n, dyngrid_distribution rule,
                                         void* context, dyngrid_matrix** matrix);
/* As dyngrid_distribution, but block j, of sizes[j], lies on grid row (column) owners[j], from 0. The sizes add up to
 * length and do not repeat. Returns the number of blocks; the first call has sizes and owners null. */
typedef int64_t (*dyngrid_owner_rule)(void* context, char axis, int64_t length, int nprow, int npcol, int64_t* sizes,
                                      int* owners);
/* As dyngrid_matrix_create_by, with any owner for any block: of single rows or columns, or of stretches of any length,
 * as the columns of a sparse matrix. Local indices ascend with global ones. Where the owners follow each other in turn,
 * it is the same matrix as without their list, and blocks of one size in turn make an ordinary descriptor. Otherwise
 * dyngrid_desc makes DTYPE_ DYNGRID_DTYPE when it is first asked, with sizes of 0 for the owners that are skipped; it
 * is null when those are more than 2^24 sizes of an axis. DYNGRID_ERR_ARGUMENT for owners outside the grid, sizes below
 * 0, above 2^31 - 1 or that do not add up, and a rule that fails; _MISMATCH when processes differ; the same on all
 * processes, and in a change of the grid it is refused. */
DYNGRID_API int dyngrid_matrix_create_owned(const char* name, char type, int64_t m, int64_t n, dyngrid_owner_rule rule,
                                            void* context, dyngrid_matrix** matrix);
/* A ready-made rule: one block for each process, ceil(length / processes of the axis) long, so that the block size
 * follows the grid; the last process has less, or none, where it does not divide. context is not used. Local. */
DYNGRID_API int64_t dyngrid_block_rule(void* context, char axis, int64_t length, int nprow, int npcol, int64_t* sizes);
/* Inside a rule (dyngrid_distribution): the speed of the process that stands at (row, col), from 0, of the grid that
 * the rule is asked for; the same on all processes. 0 elsewhere, and outside that grid. So a rule can deal out work
 * that it knows by item to processes that differ. Local. */
DYNGRID_API double dyngrid_rule_speed(int row, int col);

/* ---- matrices on a row, a column or a part of the processes, and copies ---- */

/* On which processes of a p x q grid a matrix lies. It follows every change: to the same arrangement of the new grid's
 * processes. */
enum {
  DYNGRID_ON_GRID = 0,   /* over all, as p x q: what dyngrid_matrix_create makes */
  DYNGRID_ON_ROW = 1,    /* over all, row by row, as one row 1 x pq: each process has all rows and some columns */
  DYNGRID_ON_COLUMN = 2, /* over all, row by row, as one column pq x 1: each has all columns and some rows */
  DYNGRID_ON_FIRST = 3,  /* on process (0, 0) alone */
  DYNGRID_ON_ALL = 4,    /* the whole matrix on each process */
  /* A copy on each row of the grid. Its columns are cut over q processes as those of a p x q matrix, its rows are not.
   * For a vector beside the columns of such a matrix. */
  DYNGRID_ON_EACH_ROW = 5,
  /* A copy on each column of the grid. Its rows are cut over p processes as those of a p x q matrix, its columns are
   * not. For a vector beside the rows of such a matrix. */
  DYNGRID_ON_EACH_COLUMN = 6
};
/* As dyngrid_matrix_create, on the processes that `shape` says, DYNGRID_ON_*. dyngrid_copy copies between any two of
 * them; reblock, rules, checkpoints and dyngrid_my_range work as for other matrices. Phases, dyngrid_lu and
 * dyngrid_cholesky refuse it with DYNGRID_ERR_UNSUPPORTED: they want DYNGRID_ON_GRID.
 * dyngrid_desc: CTXT_ is a BLACS context of these processes in this arrangement, for ScaLAPACK. dyngrid opens it and
 * closes it at the next change. CTXT_ is -1 on a process that has no part of the matrix; its m_loc and n_loc are 0.
 * DYNGRID_ON_ALL: CTXT_ is -1 on all processes. Each has an ordinary m x n array, for LAPACK.
 * DYNGRID_ON_EACH_ROW, _EACH_COLUMN: CTXT_ is a context of the copy of this process, 1 x q or p x 1: a call of
 * ScaLAPACK works on that copy alone. For the axis that is cut, a rule (dyngrid_matrix_set_rule) is asked as for a
 * matrix on p x q processes, so that both lie alike. The program keeps all copies equal: dyngrid does not compare them.
 * A process that joins receives its part of one of them. From such a matrix, dyngrid_copy and dyngrid_add take the copy
 * that a process has a part of; to it, they write all copies. A checkpoint holds the copy of which process (0, 0) has a
 * part; a restart gives it to all. DYNGRID_ERR_ARGUMENT when shape is another number; DYNGRID_ERR_MISMATCH when it
 * differs between processes. */
DYNGRID_API int dyngrid_matrix_create_on(const char* name, char type, int64_t m, int64_t n, int64_t mb, int64_t nb,
                                         int shape, dyngrid_matrix** matrix);
/* The same on the first rows and columns of the grid: nprow_at_most x npcol_at_most processes, fewer where the grid has
 * fewer. DYNGRID_ERR_ARGUMENT when one of the two is below 1. */
DYNGRID_API int dyngrid_matrix_create_on_part(const char* name, char type, int64_t m, int64_t n, int64_t mb, int64_t nb,
                                              int nprow_at_most, int npcol_at_most, dyngrid_matrix** matrix);

/* ---- fields of one to five dimensions ---- */

enum { DYNGRID_FIELD_DIMS = 5 }; /* the most that a field has */
/* A field of `dims` dimensions, 1 .. 5, the first running fastest as in Fortran. It follows every change of the grid.
 * Each process has a part of each dimension. Its local array is dense: of its extents in each dimension
 * (dyngrid_field_shape), without gaps. Collective.
 *   extents       of the whole field, dims of them, from 0
 *   blocks        sizes of the blocks in which a dimension is dealt out in turn to its parts. 0, and NULL for all: one
 *                 block of ceil(extent / parts) for each part
 *   process_dims  over how many parts a dimension is cut, on every grid. 1: it is not cut. 0, and NULL for all: dyngrid
 *                 chooses on each grid, so that the largest local array with a border of one element on each side has
 *                 the fewest elements; of equals, later dimensions are cut more
 * On a p x q grid, the last dimension that may be cut (process_dims is not 1) has q parts, and those before have p
 * parts together. Where only one may be cut, it has pq parts, on all processes. With coordinates c[d] of parts[d]
 * parts, a process is on grid row c[0] + parts[0] (c[1] + parts[1] (c[2] ...)) over the dimensions before the last one
 * cut, and on grid column c[d] of that last one. Where one is cut alone, c[d] is the process's rank in dyngrid_comm().
 *
 * A field is a matrix for all other routines: dyngrid_local, dyngrid_copy and _add, checkpoints, dyngrid_matrix_free.
 * Dimensions before the last one that may be cut are its rows, the others its columns; where one is cut alone, it is
 * among the rows. dyngrid_copy and _add take it by any other split of its dimensions, too: two fields of the same
 * extents fit each other, however they are cut. dyngrid_matrix_reblock, _set_rule, _set_owner_rule, phases,
 * dyngrid_lu and dyngrid_cholesky refuse it with DYNGRID_ERR_UNSUPPORTED. A new process may declare it before its first
 * resize point, and need not.
 *
 * DYNGRID_ERR_ARGUMENT: dims outside 1 .. 5; a number below 0 or above 2^31 - 1; rows or columns of more than 2^31 - 1;
 * process_dims whose product does not give the grid; more than 2^24 runs of neighbouring rows or columns, as of blocks
 * of one element in the first of several dimensions that are cut. DYNGRID_ERR_NULL; DYNGRID_ERR_MISMATCH when processes
 * differ. The same on all processes. A change to a grid on which process_dims do not fit is refused. */
DYNGRID_API int dyngrid_field_create(const char* name, char type, int dims, const int64_t* extents,
                                     const int64_t* blocks, const int* process_dims, dyngrid_matrix** field);
/* dyngrid_local and the local extents of dyngrid_field_shape in one; null outside the grid, and for a matrix that is
 * not a field. Local. */
DYNGRID_API void* dyngrid_field_local(const dyngrid_matrix* field, int64_t* local_extents);
/* Returns the number of dimensions. Of each dimension, where the pointer is not NULL: the extent of this process's
 * local array, the number of parts on the current grid, and which part this process has, from 0. On a process outside
 * the grid: 0, 0 and -1. DYNGRID_ERR_NULL; _ARGUMENT for a matrix that is not a field. Local. */
DYNGRID_API int dyngrid_field_shape(const dyngrid_matrix* field, int64_t* local_extents, int* parts, int* coordinates);
/* As dyngrid_my_range for dimension `dim`, from 0: the k-th run first .. last-1 of neighbouring indices that this
 * process has. Local indices ascend with them. 1, or 0 when there is none. DYNGRID_ERR_NULL, _ARGUMENT. Local. */
DYNGRID_API int dyngrid_field_range(const dyngrid_matrix* field, int dim, int64_t k, int64_t* first, int64_t* last);

/* ---- borders ---- */

/* A ghosted array of a matrix or a field, which follows every change: this process's elements with a border around
 * each stretch of indices that it has, filled with the elements of the neighbours. The array is dense, the first
 * dimension running fastest.
 *
 *     dyngrid_borders_create(u, lo, hi, NULL, DYNGRID_NEIGHBOURS_FOUR, NULL, &borders);        once
 *     while (dyngrid_resize_point() != DYNGRID_LEAVE) {
 *       dyngrid_borders_update(borders, &ghosted);                        after a change a new array
 *       dims = dyngrid_halo_extents(dyngrid_borders_halo(borders), extents);
 *       compute in ghosted, with dyngrid_borders_exchange(borders) whenever the borders are old
 *       dyngrid_borders_store(borders);                                   before the next resize point
 *     } */
typedef struct dyngrid_borders dyngrid_borders;
/* Collective over the grid; makes no array yet. A new process calls it before its first resize point, as it declares
 * the matrix.
 *   lo, hi            for each dimension of a field, or for the rows and the columns of a matrix: elements before and
 *                     after each stretch
 *   periodic          for each of them: whether it continues at its other end; NULL: none does
 *   neighbours        DYNGRID_NEIGHBOURS_EIGHT: corners too, in three dimensions 26; _FOUR: the faces alone
 *   boundary          one element of the matrix's type, NULL: 0. A new array has it in all places that no neighbour
 *                     fills: outside the matrix, and corners with _FOUR. Later these keep what the program writes
 * DYNGRID_ERR_NULL; _NOT_FOUND; _ARGUMENT for a side below 0, sides of 0 alone, another number of neighbours, or a
 * matrix with copies; _MISMATCH when processes differ. The same on all processes. */
DYNGRID_API int dyngrid_borders_create(dyngrid_matrix* matrix, const int* lo, const int* hi, const int* periodic,
                                       int neighbours, const void* boundary, dyngrid_borders** borders);
/* Copies the matrix into the ghosted array and fills the borders. The ghosted array is made anew after a change of the
 * grid, and where the matrix lies otherwise than when it was made. *ghosted (ghosted may be NULL) is its address, good
 * until the next change; null on a process outside the grid, where the call is local. Collective over the grid. Errors
 * are the same on all processes: DYNGRID_ERR_NULL; _NOT_FOUND also when the matrix was freed, which ends its borders;
 * _MISMATCH when processes name different borders; _MEMORY: there is no ghosted array then, and the matrix is as
 * before. */
DYNGRID_API int dyngrid_borders_update(dyngrid_borders* borders, void** ghosted);
/* Fills the borders of the ghosted array from the neighbours' ghosted arrays. Every process of the grid calls it and
 * waits for its neighbours only. DYNGRID_ERR_STATE, on all processes, where the matrix was moved since the last update,
 * by a change of the grid or of its layout, or there was none. */
DYNGRID_API int dyngrid_borders_exchange(dyngrid_borders* borders);
/* Copies this process's elements, without borders, back into the matrix. Local; a program calls it on all processes,
 * and before a resize point, which ends the ghosted array. Errors as of _exchange. */
DYNGRID_API int dyngrid_borders_store(dyngrid_borders* borders);
/* For dyngrid_halo_extents, _range, _shape, and for an exchange in two halves (_start, _finish). The halo belongs to
 * the borders: do not destroy it, and ask again after each update. Null, with a message, where dyngrid_borders_exchange
 * is an error, and outside the grid. Local. */
DYNGRID_API dyngrid_halo* dyngrid_borders_halo(dyngrid_borders* borders);
/* Frees them and their array, also after their matrix; sets *borders to null. dyngrid_finalize frees the rest.
 * Collective over the grid. */
DYNGRID_API int dyngrid_borders_free(dyngrid_borders** borders);

/* The halo alone (dyngrid/halo.h), around the blocks of a matrix or a field as it lies now, for an array that the
 * program allocates; lo, hi, periodic and neighbours as above.
 *
 *     dyngrid_matrix_halo(u, lo, hi, NULL, DYNGRID_NEIGHBOURS_FOUR, &halo);
 *     dims = dyngrid_halo_extents(halo, extents);          the ghosted array
 *     dyngrid_halo_to_ghosted(halo, dyngrid_local(u), lld, ghosted, 0);
 *     dyngrid_halo_exchange(halo, ghosted, 0);
 *     dyngrid_halo_from_ghosted(halo, ghosted, 0, dyngrid_local(u), lld);
 *
 * lld is that of dyngrid_matrix_shape. A change of the grid or of the matrix ends the halo: destroy it and make
 * another. Collective over the grid. DYNGRID_ERR_NULL, _NOT_FOUND; _ARGUMENT for a side below 0, sides of 0 alone, or a
 * matrix with copies; _MISMATCH when processes ask for different ones; _STATE on a process outside the grid, and before
 * the first resize point of a new one.
 */
DYNGRID_API int dyngrid_matrix_halo(const dyngrid_matrix* matrix, const int* lo, const int* hi, const int* periodic,
                                    int neighbours, dyngrid_halo** halo);

/* ---- matrices in memory of the program's own ---- */

/* Gives memory for a local array, or takes an array back, on this process alone. `data` is what was registered.
 *   bytes above 0: returns new memory of at least `bytes` bytes, for lld x columns elements in column-major order; null
 *                  when there is none. old is null.
 *   bytes 0:       frees old and returns null.
 * In a change it is asked for the new array before anything moves, one at a time, and gets the old array back after the
 * commit; old is null then where this process had none. At that moment dyngrid_local, dyngrid_matrix_shape and, but
 * for CTXT_, dyngrid_desc have the new values. When a change fails, it gets the new array back instead. So a program
 * that keeps the address takes the new one when an array comes back that is not the new one. The allocator may call
 * local routines only. A C++ exception that leaves it is taken for null. */
typedef void* (*dyngrid_allocator)(void* data, void* old, size_t bytes, int64_t lld, int64_t columns);
/* A matrix whose local array the program, or a library, has allocated. From here on it follows the grid as others do,
 * with all its elements: changes of the grid, dyngrid_relayout, _reblock, _set_rule, dyngrid_restore. Collective.
 *   desc      ScaLAPACK's nine integers: DTYPE_ 1, CTXT_ dyngrid_context(), RSRC_ and CSRC_ 0. LLD_ may be larger than
 *             the local rows need. The arrays that `allocate` returns have LLD_ max(1, local rows).
 *   local     this process's array of `bytes` bytes; null where it has no elements
 *   allocate  for the arrays of later grids, with `data`; both live as long as the matrix
 * A new process, or one outside the first grid, declares it before its first resize point, with the same M_, N_, MB_
 * and NB_; its CTXT_ is not used. An array that it passes has no elements yet: `allocate` frees it at that resize
 * point. A process that joins or wakes without having adopted the matrix has memory of dyngrid's own.
 *
 * A process that leaves the grid, for good or to sleep, has no array any more: `allocate` frees it after the commit. At
 * dyngrid_matrix_free and dyngrid_finalize the array stays as it is, with its elements: it is the program's.
 *
 * No page of the program's arrays is given back to the system during a change: memory of a pool, or memory that a
 * device or a network card knows, must not lose its pages. So a change needs memory for the old and the new array, also
 * with DYNGRID_EXCHANGE=memory=low. Phases (dyngrid/phases.h) keep no copies of such a matrix.
 *
 * DYNGRID_ERR_NULL, _TYPE, _ARGUMENT (name), _DESCRIPTOR, _SHAPE when `bytes` is too small for desc, _MISMATCH when
 * processes differ: the same on all processes, and the array is the program's as before. A later change is refused with
 * DYNGRID_ERR_MEMORY on all processes when `allocate` has no memory on one: nothing was changed. */
DYNGRID_API int dyngrid_matrix_adopt(const char* name, char type, const int* desc, void* local, size_t bytes,
                                     dyngrid_allocator allocate, void* data, dyngrid_matrix** matrix);

/* ---- another layout on the same grid ---- */

/* The matrix in mb x nb blocks from now on, on this grid and on all later ones. It may have had other blocks or a rule,
 * or have been dealt out by speed. Its data move, others' do not. Collective, the same on all processes; outcomes as of
 * dyngrid_relayout. New processes may declare it as it was made: the block sizes of the others count. DYNGRID_ERR_NULL,
 * _NOT_FOUND, _ARGUMENT when mb or nb is below 1 or above 2^31 - 1, _MISMATCH when processes differ: nothing was
 * changed. On a new process or a process outside the first grid: changes what it declared. */
DYNGRID_API int dyngrid_matrix_reblock(dyngrid_matrix* matrix, int64_t mb, int64_t nb);
/* The same with a rule. New processes have to give one too, at the creation or by this, before their first resize
 * point. A process that slept meanwhile does not have the rule when it wakes. At each change it receives the result of
 * another process's rule, until the next call of this. DYNGRID_ERR_NOT_FOUND at a change in which no process has the
 * rule. */
DYNGRID_API int dyngrid_matrix_set_rule(dyngrid_matrix* matrix, dyngrid_distribution rule, void* context);
/* The same with any owner for any block, as of dyngrid_matrix_create_owned. A matrix that lies on another arrangement
 * of the processes keeps it: on DYNGRID_ON_ROW the owners of columns are all processes of the grid, row by row. */
DYNGRID_API int dyngrid_matrix_set_owner_rule(dyngrid_matrix* matrix, dyngrid_owner_rule rule, void* context);
/* Asks the rules of all matrices again (dyngrid_matrix_create_by), reads the speeds (_create_weighted), and moves those
 * whose layout is another one now, on the current grid. Collective. DYNGRID_RESIZED when data moved: local arrays and
 * descriptors are new, while context, communicator and contexts of the program's own stay. dyngrid_on_change's routines
 * are called, and dyngrid_last_resize reports the change, from the grid to itself. DYNGRID_SAME when all layouts are
 * the same, after one all-reduce of 8 bytes; also on a process outside the grid. A failure leaves all as it was. A
 * resize to the current grid does the same. */
DYNGRID_API int dyngrid_relayout(void);
/* Copies all elements of `from` into `to`, a matrix of the same m, n and type that may have any other layout: from
 * blocks of one size to another, to blocks by a rule and back. Collective over the current grid; a matrix onto itself
 * does nothing. The plan and its buffers are kept until the grid changes. DYNGRID_ERR_NULL; _NOT_FOUND when one of the
 * handles is of no living matrix; _TYPE, _SHAPE when types or sizes differ; _MISMATCH when processes ask for different
 * copies; _STATE before the first resize point of a new process. The same on all processes; `to` is then as it was. */
DYNGRID_API int dyngrid_copy(const dyngrid_matrix* from, dyngrid_matrix* to);
/* b := alpha op(a) + beta b in one pass, for matrices of one type that may lie in any two ways. op: 'N' for a, 'T' for
 * its transpose, 'C' for its conjugate transpose. b is m x n, and a is m x n or, with 'T' and 'C', n x m. alpha, beta:
 * one element of the matrices' type each: float, double, float[2], double[2] (real and imaginary part) or int32_t,
 * which is calculated modulo 2^32. With alpha = 0 the elements of a are not read and with beta = 0 those of b, as in
 * PxGEADD: a NaN there does no harm. Collective over the current grid. The plan and its buffers are kept until the grid
 * changes. Errors are those of dyngrid_copy; DYNGRID_ERR_NULL also for alpha and beta; _ARGUMENT for another op, and
 * when a and b are the same matrix; _MISMATCH also when op, alpha or beta differ between processes, bit by bit. */
DYNGRID_API int dyngrid_add(char op, const void* alpha, const dyngrid_matrix* a, const void* beta, dyngrid_matrix* b);

#ifdef __cplusplus
}
#endif
#endif
