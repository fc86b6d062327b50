// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/grid_shape.hpp"
#include "base/parse_json.hpp"
#include "command.hpp"
#include "control/process_set.hpp"
#include "gridmap/placement.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

using control::Change;
using control::ProcessSet;
using Shape = base::GridShape;
using gridmap::Axis;

struct PlaceOptions {
  std::string from, placement = "optimal";
  std::vector<std::string> to;
  std::int64_t m = 0, n = 0, mb = 0, nb = 0;
  bool json = false;
};

/// One change as the application makes it: the places in the new grid, and the processes that leave.
struct Step {
  Shape from;
  Change change;
  std::vector<int> order;           ///< old_then_joining
  gridmap::PlacementResult figures; ///< in the order of `order`
  std::vector<int> leave;           ///< processes that end
};

Step make_step(const ProcessSet& process_set, Shape to, const PlaceOptions& o) {
  Step step;
  step.from = process_set.grid.shape;
  gridmap::PlacementRequest request{Axis::equal(o.m, o.mb, step.from.nprow), Axis::equal(o.n, o.nb, step.from.npcol),
                                    Axis::equal(o.m, o.mb, to.nprow), Axis::equal(o.n, o.nb, to.npcol),
                                    gridmap::parse_placement(o.placement, "--placement")};
  if (to == step.from)
    step.change.to = process_set.grid; // the application does nothing
  else
    step.change = decide_change(process_set, to, request, {});
  step.order = old_then_joining(process_set, step.change);
  std::vector<int> number(static_cast<std::size_t>(process_set.next_id) + step.order.size());
  for (std::size_t i = 0; i < step.order.size(); ++i)
    number[static_cast<std::size_t>(step.order[i])] = static_cast<int>(i);
  std::vector<int> grid;
  for (const int id : step.change.to.ids) grid.push_back(number[static_cast<std::size_t>(id)]);
  step.figures = figures_of(request, grid);
  const std::set<int> gone(step.change.release_groups.begin(), step.change.release_groups.end());
  for (const control::SpawnGroup& group : process_set.groups)
    if (gone.count(group.id)) step.leave.insert(step.leave.end(), group.members.begin(), group.members.end());
  return step;
}

Json json_of(const Step& step, const PlaceOptions& o) {
  const gridmap::PlacementResult& f = step.figures;
  const double elements = static_cast<double>(o.m) * static_cast<double>(o.n);
  return {{"placement", o.placement},
          {"grid", rows_of(step.change.to.ids, step.change.to.shape.npcol)},
          {"moved_elements", f.moved_elements},
          {"retained_elements", f.retained_elements},
          {"max_in", f.max_in},
          {"max_out", f.max_out},
          {"moved_fraction", elements > 0 ? static_cast<double>(f.moved_elements) / elements : 0},
          {"processes", step.order},
          {"kept", f.kept},
          {"in", f.in},
          {"out", f.out},
          {"new", step.change.new_ids()},
          {"wake", step.change.wake},
          {"sleep", step.change.park},
          {"leave", step.leave}};
}

void print(const Step& step, const PlaceOptions& o) {
  const Change& change = step.change;
  const std::vector<int> added = change.new_ids();
  const std::set<int> woken(change.wake.begin(), change.wake.end());
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 0; k < change.to.ids.size(); ++k) {
    if (k % static_cast<std::size_t>(change.to.shape.npcol) == 0) rows.emplace_back();
    const int id = change.to.ids[k];
    const bool is_new = !added.empty() && id >= added.front();
    rows.back().push_back(fmt::format("{}{}", id, is_new ? "*" : woken.count(id) ? "+" : ""));
  }
  const gridmap::PlacementResult& f = step.figures;
  const double elements = static_cast<double>(o.m) * static_cast<double>(o.n);
  fmt::print("{} placement, {} -> {} (* new process{})\n{}", o.placement, to_string(step.from),
             to_string(change.to.shape), change.wake.empty() ? "" : ", + woken", table(rows));
  if (!change.park.empty())
    fmt::print("parked    {} (mpirun holds what it started, and what was started together leaves together)\n",
               fmt::join(change.park, " "));
  if (!step.leave.empty()) fmt::print("leave     {}\n", fmt::join(step.leave, " "));
  fmt::print("moved     {} elements ({:.2f} %)\nretained  {} elements\n", grouped(f.moved_elements),
             elements > 0 ? 100 * static_cast<double>(f.moved_elements) / elements : 0, grouped(f.retained_elements));
  fmt::print("largest   {} received, {} sent by one process\n", grouped(f.max_in), grouped(f.max_out));
}

void run(const PlaceOptions& o) {
  const Shape first = base::parse_grid_shape(o.from, "--from");
  ProcessSet process_set = control::first_process_set(first.size(), first);
  std::vector<Step> steps; // all of them before any output: one may be refused
  for (const std::string& to : o.to) {
    steps.push_back(make_step(process_set, base::parse_grid_shape(to, "--to"), o));
    if (steps.size() < o.to.size()) process_set = apply(process_set, steps.back().change);
  }
  Json all = Json::array();
  for (const Step& step : steps) {
    if (o.json)
      all.push_back(json_of(step, o));
    else
      print(step, o);
  }
  print_json(o.json, all.size() == 1 ? all[0] : Json{{"steps", all}});
}

} // namespace

void add_plan_placement(CommandLine& plan) {
  CommandLine& app =
      plan.add_command("placement", "Where processes go when a grid changes, which sleep or leave, and what moves");
  auto o = std::make_shared<PlaceOptions>();
  app.add_option("--from", o->from, "the grid that mpirun starts; process k is its rank k").type_name("PxQ").required();
  app.add_option("--to", o->to, "new grid; several, one after the other: --to 3x3 --to 1x2")
      .type_name("PxQ")
      .required()
      .repeatable();
  app.add_option("--m", o->m, "rows of the matrix").required().check(base::non_negative_number());
  app.add_option("--n", o->n, "columns of the matrix").required().check(base::non_negative_number());
  app.add_option("--mb", o->mb, "rows of a block; default: one block per process").check(base::positive_number());
  app.add_option("--nb", o->nb, "columns of a block; default: one block per process").check(base::positive_number());
  app.add_option("--placement", o->placement, "optimal, global, local1 or local2")
      .check(base::one_of(gridmap::placement_names()))
      .show_default();
  app.add_flag("--json", o->json, "print one JSON object");
  app.action([o] { run(*o); });
}

} // namespace command
