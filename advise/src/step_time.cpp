// SPDX-License-Identifier: BSD-3-Clause
#include "advise/step_time.hpp"

#include <algorithm>
#include <cmath>

namespace advise {
namespace {

constexpr StepRules rules;

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
  if (count < 2) return rules.error_of_one * mean;
  const double n = static_cast<double>(count);
  return std::sqrt(squares / (n - 1) / n);
}

void StepTimes::forget_beyond(std::int64_t most) {
  if (count <= most) return;
  squares *= static_cast<double>(most) / static_cast<double>(count);
  count = most;
}

StepTable step_table(const std::vector<ShapeTime>& times) {
  StepTable table;
  for (const ShapeTime& t : times) {
    StepTimes& here = table[{t.nprow, t.npcol}];
    const double n = static_cast<double>(here.count / 2); // each counts twice: a single step would have an error
    here.mean = (here.mean * n + t.seconds) / (n + 1);
    here.least = n > 0 ? std::min(here.least, t.seconds) : t.seconds;
    here.count += 2;
  }
  return table;
}

/// With more processes than cores, work and messages are shared by as many as there are cores: those of a grid of the
/// same proportions.
StepModel::Row StepModel::basis(GridShape s, int cores) {
  const double useful = useful_processes(s.size(), cores);
  const double smaller = std::sqrt(useful / s.size());
  return {1, 1.0 / useful, (1.0 / s.nprow + 1.0 / s.npcol) / smaller, static_cast<double>(s.nprow) + s.npcol};
}

double StepModel::Fit::seconds(const Row& basis) const {
  double sum = 0;
  for (std::size_t i = 0; i < used.size(); ++i) sum += basis[used[i]] / scale[i] * x[i];
  return sum;
}

double StepModel::Fit::variance(const Row& basis) const {
  double sum = 0;
  for (std::size_t i = 0; i < used.size(); ++i)
    for (std::size_t j = 0; j < used.size(); ++j)
      sum += basis[used[i]] / scale[i] * inverse[i][j] * (basis[used[j]] / scale[j]);
  return sum * inflation;
}

/// The leading n x n of a symmetric matrix with diagonal 1. False when it is singular; positive definite otherwise, so
/// there is no pivoting.
bool StepModel::invert(std::array<Row, terms>& a, std::size_t n) {
  std::array<Row, terms> inverse{};
  for (std::size_t i = 0; i < n; ++i) inverse[i][i] = 1;
  for (std::size_t c = 0; c < n; ++c) {
    const double pivot = a[c][c];
    if (pivot < 1e-9) return false;
    for (double& value : a[c]) value /= pivot;
    for (double& value : inverse[c]) value /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == c) continue;
      const double factor = a[i][c];
      for (std::size_t j = 0; j < terms; ++j) {
        a[i][j] -= factor * a[c][j];
        inverse[i][j] -= factor * inverse[c][j];
      }
    }
  }
  a = inverse;
  return true;
}

/// Weighted least squares with the terms of `mask`. Empty when the grids do not determine them, or one came out
/// negative.
std::optional<StepModel::Fit> StepModel::fit_with(unsigned mask) const {
  Fit fit;
  for (std::size_t t = 0; t < terms; ++t)
    if (mask & (1u << t)) fit.used.push_back(t);
  const std::size_t k = fit.used.size();
  std::vector<Row> rows;
  std::vector<double> right;
  for (const auto& [shape, times] : measured_) {
    const double sigma = std::hypot(times.error(), rules.model_error * times.mean);
    const Row f = basis(shape, cores_);
    Row row{};
    for (std::size_t i = 0; i < k; ++i) {
      row[i] = f[fit.used[i]] / sigma;
      fit.scale[i] += row[i] * row[i];
    }
    rows.push_back(row);
    right.push_back(times.mean / sigma);
  }
  Row b{};
  for (std::size_t i = 0; i < k; ++i) fit.scale[i] = std::sqrt(fit.scale[i]);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < k; ++j) fit.inverse[i][j] += rows[r][i] * rows[r][j] / (fit.scale[i] * fit.scale[j]);
      b[i] += rows[r][i] * right[r] / fit.scale[i];
    }
  if (!invert(fit.inverse, k)) return std::nullopt;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) fit.x[i] += fit.inverse[i][j] * b[j];
    if (fit.x[i] < 0) return std::nullopt;
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    double residual = right[r];
    for (std::size_t i = 0; i < k; ++i) residual -= rows[r][i] * fit.x[i] / fit.scale[i];
    fit.badness += residual * residual;
  }
  // terms that miss the measurements by more than their errors predict no better than that
  if (rows.size() > k) fit.inflation = std::max(1.0, fit.badness / static_cast<double>(rows.size() - k));
  fit.badness += 2.0 * static_cast<double>(k);
  return fit;
}

StepModel::StepModel(const StepTable& measured, int cores) : cores_(cores) {
  for (const auto& [shape, times] : measured) {
    if (times.count <= 0 || times.mean <= 0) continue;
    measured_.insert({shape, times});
    const bool is_full = cores > 0 && shape.size() >= cores;
    if (is_full && (!quickest_full_ || times.mean < quickest_full_->mean)) quickest_full_ = times;
  }
  for (unsigned mask = 1; mask < (1u << terms); ++mask) {
    std::size_t k = 0;
    for (std::size_t t = 0; t < terms; ++t) k += mask >> t & 1;
    if (k > measured_.size() || (mask == 1u << (terms - 1) && measured_.size() == 1)) continue;
    if (auto fit = fit_with(mask)) fits_.push_back(std::move(*fit));
  }
}

std::optional<Prediction> StepModel::at(GridShape shape) const {
  Prediction prediction;
  prediction.grids = static_cast<int>(measured_.size());
  if (const auto here = measured_.find(shape); here != measured_.end()) {
    prediction.seconds = here->second.mean;
    prediction.error = here->second.error();
    prediction.is_measured = true;
    return prediction;
  }
  if (fits_.empty()) return std::nullopt; // nothing was measured: a single term of positive figures is positive
  const Row here = basis(shape, cores_);
  double best = fits_[0].badness, sum = 0;
  for (const Fit& fit : fits_) best = std::min(best, fit.badness);
  for (const Fit& fit : fits_) {
    const double weight = std::exp(-(fit.badness - best) / 2);
    sum += weight;
    prediction.seconds += weight * fit.seconds(here);
  }
  prediction.seconds /= sum;
  double variance = 0;
  for (const Fit& fit : fits_) {
    const double apart = fit.seconds(here) - prediction.seconds;
    variance += std::exp(-(fit.badness - best) / 2) * (fit.variance(here) + apart * apart);
  }
  prediction.error = std::sqrt(variance / sum);
  if (cores_ > 0 && shape.size() > cores_ && quickest_full_ && quickest_full_->mean > prediction.seconds) {
    prediction.seconds = quickest_full_->mean;
    prediction.error = std::max(prediction.error, quickest_full_->error());
  }
  return prediction;
}

std::optional<Prediction> predict_step(const StepTable& measured, GridShape shape, int cores) {
  return StepModel(measured, cores).at(shape);
}

std::optional<GridShape> sweet_spot(const StepTable& measured, double tolerance) {
  double quickest = -1;
  for (const auto& [shape, times] : measured)
    if (times.count > 0 && (quickest < 0 || times.mean < quickest)) quickest = times.mean;
  std::optional<GridShape> best;
  double seconds = 0;
  for (const auto& [shape, times] : measured) {
    if (times.count == 0 || times.mean > quickest * (1 + tolerance)) continue;
    if (best && std::pair(best->size(), seconds) <= std::pair(shape.size(), times.mean)) continue;
    best = shape;
    seconds = times.mean;
  }
  return best;
}

} // namespace advise
