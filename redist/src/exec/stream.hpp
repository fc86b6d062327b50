// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/packer.hpp"

namespace redist::detail {

/// A stretch of one message, to be sent or received in one go of the schedule.
struct Item {
  PackedView view;
  std::int64_t first = 0; ///< packed elements
  std::int64_t count = 0;
  int step = 0;
  int transfer = 0;
  bool source_transposed = false; ///< what the sender's view is like
  int source_conj_size = 0;
};

/// Everything from one rank to another in one exchange, as a sequence of elements. Both ends order it alike
/// (step, transfer, first), so the sender alone decides how it is cut into panels: the receiver only counts
/// what has come.
struct Stream {
  int peer = -1;
  bool shared = false; ///< goes through shared memory
  std::vector<Item> items;
  std::int64_t bytes_left = 0;

  /// A place in the sequence.
  struct Place {
    std::size_t item = 0;
    std::int64_t done = 0; ///< elements of that item
  };
  Place place;

  bool at_end() const { return place.item >= items.size(); }
  int step() const { return items[place.item].step; }
  /// Packs as many whole elements as fit `capacity`, but no more than of the current step; moves on and
  /// returns the bytes. Around the cache when another core will read them.
  std::size_t pack(char* panel, std::size_t capacity, bool non_temporal = false);
  /// Unpacks `bytes` from place `at` on, without moving the stream itself.
  void unpack(Place at, const char* panel, std::size_t bytes) const;
  /// Moves on by `bytes`.
  void skip(std::size_t bytes);
  /// Where the next elements lie one after the other in the array, and how many bytes of them; null when they
  /// do not.
  char* contiguous(std::size_t& bytes) const;
};

} // namespace redist::detail
