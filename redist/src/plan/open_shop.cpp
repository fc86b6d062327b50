// SPDX-License-Identifier: BSD-3-Clause
#include "plan/open_shop.hpp"
#include "base/index.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace redist::detail {
namespace {

using base::at;

struct Half {
  int other;
  int edge;
};

/// One side of the bipartite graph: neighbours in compressed rows, what is left to do, the current partner.
struct Side {
  std::vector<std::size_t> first;
  std::vector<Half> halves;
  std::vector<std::int64_t> load;
  std::vector<int> mate;      ///< node of the other side, -1
  std::vector<int> mate_edge; ///< the edge to it
  std::vector<char> must;     ///< has to be covered in this step
  std::vector<std::uint32_t> seen;
  std::vector<std::size_t> alive; ///< end of the halves whose edges are not used up
  std::vector<std::size_t> live;  ///< end of those that reached the threshold when last looked at
  std::vector<std::size_t> look;  ///< before it, partners that a must-node has: they stay with one in this step

  void build(int nodes, const std::vector<Edge>& edges, bool source) {
    first.assign(at(nodes) + 1, 0);
    load.assign(at(nodes), 0);
    mate.assign(at(nodes), -1);
    mate_edge.assign(at(nodes), -1);
    must.assign(at(nodes), 0);
    seen.assign(at(nodes), 0);
    halves.resize(edges.size());
    for (const Edge& edge : edges) {
      const std::size_t node = at(source ? edge.source : edge.target);
      ++first[node + 1];
      load[node] += edge.weight;
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    alive.assign(first.begin() + 1, first.end());
    live = alive;
    look.assign(at(nodes), 0);
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const std::size_t node = at(source ? edges[e].source : edges[e].target);
      halves[next[node]++] = {source ? edges[e].target : edges[e].source, static_cast<int>(e)};
    }
  }
};

class Shop {
public:
  Shop(int sources, int targets, const std::vector<Edge>& edges) : left_(edges.size()) {
    sources_.build(sources, edges, true);
    targets_.build(targets, edges, false);
    for (std::size_t e = 0; e < edges.size(); ++e) left_[e] = edges[e].weight;
  }

  bool run(std::int64_t bound, std::int64_t budget, const std::vector<int>& first, Matchings& result) {
    std::int64_t remaining = bound;
    std::int64_t threshold = left_.empty() ? 0 : *std::max_element(left_.begin(), left_.end());
    if (!first.empty()) {
      for (std::size_t s = 0; s < first.size(); ++s)
        for (std::size_t h = sources_.first[s]; h < sources_.first[s + 1]; ++h)
          if (sources_.halves[h].other == first[s]) join(sources_, targets_, static_cast<int>(s), sources_.halves[h]);
      step(remaining, result);
    }
    while (remaining > 0) {
      // Where the last step ended is a good place to begin. At 1 the nodes to be covered are the critical
      // ones: always possible.
      threshold = std::min(threshold, remaining);
      while (!cover(threshold, remaining)) threshold -= (threshold + 7) / 8;
      threshold = std::max(threshold, step(remaining, result));
      if (budget > 0 && work_ > budget) return false;
    }
    return true;
  }

private:
  /// Keeps to the present matching for as long as its edges last and no node left out becomes critical;
  /// returns how long.
  std::int64_t step(std::int64_t& remaining, Matchings& result) {
    std::int64_t length = remaining;
    for (std::size_t s = 0; s < sources_.mate.size(); ++s)
      length =
          std::min(length, sources_.mate[s] >= 0 ? left_[at(sources_.mate_edge[s])] : remaining - sources_.load[s]);
    for (std::size_t t = 0; t < targets_.mate.size(); ++t)
      if (targets_.mate[t] < 0) length = std::min(length, remaining - targets_.load[t]);
    work_ += static_cast<std::int64_t>(sources_.mate.size() + targets_.mate.size());
    if (length == 0) return 0;
    for (std::size_t s = 0; s < sources_.mate.size(); ++s)
      if (sources_.mate[s] >= 0) {
        left_[at(sources_.mate_edge[s])] -= length;
        sources_.load[s] -= length;
        targets_.load[at(sources_.mate[s])] -= length;
      }
    remaining -= length;
    result.length.push_back(length);
    result.target_of.insert(result.target_of.end(), sources_.mate.begin(), sources_.mate.end());
    result.source_of.insert(result.source_of.end(), targets_.mate.begin(), targets_.mate.end());
    return length;
  }

  /// Makes the matching one that covers every node with less than `threshold` of slack, over edges of at
  /// least `threshold`.
  bool cover(std::int64_t threshold, std::int64_t remaining) {
    if (threshold < threshold_)
      for (Side* side : {&sources_, &targets_}) side->live = side->alive;
    threshold_ = threshold;
    for (std::size_t s = 0; s < sources_.mate.size(); ++s) {
      sources_.must[s] = remaining - sources_.load[s] < threshold;
      if (sources_.mate[s] >= 0 && left_[at(sources_.mate_edge[s])] < threshold) {
        targets_.mate[at(sources_.mate[s])] = -1;
        sources_.mate[s] = -1;
      }
    }
    for (std::size_t t = 0; t < targets_.mate.size(); ++t) targets_.must[t] = remaining - targets_.load[t] < threshold;
    work_ += static_cast<std::int64_t>(sources_.mate.size() + targets_.mate.size());
    return cover_side(sources_, targets_) && cover_side(targets_, sources_);
  }

  bool cover_side(Side& mine, Side& other) {
    std::copy(mine.first.begin(), mine.first.end() - 1, mine.look.begin());
    for (std::size_t v = 0; v < mine.mate.size(); ++v)
      if (mine.must[v] && mine.mate[v] < 0) {
        ++stamp_;
        if (!augment(mine, other, static_cast<int>(v))) return false;
      }
    return true;
  }

  /// Finds v a partner by an alternating path that ends at a free node of the other side, or at a node of
  /// this side that can be left uncovered in this step.
  bool augment(Side& mine, Side& other, int v) {
    std::size_t& look = mine.look[at(v)];
    std::size_t& live = mine.live[at(v)];
    while (look < live) {
      Half& half = mine.halves[look];
      ++work_;
      if (left_[at(half.edge)] < threshold_) { // out of the way until the threshold is lowered
        std::size_t& alive = mine.alive[at(v)];
        std::swap(half, mine.halves[--live]);
        if (left_[at(mine.halves[live].edge)] == 0) std::swap(mine.halves[live], mine.halves[--alive]);
        continue;
      }
      const int loser = other.mate[at(half.other)];
      if (loser >= 0 && mine.must[at(loser)]) {
        ++look;
        continue;
      }
      if (loser >= 0) mine.mate[at(loser)] = -1;
      join(mine, other, v, half);
      return true;
    }
    for (std::size_t h = mine.first[at(v)]; h < live; ++h) {
      const Half half = mine.halves[h];
      ++work_;
      if (left_[at(half.edge)] < threshold_ || other.seen[at(half.other)] == stamp_) continue;
      other.seen[at(half.other)] = stamp_;
      if (augment(mine, other, other.mate[at(half.other)])) {
        join(mine, other, v, half);
        return true;
      }
    }
    return false;
  }

  static void join(Side& mine, Side& other, int v, const Half& half) {
    mine.mate[at(v)] = half.other;
    mine.mate_edge[at(v)] = half.edge;
    other.mate[at(half.other)] = v;
    other.mate_edge[at(half.other)] = half.edge;
  }

  Side sources_;
  Side targets_;
  std::vector<std::int64_t> left_;
  std::int64_t threshold_ = std::numeric_limits<std::int64_t>::max();
  std::uint32_t stamp_ = 0;
  std::int64_t work_ = 0;
};

std::int64_t one_port_bound(int sources, int targets, const std::vector<Edge>& edges) {
  std::vector<std::int64_t> out(at(sources), 0), in(at(targets), 0);
  std::int64_t bound = 0;
  for (const Edge& edge : edges) {
    bound = std::max(bound, out[at(edge.source)] += edge.weight);
    bound = std::max(bound, in[at(edge.target)] += edge.weight);
  }
  return bound;
}

} // namespace

std::int64_t Matchings::total() const {
  return std::accumulate(length.begin(), length.end(), std::int64_t{0});
}

bool open_shop(int sources, int targets, const std::vector<Edge>& edges, std::int64_t budget, Matchings& result,
               const std::vector<int>& first) {
  result = {};
  result.sources = sources;
  result.targets = targets;
  Shop shop(sources, targets, edges);
  if (shop.run(one_port_bound(sources, targets, edges), budget, first, result)) return true;
  result = {};
  return false;
}

} // namespace redist::detail
