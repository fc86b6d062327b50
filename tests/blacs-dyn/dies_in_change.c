/* SPDX-License-Identifier: BSD-3-Clause */
/* dies_in_change: a process is killed before the matrices move, under a launcher that does not end the job for it. Each
 * of the others finds it alone, which is DYNGRID_ERR_MPI: by an agreed error it would go on in the old grid. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dyngrid.h"
#include "dyngrid/control.h"

static void before(void* id) {
  if (*(const int*)id == 2) raise(SIGKILL);
}

int main(int argc, char** argv) {
  int id, outcome, is_good;
  dyngrid_matrix* matrix = NULL;
  MPI_Init(&argc, &argv);
  if (dyngrid_init_grid(1, 3) != DYNGRID_SUCCESS) return 1;
  id = dyngrid_process_id();
  if (dyngrid_matrix_create("A", 'd', 300, 300, 10, 10, &matrix) != DYNGRID_SUCCESS) return 1;
  if (dyngrid_on_change(before, NULL, &id) != DYNGRID_SUCCESS) return 1;
  outcome = dyngrid_resize(1, 2, DYNGRID_OPTIMAL);
  is_good = outcome == DYNGRID_ERR_MPI && strstr(dyngrid_last_message(), "has ended") != NULL;
  printf("process %d: %s: outcome %d: %s\n", id, is_good ? "good" : "bad", outcome, dyngrid_last_message());
  fflush(NULL);
  _exit(0); /* MPI_Finalize would wait for the dead one */
}
