// SPDX-License-Identifier: BSD-3-Clause
#include "advise/step_terms.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "advise/rules.hpp"

namespace advise {
namespace {

constexpr std::size_t terms = 3; ///< work; messages that do not wait for a processor; those that do
using Row = std::array<double, terms>;

Row row_of(const StepObservation& o) {
  const double messages = o.grid.size() > 1 ? 1.0 / o.grid.nprow + 1.0 / o.grid.npcol : 0;
  return {o.work, messages, messages / o.share};
}

/// Least squares with the terms of `mask`, of relative errors; nothing where they cannot be separated, or one would be
/// negative.
std::optional<Row> fit(const std::vector<StepObservation>& observed, unsigned mask) {
  std::vector<std::size_t> used;
  for (std::size_t k = 0; k < terms; ++k)
    if ((mask >> k & 1) != 0) used.push_back(k);
  std::array<std::array<double, terms + 1>, terms> a{}; // normal equations and their right side
  for (const StepObservation& o : observed) {
    const Row row = row_of(o);
    for (std::size_t i = 0; i < used.size(); ++i) {
      for (std::size_t j = 0; j < used.size(); ++j) a[i][j] += row[used[i]] * row[used[j]] / (o.step_s * o.step_s);
      a[i][terms] += row[used[i]] / o.step_s;
    }
  }
  const auto first = a;
  for (std::size_t k = 0; k < used.size(); ++k) { // Gauss; a pivot that vanishes: columns depend on each other
    if (!(a[k][k] > 1e-9 * first[k][k])) return std::nullopt;
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (i == k) continue;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = 0; j <= terms; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  Row x{};
  for (std::size_t k = 0; k < used.size(); ++k) {
    x[used[k]] = a[k][terms] / a[k][k];
    if (!(x[used[k]] >= 0)) return std::nullopt;
  }
  return x;
}

/// Akaike's criterion, corrected for few observations, of relative errors.
double badness(const std::vector<StepObservation>& observed, const Row& x, std::size_t used) {
  constexpr double good_to = StepRules().terms_error;
  double squares = 0;
  for (const StepObservation& o : observed) {
    const Row row = row_of(o);
    double t = 0;
    for (std::size_t k = 0; k < terms; ++k) t += x[k] * row[k];
    squares += (t / o.step_s - 1) * (t / o.step_s - 1);
  }
  const auto n = static_cast<double>(observed.size());
  const auto k = static_cast<double>(used);
  if (used > 1 && n < k + 2) return std::numeric_limits<double>::infinity(); // noise would do as well
  const double few = used > 1 ? 2 * k * (k + 1) / (n - k - 1) : 0;
  return n * std::log(squares / n + good_to * good_to) + 2 * k + few;
}

} // namespace

StepTerms fit_step_terms(const std::vector<StepObservation>& observed) {
  std::vector<StepObservation> good;
  for (const StepObservation& o : observed)
    if (o.step_s > 0 && o.work > 0 && o.share > 0 && std::isfinite(o.step_s) && std::isfinite(o.work))
      good.push_back(o);
  double least = std::numeric_limits<double>::infinity();
  Row best{};
  for (const unsigned mask : {1U, 3U, 5U, 7U}) { // work is always there
    const std::size_t used = mask == 1 ? 1 : mask == 7 ? 3 : 2;
    if (used > good.size()) continue;
    const std::optional<Row> x = fit(good, mask);
    if (!x) continue;
    const double bad = badness(good, *x, used);
    if (bad >= least) continue;
    least = bad;
    best = *x;
  }
  StepTerms found{best[0], best[1] + best[2], 0};
  if (found.volume_s > 0) found.processor_part = best[2] / found.volume_s;
  return found;
}

} // namespace advise
