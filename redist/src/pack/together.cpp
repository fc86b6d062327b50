// SPDX-License-Identifier: BSD-3-Clause
#include "pack/together.hpp"

#include <algorithm>

#include "pack/column.hpp"
#include "pack/copy.hpp"
#include "pack/cursor.hpp"
#include "pack/scaled.hpp"
#include "pack/turned.hpp"

namespace redist::detail {

bool can_pack_together(const PackedView& source, const PackedView* target) noexcept {
  return !source.transposed && (target == nullptr || (source.conj_size == 0 && target->row_limits == nullptr));
}

namespace {

/// Pieces of less than that in the mean are not worth an order of their own.
constexpr std::int64_t shortest_mean_bytes = 128;

} // namespace

std::vector<CopyRun> copy_runs_of(const std::vector<Outgoing>& all) {
  std::vector<CopyRun> runs;
  std::int64_t bytes = 0, pieces = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::int64_t esize = all[k].source.esize;
    const bool is_packed = !all[k].target;
    std::int64_t next = 0;
    for (const Run& r : all[k].source.rows->runs) {
      if (r.len * r.count == 0) continue;
      const bool is_ascending = r.from >= next && (r.count == 1 || r.from_step >= r.len);
      if (is_packed && !is_ascending) return {};
      next = r.from + (r.count - 1) * r.from_step + r.len;
      const bool is_dense = r.from_step == r.len && (is_packed || r.to_step == r.len);
      const std::int64_t count = is_dense ? 1 : r.count, len = is_dense ? r.len * r.count : r.len;
      pieces += count;
      bytes += r.len * r.count * esize;
      if (pieces > bytes / shortest_mean_bytes + 16) return {};
      for (std::int64_t t = 0; t < count; ++t)
        runs.push_back({k, (r.from + t * r.from_step) * esize, (r.to + t * r.to_step) * esize,
                        static_cast<std::size_t>(len * esize)});
    }
  }
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  return runs;
}

namespace {

/// One column, run by run. @param to its index in the target of what stays here
void pack_in_order(const std::vector<Outgoing>& all, const std::vector<CopyRun>& runs, const char* column,
                   std::int64_t to, std::vector<PackedWriter>& packed) {
  for (const CopyRun& run : runs) {
    const std::optional<PackedView>& target = all[run.message].target;
    if (!target) {
      packed[run.message].put(column + run.from, run.bytes);
      continue;
    }
    char* at = target->base + to * target->lld * target->esize + run.to;
    if (target->scaling == nullptr && target->non_temporal && run.bytes >= non_temporal_from)
      copy_non_temporal(at, column + run.from, run.bytes);
    else
      put(*target, at, column + run.from, run.bytes);
  }
}

/// One column, one message after the other.
void pack_in_turn(const std::vector<Outgoing>& all, const char* column, std::int64_t to,
                  std::vector<PackedWriter>& packed, Prefetch next) {
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::optional<PackedView>& target = all[k].target;
    if (!target)
      pack_column(all[k].source, column, packed[k], next);
    else
      copy_column(all[k].source, *target, column, target->base + to * target->lld * target->esize, next);
  }
}

/// The rows from the first to the last that any of the messages takes, in bytes of a column, to be asked for while the
/// column before is copied: at a pace that is their share of what is copied. Nothing when too few of them are taken.
Prefetch next_column(const std::vector<Outgoing>& all, std::int64_t esize) {
  std::int64_t begin = INT64_MAX, end = 0, taken = 0;
  for (const Outgoing& one : all) {
    taken += one.source.rows->total;
    for (const Run& r : one.source.rows->runs) {
      begin = std::min(begin, r.from);
      end = std::max(end, r.from + (r.count - 1) * r.from_step + r.len);
    }
  }
  Prefetch next;
  if (taken == 0) return next;
  next.left = (end - begin) * esize;
  next.pace = (next.left * 16 + taken * esize - 1) / (taken * esize);
  if (next.pace > 4 * 16) return {};
  next.from_top = begin * esize;
  return next;
}

} // namespace

void pack_together(const std::vector<Outgoing>& all, const std::vector<CopyRun>& runs, std::int64_t first,
                   std::int64_t count, std::vector<PackedWriter>& packed) {
  if (all.empty() || count <= 0) return;
  const PackedView& view = all.front().source;
  const std::int64_t stride = view.lld * view.esize;
  packed.clear();
  packed.reserve(all.size());
  for (const Outgoing& one : all) packed.emplace_back(one.packed, one.non_temporal && one.source.conj_size == 0);
  const bool is_ordered = !runs.empty();
  const Prefetch next = is_ordered ? Prefetch{} : next_column(all, view.esize);
  Cursor col(*view.cols, first);
  for (std::int64_t c = 0; c < count; ++c) {
    const char* column = view.base + col.from() * stride;
    const std::int64_t to = col.to();
    col.advance(1);
    if (is_ordered)
      pack_in_order(all, runs, column, to, packed);
    else
      pack_in_turn(all, column, to, packed, col.at_end() ? Prefetch{} : next.of(view.base + col.from() * stride));
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    const PackedView& source = all[k].source;
    if (all[k].target) {
      if (all[k].target->non_temporal) finish_non_temporal();
      continue;
    }
    packed[k].end();
    if (all[k].non_temporal) finish_non_temporal();
    conjugate(source, all[k].packed, source.rows->total * count);
  }
}

} // namespace redist::detail
