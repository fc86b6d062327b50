/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints: all matrices and all shared state in one file, restored on any grid. Statuses and "collective" are those
 * of dyngrid.h. */
#ifndef DYNGRID_CHECKPOINT_H
#define DYNGRID_CHECKPOINT_H

#include "dyngrid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- checkpoints ---- */

/* Writes all matrices and all shared state to one HDF5 file. The file replaces an older one of that name only when it
 * is whole and on the disk: after an interruption at any moment, the older one remains. Collective. The path of process
 * 0 counts, relative to its working folder; null is the environment's DYNGRID_CHECKPOINT. DYNGRID_ERR_IO when it cannot
 * be written, _ARGUMENT when another pool has written that file, _UNSUPPORTED when dyngrid was built without HDF5,
 * _STATE while dyngrid_is_restarted: the file may be the one that is to be restored. The application is as it was. */
DYNGRID_API int dyngrid_checkpoint(const char* path);
/* Reads them back on the current grid, of whatever shape and distribution. Every matrix that was made and everything
 * that was shared must be in the file, by name, with the same type and size (block sizes may differ). Matrices and
 * shared state of the file that the program has not made yet are read too: dyngrid_matrix_find finds the matrix,
 * dyngrid_share gets its content. A matrix with a rule has to be made before: otherwise it lies in blocks of one size,
 * and a growth with new processes, which give the rule, is refused. Resize points are counted on from where the file
 * was written. Collective. Null is the environment's DYNGRID_RESTORE. DYNGRID_ERR_NOT_FOUND, _IO (truncated, damaged,
 * no checkpoint), _MISMATCH, _UNSUPPORTED: nothing was changed. The environment's checkpoint is restored here or at the
 * first resize point. That resize point returns DYNGRID_RESIZED then and calls the routines of dyngrid_on_change: all
 * local arrays have moved, here and there. When it cannot be restored, the run ends with status 1 and the reason, so
 * that no program goes on without it. */
DYNGRID_API int dyngrid_restore(const char* path);
/* 1 from dyngrid_init to the first resize point, or to dyngrid_restore, when the environment's DYNGRID_RESTORE says
 * what this run goes on from: matrices and shared state get their content there, and need no first values. 1 also on a
 * process that joins the grid before that. Otherwise 0. Local. */
DYNGRID_API int dyngrid_is_restarted(void);

#ifdef __cplusplus
}
#endif
#endif
