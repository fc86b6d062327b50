// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace base {
namespace {

using Text = nlohmann::ordered_json;

Text to_text(const Json& json) {
  if (json.is_string()) return json.text();
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_array()) {
    Text array = Text::array();
    for (const Json& item : json) array.push_back(to_text(item));
    return array;
  }
  if (!json.is_object()) return nullptr;
  Text object = Text::object(); // as the vector that it is: its own lookups take the square of its members
  for (const auto& [name, value] : json.members())
    static_cast<std::vector<Text::object_t::value_type>&>(object.get_ref<Text::object_t&>())
        .emplace_back(name, to_text(value));
  return object;
}

/// What nlohmann-json reads, put together.
class Builder : public nlohmann::json_sax<nlohmann::json> {
public:
  explicit Builder(int deepest) : deepest_(deepest) {}

  bool null() override { return take(nullptr); }
  bool boolean(bool value) override { return take(value); }
  bool number_integer(std::int64_t value) override { return take(value); }
  bool number_unsigned(std::uint64_t value) override { return take(value); }
  bool number_float(double value, const std::string&) override { return take(value); }
  bool string(std::string& value) override { return take(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool key(std::string& name) override {
    names_.back() = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    why_ = error.what();
    return false;
  }

  Json whole() { return std::move(whole_); }
  [[noreturn]] void refuse() const {
    if (static_cast<int>(open_.size()) == deepest_ && why_.empty())
      throw Json::TooDeep(fmt::format("JSON is nested deeper than {}", deepest_));
    throw Json::Error(why_);
  }

private:
  bool take(Json value) {
    if (open_.empty())
      whole_ = std::move(value);
    else if (open_.back().is_array())
      open_.back().push_back(std::move(value));
    else
      open_.back().members().push_back({names_.back(), std::move(value)});
    return true;
  }
  bool open(Json value) {
    if (static_cast<int>(open_.size()) == deepest_) return false;
    open_.push_back(std::move(value));
    names_.emplace_back();
    return true;
  }
  bool close() {
    Json value = std::move(open_.back());
    open_.pop_back();
    names_.pop_back();
    if (value.is_object()) keep_last(value.members());
    return take(std::move(value));
  }

  /// Of members of one name, the last: found by sorting, since to look up each would take the square of their number.
  static void keep_last(Json::Object& members) {
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return members[a].name < members[b].name; });
    std::vector<bool> is_old(members.size(), false);
    for (std::size_t k = 1; k < order.size(); ++k)
      is_old[order[k - 1]] = members[order[k - 1]].name == members[order[k]].name;
    if (std::none_of(is_old.begin(), is_old.end(), [](bool old) { return old; })) return;
    Json::Object kept;
    for (std::size_t k = 0; k < members.size(); ++k)
      if (!is_old[k]) kept.push_back(std::move(members[k]));
    members = std::move(kept);
  }

  int deepest_;
  Json whole_;
  std::vector<Json> open_;         // one in another
  std::vector<std::string> names_; // of the member that comes next, for each
  std::string why_;
};

} // namespace

Json::Json(Widest, bool value) noexcept : value_(value) {}
Json::Json(Widest, std::int64_t value) noexcept : value_(value) {}
Json::Json(Widest, std::uint64_t value) noexcept : value_(value) {}
Json::Json(Widest, double value) noexcept : value_(value) {}
Json::Json(std::nullptr_t) noexcept {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(Array items) : value_(std::move(items)) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json::Json(std::initializer_list<Json> elements) {
  const bool is_object = std::all_of(elements.begin(), elements.end(), [](const Json& each) {
    const auto* pair = std::get_if<Array>(&each.value_);
    return pair && pair->size() == 2 && pair->front().is_string();
  });
  if (!is_object) {
    value_ = Array(elements);
    return;
  }
  value_ = Object();
  for (const Json& each : elements) (*this)[each[0].text()] = each[1];
}

Json Json::array(std::initializer_list<Json> elements) {
  return Array(elements);
}
Json Json::object() {
  Json empty;
  empty.value_ = Object();
  return empty;
}

Json Json::parse(std::string_view text, int deepest) {
  Builder builder(deepest);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) builder.refuse();
  return builder.whole();
}

Json Json::parse_or_null(std::string_view text) {
  try {
    return parse(text);
  } catch (const Error&) {
    return nullptr;
  }
}

std::string Json::dump(int indent) const {
  return to_text(*this).dump(indent, ' ', false, Text::error_handler_t::replace);
}

bool Json::is_null() const {
  return std::holds_alternative<std::nullptr_t>(value_);
}
bool Json::is_boolean() const {
  return std::holds_alternative<bool>(value_);
}
bool Json::is_number() const {
  return is_number_integer() || std::holds_alternative<double>(value_);
}
bool Json::is_number_integer() const {
  return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_);
}
bool Json::is_number_unsigned() const {
  const auto* whole = std::get_if<std::int64_t>(&value_);
  return whole ? *whole >= 0 : std::holds_alternative<std::uint64_t>(value_);
}
bool Json::is_string() const {
  return std::holds_alternative<std::string>(value_);
}
bool Json::is_array() const {
  return std::holds_alternative<Array>(value_);
}
bool Json::is_object() const {
  return std::holds_alternative<Object>(value_);
}

const char* Json::kind() const {
  constexpr const char* words[] = {"null",     "a boolean", "a number", "a number",
                                   "a number", "a string",  "an array", "an object"};
  return words[value_.index()];
}

void Json::is_no(const char* expected) const {
  throw Error(fmt::format("JSON value is {}, expected {}", kind(), expected));
}

bool Json::boolean() const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  is_no("a boolean");
}

double Json::number() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  is_no("a number");
}

std::int64_t Json::whole_number(std::int64_t least, std::int64_t most) const {
  std::int64_t whole = 0;
  bool fits = true;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) {
    whole = *value;
  } else if (const auto* positive = std::get_if<std::uint64_t>(&value_)) {
    fits = *positive <= static_cast<std::uint64_t>(most);
    whole = static_cast<std::int64_t>(*positive);
  } else {
    const double fraction = number();
    fits = std::abs(fraction) < 0x1p63;
    if (fits) whole = static_cast<std::int64_t>(fraction);
  }
  if (!fits || whole < least || whole > most)
    throw Error(fmt::format("JSON number is {}, expected one from {} to {}", dump(), least, most));
  return whole;
}

std::uint64_t Json::unsigned_number(std::uint64_t most) const {
  const auto* positive = std::get_if<std::uint64_t>(&value_);
  const auto least_of_both =
      static_cast<std::int64_t>(std::min<std::uint64_t>(most, std::numeric_limits<std::int64_t>::max()));
  const std::uint64_t whole = positive ? *positive : static_cast<std::uint64_t>(whole_number(0, least_of_both));
  if (whole > most) throw Error(fmt::format("JSON number is {}, expected one from 0 to {}", dump(), most));
  return whole;
}

const std::string& Json::text() const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  is_no("a string");
}

const Json::Array& Json::items() const {
  if (const auto* value = std::get_if<Array>(&value_)) return *value;
  is_no("an array");
}
Json::Array& Json::items() {
  return const_cast<Array&>(std::as_const(*this).items());
}

const Json::Object& Json::members() const {
  if (const auto* value = std::get_if<Object>(&value_)) return *value;
  is_no("an object");
}
Json::Object& Json::members() {
  return const_cast<Object&>(std::as_const(*this).members());
}

std::size_t Json::size() const {
  if (is_null()) return 0;
  return is_array() ? items().size() : is_object() ? members().size() : 1;
}

const Json* Json::find(std::string_view name) const {
  const auto* object = std::get_if<Object>(&value_);
  if (!object) return nullptr;
  for (const Member& member : *object)
    if (member.name == name) return &member.value;
  return nullptr;
}
Json* Json::find(std::string_view name) {
  return const_cast<Json*>(std::as_const(*this).find(name));
}

const Json& Json::at(std::string_view name) const {
  if (!is_object()) is_no("an object");
  const Json* found = find(name);
  if (!found) throw Error(fmt::format("JSON object has no member \"{}\"", name));
  return *found;
}

const Json& Json::at(std::size_t index) const {
  const Array& all = items();
  if (index >= all.size())
    throw Error(fmt::format("JSON array has {} elements, not one of index {}", all.size(), index));
  return all[index];
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Object();
  Object& object = members();
  if (Json* found = find(name)) return *found;
  return object.emplace_back(Member{std::string(name), nullptr}).value;
}

const Json& Json::operator[](std::string_view name) const {
  static const auto* const nothing = new Json;
  const Json* found = find(name);
  return found ? *found : *nothing;
}

Json& Json::operator[](std::size_t index) {
  return const_cast<Json&>(std::as_const(*this).at(index));
}

std::string Json::value(std::string_view name, const char* otherwise) const {
  return value(name, std::string(otherwise));
}

void Json::update(const Json& object) {
  for (const auto& [name, value] : object.members()) (*this)[name] = value;
}

void Json::erase(std::string_view name) {
  Object& object = members();
  object.erase(std::remove_if(object.begin(), object.end(), [&](const Member& each) { return each.name == name; }),
               object.end());
}

void Json::push_back(Json item) {
  if (is_null()) value_ = Array();
  items().push_back(std::move(item));
}

Json::Array::iterator Json::begin() {
  return is_null() ? Array::iterator() : items().begin();
}
Json::Array::iterator Json::end() {
  return is_null() ? Array::iterator() : items().end();
}
Json::Array::const_iterator Json::begin() const {
  return is_null() ? Array::const_iterator() : items().begin();
}
Json::Array::const_iterator Json::end() const {
  return is_null() ? Array::const_iterator() : items().end();
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number_unsigned() && b.is_number_unsigned()) return a.get<std::uint64_t>() == b.get<std::uint64_t>();
  if (a.is_number_integer() && b.is_number_integer()) // at most one of them is below 0
    return !a.is_number_unsigned() && !b.is_number_unsigned() && a.get<std::int64_t>() == b.get<std::int64_t>();
  if (a.is_number() && b.is_number()) return a.number() == b.number();
  if (a.value_.index() != b.value_.index()) return false;
  if (a.is_null()) return true;
  if (a.is_boolean()) return a.boolean() == b.boolean();
  if (a.is_string()) return a.text() == b.text();
  if (a.is_array()) return std::equal(a.begin(), a.end(), b.begin(), b.end());
  return a.size() == b.size() && std::all_of(a.members().begin(), a.members().end(), [&](const Json::Member& each) {
           const Json* other = b.find(each.name);
           return other && each.value == *other;
         });
}

std::ostream& operator<<(std::ostream& out, const Json& json) {
  return out << json.dump();
}

} // namespace base
