// SPDX-License-Identifier: BSD-3-Clause
#include "control/request_queue.hpp"

#include <utility>

namespace control {

RequestQueue::Submitted RequestQueue::submit(Pending wish) {
  wish.number = ++last_;
  Submitted result{wish.number, std::move(pending_)};
  pending_ = std::move(wish);
  return result;
}

std::optional<Pending> RequestQueue::cancel(std::optional<std::int64_t> number) {
  if (!pending_ || (number && *number != pending_->number)) return std::nullopt;
  return take();
}

std::optional<RequestQueue::Overdue> RequestQueue::overdue(double now) {
  if (!pending_ || !pending_->deadline || now < *pending_->deadline || pending_->is_late) return std::nullopt;
  if (pending_->is_growth()) return Overdue{*take(), true};
  pending_->is_late = true;
  return Overdue{*pending_, false};
}

std::optional<Pending> RequestQueue::take() {
  return std::exchange(pending_, std::nullopt);
}

void RequestQueue::put_back(Pending wish) {
  if (!pending_) pending_ = std::move(wish);
}

} // namespace control
