// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "base/index.hpp"
#include "plan/copies.hpp"
#include "plan/tables.hpp"

namespace redist {

const char* to_string(Schedule schedule) noexcept {
  return schedule == Schedule::automatic ? "automatic" : base::name_of(schedule, schedule_names());
}

Schedule schedule_from(const std::string& name) {
  if (name == to_string(Schedule::automatic)) return Schedule::automatic;
  return base::value_of_name<Schedule>(name, schedule_names(), "redist: schedule");
}

namespace detail {
namespace {

using base::at;

/// Calls visit(source number, target number, elements) for every message between different ranks.
template <class Visit> void each_message(const PlanTables& tables, Visit&& visit) {
  const auto look_at = [&](int source, int target, std::int64_t elements) {
    if (tables.source_rank(source) != tables.target_rank(target)) visit(source, target, elements);
  };
  if (tables.has_copies()) {
    for (int target = 0; target < tables.to.size(); ++target)
      each_given(tables, target, tables.givers.empty() ? Copy{} : tables.givers[at(target)],
                 [&](int source, std::int64_t elements) { look_at(source, target, elements); });
    return;
  }
  const OverlapTable &rows = tables.rows.table, &cols = tables.cols.table;
  for (int a = 0; a < tables.rows.from.nprocs(); ++a)
    for (int b = 0; b < tables.cols.from.nprocs(); ++b)
      for (const auto* r = rows.begin(a); r != rows.end(a); ++r)
        for (const auto* c = cols.begin(b); c != cols.end(b); ++c)
          look_at(tables.source_number(a, b), tables.target_number(r->to, c->to), r->elements * c->elements);
}

/// What goes along one axis in one step.
struct Hop {
  int from;
  int to;
  std::int64_t elements;
};
using Hops = std::vector<Hop>; ///< most elements first

/// Numbers the differences q - p that occur, ascending; -1 for the others.
std::vector<int> number_differences(const OverlapTable& table, int from, int to) {
  const int modulus = std::max(from, to);
  std::vector<int> number(at(modulus), -1);
  for (int p = 0; p < from; ++p)
    for (const auto* entry = table.begin(p); entry != table.end(p); ++entry)
      number[at(wrap(entry->to - p, modulus))] = 0;
  int next = 0;
  for (int& one : number)
    if (one == 0) one = next++;
  return number;
}

std::vector<Hops> circulant_hops(const Factor& factor, const std::vector<int>& number) {
  std::vector<Hops> steps(number.size());
  int used = 0;
  for (int p = 0; p < factor.from.nprocs(); ++p)
    for (const auto* entry = factor.table.begin(p); entry != factor.table.end(p); ++entry) {
      const int step = number[at(wrap(entry->to - p, static_cast<std::int64_t>(number.size())))];
      used = std::max(used, step + 1);
      steps[at(step)].push_back({p, entry->to, entry->elements});
    }
  steps.resize(at(used));
  for (Hops& hops : steps)
    std::stable_sort(hops.begin(), hops.end(), [](const Hop& l, const Hop& r) { return l.elements > r.elements; });
  return steps;
}

std::vector<Hops> matching_hops(const Matchings& matchings) {
  std::vector<Hops> steps(matchings.steps());
  for (std::size_t k = 0; k < steps.size(); ++k)
    for (int p = 0; p < matchings.sources; ++p) {
      const int q = matchings.target_of[k * at(matchings.sources) + at(p)];
      if (q >= 0) steps[k].push_back({p, q, matchings.length[k]});
    }
  return steps;
}

/// The largest message between different ranks among all row hop x column hop; 0 when all of them stay where
/// they are.
std::int64_t largest_sent(const PlanTables& tables, const Hops& rows, const Hops& cols) {
  std::int64_t largest = 0;
  for (const Hop& row : rows) {
    if (row.elements * cols.front().elements <= largest) break;
    for (const Hop& col : cols) {
      if (row.elements * col.elements <= largest) break;
      const int source = tables.source_rank(tables.source_number(row.from, col.from));
      if (source != tables.target_rank(tables.target_number(row.to, col.to))) {
        largest = row.elements * col.elements;
        break;
      }
    }
  }
  return largest;
}

/// Numbers the steps of the product in which something is sent, and their figures. One partner at a time,
/// because each factor is one partner at a time.
void multiply(const PlanTables& tables, const std::vector<Hops>& rows, const std::vector<Hops>& cols,
              Timetable& timetable, ScheduleFigures& figures) {
  timetable.number.assign(rows.size() * cols.size(), -1);
  timetable.per_row_step = cols.size();
  for (std::size_t k = 0; k < rows.size(); ++k)
    for (std::size_t l = 0; l < cols.size(); ++l) {
      const std::int64_t largest = largest_sent(tables, rows[k], cols[l]);
      if (largest == 0) continue;
      timetable.number[k * cols.size() + l] = static_cast<int>(figures.largest.size());
      figures.largest.push_back(largest);
      figures.sum_of_largest += largest;
    }
  figures.steps = static_cast<std::int64_t>(figures.largest.size());
  figures.contention.assign(figures.largest.size(), 1);
  timetable.steps = figures.steps;
}

struct Choice {
  Timetable timetable;
  ScheduleFigures figures;
};

Choice begin_choice(const PlanTables& tables, Schedule schedule, Timetable::Rule rule) {
  Choice choice;
  choice.figures.schedule = schedule;
  choice.timetable.rule = rule;
  choice.figures.lower_bound = tables.totals.lower_bound();
  return choice;
}

Choice make_async(const PlanTables& tables) {
  Choice choice = begin_choice(tables, Schedule::async, Timetable::Rule::all);
  if (tables.totals.messages == 0) return choice;
  choice.timetable.steps = choice.figures.steps = 1;
  choice.figures.sum_of_largest = choice.figures.lower_bound;
  choice.figures.largest = {choice.figures.lower_bound};
  choice.figures.contention = {tables.totals.max_partners};
  return choice;
}

Choice make_circulant(const PlanTables& tables) {
  if (!tables.has_copies()) {
    Choice choice = begin_choice(tables, Schedule::circulant, Timetable::Rule::circulant);
    Timetable& timetable = choice.timetable;
    timetable.row_step = number_differences(tables.rows.table, tables.rows.from.nprocs(), tables.rows.to.nprocs());
    timetable.col_step = number_differences(tables.cols.table, tables.cols.from.nprocs(), tables.cols.to.nprocs());
    multiply(tables, circulant_hops(tables.rows, timetable.row_step), circulant_hops(tables.cols, timetable.col_step),
             timetable, choice.figures);
    return choice;
  }
  Choice choice = begin_choice(tables, Schedule::circulant, Timetable::Rule::circulant_ranks);
  const int modulus = std::max(tables.from.size(), tables.to.size());
  std::vector<std::int64_t> largest(at(modulus), 0);
  each_message(tables, [&](int source, int target, std::int64_t elements) {
    std::int64_t& so_far = largest[at(wrap(target - source, modulus))];
    so_far = std::max(so_far, elements);
  });
  choice.timetable.row_step.assign(at(modulus), -1);
  for (int step = 0; step < modulus; ++step)
    if (largest[at(step)] > 0) {
      choice.timetable.row_step[at(step)] = static_cast<int>(choice.figures.steps++);
      choice.figures.largest.push_back(largest[at(step)]);
      choice.figures.sum_of_largest += largest[at(step)];
    }
  choice.figures.contention.assign(choice.figures.largest.size(), 1);
  choice.timetable.steps = choice.figures.steps;
  return choice;
}

std::vector<Edge> edges_of(const OverlapTable& table, int from) {
  std::vector<Edge> edges;
  edges.reserve(table.entries.size());
  for (int p = 0; p < from; ++p)
    for (const auto* entry = table.begin(p); entry != table.end(p); ++entry)
      edges.push_back({p, entry->to, entry->elements});
  return edges;
}

/// The data that stay, separated by axis: along the rows all processes at a stay at (*rows)[a], along the columns
/// likewise. False when the placement is no such product.
bool kept_by_axis(const PlanTables& tables, std::vector<int>& rows, std::vector<int>& cols) {
  rows.assign(at(tables.rows.from.nprocs()), -1);
  cols.assign(at(tables.cols.from.nprocs()), -1);
  std::vector<int> rows_back(at(tables.rows.to.nprocs()), -1), cols_back(at(tables.cols.to.nprocs()), -1);
  const auto same = [](int& known, int now) {
    if (known == -1) known = now;
    return known == now;
  };
  for (const Kept& kept : tables.kept) {
    const auto [a, b] = tables.source_axes(kept.source);
    const auto [c, d] = tables.target_axes(kept.target);
    if (!same(rows[at(a)], c) || !same(rows_back[at(c)], a) || !same(cols[at(b)], d) || !same(cols_back[at(d)], b))
      return false;
  }
  return !tables.kept.empty();
}

/// In the order of cost: the circulant steps when they reach the bound already; matchings of the two axes,
/// whose product is exact when both axes grow or both shrink and one of the busiest processes keeps nothing;
/// the same with all that is kept in one step that then falls away, exact when one of the busiest processes
/// keeps the least; matchings of the ranks themselves. When even these cost more than `budget` operations,
/// the best of the others.
Choice make_matching(const PlanTables& tables, std::int64_t budget) {
  Choice best = make_circulant(tables);
  best.figures.schedule = Schedule::matching;
  const std::int64_t bound = tables.totals.lower_bound();
  const auto try_product = [&](const std::vector<int>& first_rows, const std::vector<int>& first_cols) {
    if (best.figures.sum_of_largest == bound) return;
    Choice choice = begin_choice(tables, Schedule::matching, Timetable::Rule::product);
    Timetable& timetable = choice.timetable;
    const int p = tables.rows.from.nprocs(), q = tables.cols.from.nprocs();
    if (!open_shop(p, tables.rows.to.nprocs(), edges_of(tables.rows.table, p), budget, timetable.rows, first_rows) ||
        !open_shop(q, tables.cols.to.nprocs(), edges_of(tables.cols.table, q), budget, timetable.cols, first_cols))
      return;
    // A product that is far too long is not worth the look at its steps that finds out what is kept.
    if (static_cast<double>(timetable.rows.steps()) * static_cast<double>(timetable.cols.steps()) > 1e7) return;
    multiply(tables, matching_hops(timetable.rows), matching_hops(timetable.cols), timetable, choice.figures);
    if (choice.figures.sum_of_largest < best.figures.sum_of_largest) best = std::move(choice);
  };
  if (!tables.has_copies()) {
    try_product({}, {});
    std::vector<int> rows, cols;
    if (kept_by_axis(tables, rows, cols)) try_product(rows, cols);
  }
  if (best.figures.sum_of_largest == bound) return best;
  // Below some 100 operations for each message it would give up half way.
  if (tables.totals.messages < budget / 100) {
    Choice choice = begin_choice(tables, Schedule::matching, Timetable::Rule::direct);
    std::vector<Edge> edges;
    edges.reserve(at(tables.totals.messages));
    each_message(tables, [&](int source, int target, std::int64_t elements) {
      edges.push_back({source, target, elements});
    });
    if (open_shop(tables.from.size(), tables.to.size(), edges, budget, choice.timetable.rows)) {
      choice.figures.largest = choice.timetable.rows.length;
      choice.figures.contention.assign(choice.figures.largest.size(), 1);
      choice.figures.sum_of_largest = choice.timetable.rows.total();
      choice.timetable.steps = choice.figures.steps = static_cast<std::int64_t>(choice.timetable.rows.steps());
      return choice;
    }
  }
  return best;
}

/// Elementary operations of the scheduler that take 1 % of the time in which the busiest process moves its
/// data at 1 GB/s; about 10 ns each (memory in no order).
std::int64_t one_percent(const PlanTables& tables, int element_bytes) {
  return static_cast<std::int64_t>(static_cast<double>(tables.totals.lower_bound()) * element_bytes * 1e-9 * 0.01 /
                                   10e-9);
}

/// Operations, about half a second, that are spent on exactness whatever the transfer takes: enough for some 600,000
/// messages.
constexpr std::int64_t exact_at_any_rate = 60'000'000;

} // namespace

advise::PlanVolume volume_of(const PlanTotals& totals, const ScheduleFigures& figures, int element_bytes) {
  const auto bytes = [element_bytes](std::int64_t elements) { return static_cast<double>(elements) * element_bytes; };
  const bool is_async = figures.schedule == Schedule::async;
  advise::PlanVolume volume;
  volume.turns = is_async ? totals.max_partners : figures.steps;
  volume.wire_bytes = bytes(figures.sum_of_largest);
  volume.is_contended = is_async && totals.max_partners > 1;
  volume.touched_bytes = bytes(totals.max_touched);
  volume.packed_bytes = bytes(2 * totals.moved_elements + totals.kept_elements);
  volume.processes = totals.ranks;
  return volume;
}

void make_timetable(PlanTables& tables, const PlanOptions& options) {
  Choice choice = make_async(tables);
  const auto seconds_of = [&](const ScheduleFigures& figures) {
    return advise::exchange_cost(options.machine, volume_of(tables.totals, figures, options.element_bytes)).total();
  };
  const auto predicted = [&](const Choice& one) { return seconds_of(one.figures); };
  if (tables.totals.messages > 0) switch (options.schedule) {
    case Schedule::async:
      break;
    case Schedule::caterpillar:
      choice = begin_choice(tables, Schedule::caterpillar, Timetable::Rule::caterpillar);
      choice.timetable.steps = tables.totals.ranks;
      break;
    case Schedule::circulant:
      choice = make_circulant(tables);
      break;
    case Schedule::matching: // asked for: exact even where that costs more than 1 %
      choice = make_matching(tables, std::max(exact_at_any_rate, one_percent(tables, options.element_bytes)));
      break;
    case Schedule::automatic: {
      // No order of steps gains more than the contention, and none has fewer steps than the busiest process
      // has partners.
      ScheduleFigures ideal = choice.figures;
      ideal.schedule = Schedule::matching;
      ideal.steps = tables.totals.max_partners;
      const double gain = predicted(choice) - seconds_of(ideal);
      if (gain < 20e-6) break; // less than finding it out
      for (Choice other :
           {make_circulant(tables),
            make_matching(tables, std::max<std::int64_t>(1, one_percent(tables, options.element_bytes)))})
        if (predicted(other) < predicted(choice)) choice = std::move(other);
      break;
    }
    }
  if (options.schedule != Schedule::automatic) choice.figures.schedule = options.schedule;
  tables.timetable = std::move(choice.timetable);
  tables.figures = std::move(choice.figures);
}

ScheduleFigures caterpillar_figures(const PlanTables& tables) {
  ScheduleFigures figures = begin_choice(tables, Schedule::caterpillar, Timetable::Rule::caterpillar).figures;
  const auto n = static_cast<std::int64_t>(tables.union_ranks.size());
  const auto numbers = [&](const Grid& grid) {
    std::vector<std::int64_t> all;
    for (const int rank : grid.ranks)
      all.push_back(std::lower_bound(tables.union_ranks.begin(), tables.union_ranks.end(), rank) -
                    tables.union_ranks.begin());
    return all;
  };
  const auto sources = numbers(tables.from), targets = numbers(tables.to);
  if (tables.totals.messages == 0) return figures;
  figures.steps = n;
  figures.largest.assign(at(n), 0);
  figures.contention.assign(at(n), 0);
  each_message(tables, [&](int source, int target, std::int64_t elements) {
    const std::size_t step = at(wrap(-sources[at(source)] - targets[at(target)], n));
    figures.largest[step] = std::max(figures.largest[step], elements);
    figures.contention[step] = 1;
  });
  for (const std::int64_t one : figures.largest) figures.sum_of_largest += one;
  return figures;
}

} // namespace detail
} // namespace redist
