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
    : balancing_(balancing), matrix_(matrix), what_{place.text, matrix.name, -1, 0, 0, 0},
      begun_s_(std::exchange(balancing.begun_s_, -1)), // what lies before the first panel is no panel
      there_(balancing.seen_now()), known_(balancing.seen_.revision) {
  balancing_.panels_ = this;
  balancing_.know_factored(what_);
}

/// The program's step goes on, unless the grid is another one by now.
Balancing::Panels::~Panels() {
  Balancing& b = balancing_;
  b.panels_ = nullptr;
  b.know_factored({});
  const bool is_same = b.is_now(there_) && b.seen_.revision == known_;
  b.begun_s_ = is_same ? begun_s_ : -1;
  if (!is_same) b.memory_.grid_changed(base::monotonic_s());
}

void Balancing::Panels::all_came() {
  balancing_.step_ended(size_);
}

void Balancing::Panels::done(std::int64_t first, std::int64_t end) {
  const std::int64_t m = matrix_.rows.n, n = matrix_.cols.n;
  if (what_.first == 0) what_.first = gridmap::factor_work(m, n, 0, end - first);
  size_ = gridmap::factor_work(m, n, first, end) / what_.first;
  what_.last = first;
  what_.next = end;
  what_.left = std::llround(gridmap::factor_work(m, n, end, std::min(m, n)) / what_.first);
  if (balancing_.processes_.id() != 0) return;
  balancing_.know_factored(what_);
  if (balancing_.control_) balancing_.control_->state().panel(size_, what_.left);
}

void Balancing::know_factored(const Factored& what) {
  if (processes_.id() != 0) return;
  const bool is_another = what.place != factored_.place;
  factored_ = what;
  if (is_another) {
    memory_.end_panels();
    if (what.is_under_way()) memory_.begin_panels(base::monotonic_s());
  }
  if (!control_) return;
  if (is_another && what.is_under_way())
    control_->state().begin_panels(what.place);
  else if (is_another)
    control_->state().end_panels();
  control_->state().panel(1, what.left);
}

} // namespace blacs_dyn
