// SPDX-License-Identifier: BSD-3-Clause
// What a process holds on to, for tests that see it stay flat.
#pragma once
#include <dirent.h>

#include <fstream>

#include <mpi.h>

namespace resources {

/// MPICH 5 takes memory with its first communicators, and assigns those that were freed in any order.
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
constexpr bool is_mpich_5 = true;
#else
constexpr bool is_mpich_5 = false;
#endif

inline int open_files() {
  int count = 0;
  DIR* dir = opendir("/proc/self/fd");
  while (readdir(dir) != nullptr) ++count;
  closedir(dir);
  return count;
}

inline long resident_pages() {
  std::ifstream statm("/proc/self/statm");
  long size = 0, resident = 0;
  statm >> size >> resident;
  return resident;
}

/// The place of a new communicator in MPI's table: the lowest free one, so it grows with every communicator that is
/// left.
inline int next_communicator() {
  MPI_Comm fresh = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  const int place = static_cast<int>(MPI_Comm_c2f(fresh));
  MPI_Comm_free(&fresh);
  return place;
}

} // namespace resources
