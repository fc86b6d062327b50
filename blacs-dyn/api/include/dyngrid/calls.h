/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of ScaLAPACK's routines on another grid. Statuses are those of dyngrid/status.h. */
#ifndef DYNGRID_CALLS_H
#define DYNGRID_CALLS_H

#include "dyngrid/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- calls of ScaLAPACK's routines on another grid ---- */

/* The next call of this ScaLAPACK routine ("pdgetrf") runs on copies, in square blocks of nb, on an nprow x npcol grid
 * of the first processes of its context. The result is that of the call itself, but for rounding. nprow = npcol = 0: on
 * the grid that the call has; nb = 0: in the blocks of its first matrix. "p?getrf" is the routine in any type, "all"
 * any that can be moved, "pdgetrf,pdgetrs" either: the next call of one of them. A query for the work space does not
 * count as a call, nor does one that a routine of ScaLAPACK makes, nor one that dyngrid's kernels carry out (a
 * descriptor of DTYPE_ 601, DYNGRID_PBLAS=own). A call that cannot be moved stays where it is: a grid larger than the
 * context (one message), no memory for the copies (one message), a call from the 17th group of processes on (one
 * message), arguments that ScaLAPACK would refuse. It has precedence over DYNGRID_CALLS. Needs no dyngrid_init. Local;
 * all processes of the context of that call have to give the same values. Where they give different ones, the call
 * stays. Where some give none, the others wait for them in the call, and print a message after 10 s.
 * DYNGRID_ERR_ARGUMENT, also for a grid of more than 2^20 processes. */
DYNGRID_API int dyngrid_run_on(int nprow, int npcol, int nb, const char* routine);
/* The same for all calls of these routines until dyngrid_run_on_end. Scopes may be nested; the innermost that has the
 * routine counts. */
DYNGRID_API int dyngrid_run_on_begin(int nprow, int npcol, int nb, const char* routines);
/* Ends the innermost scope. DYNGRID_ERR_STATE when there is none. */
DYNGRID_API int dyngrid_run_on_end(void);

#ifdef __cplusplus
}
#endif
#endif
