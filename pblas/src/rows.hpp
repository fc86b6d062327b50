// SPDX-License-Identifier: BSD-3-Clause
// Interchanges of rows.
#pragma once
#include <cstdint>
#include <vector>

#include "operand.hpp"

namespace pblas {

/// Row `from` goes to row `to`.
struct RowMove {
  std::int64_t to = 0, from = 0;
};

/// What interchanging row first + t with row pivots[t], for t = 0, 1, ..., does to the rows; backwards: the reverse.
/// Pure.
std::vector<RowMove> moves_of(std::int64_t first, const std::vector<std::int64_t>& pivots, bool backwards = false);

/// Local columns begin .. end-1.
struct Columns {
  std::int64_t begin = 0, end = 0;
};

/// Moves rows of A in some local columns, the same moves on all processes of a column of the grid. Collective over it.
template <class T>
void move_rows(const Operand<T>& a, const std::vector<RowMove>& moves, const std::vector<Columns>& columns);

} // namespace pblas
