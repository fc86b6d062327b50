// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "plan/copies.hpp"
#include "plan/tables.hpp"

namespace redist::detail {

/// Calls visit(source number, target number, elements) for every message between different ranks.
template <class Visit> void each_message(const PlanTables& tables, Visit&& visit) {
  if (tables.has_copies()) return each_copy(tables, visit);
  const OverlapTable &rows = tables.rows.table, &cols = tables.cols.table;
  for (int a = 0; a < tables.rows.from.nprocs(); ++a)
    for (int b = 0; b < tables.cols.from.nprocs(); ++b) {
      const int source = tables.source_number(a, b);
      const int rank = tables.source_rank(source);
      for (const auto* r = rows.begin(a); r != rows.end(a); ++r)
        for (const auto* c = cols.begin(b); c != cols.end(b); ++c) {
          const int target = tables.target_number(r->to, c->to);
          if (tables.target_rank(target) != rank) visit(source, target, r->elements * c->elements);
        }
    }
}

} // namespace redist::detail
