// SPDX-License-Identifier: BSD-3-Clause
// Memory for panels that stays for the next call.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/index.hpp"

namespace pblas {

/// Memory that is not initialized. A short product would spend more time on fresh pages than on its work, so what is
/// given back is kept for the next call, up to 32 MiB of a thread, as the PBLAS keep theirs. Local.
class Room {
public:
  Room() = default;
  /// @throws std::bad_alloc
  explicit Room(std::size_t bytes);
  Room(Room&&) = default;
  Room& operator=(Room&&) = default;
  ~Room();

  template <class T> static Room of(std::int64_t elements) { return Room(base::at(elements) * sizeof(T)); }
  template <class T> T* as() const { return reinterpret_cast<T*>(piece_.memory.get()); }
  std::size_t bytes() const { return piece_.bytes; } ///< at least those that were asked for
  static void forget();                              ///< frees what this thread keeps

  struct Piece {
    std::unique_ptr<char[]> memory;
    std::size_t bytes = 0;
  };

private:
  Piece piece_;
};

} // namespace pblas
