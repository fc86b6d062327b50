// SPDX-License-Identifier: BSD-3-Clause
#include "control/call_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/parse_json.hpp"

namespace control {

using advise::CallTally;
using Lock = std::lock_guard<std::mutex>;

std::string describe(const CallReport& r) {
  std::string text = advise::describe(r.calls, r.is_report);
  if (r.left_out > 0) text += fmt::format("{} more routines and sizes\n", r.left_out);
  if (r.other_contexts > 0)
    text += fmt::format("{} calls in other contexts than those of the first processes that called: left alone\n",
                        r.other_contexts);
  if (r.without_memory > 0) text += fmt::format("{} calls without memory for a copy\n", r.without_memory);
  return text;
}

Json members_of(const CallReport& r, std::size_t most) {
  Json calls = Json::array();
  for (const CallTally& t : r.calls) {
    if (calls.size() == most) break;
    calls.push_back({{"routine", t.routine},
                     {"size", t.size},
                     {"calls", t.calls},
                     {"places", t.places},
                     {"seconds", t.seconds},
                     {"other_s", t.other_s},
                     {"known", t.known},
                     {"best", t.best},
                     {"moved_bytes", t.moved_bytes}});
  }
  const auto left_out = static_cast<std::int64_t>(r.calls.size() - calls.size());
  return {{"on", r.is_on},
          {"report", r.is_report},
          {"calls", std::move(calls)},
          {"left_out", r.left_out + left_out},
          {"other_contexts", r.other_contexts},
          {"without_memory", r.without_memory},
          {"measured", r.measured}};
}

CallReport call_report_from(const Json& json) {
  CallReport r;
  r.job = json.value("job", r.job);
  r.when = json.value("when", r.when);
  r.is_on = json.at("on").get<bool>();
  r.is_report = json.at("report").get<bool>();
  r.left_out = json.at("left_out").get<std::int64_t>();
  r.other_contexts = json.at("other_contexts").get<std::int64_t>();
  r.without_memory = json.at("without_memory").get<std::int64_t>();
  r.measured = json.at("measured").get<std::int64_t>();
  for (const Json& call : json.at("calls")) {
    CallTally t;
    t.routine = call.at("routine").get<std::string>();
    t.size = call.at("size").get<std::string>();
    t.calls = call.at("calls").get<std::int64_t>();
    t.places = call.at("places").get<std::map<std::string, std::int64_t>>();
    t.seconds = call.at("seconds").get<double>();
    t.other_s = call.at("other_s").get<double>();
    t.known = call.at("known").get<std::int64_t>();
    t.best = call.value("best", t.best); // older runs in the history have none
    t.moved_bytes = call.at("moved_bytes").get<double>();
    r.calls.push_back(std::move(t));
  }
  return r;
}

void CallsBoard::begin(bool is_report) {
  const Lock lock(mutex_);
  counts_.is_on = true;
  counts_.is_report = is_report;
}

void CallsBoard::add(const CallTally& call) {
  const Lock lock(mutex_);
  CallTally& tally = calls_[{call.routine, call.size}];
  tally.routine = call.routine;
  tally.size = call.size;
  tally.calls += call.calls;
  for (const auto& [place, count] : call.places) tally.places[place] += count;
  tally.seconds += call.seconds;
  tally.other_s += call.other_s;
  tally.known += call.known;
  tally.moved_bytes += call.moved_bytes;
}

CallTally& CallsBoard::row(const std::string& routine, const std::string& size) {
  const Lock lock(mutex_);
  CallTally& tally = calls_[{routine, size}];
  tally.routine = routine;
  tally.size = size;
  return tally;
}

void CallsBoard::add_to(CallTally& row, double seconds, double other_s, std::int64_t known) {
  static const std::string own_place = "-";
  const Lock lock(mutex_);
  ++row.calls;
  ++row.places[own_place];
  row.seconds += seconds;
  row.other_s += other_s;
  row.known += known;
}

void CallsBoard::best_is(CallTally& row, const std::string& place) {
  const Lock lock(mutex_);
  row.best = place;
}

void CallsBoard::left_alone() {
  const Lock lock(mutex_);
  ++counts_.other_contexts;
}

void CallsBoard::had_no_memory() {
  const Lock lock(mutex_);
  ++counts_.without_memory;
}

void CallsBoard::measured_place() {
  const Lock lock(mutex_);
  ++counts_.measured;
}

CallReport CallsBoard::report() const {
  CallReport report;
  {
    const Lock lock(mutex_);
    report = counts_;
    for (const auto& entry : calls_)
      if (entry.second.calls > 0) report.calls.push_back(entry.second);
  }
  std::stable_sort(report.calls.begin(), report.calls.end(),
                   [](const CallTally& a, const CallTally& b) { return a.seconds > b.seconds; });
  return report;
}

} // namespace control
