// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pack/packed_view.hpp"

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
  bool is_read_in_place = false; ///< in this run: the receiver fetches it by itself
};

/// Everything from one rank to another in one exchange, as a sequence of elements. Both ends order it alike
/// (step, transfer, first), so the sender alone decides how it is cut into panels: the receiver only counts
/// what has come.
struct Stream {
  int peer = -1;
  bool shared = false; ///< goes through shared memory
  std::vector<Item> items;
  std::int64_t bytes = 0; ///< of all items

  /// A place in the sequence.
  struct Place {
    std::size_t item = 0;
    std::int64_t done = 0; ///< elements of that item
  };
  Place place;
  std::int64_t bytes_left = 0; ///< from there on, without what is read in place

  /// Back to the beginning, and nothing is read in place.
  void rewind();
  /// At the beginning: leaves out what is marked as read in place. Returns whether there was anything.
  bool leave_out();
  bool at_end() const { return place.item >= items.size(); }
  int step() const { return items[place.item].step; }
  /// Packs as many whole elements as fit `capacity`, but no more than of the current step; moves on and
  /// returns the bytes. @param staging see PackedView::pack()
  std::size_t pack(char* panel, std::size_t capacity, bool non_temporal = false, char* staging = nullptr);
  /// Unpacks `count_bytes` from place `at` on, without moving the stream itself.
  void unpack(Place at, const char* panel, std::size_t count_bytes) const;
  /// Moves on by `count_bytes`.
  void skip(std::size_t count_bytes);
  /// Where the next elements lie one after the other in the array, and how many bytes of them; null when they
  /// do not.
  char* contiguous(std::size_t& together) const;

private:
  void move(Place& at, std::int64_t elements) const;
};

} // namespace redist::detail
