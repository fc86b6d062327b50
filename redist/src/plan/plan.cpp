// SPDX-License-Identifier: BSD-3-Clause
#include "redist/plan.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gridmap/status.hpp"
#include "plan/tables.hpp"

namespace redist {
namespace {

using detail::Factor;
using detail::Neighbour;
using gridmap::Error;
using gridmap::Status;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

void check(const Layout& layout, const char* which) {
  const Grid& grid = layout.grid;
  if (grid.nprow < 1 || grid.npcol < 1)
    throw Error(Status::bad_argument,
                fmt::format("redist: {} grid is {}x{}, wanted at least 1x1", which, grid.nprow, grid.npcol));
  if (grid.ranks.size() != at(grid.nprow) * at(grid.npcol))
    throw Error(Status::shape_mismatch, fmt::format("redist: {} grid {}x{} lists {} ranks, wanted {}", which, grid.nprow,
                                                    grid.npcol, grid.ranks.size(), at(grid.nprow) * at(grid.npcol)));
  std::vector<int> sorted = grid.ranks;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() < 0)
    throw Error(Status::bad_argument, fmt::format("redist: {} grid has rank {}, wanted at least 0", which, sorted.front()));
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw Error(Status::bad_argument, fmt::format("redist: {} grid has rank {} twice", which, *twice));
  if (layout.rows.nprocs != grid.nprow || layout.cols.nprocs != grid.npcol)
    throw Error(Status::shape_mismatch,
                fmt::format("redist: {} axes lie over {}x{} processes, wanted the {}x{} of the grid", which,
                            layout.rows.nprocs, layout.cols.nprocs, grid.nprow, grid.npcol));
}

void check_window(const Layout& layout, const Window& window, const char* which) {
  const auto outside = [](std::int64_t begin, std::int64_t length, std::int64_t n) {
    return begin < 0 || length < 0 || begin > n || length > n - begin;
  };
  if (outside(window.i, window.m, layout.rows.n) || outside(window.j, window.n, layout.cols.n))
    throw Error(Status::bad_argument,
                fmt::format("redist: {} window is {}x{} from ({},{}), wanted inside the {}x{} matrix", which, window.m,
                            window.n, window.i, window.j, layout.rows.n, layout.cols.n));
}

/// Fills in the sizes left open.
void complete(std::int64_t& from, std::int64_t from_rest, std::int64_t& to, std::int64_t to_rest) {
  const bool from_open = from < 0;
  if (from_open) from = to < 0 ? from_rest : to;
  if (to < 0) to = from_open ? to_rest : from;
}

struct Place {
  int rank;
  int p;
  int q;
};

std::vector<Place> places_by_rank(const Grid& grid) {
  std::vector<Place> places;
  places.reserve(grid.ranks.size());
  for (int p = 0; p < grid.nprow; ++p)
    for (int q = 0; q < grid.npcol; ++q) places.push_back({grid.rank_at(p, q), p, q});
  std::sort(places.begin(), places.end(), [](const Place& l, const Place& r) { return l.rank < r.rank; });
  return places;
}

} // namespace

Plan::Plan(Layout from, Layout to, PlanOptions options)
    : from_(std::move(from)), to_(std::move(to)), options_(options) {
  check(from_, "source");
  check(to_, "target");
  const bool transposed = options_.op != Op::none;
  from_.rows.validate();
  from_.cols.validate();
  to_.rows.validate();
  to_.cols.validate();
  Window& wf = options_.from;
  Window& wt = options_.to;
  complete(wf.m, from_.rows.n - wf.i, transposed ? wt.n : wt.m, transposed ? to_.cols.n - wt.j : to_.rows.n - wt.i);
  complete(wf.n, from_.cols.n - wf.j, transposed ? wt.m : wt.n, transposed ? to_.rows.n - wt.i : to_.cols.n - wt.j);
  check_window(from_, wf, "source");
  check_window(to_, wt, "target");
  if ((transposed ? wf.n : wf.m) != wt.m || (transposed ? wf.m : wf.n) != wt.n)
    throw Error(Status::shape_mismatch, fmt::format("redist: source window is {}x{}, target window {}x{}, wanted {}", wf.m,
                                                    wf.n, wt.m, wt.n, transposed ? "one the transpose of the other" : "the same"));
  auto tables = std::make_shared<detail::PlanTables>(detail::PlanTables{
      Factor{detail::AxisTable(transposed ? from_.cols : from_.rows), detail::AxisTable(to_.rows),
             transposed ? wf.j : wf.i, wt.i, wt.m, {}},
      Factor{detail::AxisTable(transposed ? from_.rows : from_.cols), detail::AxisTable(to_.cols),
             transposed ? wf.i : wf.j, wt.j, wt.n, {}},
      transposed, {}, {}});
  Factor& rows = tables->rows;
  Factor& cols = tables->cols;
  rows.table = detail::overlap(rows.span_from(), rows.span_to(), rows.length);
  cols.table = detail::overlap(cols.span_from(), cols.span_to(), cols.length);

  // The totals: all pairs are the product of the two tables, less what a rank keeps.
  PlanTotals& totals = tables->totals;
  totals.messages = static_cast<std::int64_t>(rows.table.entries.size()) * static_cast<std::int64_t>(cols.table.entries.size());
  const std::vector<Place> sources = places_by_rank(from_.grid);
  const std::vector<Place> targets = places_by_rank(to_.grid);
  auto source = sources.begin();
  auto target = targets.begin();
  while (source != sources.end() || target != targets.end()) {
    const bool sends = target == targets.end() || (source != sources.end() && source->rank <= target->rank);
    const bool receives = source == sources.end() || (target != targets.end() && target->rank <= source->rank);
    std::int64_t kept = 0;
    if (sends && receives) {
      const int a = transposed ? source->q : source->p;
      const int b = transposed ? source->p : source->q;
      kept = rows.table.at(a, target->p) * cols.table.at(b, target->q);
      if (kept > 0) {
        tables->kept.push_back({source->rank, kept});
        totals.kept_elements += kept;
        --totals.messages;
      }
    }
    if (sends) {
      const int a = transposed ? source->q : source->p;
      const int b = transposed ? source->p : source->q;
      totals.max_out = std::max(totals.max_out, rows.table.out[at(a)] * cols.table.out[at(b)] - kept);
      ++source;
    }
    if (receives) {
      totals.max_in = std::max(totals.max_in, rows.table.in[at(target->p)] * cols.table.in[at(target->q)] - kept);
      ++target;
    }
  }
  totals.moved_elements = rows.length * cols.length - totals.kept_elements;
  tables_ = std::move(tables);
}

RankPlan Plan::for_rank(int rank) const {
  RankPlan mine;
  mine.rank = rank;
  mine.transposed = tables_->transposed;
  mine.conjugated = options_.op == Op::conjugate_transpose;
  const Factor& rows = tables_->rows;
  const Factor& cols = tables_->cols;
  const auto keep_lists = [&mine](std::vector<Neighbour> neighbours) {
    std::vector<std::pair<int, const RunList*>> kept;
    for (Neighbour& neighbour : neighbours) {
      mine.lists.push_back(std::move(neighbour.list));
      kept.emplace_back(neighbour.position, &mine.lists.back());
    }
    return kept;
  };
  const auto by_peer = [](const Message& l, const Message& r) { return l.peer < r.peer; };

  const auto [p_from, q_from] = from_.grid.position_of(rank);
  const auto [p_to, q_to] = to_.grid.position_of(rank);
  if (p_from >= 0) {
    mine.m_loc_from = from_.rows.local_size(p_from);
    mine.n_loc_from = from_.cols.local_size(q_from);
    const auto to_rows =
        keep_lists(detail::runs_from(rows.span_from(), rows.span_to(), rows.length, mine.transposed ? q_from : p_from));
    const auto to_cols =
        keep_lists(detail::runs_from(cols.span_from(), cols.span_to(), cols.length, mine.transposed ? p_from : q_from));
    for (const auto& [p, row_list] : to_rows)
      for (const auto& [q, col_list] : to_cols) {
        const int peer = to_.grid.rank_at(p, q);
        (peer == rank ? mine.keeps : mine.sends).push_back({peer, row_list, col_list});
      }
    std::sort(mine.sends.begin(), mine.sends.end(), by_peer);
  }
  if (p_to >= 0) {
    mine.m_loc_to = to_.rows.local_size(p_to);
    mine.n_loc_to = to_.cols.local_size(q_to);
    const auto from_rows = keep_lists(detail::runs_to(rows.span_from(), rows.span_to(), rows.length, p_to));
    const auto from_cols = keep_lists(detail::runs_to(cols.span_from(), cols.span_to(), cols.length, q_to));
    for (const auto& [a, row_list] : from_rows)
      for (const auto& [b, col_list] : from_cols) {
        const int peer = mine.transposed ? from_.grid.rank_at(b, a) : from_.grid.rank_at(a, b);
        if (peer != rank) mine.recvs.push_back({peer, row_list, col_list});
      }
    std::sort(mine.recvs.begin(), mine.recvs.end(), by_peer);
  }
  const auto all_at_once = [](const std::vector<Message>& messages, std::vector<Piece>& order) {
    for (std::size_t i = 0; i < messages.size(); ++i)
      order.push_back({0, static_cast<int>(i), 0, messages[i].elements()});
  };
  all_at_once(mine.sends, mine.send_order);
  all_at_once(mine.recvs, mine.recv_order);
  mine.steps = tables_->totals.messages > 0 ? 1 : 0;
  return mine;
}

PlanTotals Plan::totals() const { return tables_->totals; }

std::string Plan::describe() const {
  const PlanTotals& t = tables_->totals;
  std::string text = fmt::format("plan: {}x{} of {}x{} on {}x{} -> {}x{} on {}x{}{}\n", options_.from.m, options_.from.n,
                                 from_.rows.n, from_.cols.n, from_.grid.nprow, from_.grid.npcol, to_.rows.n, to_.cols.n,
                                 to_.grid.nprow, to_.grid.npcol, tables_->transposed ? ", transposed" : "");
  text += fmt::format("  source rows: {}\n  source columns: {}\n", from_.rows.describe(), from_.cols.describe());
  text += fmt::format("  target rows: {}\n  target columns: {}\n", to_.rows.describe(), to_.cols.describe());
  text += fmt::format("  {} messages, {} elements moved, {} kept; at most {} out of and {} into one process\n", t.messages,
                      t.moved_elements, t.kept_elements, t.max_out, t.max_in);
  return text;
}

} // namespace redist
