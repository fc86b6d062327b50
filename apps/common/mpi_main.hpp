// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <exception>

#include <mpi.h>

#include "base/command_line.hpp"
#include "base/status.hpp"

namespace apps {

/// The main of a benchmark that mpirun starts; an error that `run` throws is status 2. CommandLineError and base::Error
/// are thrown on all processes, and process 0 prints them. Another one may be of one process, as where process 0 cannot
/// write a file: it ends the others, too, which would wait for ever.
template <class Run> int mpi_main(const char* name, int argc, char** argv, Run&& run) {
  MPI_Init(&argc, &argv);
  int status = 2;
  const auto print_once = [name](const std::exception& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "%s: %s; see --help\n", name, error.what());
  };
  try {
    status = run(argc, argv);
  } catch (const base::CommandLineError& error) {
    print_once(error);
  } catch (const base::Error& error) {
    print_once(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  MPI_Finalize();
  return status;
}

} // namespace apps
