// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include "exec/segment.hpp"

namespace redist::detail {

class Liveness;
struct ProcessCard;

/// The ranks of a communicator that share memory with this one, and a small segment of panels per rank for
/// what they send each other.
///
/// Which ranks those are is tried, not assumed: every rank opens the segments of the ranks that claim to run
/// under the same kernel, looks for the random number that came by MPI, signs in them, and counts a partner
/// only when both found each other.
///
///     my segment:  bell | panel states | signatures | one queue per sender | panels
///
/// A sender fills a free panel of its own segment and puts its number into the receiver's queue; the receiver
/// unpacks it in place and marks it free. A rank that has nothing to do sleeps on its bell (futex).
class SharedHost {
public:
  static constexpr std::size_t usual_panels = 8;
  /// What the others need to find my segment.
  struct Card {
    std::uint64_t cookie[2];
    std::int64_t fd; ///< -1: there is none
    std::int64_t bytes, key;
    cpu_set_t cores; ///< those that this rank may use
  };
  /// Makes my segment. Local. @param comm borrowed, outlives this. @param panels_bytes all panels of this rank
  /// together: usual_panels of them, or, where that would make them smaller than a page, fewer of one page, at least
  /// two. @param key ranks with different keys do not share.
  /// @throws Error{mpi_failure}, std::bad_alloc
  SharedHost(MPI_Comm comm, std::size_t panels_bytes, int key);
  Card card() const;
  /// Once, before all else. @param cards, processes of all ranks. @param panels_bytes the least of all ranks'.
  /// Collective. @throws Error{mpi_failure}
  void find_others(const std::vector<Card>& cards, const std::vector<ProcessCard>& processes, std::size_t panels_bytes);

  bool reaches(int rank) const {
    return peers_[static_cast<std::size_t>(rank)].control != nullptr;
  }                                             ///< myself included
  bool everybody() const { return everybody_; } ///< the same on all ranks
  int reached() const { return reached_; }
  int cores() const { return cores_; } ///< that the ranks reached may use together

  /// How many of my panels are free.
  int free_panels() const;
  /// A free panel of mine, taken for `peer`; -1: none. If possible one that `peer` has had before: each page of a panel
  /// that it has never looked at costs it a part of a page fault.
  int take_panel(int peer);
  int panel_count() const { return panel_count_; }
  char* panel(int index) const { return panel_of(rank_, index); }
  std::size_t panel_bytes() const { return panel_bytes_; }
  /// Gives panel `index` to `peer`, which is notified at the next flush().
  void post(int peer, int index, std::size_t bytes);
  /// Wakes those that were given panels since the last flush.
  void flush();
  /// The oldest panel from `peer` that is still to be unpacked; null: none.
  const char* take(int peer, std::size_t& bytes) const;
  /// Done with it.
  void release(int peer);

  /// Takes all panels that were posted to me and leaves them unread.
  void drop_panels();

  /// Of a sleep between two looks into MPI: often enough for what passes through it meanwhile, too seldom to cost
  /// anything. The first is short, and each is twice the one before.
  static constexpr double first_slice_s = 1e-3, longest_slice_s = 16e-3;
  /// Value of my bell, to be read before looking for work.
  std::uint32_t bell() const;
  /// Leaves the core to others until the bell differs from `seen`, at most `timeout_s`. is_short: probably
  /// it will not be long.
  void wait(std::uint32_t seen, double timeout_s, bool is_short);

  /// Smallest of each number over all ranks; only when everybody().
  /// @throws Error{timeout} when one of them has died.
  static constexpr int numbers_at_once = 4;
  void minimum(std::int64_t (&numbers)[numbers_at_once], const Liveness& processes, bool is_short);

  /// Where the source of one transfer can be read by the others.
  struct Offer {
    std::int64_t fd = -1; ///< -1: not at all
    std::int64_t bytes = 0, offset = 0, lld = 0;
    std::uint64_t inode = 0;
  };
  static constexpr int offers_at_most = 64;
  /// Writes mine; the others may read it after the next agreement.
  void offer(int transfer, const Offer& mine);
  Offer offer_of(int rank, int transfer) const;
  /// The array that `rank` offers, mapped here; null when that does not work. Kept for the next exchange.
  const char* map_offer(int rank, const Offer& offer);
  /// Called after every exchange: unmaps what has not been used for a while.
  void drop_unused();
  /// Tells `rank` that I have read all I need of its arrays.
  void tell_read(int rank);
  /// Calls of tell_read for this rank since the beginning.
  std::uint32_t finished_readers() const;

  std::size_t buffer_bytes() const { return mine_.bytes(); }

private:
  struct Control;
  struct Mapped {
    Segment segment;
    std::uint64_t inode = 0;
    std::uint64_t used = 0; ///< exchange of the last use
  };
  struct PanelState;
  struct Queue;
  struct Peer {
    Segment segment;
    Control* control = nullptr;
  };
  Control* control_of(int rank) const { return peers_[static_cast<std::size_t>(rank)].control; }
  char* base_of(int rank) const { return reinterpret_cast<char*>(control_of(rank)); }
  PanelState* states_of(int rank) const;
  std::atomic<std::uint8_t>* seen_of(int rank) const;
  Queue* queue_of(int rank, int sender) const;
  char* panel_of(int rank, int index) const {
    return base_of(rank) + panels_at_ + static_cast<std::size_t>(index) * panel_bytes_;
  }
  void ring(int rank);
  /// At the next flush(), which comes at once where each rank has a core.
  void ring_soon(int peer);
  void wait_for_all(std::uint32_t now, const Liveness& processes, bool is_short);
  std::size_t lay_out(std::size_t panels_bytes);
  void make_segment(std::size_t bytes);
  void open_segments(const std::vector<Card>& cards, const std::vector<ProcessCard>& processes, std::size_t bytes);
  void drop_those_who_did_not_find_me();
  void count_cores(const std::vector<Card>& cards);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, key_ = 0;
  std::size_t panel_bytes_ = 0;
  int panel_count_ = 0;
  std::size_t states_at_ = 0, seen_at_ = 0, queues_at_ = 0, panels_at_ = 0;
  Segment mine_;
  std::vector<std::int64_t> pids_;
  std::vector<Mapped> mapped_;
  std::uint64_t exchange_ = 0;
  std::vector<Peer> peers_;
  std::vector<int> to_ring_;
  std::vector<bool> ring_pending_;
  bool everybody_ = false, crowded_ = false;
  int reached_ = 1, cores_ = 1;
  int next_panel_ = 0;
  std::vector<std::uint64_t> known_to_; ///< per rank, one bit for each panel of mine that it has had
};

} // namespace redist::detail
