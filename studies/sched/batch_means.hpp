// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

namespace sched {

/// Mean of a long, correlated series with its standard error, by batch means: 32 to 64 batches of equal
/// length; at 64 neighbours are merged, so that batches grow until their means are nearly independent.
class BatchMeans {
public:
  explicit BatchMeans(std::int64_t first_length = 64) : length_(first_length) {}
  /// @return true now and then, with 32 to 64 full batches: a time to look at the error.
  bool add(double value);
  std::int64_t count() const { return count_; }
  double mean() const { return count_ == 0 ? 0 : total_ / static_cast<double>(count_); }
  /// Standard error of the mean, from the full batches; infinite below 2 of them.
  double standard_error() const;
  /// Correlation of neighbouring batch means; 0 below 3 batches.
  double correlation() const;
  int batches() const { return static_cast<int>(means_.size()); }

private:
  std::vector<double> means_;
  std::int64_t length_, count_ = 0, in_batch_ = 0;
  double total_ = 0, batch_total_ = 0;
};

} // namespace sched
