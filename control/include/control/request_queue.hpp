// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "control/resize_request.hpp"

namespace control {

/// Holds one request of a client; the newest replaces it. Pure: times are the caller's.
class RequestQueue {
public:
  struct Submitted {
    std::int64_t number = 0;
    std::optional<ResizeRequest> superseded;
  };
  Submitted submit(ResizeRequest request);
  std::int64_t number() { return ++last_; } ///< for a request of another kind
  /// Empty when no request waits, or another than `number`.
  std::optional<ResizeRequest> cancel(std::optional<std::int64_t> number);

  struct Overdue {
    std::int64_t number = 0;
    bool is_withdrawn = false; ///< a growth; anything else stays and is late
  };
  /// The request that is overdue at `now`; each is reported once.
  std::optional<Overdue> overdue(double now);
  /// The request; from here on only the caller holds it. Call overdue() first.
  std::optional<ResizeRequest> take();
  /// Returns it to the queue. Only when no newer one has arrived.
  void put_back(ResizeRequest request);
  const std::optional<ResizeRequest>& waiting() const { return waiting_; }

private:
  std::optional<ResizeRequest> waiting_;
  std::int64_t last_ = 0;
};

} // namespace control
