/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of ScaLAPACK's routines on another grid. Statuses are those of dyngrid/status.h. */
#ifndef DYNGRID_CALLS_H
#define DYNGRID_CALLS_H

#include "dyngrid/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- calls of ScaLAPACK's routines on another grid ---- */

/* The next call of this routine of ScaLAPACK's, "pdgetrf", is carried out on an nprow x npcol grid of the first
 * processes of its context, in square blocks of nb, on copies: what it gives is what the call itself gives, but for
 * rounding. nprow = npcol = 0: on the grid that the call has; nb = 0: in the blocks of its first matrix. "p?getrf" is
 * the routine in any type, "all" any that can be moved, "pdgetrf,pdgetrs" either: the next call of one of them. A call
 * that is asked for its work space is none, nor is one that a routine of ScaLAPACK makes. What cannot be moved stays
 * where it is: a grid larger than the context (said once), no memory for the copies (said once), a call from the 17th
 * group of processes on (said once), arguments that ScaLAPACK would refuse. Goes before DYNGRID_CALLS. Needs no
 * dyngrid_init. Local, and to be said alike by all processes of the context of that call; where they say different
 * things, it stays. Where some say nothing at all the others wait for them in the call, and say so after 10 s.
 * DYNGRID_ERR_ARGUMENT. */
DYNGRID_API int dyngrid_run_on(int nprow, int npcol, int nb, const char* routine);
/* The same for all calls of these routines until dyngrid_run_on_end. Scopes may lie in each other; the innermost that
 * has the routine counts. */
DYNGRID_API int dyngrid_run_on_begin(int nprow, int npcol, int nb, const char* routines);
/* Ends the innermost scope. DYNGRID_ERR_STATE when there is none. */
DYNGRID_API int dyngrid_run_on_end(void);

#ifdef __cplusplus
}
#endif
#endif
