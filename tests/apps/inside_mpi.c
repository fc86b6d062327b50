/* SPDX-License-Identifier: BSD-3-Clause */
/* inside_mpi COMMAND: runs it from a process in which MPI is up, without an mpirun, as a notebook does that has
 * imported mpi4py. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(int argc, char** argv) {
  int status;
  MPI_Init(&argc, &argv);
  status = system(argv[1]);
  MPI_Finalize();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
