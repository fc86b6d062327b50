/* SPDX-License-Identifier: BSD-3-Clause */
/* For pools_fortran: the MPI of Fortran is not needed to build the tests. */
#include <mpi.h>

MPI_Fint half_of_world(int* half) {
  MPI_Comm mine = MPI_COMM_NULL;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  *half = 2 * rank / size;
  MPI_Comm_split(MPI_COMM_WORLD, *half, rank, &mine);
  return MPI_Comm_c2f(mine);
}

MPI_Fint no_communicator(void) {
  return MPI_Comm_c2f(MPI_COMM_NULL);
}

void init_mpi(void) {
  MPI_Init(NULL, NULL);
}

void finalize_mpi(void) {
  MPI_Finalize();
}
