// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace bench {

/// The order in which compared methods take their turns: another one in each repetition. The contents of the caches and
/// the core of each process depend on the previous method. In a fixed order, each method would always be measured after
/// the same other one. Drawn, not rotated: a rotated order keeps all its neighbours.
class Turns {
public:
  explicit Turns(std::size_t methods) : order_(methods) { std::iota(order_.begin(), order_.end(), std::size_t{0}); }
  /// The same sequence of orders on all processes.
  const std::vector<std::size_t>& next() {
    for (std::size_t left = order_.size(); left > 1; --left) std::swap(order_[left - 1], order_[random_() % left]);
    return order_;
  }

private:
  std::vector<std::size_t> order_;
  std::mt19937 random_{1}; // as the standard says, the same everywhere
};

} // namespace bench
