// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include <fmt/format.h>

#include "base/parse_json.hpp"
#include "command.hpp"
#include "gridmap/selection.hpp"
#include "mapping_text.hpp"

namespace command {
namespace {

struct SelectOptions {
  std::string grid, available, strategy = "best";
  double tpp = 0;
  std::int64_t m = 0, n = 0;
  bool json = false;
};

void run(const SelectOptions& o) {
  gridmap::SelectionRequest request;
  const auto grid = parse_matrix("--grid", o.grid);
  request.nprow = static_cast<int>(grid.size());
  request.npcol = static_cast<int>(grid[0].size());
  for (const auto& row : grid) request.grid.insert(request.grid.end(), row.begin(), row.end());
  request.available = parse_numbers("--available", o.available);
  if (request.available.empty()) throw Failure("--available: the list is empty, expected at least one speed");
  request.tpp = o.tpp;
  request.m = o.m;
  request.n = o.n;
  request.strategy = gridmap::parse_strategy(o.strategy, "--strategy");
  const gridmap::Selection s = gridmap::select_processors(request);
  std::vector<double> chosen;
  for (const int i : s.chosen) chosen.push_back(request.available[static_cast<std::size_t>(i)]);
  const gridmap::Mapping& map = s.mapping;
  if (print_json(o.json, {{"strategy", o.strategy},
                          {"chosen", chosen},
                          {"chosen_indices", s.chosen},
                          {"grid", rows_of(map.speeds, map.npcol)},
                          {"rows", map.rows},
                          {"cols", map.cols},
                          {"tpp_used", s.tpp_used},
                          {"tpp_left", s.tpp_left},
                          {"unused_because", s.unused_because},
                          {"t_theory", map.t_continuous},
                          {"t_whole", map.t_theory},
                          {"t_opt", t_opt_of(map)},
                          {"utilization", utilization_of(map)},
                          {"mean_utilization", map.mean_utilization()},
                          {"found_by", to_string(s.found_by)}}))
    return;
  std::string list;
  for (const double speed : chosen) list += fmt::format("{}{:g}", list.empty() ? "" : ", ", speed);
  std::printf("chosen       %s\n", list.empty() ? "none" : list.c_str());
  std::printf("speeds of the %dx%d grid (in brackets: the speed that the place asks for)\n%s", map.nprow, map.npcol,
              mapping_table(map).c_str());
  std::printf("speed used   %.6g of %.6g: %s\n", s.tpp_used, o.tpp, s.unused_because.c_str());
  std::printf("time         %.6g (%.6g with whole rows and columns), found by %s\n", map.t_continuous, map.t_theory,
              to_string(s.found_by));
}

} // namespace

void add_plan_selection(CommandLine& plan) {
  CommandLine& app = plan.add_command("selection", "Which free processors to add to a grid under a total speed");
  auto o = std::make_shared<SelectOptions>();
  app.add_option("--grid", o->grid, "speeds of the grid in use, row by row: '313,279;34,25'")
      .type_name("ROWS")
      .required();
  app.add_option("--available", o->available, "speeds of the free processors: 298,95,35, or @file")
      .type_name("LIST")
      .required();
  app.add_option("--tpp", o->tpp, "total speed that may be added").type_name("SPEED").required();
  app.add_option("--m", o->m, "rows of the matrix").required();
  app.add_option("--n", o->n, "columns of the matrix").required();
  app.add_option("--strategy", o->strategy, "best, global, local or mixed")
      .check(base::one_of(gridmap::strategy_names()))
      .show_default();
  app.add_flag("--json", o->json, "print one JSON object");
  app.action([o] { run(*o); });
}

} // namespace command
