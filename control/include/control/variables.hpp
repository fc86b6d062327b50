// SPDX-License-Identifier: BSD-3-Clause
// The one list of the DYNGRID_* environment variables. `dyngrid env` prints it, dyngrid(7) is made from it, and a test
// compares it with the sources and with docs/operating.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace control {

struct Variable {
  const char* name;
  const char* key;   ///< of a variable that is a list of key=value, with a row for each; else "", and for its first row
  const char* value; ///< the permitted values, as in a usage line
  const char* fallback; ///< the default
  const char* meaning;
  const char* example;      ///< a value of the whole variable; "" of internal ones
  bool is_internal = false; ///< set by dyngrid itself, or for its tests
};

/// In the order of their use by a user.
const std::vector<Variable>& variables();

/// The value in this process's environment; nothing when it is not set, or is empty.
std::optional<std::string> value_of(const Variable& variable);

/// One line for each variable in `environment` ("NAME=value" each) that is a list with an unknown entry.
std::vector<std::string> trouble_with(const std::vector<std::string>& environment);
/// @throws Error{bad_argument}, the first of them in the environment of this process.
void check_environment();

/// Names in `environment` ("NAME=value" each) that begin with DYNGRID_ and are not in the list, with the closest listed
/// name or "".
struct UnknownVariable {
  std::string name, closest;
};
std::vector<UnknownVariable> unknown_variables(const std::vector<std::string>& environment);
/// "NAME=value" of all variables of this process.
std::vector<std::string> whole_environment();
/// One line for each unknown variable of this process, without the end of the line.
std::vector<std::string> remarks_on_environment();

/// The closest of `words` to a mistyped `word`: at most three edits, and fewer than half its letters; "" when there is
/// none.
std::string closest_word(const std::string& word, const std::vector<std::string>& words);

} // namespace control
