// SPDX-License-Identifier: BSD-3-Clause
#include "processes/room.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace blacs_dyn {
namespace {

double mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

std::string too_many_for_cores(const Room& room) {
  for (const Room::Host& host : room.hosts) {
    if (room.per_core == 0 || host.cores == 0 || host.fresh == 0) continue;
    const std::int64_t all = host.living + host.fresh, most = std::int64_t{host.cores} * room.per_core;
    if (all > most)
      return fmt::format(
          "{} processes on the {} core(s){}, expected at most {} ({} a core); DYNGRID_DECIDE=per-core=N allows "
          "more, 0 any number; a request with force overrides this check",
          all, host.cores, host.name.empty() ? "" : " of " + host.name, most, room.per_core);
  }
  return {};
}

} // namespace

std::int64_t bytes_needed(const Room& room) {
  return room.fresh_here * room.bytes_each + room.matrix_bytes;
}

std::string refusal(const Room& room) {
  const std::string crowded = too_many_for_cores(room);
  if (!crowded.empty() || room.fresh_here == 0) return crowded;
  for (const control::Limit& limit : room.threads) {
    const std::int64_t left = std::max<std::int64_t>(0, limit.most - limit.used);
    if (room.fresh_here * room.threads_each > left)
      return fmt::format("{} new processes of {} thread(s) each, but {} is {} and {} are taken: room for {}; raise it",
                         room.fresh_here, room.threads_each, limit.name, limit.most, limit.used,
                         left / room.threads_each);
  }
  const control::Limit& files = room.descriptors;
  if (files.most > 0) {
    const std::int64_t left = std::max<std::int64_t>(0, files.most - files.used - room.descriptors_spare);
    if (room.fresh_here * room.descriptors_each > left)
      return fmt::format("{} new processes need {} open files each in mpirun, which has {} of at most {}: room for {}; "
                         "ulimit -n before mpirun raises it",
                         room.fresh_here, room.descriptors_each, files.used, files.most, left / room.descriptors_each);
  }
  const std::int64_t needed = bytes_needed(room);
  if (room.free.bytes >= 0 && needed > room.free.bytes)
    return fmt::format("{} new processes need about {:.0f} MiB ({:.0f} each, and {:.0f} to move the matrices), {:.0f} "
                       "MiB are free ({})",
                       room.fresh_here, mib(needed), mib(room.bytes_each), mib(room.matrix_bytes), mib(room.free.bytes),
                       room.free.of);
  return {};
}

} // namespace blacs_dyn
