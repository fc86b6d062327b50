// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "plan/axis_table.hpp"
#include "plan/open_shop.hpp"
#include "redist/plan.hpp"

namespace redist::detail {

/// One of the two factors of a plan: positions of a source axis to positions of a target axis.
struct Factor {
  AxisTable from;
  AxisTable to;
  std::int64_t begin_from = 0;
  std::int64_t begin_to = 0;
  std::int64_t length = 0;
  OverlapTable table;

  Span span_from() const { return {&from, begin_from}; }
  Span span_to() const { return {&to, begin_to}; }
};

/// A rank in both grids that has something to keep.
struct Kept {
  int source = 0; ///< its numbers in the two grids
  int target = 0;
  std::int64_t elements = 0;
};

/// A message by its positions: a -> c along the target's rows, b -> d along its columns, and by the numbers
/// of its ends, row-major in their grids.
struct Pair {
  int a, b, c, d;
  int source, target;
};

/// When what is sent: a rule that gives each message its step, or tables of matchings.
struct Timetable {
  enum class Rule {
    all, ///< one step
    caterpillar,
    circulant,       ///< step (row_step, col_step) of the two axes
    circulant_ranks, ///< row_step of the two grids' numbers (replicated layouts, which are no product of
                     ///< axes)
    product,         ///< step (k, l) of rows and cols
    direct           ///< steps of rows, whose sources and targets are the numbers in the grids
  };
  Schedule schedule = Schedule::async;
  Rule rule = Rule::all;
  std::int64_t steps = 0;
  std::vector<int> row_step, col_step; ///< by (q - p) mod max(P, Q), -1 where nothing is sent
  Matchings rows, cols;
  std::vector<int> number; ///< [k * cols' steps + l]: steps in which anything is sent are 0, 1, ..., the others -1
  std::size_t per_row_step = 1;
};

struct PlanTables {
  Factor rows; ///< along the rows of the target
  Factor cols; ///< along the columns of the target
  bool transposed = false;
  Grid from, to;
  bool from_replicated = false;
  bool to_replicated = false;
  std::vector<int> union_ranks; ///< ascending
  std::vector<Kept> kept;       ///< rank ascending
  std::vector<int> takes_from;  ///< source replicated: by number in the target grid, the number in the source grid
  PlanTotals totals;
  Timetable timetable;
  ScheduleFigures figures; ///< of the timetable; empty for caterpillar, which costs a look at every message

  int source_number(int a, int b) const { return transposed ? b * from.npcol + a : a * from.npcol + b; }
  int target_number(int c, int d) const { return c * to.npcol + d; }
  int source_rank(int number) const { return from.ranks[static_cast<std::size_t>(number)]; }
  int target_rank(int number) const { return to.ranks[static_cast<std::size_t>(number)]; }
  std::pair<int, int> source_axes(int number) const { ///< (a, b) of a number in the source grid
    if (from_replicated) return {0, 0};
    const int p = number / from.npcol, q = number % from.npcol;
    return transposed ? std::pair{q, p} : std::pair{p, q};
  }
  std::pair<int, int> target_axes(int number) const {
    if (to_replicated) return {0, 0};
    return {number / to.npcol, number % to.npcol};
  }

  /// Calls visit(source number, target number, elements) for every message between different ranks.
  template <class Visit> void each_message(Visit&& visit) const {
    if (from_replicated || to_replicated) {
      for (int target = 0; target < to.size(); ++target) {
        const auto [c, d] = target_axes(target);
        for (int source = from_replicated ? takes_from[static_cast<std::size_t>(target)] : 0; source < from.size();
             ++source) {
          const auto [a, b] = source_axes(source);
          const std::int64_t elements = rows.table.at(a, c) * cols.table.at(b, d);
          if (elements > 0 && source_rank(source) != target_rank(target)) visit(source, target, elements);
          if (from_replicated) break;
        }
      }
      return;
    }
    for (int a = 0; a < rows.from.nprocs(); ++a)
      for (int b = 0; b < cols.from.nprocs(); ++b) {
        const int source = source_number(a, b);
        const int rank = source_rank(source);
        for (const auto* r = rows.table.begin(a); r != rows.table.end(a); ++r)
          for (const auto* c = cols.table.begin(b); c != cols.table.end(b); ++c) {
            const int target = target_number(r->to, c->to);
            if (target_rank(target) != rank) visit(source, target, r->elements * c->elements);
          }
      }
  }
};

/// Chooses and computes the timetable. `options.schedule` says which.
void make_timetable(PlanTables& tables, const PlanOptions& options);
ScheduleFigures caterpillar_figures(const PlanTables& tables);
/// The order in which a rank goes through `messages`; `pairs` are theirs, in the same order.
std::vector<Piece> order_of(const PlanTables& tables, int rank, bool sends, const std::vector<Message>& messages,
                            const std::vector<Pair>& pairs);
gridmap::PlanVolume volume_of(const PlanTotals& totals, const ScheduleFigures& figures, int element_bytes);

} // namespace redist::detail
