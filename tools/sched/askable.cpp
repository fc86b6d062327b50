// SPDX-License-Identifier: BSD-3-Clause
#include "askable.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sched {
namespace {

double latest_of(const std::vector<Askable::Member>& members) {
  double latest_s = -never;
  for (const Askable::Member& one : members) latest_s = std::max(latest_s, one.end_s);
  return latest_s;
}

std::vector<Askable::Member>::const_iterator behind(const std::vector<Askable::Member>& members, std::int64_t order) {
  return std::upper_bound(members.begin(), members.end(), order,
                          [](std::int64_t o, const Askable::Member& one) { return o < one.order; });
}

} // namespace

std::vector<Askable::ByStart::Block>::iterator Askable::ByStart::block_of(std::int64_t order) {
  const auto next = std::upper_bound(blocks_.begin(), blocks_.end(), order,
                                     [](std::int64_t o, const Block& block) { return o < block.first; });
  return next == blocks_.begin() ? next : std::prev(next);
}

void Askable::ByStart::count_from(std::vector<Block>::iterator block) {
  int before = 0;
  if (block != blocks_.begin()) {
    const Block& previous = *std::prev(block);
    before = previous.before + static_cast<int>(previous.members.size());
  }
  for (; block != blocks_.end(); ++block) {
    block->before = before;
    before += static_cast<int>(block->members.size());
  }
}

void Askable::ByStart::insert(const Member& one) {
  auto block = block_of(one.order);
  const auto is_full = [&] { return block->members.size() == most_in_block; };
  if (block == blocks_.end() || (is_full() && std::next(block) == blocks_.end() && one.order > last())) {
    blocks_.push_back({one.order, size(), one.end_s, {one}}); // who starts comes behind all: its block stays full
    return;
  }
  if (is_full()) {
    std::vector<Member>& all = block->members;
    const auto half = all.begin() + static_cast<std::ptrdiff_t>(most_in_block / 2);
    Block rest{half->order, 0, 0, {half, all.end()}};
    all.erase(half, all.end());
    rest.latest_s = latest_of(rest.members);
    block->latest_s = latest_of(all);
    block = std::prev(blocks_.insert(std::next(block), std::move(rest)));
    if (one.order > std::next(block)->first) ++block;
  }
  block->members.insert(behind(block->members, one.order), one);
  block->first = block->members.front().order;
  block->latest_s = std::max(block->latest_s, one.end_s);
  count_from(block == blocks_.begin() ? block : std::prev(block));
}

void Askable::ByStart::join_next(std::vector<Block>::iterator block) {
  const auto next = std::next(block);
  if (next == blocks_.end() || block->members.size() + next->members.size() > most_in_block / 2) return;
  block->members.insert(block->members.end(), next->members.begin(), next->members.end());
  block->latest_s = std::max(block->latest_s, next->latest_s);
  blocks_.erase(next);
}

void Askable::ByStart::erase(std::int64_t order) {
  auto block = block_of(order);
  const auto one = std::prev(behind(block->members, order));
  const bool was_latest = one->end_s == block->latest_s;
  block->members.erase(one);
  if (block->members.empty()) {
    count_from(blocks_.erase(block));
    return;
  }
  block->first = block->members.front().order;
  if (was_latest) block->latest_s = latest_of(block->members);
  // or those that stay long would keep a block each
  join_next(block);
  if (block != blocks_.begin()) join_next(--block);
  count_from(block);
}

int Askable::ByStart::up_to(std::int64_t order) const {
  const auto next = std::upper_bound(blocks_.begin(), blocks_.end(), order,
                                     [](std::int64_t o, const Block& block) { return o < block.first; });
  if (next == blocks_.begin()) return 0;
  const Block& block = *std::prev(next);
  return block.before + static_cast<int>(behind(block.members, order) - block.members.begin());
}

Askable::Classes::key_type Askable::key_of(const Job& job) {
  return {job.sizes, job.procs, job.priority, job.finish_by_s < never};
}

void Askable::count(const Job& job, int sign) {
  const int procs = sign * (job.procs - job.sizes->smallest());
  spare_ += procs;
  if (job.finish_by_s == never) spare_untimed_ += procs;
}

void Askable::insert(const Job& job, std::int64_t order, double end_s) {
  const auto key = key_of(job);
  auto at = classes_.find(key);
  if (at == classes_.end())
    at = classes_
             .emplace(key,
                      Class{job.sizes, job.priority, job.procs, job.sizes->above(job.procs), std::get<3>(key), {}, {}})
             .first;
  at->second.members.insert({end_s, order, &job});
  at->second.ends.insert({end_s, order, &job});
  count(job, 1);
}

void Askable::erase(const Job& job, std::int64_t order, double end_s) {
  const auto at = classes_.find(key_of(job));
  at->second.members.erase(order);
  at->second.ends.erase({end_s, order, &job});
  if (at->second.members.empty()) classes_.erase(at);
  count(job, -1);
}

} // namespace sched
