/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_fails: a failure of MPI on one process alone is DYNGRID_ERR_MPI, where an agreed one would let it sleep on or go
 * on. The communicator of the sleeping one and the others fails, on both sides. mpirun -np 2. */
#include <stdio.h>
#include <stdlib.h>

#include "dyngrid.h"
#include "dyngrid/control.h"

static int fails = 0;

/* replaces MPI's */
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  return fails ? MPI_ERR_OTHER : PMPI_Comm_create_group(comm, group, tag, made);
}

int main(int argc, char** argv) {
  int id, outcome, most = 0;
  MPI_Init(&argc, &argv);
  if (dyngrid_init_grid(1, 2) != DYNGRID_SUCCESS) return 1;
  id = dyngrid_process_id();
  fails = 1;
  outcome = dyngrid_resize(1, 1, DYNGRID_OPTIMAL); /* process 1 sleeps in it until that communicator */
  if (id == 0) outcome = dyngrid_resize(1, 2, DYNGRID_OPTIMAL);
  printf("process %d: outcome %d: %s\n", id, outcome, dyngrid_last_message());
  outcome = outcome == DYNGRID_ERR_MPI ? 0 : 1;
  MPI_Allreduce(&outcome, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (most != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  fflush(NULL);
  dyngrid_finalize(); /* what comes of it is not known: MPI has failed */
  MPI_Finalize();
  return 0;
}
