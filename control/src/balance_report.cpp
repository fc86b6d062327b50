// SPDX-License-Identifier: BSD-3-Clause
#include "control/balance_report.hpp"

#include "base/index.hpp"
#include "base/parse_json.hpp"
#include "control/load.hpp"
#include "control/protocol.hpp"

namespace control {

using advise::BalanceAction;

BalanceReport::BalanceReport(const advise::Balance& balance, double step_s, std::int64_t number_)
    : number(number_), action(balance.action), from(balance.now.grid), to(balance.then.grid),
      leaves(static_cast<int>(balance.leaves.size())), comes(static_cast<int>(balance.comes.size())),
      before_s(balance.now.step_s()), after_s(balance.then.step_s()), change_s(balance.then.change.total()),
      measured_before_s(step_s), moved_elements(balance.then.moved_elements), payoff_steps(balance.payoff_steps),
      steps(balance.steps), why(balance.why) {}

void BalanceReport::judged(const advise::BalanceOutcome& outcome) {
  measured_before_s = outcome.before_s;
  measured_after_s = outcome.after_s;
  measured_steps = outcome.steps;
}

Json members_of(const BalanceReport& r) {
  return {{"number", r.number},
          {"action", to_string(r.action)},
          {"done", r.is_done},
          {"from", to_json(r.from)},
          {"grid", to_json(r.to)},
          {"leaves", r.leaves},
          {"comes", r.comes},
          {"predicted_before_s", r.before_s},
          {"predicted_after_s", r.after_s},
          {"predicted_change_s", r.change_s},
          {"before_s", r.measured_before_s},
          {"after_s", r.measured_after_s},
          {"change_s", r.measured_change_s},
          {"measured_steps", r.measured_steps},
          {"moved_elements", r.moved_elements},
          {"payoff_steps", r.payoff_steps},
          {"steps", r.steps},
          {"why", r.why}};
}

BalanceReport balance_report_from(const Json& json) {
  BalanceReport r;
  const std::string action = json.at("action").get<std::string>();
  for (const BalanceAction a :
       {BalanceAction::rebalance, BalanceAction::remove, BalanceAction::take_back, BalanceAction::replace})
    if (action == to_string(a)) r.action = a;
  r.from = shape_from(json.at("from"));
  r.to = shape_from(json.at("grid"));
  r.number = json.value("number", r.number);
  r.is_done = json.value("done", r.is_done);
  r.leaves = json.value("leaves", r.leaves);
  r.comes = json.value("comes", r.comes);
  r.before_s = json.value("predicted_before_s", r.before_s);
  r.after_s = json.value("predicted_after_s", r.after_s);
  r.change_s = json.value("predicted_change_s", r.change_s);
  r.measured_before_s = json.value("before_s", r.measured_before_s);
  r.measured_after_s = json.value("after_s", r.measured_after_s);
  r.measured_change_s = json.value("change_s", r.measured_change_s);
  r.measured_steps = json.value("measured_steps", r.measured_steps);
  r.moved_elements = json.value("moved_elements", r.moved_elements);
  r.payoff_steps = json.value("payoff_steps", r.payoff_steps);
  r.steps = json.value("steps", r.steps);
  r.why = json.value("why", r.why);
  return r;
}

Json to_json(const advise::ProcessLoad& load) {
  Json json{{"process", load.process},
            {"host", load.host},
            {"place", load.place >= 0 ? Json(load.place) : Json(nullptr)},
            {"samples", load.samples},
            {"source", to_string(static_cast<LoadSource>(load.source))},
            {"share", load.samples > 0 ? Json(load.share) : Json(nullptr)},
            {"waited", load.waited},
            {"throttled", load.throttled},
            {"stolen", load.stolen},
            {"stopped", load.stopped},
            {"stopped_s", load.stopped_s},
            {"busy", load.busy},
            {"held_s", load.held_s},
            {"calm_s", load.calm_s},
            {"speed", load.speed}};
  json["competing"] = load.competing >= 0 ? Json(load.competing) : Json(nullptr);
  return json;
}

Json to_json(const advise::Cost& cost) {
  Json json = Json::object();
  for (const advise::Term& term : cost.terms) json[std::string(term.name)] = term.seconds;
  return json;
}

namespace {

Json ids_of(const std::vector<int>& processes, const std::vector<int>& ids) {
  Json list = Json::array();
  for (const int k : processes) list.push_back(ids.empty() ? k : ids.at(base::at(k)));
  return list;
}

Json json_of_choice(const advise::BalanceChoice& choice, const std::vector<int>& ids) {
  return {{"grid", to_json(choice.grid)},
          {"processes", ids_of(choice.order, ids)},
          {"rows", choice.rows},
          {"cols", choice.cols},
          {"power", choice.power},
          {"step_s", choice.step_s()},
          {"step_terms", to_json(choice.step)},
          {"moved_elements", choice.moved_elements},
          {"change_s", choice.change.total()},
          {"change_terms", to_json(choice.change)}};
}

} // namespace

Json to_json(const advise::Balance& b, const std::vector<int>& ids) {
  const bool stays = b.action == advise::BalanceAction::stay;
  return {{"action", to_string(b.action)},
          {"why", b.why},
          {"now", json_of_choice(b.now, ids)},
          {"then", stays ? Json(nullptr) : json_of_choice(b.then, ids)},
          {"refused", b.refused ? json_of_choice(*b.refused, ids) : Json(nullptr)},
          {"leaves", ids_of(b.leaves, ids)},
          {"comes", ids_of(b.comes, ids)},
          {"gain", b.gain()},
          {"payoff_steps", stays ? Json(nullptr) : Json(b.payoff_steps)},
          {"steps", b.steps}};
}

Json to_json(const advise::BalanceOutcome& o) {
  Json json{{"action", to_string(o.action)},
            {"predicted_before_s", o.predicted_before_s},
            {"predicted_after_s", o.predicted_after_s},
            {"after_s", o.after_s},
            {"predicted_change_s", o.predicted_change_s},
            {"change_s", o.change_s},
            {"steps", o.steps}};
  json["before_s"] = o.before_s > 0 ? Json(o.before_s) : Json(nullptr);
  return json;
}

} // namespace control
