// SPDX-License-Identifier: BSD-3-Clause
#include "exec/stream.hpp"

#include <algorithm>

namespace redist::detail {

std::size_t Stream::pack(char* panel, std::size_t capacity, bool non_temporal) {
  std::size_t used = 0;
  if (at_end()) return 0;
  const int step_now = step();
  while (!at_end() && step() == step_now) {
    const Item& item = items[place.item];
    const auto fits = static_cast<std::int64_t>((capacity - used) / static_cast<std::size_t>(item.view.esize));
    const std::int64_t now = std::min(fits, item.count - place.done);
    if (now == 0) break;
    item.view.pack(item.first + place.done, now, panel + used, non_temporal);
    used += static_cast<std::size_t>(now * item.view.esize);
    place.done += now;
    if (place.done == item.count) place = {place.item + 1, 0};
  }
  bytes_left -= static_cast<std::int64_t>(used);
  return used;
}

void Stream::unpack(Place at, const char* panel, std::size_t bytes) const {
  while (bytes > 0) {
    const Item& item = items[at.item];
    const std::int64_t now = std::min(static_cast<std::int64_t>(bytes) / item.view.esize, item.count - at.done);
    item.view.unpack(item.first + at.done, now, panel);
    panel += now * item.view.esize;
    bytes -= static_cast<std::size_t>(now * item.view.esize);
    at.done += now;
    if (at.done == item.count) at = {at.item + 1, 0};
  }
}

void Stream::skip(std::size_t bytes) {
  bytes_left -= static_cast<std::int64_t>(bytes);
  while (bytes > 0) {
    const Item& item = items[place.item];
    const std::int64_t now = std::min(static_cast<std::int64_t>(bytes) / item.view.esize, item.count - place.done);
    bytes -= static_cast<std::size_t>(now * item.view.esize);
    place.done += now;
    if (place.done == item.count) place = {place.item + 1, 0};
  }
}

char* Stream::contiguous(std::size_t& bytes) const {
  bytes = 0;
  if (at_end()) return nullptr;
  const Item& item = items[place.item];
  std::int64_t count = 0;
  char* at = item.view.contiguous(item.first + place.done, count);
  count = std::min(count, item.count - place.done);
  bytes = static_cast<std::size_t>(count * item.view.esize);
  return at;
}

} // namespace redist::detail
