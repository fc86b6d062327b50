// SPDX-License-Identifier: BSD-3-Clause
// Row and column shares of a grid of speeds: r_i * c_j <= P_ij, (sum r) * (sum c) as large as possible.
#pragma once
#include <cstdint>
#include <vector>

#include "base/index.hpp"

namespace gridmap::detail {

using base::at;

/// A dense p x q matrix, row-major.
struct Speeds {
  int p = 0, q = 0;
  std::vector<double> v;
  double operator()(int i, int j) const { return v[at(i) * at(q) + at(j)]; }
  double& operator()(int i, int j) { return v[at(i) * at(q) + at(j)]; }
  Speeds transposed() const;
};

struct Shares {
  std::vector<double> r, c;
  double value = 0; ///< sum r * sum c
};

/// c from r and r from c, each as large as the speeds allow.
Shares tighten(const Speeds& speeds, const std::vector<double>& r);

/// r is the leading left singular vector, then tightened. Chinnusamy 2004, 6.2.1.2 in the reading of its tables.
Shares svd_shares(const Speeds& speeds);

/// Changes one share at a time to its exact optimum given the others, rows and columns in turn, until nothing improves.
void ascend(const Speeds& speeds, Shares& shares);

/// The true optimum for this arrangement, found at a spanning tree of tight entries; for min(p, q) <= 4.
Shares exact_shares(const Speeds& speeds);
/// Evaluations that exact_shares makes, 0 when it cannot be used.
double exact_work(int p, int q);

/// Products, quotients and sums of these stay within double.
constexpr double least_speed = 1e-150, largest_speed = 1e150;

/// The largest n that largest_remainder() divides: it computes in double.
constexpr std::int64_t largest_size = std::int64_t{1} << 53;
/// n in parts proportional to the weights, by largest remainder (ties: first), each at least 1 when n >=
/// number of weights.
std::vector<std::int64_t> largest_remainder(std::int64_t n, const std::vector<double>& weights);
/// n in parts of which the largest part / speed is as small as it can be, each at least 1 when n >= number of speeds.
std::vector<std::int64_t> least_time_parts(std::int64_t n, const std::vector<double>& speeds);

} // namespace gridmap::detail
