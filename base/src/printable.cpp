// SPDX-License-Identifier: BSD-3-Clause
#include "base/printable.hpp"

#include <array>

#include <fmt/format.h>

namespace base {
namespace {

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/// Bytes of the character that begins there; 0 when it is no UTF-8.
std::size_t length_of(std::string_view text, char32_t& code) {
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000}; // what fits into fewer bytes is written in fewer
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  code = length == 1 ? first : first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >> 6 != 2) return 0;
    code = code << 6 | (byte & 0x3fu);
  }
  return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

} // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    char32_t code = 0;
    std::size_t length = length_of(text, code);
    const bool is_good = length > 0 && !is_control(code);
    if (length == 0) length = 1;
    for (const char c : text.substr(0, length))
      out += is_good ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    text.remove_prefix(length);
  }
  return out;
}

} // namespace base
