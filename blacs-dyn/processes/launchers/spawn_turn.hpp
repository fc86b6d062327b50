// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "base/file_descriptor.hpp"

namespace blacs_dyn {

/// Held by one pool of an mpirun on this host while it counts free slots and starts processes. Two pools that count at
/// the same moment both find the last slots free; mpirun refuses one of them, and then never ends by itself. The end of
/// a process ends its turn.
class SpawnTurn {
public:
  SpawnTurn() = default;
  SpawnTurn(SpawnTurn&&) noexcept = default;
  SpawnTurn& operator=(SpawnTurn&& other) noexcept;
  ~SpawnTurn() { end(); }

  /// False: another process has it. True where it cannot be known: mpirun has no folder here, or one without locks.
  bool take();
  void end();
  bool is_mine() const { return static_cast<bool>(folder_); }

private:
  base::FileDescriptor folder_; ///< mpirun's own on this host, locked
};

} // namespace blacs_dyn
