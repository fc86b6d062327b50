/* SPDX-License-Identifier: BSD-3-Clause */
/* wide_integers: dyngrid_init in a program whose MPI has Fortran integers of 8 bytes (TEST_MPI), or that has loaded a
 * library for them: a failure before the processes have numbers, which process 0 prints. */
#include <string.h>
#include <unistd.h>

#define TEST_NAME "wide_integers"
#include "expect.h"

#ifdef TEST_MPI
int MPI_Type_size(MPI_Datatype type, int* size) {
  const int code = PMPI_Type_size(type, size);
  if (type == MPI_INTEGER) *size = 8;
  return code;
}
#else
int from_a_wide_library(void);
#endif

int main(void) {
#ifndef TEST_MPI
  expect(from_a_wide_library() == 8, "the library", 0);
#endif
  FILE* said = tmpfile();
  const int before = dup(STDERR_FILENO);
  dup2(fileno(said), STDERR_FILENO);
  const int status = dyngrid_init();
  dup2(before, STDERR_FILENO);
  expect(status == DYNGRID_ERR_UNSUPPORTED, "the status of dyngrid_init", status);
  expect(strstr(dyngrid_last_message(), "ILP64") != NULL, "why", 0);
  char text[1000] = "";
  int rank = 0;
  rewind(said);
  if (fread(text, 1, sizeof text - 1, said) == 0) text[0] = '\0';
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect((strstr(text, "dyngrid: dyngrid_init: ") != NULL) == (rank == 0), "process 0 prints why", rank);
  MPI_Finalize();
  return wrong;
}
