// SPDX-License-Identifier: BSD-3-Clause
#include "control/protocol.hpp"

#include <algorithm>
#include <cmath>

#include "base/names.hpp"
#include "base/parse_json.hpp"

namespace control {
namespace {

using base::Error;
using base::Status;

std::string shown(const Json& value) {
  std::string text = base::json_text(value);
  if (text.size() > 40) text = text.substr(0, 40) + "...";
  return text;
}

/// The member, or null when it is absent.
Json member_of(const Request& request, const char* member) {
  return request.body->value(member, Json());
}

/// A request without a number gets null back.
Json to_json(const RequestId& id) {
  return id ? std::visit([](auto number) { return Json(number); }, *id) : Json(nullptr);
}

/// In the order of Operation.
const base::Names& operation_names() {
  // never destroyed: the thread that answers may read it while the program exits
  static const auto* names = new base::Names{"status",  "resize", "grow", "shrink",  "leave", "offer", "cancel",
                                             "history", "watch",  "load", "balance", "calls", "grant", "checkpoint"};
  return *names;
}

} // namespace

const char* to_string(Operation operation) {
  return base::name_of(operation, operation_names());
}

Operation operation_of(const Request& request) {
  const base::Names& names = operation_names();
  const auto name = std::find(names.begin(), names.end(), request.op);
  if (name == names.end()) refuse("op \"{}\" is not known, expected {}", request.op.substr(0, 40), base::any_of(names));
  return static_cast<Operation>(name - names.begin());
}

Request parse_request(std::string_view line) {
  Json body;
  try {
    body = base::parse_json(line, deepest_nesting);
  } catch (const Json::exception&) {
    refuse("request is not JSON, expected one object on one line");
  } catch (const std::runtime_error&) {
    refuse("request nested deeper than {}", deepest_nesting);
  }
  if (!body.is_object()) refuse("request is {}, expected an object", shown(body));
  Request request;
  const auto id = body.find("id");
  if (id != body.end() && !id->is_null()) {
    if (!id->is_number_integer()) refuse("id is {}, expected a whole number of 64 bits", shown(*id));
    if (id->is_number_unsigned())
      request.id = id->get<std::uint64_t>();
    else
      request.id = id->get<std::int64_t>();
  }
  const auto op = body.find("op");
  if (op == body.end() || !op->is_string()) refuse("request has no \"op\", expected a word");
  request.op = op->get<std::string>();
  request.body = std::make_shared<const Json>(std::move(body));
  return request;
}

std::string to_line(const Json& object) {
  return base::json_text(object) + "\n";
}

Json reply(const RequestId& id, Json fields) {
  fields["id"] = to_json(id);
  fields["ok"] = true;
  return fields;
}

Json failure(const RequestId& id, Status status, const std::string& text) {
  return {{"id", to_json(id)}, {"ok", false}, {"status", static_cast<int>(status)}, {"error", text}};
}

Json failure(const RequestId& id, const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  return failure(id, ours ? ours->status() : Status::internal, error.what());
}

std::int64_t whole_number(const Request& request, const char* member, std::int64_t least, std::int64_t most) {
  const Json value = member_of(request, member);
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX});
  if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
    refuse("{}: \"{}\" is {}, expected a whole number {} .. {}", request.op, member, shown(value), least, most);
  return value.get<std::int64_t>();
}

double seconds(const Request& request, const char* member, double otherwise) {
  const Json value = member_of(request, member);
  if (value.is_null()) return otherwise;
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() <= 0)
    refuse("{}: \"{}\" is {}, expected seconds above 0", request.op, member, shown(value));
  return value.get<double>();
}

bool flag(const Request& request, const char* member) {
  const Json value = member_of(request, member);
  if (value.is_null()) return false;
  if (!value.is_boolean()) refuse("{}: \"{}\" is {}, expected true or false", request.op, member, shown(value));
  return value.get<bool>();
}

std::string text(const Request& request, const char* member, const std::string& otherwise) {
  const Json value = member_of(request, member);
  if (value.is_null()) return otherwise;
  if (!value.is_string()) refuse("{}: \"{}\" is {}, expected text", request.op, member, shown(value));
  return value.get<std::string>();
}

base::GridShape grid(const Request& request, const char* member) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  const Json value = member_of(request, member);
  const auto is_side = [](const Json& side) {
    return side.is_number_integer() && side.get<std::int64_t>() >= 1 && side.get<std::int64_t>() <= most;
  };
  if (!value.is_array() || value.size() != 2 || !is_side(value[0]) || !is_side(value[1]) ||
      value[0].get<std::int64_t>() * value[1].get<std::int64_t>() > most)
    refuse("{}: \"{}\" is {}, expected [rows, columns] from 1, at most {} processes", request.op, member, shown(value),
           most);
  return {value[0].get<int>(), value[1].get<int>()};
}

Json to_json(base::GridShape shape) {
  return Json::array({shape.nprow, shape.npcol});
}

base::GridShape shape_from(const Json& value) {
  if (!value.is_array() || value.size() != 2 || !value[0].is_number_integer() || !value[1].is_number_integer())
    return {};
  const auto p = value[0].get<std::int64_t>(), q = value[1].get<std::int64_t>();
  constexpr std::int64_t most = base::max_processes;
  if (p < 1 || q < 1 || p > most || q > most || p * q > most) return {};
  return {static_cast<int>(p), static_cast<int>(q)};
}

} // namespace control
