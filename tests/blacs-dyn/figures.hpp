// SPDX-License-Identifier: BSD-3-Clause
// The memory, open files and communicators of a process, to check that they do not grow.
#pragma once
#include <cstdlib>
#include <fstream>
#include <string>

#include <dirent.h>
#include <mpi.h>

#include "follow.hpp"

namespace follow {

struct Figures {
  long rss_kb = 0, anon_kb = 0, own_kb = 0; ///< own: anonymous and shared memory
  long files = 0, communicator = 0;
};

inline Figures figures() {
  Figures f;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    const long kb = std::atol(line.c_str() + line.find(':') + 1);
    if (line.rfind("VmRSS:", 0) == 0) f.rss_kb = kb;
    if (line.rfind("RssAnon:", 0) == 0) f.anon_kb = kb;
    if (line.rfind("RssAnon:", 0) == 0 || line.rfind("RssShmem:", 0) == 0) f.own_kb += kb;
  }
  if (DIR* folder = opendir("/proc/self/fd")) {
    while (readdir(folder)) ++f.files;
    closedir(folder);
  }
  // Open MPI assigns the lowest free number, so that of a new communicator counts the live ones; MPICH one of those
  // freed last
  MPI_Comm probe = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &probe);
  f.communicator = MPI_Comm_c2f(probe);
  MPI_Comm_free(&probe);
  return f;
}

inline std::string in_words(const Figures& first, const Figures& last) {
  const auto both = [](long a, long b) { return std::to_string(a) + " -> " + std::to_string(b); };
  return "own " + both(first.own_kb, last.own_kb) + " kB, open files " + both(first.files, last.files) +
         ", communicator number " + both(first.communicator, last.communicator);
}

/// Since `first`, which has to have been measured.
/// @param spawned_kb  what Open MPI and PMIx may have kept for worlds that were spawned
inline void expect_flat(const Figures& first, const Figures& last, long spawned_kb = 0) {
  expect(first.files > 0, "there are figures of before");
  expect(last.communicator <= first.communicator + 2, "communicators are flat");
  expect(last.files <= first.files + 2, "open files are flat");
  expect(last.own_kb <= first.own_kb + 2048 + spawned_kb, "memory is flat");
}

} // namespace follow
