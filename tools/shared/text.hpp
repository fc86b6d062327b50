// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing grids, lists and tables, the same in all sub-commands.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "advise/topology.hpp"
#include "base/json_fwd.hpp"

namespace command {

using base::Json;

/// "2000x1000", both at least 1. Throws Failure.
std::pair<std::int64_t, std::int64_t> parse_sizes(const std::string& option, const std::string& text);
/// "313,279,34", separated by commas or blanks; "@file" reads the file. Empty text is an empty list. Throws
/// Failure.
std::vector<double> parse_numbers(const std::string& option, const std::string& text);
/// "313,279;34,25": rows of the same length. Throws Failure.
std::vector<std::vector<double>> parse_matrix(const std::string& option, const std::string& text);

/// "3x3=916,4x3=890": seconds by grid. Throws Failure.
std::vector<advise::ShapeTime> parse_times(const std::string& option, const std::string& text);

/// Prints `json` in one piece with --json, otherwise prints nothing and returns false.
bool print_json(bool wanted, const Json& json);

/// A list of row-major values as a list of rows.
Json rows_of(const Json& values, int npcol);

/// A table of cells, right-aligned columns of the same width; the first row is the heading when there is one.
/// Unprintable characters are escaped: cells may hold text from other processes.
std::string table(std::vector<std::vector<std::string>> rows);

/// A time in readable form: 0.000124 -> "0.124 ms", 0.0123 -> "12.3 ms", 1.2341 -> "1.234 s", 12345 -> "12345 s".
std::string duration_text(double seconds);

/// 1234567 -> "1 234 567"
std::string grouped(std::int64_t value);

} // namespace command
