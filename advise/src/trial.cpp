// SPDX-License-Identifier: BSD-3-Clause
#include "advise/trial.hpp"

#include <cmath>

#include "base/status.hpp"
#include "base/text.hpp"

namespace advise {

Trial::Decision Trial::decision() const {
  constexpr TrialRules rules;
  if (before.count() < rules.least_before || after.count() < rules.least) return Decision::open;
  const double was = before.seconds(), is = after.seconds();
  const double error = std::hypot(before.error_s(), after.error_s());
  if (is > (1 + rules.slower) * was && is - was > rules.errors * error) return Decision::slower;
  return after.count() < rules.most ? Decision::open : Decision::stays;
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
    return base::Error(base::Status::bad_argument,
                       "advise: {} is \"{}\", expected grids and, after @, steps on each: \"2x2,2x3,3x3@3\"", where,
                       text.substr(0, 80));
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
