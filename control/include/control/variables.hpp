// SPDX-License-Identifier: BSD-3-Clause
// The one list of the DYNGRID_* variables of the environment. `dyngrid env` prints it, dyngrid(7) is made from it, and
// a test compares it with the sources and with docs/operating.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace control {

struct Variable {
  const char* name;
  const char* key;      ///< of a variable that is a list of key=value, with a row for each; else "", and of its head
  const char* value;    ///< what may be there, as in a usage line
  const char* fallback; ///< what holds without it
  const char* meaning;
  bool is_internal = false; ///< set by dyngrid itself, or for its tests
};

/// In the order in which a user meets them.
const std::vector<Variable>& variables();

/// What this process's environment says of it; nothing when it is not set, or is empty.
std::optional<std::string> value_of(const Variable& variable);

/// One line for each variable in `environment` ("NAME=value" each) that dyngrid would misread: a name of earlier
/// versions, with what says the same now, and a list with an entry that is not known.
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

/// Of `words`, the one that `word` may have been meant to be: at most three slips of the fingers away, and fewer than
/// half its letters; "" when none is.
std::string closest_word(const std::string& word, const std::vector<std::string>& words);

} // namespace control
