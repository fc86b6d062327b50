// SPDX-License-Identifier: BSD-3-Clause
#include "control/ask.hpp"

#include <cmath>

#include "base/parse_json.hpp"

namespace control {
namespace {

double number_in(const Json& object, const char* member, double otherwise, const std::string& where) {
  const auto at = object.find(member);
  if (at == object.end()) return otherwise;
  if (!at->is_number())
    refuse("{}: \"{}\" is {}, expected a number", where, member, base::json_text(*at).substr(0, 60));
  return at->get<double>();
}

advise::OfferedHost host_in(const Json& object, const std::string& where) {
  if (!object.is_object() || !object.contains("name") || !object.at("name").is_string())
    refuse("{} has {}, expected {{\"name\", \"slots\", \"speed\"}}", where, base::json_text(object).substr(0, 60));
  const double slots = number_in(object, "slots", 1, where);
  if (slots != std::floor(slots) || std::abs(slots) > 1e9)
    refuse("{}: \"slots\" is {}, expected a whole number", where, slots);
  return {object.at("name").get<std::string>(), static_cast<int>(slots), number_in(object, "speed", 1, where)};
}

} // namespace

Json to_json(const Ask& ask) {
  return {{"ask", ask.number},
          {"grids", ask.grids},
          {"wait", ask.waits},
          {"granted", ask.granted > 0 ? Json(ask.granted) : Json(nullptr)}};
}

std::optional<base::GridShape> grid_of(int procs, const advise::Allowed& allowed, const advise::Allowed& needed) {
  for (int rows = static_cast<int>(std::sqrt(procs)); rows > 0; --rows) {
    if (procs % rows != 0) continue;
    for (const base::GridShape shape : {base::GridShape{rows, procs / rows}, base::GridShape{procs / rows, rows}})
      if (allowed.permits(shape) && needed.permits(shape)) return shape;
  }
  return std::nullopt;
}

Grant Grant::in(const Request& request) {
  Grant grant;
  grant.procs = static_cast<int>(whole_number(request, "procs", 0, 1 << 20));
  grant.reason = text(request, "reason", "");
  if (const auto offer = offer_of(request)) grant.hosts = offer->hosts;
  return grant;
}

std::optional<gridmap::Strategy> form_of(const Request& request) {
  if (!request.body->contains("form")) return std::nullopt;
  return gridmap::parse_strategy(text(request, "form", ""), "control: " + request.op + ": \"form\"");
}

std::optional<advise::Offer> offer_of(const Request& request) {
  const std::string where = request.op + ": \"hosts\"";
  const auto list = request.body->find("hosts");
  if (list == request.body->end()) {
    if (request.body->contains("tpp")) refuse("{}: \"tpp\" without \"hosts\"; expected both", request.op);
    if (const auto form = form_of(request); form && form != gridmap::Strategy::local)
      refuse("{}: \"form\" is \"{}\" without \"hosts\"; expected both, or \"local\"", request.op,
             gridmap::to_string(*form));
    return std::nullopt;
  }
  if (!list->is_array() || list->size() > advise::most_hosts)
    refuse("{} is {}, expected a list of at most {} hosts", where, base::json_text(*list).substr(0, 60),
           advise::most_hosts);
  advise::Offer offer;
  for (const Json& host : *list) offer.hosts.push_back(host_in(host, where));
  advise::check_hosts(offer.hosts, where);
  if (request.body->contains("tpp")) {
    offer.tpp = number_in(*request.body, "tpp", 0, request.op);
    if (!std::isfinite(offer.tpp) || offer.tpp <= 0)
      refuse("{}: \"tpp\" is {}, expected a number above 0", request.op, offer.tpp);
  }
  offer.form = form_of(request).value_or(gridmap::Strategy::best);
  return offer;
}

Json to_json(const std::vector<advise::OfferedHost>& hosts) {
  Json list = Json::array();
  for (const advise::OfferedHost& host : hosts)
    list.push_back({{"name", host.name}, {"slots", host.slots}, {"speed", host.speed}});
  return list;
}

Json to_json(const advise::Choice& choice) {
  return {{"hosts", to_json(choice.hosts)},  {"form", gridmap::to_string(choice.form)}, {"power", choice.power},
          {"power_left", choice.power_left}, {"left_because", choice.left_because},     {"gain", choice.gain}};
}

} // namespace control
