// SPDX-License-Identifier: BSD-3-Clause
// What the exchanges over one communicator share: the communicator, shared memory, panels. Exchanges are prepared for
// it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include <mpi.h>

#include "base/status.hpp"
#include "exec/liveness.hpp"
#include "exec/shared_host.hpp"
#include "exec/wire.hpp"
#include "redist/executor.hpp"

namespace redist::detail {

struct Prepared;

/// What a rank has for the others before all agree; less is more.
enum class PutDown : std::int64_t { nothing = 0, panels = -1, sources = -2 };

struct Connections {
  MPI_Comm comm = MPI_COMM_NULL; ///< a duplicate of our own, or lent
  int rank = 0;
  int size = 1;
  ExecuteOptions options;
  std::unique_ptr<Liveness> processes;
  std::unique_ptr<Wire> wire;
  std::unique_ptr<SharedHost> host; ///< null: everything goes over MPI
  std::uint64_t round = 0;
  std::uint32_t readers_expected = 0; ///< count of readers at which my sources are free
  Prepared* active = nullptr;         ///< the exchange under way
  bool broken = false; ///< MPI failed or a partner died: the communicator is in an unknown state, not touched again

  /// Collective. @throws as Executor's constructor; the duplicate is freed when all ranks throw
  Connections(MPI_Comm parent, const ExecuteOptions& with);
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  bool reaches(int peer) const { return host && host->reaches(peer); }
  /// @throws Error{bad_state} unless an exchange can begin
  void require_ready() const;
  void require_open() const;
  /// Smallest of each number over all ranks. Collective. `is_short`: the others are expected within microseconds.
  void minimum_of(std::int64_t (&numbers)[SharedHost::numbers_at_once], bool is_short = false);
  /// One outcome for all ranks, of what went `wrong` on this one: the worst status wins and the lowest rank that has it
  /// is named. Returns whether some rank offers an array to be read in place; nothing when the signatures differ or are
  /// negative and `may_differ`. When it comes to nothing or throws, panels that were put down are gone.
  std::optional<bool> agree(const std::optional<base::Error>& wrong, std::int64_t signature, PutDown ahead,
                            bool may_differ, bool is_short = false);
  /// Collective. Frees communicator, panels and shared memory.
  void close();

private:
  void set_up();
  std::optional<bool> agreed(const std::optional<base::Error>& wrong,
                             const std::int64_t (&all)[SharedHost::numbers_at_once], bool may_differ) const;
};

} // namespace redist::detail
