// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include "base/names.hpp"

namespace control {

/// What dyngrid does about processes that get less of their processor than others.
enum class BalanceMode : int { off = 0, advise = 1, automatic = 2 };

/// In the order of their numbers.
inline const base::Names& balance_mode_names() {
  static const base::Names names{"off", "advise", "auto"};
  return names;
}

inline const char* to_string(BalanceMode mode) {
  return base::name_of(mode, balance_mode_names());
}

/// @throws base::Error{bad_argument} "<where> is "x", expected off, advise or auto"
inline BalanceMode balance_mode_from(const std::string& text, const std::string& where) {
  return base::value_of_name<BalanceMode>(text, balance_mode_names(), where);
}

} // namespace control
