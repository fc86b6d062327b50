// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace blacs_dyn {

/// What a move of matrices takes of the memory of one host, in bytes. Pure.
struct MoveMemory {
  double before = 0; ///< the old local arrays of its processes
  double after = 0;  ///< the new ones
  double slab = 0;   ///< what one round of a move in slabs holds twice
  int processes = 0;

  /// A matrix of which the host has `old_bytes` and gets `new_bytes`. columns: of a local array, the fewest; an array
  /// of few columns goes in as few slabs.
  void add(double old_bytes, double new_bytes, std::int64_t columns);
  std::int64_t with_both() const; ///< more than now, where the old arrays stay until the new ones are filled
  std::int64_t in_slabs() const;  ///< the same where the old arrays are given back as they go
};

} // namespace blacs_dyn
