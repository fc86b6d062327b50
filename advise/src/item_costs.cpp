// SPDX-License-Identifier: BSD-3-Clause
#include "advise/item_costs.hpp"

#include <algorithm>
#include <cmath>

#include "base/index.hpp"
#include "base/status.hpp"
#include "refusal.hpp"

namespace advise {

using base::at;
using base::Error;
using base::Status;

WorkAlong::WorkAlong(std::int64_t n, const ItemCosts& items) : n_(n), group_(items.group) {
  if (items.are_alike()) return;
  const auto groups = static_cast<std::int64_t>(items.costs.size());
  if (group_ < 1 || groups != n / group_ + (n % group_ != 0))
    throw Error(Status::shape_mismatch,
                "advise: balance: costs of {} groups of {} items, expected those of all {} items", groups, group_, n);
  before_.push_back(0);
  for (std::size_t k = 0; k < items.costs.size(); ++k) {
    const double cost = items.costs[k];
    if (!std::isfinite(cost) || cost < 0)
      refuse("balance: cost {} is {}, expected a finite number of at least 0", k, cost);
    before_.push_back(before_.back() + cost);
  }
  const double all = before_.back();
  if (all == 0) before_.clear();
  for (double& part : before_) part /= all;
}

double WorkAlong::before(std::int64_t i) const {
  if (i >= n_) return 1;
  if (before_.empty()) return static_cast<double>(i) / static_cast<double>(n_);
  const std::int64_t k = i / group_, in_group = std::min(group_, n_ - k * group_);
  const double part = static_cast<double>(i % group_) / static_cast<double>(in_group);
  return before_[at(k)] + part * (before_[at(k + 1)] - before_[at(k)]);
}

std::vector<double> WorkAlong::parts(const std::vector<std::int64_t>& stretches) const {
  std::vector<double> parts;
  std::int64_t end = 0;
  double last = 0;
  for (const std::int64_t stretch : stretches) {
    end += stretch;
    const double here = before(end);
    // not a difference where it need not be one: what saves its cost after exactly 15 steps shall do so
    parts.push_back(before_.empty() ? static_cast<double>(stretch) / static_cast<double>(n_) : here - last);
    last = here;
  }
  return parts;
}

std::vector<double> WorkOnGrid::parts(const std::vector<std::int64_t>& grid_rows,
                                      const std::vector<std::int64_t>& grid_cols) const {
  const std::vector<double> by_row = rows.parts(grid_rows), by_col = cols.parts(grid_cols);
  std::vector<double> parts;
  for (const double row : by_row)
    for (const double col : by_col) parts.push_back(row * col);
  return parts;
}

} // namespace advise
