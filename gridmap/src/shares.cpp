// SPDX-License-Identifier: BSD-3-Clause
#include "shares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <lapacke.h>

#include "base/status.hpp"

namespace gridmap::detail {
namespace {

double sum(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0);
}

void column_shares(const Speeds& speeds, const std::vector<double>& r, std::vector<double>& c) {
  c.assign(at(speeds.q), std::numeric_limits<double>::infinity());
  for (int i = 0; i < speeds.p; ++i)
    for (int j = 0; j < speeds.q; ++j) c[at(j)] = std::min(c[at(j)], speeds(i, j) / r[at(i)]);
}

void row_shares(const Speeds& speeds, const std::vector<double>& c, std::vector<double>& r) {
  r.assign(at(speeds.p), std::numeric_limits<double>::infinity());
  for (int i = 0; i < speeds.p; ++i)
    for (int j = 0; j < speeds.q; ++j) r[at(i)] = std::min(r[at(i)], speeds(i, j) / c[at(j)]);
}

/// Of P_ij / r_i in a column: the smallest, its row, and the second smallest.
struct Least {
  double first, second;
  int row;
};

Least least_of(const Speeds& speeds, const std::vector<double>& r, int j) {
  Least least{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), -1};
  for (int i = 0; i < speeds.p; ++i) {
    const double c = speeds(i, j) / r[at(i)];
    if (c < least.first)
      least = {c, least.first, i};
    else if (c < least.second)
      least.second = c;
  }
  return least;
}

struct Break {
  double u, b, speed;
};

/// The breakpoint with the largest value; `otherwise` where none has one above 0.
double best_break(std::vector<Break>& breaks, double others, double otherwise) {
  double free_sum = 0; // of the columns not limited by this row
  for (const Break& b : breaks) free_sum += b.b;
  std::sort(breaks.begin(), breaks.end(), [](const Break& a, const Break& b) { return a.u < b.u; });
  double limited = 0, best_value = 0, best_x = otherwise;
  for (const Break& b : breaks) {
    const double value = (others + b.u) * (free_sum + limited / b.u);
    if (value > best_value) {
      best_value = value;
      best_x = b.u;
    }
    free_sum -= b.b;
    limited += b.speed;
  }
  return best_x;
}

/// One sweep over the rows: r_i to the best of its breakpoints, with c following as the largest possible.
///
/// With the other rows fixed, c_j = min(b_j, P_ij/x) for r_i = x, so the value is (S + x) * (A + B/x) between
/// two breakpoints u_j = P_ij/b_j: convex, hence largest at a breakpoint. The breakpoints are sorted and A, B
/// updated from one to the next.
void ascend_rows(const Speeds& speeds, std::vector<double>& r) {
  if (speeds.p == 1) return;
  std::vector<Least> columns;
  for (int j = 0; j < speeds.q; ++j) columns.push_back(least_of(speeds, r, j));
  double all = sum(r);
  std::vector<Break> breaks(at(speeds.q));
  for (int i = 0; i < speeds.p; ++i) {
    for (int j = 0; j < speeds.q; ++j) {
      const double b = columns[at(j)].row == i ? columns[at(j)].second : columns[at(j)].first;
      breaks[at(j)] = {speeds(i, j) / b, b, speeds(i, j)};
    }
    const double others = all - r[at(i)];
    const double best_x = best_break(breaks, others, r[at(i)]);
    if (std::abs(best_x - r[at(i)]) <= 1e-14 * best_x) continue;
    const double old = r[at(i)];
    r[at(i)] = best_x;
    all = others + best_x;
    for (int j = 0; j < speeds.q; ++j) {
      Least& least = columns[at(j)];
      const double c = speeds(i, j) / best_x;
      if (least.row == i && c <= least.second)
        least.first = c;
      else if (least.row != i && c < least.first)
        least = {c, least.first, i};
      else if (least.row == i || speeds(i, j) / old <= least.second || c < least.second)
        least = least_of(speeds, r, j);
    }
  }
}

/// All ways to connect p rows by p-1 ties "row a and row b are both tight in column j" are the labelled trees
/// on p nodes times q^(p-1).
struct Edge {
  int known, other; ///< r of `known` is set before r of `other`
};
std::vector<std::vector<Edge>> labelled_trees(int p) {
  std::vector<std::vector<Edge>> trees;
  std::vector<std::pair<int, int>> all;
  for (int a = 0; a < p; ++a)
    for (int b = a + 1; b < p; ++b) all.emplace_back(a, b);
  for (unsigned subset = 0; subset < (1U << all.size()); ++subset) {
    if (__builtin_popcount(subset) != p - 1) continue;
    std::vector<Edge> tree;
    std::vector<char> reached(at(p), 0); // not a bit mask: gcc 12.2 -O2 folds the comparison of two of its bits wrongly
    reached[0] = 1;
    for (bool grown = true; grown;) {
      grown = false;
      for (std::size_t e = 0; e < all.size(); ++e) {
        if (!(subset >> e & 1U)) continue;
        const auto [a, b] = all[e];
        if (reached[at(a)] == reached[at(b)]) continue;
        tree.push_back(reached[at(a)] ? Edge{a, b} : Edge{b, a});
        reached[at(a)] = reached[at(b)] = 1;
        grown = true;
      }
    }
    if (static_cast<int>(tree.size()) == p - 1) trees.push_back(std::move(tree));
  }
  return trees;
}

void try_trees(const Speeds& speeds, const std::vector<Edge>& tree, std::size_t depth, std::vector<double>& r,
               Shares& best) {
  if (depth == tree.size()) {
    const double rows = sum(r);
    double cols = 0;
    for (int j = 0; j < speeds.q; ++j) {
      double c = speeds(0, j) / r[0];
      for (int i = 1; i < speeds.p; ++i) c = std::min(c, speeds(i, j) / r[at(i)]);
      cols += c;
    }
    if (rows * cols > best.value) {
      best.value = rows * cols;
      best.r = r;
    }
    return;
  }
  const Edge edge = tree[depth];
  for (int j = 0; j < speeds.q; ++j) {
    r[at(edge.other)] = r[at(edge.known)] * speeds(edge.other, j) / speeds(edge.known, j);
    try_trees(speeds, tree, depth + 1, r, best);
  }
}

} // namespace

Speeds Speeds::transposed() const {
  Speeds t{q, p, std::vector<double>(v.size())};
  for (int i = 0; i < p; ++i)
    for (int j = 0; j < q; ++j) t(j, i) = (*this)(i, j);
  return t;
}

Shares tighten(const Speeds& speeds, const std::vector<double>& r) {
  Shares shares;
  column_shares(speeds, r, shares.c);
  row_shares(speeds, shares.c, shares.r);
  shares.value = sum(shares.r) * sum(shares.c);
  return shares;
}

Shares svd_shares(const Speeds& speeds) {
  std::vector<double> a = speeds.v;
  const double largest = *std::max_element(a.begin(), a.end());
  for (double& x : a) x /= largest;
  const int least = std::min(speeds.p, speeds.q);
  std::vector<double> s(at(least)), u(at(speeds.p) * at(least)), vt(at(least) * at(speeds.q));
  const auto info = LAPACKE_dgesdd(LAPACK_ROW_MAJOR, 'S', speeds.p, speeds.q, a.data(), speeds.q, s.data(), u.data(),
                                   least, vt.data(), speeds.q);
  if (info != 0)
    throw base::Error(base::Status::internal, "gridmap: svd: dgesdd answers " + std::to_string(info) + ", expected 0");
  std::vector<double> r(at(speeds.p));
  // a matrix of positive entries has a leading vector of one sign; rounding may leave a 0 when the speeds
  // differ by 1e16
  for (int i = 0; i < speeds.p; ++i)
    r[at(i)] = std::max(std::abs(u[at(i) * at(least)]), std::numeric_limits<double>::epsilon());
  return tighten(speeds, r);
}

void ascend(const Speeds& speeds, Shares& shares) {
  const Speeds transposed = speeds.transposed();
  for (int sweep = 0; sweep < 1000; ++sweep) {
    std::vector<double> r = shares.r;
    ascend_rows(speeds, r);
    Shares next = tighten(speeds, r);
    ascend_rows(transposed, next.c);
    const Shares turned = tighten(transposed, next.c);
    next = {turned.c, turned.r, turned.value};
    if (next.value <= shares.value * (1 + 1e-13)) {
      if (next.value > shares.value) shares = std::move(next);
      return;
    }
    shares = std::move(next);
  }
}

double exact_work(int p, int q) {
  const int least = std::min(p, q), most = std::max(p, q);
  if (least > 4) return 0;
  return std::pow(least, std::max(0, least - 2)) * std::pow(most, least - 1);
}

Shares exact_shares(const Speeds& speeds) {
  if (speeds.p > speeds.q) {
    Shares turned = exact_shares(speeds.transposed());
    return {std::move(turned.c), std::move(turned.r), turned.value};
  }
  static const std::vector<std::vector<Edge>> trees[] = {labelled_trees(1), labelled_trees(2), labelled_trees(3),
                                                         labelled_trees(4)};
  Shares best;
  std::vector<double> r(at(speeds.p), 1.0);
  for (const auto& tree : trees[speeds.p - 1]) try_trees(speeds, tree, 0, r, best);
  return tighten(speeds, best.r);
}

namespace {

/// Integers that add up to n, at least 1 each when n allows: the exact shares by weight, rounded down; then one unit at
/// a time to the part where excess() is least, or back from the one where it is most, when the floor of 1 took more
/// than there was.
/// @param excess(i, x, exact) of part i with x units and this exact share
template <class Excess>
std::vector<std::int64_t> whole_parts(std::int64_t n, std::vector<double> weights, Excess excess) {
  const std::int64_t least = n >= static_cast<std::int64_t>(weights.size()) ? 1 : 0;
  // the sum of large weights may overflow; a power of 2 rounds nothing
  const int exponent = std::ilogb(*std::max_element(weights.begin(), weights.end()));
  for (double& weight : weights) weight = std::scalbn(weight, -exponent);
  const double all = sum(weights);
  std::vector<std::int64_t> parts;
  std::vector<double> exact;
  std::int64_t left = n;
  for (const double weight : weights) {
    exact.push_back(static_cast<double>(n) * (weight / all));
    parts.push_back(std::max(least, static_cast<std::int64_t>(std::floor(exact.back()))));
    left -= parts.back();
  }
  while (left != 0) {
    const bool is_added = left > 0;
    std::size_t pick = parts.size();
    double most = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!is_added && parts[i] <= least) continue;
      const double due = excess(i, static_cast<double>(parts[i]), exact[i]) * (is_added ? -1 : 1);
      if (pick < parts.size() && due <= most) continue;
      pick = i;
      most = due;
    }
    const std::int64_t unit = is_added ? 1 : -1;
    parts[pick] += unit;
    left -= unit;
  }
  return parts;
}

} // namespace

std::vector<std::int64_t> largest_remainder(std::int64_t n, const std::vector<double>& weights) {
  return whole_parts(n, weights, [](std::size_t, double x, double exact) { return x - exact; });
}

std::vector<std::int64_t> least_time_parts(std::int64_t n, const std::vector<double>& speeds) {
  // The time with one unit more. Units are taken back only where a part has the floor of 1. That part takes longest
  // then, wherever they are taken back.
  return whole_parts(n, speeds, [&](std::size_t i, double x, double) { return (x + 1) / speeds[i]; });
}

} // namespace gridmap::detail
