// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace base {

/// The value of an environment variable; null when it is not set or empty.
inline const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

/// A list "a,key=value,other=value" in its parts; what stands before the first key has the key "". A comma belongs to
/// the value unless a key follows it, of lower-case letters and dashes and then =. The value of `command` is a shell
/// line and goes to the end of the list.
std::vector<std::pair<std::string, std::string>> entries_of(std::string_view list);

/// Value of `key` in an environment variable that is such a list; none when the key is missing or empty. Of
/// several entries the last one counts.
std::optional<std::string> environment(const char* name, std::string_view key);
/// `list` with one more entry at its end, but before `command`; `list` may be null.
std::string with_entry(const char* list, std::string_view key, std::string_view value);

/// on, off (or 1, 0); `fallback` without `text`. @throws Error{bad_argument} "<where> is "x", expected on or off".
bool parse_switch(std::string_view where, const std::optional<std::string>& text, bool fallback);

/// As this host calls itself, cut after 255 characters.
std::string host_name();

/// $XDG_STATE_HOME/dyngrid, else ~/.local/state/dyngrid; empty when neither is an absolute path. Not made.
inline std::string state_directory() {
  if (const char* state = environment("XDG_STATE_HOME"); state && state[0] == '/')
    return std::string(state) + "/dyngrid";
  if (const char* home = environment("HOME"); home && home[0] == '/')
    return std::string(home) + "/.local/state/dyngrid";
  return {};
}

} // namespace base
