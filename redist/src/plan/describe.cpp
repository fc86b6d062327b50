// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include "plan/tables.hpp"
#include "redist/plan.hpp"

namespace redist {

std::string Plan::describe() const {
  const PlanTotals& t = tables_->totals;
  const auto side = [](const char* name, const Layout& layout, const Window& window) {
    std::string text = fmt::format("  {} {}x{} grid, ", name, layout.grid.nprow, layout.grid.npcol);
    if (layout.rows_replicated && layout.cols_replicated) {
      text += fmt::format("{} x {}, replicated", layout.rows.n, layout.cols.n);
    } else {
      text += fmt::format("rows {}, columns {}", layout.rows.describe(), layout.cols.describe());
      if (layout.rows_replicated) text += ", replicated on each process row";
      if (layout.cols_replicated) text += ", replicated on each process column";
    }
    if (window.m != layout.rows.n || window.n != layout.cols.n)
      text += fmt::format("; window {} x {} at ({},{})", window.m, window.n, window.i, window.j);
    return text + "\n";
  };
  std::string text = fmt::format("plan: {} elements{}\n", t.moved_elements + t.kept_elements,
                                 options_.op != Op::none ? ", transposed" : "");
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
