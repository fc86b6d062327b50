// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "advise/phases.hpp"
#include "base/grid_shape.hpp"
#include "base/names.hpp"
#include "base/parse_json.hpp"
#include "command.hpp"
#include "control/history.hpp"
#include "json_reader.hpp"
#include "redist/plan.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

using advise::PhasePlan;
using advise::PhaseProblem;
using advise::PhaseUse;

struct PhasesOptions {
  std::string file;
  std::int64_t cycles = 0;
  bool json = false;
};

/// The file's entries for a matrix beside those for gridmap.
struct Matrix {
  std::string name;
  std::int64_t m = 0, n = 0, element_bytes = 8;
  std::vector<std::string> names;         ///< of its layouts
  std::vector<redist::Layout> layouts;    ///< empty where the moves are given
  std::vector<std::vector<double>> moves; ///< seconds, [from][to]
};

struct Problem {
  std::vector<Matrix> matrices;
  PhaseProblem plan;
};

int index_of(const std::vector<std::string>& names, const std::string& name, const std::string& where) {
  return static_cast<int>(base::number_of_name(name, names, "file: " + where));
}

redist::Layout layout_of(const Matrix& a, const std::string& grid, std::int64_t mb, std::int64_t nb) {
  using gridmap::Axis;
  const base::GridShape shape = base::parse_grid_shape(grid, "file: grid");
  return redist::Layout::row_major(Axis::equal(a.m, mb, shape.nprow), Axis::equal(a.n, nb, shape.npcol));
}

Matrix read_matrix(const Json& json, std::size_t k, PhaseProblem& plan) {
  Matrix a;
  Json layouts = Json::array();
  std::string start;
  advise::PhaseMatrix own;
  Reader reader(json, fmt::format("matrix {}", k));
  reader.take("name", a.name).take("m", a.m).take("n", a.n).take("element_bytes", a.element_bytes);
  reader.take("layouts", layouts).take("moves", a.moves).take("start", start).take("copy_bytes", own.copy_bytes);
  reader.refuse_others();
  if (a.name.empty() || layouts.empty())
    throw Failure(fmt::format("file: matrix {} has no name or no layouts, expected both", k));
  for (const Json& each : layouts) {
    std::string name, grid;
    std::int64_t mb = 0, nb = 0;
    Reader one(each, fmt::format("layout {} of {}", a.names.size(), a.name));
    one.take("name", name).take("grid", grid).take("mb", mb).take("nb", nb);
    one.refuse_others();
    a.names.push_back(name.empty() ? grid : name);
    if (!a.moves.empty()) continue;
    if (grid.empty() || a.m < 1 || a.n < 1)
      throw Failure(fmt::format("file: {} needs m, n and the grid of each layout, or moves", a.name));
    a.layouts.push_back(layout_of(a, grid, mb, nb));
  }
  if (!a.moves.empty() &&
      (a.moves.size() != a.names.size() ||
       std::any_of(a.moves.begin(), a.moves.end(), [&](const auto& row) { return row.size() != a.names.size(); })))
    throw Failure(
        fmt::format("file: moves of {} are not {} rows of {} numbers", a.name, a.names.size(), a.names.size()));
  own.name = a.name;
  own.layouts = static_cast<int>(a.names.size());
  if (own.copy_bytes == 0) own.copy_bytes = a.m * a.n * a.element_bytes;
  plan.matrices.push_back(own);
  plan.start.push_back(start.empty() ? 0 : index_of(a.names, start, "start of " + a.name));
  return a;
}

advise::PhaseCandidate read_candidate(const Json& json, const std::string& where, const Problem& problem) {
  advise::PhaseCandidate c;
  Json layouts = Json::object(), seconds;
  Reader reader(json, where);
  reader.take("name", c.name).take("layouts", layouts).take("seconds", seconds);
  reader.refuse_others();
  std::string names;
  Reader by_matrix(layouts, "layouts of " + where);
  for (const Matrix& a : problem.matrices) {
    std::string layout;
    by_matrix.take(a.name.c_str(), layout);
    c.layouts.push_back(layout.empty() ? -1 : index_of(a.names, layout, fmt::format("{} of {}", a.name, where)));
    if (!layout.empty()) names += (names.empty() ? "" : ", ") + a.name + " " + layout;
  }
  by_matrix.refuse_others();
  if (c.name.empty()) c.name = names;
  if (seconds.is_number()) seconds = Json::array({seconds});
  for (const Json& each : seconds) {
    if (!seconds.is_array() || !each.is_number())
      throw Failure(fmt::format("file: seconds of {} are {}, expected numbers", where, base::json_text(seconds)));
    c.seconds.push_back(each.get<double>());
  }
  return c;
}

advise::Phase read_phase(const Json& json, std::size_t k, const Problem& problem) {
  advise::Phase phase;
  phase.name = fmt::format("{}", k);
  Json uses = Json::object(), candidates = Json::array();
  Reader reader(json, fmt::format("phase {}", k));
  reader.take("name", phase.name).take("uses", uses).take("candidates", candidates);
  reader.refuse_others();
  Reader by_matrix(uses, "uses of phase " + phase.name);
  for (const Matrix& a : problem.matrices) {
    std::string use = "none";
    by_matrix.take(a.name.c_str(), use);
    phase.uses.push_back(base::value_of_name<PhaseUse>(use, {"none", "read", "write", "read_write"},
                                                       fmt::format("file: use of {} in phase {}", a.name, phase.name)));
  }
  by_matrix.refuse_others();
  for (const Json& each : candidates)
    phase.candidates.push_back(
        read_candidate(each, fmt::format("candidate {} of phase {}", phase.candidates.size(), phase.name), problem));
  return phase;
}

/// Seconds of each process of a move. From the file: the same for all. From redist: its prediction for the busiest, and
/// less for a process that sends and receives less.
std::vector<double> move_s(const Matrix& a, int from, int to, std::size_t processes) {
  if (!a.moves.empty())
    return std::vector<double>(processes, a.moves.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to)));
  const redist::Layout &source = a.layouts[static_cast<std::size_t>(from)],
                       &target = a.layouts[static_cast<std::size_t>(to)];
  redist::PlanOptions options;
  options.element_bytes = static_cast<int>(a.element_bytes);
  options.machine = control::known_machine();
  const redist::Plan plan(source, target, options);
  return plan.predicted_seconds_of_ranks(options.machine, options.element_bytes, static_cast<int>(processes));
}

Problem read_problem(const std::string& name, std::int64_t& cycles) {
  const Json all = json_file(name);
  Problem problem;
  Json matrices = Json::array(), phases = Json::array();
  Reader reader(all, name);
  reader.take("matrices", matrices).take("phases", phases).take("memory_bytes", problem.plan.memory_bytes);
  reader.take("cycles", cycles);
  reader.refuse_others();
  for (const Json& each : matrices)
    problem.matrices.push_back(read_matrix(each, problem.matrices.size(), problem.plan));
  for (const Json& each : phases) problem.plan.phases.push_back(read_phase(each, problem.plan.phases.size(), problem));
  std::size_t processes = 1; // a single number of seconds is that of all
  for (const advise::Phase& phase : problem.plan.phases)
    for (const advise::PhaseCandidate& c : phase.candidates) processes = std::max(processes, c.seconds.size());
  for (advise::Phase& phase : problem.plan.phases)
    for (advise::PhaseCandidate& c : phase.candidates)
      if (c.seconds.size() == 1) c.seconds.resize(processes, c.seconds[0]);
  return problem;
}

Json json_of(const Problem& problem, const PhasePlan& plan, bool is_endless) {
  Json steps = Json::array();
  for (const advise::PhaseStep& step : plan.steps) {
    const advise::Phase& phase = problem.plan.phases[static_cast<std::size_t>(step.phase)];
    Json copies = Json::object();
    for (std::size_t m = 0; m < problem.matrices.size(); ++m)
      if (step.copied_from[m] >= 0)
        copies[problem.matrices[m].name] = problem.matrices[m].names[static_cast<std::size_t>(step.copied_from[m])];
    steps.push_back({{"phase", phase.name},
                     {"candidate", phase.candidates[static_cast<std::size_t>(step.candidate)].name},
                     {"copied_from", copies},
                     {"seconds", step.seconds},
                     {"move_s", step.move_s}});
  }
  return {{"cycle_s", plan.cycle_s},
          {"seconds", is_endless ? Json(nullptr) : Json(plan.seconds)},
          {"period", is_endless ? Json(plan.period) : Json(nullptr)},
          {"lead_in", is_endless ? Json(plan.lead_in) : Json(nullptr)},
          {"steps", steps}};
}

void print(const Problem& problem, const PhasePlan& plan, bool is_endless) {
  constexpr std::size_t most_lines = 200;
  std::vector<std::vector<std::string>> rows{{"phase", "candidate", "seconds", "of it moving", "copies"}};
  for (std::size_t k = 0; k < std::min(plan.steps.size(), most_lines); ++k) {
    const advise::PhaseStep& step = plan.steps[k];
    const advise::Phase& phase = problem.plan.phases[static_cast<std::size_t>(step.phase)];
    const advise::PhaseCandidate& candidate = phase.candidates[static_cast<std::size_t>(step.candidate)];
    std::string copies;
    for (std::size_t m = 0; m < problem.matrices.size(); ++m)
      if (step.copied_from[m] >= 0)
        copies += fmt::format("{}{} {} -> {}", copies.empty() ? "" : ", ", problem.matrices[m].name,
                              problem.matrices[m].names[static_cast<std::size_t>(step.copied_from[m])],
                              problem.matrices[m].names[static_cast<std::size_t>(candidate.layouts[m])]);
    const std::string mark = is_endless && k >= plan.lead_in ? "* " : "";
    rows.push_back(
        {mark + phase.name, candidate.name, duration_text(step.seconds), duration_text(step.move_s), copies});
  }
  std::printf("%s", table(rows).c_str());
  if (plan.steps.size() > most_lines) std::printf("and %zu more; --json has them\n", plan.steps.size() - most_lines);
  if (is_endless)
    std::printf("* is repeated: %d cycle%s, %s each\n", plan.period, plan.period == 1 ? "" : "s",
                duration_text(plan.cycle_s).c_str());
  else
    std::printf("%s, %s a cycle\n", duration_text(plan.seconds).c_str(), duration_text(plan.cycle_s).c_str());
}

void run(const PhasesOptions& o, const CommandLine& app) {
  std::int64_t cycles = 0;
  Problem problem = read_problem(o.file, cycles);
  if (app.count("--cycles") > 0) cycles = o.cycles;
  const std::vector<Matrix>& matrices = problem.matrices;
  const std::size_t processes = problem.plan.phases.empty() || problem.plan.phases[0].candidates.empty()
                                    ? 1
                                    : problem.plan.phases[0].candidates[0].seconds.size();
  problem.plan.move = [&](int m, int from, int to) {
    return move_s(matrices[static_cast<std::size_t>(m)], from, to, processes);
  };
  const bool is_endless = cycles == 0;
  const PhasePlan plan =
      is_endless ? advise::plan_endless_phases(problem.plan) : advise::plan_phases(problem.plan, cycles);
  if (!print_json(o.json, json_of(problem, plan, is_endless))) print(problem, plan, is_endless);
}

} // namespace

void add_plan_phases(CommandLine& plan) {
  CommandLine& app = plan.add_command("phases", "A program of several phases: which layout each of them should have");
  auto o = std::make_shared<PhasesOptions>();
  app.add_option("FILE", o->file, "phases, candidates and matrices as JSON; - is stdin").required();
  app.add_option("--cycles", o->cycles, "cycles of phases that are left; 0: there is no end to them")
      .check(base::non_negative_number());
  app.add_flag("--json", o->json, "print one JSON object");
  app.footer(
      "Members of FILE: matrices, phases, memory_bytes (for all copies; without it any), cycles.\n"
      "A matrix: name, layouts (each with a name, and grid mb nb), start (a layout; the first one), m n "
      "element_bytes;\n"
      "moves: seconds of a copy, a row for each layout it is made of. Without moves they are predicted, which needs m, "
      "n\n"
      "and the grids; without mb and nb one block for each process. copy_bytes where it is not m n element_bytes.\n"
      "A phase: name, uses (read, write or read_write by matrix), candidates (each with layouts by matrix, and "
      "seconds:\n"
      "a number, or one for each process).\n"
      "A matrix that is read in another layout has copies in both, until it is written.\n"
      "Example:\n"
      "  echo '{\"matrices\": [{\"name\": \"x\", \"layouts\": [{\"name\": \"B\"}, {\"name\": \"V\"}],\n"
      "    \"moves\": [[0, 2], [2, 0]]}], \"phases\": [{\"name\": \"uniform\", \"uses\": {\"x\": \"read\"}, "
      "\"candidates\":\n"
      "    [{\"layouts\": {\"x\": \"B\"}, \"seconds\": 5}, {\"layouts\": {\"x\": \"V\"}, \"seconds\": 7}]}]}' | "
      "dyngrid plan phases -");
  app.action([o, &app] { run(*o, app); });
}

} // namespace command
