// SPDX-License-Identifier: BSD-3-Clause
#include "exec/stream.hpp"

#include <algorithm>

#include "exec/work.hpp"

namespace redist::detail {

const Message& Stream::message_of(const Piece& piece) const {
  const RankPlan& plan = work->plan_of(piece);
  return (is_outgoing ? plan.sends : plan.recvs)[static_cast<std::size_t>(piece.message)];
}

PackedView Stream::view_of(const Piece& piece) const {
  return is_outgoing ? work->source_of(piece, message_of(piece)) : work->target_of(piece, message_of(piece));
}

int Stream::element_bytes_of(const Piece& piece) const {
  return element_bytes(work->plan_of(piece).type);
}

void Stream::rewind() {
  place = {};
  bytes_left = bytes;
  read_in_place = 0;
}

bool Stream::leave_out(std::uint64_t matrices) {
  read_in_place = matrices;
  if (std::none_of(pieces.begin(), pieces.end(), [this](const Piece& piece) { return is_read_in_place(piece); }))
    return false; // it may be on its way already
  bytes_left = 0;
  for (const Piece& piece : pieces)
    if (!is_read_in_place(piece)) bytes_left += piece.count * element_bytes_of(piece);
  move(place, 0);
  return bytes_left < bytes;
}

/// By at most what is left of a piece; then to the next one that travels.
void Stream::move(Place& at, std::int64_t elements) const {
  at.done += elements;
  while (at.piece < pieces.size() && (is_read_in_place(pieces[at.piece]) || at.done == pieces[at.piece].count))
    at = {at.piece + 1, 0};
}

std::size_t Stream::pack(char* panel, std::size_t capacity, bool non_temporal, char* staging) {
  std::size_t used = 0;
  if (at_end()) return 0;
  const int step_now = step();
  while (!at_end() && step() == step_now) {
    const Piece& piece = pieces[place.piece];
    const PackedView view = view_of(piece);
    const auto fits = static_cast<std::int64_t>((capacity - used) / static_cast<std::size_t>(view.esize));
    const std::int64_t now = std::min(fits, piece.count - place.done);
    if (now == 0) break;
    view.pack(piece.first + place.done, now, panel + used, non_temporal, staging);
    used += static_cast<std::size_t>(now * view.esize);
    move(place, now);
  }
  bytes_left -= static_cast<std::int64_t>(used);
  return used;
}

void Stream::unpack(Place at, const char* panel, std::size_t count_bytes) const {
  while (count_bytes > 0) {
    const Piece& piece = pieces[at.piece];
    const PackedView view = view_of(piece);
    const std::int64_t now = std::min(static_cast<std::int64_t>(count_bytes) / view.esize, piece.count - at.done);
    view.unpack(piece.first + at.done, now, panel);
    panel += now * view.esize;
    count_bytes -= static_cast<std::size_t>(now * view.esize);
    move(at, now);
  }
}

void Stream::skip(std::size_t count_bytes) {
  bytes_left -= static_cast<std::int64_t>(count_bytes);
  while (count_bytes > 0) {
    const Piece& piece = pieces[place.piece];
    const int esize = element_bytes_of(piece);
    const std::int64_t now = std::min(static_cast<std::int64_t>(count_bytes) / esize, piece.count - place.done);
    count_bytes -= static_cast<std::size_t>(now * esize);
    move(place, now);
  }
}

char* Stream::contiguous(std::size_t& together) const {
  together = 0;
  if (at_end()) return nullptr;
  const Piece& piece = pieces[place.piece];
  const PackedView view = view_of(piece);
  std::int64_t count = 0;
  char* at = view.contiguous(piece.first + place.done, count);
  count = std::min(count, piece.count - place.done);
  together = static_cast<std::size_t>(count * view.esize);
  return at;
}

} // namespace redist::detail
