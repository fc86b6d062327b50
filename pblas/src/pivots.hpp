// SPDX-License-Identifier: BSD-3-Clause
// IPIV, which lies as the rows of its matrix do: of each row which row of the whole matrix, from 1, it was interchanged
// with.
#pragma once
#include <cstdint>
#include <vector>

#include "axis_window.hpp"
#include "grid.hpp"

namespace pblas {

/// @param ia  of the sub-matrix, from 1
void write_pivots(const AxisWindow& rows, int myrow, const std::vector<std::int64_t>& pivots, int ia, int* ipiv);
/// Those of all rows, counted from 0 in the sub-matrix. Collective over a column of the grid.
std::vector<std::int64_t> read_pivots(const Grid& grid, const AxisWindow& rows, int ia, const int* ipiv);

} // namespace pblas
