// SPDX-License-Identifier: BSD-3-Clause
// Rank plans made index by index, for the tests of the executor: nothing here comes from the code under test.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
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

/// What goes from position p of `from` to position q of `to`: one run per stretch of indices that are
/// neighbours on both sides.
inline redist::RunList intersect(const Dealt& from, int p, std::int64_t i0, const Dealt& to, int q, std::int64_t j0,
                                 std::int64_t n) {
  redist::RunList list;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto i = static_cast<std::size_t>(i0 + k);
    const auto j = static_cast<std::size_t>(j0 + k);
    if (from.owner[i] != p || to.owner[j] != q) continue;
    ++list.total;
    if (!list.runs.empty()) {
      redist::Run& last = list.runs.back();
      if (last.from + last.len == from.local[i] && last.to + last.len == to.local[j]) {
        ++last.len;
        continue;
      }
    }
    list.runs.push_back({from.local[i], to.local[j], 1, 1, 0, 0});
  }
  // neighbouring runs of one length and one step become one, so that the executor's strided kernels are
  // exercised
  redist::RunList folded;
  folded.total = list.total;
  for (const redist::Run& r : list.runs) {
    if (!folded.runs.empty()) {
      redist::Run& last = folded.runs.back();
      const std::int64_t next_from = last.from + last.count * last.from_step;
      const std::int64_t next_to = last.to + last.count * last.to_step;
      if (last.len == r.len && last.count == 1) {
        last.from_step = r.from - last.from;
        last.to_step = r.to - last.to;
        last.count = 2;
        continue;
      }
      if (last.len == r.len && last.count > 1 && next_from == r.from && next_to == r.to) {
        ++last.count;
        continue;
      }
    }
    folded.runs.push_back(r);
  }
  return folded;
}

struct Problem {
  redist::Layout from, to;
  redist::Op op = redist::Op::none;
  std::int64_t m = 0, n = 0;           ///< of the window, as it lies in the target
  std::int64_t i_from = 0, j_from = 0; ///< its corner in the source
  std::int64_t i_to = 0, j_to = 0;
};

enum class Order { none, by_rank, shuffled, split };

/// The plan of one rank. Orders are worked out from (source rank, target rank) alone, so that both ends
/// agree.
inline redist::RankPlan plan_of(const Problem& x, int rank, char type, Order order = Order::none) {
  using namespace redist;
  const bool turned = x.op != Op::none;
  const Dealt fr = deal(turned ? x.from.cols : x.from.rows); // the source's axis that runs down the target's columns
  const Dealt fc = deal(turned ? x.from.rows : x.from.cols);
  const Dealt tr = deal(x.to.rows), tc = deal(x.to.cols);
  const std::int64_t i0 = turned ? x.j_from : x.i_from, j0 = turned ? x.i_from : x.j_from;
  RankPlan plan;
  plan.rank = rank;
  plan.type = type;
  plan.transposed = turned;
  plan.conjugated = x.op == Op::conjugate_transpose;
  const auto source_rank = [&](int r, int c) { return turned ? x.from.grid.rank_at(c, r) : x.from.grid.rank_at(r, c); };
  const int fr_n = turned ? x.from.grid.npcol : x.from.grid.nprow,
            fc_n = turned ? x.from.grid.nprow : x.from.grid.npcol;
  const auto [p, q] = x.from.grid.position_of(rank);
  if (p >= 0) {
    plan.m_loc_from = deal(x.from.rows).share[static_cast<std::size_t>(p)];
    plan.n_loc_from = deal(x.from.cols).share[static_cast<std::size_t>(q)];
  }
  const auto [pt, qt] = x.to.grid.position_of(rank);
  if (pt >= 0) {
    plan.m_loc_to = tr.share[static_cast<std::size_t>(pt)];
    plan.n_loc_to = tc.share[static_cast<std::size_t>(qt)];
  }
  for (int a = 0; a < fr_n; ++a)
    for (int b = 0; b < fc_n; ++b)
      for (int c = 0; c < x.to.grid.nprow; ++c)
        for (int d = 0; d < x.to.grid.npcol; ++d) {
          const int source = source_rank(a, b), target = x.to.grid.rank_at(c, d);
          if (source != rank && target != rank) continue;
          RunList rows = intersect(fr, a, i0, tr, c, x.i_to, x.m);
          RunList cols = intersect(fc, b, j0, tc, d, x.j_to, x.n);
          if (rows.total * cols.total == 0) continue;
          plan.lists.push_back(std::move(rows));
          const RunList* rows_at = &plan.lists.back();
          plan.lists.push_back(std::move(cols));
          const RunList* cols_at = &plan.lists.back();
          if (source == rank && target == rank)
            plan.keeps.push_back({rank, rows_at, cols_at});
          else if (source == rank)
            plan.sends.push_back({target, rows_at, cols_at});
          else
            plan.recvs.push_back({source, rows_at, cols_at});
        }
  const auto by_peer = [](const Message& a, const Message& b) { return a.peer < b.peer; };
  std::sort(plan.sends.begin(), plan.sends.end(), by_peer);
  std::sort(plan.recvs.begin(), plan.recvs.end(), by_peer);
  if (order == Order::none) return plan;
  const auto pieces = [&](const std::vector<Message>& messages, bool sending) {
    std::vector<Piece> all;
    for (std::size_t k = 0; k < messages.size(); ++k) {
      const int source = sending ? rank : messages[k].peer, target = sending ? messages[k].peer : rank;
      const std::int64_t count = messages[k].elements();
      const int message = static_cast<int>(k);
      if (order == Order::by_rank) all.push_back({(target - source + 64) % 64, message, 0, count});
      if (order == Order::shuffled)
        all.push_back({(source * 7 + target * 13 + source * target * 5) % 17, message, 0, count});
      if (order == Order::split) { // three uneven parts, the last one first
        std::mt19937 random(static_cast<unsigned>(source * 1000 + target));
        const std::int64_t a = count / 3, b = count / 2;
        all.push_back({static_cast<int>(random() % 5), message, b, count - b});
        all.push_back({static_cast<int>(random() % 5), message, a, b - a});
        all.push_back({static_cast<int>(random() % 5), message, 0, a});
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const Piece& a, const Piece& b) { return a.step < b.step; });
    return all;
  };
  plan.send_order = pieces(plan.sends, true);
  plan.recv_order = pieces(plan.recvs, false);
  plan.steps = 64;
  return plan;
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

inline Share share_of(const redist::Layout& layout, int rank, char type, std::int64_t pad, bool filled) {
  Share s;
  s.type = type;
  const auto [p, q] = layout.grid.position_of(rank);
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
  const auto [p, q] = x.to.grid.position_of(rank);
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

inline redist::Grid grid_of(int nprow, int npcol, std::vector<int> ranks) {
  return {nprow, npcol, std::move(ranks)};
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

/// Any grid of the first `size` ranks in any order, any blocks, windows and operation.
inline Problem random_problem(std::mt19937& random, int size) {
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  const auto axis = [&](std::int64_t n, int nprocs) {
    gridmap::Axis a;
    a.n = n;
    a.nprocs = nprocs;
    a.src = pick(0, nprocs - 1);
    a.sizes.clear();
    const int k = pick(0, 3) == 0 ? pick(2, 5) : 1;
    for (int s = 0; s < k; ++s) a.sizes.push_back(k == 1 ? pick(1, 9) : pick(0, 9));
    if (std::all_of(a.sizes.begin(), a.sizes.end(), [](std::int64_t s) { return s == 0; })) a.sizes[0] = 3;
    return a;
  };
  const auto grid = [&] {
    std::vector<int> ranks;
    for (int r = 0; r < size; ++r) ranks.push_back(r);
    std::shuffle(ranks.begin(), ranks.end(), random);
    const int nprow = pick(1, size);
    const int npcol = pick(1, size / nprow);
    ranks.resize(static_cast<std::size_t>(nprow * npcol));
    return redist::Grid{nprow, npcol, ranks};
  };
  Problem x;
  x.op = static_cast<redist::Op>(std::max(0, pick(-2, 2)));
  x.m = pick(0, 60);
  x.n = pick(0, 60);
  x.from.grid = grid();
  x.to.grid = grid();
  const std::int64_t m_from = x.op == redist::Op::none ? x.m : x.n, n_from = x.op == redist::Op::none ? x.n : x.m;
  const int above = pick(0, 9), below = pick(0, 9), left = pick(0, 9), right = pick(0, 9);
  x.i_from = above;
  x.j_from = left;
  x.from.rows = axis(above + m_from + below, x.from.grid.nprow);
  x.from.cols = axis(left + n_from + right, x.from.grid.npcol);
  x.i_to = below;
  x.j_to = right;
  x.to.rows = axis(below + x.m + left, x.to.grid.nprow);
  x.to.cols = axis(right + x.n + above, x.to.grid.npcol);
  return x;
}

} // namespace brute
