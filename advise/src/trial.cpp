// SPDX-License-Identifier: BSD-3-Clause
#include "advise/trial.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/statistics.hpp"
#include "base/status.hpp"
#include "base/text.hpp"

namespace advise {
namespace {

/// Standard error of the mean by the median distance from the median, so that one disturbed step does not count.
double scatter(const std::vector<double>& values) {
  const double middle = base::median(values);
  std::vector<double> apart;
  for (const double v : values) apart.push_back(std::abs(v - middle));
  return 1.4826 * base::median(std::move(apart)) / std::sqrt(static_cast<double>(values.size()));
}

} // namespace

Trial::Verdict Trial::verdict() const {
  if (before.size() < 2 || after.size() < least) return Verdict::open;
  const double was = base::median(before), is = base::median(after);
  if (is > 1.05 * was && is - was > 3 * std::hypot(scatter(before), scatter(after))) return Verdict::slower;
  return after.size() < most ? Verdict::open : Verdict::stays;
}

bool Stay::add(double step_s) {
  if (++steps == 1) {
    cold_s = step_s;
    return false;
  }
  others.add(step_s);
  return true;
}

Experiment Experiment::parse(const std::string& text, const std::string& where) {
  const auto bad = [&] {
    return base::Error(
        base::Status::bad_argument,
        fmt::format("control: {} is \"{}\", expected grids and, after @, steps on each: \"2x2,2x3,3x3@3\"", where,
                    text.substr(0, 80)));
  };
  Experiment experiment;
  const std::size_t at = text.find('@');
  if (at != std::string::npos) {
    experiment.steps = base::whole_number<int>(std::string_view(text).substr(at + 1)).value_or(0);
    if (experiment.steps < 1) throw bad();
  }
  const std::vector<std::string> grids = base::split(std::string_view(text).substr(0, at), ',');
  if (grids.empty()) throw bad();
  for (const std::string& grid : grids) {
    const std::optional<base::GridShape> shape = base::grid_shape_from(grid);
    if (!shape) throw bad();
    experiment.grids.push_back(*shape);
  }
  return experiment;
}

} // namespace advise
