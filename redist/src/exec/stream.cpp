// SPDX-License-Identifier: BSD-3-Clause
#include "exec/stream.hpp"

#include <algorithm>

namespace redist::detail {

void Stream::rewind() {
  place = {};
  bytes_left = bytes;
  for (Item& item : items) item.is_read_in_place = false;
}

bool Stream::leave_out() {
  bytes_left = 0;
  for (const Item& item : items)
    if (!item.is_read_in_place) bytes_left += item.count * item.view.esize;
  move(place, 0);
  return bytes_left < bytes;
}

/// By at most what is left of an item; then to the next one that travels.
void Stream::move(Place& at, std::int64_t elements) const {
  at.done += elements;
  while (at.item < items.size() && (items[at.item].is_read_in_place || at.done == items[at.item].count))
    at = {at.item + 1, 0};
}

std::size_t Stream::pack(char* panel, std::size_t capacity, bool non_temporal, char* staging) {
  std::size_t used = 0;
  if (at_end()) return 0;
  const int step_now = step();
  while (!at_end() && step() == step_now) {
    const Item& item = items[place.item];
    const auto fits = static_cast<std::int64_t>((capacity - used) / static_cast<std::size_t>(item.view.esize));
    const std::int64_t now = std::min(fits, item.count - place.done);
    if (now == 0) break;
    item.view.pack(item.first + place.done, now, panel + used, non_temporal, staging);
    used += static_cast<std::size_t>(now * item.view.esize);
    move(place, now);
  }
  bytes_left -= static_cast<std::int64_t>(used);
  return used;
}

void Stream::unpack(Place at, const char* panel, std::size_t count_bytes) const {
  while (count_bytes > 0) {
    const Item& item = items[at.item];
    const std::int64_t now = std::min(static_cast<std::int64_t>(count_bytes) / item.view.esize, item.count - at.done);
    item.view.unpack(item.first + at.done, now, panel);
    panel += now * item.view.esize;
    count_bytes -= static_cast<std::size_t>(now * item.view.esize);
    move(at, now);
  }
}

void Stream::skip(std::size_t count_bytes) {
  bytes_left -= static_cast<std::int64_t>(count_bytes);
  while (count_bytes > 0) {
    const Item& item = items[place.item];
    const std::int64_t now =
        std::min(static_cast<std::int64_t>(count_bytes) / item.view.esize, item.count - place.done);
    count_bytes -= static_cast<std::size_t>(now * item.view.esize);
    move(place, now);
  }
}

char* Stream::contiguous(std::size_t& together) const {
  together = 0;
  if (at_end()) return nullptr;
  const Item& item = items[place.item];
  std::int64_t count = 0;
  char* at = item.view.contiguous(item.first + place.done, count);
  count = std::min(count, item.count - place.done);
  together = static_cast<std::size_t>(count * item.view.esize);
  return at;
}

} // namespace redist::detail
