// SPDX-License-Identifier: BSD-3-Clause
#include "base/parse_json.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace base {
namespace {

[[noreturn]] void is_not(const Json& json, const char* expected) {
  throw std::runtime_error(fmt::format("JSON value is {}{}, expected {}",
                                       json.is_null()                        ? ""
                                       : json.is_array() || json.is_object() ? "an "
                                                                             : "a ",
                                       json.type_name(), expected));
}

template <class T> [[noreturn]] void is_outside(const Json& json, T least, T most) {
  throw std::runtime_error(fmt::format("JSON number is {}, expected one from {} to {}", json_text(json), least, most));
}

} // namespace

Json parse_json(std::string_view text, int deepest) {
  if (text.size() > largest_json)
    throw std::runtime_error(fmt::format("JSON text has {} bytes, expected at most {}", text.size(), largest_json));
  const auto check_depth = [deepest](int depth, Json::parse_event_t event, const Json&) {
    const bool opens = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth >= deepest) throw std::runtime_error(fmt::format("JSON is nested deeper than {}", deepest));
    return true;
  };
  return Json::parse(text, check_depth);
}

Json parse_json_or_null(std::string_view text) {
  try {
    return parse_json(text);
  } catch (const Json::exception&) {
  } catch (const std::runtime_error&) {
  }
  return nullptr;
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

namespace detail {

bool json_boolean(const Json& json) {
  if (const auto* value = json.get_ptr<const bool*>()) return *value;
  is_not(json, "a boolean");
}

const std::string& json_string(const Json& json) {
  if (const auto* value = json.get_ptr<const std::string*>()) return *value;
  is_not(json, "a string");
}

double json_number(const Json& json) {
  if (const auto* value = json.get_ptr<const double*>()) return *value;
  if (const auto* value = json.get_ptr<const std::uint64_t*>()) return static_cast<double>(*value);
  if (const auto* value = json.get_ptr<const std::int64_t*>()) return static_cast<double>(*value);
  is_not(json, "a number");
}

std::int64_t json_integer(const Json& json, std::int64_t least, std::int64_t most) {
  std::int64_t whole = 0;
  bool fits = true;
  if (const auto* positive = json.get_ptr<const std::uint64_t*>()) {
    fits = *positive <= static_cast<std::uint64_t>(most);
    whole = static_cast<std::int64_t>(*positive);
  } else if (const auto* value = json.get_ptr<const std::int64_t*>()) {
    whole = *value;
  } else {
    const double fraction = json_number(json);
    fits = std::abs(fraction) < 0x1p63;
    if (fits) whole = static_cast<std::int64_t>(fraction);
    if (fits && static_cast<double>(whole) != fraction)
      throw std::runtime_error(fmt::format("JSON number is {}, expected a whole number", json_text(json)));
  }
  if (!fits || whole < least || whole > most) is_outside(json, least, most);
  return whole;
}

std::uint64_t json_unsigned(const Json& json, std::uint64_t most) {
  constexpr auto most_signed = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const auto* positive = json.get_ptr<const std::uint64_t*>();
  const std::uint64_t whole =
      positive
          ? *positive
          : static_cast<std::uint64_t>(json_integer(json, 0, static_cast<std::int64_t>(std::min(most, most_signed))));
  if (whole > most) is_outside(json, std::uint64_t{0}, most);
  return whole;
}

} // namespace detail
} // namespace base
