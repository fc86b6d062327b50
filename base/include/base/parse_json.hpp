// SPDX-License-Identifier: BSD-3-Clause
// JSON values and their text. For what others wrote: limits of size and nesting, and numbers that are checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "base/json_fwd.hpp"

namespace base {

constexpr std::size_t largest_json = std::size_t{64} << 20; ///< bytes of text
constexpr int deepest_json = 100;                           ///< arrays and objects in one another

/// @throws Json::exception that says where the text is no JSON; std::runtime_error when it is larger than largest_json
/// or nested deeper than `deepest`.
Json parse_json(std::string_view text, int deepest = deepest_json);
/// The same, and null instead of an exception.
Json parse_json_or_null(std::string_view text);

/// On one line, or each member on a line of its own with `indent` spaces more. Text that is not UTF-8 is repaired,
/// where Json::dump throws.
std::string json_text(const Json& json, int indent = -1);

namespace detail {
bool json_boolean(const Json& json);
const std::string& json_string(const Json& json);
double json_number(const Json& json);
std::int64_t json_integer(const Json& json, std::int64_t least, std::int64_t most);
std::uint64_t json_unsigned(const Json& json, std::uint64_t most);
} // namespace detail

/// nlohmann-json's conversions, except that a number must fit its type: nlohmann-json cuts off what does not, and takes
/// booleans for numbers. @throws std::runtime_error that says what the value is and what was expected.
template <class T, class> struct JsonSerializer : nlohmann::adl_serializer<T> {};

template <class T>
struct JsonSerializer<T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, std::string>>>
    : nlohmann::adl_serializer<T> {
  static void from_json(const Json& json, T& value) {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, std::string>)
      value = detail::json_string(json);
    else if constexpr (std::is_same_v<T, bool>)
      value = detail::json_boolean(json);
    else if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(detail::json_number(json));
    else if constexpr (std::is_signed_v<T>)
      value = static_cast<T>(detail::json_integer(json, Limits::min(), Limits::max()));
    else
      value = static_cast<T>(detail::json_unsigned(json, Limits::max()));
  }
};

} // namespace base
