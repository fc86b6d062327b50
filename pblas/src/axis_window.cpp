// SPDX-License-Identifier: BSD-3-Clause
#include "axis_window.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/index.hpp"

namespace pblas {

using base::at;
using gridmap::Axis;

namespace {
/// The block that an index is in: its number and its first index.
struct Block {
  std::int64_t number = 0, first = 0;
};

Block block_of(const Axis& axis, std::int64_t index) {
  const std::int64_t period = std::accumulate(axis.sizes.begin(), axis.sizes.end(), std::int64_t{0});
  if (period == 0) return {};
  const auto k = static_cast<std::int64_t>(axis.sizes.size());
  Block block{index / period * k, index / period * period};
  for (std::size_t j = 0; block.first + axis.sizes[j] <= index; ++j) {
    block.first += axis.sizes[j];
    ++block.number;
  }
  return block;
}
} // namespace

AxisWindow::AxisWindow(Axis axis, std::int64_t first, std::int64_t count)
    : axis_(std::move(axis)), first_(first), count_(count) {
  local_counts_.assign(at(axis_.nprocs), 0);
  for (int p = 0; p < axis_.nprocs; ++p) local_firsts_.push_back(first_ == 0 ? 0 : axis_.count_before(p, first_));
  if (count_ == 0) return;
  const auto k = static_cast<std::int64_t>(axis_.sizes.size());
  Block block = block_of(axis_, first_);
  for (std::int64_t done = 0; done < count_; ++block.number) {
    const std::int64_t end = block.first + axis_.sizes[at(block.number % k)] - first_;
    const std::int64_t part = std::min(end, count_) - done;
    block.first = end + first_;
    if (part <= 0) continue;
    const int owner = static_cast<int>((axis_.src + block.number) % axis_.nprocs);
    std::int64_t& local = local_counts_[at(owner)];
    if (!pieces_.empty() && pieces_.back().owner == owner)
      pieces_.back().count += part;
    else
      pieces_.push_back({done, part, owner, local});
    local += part;
    done += part;
  }
}

const AxisWindow::Piece& AxisWindow::piece_of(std::int64_t i) const {
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), i, [](std::int64_t x, const Piece& p) { return x < p.first; });
  return *std::prev(after);
}

std::vector<AxisWindow::Piece> AxisWindow::pieces_between(std::int64_t i, std::int64_t j) const {
  std::vector<Piece> cut;
  if (i >= j) return cut;
  for (auto piece = pieces_.begin() + (&piece_of(i) - pieces_.data()); piece != pieces_.end() && piece->first < j;
       ++piece) {
    const std::int64_t first = std::max(i, piece->first), last = std::min(j, piece->last());
    cut.push_back({first, last - first, piece->owner, piece->local + first - piece->first});
  }
  return cut;
}

std::vector<std::int64_t> AxisWindow::indices(int p) const {
  std::vector<std::int64_t> mine;
  mine.reserve(at(local_count(p)));
  for (const Piece& piece : pieces_)
    if (piece.owner == p)
      for (std::int64_t i = piece.first; i < piece.last(); ++i) mine.push_back(i);
  return mine;
}

std::vector<int> AxisWindow::owners_in(const AxisWindow& other, int p) const {
  std::vector<int> owners;
  owners.reserve(at(local_count(p)));
  for (const Piece& piece : pieces_)
    if (piece.owner == p)
      for (const Piece& there : other.pieces_between(piece.first, piece.last()))
        owners.insert(owners.end(), at(there.count), there.owner);
  return owners;
}

bool AxisWindow::lies_as(const AxisWindow& other) const {
  return count_ == other.count_ && axis_.nprocs == other.axis_.nprocs && pieces_.size() == other.pieces_.size() &&
         std::equal(pieces_.begin(), pieces_.end(), other.pieces_.begin(),
                    [](const Piece& a, const Piece& b) { return a.first == b.first && a.owner == b.owner; });
}

AxisWindow AxisWindow::trimmed() const {
  const Block block = block_of(axis_, first_);
  Axis cut = axis_;
  const auto k = static_cast<std::int64_t>(cut.sizes.size());
  std::rotate(cut.sizes.begin(), cut.sizes.begin() + static_cast<std::ptrdiff_t>(block.number % k), cut.sizes.end());
  cut.src = static_cast<int>((cut.src + block.number) % cut.nprocs);
  cut.n = first_ - block.first + count_;
  return {std::move(cut), first_ - block.first, count_};
}

} // namespace pblas
