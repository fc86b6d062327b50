// SPDX-License-Identifier: BSD-3-Clause
// The figures: adding them up, fits through them. The file is in history_file.cpp.
#include "control/history.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/statistics.hpp"

namespace control {
namespace {

using gridmap::GridShape;
using Measured = std::map<std::pair<int, int>, StepTimes>;

constexpr std::size_t terms = 4;
constexpr double model_error = 0.05; ///< of a step time: no formula is better than that

/// With more processes than cores, work and messages are shared by so many as there are cores: those of a grid of the
/// same proportions.
std::array<double, terms> basis(GridShape s, int cores) {
  const double useful = cores > 0 ? std::min(s.size(), cores) : s.size();
  const double smaller = std::sqrt(useful / s.size());
  return {1, 1.0 / useful, (1.0 / s.nprow + 1.0 / s.npcol) / smaller, static_cast<double>(s.nprow) + s.npcol};
}

struct Fit {
  double value = 0, variance = 0, badness = 0;
};

/// Weighted least squares with the terms of `mask`, read off at `at`. Empty when the grids do not determine them, or
/// one came out negative.
std::optional<Fit> fit_with(unsigned mask, const Measured& measured, GridShape at, int cores) {
  std::vector<std::size_t> used;
  for (std::size_t t = 0; t < terms; ++t)
    if (mask & (1u << t)) used.push_back(t);
  const std::size_t k = used.size();
  // columns are scaled to length 1, so that one threshold tells whether the system is singular
  std::array<double, terms> scale{};
  std::vector<std::array<double, terms>> rows;
  std::vector<double> right;
  for (const auto& [shape, times] : measured) {
    const double sigma = std::hypot(times.error(), model_error * times.mean);
    const auto f = basis({shape.first, shape.second}, cores);
    std::array<double, terms> row{};
    for (std::size_t i = 0; i < k; ++i) {
      row[i] = f[used[i]] / sigma;
      scale[i] += row[i] * row[i];
    }
    rows.push_back(row);
    right.push_back(times.mean / sigma);
  }
  std::array<std::array<double, 2 * terms>, terms> a{}; // normal matrix and, beside it, what becomes its inverse
  std::array<double, terms> b{};
  for (std::size_t i = 0; i < k; ++i) scale[i] = std::sqrt(scale[i]);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < k; ++j) a[i][j] += rows[r][i] * rows[r][j] / (scale[i] * scale[j]);
      b[i] += rows[r][i] * right[r] / scale[i];
    }
  for (std::size_t i = 0; i < k; ++i) a[i][terms + i] = 1;
  for (std::size_t c = 0; c < k; ++c) { // positive definite or singular: no pivoting
    if (a[c][c] < 1e-9) return std::nullopt;
    const double pivot = a[c][c];
    for (double& x : a[c]) x /= pivot;
    for (std::size_t i = 0; i < k; ++i) {
      if (i == c) continue;
      const double factor = a[i][c];
      for (std::size_t j = 0; j < 2 * terms; ++j) a[i][j] -= factor * a[c][j];
    }
  }
  std::array<double, terms> x{};
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < k; ++j) x[i] += a[i][terms + j] * b[j];
  for (std::size_t i = 0; i < k; ++i)
    if (x[i] < 0) return std::nullopt;
  Fit fit;
  const auto f = basis(at, cores);
  std::array<double, terms> here{};
  for (std::size_t i = 0; i < k; ++i) {
    here[i] = f[used[i]] / scale[i];
    fit.value += here[i] * x[i];
  }
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < k; ++j) fit.variance += here[i] * a[i][terms + j] * here[j];
  for (std::size_t r = 0; r < rows.size(); ++r) {
    double residual = right[r];
    for (std::size_t i = 0; i < k; ++i) residual -= rows[r][i] * x[i] / scale[i];
    fit.badness += residual * residual;
  }
  // terms that miss the measurements by more than their errors predict no better than that
  if (rows.size() > k) fit.variance *= std::max(1.0, fit.badness / static_cast<double>(rows.size() - k));
  fit.badness += 2.0 * static_cast<double>(k);
  return fit;
}

} // namespace

void StepTimes::add(double step_s) {
  add(StepTimes{1, step_s, 0, step_s});
}

void StepTimes::add(const StepTimes& more) {
  if (more.count <= 0) return;
  if (count <= 0) {
    *this = more;
    return;
  }
  const double apart = more.mean - mean, n = static_cast<double>(count), m = static_cast<double>(more.count);
  mean += apart * m / (n + m);
  squares += more.squares + apart * apart * n * m / (n + m);
  least = std::min(least, more.least);
  count += more.count;
}

double StepTimes::error() const {
  if (count < 2) return 0.1 * mean;
  const double n = static_cast<double>(count);
  return std::sqrt(squares / (n - 1) / n);
}

void StepTimes::forget_beyond(std::int64_t most) {
  if (count <= most) return;
  squares *= static_cast<double>(most) / static_cast<double>(count);
  count = most;
}

std::vector<gridmap::ShapeTime> History::shape_times() const {
  std::vector<gridmap::ShapeTime> times;
  for (const auto& [shape, t] : steps)
    if (t.count > 0 && t.mean > 0) times.push_back({shape.first, shape.second, t.mean});
  return times;
}

std::optional<Prediction> predict_step(const Measured& all, GridShape shape, int cores) {
  Measured measured;
  for (const auto& entry : all)
    if (entry.second.count > 0 && entry.second.mean > 0) measured.insert(entry);
  if (measured.empty()) return std::nullopt;
  Prediction prediction;
  prediction.grids = static_cast<int>(measured.size());
  if (const auto here = measured.find({shape.nprow, shape.npcol}); here != measured.end()) {
    prediction.seconds = here->second.mean;
    prediction.error = here->second.error();
    prediction.is_measured = true;
    return prediction;
  }
  std::vector<Fit> fits;
  for (unsigned mask = 1; mask < (1u << terms); ++mask) {
    std::size_t k = 0;
    for (std::size_t t = 0; t < terms; ++t) k += mask >> t & 1;
    if (k > measured.size() || (mask == 1u << (terms - 1) && measured.size() == 1)) continue;
    if (const auto fit = fit_with(mask, measured, shape, cores)) fits.push_back(*fit);
  }
  if (fits.empty()) return std::nullopt; // does not happen: a single term of positive figures is positive
  double best = fits[0].badness, sum = 0;
  for (const Fit& fit : fits) best = std::min(best, fit.badness);
  for (const Fit& fit : fits) {
    const double weight = std::exp(-(fit.badness - best) / 2);
    sum += weight;
    prediction.seconds += weight * fit.value;
  }
  prediction.seconds /= sum;
  double variance = 0;
  for (const Fit& fit : fits) {
    const double apart = fit.value - prediction.seconds;
    variance += std::exp(-(fit.badness - best) / 2) * (fit.variance + apart * apart);
  }
  prediction.error = std::sqrt(variance / sum);
  const StepTimes* quickest = nullptr; // of those that fill the cores
  for (const auto& [grid, times] : measured)
    if (cores > 0 && shape.size() > cores && grid.first * grid.second >= cores &&
        (!quickest || times.mean < quickest->mean))
      quickest = &times;
  if (quickest && quickest->mean > prediction.seconds) {
    prediction.seconds = quickest->mean;
    prediction.error = std::max(prediction.error, quickest->error());
  }
  return prediction;
}

std::optional<GridShape> sweet_spot(const Measured& measured, double tolerance) {
  double quickest = -1;
  for (const auto& [shape, times] : measured)
    if (times.count > 0 && (quickest < 0 || times.mean < quickest)) quickest = times.mean;
  std::optional<GridShape> best;
  double seconds = 0;
  for (const auto& [key, times] : measured) {
    if (times.count == 0 || times.mean > quickest * (1 + tolerance)) continue;
    const GridShape shape{key.first, key.second};
    if (best && std::pair(best->size(), seconds) <= std::pair(shape.size(), times.mean)) continue;
    best = shape;
    seconds = times.mean;
  }
  return best;
}

double predict_spawn(const std::vector<ChangeCost>& growths, int n, double otherwise) {
  if (n <= 0) return 0;
  double count = 0, mean_n = 0, mean_s = 0;
  for (const ChangeCost& c : growths) {
    if (c.spawned <= 0) continue;
    ++count;
    mean_n += c.spawned;
    mean_s += c.spawn_s;
  }
  if (count == 0) return otherwise;
  mean_n /= count;
  mean_s /= count;
  double nn = 0, ns = 0;
  for (const ChangeCost& c : growths) {
    if (c.spawned <= 0) continue;
    nn += (c.spawned - mean_n) * (c.spawned - mean_n);
    ns += (c.spawned - mean_n) * (c.spawn_s - mean_s);
  }
  // more processes never take less time; of one size only, nothing is known of the slope
  const double slope = nn > 0 ? std::max(0.0, ns / nn) : 0;
  return std::max(0.0, mean_s + slope * (n - mean_n));
}

double predict_exchange(const std::vector<ChangeCost>& changes, GridShape from, GridShape to, double planned) {
  const auto same = [](GridShape a, GridShape b) { return a.nprow == b.nprow && a.npcol == b.npcol; };
  double sum = 0, count = 0;
  std::vector<double> ratios;
  for (const ChangeCost& c : changes) {
    if (same(c.from, from) && same(c.to, to)) {
      sum += c.exchange_s;
      ++count;
    }
    if (c.predicted_exchange_s > 0 && c.exchange_s > 0) ratios.push_back(c.exchange_s / c.predicted_exchange_s);
  }
  if (count > 0) return sum / count;
  return ratios.empty() ? planned : planned * base::median(std::move(ratios));
}

} // namespace control
