// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// Without the blanks, tabs and ends of lines around it.
std::string_view trimmed(std::string_view text);

inline bool begins_with(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

/// The parts between separators, each without the blanks around it. "a,,b" has an empty one; an empty text has none.
std::vector<std::string> split(std::string_view text, char separator);
/// The parts between blanks, tabs and ends of lines.
std::vector<std::string> words_in(const std::string& text);

/// The text as one whole number and nothing else; nothing when it is none, or does not fit.
template <class Integer = std::int64_t> std::optional<Integer> whole_number(std::string_view text) {
  Integer value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The same within limits. @throws Error{bad_argument} "<where> is "x", expected a whole number 1 .. 8".
std::int64_t parse_whole_number(std::string_view text, std::string_view where, std::int64_t least = 0,
                                std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// One word of a POSIX shell, whatever is in it. Left as it is when it needs no quotes.
std::string shell_quoted(std::string_view word);
/// The words with blanks between them, as a line that a shell takes.
std::string shell_line(const std::vector<std::string>& words);

} // namespace base
