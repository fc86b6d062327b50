// SPDX-License-Identifier: BSD-3-Clause
// Which ranks share memory with each other: found out once, when an executor is made.
#include "exec/shared_host.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <random>

#include "base/status.hpp"
#include "exec/liveness.hpp"
#include "exec/mpi_check.hpp"
#include "exec/shared_control.hpp"

namespace redist::detail {
namespace {

/// The cores that this process may use; empty when the system does not say (more than fit the type).
cpu_set_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  return set;
}

} // namespace

/// What the others need to find me; kernel 0: not to be found.
struct SharedHost::Card {
  std::uint64_t kernel, cookie[2];
  std::int64_t pid, fd, key, is_without_memory;
  cpu_set_t cores;
};

SharedHost::SharedHost(MPI_Comm comm, std::size_t panels_bytes, int key) : comm_(comm) {
  check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
  panel_bytes_ = std::max(panels_bytes / usual_panels / small_page * small_page, small_page);
  panel_count_ = static_cast<int>(std::clamp(panels_bytes / panel_bytes_, std::size_t{2}, std::size_t{Queue::depth}));
  const auto size = static_cast<std::size_t>(size_);
  states_at_ = sizeof(Control);
  seen_at_ = states_at_ + static_cast<std::size_t>(panel_count_) * sizeof(PanelState);
  queues_at_ = round_up(seen_at_ + size, 64);
  panels_at_ = round_up(queues_at_ + size * sizeof(Queue), small_page);
  const std::size_t bytes = panels_at_ + static_cast<std::size_t>(panel_count_) * panel_bytes_;

  std::vector<Card> cards(size);
  Card card{};
  try {
    make_segment(bytes);
    card = my_card(key);
  } catch (const std::bad_alloc&) {
    card.is_without_memory = 1;
  }
  check(MPI_Allgather(&card, sizeof card, MPI_BYTE, cards.data(), sizeof card, MPI_BYTE, comm), "MPI_Allgather");
  if (std::any_of(cards.begin(), cards.end(), [](const Card& other) { return other.is_without_memory != 0; }))
    throw base::Error(base::Status::out_of_memory, "redist: executor: no memory for its shared panels on some rank");
  for (const Card& other : cards) pids_.push_back(other.pid);
  find_others(cards, bytes);
  int all = 1;
  for (const Peer& peer : peers_) all = peer.control != nullptr ? all : 0;
  // after which all have signed, and no rank needs my descriptor any more
  check(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  mine_.close_fd();
  drop_those_who_did_not_find_me();
  everybody_ = all == 1;
  count_cores(cards);
}

/// And all else that takes memory. Where there is no memfd the segment stays empty.
/// @throws std::bad_alloc
void SharedHost::make_segment(std::size_t bytes) {
  const auto size = static_cast<std::size_t>(size_);
  peers_.resize(size);
  pids_.reserve(size);
  ring_pending_.assign(size, false);
  known_to_.assign(size, 0);
  to_ring_.reserve(size);
  mine_ = Segment::create(bytes);
  if (!mine_) return;
  std::random_device random;
  auto* control = reinterpret_cast<Control*>(mine_.data()); // all atomics begin as zero
  for (auto& word : control->cookie) word = (static_cast<std::uint64_t>(random()) << 32) | random();
  for (auto& word : control->numbers)
    for (auto& number : word) number.store(INT64_MAX, std::memory_order_relaxed);
  control->panels_bytes = static_cast<std::int64_t>(bytes);
  peers_[static_cast<std::size_t>(rank_)].control = control;
}

SharedHost::Card SharedHost::my_card(int key) const {
  if (!mine_) return {};
  const Control* control = control_of(rank_);
  return {kernel_id(), {control->cookie[0], control->cookie[1]}, getpid(), mine_.fd(), key, 0, usable_cores()};
}

/// Opens the segments of the ranks that claim to run under this kernel, and signs in them.
void SharedHost::find_others(const std::vector<Card>& cards, std::size_t bytes) {
  const Card& mine = cards[static_cast<std::size_t>(rank_)];
  for (int r = 0; r < size_; ++r) {
    const Card& other = cards[static_cast<std::size_t>(r)];
    if (r == rank_ || mine.kernel == 0 || other.kernel != mine.kernel || other.key != mine.key) continue;
    Peer& peer = peers_[static_cast<std::size_t>(r)];
    peer.segment = Segment::open(other.pid, static_cast<int>(other.fd), bytes);
    if (!peer.segment) continue;
    auto* control = reinterpret_cast<Control*>(peer.segment.data());
    if (control->cookie[0] != other.cookie[0] || control->cookie[1] != other.cookie[1] ||
        control->panels_bytes != static_cast<std::int64_t>(bytes)) { // another process that has this number here
      peer.segment = Segment();
      continue;
    }
    peer.control = control;
    seen_of(r)[rank_].store(1, std::memory_order_release);
  }
}

void SharedHost::drop_those_who_did_not_find_me() {
  if (!mine_) return;
  for (int r = 0; r < size_; ++r) {
    Peer& peer = peers_[static_cast<std::size_t>(r)];
    if (r == rank_ || peer.control == nullptr) continue;
    if (seen_of(rank_)[r].load(std::memory_order_acquire) == 1) {
      ++reached_;
    } else {
      peer.control = nullptr;
      peer.segment = Segment();
    }
  }
}

/// Each rank may be bound to a core of its own: what counts is what they have together.
void SharedHost::count_cores(const std::vector<Card>& cards) {
  cpu_set_t together = usable_cores();
  for (int r = 0; r < size_; ++r)
    if (reaches(r)) CPU_OR(&together, &together, &cards[static_cast<std::size_t>(r)].cores);
  cores_ = CPU_COUNT(&together);
  if (cores_ == 0) cores_ = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  crowded_ = reached_ > cores_;
}

} // namespace redist::detail
