// SPDX-License-Identifier: BSD-3-Clause
#include "advise/phase_machine.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace advise {

using base::at;
using base::Error;
using base::Status;
namespace {

constexpr std::size_t most_states = std::size_t{1} << 20;
constexpr int most_droppable = 20;

void check_candidate(const PhaseProblem& p, const Phase& phase, const PhaseCandidate& c, std::size_t processes) {
  const std::string who = fmt::format("candidate {} of phase {}", c.name, phase.name);
  if (c.seconds.size() != processes || processes == 0)
    bad_phases(fmt::format("{} has the seconds of {} processes, expected {}", who, c.seconds.size(),
                           std::max<std::size_t>(processes, 1)),
               Status::shape_mismatch);
  for (const double s : c.seconds)
    if (!(std::isfinite(s) && s >= 0))
      bad_phases(fmt::format("{} takes {} seconds, expected a finite number from 0", who, s));
  if (c.layouts.size() != p.matrices.size())
    bad_phases(fmt::format("{} has {} layouts, expected one for each of {} matrices", who, c.layouts.size(),
                           p.matrices.size()),
               Status::shape_mismatch);
  for (std::size_t m = 0; m < p.matrices.size(); ++m)
    if (phase.uses[m] != PhaseUse::none && (c.layouts[m] < 0 || c.layouts[m] >= p.matrices[m].layouts))
      bad_phases(fmt::format("{} has {} in layout {}, expected 0 .. {}", who, p.matrices[m].name, c.layouts[m],
                             p.matrices[m].layouts - 1));
}

void check(const PhaseProblem& p) {
  if (p.phases.empty()) bad_phases("there is no phase");
  if (!p.move && !p.matrices.empty()) bad_phases("the cost of moves is missing, expected a function");
  int layouts = 0;
  for (const PhaseMatrix& m : p.matrices) {
    if (m.layouts < 1 || m.copy_bytes < 0)
      bad_phases(fmt::format("matrix {} has {} layouts and {} bytes, expected at least 1 and 0", m.name, m.layouts,
                             m.copy_bytes));
    layouts += m.layouts;
    if (layouts > most_phase_layouts)
      bad_phases(
          fmt::format("there are {} layouts of all matrices, at most {} can be planned", layouts, most_phase_layouts),
          Status::unsupported);
  }
  if (p.start.size() != p.matrices.size())
    bad_phases(
        fmt::format("start has {} layouts, expected one for each of {} matrices", p.start.size(), p.matrices.size()),
        Status::shape_mismatch);
  for (std::size_t m = 0; m < p.start.size(); ++m)
    if (p.start[m] < 0 || p.start[m] >= p.matrices[m].layouts)
      bad_phases(fmt::format("{} starts in layout {}, expected 0 .. {}", p.matrices[m].name, p.start[m],
                             p.matrices[m].layouts - 1));
  const std::size_t processes = p.phases[0].candidates.empty() ? 0 : p.phases[0].candidates[0].seconds.size();
  for (const Phase& phase : p.phases) {
    if (phase.candidates.empty()) bad_phases(fmt::format("phase {} has no candidate", phase.name));
    if (phase.uses.size() != p.matrices.size())
      bad_phases(fmt::format("phase {} has {} uses, expected one for each of {} matrices", phase.name,
                             phase.uses.size(), p.matrices.size()),
                 Status::shape_mismatch);
    for (const PhaseCandidate& c : phase.candidates) check_candidate(p, phase, c, processes);
  }
}

} // namespace

void bad_phases(const std::string& what, Status status) {
  throw Error(status, "advise: phases: " + what);
}

PhaseMachine::PhaseMachine(const PhaseProblem& problem) : p_(problem) {
  check(p_);
  int offset = 0;
  for (const PhaseMatrix& m : p_.matrices) {
    offsets_.push_back(offset);
    offset += m.layouts;
  }
  nodes_.resize(p_.phases.size());
  numbers_.resize(p_.phases.size());
}

Copies PhaseMachine::start() const {
  Copies state = 0;
  for (int m = 0; m < matrices(); ++m) state |= bit(m, p_.start[at(m)]);
  return state;
}

std::size_t PhaseMachine::number_of(int phase, Copies state) {
  const auto [found, is_new] = numbers_[at(phase)].try_emplace(state, nodes_[at(phase)].size());
  if (is_new) {
    nodes_[at(phase)].push_back({state, false, {}});
    if (++states_ > most_states)
      bad_phases(fmt::format("there are more than {} states of copies", most_states), Status::unsupported);
  }
  return found->second;
}

const std::vector<Transition>& PhaseMachine::from(int phase, std::size_t number) {
  Node& node = nodes_[at(phase)][number];
  if (node.is_known) return node.ways;
  for (int c = 0; c < static_cast<int>(p_.phases[at(phase)].candidates.size()); ++c) {
    const double seconds = quickest(phase, c, node.state).seconds;
    for (const Copies after : kept(phase, c, node.state))
      node.ways.push_back({c, number_of(next(phase), after), seconds});
  }
  node.is_known = true;
  return node.ways;
}

PhaseStep PhaseMachine::step(int phase, int candidate, Copies before) {
  const Sourced best = quickest(phase, candidate, before);
  PhaseStep step{phase, candidate, std::vector<int>(at(matrices()), -1), best.seconds, 0};
  for (int m = 0; m < matrices(); ++m)
    if ((best.sources & all_of(m)) != 0)
      step.copied_from[at(m)] = __builtin_ctzll(best.sources & all_of(m)) - offsets_[at(m)];
  step.move_s = best.seconds - seconds_of(phase, candidate, 0);
  return step;
}

Copies PhaseMachine::all_of(int m) const {
  const int n = p_.matrices[at(m)].layouts;
  return (n == 64 ? ~Copies{0} : (Copies{1} << n) - 1) << offsets_[at(m)];
}

PhaseMachine::Sourced PhaseMachine::quickest(int phase, int candidate, Copies before) {
  Sourced best;
  const auto choose = [&](auto self, int m, Copies sources) -> void {
    while (m < matrices() && (!reads(phase, m) || (before & bit(m, layout(phase, candidate, m))) != 0)) ++m;
    if (m == matrices()) {
      if (const double seconds = seconds_of(phase, candidate, sources); seconds < best.seconds)
        best = {sources, seconds};
      return;
    }
    for (Copies left = before & all_of(m); left != 0; left &= left - 1) self(self, m + 1, sources | (left & -left));
  };
  choose(choose, 0, 0);
  return best;
}

double PhaseMachine::seconds_of(int phase, int candidate, Copies sources) {
  const auto [found, is_new] = seconds_.try_emplace({phase, candidate, sources}, 0);
  if (!is_new) return found->second;
  std::vector<double> sums = p_.phases[at(phase)].candidates[at(candidate)].seconds;
  for (Copies left = sources; left != 0; left &= left - 1) {
    const std::vector<double>& move = move_s(phase, candidate, __builtin_ctzll(left));
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += move[k];
  }
  return found->second = *std::max_element(sums.begin(), sums.end());
}

const std::vector<double>& PhaseMachine::move_s(int phase, int candidate, int source) {
  const int m = static_cast<int>(std::upper_bound(offsets_.begin(), offsets_.end(), source) - offsets_.begin()) - 1;
  const int from = source - offsets_[at(m)], to = layout(phase, candidate, m);
  const auto [found, is_new] = moves_.try_emplace({m, from, to});
  if (!is_new) return found->second;
  std::vector<double> seconds = p_.move(m, from, to);
  const std::size_t processes = p_.phases[0].candidates[0].seconds.size();
  if (seconds.size() != processes)
    bad_phases(fmt::format("moving {} from layout {} to {} has the seconds of {} processes, expected {}",
                           p_.matrices[at(m)].name, from, to, seconds.size(), processes),
               Status::shape_mismatch);
  for (const double s : seconds)
    if (!(std::isfinite(s) && s >= 0))
      bad_phases(fmt::format("moving {} from layout {} to {} takes {} seconds, expected a finite number from 0",
                             p_.matrices[at(m)].name, from, to, s));
  return found->second = std::move(seconds);
}

std::int64_t PhaseMachine::bytes(Copies state) const {
  std::int64_t sum = 0;
  for (int m = 0; m < matrices(); ++m) sum += p_.matrices[at(m)].copy_bytes * __builtin_popcountll(state & all_of(m));
  return sum;
}

std::vector<Copies> PhaseMachine::kept(int phase, int candidate, Copies before) const {
  Copies valid = before, needed = 0;
  for (int m = 0; m < matrices(); ++m) {
    const PhaseUse use = uses(phase, m);
    if (use == PhaseUse::none) continue;
    const Copies mine = bit(m, layout(phase, candidate, m));
    if (use != PhaseUse::read) valid &= ~all_of(m);
    valid |= mine;
    needed |= mine;
  }
  if (p_.memory_bytes < 0 || bytes(valid) <= p_.memory_bytes) return {valid};
  const Copies droppable = valid & ~needed;
  if (__builtin_popcountll(droppable) > most_droppable)
    bad_phases(fmt::format("more than {} copies could be dropped", most_droppable), Status::unsupported);
  std::vector<Copies> sets;
  for (Copies part = droppable;; part = (part - 1) & droppable) {
    const Copies set = needed | part;
    bool has_all = true; // a matrix that is not used needs a copy too
    for (int m = 0; m < matrices(); ++m) has_all = has_all && (set & all_of(m)) != 0;
    if (has_all && bytes(set) <= p_.memory_bytes &&
        std::none_of(sets.begin(), sets.end(), [&](Copies other) { return (set & other) == set; }))
      sets.push_back(set); // larger ones come first: a number is never below that of a part of it
    if (part == 0) break;
  }
  if (sets.empty())
    bad_phases(
        fmt::format(
            "phase {} needs {} bytes for its own copies and one of each other matrix, more than the {} there are",
            p_.phases[at(phase)].name, bytes(valid & ~droppable), p_.memory_bytes),
        Status::out_of_memory);
  return sets;
}

} // namespace advise
