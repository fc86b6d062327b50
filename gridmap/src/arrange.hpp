// SPDX-License-Identifier: BSD-3-Clause
// Search over arrangements of speeds in a grid. Works on descending speeds; places are row-major positions.
#pragma once
#include <cstdint>
#include <vector>

#include "gridmap/mapping.hpp"
#include "shares.hpp"

namespace gridmap::detail {

struct Arrangement {
  std::vector<int> rank; ///< row-major, which speed (0 = largest) is at each position
  Shares shares;
  bool proved = false;
};

/// A fixed sequence of random numbers, the same on every machine.
class Sequence {
public:
  explicit Sequence(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL; // splitmix64
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; } ///< 0 <= x < 1
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }

private:
  std::uint64_t state_;
};

Speeds speeds_at(const std::vector<double>& descending, const std::vector<int>& rank, int p, int q);

struct SvdSearch {
  std::vector<int> start;    ///< as Arrangement::rank; empty: by falling speed
  std::vector<char> movable; ///< positions whose speeds may change place; empty: all
  /// Of a matrix: the best arrangement is the one with the least time for whole rows and columns, as in the published
  /// tables. 0: the one whose shares have the largest value.
  std::int64_t m = 0, n = 0;
  /// An arrangement also counts with the shares that belong to the vector before it: the published tables 6.18 and 6.19
  /// follow from that.
  bool tries_vector_before = false;
};

/// The published heuristic. Of the arrangements that it passes through, the best one.
Arrangement svd_arrangement(const std::vector<double>& descending, int p, int q, const SvdSearch& search = {});

/// From given shares: speeds sorted into the places by r_i*c_j, shares improved, in turn. Never worse than
/// the shares given.
void climb(const std::vector<double>& descending, int p, int q, Arrangement& arrangement);

/// Best of the published heuristic, more starts and `effort` kicks; exact where small (see map_processors).
Arrangement best_arrangement(const std::vector<double>& descending, int p, int q, double work);
/// Cheap: one start and a climb. For searches that look at very many sets of processors.
Arrangement quick_arrangement(const std::vector<double>& descending, int p, int q);

/// Completes a mapping whose `order` is set: speeds, shares, integer rows and columns, times.
void finish_mapping(const MappingRequest& request, Shares shares, Mapping& map);

} // namespace gridmap::detail
