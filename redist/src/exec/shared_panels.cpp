// SPDX-License-Identifier: BSD-3-Clause
// Panels, and the bells that announce them.
#include <sched.h>

#include "exec/shared_control.hpp"

namespace redist::detail {
namespace {

/// Of a rank whose whole exchange is a matter of microseconds: a core that goes idle meanwhile costs more than that.
constexpr int yields_of_a_short_wait = 32;

} // namespace

int SharedHost::free_panels() const {
  const PanelState* states = states_of(rank_);
  int free = 0;
  for (int k = 0; k < panel_count_; ++k) free += states[k].busy.load(std::memory_order_acquire) == 0 ? 1 : 0;
  return free;
}

int SharedHost::take_panel(int peer) {
  PanelState* states = states_of(rank_);
  std::uint64_t& known = known_to_[static_cast<std::size_t>(peer)];
  int found = -1;
  for (int k = 0; k < panel_count_; ++k) {
    const int index = (next_panel_ + k) % panel_count_;
    if (states[index].busy.load(std::memory_order_acquire) != 0) continue;
    const bool is_known = (known >> index & 1) != 0;
    if (found < 0 || is_known) found = index;
    if (is_known) break;
  }
  if (found < 0) return -1;
  next_panel_ = (found + 1) % panel_count_;
  known |= std::uint64_t{1} << found;
  states[found].busy.store(1, std::memory_order_relaxed);
  return found;
}

void SharedHost::ring(int rank) {
  Control* control = control_of(rank);
  control->bell.fetch_add(1); // sequentially consistent with `asleep`, see wait()
  if (control->asleep.load() != 0) futex_wake_all(&control->bell);
}

void SharedHost::post(int peer, int index, std::size_t bytes) {
  Queue* queue = queue_of(peer, rank_);
  const std::uint32_t head = queue->head.load(std::memory_order_relaxed);
  queue->entries[head % Queue::depth] = {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(bytes)};
  queue->head.store(head + 1, std::memory_order_release);
  ring_soon(peer);
}

void SharedHost::ring_soon(int peer) {
  if (!ring_pending_[static_cast<std::size_t>(peer)]) {
    ring_pending_[static_cast<std::size_t>(peer)] = true;
    to_ring_.push_back(peer);
  }
  if (!crowded_) flush();
}

void SharedHost::flush() {
  for (int peer : to_ring_) {
    ring_pending_[static_cast<std::size_t>(peer)] = false;
    ring(peer);
  }
  to_ring_.clear();
}

const char* SharedHost::take(int peer, std::size_t& bytes) const {
  Queue* queue = queue_of(rank_, peer);
  const std::uint32_t tail = queue->tail.load(std::memory_order_relaxed);
  if (queue->head.load(std::memory_order_acquire) == tail) return nullptr;
  const Queue::Entry entry = queue->entries[tail % Queue::depth];
  bytes = entry.bytes;
  return panel_of(peer, static_cast<int>(entry.panel));
}

void SharedHost::release(int peer) {
  Queue* queue = queue_of(rank_, peer);
  const std::uint32_t tail = queue->tail.load(std::memory_order_relaxed);
  const std::uint32_t index = queue->entries[tail % Queue::depth].panel;
  queue->tail.store(tail + 1, std::memory_order_release);
  states_of(peer)[index].busy.store(0, std::memory_order_release);
  ring_soon(peer);
}

void SharedHost::drop_panels() {
  std::size_t bytes = 0;
  for (int sender = 0; sender < size_; ++sender)
    while (reaches(sender) && take(sender, bytes) != nullptr) release(sender);
  flush();
}

std::uint32_t SharedHost::bell() const {
  return control_of(rank_)->bell.load();
}

void SharedHost::wait(std::uint32_t seen, double timeout_s, bool is_short) {
  Control* control = control_of(rank_);
  const int yields = is_short ? yields_of_a_short_wait : yields_before_sleep;
  for (int k = 0; k < yields; ++k) {
    if (control->bell.load() != seen) return;
    sched_yield();
  }
  // The ringing rank adds to the bell first and looks at `asleep` afterwards; here it is the other way round, so one
  // of the two notices.
  control->asleep.store(1);
  if (control->bell.load() == seen) futex_wait(&control->bell, seen, timeout_s);
  control->asleep.store(0);
}

} // namespace redist::detail
