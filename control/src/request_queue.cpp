// SPDX-License-Identifier: BSD-3-Clause
#include "control/request_queue.hpp"

#include <utility>

namespace control {

RequestQueue::Submitted RequestQueue::submit(ResizeRequest request) {
  request.number = ++last_;
  Submitted result{request.number, take()};
  waiting_ = std::move(request);
  return result;
}

std::optional<ResizeRequest> RequestQueue::cancel(std::optional<std::int64_t> number) {
  if (!waiting_ || (number && *number != waiting_->number)) return std::nullopt;
  return take();
}

std::optional<RequestQueue::Overdue> RequestQueue::overdue(double now) {
  if (!waiting_ || !waiting_->deadline || now < *waiting_->deadline || waiting_->is_late()) return std::nullopt;
  const std::int64_t number = waiting_->number;
  if (waiting_->is_growth()) {
    waiting_.reset();
    return Overdue{number, true};
  }
  waiting_->is_late_ = true;
  return Overdue{number, false};
}

std::optional<ResizeRequest> RequestQueue::take() {
  return std::exchange(waiting_, std::nullopt);
}

void RequestQueue::put_back(ResizeRequest request) {
  waiting_ = std::move(request);
}

} // namespace control
