/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools: several applications of dyngrid in one program, each with a grid of its own. Statuses and "collective" are
 * those of dyngrid.h. */
#ifndef DYNGRID_POOL_H
#define DYNGRID_POOL_H

#include "dyngrid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pools: several applications in one program ---- */

/* As dyngrid_init, on the processes of a communicator: a pool, one of several applications of dyngrid in one program.
 * Each pool has its own grid, matrices, shared state and requests. It changes its grid while the others compute.
 * "Collective" then means the processes of the pool's grid, and process 0 is rank 0 of comm. Pools have no process in
 * common; a process that is in none does not call it. After MPI_Init; collective over comm. name: of the pool, the same
 * on all its processes, 1 to 20 of A-Z a-z 0-9 . _ -. The command finds the pool as JOB/name. comm can be freed
 * afterwards. A new process belongs to the pool that started it, and ignores both arguments: dyngrid_pool says which.
 * DYNGRID_ERR_ARGUMENT for MPI_COMM_NULL, an intercommunicator or another name; DYNGRID_ERR_MISMATCH for two names;
 * DYNGRID_ERR_STATE where this process is in an application already. */
DYNGRID_API int dyngrid_init_on(MPI_Comm comm, const char* name);
DYNGRID_API int dyngrid_init_on_f(MPI_Fint comm, const char* name);
/* Name of this process's pool, "" where it is in none. On a new process also before dyngrid_init_on, where a program
 * chooses what this pool computes. Local. */
DYNGRID_API const char* dyngrid_pool(void);

#ifdef __cplusplus
}
#endif
#endif
