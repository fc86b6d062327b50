// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.hpp"
#include "exec/connections.hpp"
#include "exec/group.hpp"
#include "exec/turn.hpp"
#include "exec/work.hpp"
#include "redist/executor.hpp"
#include "redist/rank_plan.hpp"

namespace redist::detail {

/// One rank's part of an exchange: streams, groups, copy runs, turns and all buffers. It does not depend on the
/// addresses of the matrices. A run sets the pointers and moves the cursors; it allocates nothing.
struct Prepared {
  /// Local. @throws Error{bad_type, bad_argument}, std::bad_alloc
  Prepared(std::shared_ptr<Connections> with, std::vector<const RankPlan*> plans, Slab part);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  const std::shared_ptr<Connections> ranks; ///< after the executor was closed they refuse
  const Slab slab;
  std::int64_t signature = 0; ///< the same on all ranks when they prepared the same
  bool is_short = false;      ///< its panels are filled before the agreement
  std::int64_t wire_in = 0;   ///< bytes that come over MPI
  Work work;
  std::vector<Group> groups;              ///< of the outgoing streams through shared memory
  std::vector<std::size_t> group_of_lead; ///< by stream; of the first stream of each group
  std::vector<Piece> pulls; ///< of messages to this rank that can be read in place; the last one is done first

  // where a run is
  double began_s = 0;
  Turn wire_turn, host_turn;
  std::vector<std::size_t> host_in; ///< incoming streams through shared memory that are not through
  std::vector<LocalCopy> copies;    ///< still to do, the last one first
  std::vector<int> pulls_left;      ///< by rank
  /// By rank: a bit for each of its matrices that I read in place; for my own those that others read.
  std::vector<std::uint64_t> matrices_read;
  std::vector<int> taken; ///< panels for the group that is being packed
  Outgoing outgoing;      ///< what is packed into them
  ExecuteReport report;

  /// Sets the pointers, and offers what others may read after the agreement: sources or filled panels. Writes to no
  /// target. Local. @throws Error{bad_argument, null_pointer}, with nothing offered
  PutDown bind(const std::vector<Pointers>& pointers);
  /// After the agreement, when a rank offers an array: all ranks read in place or, when one of them cannot map what
  /// it needs, none. Collective.
  void read_in_place();
  /// Everything is agreed: from here on data move.
  void start();
  /// Moves what can be moved without waiting. True when something did.
  bool progress();
  bool done() const;
  /// Waits for the end. may_call_mpi: false in the helper thread, where nothing of the exchange goes over MPI.
  void drain(bool may_call_mpi);
  /// The report of a run that is done.
  ExecuteReport end();
  bool wire_done() const;

private:
  void make_turns();
  void find_pulls();
  const Message& pulled_message_of(const Piece& pull) const;
  void add_keeps();
  bool offer();
  bool map_pulls();
  void leave_to_readers();
  bool copy_slice();
  bool send_group(const Group& group);
  bool send_ahead();
  bool receive_panels();
  bool host_progress();
  void look_for_the_dead() const;
};

/// The beginning of an exchange on all ranks, with one outcome. Collective.
/// @param exchange null when there is none on this rank: it failed to prepare (`wrong` says why), or has none of
/// `number`
/// @param number   when given: only if it is the same on all ranks and not negative. False: nothing was begun.
bool begin_run(Connections& ranks, Prepared* exchange, const std::vector<Pointers>& pointers,
               std::optional<base::Error> wrong, const std::int64_t* number = nullptr);
/// Waits for the end of the one under way.
ExecuteReport finish_run(Connections& ranks);

} // namespace redist::detail
