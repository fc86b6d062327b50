// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/grid_shape.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "command.hpp"
#include "control/history_json.hpp"
#include "history_calls.hpp"
#include "job_text.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

using base::Json;

struct HistoryOptions {
  std::string job;
  std::vector<std::string> predict;
  bool calls = false, json = false;
};

struct RunHistory {
  int cores = 0; ///< of a running job; 0: not known
  control::HistoryKey key;
  control::History history;
};

/// The records of a running job, including the steps of this moment.
RunHistory history_of_job(const std::string& job) {
  control::Client client = connect_to(job);
  const Json answer = control::whole_history(client);
  RunHistory entry;
  entry.cores = answer.value("cores", 0);
  entry.key = {answer.at("app").get<std::string>(), answer.at("size").get<std::string>(),
               answer.at("machine").get<std::string>()};
  entry.history = control::history_from(answer);
  return entry;
}

Json as_json(const RunHistory& e, const std::vector<base::GridShape>& to_predict) {
  Json grids = Json::array(), resizes = Json::array(), balances = Json::array(), phases = Json::array(),
       predictions = Json::array();
  for (const auto& [shape, times] : e.history.steps) grids.push_back(control::members_of(shape, times));
  for (const auto& change : e.history.changes) resizes.push_back(control::members_of(change));
  for (const auto& balance : e.history.balances) balances.push_back(control::members_of(balance));
  for (const auto& [phase, times] : e.history.phases) phases.push_back(control::members_of(phase, times));
  for (const auto& [p, q] : to_predict) {
    const auto found = control::predict_step(e.history.steps, {p, q}, e.cores);
    if (found)
      predictions.push_back(
          {{"grid", {p, q}}, {"seconds", found->seconds}, {"error", found->error}, {"measured", found->is_measured}});
  }
  const auto sweet = control::sweet_spot(e.history.steps);
  return {{"app", e.key.app},
          {"size", e.key.size},
          {"machine", e.key.machine},
          {"grids", grids},
          {"resizes", resizes},
          {"totals", control::members_of(e.history.totals)},
          {"balances", balances},
          {"phases", phases},
          {"figures", e.history.machine ? control::members_of(*e.history.machine) : Json(nullptr)},
          {"predictions", predictions},
          {"sweet_spot", sweet ? Json{sweet->nprow, sweet->npcol} : Json(nullptr)}};
}

/// Of a change that was requested at a step of the program; else it has none.
std::string step_text(std::int64_t step) {
  return step < 0 ? "-" : std::to_string(step);
}

/// Predicted and measured, side by side; a dash for what was not measured.
void print(const std::vector<control::BalanceReport>& balances) {
  if (balances.empty()) return;
  const auto measured = [](double s) { return s > 0 ? duration_text(s) : std::string("-"); };
  std::vector<std::vector<std::string>> rows{
      {"BALANCE", "FROM", "TO", "STEP", "FORESEEN", "WAS", "CHANGE", "FORESEEN", "PAYOFF"}};
  for (std::size_t i = balances.size() > 10 ? balances.size() - 10 : 0; i < balances.size(); ++i) {
    const control::BalanceReport& b = balances[i];
    rows.push_back({to_string(b.action), fmt::format("{}x{}", b.from.nprow, b.from.npcol),
                    fmt::format("{}x{}", b.to.nprow, b.to.npcol), measured(b.measured_before_s),
                    duration_text(b.after_s), measured(b.measured_after_s), duration_text(b.measured_change_s),
                    duration_text(b.change_s), step_text(b.payoff_steps)});
  }
  std::printf("last balances\n%s", table(rows).c_str());
}

/// Each in all its layouts, then the times of moves between them.
void print(const control::PhaseTimes& phases) {
  std::vector<std::vector<std::string>> rows{{"PHASE", "GRID", "LAYOUTS", "TIMES", "MEAN", "+-", "LEAST"}},
      moves{{"MOVED", "GRID", "FROM", "TO", "TIMES", "MEAN", "+-", "LEAST"}};
  for (const auto& [key, t] : phases) {
    std::vector<std::string> row{base::printable(key.name), to_string(key.grid)};
    if (key.is_move()) row.push_back(base::printable(key.from));
    for (const std::string& text : {base::printable(key.layouts), std::to_string(t.count), duration_text(t.mean),
                                    duration_text(t.error()), duration_text(t.least)})
      row.push_back(text);
    (key.is_move() ? moves : rows).push_back(row);
  }
  if (rows.size() > 1) std::printf("phases\n%s", table(rows).c_str());
  if (moves.size() > 1) std::printf("matrices moved between phases\n%s", table(moves).c_str());
}

void print(const RunHistory& e, const std::vector<base::GridShape>& to_predict) {
  std::printf("%s\n", base::printable(fmt::format("{}, {}, on {}", e.key.app, e.key.size, e.key.machine)).c_str());
  std::vector<std::vector<std::string>> rows{{"GRID", "STEPS", "STEP TIME", "+-", "LEAST"}};
  for (const auto& [shape, t] : e.history.steps)
    rows.push_back({to_string(shape), std::to_string(t.count), duration_text(t.mean), duration_text(t.error()),
                    duration_text(t.least)});
  if (rows.size() > 1)
    std::printf("%s", table(rows).c_str());
  else
    std::printf("no steps yet\n");
  if (const auto sweet = control::sweet_spot(e.history.steps))
    std::printf("sweet spot: %dx%d\n", sweet->nprow, sweet->npcol);
  for (const auto& [p, q] : to_predict)
    if (const auto found = control::predict_step(e.history.steps, {p, q}, e.cores))
      std::printf("%dx%d: %s +- %s, %s\n", p, q, duration_text(found->seconds).c_str(),
                  duration_text(found->error).c_str(),
                  found->is_measured
                      ? "measured"
                      : fmt::format("fit through {} grid{}", found->grids, found->grids == 1 ? "" : "s").c_str());
  if (e.history.machine)
    std::printf("exchanges: %s a message, %s/s sent, %s/s copied on each of %d core%s\n",
                duration_text(e.history.machine->latency_s).c_str(),
                bytes_text(static_cast<std::int64_t>(e.history.machine->bandwidth_bytes_per_s)).c_str(),
                bytes_text(static_cast<std::int64_t>(e.history.machine->pack_bytes_per_s)).c_str(),
                e.history.machine->cores, e.history.machine->cores == 1 ? "" : "s");
  print(e.history.phases);
  print(e.history.balances);
  const auto& changes = e.history.changes;
  if (changes.empty()) return;
  rows = {{"FROM", "TO", "STARTED", "SPAWN", "MERGE", "PLAN", "EXCHANGE", "MOVED", "ASKED", "CHANGED"}};
  for (std::size_t i = changes.size() > 10 ? changes.size() - 10 : 0; i < changes.size(); ++i) {
    const auto& c = changes[i];
    rows.push_back({fmt::format("{}x{}", c.from.nprow, c.from.npcol), fmt::format("{}x{}", c.to.nprow, c.to.npcol),
                    std::to_string(c.spawned), duration_text(c.spawn_s), duration_text(c.merge_s),
                    duration_text(c.plan_s), duration_text(c.exchange_s), bytes_text(c.moved_bytes),
                    step_text(c.asked_at_step), step_text(c.changed_at_step)});
  }
  std::printf("last changes of the grid\n%s", table(rows).c_str());
  if (const control::ChangeTotals& all = e.history.totals; all.count > 0)
    std::printf("%lld change%s in this run: spawn %s, merge %s, plan %s, exchange %s, %s moved\n",
                static_cast<long long>(all.count), all.count == 1 ? "" : "s", duration_text(all.spawn_s).c_str(),
                duration_text(all.merge_s).c_str(), duration_text(all.plan_s).c_str(),
                duration_text(all.exchange_s).c_str(), bytes_text(all.moved_bytes).c_str());
}

/// A line for each program.
void print_programs(const std::vector<RunHistory>& entries) {
  struct Program {
    std::set<std::string> sizes;
    std::set<base::GridShape> grids;
    std::int64_t steps = 0;
    std::size_t changes = 0;
  };
  std::map<std::string, Program> programs;
  for (const RunHistory& e : entries) {
    Program& p = programs[e.key.app];
    p.sizes.insert(e.key.size);
    p.changes += e.history.changes.size();
    for (const auto& [shape, times] : e.history.steps) {
      p.grids.insert(shape);
      p.steps += times.count;
    }
  }
  std::vector<std::vector<std::string>> rows{{"PROGRAM", "SIZES", "GRIDS", "STEPS", "CHANGES"}};
  for (const auto& [name, p] : programs)
    rows.push_back({base::printable(name), std::to_string(p.sizes.size()), std::to_string(p.grids.size()),
                    std::to_string(p.steps), std::to_string(p.changes)});
  std::printf("%sdyngrid history PROGRAM shows all of one\n", table(rows).c_str());
}

void run(const HistoryOptions& o) {
  if (o.calls) {
    if (!o.predict.empty()) throw Failure("got --calls and --predict, expected one of them");
    return show_calls(o.job, o.json);
  }
  std::vector<base::GridShape> to_predict;
  for (const std::string& text : o.predict) to_predict.push_back(base::parse_grid_shape(text, "--predict"));
  std::vector<RunHistory> entries;
  const std::vector<std::string> running = running_jobs();
  if (std::find(running.begin(), running.end(), o.job) != running.end()) {
    entries.push_back(history_of_job(o.job));
  } else {
    for (auto& [key, history] : control::read_all_history(control::history_file()))
      if (key.size != control::calls_size && (o.job.empty() || key.app == o.job))
        entries.push_back({0, key, std::move(history)});
    if (!o.job.empty() && entries.empty())
      throw Failure(fmt::format("no job {} is running, and nothing is known of a program of that name", o.job), 1);
  }
  if (o.json) {
    Json all = Json::array();
    for (const RunHistory& e : entries) all.push_back(as_json(e, to_predict));
    print_json(true, {{"history", all}});
    return;
  }
  if (entries.empty()) std::printf("no history in %s\n", control::history_file().c_str());
  if (o.job.empty() && to_predict.empty() && !entries.empty()) return print_programs(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) std::printf("\n");
    print(entries[i], to_predict);
  }
}

} // namespace

void add_history(CommandLine& root) {
  CommandLine& app = root.add_command("history", "Times of steps, phases and changes: of a job, or of earlier runs");
  auto o = std::make_shared<HistoryOptions>();
  app.add_option("JOB", o->job, "a running job, or the name of a program; without it, a line for each program");
  app.add_option("--predict", o->predict, "also the step time on these grids, e.g. 4x4, with its error")
      .type_name("PxQ");
  app.add_flag("--calls", o->calls,
               "times of calls of ScaLAPACK's routines, by place, under dyngrid run --calls; without JOB those of the "
               "only running job, else of each program's last run");
  app.add_flag("--json", o->json, "print one JSON object");
  app.footer(
      "With --calls: \"where it was\" has the seconds that the calls would have taken on the caller's grid, of calls\n"
      "that were measured there. With DYNGRID_CALLS=report the column is \"in best place\": the seconds there. \"moved "
      "MB\"\ncounts both ways. A run is kept in the history when it ends by itself.");
  app.action([o] { run(*o); });
}

} // namespace command
