// SPDX-License-Identifier: BSD-3-Clause
#include "published/phases.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "advise/phase_machine.hpp"
#include "base/index.hpp"

namespace published {

using advise::Copies;
using advise::PhaseMachine;
using advise::PhasePlan;
using advise::PhaseProblem;
using advise::PhaseStep;
using advise::Transition;
using base::at;

double redistribution_s(const std::vector<double>& compute_s, const std::vector<double>& move_s) {
  if (compute_s.empty() || compute_s.size() != move_s.size())
    advise::bad_phases(fmt::format("{} times of computing and {} of moving, expected as many, and at least one",
                                   compute_s.size(), move_s.size()),
                       base::Status::shape_mismatch);
  double together = 0;
  for (std::size_t k = 0; k < compute_s.size(); ++k) together = std::max(together, compute_s[k] + move_s[k]);
  return together - *std::max_element(compute_s.begin(), compute_s.end());
}

PhasePlan phases(const PhaseProblem& problem, bool unrolled) {
  PhaseMachine machine(problem);
  struct Vertex {
    bool is_there = false;
    double seconds = 0;
    Copies state = 0;
    std::vector<PhaseStep> steps;
  };
  const auto candidates = [&](int phase) { return problem.phases[at(phase)].candidates.size(); };
  PhasePlan best;
  best.seconds = std::numeric_limits<double>::infinity();
  // from candidate k of the first phase, in a state of the copies, to the same one
  const auto shortest = [&](std::size_t k, Copies state) {
    std::vector<Vertex> row(candidates(0));
    const PhaseStep first = machine.step(0, static_cast<int>(k), state);
    row[k] = {true, first.seconds, machine.after(0, static_cast<int>(k), state), {first}};
    for (int phase = 1; phase <= machine.phases(); ++phase) {
      const int here = phase % machine.phases();
      std::vector<Vertex> next(candidates(here));
      for (const Vertex& from : row) {
        if (!from.is_there) continue;
        for (const Transition& t : machine.from(here, machine.number_of(here, from.state))) {
          Vertex& to = next[at(t.candidate)];
          // back at the first phase only the moves count: its work was counted at the beginning
          const PhaseStep step = machine.step(here, t.candidate, from.state);
          const double seconds = from.seconds + (phase == machine.phases() ? step.move_s : step.seconds);
          if (to.is_there && to.seconds <= seconds) continue;
          to = {true, seconds, machine.state(machine.next(here), t.after), from.steps};
          to.steps.push_back(step);
        }
      }
      row = std::move(next);
    }
    return row[k];
  };
  for (std::size_t k = 0; k < candidates(0); ++k) {
    PhaseProblem there = problem; // every matrix starts as candidate k has it, an unused one as it is
    for (std::size_t m = 0; m < there.start.size(); ++m)
      if (problem.phases[0].uses[m] != advise::PhaseUse::none)
        there.start[m] = problem.phases[0].candidates[k].layouts[m];
    Vertex end = shortest(k, PhaseMachine(there).start());
    if (unrolled) end = shortest(k, end.state); // in the state in which a cycle leaves the data
    if (end.seconds >= best.seconds) continue;
    best.seconds = best.cycle_s = end.seconds;
    best.steps.assign(end.steps.begin(), end.steps.end() - 1);
  }
  best.period = 1;
  return best;
}

} // namespace published
