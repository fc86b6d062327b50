// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

namespace redist::detail {

/// What the others need to know of a process to find it under their kernel.
struct ProcessCard {
  std::uint64_t kernel = 0; ///< the same under one running kernel, different elsewhere; 0 when it is not known
  std::int64_t pid = 0;
  std::int64_t start = 0; ///< when it began, in ticks since the start of the kernel: numbers are used again

  static ProcessCard mine();
};

/// Tells whether the processes of a communicator that run under this kernel are still there. MPI's launcher
/// normally ends the whole job when one of them dies; where it does not (mpirun --enable-recovery, some
/// schedulers), a process that waits for the dead one in shared memory would wait for ever.
class Liveness {
public:
  /// On rank `rank`. cards: of all ranks. Local.
  Liveness(const std::vector<ProcessCard>& cards, int rank);
  /// @throws Error{timeout} when `rank` has ended. Others than those under this kernel are taken to live.
  /// Reads one small file of /proc.
  void check(int rank) const;
  void check_all() const;

private:
  struct Process {
    std::int64_t pid = 0; ///< 0: not to be watched
    std::int64_t start = 0;
  };
  std::vector<Process> processes_;
  int rank_ = 0;
};

} // namespace redist::detail
