// SPDX-License-Identifier: BSD-3-Clause
// Which ranks share memory with each other: found out once, when an executor is made.
#include "exec/shared_host.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "exec/liveness.hpp"
#include "exec/mpi_check.hpp"
#include "exec/shared_control.hpp"

namespace redist::detail {
namespace {

constexpr std::size_t panel_unit = 4096; ///< a panel is some of these

/// The cores that this process may use; empty when the system does not say (more than fit the type).
cpu_set_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  return set;
}

} // namespace

SharedHost::SharedHost(MPI_Comm comm, std::size_t panels_bytes, int key) : comm_(comm), key_(key) {
  check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
  make_segment(lay_out(panels_bytes));
}

/// @return the bytes of a segment; not more for fewer bytes of panels
std::size_t SharedHost::lay_out(std::size_t panels_bytes) {
  panel_bytes_ = std::max(panels_bytes / usual_panels / panel_unit * panel_unit, panel_unit);
  panel_count_ = static_cast<int>(std::clamp(panels_bytes / panel_bytes_, std::size_t{2}, std::size_t{Queue::depth}));
  const auto size = static_cast<std::size_t>(size_);
  states_at_ = sizeof(Control);
  seen_at_ = states_at_ + static_cast<std::size_t>(panel_count_) * sizeof(PanelState);
  queues_at_ = round_up(seen_at_ + size, 64);
  panels_at_ = round_up(queues_at_ + size * sizeof(Queue), panel_unit);
  return panels_at_ + static_cast<std::size_t>(panel_count_) * panel_bytes_;
}

void SharedHost::find_others(const std::vector<Card>& cards, const std::vector<ProcessCard>& processes,
                             std::size_t panels_bytes) {
  for (const ProcessCard& other : processes) pids_.push_back(other.pid);
  open_segments(cards, processes, lay_out(panels_bytes));
  int all = 1;
  for (const Peer& peer : peers_) all = peer.control != nullptr ? all : 0;
  // after which all have signed, and no rank needs my descriptor any more
  check(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
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

SharedHost::Card SharedHost::card() const {
  if (!mine_) return {{}, -1, 0, key_, usable_cores()};
  const Control* control = control_of(rank_);
  return {{control->cookie[0], control->cookie[1]}, mine_.fd(), control->panels_bytes, key_, usable_cores()};
}

/// Opens the segments of the ranks that claim to run under this kernel, and signs in them.
void SharedHost::open_segments(const std::vector<Card>& cards, const std::vector<ProcessCard>& processes,
                               std::size_t bytes) {
  const std::uint64_t kernel = processes[static_cast<std::size_t>(rank_)].kernel;
  if (!mine_ || kernel == 0) return;
  for (int r = 0; r < size_; ++r) {
    const Card& other = cards[static_cast<std::size_t>(r)];
    const ProcessCard& process = processes[static_cast<std::size_t>(r)];
    if (r == rank_ || other.fd < 0 || process.kernel != kernel || other.key != key_) continue;
    Peer& peer = peers_[static_cast<std::size_t>(r)];
    peer.segment = Segment::open(process.pid, static_cast<int>(other.fd), bytes);
    if (!peer.segment) continue;
    auto* control = reinterpret_cast<Control*>(peer.segment.data());
    if (control->cookie[0] != other.cookie[0] || control->cookie[1] != other.cookie[1] ||
        control->panels_bytes != other.bytes) { // another process that has this number here
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
