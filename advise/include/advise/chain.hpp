// SPDX-License-Identifier: BSD-3-Clause
// Items in a row, dealt out to processes of different speed: each gets one stretch. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "base/index.hpp"

namespace advise {

struct ChainRequest {
  std::vector<double> costs;  ///< of each item, in seconds at speed 1; finite, at least 0
  std::vector<double> speeds; ///< of each process, in the order of the stretches; finite, above 0
  /// Seconds of a step of each process besides its items: its messages. Counted with no item too. Empty: 0.
  std::vector<double> fixed_s;
};

/// Process i has the items first[i] .. first[i+1]-1; first[0] = 0, the last one is the number of items.
struct Chain {
  std::vector<std::int64_t> first;
  double seconds = 0; ///< largest of cost of the stretch / speed + fixed_s
};

/// Seconds of stretches on processes. A longer stretch is never faster, in floating point neither: prefix sums only.
class ChainTimes {
public:
  explicit ChainTimes(const ChainRequest& request);
  std::int64_t items() const { return static_cast<std::int64_t>(prefix_.size()) - 1; }
  int processes() const { return static_cast<int>(speeds_.size()); }
  double operator()(int process, std::int64_t from, std::int64_t to) const {
    return (prefix_[base::at(to)] - prefix_[base::at(from)]) / speeds_[base::at(process)] + fixed_[base::at(process)];
  }

private:
  std::vector<double> prefix_, speeds_, fixed_;
};

/// The stretches with the least largest time, for processes in the given order. Exact: no other stretches are faster.
/// Zero-cost items and processes without items are allowed.
/// Source: the parametric search of Pinar, Tabak, Aykanat 2008, over prefix sums; by bisection until no smaller double
/// can be reached.
/// Cost: O(processes * log items) for each of some 60 probes.
/// @throws Error{bad_argument, shape_mismatch}
Chain balance_chain(const ChainRequest& request);

} // namespace advise
