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

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t most_states = std::size_t{1} << 20;
constexpr int most_droppable = 20;
constexpr std::size_t portion = 32; ///< of the processes that may take longest, which are looked at in turn

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
    if (layouts > 64)
      bad_phases(fmt::format("there are {} layouts of all matrices, at most 64 can be planned", layouts),
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
  costs_.resize(p_.phases.size());
  const std::vector<Copies> possible = possible_copies();
  for (int k = 0; k < phases(); ++k)
    for (const PhaseCandidate& c : p_.phases[at(k)].candidates) {
      Costs& costs = costs_[at(k)].emplace_back();
      costs.longest_s = *std::max_element(c.seconds.begin(), c.seconds.end());
      for (int m = 0; m < matrices(); ++m)
        if (reads(k, m)) costs.copied |= possible[at(k)] & all_of(m) & ~bit(m, c.layouts[at(m)]);
    }
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
  step.move_s = best.seconds - costs_[at(phase)][at(candidate)].longest_s;
  return step;
}

Copies PhaseMachine::all_of(int m) const {
  const int n = p_.matrices[at(m)].layouts;
  return (n == 64 ? ~Copies{0} : (Copies{1} << n) - 1) << offsets_[at(m)];
}

std::vector<Copies> PhaseMachine::possible_copies() const {
  std::vector<Copies> before(at(phases()), 0);
  Copies state = start();
  for (int k = 0; (state & ~before[at(k)]) != 0; k = (k + 1) % phases()) {
    before[at(k)] |= state;
    state = before[at(k)];
    for (int m = 0; m < matrices(); ++m) {
      if (uses(k, m) == PhaseUse::none) continue;
      if (uses(k, m) != PhaseUse::read) state &= ~all_of(m);
      for (int c = 0; c < static_cast<int>(p_.phases[at(k)].candidates.size()); ++c) state |= bit(m, layout(k, c, m));
    }
  }
  return before;
}

PhaseMachine::Sourced PhaseMachine::quickest(int phase, int candidate, Copies before) {
  Costs& costs = costs_[at(phase)][at(candidate)];
  Copies copies = 0; // of matrices that are read and have none here
  for (int m = 0; m < matrices(); ++m) {
    if (reads(phase, m) && (before & bit(m, layout(phase, candidate, m))) == 0) copies |= before & all_of(m);
  }
  if (copies == 0) return {0, costs.longest_s};
  const auto [found, is_new] = costs.of_copies.try_emplace(copies);
  if (!is_new) return found->second;
  Sourced best;
  const auto choose = [&](auto self, int m, Copies sources) -> void {
    while (m < matrices() && (copies & all_of(m)) == 0) ++m;
    if (m == matrices()) {
      if (const double seconds = seconds_of(phase, candidate, sources); seconds < best.seconds)
        best = {sources, seconds};
      return;
    }
    for (Copies left = copies & all_of(m); left != 0; left &= left - 1) self(self, m + 1, sources | (left & -left));
  };
  choose(choose, 0, 0);
  return found->second = best;
}

double PhaseMachine::seconds_of(int phase, int candidate, Copies sources) {
  Costs& costs = costs_[at(phase)][at(candidate)];
  const auto [found, is_new] = costs.of_sources.try_emplace(sources, 0);
  if (!is_new) return found->second;
  if (!costs.has_slowest) find_slowest(phase, candidate, costs);
  Moves moves;
  for (Copies left = sources; left != 0; left &= left - 1)
    moves.of[moves.count++] = costs.moves[at(__builtin_ctzll(left))].data();
  double seconds = 0;
  for (std::size_t first = 0; first < costs.own.size() && seconds < costs.bounds[first]; first += portion)
    seconds = std::max(seconds, longest(costs.own, moves, first, std::min(first + portion, costs.own.size())));
  if (seconds < costs.others_s) {
    moves.count = 0;
    for (Copies left = sources; left != 0; left &= left - 1)
      moves.of[moves.count++] = move_s(phase, candidate, __builtin_ctzll(left)).data();
    const std::vector<double>& own = p_.phases[at(phase)].candidates[at(candidate)].seconds;
    seconds = longest(own, moves, 0, own.size());
  }
  return found->second = seconds;
}

double PhaseMachine::longest(const std::vector<double>& own, const Moves& moves, std::size_t first, std::size_t last) {
  constexpr std::size_t lanes = 8; // maxima side by side: each waits for the one before it
  std::array<double, lanes> most{};
  for (; first + lanes <= last; first += lanes) {
    std::array<double, lanes> sum;
    for (std::size_t k = 0; k < lanes; ++k) sum[k] = own[first + k];
    for (std::size_t m = 0; m < moves.count; ++m)
      for (std::size_t k = 0; k < lanes; ++k) sum[k] += moves.of[m][first + k];
    for (std::size_t k = 0; k < lanes; ++k) most[k] = most[k] < sum[k] ? sum[k] : most[k];
  }
  double longest = *std::max_element(most.begin(), most.end());
  for (; first < last; ++first) {
    double sum = own[first];
    for (std::size_t m = 0; m < moves.count; ++m) sum += moves.of[m][first];
    longest = std::max(longest, sum);
  }
  return longest;
}

const std::vector<double>& PhaseMachine::longest_move_s(int phase, int candidate, int m, Copies sources) {
  const auto [found, is_new] = longest_moves_.try_emplace({bit(m, layout(phase, candidate, m)), sources});
  std::vector<double>& most = found->second;
  if (is_new) most.assign(p_.phases[0].candidates[0].seconds.size(), 0);
  for (Copies left = is_new ? sources : 0; left != 0; left &= left - 1) {
    const std::vector<double>& move = move_s(phase, candidate, __builtin_ctzll(left));
    for (std::size_t k = 0; k < most.size(); ++k) most[k] = std::max(most[k], move[k]);
  }
  return most;
}

double PhaseMachine::high(const std::vector<double>& values) {
  constexpr std::size_t looked_at = 256, reaching = 12;
  if (values.size() <= looked_at) return -infinity;
  std::vector<double> some;
  for (std::size_t k = 0; k < values.size(); k += values.size() / looked_at) some.push_back(values[k]);
  std::nth_element(some.begin(), some.begin() + reaching, some.end(), std::greater<>());
  return some[reaching];
}

void PhaseMachine::find_slowest(int phase, int candidate, Costs& costs) {
  costs.has_slowest = true;
  const std::vector<double>& own = p_.phases[at(phase)].candidates[at(candidate)].seconds;
  std::vector<double> bounds = own;
  for (int m = 0; m < matrices(); ++m) {
    if ((costs.copied & all_of(m)) == 0) continue;
    const std::vector<double>& most = longest_move_s(phase, candidate, m, costs.copied & all_of(m));
    for (std::size_t k = 0; k < bounds.size(); ++k) bounds[k] += most[k];
  }
  const double least = high(bounds);
  std::vector<std::size_t> slowest;
  for (std::size_t k = 0; k < bounds.size(); ++k)
    if (bounds[k] >= least)
      slowest.push_back(k);
    else
      costs.others_s = std::max(costs.others_s, bounds[k]);
  std::sort(slowest.begin(), slowest.end(), [&](std::size_t a, std::size_t b) { return bounds[a] > bounds[b]; });
  const auto pick = [&](const std::vector<double>& from, std::vector<double>& to) {
    to.reserve(slowest.size());
    for (const std::size_t k : slowest) to.push_back(from[k]);
  };
  pick(bounds, costs.bounds);
  pick(own, costs.own);
  for (Copies left = costs.copied; left != 0; left &= left - 1)
    pick(move_s(phase, candidate, __builtin_ctzll(left)), costs.moves[at(__builtin_ctzll(left))]);
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
