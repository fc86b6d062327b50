// SPDX-License-Identifier: BSD-3-Clause
// What an exchange must leave in each local array, index by index, for the tests of the executor. The plans are the
// library's, which plan_test.cpp compares with the definition.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "brute.hpp"
#include "redist/layout.hpp"
#include "redist/plan.hpp"
#include "redist/rank_plan.hpp"

namespace brute {

/// Owner and local index of every index of an axis.
struct Dealt {
  std::vector<int> owner;
  std::vector<std::int64_t> local;
  std::vector<std::int64_t> share;
};

inline Dealt deal(const gridmap::Axis& axis) {
  Dealt d;
  d.share.assign(static_cast<std::size_t>(axis.nprocs), 0);
  for (const Placed& placed : places_of(axis)) {
    d.owner.push_back(placed.position);
    d.local.push_back(placed.local);
    ++d.share[static_cast<std::size_t>(placed.position)];
  }
  return d;
}

struct Problem {
  redist::Layout from, to;
  redist::Op op = redist::Op::none;
  std::int64_t m = 0, n = 0;           ///< of the window, as it lies in the target
  std::int64_t i_from = 0, j_from = 0; ///< its corner in the source
  std::int64_t i_to = 0, j_to = 0;
};

/// What a rank moves.
inline redist::RankPlan plan_of(const Problem& x, int rank, char type,
                                redist::Schedule schedule = redist::Schedule::async) {
  const bool turned = x.op != redist::Op::none;
  redist::PlanOptions options;
  options.schedule = schedule;
  options.op = x.op;
  options.from = {x.i_from, x.j_from, turned ? x.n : x.m, turned ? x.m : x.n};
  options.to = {x.i_to, x.j_to, x.m, x.n};
  return redist::Plan(x.from, x.to, options).for_rank(rank, type);
}

/// The value of element (i, j): its place, spread over the bytes of each type so that any mix-up shows.
inline void element(char type, std::int64_t i, std::int64_t j, char* at, bool conjugated = false) {
  const double v = static_cast<double>(i * 100003 + j + 1);
  switch (type) {
  case 's': {
    const float f = static_cast<float>((i * 1009 + j) % 16000000 + 1);
    std::memcpy(at, &f, 4);
    break;
  }
  case 'i': {
    const int k = static_cast<int>(i * 100003 + j + 1);
    std::memcpy(at, &k, 4);
    break;
  }
  case 'd':
    std::memcpy(at, &v, 8);
    break;
  case 'c': {
    const float f[2] = {static_cast<float>(i + 1), static_cast<float>(j + 1)};
    std::memcpy(at, f, 8);
    break;
  }
  default: {
    const double z[2] = {v, -v - 0.5};
    std::memcpy(at, z, 16);
    break;
  }
  }
  if (conjugated && type == 'c') at[7] ^= '\x80';
  if (conjugated && type == 'z') at[15] ^= '\x80';
}

inline int size_of(char type) {
  return type == 'z' ? 16 : type == 'd' || type == 'c' ? 8 : 4;
}

/// A rank's share of a matrix, with unused rows below it (pad) that must stay as they were.
struct Share {
  std::vector<char> bytes;
  std::int64_t m = 0, n = 0, lld = 1;
  char type = 'd';
  char* at(std::int64_t i, std::int64_t j) { return bytes.data() + (i + j * lld) * size_of(type); }
  void* data() { return bytes.empty() ? nullptr : bytes.data(); }
};

/// Row and column of a rank; 0 along an axis of which each process has all.
inline std::pair<int, int> place_of(const redist::Layout& layout, int rank) {
  const auto [p, q] = layout.grid.position_of(rank);
  if (p < 0) return {-1, -1};
  return {layout.rows_replicated ? 0 : p, layout.cols_replicated ? 0 : q};
}

inline Share share_of(const redist::Layout& layout, int rank, char type, std::int64_t pad, bool filled) {
  Share s;
  s.type = type;
  const auto [p, q] = place_of(layout, rank);
  if (p < 0) return s;
  const Dealt rows = deal(layout.rows), cols = deal(layout.cols);
  s.m = rows.share[static_cast<std::size_t>(p)];
  s.n = cols.share[static_cast<std::size_t>(q)];
  s.lld = std::max<std::int64_t>(1, s.m) + pad;
  s.bytes.assign(static_cast<std::size_t>(s.lld * std::max<std::int64_t>(1, s.n) * size_of(type)), '\x5a');
  if (!filled) return s;
  for (std::int64_t j = 0; j < layout.cols.n; ++j)
    for (std::int64_t i = 0; i < layout.rows.n; ++i)
      if (rows.owner[static_cast<std::size_t>(i)] == p && cols.owner[static_cast<std::size_t>(j)] == q)
        element(type, i, j, s.at(rows.local[static_cast<std::size_t>(i)], cols.local[static_cast<std::size_t>(j)]));
  return s;
}

/// What the target must be afterwards: elements of the window from the source, everything else untouched.
inline Share expected(const Problem& x, int rank, char type, std::int64_t pad) {
  Share s = share_of(x.to, rank, type, pad, false);
  const auto [p, q] = place_of(x.to, rank);
  if (p < 0) return s;
  const Dealt rows = deal(x.to.rows), cols = deal(x.to.cols);
  for (std::int64_t j = 0; j < x.n; ++j)
    for (std::int64_t i = 0; i < x.m; ++i) {
      const auto it = static_cast<std::size_t>(x.i_to + i), jt = static_cast<std::size_t>(x.j_to + j);
      if (rows.owner[it] != p || cols.owner[jt] != q) continue;
      const bool turned = x.op != redist::Op::none;
      element(type, x.i_from + (turned ? j : i), x.j_from + (turned ? i : j), s.at(rows.local[it], cols.local[jt]),
              x.op == redist::Op::conjugate_transpose);
    }
  return s;
}

inline Problem whole(redist::Layout from, redist::Layout to) {
  Problem x;
  x.m = to.rows.n;
  x.n = to.cols.n;
  x.from = std::move(from);
  x.to = std::move(to);
  return x;
}

inline redist::Layout uniform(std::int64_t m, std::int64_t n, std::int64_t mb, std::int64_t nb, redist::Grid grid,
                              int rsrc = 0, int csrc = 0) {
  return {gridmap::Axis::block_cyclic(m, mb, grid.nprow, rsrc), gridmap::Axis::block_cyclic(n, nb, grid.npcol, csrc),
          std::move(grid)};
}

/// Any grids of the first `size` ranks, any axes and operation, whole matrices as often as windows. has_copies: axes of
/// which each process has all are among them.
inline Problem random_problem(std::mt19937& random, int size, int largest = 60, bool has_copies = false) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const auto layout = [&](std::int64_t m, std::int64_t n) {
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    if (pick(0, 2) > 0) std::shuffle(ranks.begin(), ranks.end(), random);
    const int nprow = pick(1, size), npcol = pick(1, size / nprow);
    ranks.resize(static_cast<std::size_t>(nprow * npcol));
    redist::Layout made;
    made.grid = {nprow, npcol, ranks};
    made.rows_replicated = has_copies && pick(0, 5) == 0;
    made.cols_replicated = has_copies && pick(0, 5) == 0;
    made.rows = naive::random_axis(random, m, made.rows_replicated ? 1 : nprow);
    made.cols = naive::random_axis(random, n, made.cols_replicated ? 1 : npcol);
    return made;
  };
  Problem x;
  x.op = static_cast<redist::Op>(std::max(0, pick(-2, 2)));
  x.m = pick(0, largest);
  x.n = pick(0, largest);
  int beside[4] = {0, 0, 0, 0};
  if (pick(0, 1) == 0)
    for (int& one : beside) one = pick(0, 9);
  const std::int64_t m_from = x.op == redist::Op::none ? x.m : x.n, n_from = x.op == redist::Op::none ? x.n : x.m;
  x.i_from = beside[0];
  x.j_from = beside[1];
  x.i_to = beside[2];
  x.j_to = beside[3];
  x.from = layout(beside[0] + m_from + beside[2], beside[1] + n_from + beside[3]);
  x.to = layout(beside[2] + x.m + beside[1], beside[3] + x.n + beside[0]);
  return x;
}

} // namespace brute
