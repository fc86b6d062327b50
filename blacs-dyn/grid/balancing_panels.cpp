// SPDX-License-Identifier: BSD-3-Clause
// Steps that are panels of a factorization.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.hpp"
#include "grid/balancing.hpp"
#include "gridmap/dealing.hpp"

namespace blacs_dyn {

Balancing::Panels::Panels(Balancing& balancing, Matrix& matrix, const Place& place)
    : balancing_(balancing), matrix_(matrix),
      begun_s_(std::exchange(balancing.begun_s_, -1)), // what lies before the first panel is no panel
      there_(balancing.seen_now()), known_(balancing.seen_.revision) {
  balancing_.panels_ = this;
  if (balancing_.processes_.id() == 0) balancing_.memory_.begin_panels(base::monotonic_s());
  if (balancing_.control_) balancing_.control_->state().begin_panels(place.text);
}

/// The program's step goes on, unless the grid is another one by now.
Balancing::Panels::~Panels() {
  Balancing& b = balancing_;
  b.panels_ = nullptr;
  b.memory_.end_panels();
  if (b.control_) b.control_->state().end_panels();
  const bool is_same = b.is_now(there_) && b.seen_.revision == known_;
  b.begun_s_ = is_same ? begun_s_ : -1;
  if (is_same) return;
  b.memory_.grid_changed(base::monotonic_s());
  b.memory_.forget_trial(); // of a balance before it: what follows is not what that brought
}

void Balancing::Panels::all_came() {
  balancing_.step_ended(size_);
}

void Balancing::Panels::done(std::int64_t first, std::int64_t end) {
  const std::int64_t m = matrix_.rows.n, n = matrix_.cols.n;
  if (first_ == 0) first_ = gridmap::factor_work(m, n, 0, end - first);
  size_ = gridmap::factor_work(m, n, first, end) / first_;
  last_ = first;
  next_ = end;
  left_ = std::llround(gridmap::factor_work(m, n, end, std::min(m, n)) / first_);
  if (balancing_.control_) balancing_.control_->state().panel(size_, left_);
}

} // namespace blacs_dyn
