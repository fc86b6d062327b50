// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <exception>

#include <mpi.h>

namespace apps {

/// The main of a benchmark that mpirun starts: process 0 prints an error that `run` throws on all processes; status 2.
template <class Run> int mpi_main(const char* name, int argc, char** argv, Run&& run) {
  MPI_Init(&argc, &argv);
  int status = 2;
  try {
    status = run(argc, argv);
  } catch (const std::exception& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "%s: %s; see --help\n", name, error.what());
  }
  MPI_Finalize();
  return status;
}

} // namespace apps
