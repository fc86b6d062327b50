// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/axis.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gridmap/status.hpp"

namespace gridmap {
namespace {

[[noreturn]] void bad(const std::string& message) { throw Error(Status::bad_argument, "gridmap: axis: " + message); }

std::int64_t period_of(const Axis& axis) { return std::accumulate(axis.sizes.begin(), axis.sizes.end(), std::int64_t{0}); }

/// The blocks repeat with the period of the sizes, the owners with nprocs: both together after lcm(k, nprocs) blocks.
/// Position p then owns blocks j = j_first, j_first + nprocs, ... of every such cycle.
struct Cycle {
  std::int64_t blocks;   ///< lcm(k, nprocs)
  std::int64_t elements; ///< of all positions together
};

Cycle cycle_of(const Axis& axis) {
  const auto k = static_cast<std::int64_t>(axis.sizes.size());
  const std::int64_t repeats = std::lcm(k, static_cast<std::int64_t>(axis.nprocs)) / k;
  return {repeats * k, repeats * period_of(axis)};
}

std::int64_t first_block_of(const Axis& axis, int p) { return (p - axis.src + axis.nprocs) % axis.nprocs; }

/// Elements of position p among the first `n` elements of a cycle (n <= cycle.elements).
std::int64_t count_before(const Axis& axis, const Cycle& cycle, int p, std::int64_t n) {
  const auto k = static_cast<std::int64_t>(axis.sizes.size());
  std::int64_t start = 0;
  std::int64_t mine = 0;
  const std::int64_t j_mine = first_block_of(axis, p);
  for (std::int64_t j = 0; j < cycle.blocks && start < n; ++j) {
    const std::int64_t size = axis.sizes[static_cast<std::size_t>(j % k)];
    if (j % axis.nprocs == j_mine) mine += std::min(size, n - start);
    start += size;
  }
  return mine;
}

} // namespace

Axis Axis::block_cyclic(std::int64_t n, std::int64_t nb, int nprocs, int src) { return {n, {nb}, src, nprocs}; }

Axis Axis::block(std::int64_t n, int nprocs, int src) {
  const std::int64_t nb = nprocs > 0 ? std::max<std::int64_t>(1, (n + nprocs - 1) / nprocs) : 1;
  return {n, {nb}, src, nprocs};
}

Axis Axis::variable(std::vector<std::int64_t> rows_per_proc, int src) {
  const std::int64_t n = std::accumulate(rows_per_proc.begin(), rows_per_proc.end(), std::int64_t{0});
  const int nprocs = static_cast<int>(rows_per_proc.size());
  return {n, std::move(rows_per_proc), src, nprocs};
}

Axis Axis::heterogeneous(std::int64_t n, std::vector<std::int64_t> sizes, int nprocs, int src) {
  return {n, std::move(sizes), src, nprocs};
}

void Axis::validate() const {
  if (n < 0) bad(fmt::format("n is {}, wanted at least 0", n));
  if (nprocs < 1) bad(fmt::format("nprocs is {}, wanted at least 1", nprocs));
  if (src < 0 || src >= nprocs) bad(fmt::format("src is {}, wanted 0 .. {}", src, nprocs - 1));
  if (sizes.empty()) bad("no block sizes, wanted at least one");
  std::int64_t sum = 0;
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    if (sizes[j] < 0) bad(fmt::format("block size {} is {}, wanted at least 0", j, sizes[j]));
    if (__builtin_add_overflow(sum, sizes[j], &sum)) bad("the block sizes add up to more than 2^63");
  }
  if (n > 0 && sum == 0) bad(fmt::format("all block sizes are 0, but n is {}", n));
}

std::int64_t Axis::local_size(int p) const {
  if (p < 0 || p >= nprocs || n == 0) return 0;
  if (is_uniform()) { // closed form of NUMROC
    const std::int64_t nb = sizes[0];
    const std::int64_t whole = n / nb;
    const std::int64_t at = first_block_of(*this, p);
    std::int64_t mine = whole / nprocs * nb;
    if (at < whole % nprocs) mine += nb;
    else if (at == whole % nprocs) mine += n % nb;
    return mine;
  }
  const Cycle cycle = cycle_of(*this);
  const std::int64_t whole = n / cycle.elements;
  const std::int64_t per_cycle = whole > 0 ? count_before(*this, cycle, p, cycle.elements) : 0;
  return whole * per_cycle + count_before(*this, cycle, p, n % cycle.elements);
}

int Axis::owner(std::int64_t i_glo) const {
  if (is_uniform()) return static_cast<int>((i_glo / sizes[0] + src) % nprocs);
  const std::int64_t period = period_of(*this);
  const auto k = static_cast<std::int64_t>(sizes.size());
  std::int64_t rest = i_glo % period;
  std::int64_t j = 0;
  while (rest >= sizes[static_cast<std::size_t>(j)]) rest -= sizes[static_cast<std::size_t>(j++)];
  return static_cast<int>((i_glo / period * k + j + src) % nprocs);
}

std::int64_t Axis::to_local(std::int64_t i_glo) const {
  if (is_uniform()) return i_glo / (sizes[0] * nprocs) * sizes[0] + i_glo % sizes[0];
  const Cycle cycle = cycle_of(*this);
  const int p = owner(i_glo);
  return i_glo / cycle.elements * count_before(*this, cycle, p, cycle.elements) +
         count_before(*this, cycle, p, i_glo % cycle.elements);
}

std::int64_t Axis::to_global(std::int64_t i_loc, int p) const {
  const std::int64_t j_mine = first_block_of(*this, p);
  if (is_uniform()) return (i_loc / sizes[0] * nprocs + j_mine) * sizes[0] + i_loc % sizes[0];
  const Cycle cycle = cycle_of(*this);
  const auto k = static_cast<std::int64_t>(sizes.size());
  const std::int64_t per_cycle = count_before(*this, cycle, p, cycle.elements);
  std::int64_t start = i_loc / per_cycle * cycle.elements;
  std::int64_t rest = i_loc % per_cycle;
  for (std::int64_t j = 0;; ++j) {
    const std::int64_t size = sizes[static_cast<std::size_t>(j % k)];
    if (j % nprocs == j_mine) {
      if (rest < size) return start + rest;
      rest -= size;
    }
    start += size;
  }
}

bool Axis::operator==(const Axis& other) const {
  return n == other.n && nprocs == other.nprocs && src == other.src && sizes == other.sizes;
}

std::string Axis::describe() const {
  if (is_uniform()) return fmt::format("{} in blocks of {} over {} from {}", n, sizes[0], nprocs, src);
  return fmt::format("{} in blocks of {} over {} from {}", n, fmt::join(sizes, ","), nprocs, src);
}

} // namespace gridmap
