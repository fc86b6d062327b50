// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <vector>

#include "policy.hpp"

namespace sched {

/// Jobs that wait, in the order of the queue: priority, then id.
///
/// Kept in blocks that know the smallest size of their jobs, and when these have to start: most of a long queue waits
/// for more processors than are free, and is passed over by blocks. With n jobs about n/128 + 128 looks.
class Queue {
public:
  struct Entry {
    const Job* job;
    int smallest;                                                 ///< its smallest size
    double latest_s;                                              ///< latest_start_s; least where it has no time
    bool is_late(double now_s) const { return latest_s < now_s; } ///< or has no time
  };
  struct Place {
    std::size_t block = 0, entry = 0;
  };

  static bool goes_before(const Job& a, const Job& b);

  Queue() = default;
  explicit Queue(const std::vector<const Job*>& jobs); ///< which are in order

  void insert(const Job& job); ///< what it asks for, and until when, is asked here once
  void erase(const Job& job);

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int least_procs() const; ///< on which any of them could start; most int where nobody waits
  bool has_late(double now_s) const;
  std::vector<Entry> timed(double now_s) const; ///< that are not late
  /// From `place` on the first of at most `procs`, and `place` is behind it then. Null: none.
  const Job* next(Place& place, int procs) const;
  /// From `place` on the first late one of at most `procs`, and `place` is behind it then. Null: none.
  const Entry* next_late(Place& place, int procs, double now_s) const;

private:
  struct Block {
    std::vector<Entry> entries;
    int smallest = 0;
    double first_s = 0, last_s = 0; ///< of their latest_s
    void measure();
  };
  std::vector<Block>::iterator block_of(const Job& job);

  std::vector<Block> blocks_; ///< none is empty
  std::size_t size_ = 0;
};

} // namespace sched
