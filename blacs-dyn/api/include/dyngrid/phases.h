/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases: parts of a program's cycle, each of which would like its matrices to lie another way. Statuses and
 * "collective" are those of dyngrid.h. */
#ifndef DYNGRID_PHASES_H
#define DYNGRID_PHASES_H

#include <stdint.h>

#include "dyngrid/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- phases: parts of a program's cycle, each of which would like its matrices to lie another way ---- */

/* How a phase uses a matrix. DYNGRID_WRITE alone: it overwrites all of it, so that nothing is moved for it. */
enum { DYNGRID_READ = 1, DYNGRID_WRITE = 2 };
typedef struct dyngrid_phase dyngrid_phase;
/* A phase of that name; those of a program are a cycle in the order in which they are made. Local, the same on all
 * processes, on new processes before their first resize point. It lives until dyngrid_finalize. DYNGRID_ERR_NULL;
 * _ARGUMENT for a name that is used. */
DYNGRID_API int dyngrid_phase_create(const char* name, dyngrid_phase** phase);
/* The phase uses the matrix: DYNGRID_READ, DYNGRID_WRITE or both. Local, the same on all processes. */
DYNGRID_API int dyngrid_phase_uses(dyngrid_phase* phase, dyngrid_matrix* matrix, int use);
/* A layout in which the phase can use the matrix: blocks of mb x nb, on any grid. May be called several times; the
 * phase then runs in the one that is best for the whole cycle. Without it: any layout that another phase names, and
 * the one that the matrix has. Local, the same on all processes. */
DYNGRID_API int dyngrid_phase_layout(dyngrid_phase* phase, dyngrid_matrix* matrix, int64_t mb, int64_t nb);
/* The same, lying as a rule says. */
DYNGRID_API int dyngrid_phase_layout_by(dyngrid_phase* phase, dyngrid_matrix* matrix, dyngrid_distribution rule,
                                        void* context);
/* The same, dealt out by the speeds of the processes, as dyngrid_matrix_create_weighted does; order: DYNGRID_ORDER_*.
 * The phase may do with it what its routines do with DTYPE_ 601. Another speed begins anew. */
DYNGRID_API int dyngrid_phase_layout_weighted(dyngrid_phase* phase, dyngrid_matrix* matrix, int64_t mb, int64_t nb,
                                              int order);
/* The phase begins: its matrices change to the layout that is planned for it. Get arrays and descriptors again. Copies
 * in other layouts stay valid until a phase writes the matrix, so that reading in turns moves nothing. Before there is
 * a plan every combination of layouts is tried twice, but once where it takes three times as long as another. A
 * combination whose times an earlier run on this grid has left in the history is not tried. A change of the grid, after
 * which matrices lie as they were declared, or of a matrix by another routine, starts the trials again. Collective;
 * only one phase at a time. DYNGRID_ERR_STATE, _NOT_FOUND, _MISMATCH, _ARGUMENT when a rule fails, _MEMORY,
 * _UNSUPPORTED for more than 256 combinations of layouts of one phase, or more than 64 layouts of all matrices of all
 * phases (those that the matrices have count): every matrix is whole, as it was or as the phase needs it. */
DYNGRID_API int dyngrid_phase_begin(dyngrid_phase* phase);
/* The phase ends. The time between begin and end is its time. Local. */
DYNGRID_API int dyngrid_phase_end(dyngrid_phase* phase);
/* Plans the layouts of all phases for `cycles` more cycles, 0: for a run without an end, by the measured times of
 * phases and moves. Happens by itself, for a run without an end, when all was tried, and again when later measurements
 * require it. After this routine with cycles above 0 it does not happen by itself. Exact for these figures; a layout
 * that never ran is left out. Collective, between phases. DYNGRID_ERR_STATE when a phase never ran on this grid,
 * _ARGUMENT, _MISMATCH, _MEMORY when the bytes that may be kept do not suffice; the plan is then as it was. Source:
 * Morris, Lowenthal 2001, for the model. */
DYNGRID_API int dyngrid_phases_plan(int64_t cycles);
/* How many bytes, of all processes together, copies of matrices may take beside those in use; -1: any (the default).
 * Local, the same on all processes. */
DYNGRID_API int dyngrid_phases_keep(int64_t bytes);
/* The program wrote the matrix outside a phase that says so: older copies are not valid any more. dyngrid knows its own
 * writes (dyngrid_copy, dyngrid_lu, a checkpoint that is restored). Local, the same on all processes. DYNGRID_ERR_NULL,
 * _NOT_FOUND. */
DYNGRID_API int dyngrid_matrix_written(const dyngrid_matrix* matrix);
/* The phase that ended last, or that runs. */
typedef struct dyngrid_phase_report {
  int candidate, candidates; /* which combination of layouts, of how many; from 0 */
  int is_planned;            /* 0: it was tried */
  double seconds;            /* from its begin to its end, on this process */
  double move_s;             /* before it, with the planning, if any */
  double predicted_s;        /* both, as planned: max over the processes; 0 without a plan */
  int64_t moved_bytes;       /* that changed their process */
} dyngrid_phase_report;
/* Local. DYNGRID_ERR_NULL. */
DYNGRID_API int dyngrid_last_phase(dyngrid_phase_report* report);

#ifdef __cplusplus
}
#endif
#endif
