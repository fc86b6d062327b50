// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "control/resize_request.hpp"

namespace control {

/// One place for a request from outside; the newest wins. Pure: times are the caller's.
class RequestQueue {
public:
  struct Submitted {
    std::int64_t number = 0;
    std::optional<ResizeRequest> superseded;
  };
  Submitted submit(ResizeRequest request);
  std::int64_t number() { return ++last_; } ///< for something else that is asked for
  /// Empty when nothing waits, or something else than `number`.
  std::optional<ResizeRequest> cancel(std::optional<std::int64_t> number);

  struct Overdue {
    std::int64_t number = 0;
    bool is_withdrawn = false; ///< a growth; anything else stays and is late
  };
  /// What is overdue at `now`; each thing is told once.
  std::optional<Overdue> overdue(double now);
  /// The request, which is in nobody's hands but the caller's from here on. Look at overdue() first.
  std::optional<ResizeRequest> take();
  /// Gives it back. Only when nothing newer has come.
  void put_back(ResizeRequest request);
  const std::optional<ResizeRequest>& waiting() const { return waiting_; }

private:
  std::optional<ResizeRequest> waiting_;
  std::int64_t last_ = 0;
};

} // namespace control
