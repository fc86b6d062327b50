// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"
#include "base/status.hpp"
#include "plan/axis_table.hpp"
#include "redist/halo.hpp"

namespace redist {
namespace {

using base::at;
using base::Error;
using base::Status;
using detail::append;

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

/// What one position has to do with the others along an axis: border indices by the position they come from
/// (`in`) or go to (`out`), its own elements, and where they are in the local array.
struct AxisHalo {
  std::map<int, RunList> in, out;
  RunList own, from_local;

  AxisHalo(const Stretches& axis, int p, std::int64_t n, const HaloSides& sides) {
    for (const Stretches::One& one : axis.all)
      if (one.position == p) {
        append(own, one.ghosted, one.ghosted, one.size);
        append(from_local, one.loc, one.ghosted, one.size);
      }
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

/// A dimension, as one of its parts sees it.
struct Dimension {
  Stretches axis;
  int part;
  AxisHalo halo;

  Dimension(const HaloDimension& of, int at_part)
      : axis(detail::AxisTable(of.axis), of.sides), part(at_part), halo(axis, at_part, of.axis.n, of.sides) {}
  int parts() const { return static_cast<int>(axis.local_size.size()); }
  HaloPart mine() const { return {axis.ghosted_size[at(part)], axis.local_size[at(part)], axis.of(part)}; }
};

/// Those that make the rows, or the columns.
using Dimensions = std::vector<Dimension>;

/// Several dimensions as one index: those of their first ones, each at every place of one more. inner_from and inner_to
/// are the extents of the first ones on both sides.
RunList times(const RunList& inner, std::int64_t inner_from, std::int64_t inner_to, const RunList& outer) {
  RunList all;
  for (const Run& o : outer.runs)
    for (std::int64_t t = 0; t < o.count; ++t)
      for (std::int64_t k = 0; k < o.len; ++k) {
        const std::int64_t from = (o.from + t * o.from_step + k) * inner_from;
        const std::int64_t to = (o.to + t * o.to_step + k) * inner_to;
        for (const Run& i : inner.runs)
          for (std::int64_t s = 0; s < i.count; ++s)
            append(all, from + i.from + s * i.from_step, to + i.to + s * i.to_step, i.len);
      }
  return all;
}

/// Of no dimensions.
RunList one_index() {
  RunList one;
  append(one, 0, 0, 1);
  return one;
}

/// The indices of rows, or columns, that go one way, and the other end.
struct Link {
  int position = 0; ///< of the other end in its row or column of the grid
  RunList list = one_index();
  std::int64_t from = 1, to = 1; ///< extents of the ghosted arrays so far
};

/// Bit d of `borders` says that indices of dimension d are those of a border; else they are the process's own.
/// comes_in: to this process; else from it.
std::vector<Link> links(const Dimensions& dimensions, unsigned borders, bool comes_in) {
  std::vector<Link> all(1);
  int stride = 1;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const Dimension& dimension = dimensions[d];
    const std::int64_t mine = dimension.axis.ghosted_size[at(dimension.part)];
    std::vector<Link> next;
    const auto add = [&](const Link& link, int part, const RunList& list) {
      const std::int64_t others = dimension.axis.ghosted_size[at(part)];
      next.push_back({link.position + stride * part, d == 0 ? list : times(link.list, link.from, link.to, list),
                      link.from * (comes_in ? others : mine), link.to * (comes_in ? mine : others)});
    };
    for (const Link& link : all)
      if ((borders >> d & 1U) == 0)
        add(link, dimension.part, dimension.halo.own);
      else
        for (const auto& [part, list] : comes_in ? dimension.halo.in : dimension.halo.out) add(link, part, list);
    all = std::move(next);
    stride *= dimension.parts();
  }
  return all;
}

Dimensions seen_from(const std::vector<HaloDimension>& dimensions, int position) {
  Dimensions all;
  for (const HaloDimension& each : dimensions) {
    all.emplace_back(each, position % each.axis.nprocs);
    position /= each.axis.nprocs;
  }
  return all;
}

RunList from_local(const Dimensions& dimensions) {
  RunList all = dimensions.empty() ? one_index() : dimensions[0].halo.from_local;
  std::int64_t local = 1, ghosted = 1;
  for (std::size_t d = 1; d < dimensions.size(); ++d) {
    const Dimension& inner = dimensions[d - 1];
    local *= inner.axis.local_size[at(inner.part)];
    ghosted *= inner.axis.ghosted_size[at(inner.part)];
    all = times(all, local, ghosted, dimensions[d].halo.from_local);
  }
  return all;
}

/// @throws Error{bad_argument}
void check(const std::vector<HaloDimension>& rows, const std::vector<HaloDimension>& cols, const Grid& grid) {
  std::vector<int> lo, hi;
  const auto read = [&](const std::vector<HaloDimension>& dimensions) {
    std::int64_t parts = 1;
    for (const HaloDimension& each : dimensions) {
      parts *= each.axis.nprocs;
      lo.push_back(each.sides.lo);
      hi.push_back(each.sides.hi);
    }
    return parts;
  };
  const std::int64_t row_parts = read(rows), col_parts = read(cols);
  const auto is_below_0 = [](int side) { return side < 0; };
  const auto is_0 = [](int side) { return side == 0; };
  if (std::any_of(lo.begin(), lo.end(), is_below_0) || std::any_of(hi.begin(), hi.end(), is_below_0) ||
      (std::all_of(lo.begin(), lo.end(), is_0) && std::all_of(hi.begin(), hi.end(), is_0)))
    throw Error(Status::bad_argument,
                "redist: halo: borders of {} before and {} after each stretch of rows and columns, expected none below "
                "0 and one above",
                fmt::join(lo, " x "), fmt::join(hi, " x "));
  if (row_parts != grid.nprow || col_parts != grid.npcol)
    throw Error(Status::bad_argument,
                "redist: halo: dimensions cut into {} and {} parts on a {} x {} grid, expected a part for each row and "
                "column of it",
                row_parts, col_parts, grid.nprow, grid.npcol);
}

} // namespace

std::int64_t HaloMessage::elements() const {
  std::int64_t sum = 0;
  for (const Message& part : parts) sum += part.elements();
  return sum;
}

HaloPlan::HaloPlan(const Layout& layout, const HaloOptions& options) : neighbours_(options.neighbours) {
  layout.validate("the halo's");
  if (layout.is_replicated())
    throw Error(Status::bad_argument,
                "redist: halo: the layout is replicated, expected one whose blocks have neighbours elsewhere");
  rows_ = {{layout.rows, options.rows}};
  cols_ = {{layout.cols, options.cols}};
  grid_ = layout.grid;
  check(rows_, cols_, grid_);
}

HaloPlan::HaloPlan(std::vector<HaloDimension> rows, std::vector<HaloDimension> cols, Grid grid, Neighbours neighbours)
    : rows_(std::move(rows)), cols_(std::move(cols)), grid_(std::move(grid)), neighbours_(neighbours) {
  check(rows_, cols_, grid_);
}

RankHalo HaloPlan::for_rank(int rank) const {
  RankHalo plan;
  plan.rank = rank;
  const auto position = grid_.position_of(rank);
  if (position.first < 0) return plan;
  const Dimensions rows = seen_from(rows_, position.first), cols = seen_from(cols_, position.second);
  const auto read = [&plan](const Dimensions& dimensions, std::int64_t& ghosted, std::int64_t& local) {
    ghosted = local = 1;
    for (const Dimension& each : dimensions) {
      plan.parts.push_back(each.mine());
      if (__builtin_mul_overflow(ghosted, plan.parts.back().ghosted, &ghosted))
        throw Error(Status::out_of_memory,
                    "redist: halo: the ghosted array of rank {} has more than 2^63 elements; expected narrower borders",
                    plan.rank);
      local *= plan.parts.back().local;
    }
  };
  read(rows, plan.rows, plan.m_loc);
  read(cols, plan.cols, plan.n_loc);
  const auto store = [&plan](RunList list) {
    plan.lists.push_back(std::move(list));
    return &plan.lists.back();
  };
  plan.interior = {rank, store(from_local(rows)), store(from_local(cols))};
  const auto messages = [&](bool comes_in) {
    std::map<int, HaloMessage> by_rank;
    // both ends meet the parts of a pair in this order
    for (unsigned borders = 1; borders >> (rows.size() + cols.size()) == 0; ++borders) {
      const bool is_corner = (borders & (borders - 1)) != 0;
      if (is_corner && neighbours_ == Neighbours::four) continue;
      const std::vector<Link> row_links = links(rows, borders, comes_in);
      const std::vector<Link> col_links = links(cols, borders >> rows.size(), comes_in);
      std::vector<const RunList*> col_lists;
      for (const Link& col : col_links) col_lists.push_back(store(col.list));
      for (const Link& row : row_links) {
        const RunList* row_list = store(row.list);
        for (std::size_t k = 0; k < col_links.size(); ++k) {
          if (row_list->total == 0 || col_lists[k]->total == 0) continue;
          const int peer = grid_.rank_at(row.position, col_links[k].position);
          by_rank[peer].peer = peer;
          by_rank[peer].parts.push_back({peer, row_list, col_lists[k]});
        }
      }
    }
    return by_rank;
  };
  for (auto& [peer, message] : messages(true)) (peer == rank ? plan.keeps : plan.recvs).push_back(std::move(message));
  for (auto& [peer, message] : messages(false))
    if (peer != rank) plan.sends.push_back(std::move(message));
  return plan;
}

} // namespace redist
