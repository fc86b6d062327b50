// SPDX-License-Identifier: BSD-3-Clause
#include "grid/move_memory.hpp"

#include <algorithm>

#include "redist/rank_plan.hpp"

namespace blacs_dyn {
namespace {

constexpr double buffers_of_a_process = 6 << 20; ///< panels and messages of an exchange

std::int64_t whole(double bytes) {
  return static_cast<std::int64_t>(std::min(bytes, 1e18));
}

} // namespace

void MoveMemory::add(double old_bytes, double new_bytes, std::int64_t columns) {
  before += old_bytes;
  after += new_bytes;
  slab +=
      std::max(old_bytes, new_bytes) / static_cast<double>(std::clamp<std::int64_t>(columns, 1, redist::usual_slabs));
}

std::int64_t MoveMemory::with_both() const {
  return whole(after);
}

std::int64_t MoveMemory::in_slabs() const {
  return std::min(with_both(), whole(std::max(0.0, after - before) + slab + processes * buffers_of_a_process));
}

} // namespace blacs_dyn
