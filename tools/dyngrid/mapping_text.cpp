// SPDX-License-Identifier: BSD-3-Clause
#include "mapping_text.hpp"

#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "base/parse_json.hpp"

namespace command {
namespace {

template <class Value> Json cells_of(const gridmap::Mapping& map, Value value) {
  Json rows = Json::array();
  for (int i = 0; i < map.nprow; ++i) {
    rows.push_back(Json::array());
    for (int j = 0; j < map.npcol; ++j) rows.back().push_back(value(i, j));
  }
  return rows;
}

} // namespace

Json t_opt_of(const gridmap::Mapping& map) {
  return cells_of(map, [&](int i, int j) { return map.t_opt(i, j); });
}
Json utilization_of(const gridmap::Mapping& map) {
  return cells_of(map, [&](int i, int j) { return map.utilization(i, j); });
}

std::string mapping_table(const gridmap::Mapping& map) {
  std::vector<std::vector<std::string>> rows(1, {"rows\\cols"});
  for (const std::int64_t cols : map.cols) rows[0].push_back(std::to_string(cols));
  for (int i = 0; i < map.nprow; ++i) {
    rows.push_back({std::to_string(map.rows[static_cast<std::size_t>(i)])});
    for (int j = 0; j < map.npcol; ++j)
      rows.back().push_back(fmt::format("{:.6g} ({:.1f})", map.speed(i, j), map.t_opt(i, j)));
  }
  return table(rows);
}

} // namespace command
