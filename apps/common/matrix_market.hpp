// SPDX-License-Identifier: BSD-3-Clause
// Reading real matrices in the Matrix Market exchange format, dense ("array") or sparse ("coordinate").
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace apps {

struct MatrixMarketHeader {
  std::int64_t m = 0, n = 0;
  std::int64_t entries = 0; ///< lines of numbers that follow
  bool is_sparse = false;
  int symmetry = 0; ///< 0 general, 1 symmetric, -1 skew-symmetric
};

/// First lines only. Throws std::runtime_error that names the file and what is wrong.
MatrixMarketHeader read_matrix_market_header(const std::string& path);

/// Calls entry(i, j, value) for every element that the file has, 0-based, both halves of a symmetric one. Local.
/// Throws std::runtime_error with file and entry number.
void read_matrix_market(const std::string& path, const std::function<void(std::int64_t, std::int64_t, double)>& entry);

} // namespace apps
