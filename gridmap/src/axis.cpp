// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/axis.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"
#include "base/status.hpp"

namespace gridmap {

using base::Error;
using base::Status;
namespace {

template <class... Values> [[noreturn]] void bad_axis(fmt::format_string<Values...> message, Values&&... values) {
  throw Error(Status::bad_argument, "gridmap: axis: " + fmt::format(message, std::forward<Values>(values)...));
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

int owner_of_block(const Axis& axis, std::int64_t j) {
  if (axis.owners.empty()) return static_cast<int>((axis.src + j) % axis.nprocs);
  return axis.owners[at(j % static_cast<std::int64_t>(axis.owners.size()))];
}

std::int64_t first_block_of(const Axis& axis, int p) {
  return (std::int64_t{p} - axis.src + axis.nprocs) % axis.nprocs;
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

/// Elements of position p among the first `n` of all, of an axis with owners.
std::int64_t count_by_owner(const Axis& axis, int p, std::int64_t n) {
  const std::int64_t period = period_of(axis), rest = n % period;
  std::int64_t of_period = 0, of_rest = 0, first = 0;
  for (std::size_t j = 0; j < axis.sizes.size(); ++j) {
    if (axis.owners[j] == p) {
      of_period += axis.sizes[j];
      of_rest += std::clamp<std::int64_t>(rest - first, 0, axis.sizes[j]);
    }
    first += axis.sizes[j];
  }
  return n / period * of_period + of_rest;
}

/// Global index of local index i on position p, of an axis with owners.
std::int64_t to_global_by_owner(const Axis& axis, std::int64_t i_loc, int p) {
  const std::int64_t period = period_of(axis), of_period = count_by_owner(axis, p, period);
  if (of_period == 0) return axis.n; // p owns nothing: there is no such element
  std::int64_t rest = i_loc % of_period, first = i_loc / of_period * period;
  for (std::size_t j = 0; axis.owners[j] != p || rest >= axis.sizes[j]; ++j) {
    if (axis.owners[j] == p) rest -= axis.sizes[j];
    first += axis.sizes[j];
  }
  return first + rest;
}

/// Elements of position p among the first `n` of all.
std::int64_t count(const Axis& axis, int p, std::int64_t n) {
  if (!axis.owners.empty()) return count_by_owner(axis, p, n);
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
  const std::int64_t nb = nprocs > 0 ? std::max<std::int64_t>(1, n / nprocs + (n % nprocs > 0)) : 1;
  return {n, {nb}, src, nprocs};
}

Axis Axis::equal(std::int64_t n, std::int64_t nb, int nprocs) {
  return nb > 0 ? block_cyclic(n, nb, nprocs) : block(n, nprocs);
}

Axis Axis::variable(std::vector<std::int64_t> rows_per_proc, int src) {
  const std::int64_t n = std::accumulate(rows_per_proc.begin(), rows_per_proc.end(), std::int64_t{0});
  const int nprocs = static_cast<int>(rows_per_proc.size());
  return {n, std::move(rows_per_proc), src, nprocs};
}

Axis Axis::heterogeneous(std::int64_t n, std::vector<std::int64_t> sizes, int nprocs, int src) {
  return {n, std::move(sizes), src, nprocs};
}

Axis Axis::owned(std::vector<std::int64_t> sizes, std::vector<int> owners, int nprocs) {
  Axis axis{0, std::move(sizes), 0, nprocs, std::move(owners)};
  if (axis.owners.empty()) bad_axis("no owners, expected one for each block");
  axis.validate();
  axis.n = period_of(axis);
  std::size_t count = 0; // of blocks that are left
  for (std::size_t j = 0; j < axis.sizes.size(); ++j) {
    if (axis.sizes[j] == 0) continue;
    if (count > 0 && axis.owners[count - 1] == axis.owners[j]) {
      axis.sizes[count - 1] += axis.sizes[j];
      continue;
    }
    axis.sizes[count] = axis.sizes[j];
    axis.owners[count++] = axis.owners[j];
  }
  if (count == 0) return block_cyclic(0, 1, nprocs);
  axis.sizes.resize(count);
  axis.owners.resize(count);
  const int first = axis.owners[0];
  bool are_in_turn = true;
  for (std::size_t j = 0; j < count && are_in_turn; ++j)
    are_in_turn = axis.owners[j] == static_cast<int>((at(first) + j) % at(nprocs));
  if (are_in_turn) {
    axis.src = first;
    axis.owners.clear();
    const bool are_equal =
        std::all_of(axis.sizes.begin(), axis.sizes.end() - 1, [&](std::int64_t s) { return s == axis.sizes[0]; });
    if (are_equal && axis.sizes.back() <= axis.sizes[0]) axis.sizes.resize(1);
  }
  axis.sizes.shrink_to_fit();
  axis.owners.shrink_to_fit();
  return axis;
}

Axis Axis::in_turn() const {
  if (owners.empty()) return *this;
  Axis same{n, {}, owners[0], nprocs};
  int next = same.src;
  const auto skip_to = [&](int owner) {
    for (; next != owner; next = (next + 1) % nprocs) same.sizes.push_back(0);
  };
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    skip_to(owners[j]);
    same.sizes.push_back(sizes[j]);
    next = (next + 1) % nprocs;
    if (j + 1 == sizes.size() && n > period_of(*this)) skip_to(owners[0]); // the list repeats: so does the turn
    if (static_cast<std::int64_t>(same.sizes.size()) > most_sizes)
      throw Error(Status::shape_mismatch,
                  "gridmap: axis: {} blocks with owners over {} positions need more than {} block sizes in turn",
                  sizes.size(), nprocs, most_sizes);
  }
  return same;
}

void Axis::validate() const {
  if (n < 0) bad_axis("n is {}, expected at least 0", n);
  if (nprocs < 1) bad_axis("nprocs is {}, expected at least 1", nprocs);
  if (src < 0 || src >= nprocs) bad_axis("src is {}, expected 0 .. {}", src, nprocs - 1);
  if (sizes.empty()) bad_axis("no block sizes, expected at least one");
  if (static_cast<std::int64_t>(sizes.size()) > most_sizes)
    bad_axis("{} block sizes, expected at most {}", sizes.size(), most_sizes);
  std::int64_t sum = 0;
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    if (sizes[j] < 0) bad_axis("block size {} is {}, expected at least 0", j, sizes[j]);
    if (__builtin_add_overflow(sum, sizes[j], &sum)) bad_axis("the block sizes add up to more than 2^63");
  }
  if (std::int64_t whole = 0; __builtin_mul_overflow(sum, std::int64_t{nprocs}, &whole))
    bad_axis("the block sizes add up to {}, expected fewer than 2^63 over {} positions", sum, nprocs);
  if (!owners.empty() && owners.size() != sizes.size())
    bad_axis("{} owners, expected one for each of {} blocks", owners.size(), sizes.size());
  for (std::size_t j = 0; j < owners.size(); ++j)
    if (owners[j] < 0 || owners[j] >= nprocs)
      bad_axis("owner of block {} is {}, expected 0 .. {}", j, owners[j], nprocs - 1);
  if (n > 0 && sum == 0) bad_axis("all block sizes are 0, but n is {}", n);
}

void check_counts(const Axis& rows, const Axis& cols, const char* where) {
  constexpr int most_processes = std::numeric_limits<int>::max();
  if (std::int64_t{rows.nprocs} * cols.nprocs > most_processes)
    throw Error(Status::bad_argument, "gridmap: {} grid is {}x{}, expected at most {} processes", where, rows.nprocs,
                cols.nprocs, most_processes);
  std::int64_t elements = 0;
  if (__builtin_mul_overflow(rows.n, cols.n, &elements) || elements > std::numeric_limits<std::int64_t>::max() / 4)
    throw Error(Status::bad_argument, "gridmap: {} matrix is {} x {}, expected fewer than 2^61 elements", where, rows.n,
                cols.n);
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

std::vector<std::int64_t> Axis::local_sizes() const {
  std::vector<std::int64_t> sizes_of;
  for (int p = 0; p < nprocs; ++p) sizes_of.push_back(local_size(p));
  return sizes_of;
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
  return owner_of_block(*this, i_glo / period * k + j);
}

std::int64_t Axis::to_local(std::int64_t i_glo) const {
  if (is_uniform()) return i_glo / (sizes[0] * nprocs) * sizes[0] + i_glo % sizes[0];
  return count(*this, owner(i_glo), i_glo);
}

std::int64_t Axis::to_global(std::int64_t i_loc, int p) const {
  const std::int64_t j_mine = first_block_of(*this, p);
  if (is_uniform()) return (i_loc / sizes[0] * nprocs + j_mine) * sizes[0] + i_loc % sizes[0];
  if (!owners.empty()) return to_global_by_owner(*this, i_loc, p);
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
  StretchWalk walk(*this, p);
  for (Stretch next = walk.next(); next.first < next.last; next = walk.next()) found.push_back(next);
  return found;
}

StretchWalk::StretchWalk(const Axis& axis, int p, std::int64_t from) : axis_(axis), p_(p), from_(from) {
  if (axis.n == 0) return;
  const std::int64_t period = period_of(axis);
  block_ = from / period * static_cast<std::int64_t>(axis.sizes.size());
  begin_ = from / period * period;
}

Axis::Stretch StretchWalk::next() {
  Axis::Stretch found{axis_.n, axis_.n};
  const auto k = static_cast<std::int64_t>(axis_.sizes.size());
  while (begin_ < axis_.n) {
    if (axis_.is_uniform()) { // straight to the next one of this position
      const std::int64_t others = (std::int64_t{p_} - owner_of_block(axis_, block_) + axis_.nprocs) % axis_.nprocs;
      block_ += others;
      begin_ += others * axis_.sizes[0];
    }
    const std::int64_t first = std::max(begin_, from_), end = begin_ + axis_.sizes[at(block_ % k)];
    if (const std::int64_t last = std::min(axis_.n, end); last > first) {
      const bool is_mine = owner_of_block(axis_, block_) == p_, is_begun = found.first < found.last;
      if (is_begun && (!is_mine || found.last != first)) return found;
      if (is_mine) found = {is_begun ? found.first : first, last};
    }
    ++block_;
    begin_ = end;
  }
  return found;
}

bool Axis::operator==(const Axis& other) const {
  return n == other.n && nprocs == other.nprocs && src == other.src && sizes == other.sizes && owners == other.owners;
}

std::string Axis::describe() const {
  if (!owners.empty())
    return fmt::format("{} in blocks of {} on {} of {}", n, fmt::join(sizes, ","), fmt::join(owners, ","), nprocs);
  if (is_uniform()) return fmt::format("{} in blocks of {} over {} from {}", n, sizes[0], nprocs, src);
  return fmt::format("{} in blocks of {} over {} from {}", n, fmt::join(sizes, ","), nprocs, src);
}

} // namespace gridmap
