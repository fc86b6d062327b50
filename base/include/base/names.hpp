// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// Names of the values of an enum, in the order of their numbers, which begin at 0.
using Names = std::vector<std::string>;

/// "?" for a value without a name.
template <class Enum> const char* name_of(Enum value, const Names& names) {
  const auto number = static_cast<std::size_t>(value);
  return number < names.size() ? names[number].c_str() : "?";
}

/// "a, b or c".
std::string any_of(const Names& names);

/// @throws Error{bad_argument} "<where> is "x", expected a, b or c".
std::size_t number_of_name(std::string_view text, const Names& names, std::string_view where);

template <class Enum> Enum value_of_name(std::string_view text, const Names& names, std::string_view where) {
  return static_cast<Enum>(number_of_name(text, names, where));
}

} // namespace base
