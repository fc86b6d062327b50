// SPDX-License-Identifier: BSD-3-Clause
#include "redist/plan.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/status.hpp"
#include "plan/tables.hpp"

namespace redist {
namespace {

using base::Error;
using base::Status;
using detail::Factor;
using detail::Neighbour;
using detail::Pair;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
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
  int number; ///< row-major in its grid
};

std::vector<Place> places_by_rank(const Grid& grid) {
  std::vector<Place> places;
  places.reserve(grid.ranks.size());
  for (const int rank : grid.ranks) places.push_back({rank, static_cast<int>(places.size())});
  std::sort(places.begin(), places.end(), [](const Place& l, const Place& r) { return l.rank < r.rank; });
  return places;
}

/// Calls visit(rank, source number or -1, target number or -1) for every rank of either grid, ascending.
template <class Visit> void each_rank(const detail::PlanTables& tables, Visit&& visit) {
  const std::vector<Place> sources = places_by_rank(tables.from);
  const std::vector<Place> targets = places_by_rank(tables.to);
  auto source = sources.begin();
  auto target = targets.begin();
  while (source != sources.end() || target != targets.end()) {
    const int rank = source == sources.end()   ? target->rank
                     : target == targets.end() ? source->rank
                                               : std::min(source->rank, target->rank);
    const int from = source != sources.end() && source->rank == rank ? (source++)->number : -1;
    const int to = target != targets.end() && target->rank == rank ? (target++)->number : -1;
    visit(rank, from, to);
  }
}

/// All pairs are the product of the two tables, less what a rank keeps; a replicated layout repeats or
/// chooses.
void add_totals(detail::PlanTables& tables) {
  const Factor& rows = tables.rows;
  const Factor& cols = tables.cols;
  PlanTotals& totals = tables.totals;
  if (tables.from_replicated) {
    tables.takes_from.resize(at(tables.to.size()));
    each_rank(tables, [&](int, int source, int target) {
      if (target >= 0) tables.takes_from[at(target)] = source >= 0 ? source : target % tables.from.size();
    });
  }
  // Of a replicated source: what each process gives away, and to how many.
  std::vector<std::int64_t> given(tables.from_replicated ? at(tables.from.size()) : 0, 0), takers(given.size(), 0);
  if (tables.from_replicated)
    for (int target = 0; target < tables.to.size(); ++target) {
      const auto [c, d] = tables.target_axes(target);
      const std::int64_t elements = rows.table.at(0, c) * cols.table.at(0, d);
      given[at(tables.takes_from[at(target)])] += elements;
      takers[at(tables.takes_from[at(target)])] += elements > 0;
    }
  std::vector<std::int64_t> row_sources(at(rows.to.nprocs()), 0), col_sources(at(cols.to.nprocs()), 0);
  for (const auto& entry : rows.table.entries) ++row_sources[at(entry.to)];
  for (const auto& entry : cols.table.entries) ++col_sources[at(entry.to)];
  each_rank(tables, [&](int rank, int source, int target) {
    ++totals.ranks;
    tables.union_ranks.push_back(rank);
    std::int64_t out = 0, sends = 0, in = 0, recvs = 0, kept = 0;
    if (source >= 0) {
      const auto [a, b] = tables.source_axes(source);
      const std::int64_t copies = tables.to_replicated ? tables.to.size() : 1;
      out = tables.from_replicated ? given[at(source)] : copies * rows.table.out[at(a)] * cols.table.out[at(b)];
      sends = tables.from_replicated
                  ? takers[at(source)]
                  : copies * (rows.table.end(a) - rows.table.begin(a)) * (cols.table.end(b) - cols.table.begin(b));
    }
    if (target >= 0) {
      const auto [c, d] = tables.target_axes(target);
      in = rows.table.in[at(c)] * cols.table.in[at(d)];
      recvs = row_sources[at(c)] * col_sources[at(d)];
    }
    if (source >= 0 && target >= 0) {
      const auto [a, b] = tables.source_axes(source);
      const auto [c, d] = tables.target_axes(target);
      kept = rows.table.at(a, c) * cols.table.at(b, d);
      if (kept > 0) {
        tables.kept.push_back({source, target, kept});
        --sends;
        --recvs;
      }
    }
    totals.messages += recvs;
    totals.moved_elements += in - kept;
    totals.kept_elements += kept;
    totals.max_out = std::max(totals.max_out, out - kept);
    totals.max_in = std::max(totals.max_in, in - kept);
    totals.max_touched = std::max(totals.max_touched, out + in - kept);
    totals.max_partners = std::max({totals.max_partners, sends, recvs});
  });
}

} // namespace

Plan::Plan(Layout from, Layout to, PlanOptions options)
    : from_(std::move(from)), to_(std::move(to)), options_(options) {
  from_.validate("source");
  to_.validate("target");
  const bool transposed = options_.op != Op::none;
  Window& wf = options_.from;
  Window& wt = options_.to;
  complete(wf.m, from_.rows.n - wf.i, transposed ? wt.n : wt.m, transposed ? to_.cols.n - wt.j : to_.rows.n - wt.i);
  complete(wf.n, from_.cols.n - wf.j, transposed ? wt.m : wt.n, transposed ? to_.rows.n - wt.i : to_.cols.n - wt.j);
  check_window(from_, wf, "source");
  check_window(to_, wt, "target");
  if ((transposed ? wf.n : wf.m) != wt.m || (transposed ? wf.m : wf.n) != wt.n)
    throw Error(Status::shape_mismatch,
                fmt::format("redist: source window is {}x{}, target window {}x{}, wanted {}", wf.m, wf.n, wt.m, wt.n,
                            transposed ? "one the transpose of the other" : "the same"));
  std::int64_t all = 0;
  const std::int64_t copies = to_.replicated ? to_.grid.size() : 1;
  if (__builtin_mul_overflow(wt.m, wt.n, &all) || __builtin_mul_overflow(all, 16 * copies, &all))
    throw Error(Status::bad_argument,
                fmt::format("redist: window is {}x{}, wanted fewer than 2^63 bytes in all", wt.m, wt.n));
  detail::AxisTable from_rows(from_.rows, from_.row_owners), from_cols(from_.cols, from_.col_owners);
  auto tables =
      std::make_shared<detail::PlanTables>(detail::PlanTables{Factor{transposed ? from_cols : from_rows,
                                                                     detail::AxisTable(to_.rows, to_.row_owners),
                                                                     transposed ? wf.j : wf.i,
                                                                     wt.i,
                                                                     wt.m,
                                                                     {}},
                                                              Factor{transposed ? from_rows : from_cols,
                                                                     detail::AxisTable(to_.cols, to_.col_owners),
                                                                     transposed ? wf.i : wf.j,
                                                                     wt.j,
                                                                     wt.n,
                                                                     {}},
                                                              transposed,
                                                              from_.grid,
                                                              to_.grid,
                                                              from_.replicated,
                                                              to_.replicated,
                                                              {},
                                                              {},
                                                              {},
                                                              {},
                                                              {},
                                                              {}});
  Factor& rows = tables->rows;
  Factor& cols = tables->cols;
  rows.table = detail::overlap(rows.span_from(), rows.span_to(), rows.length);
  cols.table = detail::overlap(cols.span_from(), cols.span_to(), cols.length);
  add_totals(*tables);
  detail::make_timetable(*tables, options_);
  tables_ = std::move(tables);
}

RankPlan Plan::for_rank(int rank) const {
  const detail::PlanTables& tables = *tables_;
  RankPlan mine;
  mine.rank = rank;
  mine.transposed = tables.transposed;
  mine.conjugated = options_.op == Op::conjugate_transpose;
  mine.steps = static_cast<int>(tables.timetable.steps);
  const Factor& rows = tables.rows;
  const Factor& cols = tables.cols;
  using Kin = std::vector<std::pair<int, const RunList*>>;
  const auto keep_lists = [&mine](std::vector<Neighbour> neighbours) {
    Kin kin;
    for (Neighbour& neighbour : neighbours) {
      mine.lists.push_back(std::move(neighbour.list));
      kin.emplace_back(neighbour.position, &mine.lists.back());
    }
    return kin;
  };
  struct Found {
    Message message;
    Pair pair;
  };
  std::vector<Found> found;
  const auto sorted = [&](bool sends, std::vector<Message>& messages, std::vector<Piece>& order) {
    std::sort(found.begin(), found.end(),
              [](const Found& l, const Found& r) { return l.message.peer < r.message.peer; });
    std::vector<Pair> pairs;
    for (const Found& one : found) {
      messages.push_back(one.message);
      pairs.push_back(one.pair);
    }
    order = detail::order_of(tables, rank, sends, messages, pairs);
    found.clear();
  };

  const auto [p_from, q_from] = from_.grid.position_of(rank);
  const auto [p_to, q_to] = to_.grid.position_of(rank);
  if (p_from >= 0) {
    const int me = p_from * from_.grid.npcol + q_from;
    const auto axes = tables.source_axes(me);
    const int a = axes.first, b = axes.second; // lambdas may not capture names of a structured binding
    mine.m_loc_from = from_.local_rows(p_from);
    mine.n_loc_from = from_.local_cols(q_from);
    const Kin to_rows = keep_lists(detail::runs_from(rows.span_from(), rows.span_to(), rows.length, a));
    const Kin to_cols = keep_lists(detail::runs_from(cols.span_from(), cols.span_to(), cols.length, b));
    const auto add = [&](int target, const Kin::value_type& row, const Kin::value_type& col) {
      const int peer = tables.target_rank(target);
      const Message message{peer, row.second, col.second};
      if (peer == rank)
        mine.keeps.push_back(message);
      else
        found.push_back({message, {a, b, row.first, col.first, me, target}});
    };
    if (tables.from_replicated || tables.to_replicated) {
      for (int target = 0; target < to_.grid.size(); ++target) {
        if (tables.from_replicated && tables.takes_from[at(target)] != me) continue;
        const auto [c, d] = tables.target_axes(target);
        const auto position = [](const Kin& kin, int wanted) {
          return std::lower_bound(kin.begin(), kin.end(), wanted,
                                  [](const Kin::value_type& one, int q) { return one.first < q; });
        };
        const auto row = position(to_rows, c), col = position(to_cols, d);
        if (row != to_rows.end() && row->first == c && col != to_cols.end() && col->first == d) add(target, *row, *col);
      }
    } else {
      for (const auto& row : to_rows)
        for (const auto& col : to_cols) add(tables.target_number(row.first, col.first), row, col);
    }
    sorted(true, mine.sends, mine.send_order);
  }
  if (p_to >= 0) {
    const int me = p_to * to_.grid.npcol + q_to;
    const auto [c, d] = tables.target_axes(me);
    mine.m_loc_to = to_.local_rows(p_to);
    mine.n_loc_to = to_.local_cols(q_to);
    const Kin from_rows = keep_lists(detail::runs_to(rows.span_from(), rows.span_to(), rows.length, c));
    const Kin from_cols = keep_lists(detail::runs_to(cols.span_from(), cols.span_to(), cols.length, d));
    for (const auto& row : from_rows)
      for (const auto& col : from_cols) {
        const int source =
            tables.from_replicated ? tables.takes_from[at(me)] : tables.source_number(row.first, col.first);
        const int peer = tables.source_rank(source);
        if (peer != rank) found.push_back({{peer, row.second, col.second}, {row.first, col.first, c, d, source, me}});
      }
    sorted(false, mine.recvs, mine.recv_order);
  }
  return mine;
}

PlanTotals Plan::totals() const {
  return tables_->totals;
}

Schedule Plan::schedule() const {
  return tables_->timetable.schedule;
}

ScheduleFigures Plan::figures() const {
  return schedule() == Schedule::caterpillar ? detail::caterpillar_figures(*tables_) : tables_->figures;
}

gridmap::PlanVolume Plan::volume(int element_bytes) const {
  return detail::volume_of(tables_->totals, figures(), element_bytes);
}

double Plan::predicted_seconds(const Machine& machine, int element_bytes) const {
  return gridmap::exchange_cost(machine, volume(element_bytes)).total();
}

std::string Plan::describe() const {
  const PlanTotals& t = tables_->totals;
  const auto side = [](const char* name, const Layout& layout, const Window& window) {
    std::string text = fmt::format("  {} {}x{} grid, ", name, layout.grid.nprow, layout.grid.npcol);
    if (layout.replicated) {
      text += fmt::format("{} x {}, replicated", layout.rows.n, layout.cols.n);
    } else {
      text += fmt::format("rows {}{}, columns {}{}", layout.rows.describe(),
                          layout.row_owners.empty() ? "" : " (block list)", layout.cols.describe(),
                          layout.col_owners.empty() ? "" : " (block list)");
    }
    if (window.m != layout.rows.n || window.n != layout.cols.n)
      text += fmt::format("; window {} x {} at ({},{})", window.m, window.n, window.i, window.j);
    return text + "\n";
  };
  std::string text = fmt::format("plan: {} elements{}\n", t.moved_elements + t.kept_elements,
                                 tables_->transposed ? ", transposed" : "");
  text += side("from", from_, options_.from);
  text += side("to  ", to_, options_.to);
  text += fmt::format("  {} messages between {} ranks, at most {} of one rank\n", t.messages, t.ranks, t.max_partners);
  text += fmt::format("  elements: {} move, {} stay; at most {} out of and {} into one rank\n", t.moved_elements,
                      t.kept_elements, t.max_out, t.max_in);
  if (tables_->figures.largest.empty() && t.messages > 0) // its figures cost a look at every message
    return text + fmt::format("  schedule: {}, {} steps; one-port bound {}\n", to_string(schedule()),
                              tables_->timetable.steps, t.lower_bound());
  const ScheduleFigures& f = tables_->figures;
  return text + fmt::format("  schedule: {}, {} steps, at most {} partners at a time; {} elements one after the "
                            "other, one-port bound {}\n",
                            to_string(schedule()), f.steps,
                            f.contention.empty() ? 0 : *std::max_element(f.contention.begin(), f.contention.end()),
                            f.sum_of_largest, f.lower_bound);
}

} // namespace redist
