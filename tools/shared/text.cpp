// SPDX-License-Identifier: BSD-3-Clause
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/grid_shape.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "failure.hpp"

namespace command {

std::pair<std::int64_t, std::int64_t> parse_sizes(const std::string& option, const std::string& text) {
  const std::string_view both = text;
  const std::size_t x = both.find_first_of("xX");
  const auto m = base::whole_number(both.substr(0, x));
  const auto n = base::whole_number(x == std::string::npos ? std::string_view() : both.substr(x + 1));
  if (!m || !n || *m < 1 || *n < 1) throw Failure(fmt::format("{}: got '{}', expected e.g. 2000x1000", option, text));
  return {*m, *n};
}

std::vector<double> parse_numbers(const std::string& option, const std::string& text) {
  std::string list = text;
  if (!text.empty() && text[0] == '@') {
    list = base::content_of(text.substr(1));
    if (list.empty()) throw Failure(fmt::format("{}: the file '{}' cannot be read", option, text.substr(1)));
  }
  constexpr std::size_t most_numbers = 1024; // computations with speeds take minutes from there on
  std::vector<double> numbers;
  const std::vector<std::string> parts = base::split(list, ',');
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].empty() && parts.size() > 1)
      throw Failure(option + (k + 1 == parts.size() ? ": the list ends with a comma"
                                                    : ": got '', expected numbers separated by commas"));
    std::istringstream items(parts[k]); // blanks separate as commas do
    for (std::string item; items >> item;) {
      char* rest = nullptr;
      numbers.push_back(std::strtod(item.c_str(), &rest));
      if (rest != item.c_str() + item.size())
        throw Failure(fmt::format("{}: got '{}', expected numbers separated by commas", option, item));
      if (numbers.size() > most_numbers)
        throw Failure(fmt::format("{}: got more than {} numbers, expected at most that many", option, most_numbers));
    }
  }
  return numbers;
}

std::vector<std::vector<double>> parse_matrix(const std::string& option, const std::string& text) {
  std::vector<std::vector<double>> rows;
  std::stringstream stream(text);
  for (std::string row; std::getline(stream, row, ';');) rows.push_back(parse_numbers(option, row));
  if (rows.empty() || rows[0].empty())
    throw Failure(fmt::format("{}: the grid is empty, expected e.g. '313,279;34,25'", option));
  for (const auto& row : rows)
    if (row.size() != rows[0].size())
      throw Failure(fmt::format("{}: rows of {} and {} speeds, expected rows of the same length", option,
                                rows[0].size(), row.size()));
  return rows;
}

std::vector<advise::ShapeTime> parse_times(const std::string& option, const std::string& text) {
  std::vector<advise::ShapeTime> times;
  for (std::size_t at = 0; at < text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, comma - at);
    const auto equals = item.find('=');
    const auto bad = [&] { return Failure(fmt::format("{}: got '{}', expected e.g. 3x3=916,4x3=890", option, item)); };
    if (equals == std::string::npos) throw bad();
    const auto [p, q] = base::parse_grid_shape(item.substr(0, equals), option);
    const std::vector<double> seconds = parse_numbers(option, item.substr(equals + 1));
    if (seconds.size() != 1) throw bad();
    times.push_back({p, q, seconds[0]});
    at = comma + 1;
  }
  return times;
}

bool print_json(bool wanted, const Json& json) {
  if (wanted) std::printf("%s\n", base::json_text(json).c_str());
  return wanted;
}

Json rows_of(const Json& values, int npcol) {
  Json rows = Json::array();
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k % static_cast<std::size_t>(npcol) == 0) rows.push_back(Json::array());
    rows.back().push_back(values[k]);
  }
  return rows;
}

std::string table(std::vector<std::vector<std::string>> rows) {
  for (auto& row : rows)
    for (auto& cell : row) cell = base::printable(cell);
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (j == widths.size()) widths.push_back(0);
      widths[j] = std::max(widths[j], row[j].size());
    }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t j = 0; j < row.size(); ++j) text += fmt::format("{:>{}}", row[j], widths[j] + 2);
    text += '\n';
  }
  return text;
}

std::string duration_text(double seconds) {
  const double size = std::abs(seconds);
  if (!(size < 1000)) return fmt::format("{:.0f} s", seconds); // inf and nan too
  if (size == 0) return "0 s";
  return size < 0.9995 ? fmt::format("{:.3g} ms", 1000 * seconds) : fmt::format("{:.4g} s", seconds);
}

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (auto i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > (value < 0 ? 1 : 0); i -= 3)
    digits.insert(static_cast<std::size_t>(i), " ");
  return digits;
}

} // namespace command
