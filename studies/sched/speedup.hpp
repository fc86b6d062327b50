// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sched {

/// Downey's model: how much faster than on one processor a job of average parallelism `a` (>= 1) is on n of them, with
/// variance of parallelism `sigma` (>= 0; 0: perfect up to `a`). Source: Downey 1997.
double downey_speedup(double n, double a, double sigma);

/// The speed-up of a job that is known on one number of processors only: the one it asked for.
class Speedup {
public:
  /// Perfect.
  Speedup() = default;
  /// "linear", "amdahl:F" (serial fraction), "downey:A:SIGMA" (A times the processors asked for is the average
  /// parallelism), "table:1=1,2=1.9,8=6" (speed-ups, straight lines between, the last one beyond).
  /// @throws base::Error{bad_argument}
  static Speedup parse(std::string_view text);

  /// Over one processor, of a job that asked for `asked`.
  double at(int n, int asked) const;

private:
  enum class Kind { linear, amdahl, downey, table } kind_ = Kind::linear;
  double first_ = 0, sigma_ = 0;
  std::vector<std::pair<double, double>> table_;
};

} // namespace sched
