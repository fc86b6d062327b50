// SPDX-License-Identifier: BSD-3-Clause
#include "redist/plan.hpp"

#include <algorithm>
#include <utility>

#include "base/status.hpp"
#include "plan/tables.hpp"

namespace redist {
namespace {

using base::Error;
using base::Status;
using detail::Factor;
using detail::Neighbour;
using detail::Pair;
using detail::PlanTables;

/// The same matrix transposed: rows are columns, of the layout and of its grid.
Layout turned(const Layout& layout) {
  Layout result = layout;
  std::swap(result.rows, result.cols);
  std::swap(result.rows_replicated, result.cols_replicated);
  Grid& grid = result.grid;
  std::swap(grid.nprow, grid.npcol);
  for (std::size_t k = 0; k < grid.ranks.size(); ++k) {
    const int number = static_cast<int>(k);
    grid.ranks[k] = layout.grid.rank_at(number % grid.npcol, number / grid.npcol);
  }
  return result;
}

Window turned(const Window& window) {
  return {window.j, window.i, window.n, window.m};
}

void check_window(const Layout& layout, const Window& window, const char* which) {
  const auto outside = [](std::int64_t begin, std::int64_t length, std::int64_t n) {
    return begin < 0 || length < 0 || begin > n || length > n - begin;
  };
  if (outside(window.i, window.m, layout.rows.n) || outside(window.j, window.n, layout.cols.n))
    throw Error(Status::bad_argument, "redist: {} window is {}x{} from ({},{}), expected inside the {}x{} matrix",
                which, window.m, window.n, window.i, window.j, layout.rows.n, layout.cols.n);
}

void complete(std::int64_t& from, std::int64_t from_rest, std::int64_t& to, std::int64_t to_rest) {
  const bool from_open = from < 0;
  if (from_open) from = to < 0 ? from_rest : to;
  if (to < 0) to = from_open ? to_rest : from;
}

/// Fills in the sizes that the windows of `options` leave open.
/// @throws Error{bad_argument, shape_mismatch} when a window leaves its matrix, or the two differ in size
void complete_windows(const Layout& from, const Layout& to, PlanOptions& options) {
  const bool transposed = options.op != Op::none;
  Window wf = transposed ? turned(options.from) : options.from;
  Window& wt = options.to;
  complete(wf.m, (transposed ? from.cols.n : from.rows.n) - wf.i, wt.m, to.rows.n - wt.i);
  complete(wf.n, (transposed ? from.rows.n : from.cols.n) - wf.j, wt.n, to.cols.n - wt.j);
  options.from = transposed ? turned(wf) : wf;
  check_window(from, options.from, "source");
  check_window(to, wt, "target");
  if (wf.m != wt.m || wf.n != wt.n)
    throw Error(Status::shape_mismatch, "redist: source window is {}x{}, target window {}x{}, expected {}",
                options.from.m, options.from.n, wt.m, wt.n, transposed ? "one the transpose of the other" : "the same");
}

void check_size(const Window& window, const Layout& to) {
  std::int64_t all = 0;
  if (__builtin_mul_overflow(window.m, window.n, &all) || __builtin_mul_overflow(all, 16 * to.copies(), &all))
    throw Error(Status::bad_argument, "redist: window is {}x{}, expected fewer than 2^63 bytes in all", window.m,
                window.n);
}

Factor with_overlap(Factor factor) {
  factor.table = detail::overlap(factor.span_from(), factor.span_to(), factor.length);
  return factor;
}

/// What one rank shares along one axis: positions of the other side, ascending, and the runs, which RankPlan::lists
/// keeps.
using Shared = std::vector<std::pair<int, const RunList*>>;

Shared keep_lists(RankPlan& mine, std::vector<Neighbour> neighbours) {
  Shared shared;
  for (Neighbour& neighbour : neighbours) {
    mine.lists.push_back(std::move(neighbour.list));
    shared.emplace_back(neighbour.position, &mine.lists.back());
  }
  return shared;
}

/// Where a layout is replicated: calls visit(target number, row, col) for what number `me` of the source grid sends or
/// keeps.
template <class Visit>
void each_copy_of(const PlanTables& tables, int me, const Shared& rows, const Shared& cols, Visit&& visit) {
  const auto find = [](const Shared& all, int position) {
    const auto at = std::lower_bound(all.begin(), all.end(), position,
                                     [](const auto& one, int number) { return one.first < number; });
    return at != all.end() && at->first == position ? at : all.end();
  };
  const auto own = tables.source_axes(me);
  for (int target = 0; target < tables.to.size(); ++target) {
    if (tables.giver(target, own.first, own.second) != me) continue;
    const auto [c, d] = tables.target_axes(target);
    const auto row = find(rows, c), col = find(cols, d);
    if (row != rows.end() && col != cols.end()) visit(target, *row, *col);
  }
}

/// A message, and where its ends are.
struct Found {
  Message message;
  Pair pair;
};

/// Puts what was found into the order of peers, and beside it the order of the schedule.
void put(const PlanTables& tables, int rank, bool sends, std::vector<Found> found, std::vector<Message>& messages,
         std::vector<Piece>& order) {
  std::sort(found.begin(), found.end(), [](const Found& l, const Found& r) { return l.message.peer < r.message.peer; });
  std::vector<Pair> pairs;
  for (const Found& one : found) {
    messages.push_back(one.message);
    pairs.push_back(one.pair);
  }
  order = detail::order_of(tables, rank, sends, messages, pairs);
}

/// @param me this rank's number in the source grid
void add_sends(const PlanTables& tables, int me, RankPlan& mine) {
  const Factor &rows = tables.rows, &cols = tables.cols;
  const auto axes = tables.source_axes(me);
  const int a = axes.first, b = axes.second; // lambdas may not capture names of a structured binding
  const Shared to_rows = keep_lists(mine, detail::runs_from(rows.span_from(), rows.span_to(), rows.length, a));
  const Shared to_cols = keep_lists(mine, detail::runs_from(cols.span_from(), cols.span_to(), cols.length, b));
  std::vector<Found> found;
  const auto add = [&](int target, const Shared::value_type& row, const Shared::value_type& col) {
    const int peer = tables.target_rank(target);
    const Message message{peer, row.second, col.second};
    if (peer == mine.rank)
      mine.keeps.push_back(message);
    else
      found.push_back({message, {a, b, row.first, col.first, me, target}});
  };
  if (tables.has_copies()) {
    each_copy_of(tables, me, to_rows, to_cols, add);
  } else {
    for (const auto& row : to_rows)
      for (const auto& col : to_cols) add(tables.target_number(row.first, col.first), row, col);
  }
  put(tables, mine.rank, true, std::move(found), mine.sends, mine.send_order);
}

/// @param me this rank's number in the target grid
void add_recvs(const PlanTables& tables, int me, RankPlan& mine) {
  const Factor &rows = tables.rows, &cols = tables.cols;
  const auto [c, d] = tables.target_axes(me);
  const Shared from_rows = keep_lists(mine, detail::runs_to(rows.span_from(), rows.span_to(), rows.length, c));
  const Shared from_cols = keep_lists(mine, detail::runs_to(cols.span_from(), cols.span_to(), cols.length, d));
  std::vector<Found> found;
  for (const auto& row : from_rows)
    for (const auto& col : from_cols) {
      const int source = tables.giver(me, row.first, col.first);
      const int peer = tables.source_rank(source);
      if (peer != mine.rank)
        found.push_back({{peer, row.second, col.second}, {row.first, col.first, c, d, source, me}});
    }
  put(tables, mine.rank, false, std::move(found), mine.recvs, mine.recv_order);
}

} // namespace

Op op_of(char transpose) {
  switch (transpose) {
  case 'N':
  case 'n':
    return Op::none;
  case 'T':
  case 't':
    return Op::transpose;
  case 'C':
  case 'c':
    return Op::conjugate_transpose;
  default:
    throw Error(Status::bad_argument, "redist: transpose is '{}', expected N, T or C", transpose);
  }
}

Plan::Plan(Layout from, Layout to, PlanOptions options)
    : from_(std::move(from)), to_(std::move(to)), options_(options) {
  from_.validate("source");
  to_.validate("target");
  complete_windows(from_, to_, options_);
  check_size(options_.to, to_);
  const bool transposed = options_.op != Op::none;
  const Layout source = transposed ? turned(from_) : from_;
  const Window wf = transposed ? turned(options_.from) : options_.from, wt = options_.to;
  using detail::AxisTable;
  auto tables = std::make_shared<PlanTables>(
      with_overlap({AxisTable(source.rows), AxisTable(to_.rows), wf.i, wt.i, wt.m, {}}),
      with_overlap({AxisTable(source.cols), AxisTable(to_.cols), wf.j, wt.j, wt.n, {}}), source, to_);
  detail::add_totals(*tables);
  detail::make_timetable(*tables, options_);
  tables_ = std::move(tables);
}

RankPlan Plan::for_rank(int rank, char type) const {
  const PlanTables& tables = *tables_;
  RankPlan mine;
  mine.rank = rank;
  mine.type = type;
  mine.transposed = options_.op != Op::none;
  mine.conjugated = options_.op == Op::conjugate_transpose;
  mine.steps = static_cast<int>(tables.timetable.steps);
  const LocalSize share_from = from_.local_size_of(rank), share_to = to_.local_size_of(rank);
  mine.m_loc_from = share_from.rows;
  mine.n_loc_from = share_from.cols;
  mine.m_loc_to = share_to.rows;
  mine.n_loc_to = share_to.cols;
  if (const auto [a, b] = tables.from.position_of(rank); a >= 0) add_sends(tables, tables.source_number(a, b), mine);
  if (const auto [c, d] = tables.to.position_of(rank); c >= 0) add_recvs(tables, tables.target_number(c, d), mine);
  return mine;
}

PlanTotals Plan::totals() const {
  return tables_->totals;
}

Schedule Plan::schedule() const {
  return tables_->figures.schedule;
}

ScheduleFigures Plan::figures() const {
  return schedule() == Schedule::caterpillar ? detail::caterpillar_figures(*tables_) : tables_->figures;
}

advise::PlanVolume Plan::volume(int element_bytes) const {
  return detail::volume_of(tables_->totals, figures(), element_bytes);
}

double Plan::predicted_seconds(const Machine& machine, int element_bytes) const {
  return advise::exchange_cost(machine, volume(element_bytes)).total();
}

std::vector<double> Plan::predicted_seconds_of_ranks(const Machine& machine, int element_bytes, int ranks) const {
  std::vector<double> each;
  for (int rank = 0; rank < ranks; ++rank) {
    std::int64_t elements = 0;
    const RankPlan own = for_rank(rank);
    for (const auto* messages : {&own.sends, &own.recvs})
      for (const Message& message : *messages) elements += message.elements();
    each.push_back(static_cast<double>(elements));
  }
  const double busiest = each.empty() ? 0 : *std::max_element(each.begin(), each.end());
  const double seconds = predicted_seconds(machine, element_bytes);
  for (double& own : each) own = busiest > 0 ? seconds * own / busiest : 0;
  return each;
}

} // namespace redist
