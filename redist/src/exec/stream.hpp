// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pack/packed_view.hpp"
#include "redist/rank_plan.hpp"

namespace redist::detail {

struct Work;

/// Everything from one rank to another in one exchange, as a sequence of elements: pieces of the messages of all
/// matrices. Both ends order it alike (step, matrix, first), so the sender alone decides how it is cut into panels: the
/// receiver only counts what has come.
struct Stream {
  const Work* work = nullptr;
  int peer = -1;
  bool is_outgoing = true;
  bool shared = false; ///< goes through shared memory
  std::vector<Piece> pieces;
  std::int64_t bytes = 0; ///< of all pieces

  /// A place in the sequence.
  struct Place {
    std::size_t piece = 0;
    std::int64_t done = 0; ///< elements of that piece
  };
  // where the run under way is
  Place place;
  std::int64_t bytes_left = 0;     ///< from there on, without what is read in place
  std::uint64_t read_in_place = 0; ///< bit t: the receiver fetches what there is of matrix t by itself

  /// Back to the beginning, and nothing is read in place.
  void rewind();
  /// At the beginning: leaves out the matrices whose bits are set. Returns whether there was anything of them.
  bool leave_out(std::uint64_t matrices);
  bool at_end() const { return place.piece >= pieces.size(); }
  int step() const { return pieces[place.piece].step; }
  const Message& message_of(const Piece& piece) const;
  /// This rank's end of the message.
  PackedView view_of(const Piece& piece) const;
  bool is_read_in_place(const Piece& piece) const {
    return piece.matrix < 64 && (read_in_place >> piece.matrix & 1) != 0;
  }
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
  int element_bytes_of(const Piece& piece) const;
  void move(Place& at, std::int64_t elements) const;
};

} // namespace redist::detail
