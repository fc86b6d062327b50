// SPDX-License-Identifier: BSD-3-Clause
#include "queue.hpp"

#include <algorithm>
#include <limits>

#include "promise.hpp"

namespace sched {
namespace {

constexpr std::size_t entries_most = 256;

Queue::Entry entry_of(const Job& job) {
  const double latest_s = latest_start_s(job, -never);
  return {&job, job.sizes->smallest(), latest_s < never ? latest_s : -never};
}

} // namespace

bool Queue::goes_before(const Job& a, const Job& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.id < b.id;
}

void Queue::Block::measure() {
  smallest = std::numeric_limits<int>::max();
  first_s = never;
  last_s = -never;
  for (const Entry& e : entries) {
    smallest = std::min(smallest, e.smallest);
    first_s = std::min(first_s, e.latest_s);
    last_s = std::max(last_s, e.latest_s);
  }
}

Queue::Queue(const std::vector<const Job*>& jobs) : size_(jobs.size()) {
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    if (k % entries_most == 0) blocks_.emplace_back();
    blocks_.back().entries.push_back(entry_of(*jobs[k]));
  }
  for (Block& block : blocks_) block.measure();
}

/// The one that it belongs to: the last that does not begin behind it.
std::vector<Queue::Block>::iterator Queue::block_of(const Job& job) {
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), job, [](const Job& wanted, const Block& block) {
    return goes_before(wanted, *block.entries.front().job);
  });
  return after == blocks_.begin() ? after : after - 1;
}

void Queue::insert(const Job& job) {
  ++size_;
  if (blocks_.empty()) blocks_.emplace_back();
  const auto block = blocks_.size() == 1 ? blocks_.begin() : block_of(job);
  std::vector<Entry>& entries = block->entries;
  entries.insert(std::upper_bound(entries.begin(), entries.end(), job,
                                  [](const Job& wanted, const Entry& e) { return goes_before(wanted, *e.job); }),
                 entry_of(job));
  block->measure();
  if (entries.size() <= entries_most) return;
  Block second;
  second.entries.assign(entries.begin() + entries_most / 2, entries.end());
  entries.resize(entries_most / 2);
  block->measure();
  second.measure();
  blocks_.insert(block + 1, std::move(second));
}

void Queue::erase(const Job& job) {
  const auto block = block_of(job);
  std::vector<Entry>& entries = block->entries;
  entries.erase(std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.job == &job; }));
  --size_;
  if (entries.empty())
    blocks_.erase(block);
  else
    block->measure();
}

int Queue::least_procs() const {
  int least = std::numeric_limits<int>::max();
  for (const Block& block : blocks_) least = std::min(least, block.smallest);
  return least;
}

bool Queue::has_late(double now_s) const {
  return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& block) { return block.first_s < now_s; });
}

std::vector<Queue::Entry> Queue::timed(double now_s) const {
  std::vector<Entry> found;
  for (const Block& block : blocks_) {
    if (block.last_s < now_s) continue;
    for (const Entry& e : block.entries)
      if (!e.is_late(now_s)) found.push_back(e);
  }
  return found;
}

const Job* Queue::next(Place& place, int procs) const {
  for (; place.block < blocks_.size(); place = {place.block + 1, 0}) {
    const Block& block = blocks_[place.block];
    if (block.smallest > procs) continue;
    for (std::size_t k = place.entry; k < block.entries.size(); ++k) {
      if (block.entries[k].smallest > procs) continue;
      place.entry = k + 1;
      return block.entries[k].job;
    }
  }
  return nullptr;
}

const Queue::Entry* Queue::next_late(Place& place, int procs, double now_s) const {
  for (; place.block < blocks_.size(); place = {place.block + 1, 0}) {
    const Block& block = blocks_[place.block];
    if (block.smallest > procs || !(block.first_s < now_s)) continue;
    for (std::size_t k = place.entry; k < block.entries.size(); ++k) {
      const Entry& e = block.entries[k];
      if (e.smallest > procs || !e.is_late(now_s)) continue;
      place.entry = k + 1;
      return &e;
    }
  }
  return nullptr;
}

} // namespace sched
