// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/axis.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"
#include "base/status.hpp"

namespace gridmap {

using base::Error;
using base::Status;
namespace {

[[noreturn]] void bad_axis(const std::string& message) {
  throw Error(Status::bad_argument, "gridmap: axis: " + message);
}

std::int64_t period_of(const Axis& axis) {
  return std::accumulate(axis.sizes.begin(), axis.sizes.end(), std::int64_t{0});
}

using base::at;

/// The blocks repeat with the period of the sizes, the owners with nprocs: both together after lcm(k, nprocs)
/// blocks. Of these a position owns only k / gcd(k, nprocs), every nprocs-th; stepping over its own blocks
/// keeps everything here O(k).
struct Cycle {
  std::int64_t own;      ///< blocks of one position in a cycle
  std::int64_t elements; ///< of all positions together
};

Cycle cycle_of(const Axis& axis) {
  const auto k = static_cast<std::int64_t>(axis.sizes.size());
  const std::int64_t common = std::gcd(k, static_cast<std::int64_t>(axis.nprocs));
  return {k / common, axis.nprocs / common * period_of(axis)};
}

std::int64_t first_block_of(const Axis& axis, int p) {
  return (p - axis.src + axis.nprocs) % axis.nprocs;
}

/// Elements in the blocks j_mine, j_mine + nprocs, ... of which there are `count`.
std::int64_t sum_of_own(const Axis& axis, std::int64_t j_mine, std::int64_t count) {
  const auto k = static_cast<std::int64_t>(axis.sizes.size());
  const std::int64_t step = axis.nprocs % k;
  std::int64_t j = j_mine % k;
  std::int64_t sum = 0;
  for (std::int64_t t = 0; t < count; ++t) {
    sum += axis.sizes[at(j)];
    j += step;
    if (j >= k) j -= k;
  }
  return sum;
}

/// Elements of position p among the first `n` of all.
std::int64_t count(const Axis& axis, int p, std::int64_t n) {
  const Cycle cycle = cycle_of(axis);
  const auto k = static_cast<std::int64_t>(axis.sizes.size());
  const std::int64_t period = period_of(axis);
  const std::int64_t j_mine = first_block_of(axis, p);
  const std::int64_t whole = n / cycle.elements;
  std::int64_t mine = whole > 0 ? whole * sum_of_own(axis, j_mine, cycle.own) : 0;
  const std::int64_t rest = n % cycle.elements;
  // block j_end is the one that the first `rest` elements end in, `inside` elements of it are before the end
  std::int64_t inside = rest % period;
  std::int64_t j_end = rest / period * k;
  for (std::size_t j = 0; inside >= axis.sizes[j]; ++j) {
    inside -= axis.sizes[j];
    ++j_end;
  }
  mine += sum_of_own(axis, j_mine, j_end > j_mine ? (j_end - j_mine + axis.nprocs - 1) / axis.nprocs : 0);
  if (j_end % axis.nprocs == j_mine) mine += inside;
  return mine;
}

} // namespace

Axis Axis::block_cyclic(std::int64_t n, std::int64_t nb, int nprocs, int src) {
  return {n, {nb}, src, nprocs};
}

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
  if (n < 0) bad_axis(fmt::format("n is {}, expected at least 0", n));
  if (nprocs < 1) bad_axis(fmt::format("nprocs is {}, expected at least 1", nprocs));
  if (src < 0 || src >= nprocs) bad_axis(fmt::format("src is {}, expected 0 .. {}", src, nprocs - 1));
  if (sizes.empty()) bad_axis("no block sizes, expected at least one");
  if (static_cast<std::int64_t>(sizes.size()) > most_sizes)
    bad_axis(fmt::format("{} block sizes, expected at most {}", sizes.size(), most_sizes));
  std::int64_t sum = 0;
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    if (sizes[j] < 0) bad_axis(fmt::format("block size {} is {}, expected at least 0", j, sizes[j]));
    if (__builtin_add_overflow(sum, sizes[j], &sum)) bad_axis("the block sizes add up to more than 2^63");
  }
  if (std::int64_t whole = 0; __builtin_mul_overflow(sum, std::int64_t{nprocs}, &whole))
    bad_axis(fmt::format("the block sizes add up to {}, expected fewer than 2^63 over {} positions", sum, nprocs));
  if (n > 0 && sum == 0) bad_axis(fmt::format("all block sizes are 0, but n is {}", n));
}

std::int64_t Axis::local_size(int p) const {
  if (p < 0 || p >= nprocs || n == 0) return 0;
  if (is_uniform()) { // closed form of NUMROC
    const std::int64_t nb = sizes[0];
    const std::int64_t whole = n / nb;
    const std::int64_t j_mine = first_block_of(*this, p);
    std::int64_t mine = whole / nprocs * nb;
    if (j_mine < whole % nprocs)
      mine += nb;
    else if (j_mine == whole % nprocs)
      mine += n % nb;
    return mine;
  }
  return count(*this, p, n);
}

std::int64_t Axis::count_before(int p, std::int64_t i_glo) const {
  return p < 0 || p >= nprocs || n == 0 || i_glo <= 0 ? 0 : count(*this, p, std::min(i_glo, n));
}

int Axis::owner(std::int64_t i_glo) const {
  if (is_uniform()) return static_cast<int>((i_glo / sizes[0] + src) % nprocs);
  const std::int64_t period = period_of(*this);
  const auto k = static_cast<std::int64_t>(sizes.size());
  std::int64_t rest = i_glo % period;
  std::int64_t j = 0;
  while (rest >= sizes[at(j)]) rest -= sizes[at(j++)];
  return static_cast<int>((i_glo / period * k + j + src) % nprocs);
}

std::int64_t Axis::to_local(std::int64_t i_glo) const {
  if (is_uniform()) return i_glo / (sizes[0] * nprocs) * sizes[0] + i_glo % sizes[0];
  return count(*this, owner(i_glo), i_glo);
}

std::int64_t Axis::to_global(std::int64_t i_loc, int p) const {
  const std::int64_t j_mine = first_block_of(*this, p);
  if (is_uniform()) return (i_loc / sizes[0] * nprocs + j_mine) * sizes[0] + i_loc % sizes[0];
  const Cycle cycle = cycle_of(*this);
  const auto k = static_cast<std::int64_t>(sizes.size());
  const std::int64_t per_cycle = sum_of_own(*this, j_mine, cycle.own);
  if (per_cycle == 0) return n; // p owns nothing: there is no such element
  std::int64_t rest = i_loc % per_cycle;
  std::int64_t j = j_mine;
  while (rest >= sizes[at(j % k)]) {
    rest -= sizes[at(j % k)];
    j += nprocs;
  }
  const auto before =
      std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(j % k), std::int64_t{0});
  return i_loc / per_cycle * cycle.elements + j / k * period_of(*this) + before + rest;
}

std::vector<Axis::Stretch> Axis::stretches(int p) const {
  std::vector<Stretch> found;
  std::int64_t first = 0;
  for (std::int64_t j = 0; first < n; ++j) {
    const std::int64_t last = std::min(n, first + sizes[at(j % static_cast<std::int64_t>(sizes.size()))]);
    if (last > first && (src + j) % nprocs == p) {
      if (!found.empty() && found.back().last == first)
        found.back().last = last;
      else
        found.push_back({first, last});
    }
    first = last;
  }
  return found;
}

bool Axis::operator==(const Axis& other) const {
  return n == other.n && nprocs == other.nprocs && src == other.src && sizes == other.sizes;
}

std::string Axis::describe() const {
  if (is_uniform()) return fmt::format("{} in blocks of {} over {} from {}", n, sizes[0], nprocs, src);
  return fmt::format("{} in blocks of {} over {} from {}", n, fmt::join(sizes, ","), nprocs, src);
}

} // namespace gridmap
