// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "base/status.hpp"

namespace base {

namespace {
/// Where the value of an entry that begins at `at` stands; npos when no key is there.
std::size_t value_at(std::string_view list, std::size_t at) {
  const std::size_t end = list.find_first_not_of("abcdefghijklmnopqrstuvwxyz-0123456789", at);
  const bool is_key = at < list.size() && list[at] >= 'a' && list[at] <= 'z' && end < list.size() && list[end] == '=';
  return is_key ? end + 1 : std::string_view::npos;
}
} // namespace

std::vector<std::pair<std::string, std::string>> entries_of(std::string_view list) {
  constexpr auto none = std::string_view::npos;
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t value = value_at(list, at);
    const std::string_view key = value == none ? "" : list.substr(at, value - 1 - at);
    std::size_t end = key == "command" ? none : list.find(',', at);
    while (end != none && value_at(list, end + 1) == none) end = list.find(',', end + 1);
    const std::size_t from = value == none ? at : value;
    entries.emplace_back(key, list.substr(from, end == none ? none : end - from));
    at = end == none ? list.size() : end + 1;
  }
  return entries;
}

std::optional<std::string> environment(const char* name, std::string_view key) {
  std::optional<std::string> found;
  if (const char* list = environment(name))
    for (const auto& [other, value] : entries_of(list))
      if (other == key) found = value;
  return found && found->empty() ? std::nullopt : found;
}

std::string with_entry(const char* list, std::string_view key, std::string_view value) {
  std::string joined, command;
  for (const auto& [other, text] : entries_of(list ? list : "")) {
    if (other == "command")
      command = text;
    else
      joined += fmt::format("{}{}{}{}", joined.empty() ? "" : ",", other, other.empty() ? "" : "=", text);
  }
  if (key == "command")
    command = value;
  else
    joined += fmt::format("{}{}={}", joined.empty() ? "" : ",", key, value);
  if (!command.empty()) joined += fmt::format("{}command={}", joined.empty() ? "" : ",", command);
  return joined;
}

bool parse_switch(std::string_view where, const std::optional<std::string>& text, bool fallback) {
  if (!text || text->empty()) return fallback;
  if (*text == "on" || *text == "1") return true;
  if (*text == "off" || *text == "0") return false;
  throw Error(Status::bad_argument, "{} is \"{}\", expected on or off", where, *text);
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

} // namespace base
