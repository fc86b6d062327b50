// SPDX-License-Identifier: BSD-3-Clause
#include "matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>

namespace apps {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

MatrixMarketHeader read_header(std::istream& in, const std::string& path) {
  const auto fail = [&](const std::string& what) { throw std::runtime_error(fmt::format("{}: {}", path, what)); };
  std::string line;
  if (!std::getline(in, line)) fail("cannot read the first line");
  std::istringstream words(lower(line));
  std::string banner, object, layout, field, symmetry;
  words >> banner >> object >> layout >> field >> symmetry;
  if (banner != "%%matrixmarket" || object != "matrix") fail("does not begin with '%%MatrixMarket matrix'");
  if (layout != "coordinate" && layout != "array")
    fail(fmt::format("layout is '{}', expected coordinate or array", layout));
  if (field != "real" && field != "integer" && field != "double")
    fail(fmt::format("field is '{}', expected real or integer", field));

  MatrixMarketHeader header;
  header.is_sparse = layout == "coordinate";
  if (symmetry == "symmetric")
    header.symmetry = 1;
  else if (symmetry == "skew-symmetric")
    header.symmetry = -1;
  else if (symmetry != "general")
    fail(fmt::format("symmetry is '{}', expected general, symmetric or skew-symmetric", symmetry));

  while (std::getline(in, line))
    if (line.find_first_not_of(" \t\r") != std::string::npos && line[0] != '%') break;
  std::istringstream sizes(line);
  if (!(sizes >> header.m >> header.n) || header.m < 1 || header.n < 1) fail("has no line of sizes");
  if (header.symmetry != 0 && header.m != header.n) fail("is declared symmetric but is not square");
  if (header.is_sparse) {
    if (!(sizes >> header.entries) || header.entries < 0) fail("has no number of entries");
  } else if (header.symmetry == 0) {
    header.entries = header.m * header.n;
  } else {
    header.entries = header.n * (header.n + header.symmetry) / 2; // one triangle, of a skew one without the diagonal
  }
  return header;
}

} // namespace

MatrixMarketHeader read_matrix_market_header(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(fmt::format("{}: cannot be opened", path));
  return read_header(in, path);
}

void read_matrix_market(const std::string& path, const std::function<void(std::int64_t, std::int64_t, double)>& entry) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(fmt::format("{}: cannot be opened", path));
  const MatrixMarketHeader header = read_header(in, path);
  std::int64_t i = header.symmetry == -1 ? 1 : 0, j = 0; // dense files go down the columns
  for (std::int64_t k = 0; k < header.entries; ++k) {
    double value = 0;
    if (header.is_sparse) {
      in >> i >> j;
      --i;
      --j;
    }
    if (!(in >> value))
      throw std::runtime_error(
          fmt::format("{}: entry {} of {} is missing or not a number", path, k + 1, header.entries));
    if (i < 0 || i >= header.m || j < 0 || j >= header.n)
      throw std::runtime_error(fmt::format("{}: entry {} is at ({}, {}), the matrix is {} x {}", path, k + 1, i + 1,
                                           j + 1, header.m, header.n));
    entry(i, j, value);
    if (header.symmetry != 0 && i != j) entry(j, i, header.symmetry * value);
    if (!header.is_sparse && ++i == header.m) {
      ++j;
      i = header.symmetry == 0 ? 0 : header.symmetry == 1 ? j : j + 1;
    }
  }
}

} // namespace apps
