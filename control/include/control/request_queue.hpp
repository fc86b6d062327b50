// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gridmap/placement.hpp"
#include "gridmap/topology.hpp"

namespace control {

/// A wish from outside that waits for the next resize point.
struct Pending {
  std::int64_t number = 0;
  std::string op; ///< resize, grow, shrink, leave
  gridmap::GridShape from, to;
  std::int64_t by = 0;             ///< grow, shrink
  std::vector<std::int64_t> units; ///< leave
  bool force = false;
  bool undo = true; ///< a growth that measures slower is taken back
  std::optional<gridmap::Placement> placement;
  std::optional<double> deadline; ///< on the clock of the caller
  bool is_late = false;           ///< its deadline has passed, and that was told

  bool is_growth() const { return to.size() > from.size(); }
};

/// One place for a wish from outside; the newest wins. Pure: times are the caller's.
class RequestQueue {
public:
  struct Submitted {
    std::int64_t number = 0;
    std::optional<Pending> superseded;
  };
  Submitted submit(Pending wish);
  /// Empty when nothing waits, or something else than `number`.
  std::optional<Pending> cancel(std::optional<std::int64_t> number);

  struct Overdue {
    Pending wish;
    bool is_withdrawn = false; ///< a growth; anything else stays and is late
  };
  /// What is overdue at `now`; each thing is told once.
  std::optional<Overdue> overdue(double now);
  /// The wish, which is in nobody's hands but the caller's from here on. Look at overdue() first.
  std::optional<Pending> take();
  /// Gives it back, when nothing newer has come.
  void put_back(Pending wish);
  const std::optional<Pending>& pending() const { return pending_; }

private:
  std::optional<Pending> pending_;
  std::int64_t last_ = 0;
};

} // namespace control
