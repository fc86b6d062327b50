// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/grid_shape.hpp"
#include "base/parse_json.hpp"
#include "command.hpp"
#include "gridmap/factor_mapping.hpp"
#include "mapping_text.hpp"

namespace command {
namespace {

struct MapOptions {
  std::string speeds, grid, method = "best", purpose = "product";
  std::int64_t m = 0, n = 0, nb = 64;
  bool in_place = false, json = false;
};

/// 0 1 0 2 ... of the first blocks.
std::string owners_text(const std::vector<int>& owners) {
  constexpr std::size_t most = 32;
  std::vector<int> shown = owners;
  shown.resize(std::min(most, owners.size()));
  return fmt::format("{}{}", fmt::join(shown, " "),
                     owners.size() > most ? fmt::format(" ... ({} blocks)", owners.size()) : "");
}

/// For a factorization, which works on less of the matrix at every step.
void run_for_factors(const MapOptions& o, const gridmap::MappingRequest& request) {
  const gridmap::FactorMapping f = gridmap::map_for_factors(request, o.nb, o.in_place);
  if (print_json(o.json, {{"method", o.method},
                          {"for", o.purpose},
                          {"nb", o.nb},
                          {"grid", rows_of(f.map.speeds, f.map.npcol)},
                          {"rows", f.map.rows},
                          {"cols", f.map.cols},
                          {"row_owners", f.row_owners},
                          {"col_owners", f.col_owners},
                          {"t_steps", f.t_steps},
                          {"t_cyclic", f.t_cyclic},
                          {"t_least", f.t_least},
                          {"steps", std::min(f.row_owners.size(), f.col_owners.size())},
                          {"order", rows_of(f.map.order, f.map.npcol)}}))
    return;
  std::printf("speeds (in brackets: the speed that the place asks for)\n%s", mapping_table(f.map).c_str());
  std::printf("grid rows that have the blocks of %lld rows: %s\n", static_cast<long long>(o.nb),
              owners_text(f.row_owners).c_str());
  std::printf("grid columns that have those of columns: %s\n", owners_text(f.col_owners).c_str());
  std::printf("time         %.6g (largest rows*cols/speed, summed over %zu steps; %.6g with blocks in turn)\n",
              f.t_steps, std::min(f.row_owners.size(), f.col_owners.size()), f.t_cyclic);
  std::printf("utilization  %.2f %% of all speed in all steps\n", f.t_steps > 0 ? 100 * f.t_least / f.t_steps : 100.0);
}

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
  if (o.purpose == "lu") return run_for_factors(o, request);
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

void add_plan_mapping(CommandLine& plan) {
  CommandLine& app =
      plan.add_command("mapping", "Processors of different speed onto a grid, with the rows and columns each gets");
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
  app.add_option("--for", o->purpose,
                 "product: each gets one part; lu: blocks are dealt out so that all steps of an LU or Cholesky "
                 "factorization are balanced, and the time is the sum of the slowest over the steps")
      .check(base::one_of({"product", "lu"}))
      .show_default();
  app.add_option("--nb", o->nb, "with --for lu: rows and columns of a block").show_default();
  app.add_flag("--in-place", o->in_place,
               "the speeds are those of the grid, row by row: only work out rows and columns");
  app.add_flag("--json", o->json, "print one JSON object");
  app.action([o] { run(*o); });
}

} // namespace command
