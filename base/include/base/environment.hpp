// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <string>

namespace base {

/// The value of an environment variable; null when it is not set or empty.
inline const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

/// $XDG_STATE_HOME/dyngrid, else ~/.local/state/dyngrid; empty when neither is an absolute path. Not made.
inline std::string state_directory() {
  if (const char* state = environment("XDG_STATE_HOME"); state && state[0] == '/')
    return std::string(state) + "/dyngrid";
  if (const char* home = environment("HOME"); home && home[0] == '/')
    return std::string(home) + "/.local/state/dyngrid";
  return {};
}

} // namespace base
