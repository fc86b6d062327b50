// SPDX-License-Identifier: BSD-3-Clause
#include "batch_means.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace sched {
namespace {
constexpr std::size_t most_batches = 64;
}

bool BatchMeans::add(double value) {
  if (means_.size() == most_batches) {
    for (std::size_t i = 0; i < most_batches / 2; ++i) means_[i] = (means_[2 * i] + means_[2 * i + 1]) / 2;
    means_.resize(most_batches / 2);
    length_ *= 2;
  }
  ++count_;
  total_ += value;
  batch_total_ += value;
  if (++in_batch_ < length_) return false;
  means_.push_back(batch_total_ / static_cast<double>(length_));
  in_batch_ = 0;
  batch_total_ = 0;
  return means_.size() >= most_batches / 2 && means_.size() % 4 == 0;
}

double BatchMeans::standard_error() const {
  const auto n = static_cast<double>(means_.size());
  if (n < 2) return std::numeric_limits<double>::infinity();
  const double mean = std::accumulate(means_.begin(), means_.end(), 0.0) / n;
  double squares = 0;
  for (const double x : means_) squares += (x - mean) * (x - mean);
  return std::sqrt(squares / (n - 1) / n);
}

double BatchMeans::correlation() const {
  if (means_.size() < 3) return 0;
  const double mean = std::accumulate(means_.begin(), means_.end(), 0.0) / static_cast<double>(means_.size());
  double squares = 0, products = 0;
  for (std::size_t i = 0; i < means_.size(); ++i) {
    squares += (means_[i] - mean) * (means_[i] - mean);
    if (i > 0) products += (means_[i] - mean) * (means_[i - 1] - mean);
  }
  return squares > 0 ? products / squares : 0;
}

} // namespace sched
