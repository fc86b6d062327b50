// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/index.hpp"
#include "base/status.hpp"
#include "plan/axis_table.hpp"
#include "redist/halo.hpp"

namespace redist {
namespace {

using base::Error;
using base::Status;

using base::at;

/// All stretches of an axis in global order, and those of each position.
struct Stretches {
  struct One : HaloStretch {
    int position = 0;
  };
  std::vector<One> all;
  std::vector<std::int64_t> ghosted_size; ///< by position
  std::vector<std::int64_t> local_size;

  Stretches(const detail::AxisTable& axis, const HaloSides& sides)
      : ghosted_size(at(axis.nprocs()), 0), local_size(at(axis.nprocs()), 0) {
    for (std::int64_t cycle = 0; cycle * axis.cycle() < axis.n(); ++cycle)
      for (std::size_t j = 0; j < axis.blocks(); ++j) {
        const std::int64_t begin = cycle * axis.cycle() + axis.start(j);
        const std::int64_t size = std::min(axis.size(j), axis.n() - begin);
        if (size <= 0) break;
        const int p = axis.owner(j);
        if (!all.empty() && all.back().position == p) {
          all.back().size += size;
          ghosted_size[at(p)] += size;
        } else {
          One one;
          one.glo = begin;
          one.loc = local_size[at(p)];
          one.ghosted = ghosted_size[at(p)] + sides.lo;
          one.size = size;
          one.position = p;
          all.push_back(one);
          ghosted_size[at(p)] += size + std::int64_t{sides.lo} + sides.hi;
        }
        local_size[at(p)] += size;
      }
  }

  std::vector<HaloStretch> of(int p) const {
    std::vector<HaloStretch> mine;
    for (const One& one : all)
      if (one.position == p) mine.push_back(one);
    return mine;
  }
};

/// Appends a stretch as one more piece of the last run where it continues that.
void append(RunList& list, std::int64_t from, std::int64_t to, std::int64_t len) {
  list.total += len;
  if (!list.runs.empty()) {
    Run& last = list.runs.back();
    if (last.count == 1 && last.from + last.len == from && last.to + last.len == to) {
      last.len += len;
      return;
    }
    if (last.len == len && last.count == 1) {
      last.from_step = from - last.from;
      last.to_step = to - last.to;
      last.count = 2;
      return;
    }
    if (last.len == len && last.from + last.count * last.from_step == from &&
        last.to + last.count * last.to_step == to) {
      ++last.count;
      return;
    }
  }
  list.runs.push_back({from, to, len, 1, 0, 0});
}

/// What one position has to do with the others along an axis: border indices by the position they come from
/// (`in`) or go to (`out`), and its own elements.
struct AxisHalo {
  std::map<int, RunList> in, out;
  RunList own;

  AxisHalo(const Stretches& axis, int p, std::int64_t n, const HaloSides& sides) {
    for (const Stretches::One& one : axis.all)
      if (one.position == p) append(own, one.ghosted, one.ghosted, one.size);
    const auto count = static_cast<std::int64_t>(axis.all.size());
    for (std::int64_t k = 0; k < count; ++k) {
      const Stretches::One& mine = axis.all[at(k)];
      // Borders `steps` stretches away; around a short axis that is periodic the same one may come several
      // times.
      const auto side = [&](bool before, int width) {
        std::int64_t filled = 0;
        for (std::int64_t step = 1; filled < width; ++step) {
          const std::int64_t other_at = before ? k - step : k + step;
          if (!sides.periodic && (other_at < 0 || other_at >= count)) return;
          const Stretches::One& other = axis.all[at(((other_at % count) + count) % count)];
          const std::int64_t len = std::min(other.size, width - filled);
          const std::int64_t from = before ? other.ghosted + other.size - len : other.ghosted;
          const std::int64_t to = before ? mine.ghosted - filled - len : mine.ghosted + mine.size + filled;
          // a position that sends to itself has both ends
          if (mine.position == p) append(in[other.position], from, to, len);
          if (other.position == p) append(out[mine.position], from, to, len);
          filled += len;
        }
      };
      if (n > 0) {
        side(true, sides.lo);
        side(false, sides.hi);
      }
    }
  }
};

} // namespace

std::int64_t HaloMessage::elements() const {
  std::int64_t sum = 0;
  for (const Message& part : parts) sum += part.elements();
  return sum;
}

HaloPlan::HaloPlan(Layout layout, HaloOptions options) : layout_(std::move(layout)), options_(options) {
  layout_.validate("the halo's");
  if (layout_.replicated)
    throw Error(Status::bad_argument,
                "redist: halo: the layout is replicated, expected one whose blocks have neighbours elsewhere");
  const HaloSides &rows = options_.rows, &cols = options_.cols;
  if (rows.lo < 0 || rows.hi < 0 || cols.lo < 0 || cols.hi < 0 || rows.lo + rows.hi + cols.lo + cols.hi == 0)
    throw Error(Status::bad_argument,
                fmt::format("redist: halo: {} rows above and {} below, {} columns left and {} right of each block, "
                            "expected none below 0 and one above",
                            rows.lo, rows.hi, cols.lo, cols.hi));
}

RankHalo HaloPlan::for_rank(int rank) const {
  RankHalo plan;
  plan.rank = rank;
  const auto position = layout_.grid.position_of(rank);
  const int p = position.first, q = position.second; // lambdas may not capture names of a structured binding
  if (p < 0) return plan;
  const Stretches rows(detail::AxisTable(layout_.rows), options_.rows);
  const Stretches cols(detail::AxisTable(layout_.cols), options_.cols);
  plan.rows = rows.ghosted_size[at(p)];
  plan.cols = cols.ghosted_size[at(q)];
  plan.m_loc = rows.local_size[at(p)];
  plan.n_loc = cols.local_size[at(q)];
  plan.row_stretches = rows.of(p);
  plan.col_stretches = cols.of(q);
  AxisHalo along_rows(rows, p, layout_.rows.n, options_.rows);
  AxisHalo along_cols(cols, q, layout_.cols.n, options_.cols);
  const auto store = [&plan](RunList& list) {
    plan.lists.push_back(std::move(list));
    return &plan.lists.back();
  };
  const RunList *own_rows = store(along_rows.own), *own_cols = store(along_cols.own);
  const bool corners = options_.neighbours == Neighbours::eight;
  const auto messages = [&](std::map<int, RunList>& row_lists, std::map<int, RunList>& col_lists) {
    std::map<int, const RunList*> rows_of, cols_of;
    for (auto& [from, list] : row_lists) rows_of[from] = store(list);
    for (auto& [from, list] : col_lists) cols_of[from] = store(list);
    std::map<int, HaloMessage> by_rank;
    const auto add = [&](int row, int col, const RunList* r, const RunList* c) {
      if (r->total == 0 || c->total == 0) return;
      const int peer = layout_.grid.rank_at(row, col);
      by_rank[peer].peer = peer;
      by_rank[peer].parts.push_back({peer, r, c});
    };
    // Both ends meet the parts of a pair in this order: above and below, left and right, corners.
    for (const auto& [row, list] : rows_of) add(row, q, list, own_cols);
    for (const auto& [col, list] : cols_of) add(p, col, own_rows, list);
    if (corners)
      for (const auto& [row, row_list] : rows_of)
        for (const auto& [col, col_list] : cols_of) add(row, col, row_list, col_list);
    return by_rank;
  };
  for (auto& [peer, message] : messages(along_rows.in, along_cols.in))
    (peer == rank ? plan.keeps : plan.recvs).push_back(std::move(message));
  for (auto& [peer, message] : messages(along_rows.out, along_cols.out))
    if (peer != rank) plan.sends.push_back(std::move(message));
  return plan;
}

} // namespace redist
