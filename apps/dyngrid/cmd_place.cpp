// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "command.hpp"
#include "gridmap/placement.hpp"
#include "text.hpp"

namespace command {
namespace {

struct Options {
  std::string from, to, placement = "optimal";
  std::int64_t m = 0, n = 0, mb = 0, nb = 0;
  int rsrc = 0, csrc = 0;
  bool json = false;
};

gridmap::Axis axis(std::int64_t n, std::int64_t block, int procs, int source) {
  return block > 0 ? gridmap::Axis::block_cyclic(n, block, procs, source)
                   : gridmap::Axis::block(n, procs, source);
}

void run(const Options& o, const CLI::App& app) {
  const auto [p, q] = parse_grid("--from", o.from);
  const auto [p_new, q_new] = parse_grid("--to", o.to);
  for (const char* name : {"--mb", "--nb"})
    if (app.count(name) > 0 && (name == std::string("--mb") ? o.mb : o.nb) < 1)
      throw Failure(
          fmt::format("{}: got {}, wanted at least 1", name, name == std::string("--mb") ? o.mb : o.nb));
  if (o.m < 0 || o.n < 0)
    throw Failure(fmt::format("the matrix is {} x {}, wanted at least 0 x 0", o.m, o.n));
  if (o.rsrc < 0 || o.rsrc >= std::min(p, p_new))
    throw Failure(fmt::format("--rsrc: got {}, wanted 0 .. {}", o.rsrc, std::min(p, p_new) - 1));
  if (o.csrc < 0 || o.csrc >= std::min(q, q_new))
    throw Failure(fmt::format("--csrc: got {}, wanted 0 .. {}", o.csrc, std::min(q, q_new) - 1));
  gridmap::PlacementRequest request{axis(o.m, o.mb, p, o.rsrc),     axis(o.n, o.nb, q, o.csrc),
                                    axis(o.m, o.mb, p_new, o.rsrc), axis(o.n, o.nb, q_new, o.csrc),
                                    gridmap::Placement::optimal,    {}};
  if (o.placement == "global") request.method = gridmap::Placement::global;
  if (o.placement == "local1") request.method = gridmap::Placement::local1;
  if (o.placement == "local2") request.method = gridmap::Placement::local2;
  const gridmap::PlacementResult result = gridmap::place(request);
  const double elements = static_cast<double>(o.m) * static_cast<double>(o.n);
  const double fraction = elements > 0 ? static_cast<double>(result.moved_elements) / elements : 0;
  if (print_json(o.json, {{"placement", o.placement},
                          {"grid", rows_of(result.grid, q_new)},
                          {"moved_elements", result.moved_elements},
                          {"retained_elements", result.retained_elements},
                          {"max_in", result.max_in},
                          {"max_out", result.max_out},
                          {"moved_fraction", fraction},
                          {"kept", result.kept},
                          {"in", result.in},
                          {"out", result.out}}))
    return;
  std::vector<std::vector<std::string>> rows;
  for (int i = 0; i < p_new; ++i) {
    rows.emplace_back();
    for (int j = 0; j < q_new; ++j) {
      const int process = result.grid[static_cast<std::size_t>(i * q_new + j)];
      rows.back().push_back(fmt::format("{}{}", process, process >= p * q ? "*" : ""));
    }
  }
  std::printf("%s placement, %dx%d -> %dx%d (* new process)\n%s", o.placement.c_str(), p, q, p_new, q_new,
              table(rows).c_str());
  std::printf("moved     %s elements (%.2f %%)\nretained  %s elements\n",
              grouped(result.moved_elements).c_str(), 100 * fraction,
              grouped(result.retained_elements).c_str());
  std::printf("largest   %s received, %s sent by one process\n", grouped(result.max_in).c_str(),
              grouped(result.max_out).c_str());
}

} // namespace

void add_place(CLI::App& root) {
  auto* app =
      root.add_subcommand("place", "Where the processes go when a grid changes, and how much data moves");
  auto o = std::make_shared<Options>();
  app->add_option("--from", o->from, "old grid")->type_name("PxQ")->required();
  app->add_option("--to", o->to, "new grid")->type_name("PxQ")->required();
  app->add_option("--m", o->m, "rows of the matrix")->required();
  app->add_option("--n", o->n, "columns of the matrix")->required();
  app->add_option("--mb", o->mb, "rows of a block; default: one block per process");
  app->add_option("--nb", o->nb, "columns of a block; default: one block per process");
  app->add_option("--rsrc", o->rsrc, "grid row of the first block")->capture_default_str();
  app->add_option("--csrc", o->csrc, "grid column of the first block")->capture_default_str();
  app->add_option("--placement", o->placement, "optimal, global, local1 or local2")
      ->check(CLI::IsMember({"optimal", "global", "local1", "local2"}))
      ->capture_default_str();
  app->add_flag("--json", o->json, "print one JSON object");
  app->callback([o, app] { run(*o, *app); });
}

} // namespace command
