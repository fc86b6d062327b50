// SPDX-License-Identifier: BSD-3-Clause
#include "control/phase_times.hpp"

#include <cmath>

#include "base/parse_json.hpp"
#include "base/status.hpp"
#include "control/protocol.hpp"

namespace control {

Json members_of(const advise::StepTimes& times) {
  return {{"count", times.count}, {"mean_s", times.mean}, {"squares", times.squares}, {"least_s", times.least}};
}

advise::StepTimes step_times_from(const Json& json) {
  advise::StepTimes times;
  times.count = json.at("count").get<std::int64_t>();
  times.mean = json.at("mean_s").get<double>();
  times.squares = json.at("squares").get<double>();
  times.least = json.at("least_s").get<double>();
  const auto is_figure = [](double s) { return std::isfinite(s) && s >= 0; };
  if (times.count < 1 || !is_figure(times.mean) || !is_figure(times.squares) || !is_figure(times.least))
    throw base::Error(base::Status::bad_argument, "control: step times: a figure is below 0, or not finite");
  return times;
}

Json members_of(const PhaseKey& key, const advise::StepTimes& times) {
  Json json = members_of(times);
  json["grid"] = to_json(base::GridShape{key.grid.first, key.grid.second});
  if (key.is_move())
    json.update({{"matrix", key.name}, {"from", key.from}, {"to", key.layouts}});
  else
    json.update({{"phase", key.name}, {"layouts", key.layouts}});
  return json;
}

std::pair<PhaseKey, advise::StepTimes> phase_times_from(const Json& json) {
  PhaseKey key;
  const base::GridShape grid = shape_from(json.at("grid"));
  key.grid = {grid.nprow, grid.npcol};
  const bool is_move = json.contains("matrix");
  key.name = json.at(is_move ? "matrix" : "phase").get<std::string>();
  key.layouts = json.at(is_move ? "to" : "layouts").get<std::string>();
  if (is_move) key.from = json.at("from").get<std::string>();
  if (grid.nprow < 1 || grid.npcol < 1 || (is_move && key.from.empty()))
    throw base::Error(base::Status::bad_argument, "control: phase times: no grid, or no layout before a move");
  return {key, step_times_from(json)};
}

} // namespace control
