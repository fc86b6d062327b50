// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string_view>

namespace base {

/// A hash to compare texts and numbers between processes: FNV-1a, 64 bits, a byte at a time.
class Fnv1a {
public:
  Fnv1a& text(std::string_view text) {
    for (const char c : text) add(static_cast<unsigned char>(c));
    return *this;
  }
  Fnv1a& number(std::int64_t number) {
    const auto bits = static_cast<std::uint64_t>(number);
    for (int byte = 0; byte < 8; ++byte) add(static_cast<unsigned char>(bits >> (8 * byte)));
    return *this;
  }
  std::uint64_t value() const { return value_; }
  std::int64_t positive() const { return static_cast<std::int64_t>(value_ >> 1); } ///< for MPI's minimum and maximum

private:
  void add(unsigned char byte) { value_ = (value_ ^ byte) * 1099511628211u; }

  std::uint64_t value_ = 14695981039346656037u;
};

} // namespace base
