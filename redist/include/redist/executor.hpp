// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <mpi.h>

#include "base/status.hpp"
#include "redist/rank_plan.hpp"

namespace redist {

enum class Transport { automatic, mpi, shared };

/// How a rank writes what another rank of the host will read. A non-temporal store costs a trip to memory; through it,
/// the reader's core has to fetch lines that belong to the writer's, which is slower still where the two cores share no
/// cache.
enum class PanelWrites { automatic, cached, non_temporal };

struct ExecuteOptions {
  Transport transport = Transport::automatic;        ///< automatic: shared memory between ranks found to be on one
                                                     ///< host, MPI between hosts
  std::size_t extra_bytes = std::size_t{64} << 20;   ///< cap on buffers per process; in use are at most 6 MB
  PanelWrites panel_writes = PanelWrites::automatic; ///< automatic: non-temporal from 1 MB on
  int host_key = 0;                                  ///< ranks with different keys are taken to be on different hosts
  bool is_comm_lent = false;                         ///< the communicator has no other user while the executor is open:
                                                     ///< it is not duplicated
};

struct ExecuteReport {
  // seconds of this rank
  double transfer_s = 0; ///< the whole exchange, from the agreement before it to its end
  double pack_s = 0;     ///< packing and unpacking
  double copy_s = 0;     ///< data that stay, and data fetched from others' memory
  double wait_s = 0;     ///< nothing to do
  double wire_s =
      0; ///< the part of wait_s in which messages of its own were under way; the rest waits for others to begin
  std::int64_t bytes_out = 0, bytes_in = 0, bytes_kept = 0; ///< this rank
  std::size_t peak_bytes = 0;                               ///< buffers this rank had at most
};

class Exchange;

/// The ranks of one communicator, what they share and the panels between them. Made once, used for any number of
/// exchanges.
class Executor {
public:
  /// Collective over comm, which is duplicated unless it is lent. Finds out which ranks share a host.
  /// @throws Error{mpi_failure, out_of_memory; unsupported with Transport::shared when some ranks share no
  /// memory}, agreed.
  explicit Executor(MPI_Comm comm, ExecuteOptions options = {});
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  /// Collective: all matrices in one round, prepared for this once (see Exchange). Each element is moved once; nothing
  /// is sent when source and target rank agree. `plans` are this rank's, one for each matrix, and `pointers` say where
  /// that matrix lies. The same of the calls below.
  ExecuteReport execute(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers);
  /// In place of a call that begins an exchange, on a rank that cannot make it: all ranks throw this error. Collective
  /// with that call on the others.
  [[noreturn]] void refuse(const base::Error& why);
  /// Exchange::run() when all ranks bring one and the same number, which is not negative; otherwise nothing is moved,
  /// and false on all ranks. For callers that keep exchanges by number and need to know whether all ranks still have
  /// this one. Costs no more than a run. With a negative number `exchange` may be null.
  bool run_if_same(std::int64_t number, const Exchange* exchange, const std::vector<Pointers>& pointers);
  /// execute() in two halves; between them neither side's memory may be touched. Where nothing goes over MPI, what goes
  /// through shared memory moves on by itself, in a thread of its own that ends with finish(). Otherwise all moves in
  /// advance() and finish().
  void start(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers);
  /// Moves what can be moved without waiting. True when all is done and finish() will not wait. Local;
  /// between start() and finish().
  bool advance();
  ExecuteReport finish();
  /// The same as execute(), but the sources are given up: in `slabs` rounds their columns go and the pages
  /// under them are given back to the system, so that a rank never holds much more than the larger of its two
  /// shares. The content of the sources is lost; after the first round only a failure of MPI or the death of a rank
  /// stops it. Works for memory straight from the system (SharedArray, mmap, large malloc). Nothing is given back when
  /// transposed, of a source that lies between the ends of another one, or where Pointers::keeps_from says so. What
  /// lies between the columns of a source stays. Collective, `slabs` is global.
  ExecuteReport execute_in_place(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers,
                                 int slabs = usual_slabs);
  /// Collective. Frees the duplicate communicator, if there is one, and all shared memory.
  void close();
  /// Collective: of each number the smallest of all ranks, through shared memory when all share it. Not between start()
  /// and finish().
  std::array<std::int64_t, 4> minimum(const std::array<std::int64_t, 4>& mine);
  /// Ranks that share memory with this one, itself included.
  int ranks_on_host() const;
  bool shares_memory_with(int rank) const; ///< itself included
  /// Whether all ranks share memory. The same on all of them.
  bool is_on_one_host() const;
  /// Cores that those may use together, 1 when it is alone.
  int cores_on_host() const;

private:
  friend class Exchange;
  struct Impl;
  Impl& open() const;
  Impl& under_way() const;
  std::unique_ptr<Impl> impl_;
};

} // namespace redist
