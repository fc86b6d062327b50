// SPDX-License-Identifier: BSD-3-Clause
#include "speedup.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/status.hpp"
#include "base/text.hpp"

namespace sched {
namespace {

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

} // namespace

double downey_speedup(double n, double a, double sigma) {
  if (sigma <= 1) {
    if (n <= a) return a * n / (a + sigma * (n - 1) / 2);
    if (n <= 2 * a - 1) return a * n / (sigma * (a - 0.5) + n * (1 - sigma / 2));
    return a;
  }
  if (n <= a + a * sigma - sigma) return n * a * (sigma + 1) / (sigma * (n + a - 1) + a);
  return a;
}

Speedup Speedup::parse(std::string_view text) {
  const std::vector<std::string> words = base::split(text, ':');
  const auto wrong = [&]() -> base::Error {
    return {base::Status::bad_argument,
            fmt::format("scheduler: the speed-up is '{}', expected linear, amdahl:SERIAL (0 to 1), downey:A:SIGMA "
                        "(above 0, from 0) or table:1=1,2=1.9,8=6 (ascending)",
                        text)};
  };
  Speedup s;
  if (words.size() == 1 && words[0] == "linear") return s;
  if (words.size() < 2) throw wrong();
  if (words[0] == "table" && words.size() == 2) {
    s.kind_ = Kind::table;
    for (const std::string& pair : base::split(words[1], ',')) {
      const auto equals = pair.find('=');
      const auto n = number(pair.substr(0, equals));
      const auto value = equals == std::string::npos ? std::nullopt : number(pair.substr(equals + 1));
      if (!n || !value || *n < 1 || *value <= 0 || (!s.table_.empty() && *n <= s.table_.back().first)) throw wrong();
      s.table_.emplace_back(*n, *value);
    }
    if (s.table_.empty()) throw wrong();
    return s;
  }
  const auto first = number(words[1]);
  if (!first) throw wrong();
  s.first_ = *first;
  if (words[0] == "amdahl" && words.size() == 2 && s.first_ >= 0 && s.first_ <= 1) {
    s.kind_ = Kind::amdahl;
    return s;
  }
  const auto sigma = words.size() == 3 ? number(words[2]) : std::nullopt;
  if (words[0] != "downey" || !sigma || s.first_ <= 0 || *sigma < 0) throw wrong();
  s.kind_ = Kind::downey;
  s.sigma_ = *sigma;
  return s;
}

double Speedup::at(int n, int asked) const {
  switch (kind_) {
  case Kind::linear:
    return n;
  case Kind::amdahl:
    return 1 / (first_ + (1 - first_) / n);
  case Kind::downey:
    return downey_speedup(n, std::max(1.0, first_ * asked), sigma_);
  case Kind::table:
    break;
  }
  const auto above = std::lower_bound(table_.begin(), table_.end(), std::make_pair(static_cast<double>(n), 0.0));
  if (above == table_.end()) return table_.back().second;
  if (above == table_.begin()) return above->second * n / above->first; // below the table: as one straight line from 0
  const auto& [n0, s0] = *(above - 1);
  return s0 + (above->second - s0) * (n - n0) / (above->first - n0);
}

} // namespace sched
