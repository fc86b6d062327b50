// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include <nlohmann/json.hpp>

#include "base/grid_shape.hpp"
#include "command.hpp"
#include "mapping_text.hpp"

namespace command {
namespace {

struct MapOptions {
  std::string speeds, grid, method = "best";
  std::int64_t m = 0, n = 0;
  bool in_place = false, json = false;
};

void run(const MapOptions& o) {
  gridmap::MappingRequest request;
  request.speeds = parse_numbers("--speeds", o.speeds);
  const base::GridShape grid = base::parse_grid_shape(o.grid, "--grid");
  request.nprow = grid.nprow;
  request.npcol = grid.npcol;
  request.m = o.m;
  request.n = o.n;
  request.method = o.method == "svd"       ? gridmap::MapMethod::svd
                   : o.method == "natural" ? gridmap::MapMethod::natural
                                           : gridmap::MapMethod::best;
  const gridmap::Mapping map = o.in_place ? gridmap::map_in_place(request) : gridmap::map_processors(request);
  if (print_json(o.json, {{"method", o.method},
                          {"grid", rows_of(map.speeds, map.npcol)},
                          {"rows", map.rows},
                          {"cols", map.cols},
                          {"t_opt", t_opt_of(map)},
                          {"utilization", utilization_of(map)},
                          {"mean_utilization", map.mean_utilization()},
                          {"t_theory", map.t_theory},
                          {"t_continuous", map.t_continuous},
                          {"order", rows_of(map.order, map.npcol)},
                          {"proved", map.proved}}))
    return;
  std::printf("speeds (in brackets: the speed that the place asks for)\n%s", mapping_table(map).c_str());
  std::printf("time         %.6g (largest rows*cols/speed; %.6g with shares that need not be whole)\n", map.t_theory,
              map.t_continuous);
  std::printf("utilization  %.2f %% of all speed%s\n", 100 * map.mean_utilization(),
              map.proved ? ", proved to be the best possible" : "");
}

} // namespace

void add_map(CommandLine& root) {
  CommandLine& app =
      root.add_command("map", "Processors of different speed onto a grid, with the rows and columns each gets");
  auto o = std::make_shared<MapOptions>();
  app.add_option("--speeds,--powers", o->speeds, "one per processor: 313,279,34,25, or @file")
      .type_name("LIST")
      .required();
  app.add_option("--grid", o->grid, "shape of the grid").type_name("PxQ").required();
  app.add_option("--m", o->m, "rows of the matrix").required();
  app.add_option("--n", o->n, "columns of the matrix").required();
  app.add_option("--method", o->method, "best, svd (published heuristic) or natural (block decomposition)")
      .check(base::one_of({"best", "svd", "natural"}))
      .show_default();
  app.add_flag("--in-place", o->in_place,
               "the speeds are those of the grid, row by row: only work out rows and columns");
  app.add_flag("--json", o->json, "print one JSON object");
  app.action([o] { run(*o); });
}

} // namespace command
