// SPDX-License-Identifier: BSD-3-Clause
// Answers of process 0 to requests of clients: JobState's half of the listener's thread.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/parse_json.hpp"
#include "control/history_json.hpp"
#include "control/job_state.hpp"
#include "gridmap/placement.hpp"
#include "job_parts.hpp"

namespace control {

advise::Decision decide(const advise::Situation& here, const ResizeRequest& request) {
  if (request.op == Operation::resize && !request.without.is_empty())
    return advise::decide_resize_without(here, request.to, request.without, request.force, request.form);
  if (request.op == Operation::resize) return advise::decide_resize(here, request.to, request.force, request.form);
  if (request.op == Operation::grow && request.offer) return advise::decide_offer(here, *request.offer, request.force);
  if (request.op == Operation::grow) return advise::decide_grow(here, request.by, request.force, request.form);
  if (request.op == Operation::leave) return advise::decide_leave(here, request.groups);
  return advise::decide_shrink(here, request.by);
}

void take_choice(ResizeRequest& request, const advise::Decision& decision) {
  if (!decision.choice) return;
  request.hosts = decision.choice->hosts;
  request.form = decision.choice->form;
}

Json json_of(const std::vector<advise::GroupInfo>& groups) {
  Json list = Json::array();
  for (const advise::GroupInfo& group : groups)
    list.push_back({{"unit", group.number}, {"processes", group.processes}, {"active", group.active}});
  return list;
}

Json hosts_of(const std::vector<advise::ProcessInfo>& processes) {
  constexpr std::size_t most_hosts = 512;
  std::map<std::string, int> count;
  for (const advise::ProcessInfo& p : processes)
    if (p.place >= 0) ++count[p.asked_host.empty() ? p.host : p.asked_host];
  if (count.size() > most_hosts) return nullptr;
  Json list = Json::array();
  for (const auto& [name, slots] : count) list.push_back({{"name", name}, {"slots", slots}});
  return list;
}

namespace {

using base::Error;
using base::Status;
using Lock = std::lock_guard<std::mutex>;

std::vector<std::int64_t> groups_in(const Request& request) {
  const auto given = request.body->find("units");
  const bool is_there = given != request.body->end();
  const auto is_number = [](const Json& value) { return value.is_number_integer() && value.get<std::int64_t>() > 0; };
  if (!is_there || !given->is_array() || given->empty() || given->size() > 1024 ||
      !std::all_of(given->begin(), given->end(), is_number))
    refuse("{}: \"units\" is {}, expected a list of numbers from 1", request.op,
           is_there ? base::json_text(*given).substr(0, 80) : "missing");
  return given->get<std::vector<std::int64_t>>();
}

/// The offer, as far as the request names it by number or by host.
std::optional<advise::Offer> offer_in(const Request& request, const char* number, std::int64_t& count) {
  constexpr std::int64_t most = 1 << 20;
  std::optional<advise::Offer> offer = offer_of(request);
  if (!offer || request.body->contains(number)) count = whole_number(request, number, 1, most);
  if (offer) offer->most = count;
  return offer;
}

Json json_of(const std::vector<advise::ProcessInfo>& processes, int npcol) {
  Json list = Json::array();
  for (const advise::ProcessInfo& p : processes) {
    list.push_back({{"process", p.id}, {"host", p.host}, {"unit", p.unit}, {"speed", p.speed}});
    list.back()["place"] = p.place < 0 ? Json(nullptr) : Json({p.place / npcol, p.place % npcol});
  }
  return list;
}

Json json_of(const advise::Forecast& f) {
  return {{"step_now", to_json(f.now)},     {"step_then", to_json(f.then)},
          {"spawn_s", f.spawn_s()},         {"exchange_s", f.exchange_s()},
          {"other_s", f.other_s()},         {"resize_s", f.resize_s()},
          {"payoff_steps", f.payoff_steps}, {"payoff_steps_at_best", f.payoff_at_best},
          {"terms", to_json(f.change)}};
}

/// The answer to a request for another grid, or to an offer.
Json json_of(const advise::Decision& decision, base::GridShape from) {
  Json answer{{"accepted", decision.is_accepted}, {"from", to_json(from)}};
  if (decision.forecast) answer["prediction"] = json_of(*decision.forecast);
  if (decision.is_accepted) {
    answer["grid"] = to_json(decision.to);
    if (decision.choice) answer["chosen"] = to_json(*decision.choice);
  }
  answer[decision.is_accepted ? "why" : "reason"] = decision.why;
  return answer;
}

Json json_of(const ResizeRequest& p, double now) {
  Json json{{"request", p.number},
            {"op", to_string(p.op)},
            {"from", to_json(p.from)},
            {"grid", to_json(p.to)},
            {"late", p.is_late()}};
  json["deadline_s"] = p.deadline ? Json(*p.deadline - now) : Json(nullptr);
  return json;
}

} // namespace

Json JobState::status(double now, bool with_processes) const {
  const Lock lock(mutex_);
  Json json{{"job", info_.job},
            {"pid", info_.pid},
            {"app", info_.app},
            {"size", size_},
            {"host", info_.host},
            {"protocol", protocol_version},
            {"version", info_.version},
            {"grid", to_json(grid_)},
            {"first_grid", to_json(first_grid_)},
            {"parked", parked_},
            {"kept", kept()},
            {"warm", warm_},
            {"starting", warm_starting_},
            {"step", step_},
            {"steps", steps_},
            {"steps_on_grid", stay_.steps},
            {"uptime_s", now - started_},
            {"allowed", allowed_.text()},
            {"resizable", info_.why_fixed.empty()},
            {"matrices", each_matrix_},
            {"matrix_bytes", matrix_bytes_}};
  json["step_s"] = last_step_s_ ? Json(*last_step_s_) : Json(nullptr);
  json["mean_step_s"] = stay_.mean_s() ? Json(*stay_.mean_s()) : Json(nullptr);
  json["last_resize"] = nullptr;
  if (last_change_) {
    json["last_resize"] = to_json(last_change_->report);
    json["last_resize"]["t"] = last_change_->at;
  }
  json["pending"] = queue_.waiting() ? json_of(*queue_.waiting(), now) : Json(nullptr);
  json["under_way"] = under_way_.empty() ? Json(nullptr) : Json(under_way_.back());
  json["asks"] = ask_ ? to_json(*ask_) : Json(nullptr);
  json["experimenting"] = experiment_.has_value();
  json["units"] = json_of(groups_);
  json["hosts"] = hosts_of(processes_);
  json["cores"] = info_.cores;
  if (with_processes) json["processes"] = json_of(processes_, npcol_);
  return json;
}

Json JobState::history(std::int64_t from) const {
  History known;
  std::string size;
  {
    const Lock lock(mutex_);
    known = book_->known();
    known.steps = steps_by_grid();
    size = size_;
    known.machine = figures();
  }
  Page page;
  std::int64_t at = 0;
  const auto list_of = [&](const auto& entries, auto&& to_element) {
    Json list = Json::array();
    for (const auto& entry : entries) {
      if (page.is_full) break;
      if (at >= from) {
        Json element = to_element(entry);
        if (!page.add(element)) break;
        list.push_back(std::move(element));
      }
      ++at;
    }
    return list;
  };
  const auto as_members = [](const auto& entry) { return members_of(entry); };
  const auto keyed = [](const auto& entry) { return members_of(entry.first, entry.second); };
  Json json{{"app", info_.app}, {"size", size}, {"machine", info_.machine}, {"file", info_.history_file}};
  json["grids"] = list_of(known.steps, keyed);
  json["resizes"] = list_of(known.changes, as_members);
  json["balances"] = list_of(known.balances, as_members);
  json["phases"] = list_of(known.phases, keyed);
  json["next"] = page.is_full ? Json(at) : Json(nullptr);
  json["totals"] = members_of(known.totals);
  json["figures"] = known.machine ? members_of(*known.machine) : Json(nullptr);
  json["cores"] = info_.cores;
  json["per_core"] = info_.per_core;
  const auto sweet = sweet_spot(known.steps);
  json["sweet_spot"] = sweet ? to_json(*sweet) : Json(nullptr);
  return json;
}

Json JobState::calls() const {
  constexpr std::size_t most = 400; // far below the limit of unread answers of a client
  Json json = members_of(calls_ == nullptr ? CallReport{} : calls_->report(), most);
  json["app"] = info_.app;
  return json;
}

/// A grid that was undone as slower than the present one would be undone again.
void JobState::refuse_undone(const advise::Situation& here, advise::Decision& decision) const {
  const Lock lock(mutex_);
  const auto tried = undone_.find(decision.to);
  const auto now = here.steps.find(here.grid);
  if (decision.to.size() < here.grid.size() || tried == undone_.end() || now == here.steps.end() ||
      now->second.mean >= tried->second.step_s)
    return;
  decision.is_accepted = false;
  decision.why = tried->second.why;
}

Json JobState::submit(const Request& request, double now) {
  constexpr std::int64_t most = 1 << 20;
  ResizeRequest requested;
  requested.op = operation_of(request);
  requested.force = flag(request, "force");
  requested.undo = request.body->contains("undo") ? flag(request, "undo") : !requested.force;
  if (const std::string name = text(request, "placement", ""); !name.empty())
    requested.placement = gridmap::parse_placement(name.substr(0, 40), "control: " + request.op + ": \"placement\"");
  const double limit = seconds(request, "deadline_s", 0);
  if (limit > 0) requested.deadline = now + limit;
  const bool is_resize = requested.op == Operation::resize;
  for (const auto& [member, is_used] : // that of a growth: offer_of()
       {std::pair{"without", is_resize}, std::pair{"form", is_resize || requested.op == Operation::grow}})
    if (!is_used && request.body->contains(member))
      refuse("{}: \"{}\" is given, expected it only with resize{}", request.op, member,
             std::string_view(member) == "form" ? ", grow and offer" : "");
  if (requested.op == Operation::resize && request.body->contains("without")) {
    requested.without = advise::Without::parse(text(request, "without", ""), "resize: \"without\"");
    requested.undo = false; // the grid before contains the processes that are to leave
  }
  if (requested.op == Operation::resize)
    requested.to = grid(request, "grid");
  else if (requested.op == Operation::leave)
    requested.groups = groups_in(request);
  else if (requested.op == Operation::grow)
    requested.offer = offer_in(request, "by", requested.by);
  else
    requested.by = whole_number(request, "by", 1, most);
  if (!requested.offer) requested.form = form_of(request);
  if (!info_.why_fixed.empty()) return {{"accepted", false}, {"reason", info_.why_fixed}};
  advise::Situation here;
  {
    const Lock lock(mutex_);
    here = situation();
  }
  advise::Decision decision = decide(here, requested);
  if (decision.is_accepted && requested.undo) refuse_undone(here, decision);
  Json answer = json_of(decision, here.grid);
  if (!decision.is_accepted) return answer;
  requested.from = here.grid;
  requested.to = decision.to;
  take_choice(requested, decision);
  const Lock lock(mutex_);
  const RequestQueue::Submitted submitted = queue_.submit(std::move(requested));
  if (submitted.superseded) outcome(submitted.superseded->number, "superseded", {{"by", submitted.number}});
  post([&] {
    Json event = json_of(*queue_.waiting(), now);
    event["event"] = "request";
    return event;
  }());
  settle();
  answer["request"] = submitted.number;
  return answer;
}

Json JobState::offer(const Request& request) const {
  std::int64_t procs = 0;
  const std::optional<advise::Offer> offered = offer_in(request, "procs", procs);
  if (!info_.why_fixed.empty()) return {{"accepted", false}, {"reason", info_.why_fixed}};
  advise::Situation here;
  {
    const Lock lock(mutex_);
    here = situation();
  }
  const advise::Decision decision =
      offered ? advise::decide_offer(here, *offered, false) : advise::decide_grow(here, procs, false, form_of(request));
  Json answer = json_of(decision, here.grid);
  if (decision.is_accepted) answer["used"] = decision.to.size() - here.grid.size();
  return answer;
}

Json JobState::cancel(const Request& request) {
  std::optional<std::int64_t> number;
  if (request.body->contains("request") && !request.body->at("request").is_null())
    number = whole_number(request, "request", 1, INT64_MAX);
  const Lock lock(mutex_);
  const auto cancelled = queue_.cancel(number);
  if (cancelled) outcome(cancelled->number, "cancelled", Json::object());
  settle();
  return {{"cancelled", cancelled ? Json(cancelled->number) : Json(nullptr)}};
}

Json JobState::grant(const Request& request) {
  const auto number = whole_number(request, "ask", 1, INT64_MAX);
  Grant grant = Grant::in(request);
  const Lock lock(mutex_);
  if (!ask_ || ask_->number != number || ask_->granted > 0 || grant_)
    throw Error(Status::bad_state, "control: grant: \"ask\" is {}, which is not waiting for an answer", number);
  ask_->granted = grant.procs;
  grant_ = std::move(grant);
  answered_.notify_all();
  return {{"taken", true}};
}

Json JobState::balance(const Request& request) {
  if (!info_.why_fixed.empty()) return {{"accepted", false}, {"reason", info_.why_fixed}};
  std::int64_t number = 0;
  {
    const Lock lock(mutex_);
    number = queue_.number();
  }
  const auto before = board.ask(request, number);
  const Lock lock(mutex_);
  if (before) outcome(before->number, "superseded", {{"by", number}});
  return {{"accepted", true}, {"request", number}};
}

Json JobState::checkpoint(const Request& request) {
  const std::string signal = text(request, "signal", "");
  const bool ends = flag(request, "stop") || signal == "TERM";
  std::string reason = info_.why_fixed;
  if (info_.checkpoint_file.empty()) reason = "DYNGRID_CHECKPOINT names no file";
  if (!signal.empty() && signal != info_.checkpoint_signal)
    reason = fmt::format("DYNGRID_CHECKPOINT does not ask for one at SIG{}", signal.substr(0, 10));
  const Lock lock(mutex_);
  if (!reason.empty()) return {{"accepted", false}, {"reason", reason}};
  const CheckpointRequest requested{queue_.number(), ends};
  if (checkpoint_) outcome(checkpoint_->number, "superseded", {{"by", requested.number}});
  checkpoint_ = requested;
  is_checkpoint_requested_.store(true, std::memory_order_release);
  return {{"accepted", true}, {"request", requested.number}};
}

void JobState::look_at_deadlines(double now) {
  const Lock lock(mutex_);
  while (const auto overdue = queue_.overdue(now)) {
    if (overdue->is_withdrawn)
      outcome(overdue->number, "expired", {{"reason", "no resize point came before the deadline"}});
    else
      post({{"event", "late"}, {"request", overdue->number}});
  }
  settle();
}

std::optional<double> JobState::next_deadline() const {
  const Lock lock(mutex_);
  const auto& request = queue_.waiting();
  if (!request || request->is_late()) return std::nullopt;
  return request->deadline;
}

std::vector<Json> JobState::take_events() {
  const Lock lock(mutex_);
  std::vector<Json> events = events_.take();
  for (Json& event : board.take_events()) events.push_back(std::move(event));
  return events;
}

} // namespace control
