/* SPDX-License-Identifier: BSD-3-Clause */
/* For pools_fortran and pools_fortran77: the MPI of Fortran is not needed to build the tests. */
#include <mpi.h>
#include <stddef.h>

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

/* the same for Fortran 77, whose compilers add the underscore */
void half77_(MPI_Fint* half, MPI_Fint* comm) {
  *comm = half_of_world(half);
}

void null77_(MPI_Fint* comm) {
  *comm = no_communicator();
}

void init77_(void) {
  init_mpi();
}

void end77_(void) {
  finalize_mpi();
}
