// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "advise/decide.hpp"
#include "base/command_line.hpp"
#include "base/grid_shape.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "control/history_json.hpp"
#include "job_text.hpp"
#include "json_reader.hpp"
#include "machine_options.hpp"
#include "redist/element.hpp"
#include "redist/predict.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

using advise::Situation;
using base::GridShape;

struct DecideOptions {
  std::string job, from, to, times, history, app;
  std::vector<std::string> matrices;
  std::int64_t steps = -1;
  int cores = 0;
  advise::Machine machine;
  bool json = false;
};

[[noreturn]] void bad_matrix(const std::string& text) {
  throw Failure(fmt::format("--matrix: got '{}', expected e.g. 2000x2000, 3*d2000x1000/64x64 or d2000x1@column", text));
}

/// "row", "first:2x3": over which processes it is.
void add_place(const std::string& text, redist::MatrixSize& matrix) {
  const base::Names& names = redist::over_names();
  const auto colon = text.find(':');
  const auto name = std::find(names.begin(), names.end(), text.substr(0, colon));
  if (name == names.end())
    throw Failure(fmt::format("--matrix: '@{}' is no place, expected {}", text, base::any_of(names)));
  matrix.over = static_cast<redist::Over>(name - names.begin());
  if (colon == std::string::npos) return;
  const auto most = base::grid_shape_from(text.substr(colon + 1));
  if (matrix.over != redist::Over::first || !most)
    throw Failure(fmt::format("--matrix: got '@{}', expected e.g. first:2x3; other places have no grid", text));
  matrix.most = *most;
}

/// "3*d2000x1000/64x64@row", as `dyngrid ps` shows the size of a problem: number, type (default d), rows and columns,
/// those of a block; and over which processes it is.
void add_matrices(const std::string& text, std::vector<redist::MatrixSize>& matrices) {
  std::string rest = text;
  int count = 1;
  if (const auto star = rest.find('*'); star != std::string::npos) {
    count = base::whole_number<int>(rest.substr(0, star)).value_or(0);
    if (count < 1 || count > 1000) bad_matrix(text);
    rest.erase(0, star + 1);
  }
  redist::MatrixSize matrix;
  if (!rest.empty() && std::isalpha(static_cast<unsigned char>(rest[0])) != 0) {
    matrix.element_bytes = redist::element_bytes(rest[0]);
    if (matrix.element_bytes == 0) bad_matrix(text);
    rest.erase(0, 1);
  }
  if (const auto at = rest.find('@'); at != std::string::npos) {
    add_place(rest.substr(at + 1), matrix);
    rest.erase(at);
  }
  const auto slash = rest.find('/');
  std::tie(matrix.m, matrix.n) = parse_sizes("--matrix", rest.substr(0, slash));
  if (slash != std::string::npos) std::tie(matrix.mb, matrix.nb) = parse_sizes("--matrix", rest.substr(slash + 1));
  matrices.insert(matrices.end(), static_cast<std::size_t>(count), matrix);
}

/// The matrices of a running job. A job with many kinds does not list them: then one as large as all of them.
std::vector<redist::MatrixSize> matrices_of(const control::Json& status) {
  std::vector<redist::MatrixSize> matrices;
  const auto known = status.value("matrices", status.value("size", std::string("-")));
  try {
    if (known != "-")
      for (const std::string& each : base::split(known, '+')) add_matrices(each, matrices);
  } catch (const Failure&) {
    const auto n = static_cast<std::int64_t>(std::sqrt(status.value("matrix_bytes", 0.0) / 8));
    matrices = {{n, n, 64, 64, 8}};
  }
  return matrices;
}

void take(const control::History& history, Situation& s) {
  s.steps = history.steps;
  s.changes = history.changes;
  s.spawns = history.spawns;
}

struct Question {
  Situation situation;
  GridShape to;
  advise::Machine machine;
};

/// The state of a running job with the figures of its machine, and its history file's records of starting processes.
std::vector<redist::MatrixSize> ask(const DecideOptions& o, Question& q) {
  Situation& s = q.situation;
  const std::string job = job_or_only(o.job);
  control::Client client = connect_to(job);
  const control::Json status = client.call("status", {}), known = control::whole_history(client);
  const control::History history = control::history_from(known);
  take(history, s);
  q.machine = history.machine.value_or(advise::Machine{});
  const control::HistoryKey key{known.value("app", ""), known.value("size", ""), known.value("machine", "")};
  const control::History earlier = control::read_history(known.value("file", ""), key);
  if (!earlier.spawns.empty()) s.spawns = earlier.spawns;
  s.grid = control::shape_from(status.value("grid", control::Json()));
  if (s.grid.size() < 1) throw Failure(fmt::format("job {} has no grid", job), 1);
  s.allowed = advise::Allowed::parse(status.value("allowed", ""));
  s.parked = status.value("parked", 0);
  s.cores = known.value("cores", 0);
  s.per_core = known.value("per_core", 0);
  const auto steps = status.value("steps", std::int64_t{0}), step = status.value("step", std::int64_t{0});
  if (steps > 0) s.steps_left = std::max<std::int64_t>(0, steps - step);
  return matrices_of(status);
}

/// `dyngrid history --json`, from a file or, with "-", from stdin.
control::History read_printed(const std::string& name, const std::string& app) {
  const control::Json all = json_file(name, "--history");
  if (!all.is_object() || !all.contains("history") || !all.at("history").is_array())
    throw Failure(fmt::format("--history: {} is not what dyngrid history --json prints", name));
  std::vector<control::Json> found;
  for (const control::Json& entry : all.at("history"))
    if (app.empty() || entry.value("app", "") == app) found.push_back(entry);
  if (found.size() == 1) return control::history_from(found[0]);
  std::string names;
  for (const control::Json& entry : all.at("history"))
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", entry.value("app", ""), entry.value("size", ""));
  throw Failure(fmt::format("--history: {} histories{} in {}, expected one ({})", found.size(),
                            app.empty() ? "" : " of " + app, name, names));
}

Question question_of(const DecideOptions& o, const CommandLine& app) {
  Question q;
  Situation& s = q.situation;
  q.to = base::parse_grid_shape(o.to, "--to");
  std::vector<redist::MatrixSize> matrices;
  const bool is_running = o.from.empty();
  if (is_running) {
    if (!o.history.empty() || !o.app.empty())
      throw Failure("--history and --app are for --from, which is missing: a job has its own history");
    matrices = ask(o, q);
  } else {
    if (!o.job.empty()) throw Failure("--from: got a job too, expected one of them");
    if (!o.app.empty() && o.history.empty()) throw Failure("--app chooses in --history, which is missing");
    q.machine = control::known_machine();
    s.grid = base::parse_grid_shape(o.from, "--from");
    if (!o.history.empty()) take(read_printed(o.history, o.app), s);
  }
  if (!o.matrices.empty()) matrices.clear();
  for (const std::string& text : o.matrices) add_matrices(text, matrices);
  if (!o.times.empty()) s.steps = advise::step_table(parse_times("--times", o.times));
  if (app.count("--steps") > 0) s.steps_left = o.steps;
  if (app.count("--cores") > 0) s.cores = o.cores;
  s.usual_spawn_s = advise::usual_spawn_s;

  q.machine = machine_of(app, o.machine, q.machine);
  s.planned_exchange = [matrices, machine = q.machine](GridShape from, GridShape to) {
    return redist::predict_exchange(matrices, from, to, machine);
  };
  s.used_grid = [matrices](GridShape grid) { return redist::used_grid(matrices, grid); };
  return q;
}

Json json_of(const Question& q, const advise::Decision& decision, const advise::Cost& change) {
  const Situation& s = q.situation;
  Json json{{"from", {s.grid.nprow, s.grid.npcol}},
            {"grid", {q.to.nprow, q.to.npcol}},
            {"accepted", decision.is_accepted},
            {"why", decision.why},
            {"steps_left", s.steps_left >= 0 ? Json(s.steps_left) : Json(nullptr)},
            {"terms", control::to_json(change)},
            {"change_s", change.total()},
            {"machine",
             {{"latency_s", q.machine.latency_s},
              {"bandwidth_bytes_per_s", q.machine.bandwidth_bytes_per_s},
              {"pack_bytes_per_s", q.machine.pack_bytes_per_s}}}};
  const auto forecast = advise::forecast(s, q.to);
  json["step_now"] = forecast ? control::to_json(forecast->now) : Json(nullptr);
  json["step_then"] = forecast ? control::to_json(forecast->then) : Json(nullptr);
  json["payoff_steps"] = forecast ? Json(forecast->payoff_steps) : Json(nullptr);
  json["payoff_steps_at_best"] = forecast ? Json(forecast->payoff_at_best) : Json(nullptr);
  return json;
}

std::string step_text(const advise::Prediction& p) {
  return fmt::format("{:>10}  {} +- {}", duration_text(p.seconds),
                     p.is_measured ? "measured" : fmt::format("fit through {} grid{}", p.grids, p.grids > 1 ? "s" : ""),
                     duration_text(p.error));
}

void print(const Question& q, const advise::Decision& decision, const advise::Cost& change) {
  const Situation& s = q.situation;
  std::printf("%dx%d -> %dx%d: %s; %s\n", s.grid.nprow, s.grid.npcol, q.to.nprow, q.to.npcol,
              decision.is_accepted ? "yes" : "no", base::printable(decision.why).c_str());
  std::printf("  change       %10s\n", duration_text(change.total()).c_str());
  for (const advise::Term& term : change.terms)
    std::printf("    %-10s %10s\n", std::string(term.name).c_str(), duration_text(term.seconds).c_str());
  if (const auto forecast = advise::forecast(s, q.to)) {
    std::printf("  step before  %s\n  step after   %s\n", step_text(forecast->now).c_str(),
                step_text(forecast->then).c_str());
    std::printf("  pays         %s\n",
                forecast->payoff_steps < 0 ? "never" : fmt::format("after {} steps", forecast->payoff_steps).c_str());
  } else {
    std::printf("  no step time is known: --times or --history\n");
  }
  if (s.steps_left >= 0) std::printf("  steps left   %lld\n", static_cast<long long>(s.steps_left));
}

void run(const DecideOptions& o, const CommandLine& app) {
  const Question q = question_of(o, app);
  const advise::Decision decision = advise::decide_resize(q.situation, q.to, false);
  const advise::Cost change = advise::change_cost(q.situation, q.to);
  if (!print_json(o.json, json_of(q, decision, change))) print(q, decision, change);
}

} // namespace

void add_plan_decision(CommandLine& plan) {
  CommandLine& app = plan.add_command("decision", "Whether a change of the grid pays, and what it costs term by term");
  auto o = std::make_shared<DecideOptions>();
  app.add_option("JOB", o->job, "a running job; without it and --from, the only one");
  app.add_option("--to", o->to, "the new grid").type_name("PxQ").required();
  app.add_option("--from", o->from, "no job is asked: the grid in use").type_name("PxQ");
  app.add_option("--matrix", o->matrices,
                 "what moves: number, type, size, block, e.g. 3*d2000x1000/64x64; and over which processes it is: "
                 "@row, @column, @first:PxQ, @all, @each-row, @each-column (default: the grid)")
      .type_name("SIZE")
      .repeatable();
  app.add_option("--steps", o->steps, "steps that are left").check(base::non_negative_number());
  app.add_option("--times", o->times, "measured seconds of a step, e.g. 2x2=1.2,3x3=0.6").type_name("PxQ=S,...");
  app.add_option("--history", o->history, "what dyngrid history --json has printed; - is stdin").type_name("FILE");
  app.add_option("--app", o->app, "of several histories, that of this program").type_name("NAME");
  app.add_option("--cores", o->cores, "cores of the hosts; 0: not known").check(base::non_negative_number());
  add_machine_options(app, o->machine, "by the job, or here");
  app.add_flag("--json", o->json, "print one JSON object");
  app.footer(
      "Examples:\n"
      "  dyngrid plan decision --to 3x3\n"
      "  dyngrid plan decision 4711 --to 4x4 --json\n"
      "  dyngrid plan decision --from 2x2 --to 3x3 --matrix 3*d4000x4000/64x64 --times 2x2=1.2,3x3=0.6 --steps "
      "100\n"
      "  dyngrid history --json pdgemm | dyngrid plan decision --from 2x2 --to 4x4 --history -\n"
      "The answer is the one of the job to dyngrid resize, except for grids that it has tried and left again.\n"
      "The terms are spawn, merge, plan, and latency, bandwidth and packing of the exchange. Packing is the time\n"
      "by which copies take longer than the network. A change that was measured has one term, exchange, instead\n"
      "of these three.");
  app.action([o, &app] { run(*o, app); });
}

} // namespace command
