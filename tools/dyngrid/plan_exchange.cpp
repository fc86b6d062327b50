// SPDX-License-Identifier: BSD-3-Clause
#include "base/parse_json.hpp"
#include "command.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/command_line.hpp"
#include "base/grid_shape.hpp"
#include "base/status.hpp"
#include "control/history.hpp"
#include "gridmap/placement.hpp"
#include "machine_options.hpp"
#include "redist/plan.hpp"
#include "shared/text.hpp"

namespace {

using gridmap::Axis;
using redist::Plan;
using redist::Schedule;

struct Arguments {
  std::string from, to, placement = "optimal", schedule = "auto", op = "N";
  std::int64_t m = 0, n = 0, mb = 0, nb = 0, to_mb = 0, to_nb = 0;
  int element_bytes = 8;
  redist::Machine machine;
  bool json = false, compare = false;
};

using base::GridShape;
using base::monotonic_s;

struct Made {
  Plan plan;
  double seconds; ///< plan, schedule and one process's own part
};

Made make(const redist::Layout& from, const redist::Layout& to, redist::PlanOptions options, Schedule schedule) {
  options.schedule = schedule;
  const double begin = monotonic_s();
  Plan plan(from, to, options);
  plan.for_rank(from.grid.ranks.back());
  return {std::move(plan), monotonic_s() - begin};
}

command::Json figures_of(const Made& made, const Arguments& arguments) {
  const redist::ScheduleFigures figures = made.plan.figures();
  const redist::PlanTotals totals = made.plan.totals();
  std::int64_t contention = 0;
  for (const std::int64_t one : figures.contention) contention = std::max(contention, one);
  return {{"schedule", redist::to_string(figures.schedule)},
          {"messages", totals.messages},
          {"steps", figures.steps},
          {"contention", contention},
          {"volume_bytes", totals.moved_elements * arguments.element_bytes},
          {"kept_bytes", totals.kept_elements * arguments.element_bytes},
          {"max_out_bytes", totals.max_out * arguments.element_bytes},
          {"max_in_bytes", totals.max_in * arguments.element_bytes},
          {"lower_bound_bytes", figures.lower_bound * arguments.element_bytes},
          {"schedule_bytes", figures.sum_of_largest * arguments.element_bytes},
          {"predicted_seconds", made.plan.predicted_seconds(arguments.machine, arguments.element_bytes)},
          {"plan_seconds", made.seconds}};
}

std::string bytes(std::int64_t count) {
  const char* const groups[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(count);
  std::size_t group = 0;
  for (; value >= 1000 && group + 1 < std::size(groups); ++group) value /= 1000;
  return fmt::format("{:.{}f} {}", value, group == 0 ? 0 : 2, groups[group]);
}

void run(const Arguments& arguments) {
  const GridShape f = base::parse_grid_shape(arguments.from, "--from"),
                  t = base::parse_grid_shape(arguments.to, "--to");
  redist::PlanOptions options;
  options.element_bytes = arguments.element_bytes;
  options.machine = arguments.machine;
  const bool transposed = arguments.op != "N";
  options.op = arguments.op == "N"   ? redist::Op::none
               : arguments.op == "T" ? redist::Op::transpose
                                     : redist::Op::conjugate_transpose;
  const std::int64_t m_to = transposed ? arguments.n : arguments.m, n_to = transposed ? arguments.m : arguments.n;
  const redist::Layout from = redist::Layout::row_major(Axis::equal(arguments.m, arguments.mb, f.nprow),
                                                        Axis::equal(arguments.n, arguments.nb, f.npcol));
  redist::Layout to =
      redist::Layout::row_major(Axis::equal(m_to, arguments.to_mb > 0 ? arguments.to_mb : arguments.mb, t.nprow),
                                Axis::equal(n_to, arguments.to_nb > 0 ? arguments.to_nb : arguments.nb, t.npcol));
  // Placement keeps the matrix where it is; a transposed target has only the grid in common with it.
  to.grid.ranks = gridmap::place({from.rows, from.cols, Axis::equal(arguments.m, arguments.mb, t.nprow),
                                  Axis::equal(arguments.n, arguments.nb, t.npcol),
                                  gridmap::parse_placement(arguments.placement, "--placement")})
                      .grid;
  const Schedule schedule = redist::schedule_from(arguments.schedule);
  const Made made = make(from, to, options, schedule);
  command::Json result = figures_of(made, arguments);
  command::Json all = command::Json::array();
  if (arguments.compare)
    for (const Schedule one : {Schedule::caterpillar, Schedule::circulant, Schedule::matching, Schedule::async})
      all.push_back(figures_of(make(from, to, options, one), arguments));

  result["grid"] = command::rows_of(to.grid.ranks, t.npcol);
  if (arguments.compare) result["schedules"] = all;
  if (command::print_json(arguments.json, result)) return;
  fmt::print("{}", made.plan.describe());
  fmt::print("  {} move, {} stay; lower bound {} per process, schedule {}\n",
             bytes(result["volume_bytes"].get<std::int64_t>()), bytes(result["kept_bytes"].get<std::int64_t>()),
             bytes(result["lower_bound_bytes"].get<std::int64_t>()),
             bytes(result["schedule_bytes"].get<std::int64_t>()));
  fmt::print("  predicted {} at {}/s, {} per message; planned in {}\n",
             command::duration_text(result["predicted_seconds"].get<double>()),
             bytes(static_cast<std::int64_t>(arguments.machine.bandwidth_bytes_per_s)),
             command::duration_text(arguments.machine.latency_s), command::duration_text(made.seconds));
  if (arguments.compare) {
    fmt::print("  {:<12} {:>9} {:>10} {:>12} {:>9} {:>12} {:>10}\n", "schedule", "steps", "partners", "bytes",
               "of bound", "predicted", "planned in");
    for (const auto& one : all) {
      const double bound = std::max(1.0, one.at("lower_bound_bytes").get<double>());
      fmt::print("  {:<12} {:>9} {:>10} {:>12} {:>9.3f} {:>12} {:>10}\n", one.at("schedule").get<std::string>(),
                 one.at("steps").get<std::int64_t>(), one.at("contention").get<std::int64_t>(),
                 bytes(one.at("schedule_bytes").get<std::int64_t>()), one.at("schedule_bytes").get<double>() / bound,
                 command::duration_text(one.at("predicted_seconds").get<double>()),
                 command::duration_text(one.at("plan_seconds").get<double>()));
    }
  }
}

} // namespace

void command::add_plan_exchange(CommandLine& plan) {
  auto arguments = std::make_shared<Arguments>();
  CommandLine& app = plan.add_command("exchange", "Messages, steps, volume and predicted seconds of a redistribution");
  app.add_option("--from", arguments->from, "old grid, rows x columns, e.g. 2x2").required();
  app.add_option("--to", arguments->to, "new grid").required();
  app.add_option("--m", arguments->m, "rows of the matrix").required().check(base::non_negative_number());
  app.add_option("--n", arguments->n, "columns of the matrix").required().check(base::non_negative_number());
  app.add_option("--mb", arguments->mb, "rows of a block (default: one block per grid row)")
      .check(base::positive_number());
  app.add_option("--nb", arguments->nb, "columns of a block (default: one block per grid column)")
      .check(base::positive_number());
  app.add_option("--to-mb", arguments->to_mb, "rows of a block on the new grid (default: --mb)")
      .check(base::positive_number());
  app.add_option("--to-nb", arguments->to_nb, "columns of a block on the new grid (default: --nb)")
      .check(base::positive_number());
  app.add_option("--placement", arguments->placement, "optimal, global, local1 or local2").show_default();
  app.add_option("--schedule", arguments->schedule, "auto, caterpillar, circulant, matching or async").show_default();
  app.add_option("--op", arguments->op, "N, T or C: transpose on the way")
      .check(base::one_of({"N", "T", "C"}))
      .show_default();
  app.add_option("--element-bytes", arguments->element_bytes, "bytes of an element")
      .check(base::in_range(1, 1024))
      .show_default();
  command::add_machine_options(app, arguments->machine, "here");
  app.add_option("--cores", arguments->machine.cores, "cores of all processes together (0: one each)")
      .check(base::non_negative_number());
  app.add_flag("--compare", arguments->compare, "all schedules beside each other");
  app.add_flag("--json", arguments->json, "one line of JSON");
  app.action([arguments, &app] {
    const int cores = arguments->machine.cores; // the run that was measured had other grids
    arguments->machine = command::machine_of(app, arguments->machine, control::known_machine());
    arguments->machine.cores = cores;
    run(*arguments);
  });
}
