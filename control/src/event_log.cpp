// SPDX-License-Identifier: BSD-3-Clause
#include "control/event_log.hpp"

#include <algorithm>

#include "base/parse_json.hpp"

namespace control {
namespace {

constexpr std::size_t steps_kept = 1024, events_kept = 1000;

} // namespace

EventLog::EventLog() = default;
EventLog::~EventLog() = default;

void EventLog::want_steps(bool requested) {
  wants_steps_ = requested;
  if (requested) steps_.reserve(steps_kept);
}

void EventLog::step(std::int64_t number, base::GridShape grid, double step_s, double t) {
  if (!wants_steps_) return;
  if (steps_.size() < steps_kept)
    steps_.push_back({number, grid, step_s, t});
  else
    ++skipped_;
}

void EventLog::add(std::int64_t steps_ended, Json event) {
  if (events_.size() < events_kept || event["event"] == "outcome")
    events_.emplace_back(steps_ended, std::move(event));
  else
    ++dropped_;
}

std::vector<Json> EventLog::take() {
  std::vector<Json> events;
  for (const Step& step : steps_)
    events.push_back({{"event", "step"},
                      {"step", step.number},
                      {"grid", to_json(step.grid)},
                      {"step_s", step.step_s},
                      {"t", step.t}});
  steps_.clear();
  if (skipped_ > 0) events.push_back({{"event", "skipped"}, {"events", std::exchange(skipped_, 0)}});
  for (auto& [ended, event] : events_) {
    const std::int64_t first = ended;
    const auto place = std::find_if(events.begin(), events.end(), [&](const Json& other) {
      return other.value("event", Json()) == "step" && other.at("step").get<std::int64_t>() >= first;
    });
    events.insert(place, std::move(event));
  }
  events_.clear();
  if (dropped_ > 0) events.push_back({{"event", "skipped"}, {"events", std::exchange(dropped_, 0)}, {"of", "others"}});
  return events;
}

} // namespace control
