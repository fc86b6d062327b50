// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "base/status.hpp"

namespace base {

std::string_view trimmed(std::string_view text) {
  constexpr const char* blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    parts.emplace_back(trimmed(text.substr(at, end == std::string_view::npos ? end : end - at)));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::int64_t parse_whole_number(std::string_view text, std::string_view where, std::int64_t least, std::int64_t most) {
  const auto value = whole_number(text);
  if (value && *value >= least && *value <= most) return *value;
  const bool has_limit = most < std::numeric_limits<std::int64_t>::max();
  throw Error(Status::bad_argument, "{} is \"{}\", expected a whole number {}", where, text,
              has_limit ? fmt::format("{} .. {}", least, most) : fmt::format("from {}", least));
}

std::string shell_quoted(std::string_view word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=/.,:@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

} // namespace base
