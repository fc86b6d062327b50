// SPDX-License-Identifier: BSD-3-Clause
// What all ranks of the host agree on, and the arrays that they offer each other.
#include <sched.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/mpi/wait.hpp"
#include "exec/liveness.hpp"
#include "exec/shared_control.hpp"

namespace redist::detail {
namespace {

/// A rank that copies in a fresh context has just made it together with the others; a core that goes idle until they
/// come costs more than this.
constexpr int yields_of_a_short_agreement = 400;

/// Between two looks of a process that has a core of its own.
void look_again() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

} // namespace

void SharedHost::minimum(std::int64_t (&numbers)[numbers_at_once], const Liveness& processes, bool is_short) {
  Control* place = control_of(0);
  const std::uint32_t now = place->generation.load(std::memory_order_acquire);
  auto& slot = place->numbers[now % 2];
  for (int k = 0; k < numbers_at_once; ++k) {
    std::int64_t seen = slot[k].load(std::memory_order_relaxed);
    while (numbers[k] < seen && !slot[k].compare_exchange_weak(seen, numbers[k])) {
    }
  }
  if (place->arrived.fetch_add(1) + 1 == static_cast<std::uint32_t>(size_)) {
    // all ranks have read the numbers of the time before: its slot is the next one
    for (auto& number : place->numbers[(now + 1) % 2]) number.store(INT64_MAX, std::memory_order_relaxed);
    place->arrived.store(0, std::memory_order_relaxed);
    place->generation.store(now + 1);
    futex_wake_all(&place->generation);
  } else {
    wait_for_all(now, processes, is_short);
  }
  for (int k = 0; k < numbers_at_once; ++k) numbers[k] = slot[k].load(std::memory_order_relaxed);
}

/// Until the generation is no longer `now`.
void SharedHost::wait_for_all(std::uint32_t now, const Liveness& processes, bool is_short) {
  std::atomic<std::uint32_t>& generation = control_of(0)->generation;
  const int yields = is_short ? yields_of_a_short_agreement : yields_before_sleep;
  const int looks = crowded_ ? yields : 2000;
  for (int k = 0; k < looks && generation.load(std::memory_order_acquire) == now; ++k) {
    if (crowded_)
      sched_yield();
    else
      look_again();
  }
  // A late rank may be waiting for a message of mine: stock PDGEMR2D, for one, returns with its sends under way, and
  // a large message gets on only while its sender is inside MPI. So a long wait looks into MPI from time to time
  // (seen as a deadlock with MPICH).
  double slice_s = first_slice_s, since_check_s = 0;
  while (generation.load(std::memory_order_acquire) == now) {
    futex_wait(&generation, now, slice_s);
    if (generation.load(std::memory_order_acquire) != now) break;
    base::let_mpi_progress(comm_);
    since_check_s += slice_s;
    slice_s = std::min(2 * slice_s, longest_slice_s);
    if (since_check_s < 1.0) continue;
    processes.check_all();
    since_check_s = 0;
  }
}

void SharedHost::offer(int transfer, const Offer& mine) {
  control_of(rank_)->offers[transfer] = mine;
}
SharedHost::Offer SharedHost::offer_of(int rank, int transfer) const {
  return control_of(rank)->offers[transfer];
}

const char* SharedHost::map_offer(int rank, const Offer& offer) {
  for (Mapped& m : mapped_)
    if (m.inode == offer.inode && m.segment.bytes() == static_cast<std::size_t>(offer.bytes)) {
      m.used = exchange_;
      return m.segment.data() + offer.offset;
    }
  Segment segment = Segment::open(pids_[static_cast<std::size_t>(rank)], static_cast<int>(offer.fd),
                                  static_cast<std::size_t>(offer.bytes), offer.inode);
  if (!segment) return nullptr;
  try {
    mapped_.push_back({std::move(segment), offer.inode, exchange_});
  } catch (const std::bad_alloc&) {
    return nullptr; // as when it cannot be mapped
  }
  return mapped_.back().segment.data() + offer.offset;
}

void SharedHost::drop_unused() {
  constexpr std::uint64_t kept_for = 32; // an array that its owner has freed holds no memory, so there is no hurry
  ++exchange_;
  mapped_.erase(
      std::remove_if(mapped_.begin(), mapped_.end(), [this](const Mapped& m) { return m.used + kept_for < exchange_; }),
      mapped_.end());
}

void SharedHost::tell_read(int rank) {
  control_of(rank)->finished_readers.fetch_add(1);
  ring(rank);
}

std::uint32_t SharedHost::finished_readers() const {
  return control_of(rank_)->finished_readers.load(std::memory_order_acquire);
}

} // namespace redist::detail
