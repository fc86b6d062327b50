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

void Outgoing::reserve(std::size_t members) {
  sources.reserve(members + 1);
  packed.reserve(members);
  room.reserve(members);
  writers.reserve(members);
}

namespace {

/// Pieces of less than that in the mean are not worth an order of their own.
constexpr std::int64_t shortest_mean_bytes = 128;

} // namespace

std::vector<CopyRun> copy_runs_of(const Outgoing& all) {
  std::vector<CopyRun> runs;
  std::int64_t bytes = 0, pieces = 0;
  for (std::size_t k = 0; k < all.sources.size(); ++k) {
    const std::int64_t esize = all.sources[k].esize;
    const bool is_packed = k < all.leaving();
    std::int64_t next = 0;
    for (const Run& r : all.sources[k].rows->runs) {
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

/// One column, run by run. @param to_column of the target, for what stays here
void pack_in_order(Outgoing& all, const std::vector<CopyRun>& runs, const char* column, char* to_column) {
  const std::size_t leaving = all.leaving();
  for (const CopyRun& run : runs) {
    if (run.message < leaving) {
      all.writers[run.message].put(column + run.from, run.bytes);
      continue;
    }
    const PackedView& target = *all.target;
    if (target.scaling == nullptr && target.non_temporal && run.bytes >= non_temporal_from)
      copy_non_temporal(to_column + run.to, column + run.from, run.bytes);
    else
      put(target, to_column + run.to, column + run.from, run.bytes);
  }
}

/// One column, one message after the other.
void pack_in_turn(Outgoing& all, const char* column, char* to_column, Prefetch next) {
  const std::size_t leaving = all.leaving();
  for (std::size_t k = 0; k < leaving; ++k) pack_column(all.sources[k], column, all.writers[k], next);
  if (all.target) copy_column(all.sources.back(), *all.target, column, to_column, next);
}

/// The rows from the first to the last that any of the messages takes, in bytes of a column, to be asked for while the
/// column before is copied: at a pace that is their share of what is copied. Nothing when too few of them are taken.
Prefetch next_column(const std::vector<PackedView>& sources) {
  const std::int64_t esize = sources.front().esize;
  std::int64_t begin = INT64_MAX, end = 0, taken = 0;
  for (const PackedView& source : sources) {
    taken += source.rows->total;
    for (const Run& r : source.rows->runs) {
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

void pack_together(Outgoing& all, const std::vector<CopyRun>& runs, std::int64_t first, std::int64_t count) {
  if (all.sources.empty() || count <= 0) return;
  const PackedView& view = all.sources.front();
  const std::size_t leaving = all.leaving();
  all.writers.clear();
  for (std::size_t k = 0; k < leaving; ++k)
    all.writers.emplace_back(all.packed[k], all.non_temporal && all.sources[k].conj_size == 0);
  const bool is_ordered = !runs.empty();
  const Prefetch next = is_ordered ? Prefetch{} : next_column(all.sources);
  Cursor col(*view.cols, first);
  for (std::int64_t c = 0; c < count; ++c) {
    const char* column = view.column(col.from());
    char* to_column = all.target ? all.target->column(col.to()) : nullptr;
    col.advance(1);
    if (is_ordered)
      pack_in_order(all, runs, column, to_column);
    else
      pack_in_turn(all, column, to_column, col.at_end() ? Prefetch{} : next.of(view.column(col.from())));
  }
  for (std::size_t k = 0; k < leaving; ++k) {
    const PackedView& source = all.sources[k];
    const std::int64_t elements = source.rows->total * count;
    all.writers[k].end();
    if (all.non_temporal) finish_non_temporal();
    conjugate(source, all.packed[k], elements);
    all.packed[k] += elements * source.esize;
  }
  if (all.target && all.target->non_temporal) finish_non_temporal();
}

} // namespace redist::detail
