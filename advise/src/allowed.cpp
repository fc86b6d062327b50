// SPDX-License-Identifier: BSD-3-Clause
#include "advise/allowed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "advise/rules.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "refusal.hpp"

namespace advise {
namespace {

using base::Error;
using base::GridShape;
using base::split;
using base::Status;
using base::trimmed;

constexpr std::size_t longest_text = 4096;

[[noreturn]] void bad(const std::string& clause, const std::string& why) {
  refuse("allowed grids: '{}': {}", clause, why);
}

std::vector<int> set_of(const std::string& clause, const std::string& text) {
  try {
    return parse_set(text);
  } catch (const Error& error) {
    bad(clause, error.what());
  }
}

double number_of(const std::string& clause, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value <= 0) bad(clause, "expected a number above 0");
  return value;
}

GridShape grid_of(const std::string& clause, const std::string& text) {
  if (const auto shape = base::grid_shape_from(text)) return *shape;
  bad(clause, fmt::format("'{}' is no grid, expected e.g. 2x3", text));
}

/// Empty when no grid is within the limits.
std::optional<Topology> chosen(const TopologyRequest& request) {
  try {
    return choose_topology(request);
  } catch (const Error& error) {
    if (error.status() != Status::not_found) throw;
    return std::nullopt;
  }
}

} // namespace

Allowed Allowed::parse(const std::string& text) {
  if (text.size() > longest_text)
    bad(text.substr(0, 40) + "...", fmt::format("{} characters, expected at most {}", text.size(), longest_text));
  Allowed allowed;
  TopologyRequest& limits = allowed.limits_;
  allowed.text_ = trimmed(text);
  if (allowed.text_.empty()) return allowed;
  const std::vector<std::string> clauses = split(allowed.text_, ';');
  const auto once = [](const std::string& clause, const auto& before, const char* what) {
    if (!before.empty()) bad(clause, fmt::format("a second clause about {}", what));
  };
  for (const std::string& clause : clauses) {
    const auto blank = clause.find_first_of(" \t");
    const std::string word = clause.substr(0, blank);
    const std::string rest(blank == std::string::npos ? "" : trimmed(std::string_view(clause).substr(blank)));
    if (clause.empty()) {
      bad(allowed.text_, "an empty clause");
    } else if (clause == "any") {
      if (clauses.size() > 1) bad(allowed.text_, "any stands alone");
      allowed.is_any_ = true;
    } else if (word == "aspect") {
      limits.aspect_p = limits.aspect_q = number_of(clause, rest);
      if (limits.aspect_p < 1) bad(clause, "expected at least 1");
    } else if (word == "aspect_p") {
      limits.aspect_p = number_of(clause, rest);
    } else if (word == "aspect_q") {
      limits.aspect_q = number_of(clause, rest);
    } else if (word == "rows") {
      once(clause, limits.valid_rows, "rows");
      limits.valid_rows = set_of(clause, rest);
    } else if (word == "cols" || word == "columns") {
      once(clause, limits.valid_cols, "columns");
      limits.valid_cols = set_of(clause, rest);
    } else if (clause.find('x') != std::string::npos && std::isdigit(static_cast<unsigned char>(clause[0]))) {
      once(clause, allowed.grids_, "grids");
      for (const std::string& grid : split(clause, ',')) allowed.grids_.push_back(grid_of(clause, grid));
    } else if (std::isdigit(static_cast<unsigned char>(clause[0]))) {
      once(clause, limits.valid_procs, "numbers of processes");
      limits.valid_procs = set_of(clause, clause);
    } else {
      bad(clause, "expected any, numbers like 4:32:*2, grids like 2x2,2x3, aspect, rows or cols");
    }
  }
  if (limits.aspect_p > 0 && limits.aspect_q > 0 && limits.aspect_p * limits.aspect_q < 1)
    bad(allowed.text_, "the two aspects exclude each other");
  return allowed;
}

Allowed Allowed::adding_to(GridShape from) const {
  Allowed larger = *this;
  larger.limits_.from_nprow = from.nprow;
  larger.limits_.from_npcol = from.npcol;
  return larger;
}

bool Allowed::permits(GridShape s) const {
  if (s.nprow < 1 || s.npcol < 1 || s.nprow < limits_.from_nprow || s.npcol < limits_.from_npcol) return false;
  if (text_.empty() || is_any_) return true;
  if (!grids_.empty() && std::none_of(grids_.begin(), grids_.end(), [&](GridShape g) { return g == s; })) return false;
  return is_within(limits_, s);
}

TopologyRequest Allowed::request(int at_most) const {
  TopologyRequest requested = limits_;
  requested.procs = at_most;
  if (text_.empty()) requested.aspect_p = requested.aspect_q = GridRules().aspect;
  return requested;
}

std::optional<GridShape> Allowed::largest(int at_most, int at_least) const {
  if (at_most < 1) return std::nullopt;
  std::optional<GridShape> best;
  if (!grids_.empty()) {
    const auto rank = [](GridShape s) { return std::tuple(-s.size(), aspect(s), s.nprow > s.npcol); };
    for (const GridShape s : grids_)
      if (s.size() <= at_most && permits(s) && (!best || rank(s) < rank(*best))) best = s;
  } else if (const auto topology = chosen(request(at_most))) {
    best = GridShape{topology->nprow, topology->npcol};
  }
  if (best && best->size() < at_least) best.reset();
  return best;
}

std::optional<Topology> Allowed::quickest(int at_most, const StepModel& steps) const {
  if (at_most < 1 || steps.measured().empty()) return std::nullopt;
  TopologyRequest requested = request(at_most);
  requested.steps = &steps;
  if (grids_.empty()) return chosen(requested);
  std::optional<Topology> best;
  for (const GridShape s : grids_) {
    if (s.size() > at_most || !permits(s)) continue;
    requested.valid_rows = {s.nprow};
    requested.valid_cols = {s.npcol};
    requested.valid_procs = {};
    requested.aspect_p = requested.aspect_q = 0; // permitted as it is
    const std::optional<Topology> one = chosen(requested);
    if (one && (!best || one->seconds < best->seconds)) best = one;
  }
  return best;
}

} // namespace advise
