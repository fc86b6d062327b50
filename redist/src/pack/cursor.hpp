// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>

#include "redist/rank_plan.hpp"

namespace redist::detail {

/// A position in a run list, counted in packed elements.
struct Cursor {
  const RunList* list;
  std::size_t run = 0;
  std::int64_t t = 0; ///< piece of the run
  std::int64_t k = 0; ///< element of the piece

  Cursor(const RunList& runs, std::int64_t offset) : list(&runs) {
    for (; run < runs.runs.size(); ++run) {
      const Run& r = runs.runs[run];
      const std::int64_t size = r.len * r.count;
      if (offset < size) {
        t = offset / r.len;
        k = offset % r.len;
        return;
      }
      offset -= size;
    }
  }
  bool at_end() const { return run >= list->runs.size(); }
  const Run& here() const { return list->runs[run]; }
  std::int64_t from() const { return here().from + t * here().from_step + k; }
  std::int64_t to() const { return here().to + t * here().to_step + k; }
  std::int64_t index(bool source) const { return source ? from() : to(); }
  std::int64_t left_in_piece() const { return here().len - k; }
  /// By at most left_in_piece().
  void advance(std::int64_t by) {
    k += by;
    if (k < here().len) return;
    k = 0;
    if (++t < here().count) return;
    t = 0;
    do ++run;
    while (run < list->runs.size() && here().len * here().count == 0);
  }
};

} // namespace redist::detail
