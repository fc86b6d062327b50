// SPDX-License-Identifier: BSD-3-Clause
#include "profile.hpp"

#include <algorithm>

namespace sched {
namespace {

constexpr std::size_t block_most = 128;

} // namespace

void Profile::Block::measure() {
  const auto [low, high] =
      std::minmax_element(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.free < b.free; });
  least = low->free + added;
  most = high->free + added;
}

Profile::Profile(int procs, double begin_s) : blocks_(1) {
  blocks_[0].steps.push_back({begin_s, procs});
  blocks_[0].measure();
}

/// The step that contains `time`; the first one when it lies before all.
Profile::Place Profile::find(double time) const {
  const auto block = std::upper_bound(blocks_.begin(), blocks_.end(), time,
                                      [](double t, const Block& b) { return t < b.steps.front().at; }) -
                     blocks_.begin();
  if (block == 0) return {0, 0};
  const std::vector<Step>& steps = blocks_[static_cast<std::size_t>(block - 1)].steps;
  const auto step =
      std::upper_bound(steps.begin(), steps.end(), time, [](double t, const Step& s) { return t < s.at; }) -
      steps.begin();
  return {static_cast<std::size_t>(block - 1), static_cast<std::size_t>(step - 1)};
}

/// A step begins at `time` afterwards.
void Profile::cut(double time) {
  const auto [b, s] = find(time);
  Block& block = blocks_[b];
  if (block.steps[s].at == time) return;
  block.steps.insert(block.steps.begin() + static_cast<std::ptrdiff_t>(s + 1), {time, block.steps[s].free});
  if (block.steps.size() <= block_most) return;
  Block second;
  const auto half = block.steps.begin() + static_cast<std::ptrdiff_t>(block.steps.size() / 2);
  second.steps.assign(half, block.steps.end());
  second.added = block.added;
  second.measure();
  block.steps.erase(half, block.steps.end());
  block.measure();
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(b + 1), std::move(second));
}

/// Removes the step that begins at `time` where it changes nothing.
void Profile::heal(double time) {
  const auto [b, s] = find(time);
  Block& block = blocks_[b];
  if (block.steps[s].at != time || (b == 0 && s == 0)) return;
  const Block& before_block = s > 0 ? block : blocks_[b - 1];
  const int before = (s > 0 ? block.steps[s - 1] : before_block.steps.back()).free + before_block.added;
  if (before != block.steps[s].free + block.added) return;
  block.steps.erase(block.steps.begin() + static_cast<std::ptrdiff_t>(s));
  if (block.steps.empty())
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(b));
  else
    block.measure();
}

void Profile::add(double from, double to, int procs) {
  if (!(from < to) || procs == 0) return;
  cut(from);
  if (to < never) cut(to);
  const Place first = find(from);
  for (std::size_t b = first.block; b < blocks_.size() && blocks_[b].steps.front().at < to; ++b) {
    Block& block = blocks_[b];
    const std::size_t begin = b == first.block ? first.step : 0;
    if (begin == 0 && (b + 1 < blocks_.size() ? blocks_[b + 1].steps.front().at <= to : to == never)) {
      block.added += procs;
      block.least += procs;
      block.most += procs;
      continue;
    }
    for (std::size_t s = begin; s < block.steps.size() && block.steps[s].at < to; ++s) block.steps[s].free += procs;
    block.measure();
  }
  heal(from);
  if (to < never) heal(to);
}

void Profile::forget_before(double time) {
  const auto [b, s] = find(time);
  blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(b));
  if (s < block_most / 4) return; // now and then is enough
  Block& block = blocks_.front();
  block.steps.erase(block.steps.begin(), block.steps.begin() + static_cast<std::ptrdiff_t>(s));
  block.measure();
}

int Profile::free_at(double time) const {
  const auto [b, s] = find(time);
  return blocks_[b].steps[s].free + blocks_[b].added;
}

double Profile::first_with(int procs, double from) const {
  auto [b, s] = find(from);
  for (; b < blocks_.size(); ++b, s = 0) {
    const Block& block = blocks_[b];
    if (block.most < procs) continue;
    for (; s < block.steps.size(); ++s)
      if (block.steps[s].free + block.added >= procs) return std::max(from, block.steps[s].at);
  }
  return never;
}

double Profile::first_below(int procs, double from) const {
  auto [b, s] = find(from);
  for (; b < blocks_.size(); ++b, s = 0) {
    const Block& block = blocks_[b];
    if (block.least >= procs) continue;
    for (; s < block.steps.size(); ++s)
      if (block.steps[s].free + block.added < procs) return std::max(from, block.steps[s].at);
  }
  return never;
}

double Profile::earliest(int procs, double length, double from, double limit) const {
  for (double begin = from;;) {
    begin = first_with(procs, begin);
    if (begin >= limit) return limit;
    const double end = first_below(procs, begin);
    if (end >= std::min(begin + length, limit)) return begin;
    begin = end;
  }
}

} // namespace sched
