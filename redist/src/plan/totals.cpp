// SPDX-License-Identifier: BSD-3-Clause
// Figures of a whole plan. All pairs are the product of the two tables, less what a rank keeps.
#include <algorithm>

#include "base/index.hpp"
#include "plan/copies.hpp"

namespace redist::detail {
namespace {

using base::at;

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
template <class Visit> void each_rank(const PlanTables& tables, Visit&& visit) {
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

/// By target position of an axis: from how many positions something comes.
std::vector<std::int64_t> sources_of(const Factor& axis) {
  std::vector<std::int64_t> sources(at(axis.to.nprocs()), 0);
  for (const auto& entry : axis.table.entries) ++sources[at(entry.to)];
  return sources;
}

/// What number `source` sends away or keeps.
Load load_of(const PlanTables& tables, int source) {
  const OverlapTable &rows = tables.rows.table, &cols = tables.cols.table;
  const auto [a, b] = tables.source_axes(source);
  const std::int64_t copies = tables.copies_of_target;
  return {copies * rows.out[at(a)] * cols.out[at(b)],
          copies * (rows.end(a) - rows.begin(a)) * (cols.end(b) - cols.begin(b))};
}

} // namespace

void add_totals(PlanTables& tables) {
  std::vector<Load> loads; // of a replicated source
  if (tables.is_from_replicated()) loads = choose_givers(tables);
  const OverlapTable &rows = tables.rows.table, &cols = tables.cols.table;
  const std::vector<std::int64_t> row_sources = sources_of(tables.rows), col_sources = sources_of(tables.cols);
  PlanTotals& totals = tables.totals;
  each_rank(tables, [&](int rank, int source, int target) {
    ++totals.ranks;
    tables.union_ranks.push_back(rank);
    Load out, in;
    std::int64_t kept = 0;
    if (source >= 0) out = loads.empty() ? load_of(tables, source) : loads[at(source)];
    if (target >= 0) {
      const auto [c, d] = tables.target_axes(target);
      in = {rows.in[at(c)] * cols.in[at(d)], row_sources[at(c)] * col_sources[at(d)]};
    }
    if (source >= 0 && target >= 0) {
      const auto [a, b] = tables.source_axes(source);
      const auto [c, d] = tables.target_axes(target);
      kept = rows.at(a, c) * cols.at(b, d);
      if (kept > 0) {
        tables.kept.push_back({source, target});
        --out.messages;
        --in.messages;
      }
    }
    totals.messages += in.messages;
    totals.moved_elements += in.elements - kept;
    totals.kept_elements += kept;
    totals.max_out = std::max(totals.max_out, out.elements - kept);
    totals.max_in = std::max(totals.max_in, in.elements - kept);
    totals.max_touched = std::max(totals.max_touched, out.elements + in.elements - kept);
    totals.max_partners = std::max({totals.max_partners, out.messages, in.messages});
  });
}

} // namespace redist::detail
