/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices whose rows and columns lie by a rule, and matrices that change their layout while the grid stays. Statuses,
 * outcomes and "collective" are those of dyngrid.h. */
#ifndef DYNGRID_LAYOUT_H
#define DYNGRID_LAYOUT_H

#include <stdint.h>

#include "dyngrid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- matrices that lie by a rule ---- */

/* How one axis of a matrix lies on a grid: called with sizes null, gives how many block sizes there are for the rows
 * (axis 'R') or columns ('C') of length `length` on an nprow x npcol grid; called again, fills them in and gives the
 * same number. The sizes repeat, block j lies on grid row j mod nprow (grid column j mod npcol), sizes may be 0: nprow
 * (npcol) sizes that add up to length are one block for each. Negative: it cannot be. The same on all processes.
 * dyngrid_rule_speed says how fast they are. */
typedef int64_t (*dyngrid_distribution)(void* context, char axis, int64_t length, int nprow, int npcol, int64_t* sizes);
/* As dyngrid_matrix_create, lying as `rule` says on every grid it comes to. A rule that gives one size for the rows and
 * one for the columns makes an ordinary descriptor, which ScaLAPACK takes; otherwise it is of DTYPE_ DYNGRID_DTYPE
 * (dyngrid/redist.h), for everything here and in dyngrid/pblas.h, but not for all of ScaLAPACK. The rule may look at
 * shared state, which newcomers have before it is called. Newcomers must declare such a matrix before their first
 * resize point. */
DYNGRID_API int dyngrid_matrix_create_by(const char* name, char type, int64_t m, int64_t n, dyngrid_distribution rule,
                                         void* context, dyngrid_matrix** matrix);
/* A ready-made rule: one block for each process, ceil(length / processes of the axis) long, so that the block size
 * follows the grid; the last process has less, or none, where it does not divide. context is not used. Local. */
DYNGRID_API int64_t dyngrid_block_rule(void* context, char axis, int64_t length, int nprow, int npcol, int64_t* sizes);
/* Inside a rule (dyngrid_distribution): the speed of the process that stands at (row, col), from 0, of the grid that
 * the rule is asked for; the same on all processes. 0 elsewhere, and outside that grid. So a rule can deal out work
 * that it knows by item to processes that differ. Local. */
DYNGRID_API double dyngrid_rule_speed(int row, int col);

/* ---- another layout on the same grid ---- */

/* The matrix in mb x nb blocks from now on, on this grid and on all later ones, whether it had other blocks, a rule or
 * was dealt out by speed. Its data move, others' do not. Collective, the same on all processes; outcomes as of
 * dyngrid_relayout. Newcomers may declare it as it was made: the block sizes of the others count. DYNGRID_ERR_NULL,
 * _NOT_FOUND, _ARGUMENT when mb or nb is below 1 or above 2^31 - 1, _MISMATCH when processes differ: nothing was
 * changed. On a newcomer or a process outside the first grid: changes what it declared. */
DYNGRID_API int dyngrid_matrix_reblock(dyngrid_matrix* matrix, int64_t mb, int64_t nb);
/* The same with a rule. Newcomers have to give one too, at the creation or by this, before their first resize point. A
 * process that slept meanwhile has not got it when it wakes: at each change it is told what the rule of another says,
 * until the next call of this. DYNGRID_ERR_NOT_FOUND at a change in which nobody takes part who has it. */
DYNGRID_API int dyngrid_matrix_set_rule(dyngrid_matrix* matrix, dyngrid_distribution rule, void* context);
/* Asks the rules of all matrices again (dyngrid_matrix_create_by), looks at speeds (_create_weighted), and moves those
 * that lie otherwise by them now, on the grid there is. Collective. DYNGRID_RESIZED when data moved: local arrays and
 * descriptors are new, while context, communicator and contexts of the program's own stay; dyngrid_on_change's routines
 * are called and dyngrid_last_resize says what it took, from the grid to itself. DYNGRID_SAME when all lie so already,
 * after one all-reduce of 24 bytes; so on a process outside the grid. A failure leaves all as it was. A resize to the
 * grid there is does the same. */
DYNGRID_API int dyngrid_relayout(void);
/* All elements of `from` into `to`, a matrix of the same m, n and type that may lie in any other way: from blocks of
 * one size to another, to blocks as a rule says and back. Collective over the current grid; a matrix onto itself does
 * nothing. What it sets up is kept until the grid changes. DYNGRID_ERR_NULL; _NOT_FOUND when one of the handles is of
 * no living matrix; _TYPE, _SHAPE when types or sizes differ; _MISMATCH when processes ask for different copies; _STATE
 * before the first resize point of a newcomer. The same on all processes; `to` is then as it was. */
DYNGRID_API int dyngrid_copy(const dyngrid_matrix* from, dyngrid_matrix* to);

#ifdef __cplusplus
}
#endif
#endif
