// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <cstdio>
#include <memory>
#include <tuple>

#include <fmt/format.h>

#include "advise/topology.hpp"
#include "base/grid_shape.hpp"
#include "base/parse_json.hpp"
#include "command.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

struct TopologyOptions {
  int procs = 0, add = 0;
  double aspect_p = 0, aspect_q = 0;
  std::string from, data, valid, times;
  bool json = false;
};

void run(const TopologyOptions& o, const CommandLine& app) {
  advise::TopologyRequest request;
  if (!o.from.empty()) {
    const base::GridShape from = base::parse_grid_shape(o.from, "--from");
    request.from_nprow = from.nprow;
    request.from_npcol = from.npcol;
  }
  if (app.count("--add") > 0) {
    if (o.from.empty()) throw Failure("--add: expected together with --from");
    const std::int64_t procs = std::int64_t{request.from_nprow} * request.from_npcol + o.add;
    if (procs > advise::most_procs)
      throw Failure(fmt::format("--add: {} more than {} are {} processes, expected at most {}", o.add, o.from, procs,
                                advise::most_procs));
    request.procs = static_cast<int>(procs);
  } else if (app.count("--procs") > 0) {
    request.procs = o.procs;
  } else {
    throw Failure("--procs is required (or --add together with --from)");
  }
  request.aspect_p = o.aspect_p;
  request.aspect_q = o.aspect_q;
  if (!o.data.empty()) std::tie(request.data_m, request.data_n) = parse_sizes("--data", o.data);
  if (!o.valid.empty()) request.valid_procs = advise::parse_set(o.valid);
  request.times = parse_times("--times", o.times);

  const advise::Topology t = advise::choose_topology(request);
  std::vector<int> idle;
  for (int process = t.used; process < request.procs; ++process) idle.push_back(process);
  Json json{{"nprow", t.nprow}, {"npcol", t.npcol},       {"used", t.used},
            {"idle", t.idle},   {"idle_processes", idle}, {"why", t.why}};
  if (!request.times.empty()) {
    json["seconds"] = t.seconds;
    json["interpolated"] = t.interpolated;
  }
  if (print_json(o.json, json)) return;
  std::printf("%dx%d: %d of %d processes used, %d idle\n%s\n", t.nprow, t.npcol, t.used, request.procs, t.idle,
              t.why.c_str());
}

} // namespace

void add_plan_shapes(CommandLine& plan) {
  CommandLine& app = plan.add_command("shapes", "The grid shape for a number of processes");
  auto o = std::make_shared<TopologyOptions>();
  app.add_option("--procs", o->procs, "processes available in all, those of --from included").type_name("N");
  // 0 means 'no limit' in the library, here it is a mistake
  app.add_option("--aspect-p", o->aspect_p, "limit: columns <= P * rows").type_name("P").check(base::positive_number());
  app.add_option("--aspect-q", o->aspect_q, "limit: rows <= Q * columns").type_name("Q").check(base::positive_number());
  app.add_option("--from", o->from, "only add rows and columns to this grid").type_name("RxC");
  app.add_option("--add", o->add, "instead of --procs: processes available besides --from")
      .type_name("N")
      .check(base::non_negative_number());
  app.add_option("--data", o->data, "a matrix of this size: local pieces should be square").type_name("MxN");
  app.add_option("--valid", o->valid, "allowed numbers of processes, e.g. 4:32:*2 or 1,2,4,9").type_name("SET");
  app.add_option("--times", o->times, "measured seconds: the fastest shape wins, measured or between measured ones")
      .type_name("RxC=S,...");
  app.add_flag("--json", o->json, "print one JSON object");
  app.action([o, &app] { run(*o, app); });
}

} // namespace command
