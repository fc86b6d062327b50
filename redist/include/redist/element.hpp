// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace redist {

/// Bytes of one element of type s d c z i; 0 for any other letter.
constexpr int element_bytes(char type) noexcept {
  switch (type) {
  case 's':
  case 'i':
    return 4;
  case 'd':
  case 'c':
    return 8;
  case 'z':
    return 16;
  default:
    return 0;
  }
}

} // namespace redist
