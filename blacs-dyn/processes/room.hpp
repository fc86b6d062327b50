// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/memory.hpp"
#include "control/limits.hpp"

namespace blacs_dyn {

constexpr int usual_per_core = 16; ///< processes a core, at most: with this number all still make progress

/// The needs of new processes and the available resources, in figures. An unknown figure is left out of the decision.
struct Room {
  struct Host {
    std::string name;
    int cores = 0;           ///< 0: not known
    std::int64_t living = 0; ///< processes of the application there
    std::int64_t fresh = 0;  ///< that would come
  };
  std::vector<Host> hosts;
  int per_core = usual_per_core; ///< 0: no ceiling

  // the host of process 0
  std::int64_t fresh_here = 0;
  std::vector<control::Limit> threads;
  int threads_each = 1;
  base::FreeMemory free;
  std::int64_t bytes_each = 0;   ///< of a new process, without its part of the matrices
  std::int64_t matrix_bytes = 0; ///< that the matrices take here beyond their old arrays while they move
  control::Limit descriptors;    ///< of what starts the processes; most 0: not known
  int descriptors_each = 5;      ///< Open MPI's mpirun: 4 for good (terminal, standard input, error, its socket), and
                                 ///< another while a process starts
  int descriptors_spare = 16;
};

/// Of memory, on the host of process 0.
std::int64_t bytes_needed(const Room& room);

/// Why the new processes would not find room; empty when they would. Pure.
std::string refusal(const Room& room);

} // namespace blacs_dyn
