// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "control/resize_request.hpp"

namespace control {

/// Holds one request of a client; the newest replaces it. Pure: times are the caller's.
class RequestQueue {
public:
  struct Submitted {
    std::int64_t number = 0;
    std::optional<ResizeRequest> superseded;
  };
  Submitted submit(ResizeRequest request) {
    request.number = ++last_;
    Submitted result{request.number, take()};
    waiting_ = std::move(request);
    return result;
  }
  std::int64_t number() { return ++last_; } ///< for a request of another kind
  /// Empty when no request waits, or another than `number`.
  std::optional<ResizeRequest> cancel(std::optional<std::int64_t> number) {
    if (!waiting_ || (number && *number != waiting_->number)) return std::nullopt;
    return take();
  }

  struct Overdue {
    std::int64_t number = 0;
    bool is_withdrawn = false; ///< a growth; anything else stays and is late
  };
  /// The request that is overdue at `now`; each is reported once.
  std::optional<Overdue> overdue(double now) {
    if (!waiting_ || !waiting_->deadline || now < *waiting_->deadline || waiting_->is_late()) return std::nullopt;
    const Overdue found{waiting_->number, waiting_->is_growth()};
    if (found.is_withdrawn)
      waiting_.reset();
    else
      waiting_->is_late_ = true;
    return found;
  }
  /// The request; from here on only the caller holds it. Call overdue() first.
  std::optional<ResizeRequest> take() { return std::exchange(waiting_, std::nullopt); }
  /// Returns it to the queue. Only when no newer one has arrived.
  void put_back(ResizeRequest request) { waiting_ = std::move(request); }
  const std::optional<ResizeRequest>& waiting() const { return waiting_; }

private:
  std::optional<ResizeRequest> waiting_;
  std::int64_t last_ = 0;
};

} // namespace control
