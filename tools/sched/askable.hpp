// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "policy.hpp"

namespace sched {

/// Running jobs that may be asked to change: resizable, without a request, not unresponsive.
///
/// Kept in classes of jobs that are alike but for their steps: of thousands that run a policy looks at the first of
/// each class only. Jobs of one `sizes` (the object) are taken to have the same step times and cost of a change.
class Askable {
public:
  struct Member {
    double end_s; ///< where it stays on its size
    std::int64_t order;
    const Job* job;
  };
  struct StartsBefore {
    bool operator()(const Member& a, const Member& b) const { return a.order < b.order; }
  };
  /// In blocks, so that it costs no look at each to say how many started before one, and who of them ends late.
  class ByStart {
    struct Block {
      std::int64_t first; ///< order
      int before;         ///< members of the blocks before
      double latest_s;    ///< the last end
      std::vector<Member> members;
    };

  public:
    class const_iterator {
    public:
      using iterator_category = std::forward_iterator_tag;
      using value_type = Member;
      using difference_type = std::ptrdiff_t;
      using pointer = const Member*;
      using reference = const Member&;
      const_iterator() = default;
      reference operator*() const { return block_->members[at_]; }
      pointer operator->() const { return &block_->members[at_]; }
      const_iterator& operator++() {
        if (++at_ == block_->members.size()) {
          ++block_;
          at_ = 0;
        }
        return *this;
      }
      const_iterator operator++(int) {
        const const_iterator was = *this;
        ++*this;
        return was;
      }
      bool operator==(const const_iterator& other) const { return block_ == other.block_ && at_ == other.at_; }
      bool operator!=(const const_iterator& other) const { return !(*this == other); }

    private:
      friend class ByStart;
      explicit const_iterator(const Block* block) : block_(block) {}
      const Block* block_ = nullptr;
      std::size_t at_ = 0;
    };

    void insert(const Member& one);
    void erase(std::int64_t order);
    const_iterator begin() const { return const_iterator(blocks_.data()); }
    const_iterator end() const { return const_iterator(blocks_.data() + blocks_.size()); }
    bool empty() const { return blocks_.empty(); }
    int size() const { return empty() ? 0 : blocks_.back().before + static_cast<int>(blocks_.back().members.size()); }
    std::int64_t first() const { return blocks_.front().first; } ///< order
    std::int64_t last() const { return blocks_.back().members.back().order; }
    /// How many started up to `order`.
    int up_to(std::int64_t order) const;
    /// Those from place `from` to before place `to` (0: the first) that end behind `end_s`.
    /// Cost: a look at each block, and at the members of those in which there is one.
    template <class See> void ending_behind(double end_s, int from, int to, See&& see) const {
      auto block = std::upper_bound(blocks_.begin(), blocks_.end(), from,
                                    [](int place, const Block& b) { return place < b.before; });
      if (block != blocks_.begin()) --block;
      for (; block != blocks_.end() && block->before < to; ++block) {
        if (!(block->latest_s > end_s)) continue;
        const int end = std::min(to - block->before, static_cast<int>(block->members.size()));
        for (int k = std::max(from - block->before, 0); k < end; ++k)
          if (const Member& one = block->members[static_cast<std::size_t>(k)]; one.end_s > end_s) see(one);
      }
    }

  private:
    static constexpr std::size_t most_in_block = 128;
    std::vector<Block>::iterator block_of(std::int64_t order);
    void count_from(std::vector<Block>::iterator block);
    void join_next(std::vector<Block>::iterator block);
    std::vector<Block> blocks_; ///< none is empty
  };
  struct EndsBefore {
    bool operator()(const Member& a, const Member& b) const {
      return a.end_s != b.end_s ? a.end_s < b.end_s : a.order < b.order;
    }
  };
  using ByEnd = std::set<Member, EndsBefore>;
  struct Class {
    const Sizes* sizes;
    int priority, procs;
    int next;      ///< size above; 0: none
    bool is_timed; ///< each has a finish-by time
    ByStart members;
    ByEnd ends; ///< the same
  };
  using Classes = std::map<std::tuple<const Sizes*, int, int, bool>, Class>;

  /// Closer to its end the steps that a job has left are rounding errors, and may be below 0: such jobs are no class.
  static constexpr double near_end_s = 1e-2;

  /// @param order  of its start; the same when it is taken out, and the same end.
  void insert(const Job& job, std::int64_t order, double end_s);
  void erase(const Job& job, std::int64_t order, double end_s);
  /// A job was asked to give so many processors up (below 0: it has, or does not).
  void add_coming(int procs) { coming_ += procs; }

  const Classes& classes() const { return classes_; } ///< none is empty; in any order
  int coming() const { return coming_; }              ///< processors that are being given up
  int spare() const { return spare_; } ///< what they have above their smallest sizes; those with a finish-by time too
  int spare_untimed() const { return spare_untimed_; } ///< without these

private:
  static Classes::key_type key_of(const Job& job);
  void count(const Job& job, int sign);

  Classes classes_;
  int coming_ = 0, spare_ = 0, spare_untimed_ = 0;
};

} // namespace sched
