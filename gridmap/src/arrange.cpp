// SPDX-License-Identifier: BSD-3-Clause
#include "arrange.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace gridmap::detail {
namespace {

/// Positions in the order of falling r_i*c_j; equal ones row-major.
std::vector<int> by_demand(const Shares& shares, int p, int q, const std::vector<char>& movable) {
  std::vector<double> demand(at(p) * at(q));
  for (int i = 0; i < p; ++i)
    for (int j = 0; j < q; ++j) demand[at(i) * at(q) + at(j)] = shares.r[at(i)] * shares.c[at(j)];
  std::vector<int> places;
  for (int k = 0; k < p * q; ++k)
    if (movable.empty() || movable[at(k)]) places.push_back(k);
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return demand[at(a)] > demand[at(b)]; });
  return places;
}

/// The speeds now on the movable places, sorted into them by demand.
std::vector<int> rearranged(const std::vector<int>& rank, const Shares& shares, int p, int q,
                            const std::vector<char>& movable) {
  const std::vector<int> places = by_demand(shares, p, q, movable);
  std::vector<int> free;
  for (const int k : places) free.push_back(rank[at(k)]);
  std::sort(free.begin(), free.end());
  std::vector<int> result = rank;
  for (std::size_t k = 0; k < places.size(); ++k) result[at(places[k])] = free[k];
  return result;
}

/// Largest time of a processor with whole rows and columns.
double whole_time(const Speeds& speeds, const Shares& shares, std::int64_t m, std::int64_t n) {
  const std::vector<std::int64_t> rows = largest_remainder(m, shares.r), cols = largest_remainder(n, shares.c);
  double time = 0;
  for (int i = 0; i < speeds.p; ++i)
    for (int j = 0; j < speeds.q; ++j)
      time = std::max(time, static_cast<double>(rows[at(i)]) * static_cast<double>(cols[at(j)]) / speeds(i, j));
  return time;
}

Arrangement transposed(const Arrangement& a, int p, int q) { // a is p x q
  Arrangement t = a;
  std::swap(t.shares.r, t.shares.c);
  for (int i = 0; i < p; ++i)
    for (int j = 0; j < q; ++j) t.rank[at(j) * at(p) + at(i)] = a.rank[at(i) * at(q) + at(j)];
  return t;
}

/// Rows and columns by falling share: the same grid in the order that reads best.
void tidy(Arrangement& a, int p, int q) {
  std::vector<int> rows(at(p)), cols(at(q));
  std::iota(rows.begin(), rows.end(), 0);
  std::iota(cols.begin(), cols.end(), 0);
  std::stable_sort(rows.begin(), rows.end(), [&](int x, int y) { return a.shares.r[at(x)] > a.shares.r[at(y)]; });
  std::stable_sort(cols.begin(), cols.end(), [&](int x, int y) { return a.shares.c[at(x)] > a.shares.c[at(y)]; });
  const Arrangement old = a;
  for (int i = 0; i < p; ++i) {
    a.shares.r[at(i)] = old.shares.r[at(rows[at(i)])];
    for (int j = 0; j < q; ++j) a.rank[at(i) * at(q) + at(j)] = old.rank[at(rows[at(i)]) * at(q) + at(cols[at(j)])];
  }
  for (int j = 0; j < q; ++j) a.shares.c[at(j)] = old.shares.c[at(cols[at(j)])];
}

/// Branch and bound over the arrangements with falling rows and columns: any other can be sorted into one
/// without loss. Speeds are placed in falling order, so the filled places always form a staircase. The bound
/// gives each open place the largest speed it can still get (everything above and left of it comes first) and
/// solves those shares exactly: more speed never makes the value smaller.
class Exact {
public:
  Exact(const std::vector<double>& descending, int p, int q, double work, Arrangement& best)
      : speeds_(descending), p_(p), q_(q), work_(work), per_node_(exact_work(p, q) * p * q), best_(best),
        lengths_(at(p), 0), rank_(at(p) * at(q), -1), grid_{p, q, std::vector<double>(at(p) * at(q))} {}

  bool run() {
    descend(0);
    return work_ > 0;
  }

private:
  void descend(int placed) {
    for (int i = 0; i < p_; ++i) {
      if (lengths_[at(i)] == q_ || (i > 0 && lengths_[at(i)] == lengths_[at(i - 1)])) continue;
      // a square grid and its mirror image are worth the same
      if (p_ == q_ && placed == 1 && i == 1) continue;
      work_ -= per_node_;
      if (work_ <= 0) return;
      const auto place = at(i) * at(q_) + at(lengths_[at(i)]);
      rank_[place] = placed;
      ++lengths_[at(i)];
      visit(placed + 1);
      --lengths_[at(i)];
      rank_[place] = -1;
    }
  }

  void visit(int placed) {
    double all = 0;
    for (int i = 0; i < p_; ++i)
      for (int j = 0; j < q_; ++j) {
        double& speed = grid_(i, j);
        if (j < lengths_[at(i)]) {
          speed = speeds_[at(rank_[at(i) * at(q_) + at(j)])];
        } else {
          int before = 0;
          for (int k = 0; k <= i; ++k) before += std::max(0, j - lengths_[at(k)] + 1);
          speed = speeds_[at(placed + before - 1)];
        }
        all += speed;
      }
    const double bound = best_.shares.value * (1 + 1e-12);
    if (all <= bound) return; // the sum of r_i*c_j is at most the sum of the speeds
    Shares shares = exact_shares(grid_);
    if (shares.value <= bound) return;
    if (placed == p_ * q_) {
      best_.rank = rank_;
      best_.shares = std::move(shares);
      return;
    }
    descend(placed);
  }

  const std::vector<double>& speeds_;
  int p_, q_;
  double work_, per_node_;
  Arrangement& best_;
  std::vector<int> lengths_;
  std::vector<int> rank_;
  Speeds grid_;
};

} // namespace

Speeds speeds_at(const std::vector<double>& descending, const std::vector<int>& rank, int p, int q) {
  Speeds grid{p, q, std::vector<double>(rank.size())};
  for (std::size_t k = 0; k < rank.size(); ++k) grid.v[k] = descending[at(rank[k])];
  return grid;
}

Arrangement svd_arrangement(const std::vector<double>& descending, int p, int q, const SvdSearch& search) {
  Arrangement best;
  double best_score = -1;
  std::set<std::vector<int>> seen;
  std::vector<int> rank = search.start;
  if (rank.empty()) {
    rank.resize(descending.size());
    std::iota(rank.begin(), rank.end(), 0);
  }
  // the text claims convergence for all inputs; there are cycles, and the last arrangement is often not the best one
  while (seen.size() < 200 && seen.insert(rank).second) {
    const Speeds speeds = speeds_at(descending, rank, p, q);
    Shares shares = svd_shares(speeds);
    std::vector<int> next = rearranged(rank, shares, p, q, search.movable);
    const auto keep = [&](const std::vector<int>& places, const Speeds& there, Shares found) {
      const double score =
          search.m > 0 && search.n > 0 ? 1 / whole_time(there, found, search.m, search.n) : found.value;
      if (score <= best_score) return;
      best_score = score;
      best.rank = places;
      best.shares = std::move(found);
    };
    const std::vector<double> vector = shares.r;
    keep(rank, speeds, std::move(shares));
    if (search.tries_vector_before) {
      const Speeds there = speeds_at(descending, next, p, q);
      keep(next, there, tighten(there, vector));
    }
    rank = std::move(next);
  }
  return best;
}

void climb(const std::vector<double>& descending, int p, int q, Arrangement& arrangement) {
  // sorting keeps the shares possible: if any order of the speeds covers all demands r_i*c_j, the sorted one does
  for (int round = 0; round < 100; ++round) {
    std::vector<int> rank = rearranged(arrangement.rank, arrangement.shares, p, q, {});
    const Speeds speeds = speeds_at(descending, rank, p, q);
    Shares shares = tighten(speeds, arrangement.shares.r);
    ascend(speeds, shares);
    if (shares.value <= arrangement.shares.value * (1 + 1e-12)) return;
    arrangement.rank = std::move(rank);
    arrangement.shares = std::move(shares);
  }
}

Arrangement quick_arrangement(const std::vector<double>& descending, int p, int q) {
  Arrangement best;
  for (const bool columns : {false, true}) {
    Arrangement a;
    a.rank.resize(descending.size());
    for (int i = 0; i < p; ++i)
      for (int j = 0; j < q; ++j) a.rank[at(i) * at(q) + at(j)] = columns ? j * p + i : i * q + j;
    const Speeds speeds = speeds_at(descending, a.rank, p, q);
    // row sums stand for the singular vector: close enough for a start
    std::vector<double> r(at(p), 0.0);
    for (int i = 0; i < p; ++i)
      for (int j = 0; j < q; ++j) r[at(i)] += speeds(i, j);
    a.shares = tighten(speeds, r);
    ascend(speeds, a.shares);
    climb(descending, p, q, a);
    if (a.shares.value > best.shares.value) best = std::move(a);
  }
  return best;
}

Arrangement best_arrangement(const std::vector<double>& descending, int p, int q, double work) {
  Arrangement best = svd_arrangement(descending, p, q);
  if (p == 1 || q == 1) {
    best.proved = true; // one row: every processor is used in full
    tidy(best, p, q);
    return best;
  }
  const auto keep = [&](Arrangement a) {
    climb(descending, p, q, a);
    if (a.shares.value > best.shares.value * (1 + 1e-12)) best = std::move(a);
  };
  keep(best);
  SvdSearch by_columns, turned;
  by_columns.start.resize(descending.size());
  turned.start.resize(descending.size());
  for (int i = 0; i < p; ++i)
    for (int j = 0; j < q; ++j) by_columns.start[at(i) * at(q) + at(j)] = j * p + i;
  for (int i = 0; i < q; ++i)
    for (int j = 0; j < p; ++j) turned.start[at(i) * at(p) + at(j)] = j * q + i;
  const double size = static_cast<double>(descending.size());
  const bool large = size > 600; // a decomposition per round costs more than what the further starts have ever gained
  if (!large) {
    keep(svd_arrangement(descending, p, q, by_columns));
    keep(transposed(svd_arrangement(descending, q, p), q, p));
    keep(transposed(svd_arrangement(descending, q, p, turned), q, p));
  }
  keep(quick_arrangement(descending, p, q));

  // kicks: any arrangement worth looking at is sorted by its own shares, so the shares are what is searched
  const double per_climb = 30 * size * (p + q + 8);
  const int kicks = static_cast<int>(std::min(400.0, work / per_climb));
  Sequence sequence(static_cast<std::uint64_t>(p) * 1000003 + static_cast<std::uint64_t>(q));
  for (int kick = 0; kick < kicks; ++kick) {
    const double strength = 0.05 + 0.6 * sequence.uniform();
    Arrangement a = best;
    for (double& x : a.shares.r) x *= std::exp(strength * (2 * sequence.uniform() - 1));
    for (double& x : a.shares.c) x *= std::exp(strength * (2 * sequence.uniform() - 1));
    a.rank = rearranged(a.rank, a.shares, p, q, {});
    const Speeds speeds = speeds_at(descending, a.rank, p, q);
    a.shares = tighten(speeds, a.shares.r);
    ascend(speeds, a.shares);
    keep(std::move(a));
  }
  if (p * q <= 16 && std::min(p, q) <= 4) best.proved = Exact(descending, p, q, work * 4, best).run();
  tidy(best, p, q);
  return best;
}

} // namespace gridmap::detail
