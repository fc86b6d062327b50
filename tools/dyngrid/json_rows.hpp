// SPDX-License-Identifier: BSD-3-Clause
// Grids of values as JSON. For the commands that print some: the library for JSON is dear to compile with.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <vector>

namespace command {

/// Row-major values as a list of rows.
template <class T> nlohmann::ordered_json rows_of(const std::vector<T>& values, int npcol) {
  auto rows = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < values.size(); k += static_cast<std::size_t>(npcol))
    rows.push_back(std::vector<T>(values.begin() + static_cast<std::ptrdiff_t>(k),
                                  values.begin() + static_cast<std::ptrdiff_t>(k) + npcol));
  return rows;
}

} // namespace command
