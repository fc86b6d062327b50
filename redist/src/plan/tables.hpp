// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <utility>
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
};

/// One copy of a replicated source: its process row where the rows are replicated, its process column where the columns
/// are. The other number has no meaning.
struct Copy {
  int row = 0, col = 0;
};

/// A message by its positions: a -> c along the target's rows, b -> d along its columns, and by the numbers
/// of its ends, row-major in their grids.
struct Pair {
  int a, b, c, d;
  int source, target;
};

/// The remainder that is never negative.
inline int wrap(std::int64_t value, std::int64_t modulus) {
  return static_cast<int>(((value % modulus) + modulus) % modulus);
}

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
  Rule rule = Rule::all;
  std::int64_t steps = 0;
  std::vector<int> row_step, col_step; ///< by (q - p) mod max(P, Q), -1 where nothing is sent
  Matchings rows, cols;
  std::vector<int> number; ///< [k * cols' steps + l]: steps in which anything is sent are 0, 1, ..., the others -1
  std::size_t per_row_step = 1;
};

/// The source is turned where the plan transposes, so that nothing here knows of it.
struct PlanTables {
  PlanTables(Factor along_rows, Factor along_cols, const Layout& source, const Layout& target)
      : rows(std::move(along_rows)), cols(std::move(along_cols)), from(source.grid), to(target.grid),
        from_rows_replicated(source.rows_replicated), from_cols_replicated(source.cols_replicated),
        to_rows_replicated(target.rows_replicated), to_cols_replicated(target.cols_replicated),
        copies_of_target(target.copies()) {}

  Factor rows; ///< along the rows of the target
  Factor cols; ///< along the columns of the target
  Grid from, to;
  bool from_rows_replicated, from_cols_replicated, to_rows_replicated, to_cols_replicated; ///< used by copies.hpp
  std::int64_t copies_of_target;
  std::vector<Copy> givers;     ///< source replicated: by number in the target grid
  std::vector<int> union_ranks; ///< ascending
  std::vector<Kept> kept;       ///< rank ascending
  PlanTotals totals;
  Timetable timetable;
  ScheduleFigures figures; ///< of the timetable; empty for caterpillar, which costs a look at every message

  bool is_from_replicated() const { return from_rows_replicated || from_cols_replicated; }
  bool has_copies() const { return is_from_replicated() || to_rows_replicated || to_cols_replicated; }
  int source_number(int a, int b) const { return a * from.npcol + b; }
  int target_number(int c, int d) const { return c * to.npcol + d; }
  /// The number in the source grid of the part (a, b) of one copy.
  int source_number(Copy copy, int a, int b) const {
    return source_number(from_rows_replicated ? copy.row : a, from_cols_replicated ? copy.col : b);
  }
  /// Which source gives its part (a, b) to number `target` of the target grid.
  int giver(int target, int a, int b) const {
    return givers.empty() ? source_number(a, b) : source_number(givers[static_cast<std::size_t>(target)], a, b);
  }
  int source_rank(int number) const { return from.ranks[static_cast<std::size_t>(number)]; }
  int target_rank(int number) const { return to.ranks[static_cast<std::size_t>(number)]; }
  std::pair<int, int> source_axes(int number) const { ///< (a, b) of a number in the source grid
    return {from_rows_replicated ? 0 : number / from.npcol, from_cols_replicated ? 0 : number % from.npcol};
  }
  std::pair<int, int> target_axes(int number) const {
    return {to_rows_replicated ? 0 : number / to.npcol, to_cols_replicated ? 0 : number % to.npcol};
  }
};

/// Fills in union_ranks, kept, totals and givers.
void add_totals(PlanTables& tables);
/// Chooses and computes the timetable. `options.schedule` says which.
void make_timetable(PlanTables& tables, const PlanOptions& options);
ScheduleFigures caterpillar_figures(const PlanTables& tables);
/// The order in which a rank goes through `messages`; `pairs` are theirs, in the same order.
std::vector<Piece> order_of(const PlanTables& tables, int rank, bool sends, const std::vector<Message>& messages,
                            const std::vector<Pair>& pairs);
advise::PlanVolume volume_of(const PlanTotals& totals, const ScheduleFigures& figures, int element_bytes);

} // namespace redist::detail
