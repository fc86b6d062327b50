// SPDX-License-Identifier: BSD-3-Clause
#include "room.hpp"

#include <new>
#include <utility>
#include <vector>

namespace pblas {
namespace {

constexpr std::size_t most_kept = std::size_t{32} << 20, most_pieces = 16;

/// Oldest first.
class Kept {
public:
  /// The least that is large enough and not far too large; nothing when there is none.
  Room::Piece take(std::size_t bytes) {
    auto best = pieces_.end();
    for (auto piece = pieces_.begin(); piece != pieces_.end(); ++piece)
      if (piece->bytes >= bytes && piece->bytes / 4 <= bytes && (best == pieces_.end() || piece->bytes < best->bytes))
        best = piece;
    if (best == pieces_.end()) return {};
    Room::Piece found = std::move(*best);
    pieces_.erase(best);
    bytes_ -= found.bytes;
    return found;
  }
  void add(Room::Piece piece) {
    if (piece.bytes > most_kept) return;
    while (!pieces_.empty() && (bytes_ + piece.bytes > most_kept || pieces_.size() == most_pieces)) {
      bytes_ -= pieces_.front().bytes;
      pieces_.erase(pieces_.begin());
    }
    const std::size_t bytes = piece.bytes;
    pieces_.push_back(std::move(piece));
    bytes_ += bytes;
  }

private:
  std::vector<Room::Piece> pieces_;
  std::size_t bytes_ = 0;
};

Kept& kept() {
  thread_local Kept all;
  return all;
}

} // namespace

Room::Room(std::size_t bytes) {
  if (bytes == 0) return;
  piece_ = kept().take(bytes);
  if (!piece_.memory) piece_ = {std::unique_ptr<char[]>(new char[bytes]), bytes};
}

void Room::forget() {
  kept() = {};
}

Room::~Room() {
  if (!piece_.memory) return;
  try {
    kept().add(std::move(piece_));
  } catch (const std::bad_alloc&) { // it is freed
  }
}

} // namespace pblas
