// SPDX-License-Identifier: BSD-3-Clause
#include "control/history_json.hpp"

#include <cmath>
#include <stdexcept>

#include "base/parse_json.hpp"

namespace control {
namespace {

StepTimes steps_from(const Json& grid) {
  StepTimes times;
  times.count = grid.value("steps", std::int64_t{0});
  times.mean = grid.value("mean_s", 0.0);
  times.least = grid.value("least_s", 0.0);
  const auto n = static_cast<double>(times.count);
  const double by_error = times.count > 1 ? std::pow(grid.value("error_s", 0.0), 2) * n * (n - 1) : 0;
  times.squares = grid.value("squares", by_error);
  return times;
}

ChangeTotals totals_from(const Json& json) {
  ChangeTotals totals;
  totals.count = json.value("count", std::int64_t{0});
  totals.moved_bytes = json.value("moved_bytes", std::int64_t{0});
  totals.spawn_s = json.value("spawn_s", 0.0);
  totals.merge_s = json.value("merge_s", 0.0);
  totals.plan_s = json.value("plan_s", 0.0);
  totals.exchange_s = json.value("exchange_s", 0.0);
  return totals;
}

} // namespace

Json whole_history(Client& job) {
  Json history = job.call("history", {});
  for (Json next = history.value("next", Json()); next.is_number_integer();)
    next = add_page(history, job.call("history", {{"from", next}}));
  history.erase("next");
  return history;
}

Json add_page(Json& history, const Json& page) {
  for (const char* list : {"grids", "resizes", "balances", "phases"})
    for (const Json& entry : page.value(list, Json::array())) history[list].push_back(entry);
  return page.value("next", Json());
}

History history_from(const Json& answer) {
  try {
    History history;
    for (const Json& grid : answer.value("grids", Json::array())) {
      const auto shape = shape_from(grid.value("grid", Json()));
      if (shape.nprow > 0 && shape.npcol > 0) history.steps[shape] = steps_from(grid);
    }
    for (const Json& change : answer.value("resizes", Json::array())) {
      history.changes.push_back(change_from(change));
      if (history.changes.back().spawned > 0) history.spawns.push_back(history.changes.back());
    }
    for (const Json& balance : answer.value("balances", Json::array()))
      history.balances.push_back(balance_report_from(balance));
    for (const Json& phase : answer.value("phases", Json::array())) history.phases.insert(phase_times_from(phase));
    if (answer.contains("totals")) history.totals = totals_from(answer.at("totals"));
    if (const auto figures = answer.find("figures"); figures != answer.end() && figures->is_object())
      history.machine = machine_from(*figures);
    return history;
  } catch (const std::exception& error) {
    throw base::Error(base::Status::bad_argument, std::string("control: history: ") + error.what());
  }
}

Json members_of(const StepTimes& times) {
  return {{"count", times.count}, {"mean_s", times.mean}, {"squares", times.squares}, {"least_s", times.least}};
}

StepTimes step_times_from(const Json& json) {
  StepTimes times;
  times.count = json.at("count").get<std::int64_t>();
  times.mean = json.at("mean_s").get<double>();
  times.squares = json.at("squares").get<double>();
  times.least = json.at("least_s").get<double>();
  const auto is_figure = [](double s) { return std::isfinite(s) && s >= 0; };
  if (times.count < 1 || !is_figure(times.mean) || !is_figure(times.squares) || !is_figure(times.least))
    throw base::Error(base::Status::bad_argument, "control: step times: a figure is below 0, or not finite");
  return times;
}

Json members_of(const PhaseKey& key, const StepTimes& times) {
  Json json = members_of(times);
  json["grid"] = to_json(key.grid);
  if (key.is_move())
    json.update({{"matrix", key.name}, {"from", key.from}, {"to", key.layouts}});
  else
    json.update({{"phase", key.name}, {"layouts", key.layouts}});
  return json;
}

std::pair<PhaseKey, StepTimes> phase_times_from(const Json& json) {
  PhaseKey key;
  key.grid = shape_from(json.at("grid"));
  const bool is_move = json.contains("matrix");
  key.name = json.at(is_move ? "matrix" : "phase").get<std::string>();
  key.layouts = json.at(is_move ? "to" : "layouts").get<std::string>();
  if (is_move) key.from = json.at("from").get<std::string>();
  if (key.grid.nprow < 1 || key.grid.npcol < 1 || (is_move && key.from.empty()))
    throw base::Error(base::Status::bad_argument, "control: phase times: no grid, or no layout before a move");
  return {key, step_times_from(json)};
}

Json to_json(const Prediction& p) {
  return {{"seconds", p.seconds}, {"error", p.error}, {"measured", p.is_measured}, {"grids", p.grids}};
}

Json members_of(base::GridShape grid, const StepTimes& times) {
  return {{"grid", to_json(grid)},    {"steps", times.count},     {"mean_s", times.mean},
          {"error_s", times.error()}, {"squares", times.squares}, {"least_s", times.least}};
}

Json members_of(const ChangeTotals& totals) {
  return {{"count", totals.count},   {"spawn_s", totals.spawn_s},       {"merge_s", totals.merge_s},
          {"plan_s", totals.plan_s}, {"exchange_s", totals.exchange_s}, {"moved_bytes", totals.moved_bytes}};
}

Json members_of(const ChangeCost& cost) {
  return {{"from", to_json(cost.from)},
          {"grid", to_json(cost.to)},
          {"spawned", cost.spawned},
          {"spawn_s", cost.spawn_s},
          {"merge_s", cost.merge_s},
          {"plan_s", cost.plan_s},
          {"exchange_s", cost.exchange_s},
          {"moved_bytes", cost.moved_bytes},
          {"planned_exchange_s", cost.predicted_exchange_s},
          {"asked_at_step", cost.asked_at_step},
          {"changed_at_step", cost.changed_at_step}};
}

ChangeCost change_from(const Json& json) {
  ChangeCost cost;
  cost.from = shape_from(json.value("from", Json()));
  cost.to = shape_from(json.value("grid", Json()));
  cost.spawned = json.value("spawned", 0);
  cost.spawn_s = json.value("spawn_s", 0.0);
  cost.merge_s = json.value("merge_s", 0.0);
  cost.plan_s = json.value("plan_s", 0.0);
  cost.exchange_s = json.value("exchange_s", 0.0);
  cost.moved_bytes = json.value("moved_bytes", std::int64_t{0});
  cost.predicted_exchange_s = json.value("planned_exchange_s", 0.0);
  cost.asked_at_step = json.value("asked_at_step", std::int64_t{-1});
  cost.changed_at_step = json.value("changed_at_step", std::int64_t{-1});
  return cost;
}

Json members_of(const advise::Machine& figures) {
  return {{"latency_s", figures.latency_s},
          {"bandwidth_bytes_per_s", figures.bandwidth_bytes_per_s},
          {"pack_bytes_per_s", figures.pack_bytes_per_s},
          {"cores", figures.cores}};
}

advise::Machine machine_from(const Json& json) {
  advise::Machine figures;
  figures.latency_s = json.at("latency_s").get<double>();
  figures.bandwidth_bytes_per_s = json.at("bandwidth_bytes_per_s").get<double>();
  figures.pack_bytes_per_s = json.at("pack_bytes_per_s").get<double>();
  figures.cores = json.at("cores").get<int>();
  for (const double figure : {figures.latency_s, figures.bandwidth_bytes_per_s, figures.pack_bytes_per_s})
    if (!std::isfinite(figure) || figure <= 0)
      throw std::out_of_range("control: history: a figure of the machine is not above 0");
  if (figures.cores < 0) throw std::out_of_range("control: history: cores are below 0");
  return figures;
}

} // namespace control
