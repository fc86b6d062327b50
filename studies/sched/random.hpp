// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cmath>
#include <cstdint>
#include <random>

namespace sched {

/// Random numbers that are the same on every platform: the distributions of the standard library are not.
class Random {
public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  double uniform() { return (static_cast<double>(engine_() >> 11) + 1) * 0x1p-53; } ///< in (0, 1]
  double uniform(double least, double most) { return least + (most - least) * uniform(); }
  double exponential() { return -std::log(uniform()); } ///< mean 1
  double normal() {
    const double r = std::sqrt(-2 * std::log(uniform()));
    return r * std::cos(2 * 3.14159265358979323846 * uniform());
  }
  /// Shape >= 1. Source: Marsaglia and Tsang 2000.
  double gamma(double shape, double scale) {
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    while (true) {
      const double x = normal(), root = 1 + c * x;
      if (root <= 0) continue;
      const double v = root * root * root;
      if (std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * scale;
    }
  }

private:
  std::mt19937_64 engine_;
};

} // namespace sched
