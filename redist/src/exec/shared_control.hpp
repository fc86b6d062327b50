// SPDX-License-Identifier: BSD-3-Clause
// What lies in the shared segment of each rank, and sleeping on a word of it.
#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "exec/shared_host.hpp"

namespace redist::detail {

/// Waking a sleeper whose core has gone idle takes longer than all the other ranks of that core need to find
/// out that they have nothing to do; more than a few rounds of that only cost.
constexpr int yields_before_sleep = 4;

inline long futex(std::atomic<std::uint32_t>* word, int what, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), what, value, timeout, nullptr, 0);
}

inline void futex_wait(std::atomic<std::uint32_t>* word, std::uint32_t seen, double timeout_s) {
  timespec t;
  t.tv_sec = static_cast<time_t>(timeout_s);
  t.tv_nsec = static_cast<long>((timeout_s - static_cast<double>(t.tv_sec)) * 1e9);
  futex(word, FUTEX_WAIT, seen, &t);
}

inline void futex_wake_all(std::atomic<std::uint32_t>* word) {
  futex(word, FUTEX_WAKE, 0x7fffffff, nullptr);
}

struct alignas(64) SharedHost::Control {
  std::uint64_t cookie[2];
  std::int64_t panels_bytes;
  alignas(64) std::atomic<std::uint32_t> bell;
  std::atomic<std::uint32_t> asleep;
  // the meeting place of minimum(), used in rank 0's segment only
  alignas(64) std::atomic<std::uint32_t> generation;
  std::atomic<std::uint32_t> arrived;
  std::atomic<std::int64_t> numbers[2][numbers_at_once];
  alignas(64) std::atomic<std::uint32_t> finished_readers;
  alignas(64) Offer offers[offers_at_most];
};

struct alignas(64) SharedHost::PanelState {
  std::atomic<std::uint32_t> busy;
};

struct alignas(64) SharedHost::Queue {
  static constexpr std::uint32_t depth = 64; ///< more than a sender has panels: it cannot overflow
  struct Entry {
    std::uint32_t panel;
    std::uint32_t bytes;
  };
  std::atomic<std::uint32_t> head;             ///< written by the sender
  alignas(64) std::atomic<std::uint32_t> tail; ///< written by the receiver
  alignas(64) Entry entries[depth];
};

inline SharedHost::PanelState* SharedHost::states_of(int rank) const {
  return reinterpret_cast<PanelState*>(base_of(rank) + states_at_);
}
inline std::atomic<std::uint8_t>* SharedHost::seen_of(int rank) const {
  return reinterpret_cast<std::atomic<std::uint8_t>*>(base_of(rank) + seen_at_);
}
inline SharedHost::Queue* SharedHost::queue_of(int rank, int sender) const {
  return reinterpret_cast<Queue*>(base_of(rank) + queues_at_) + sender;
}

} // namespace redist::detail
