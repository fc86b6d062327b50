// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/phases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "base/index.hpp"
#include "base/status.hpp"

namespace gridmap {
namespace {

using base::at;
using base::Error;
using base::Status;

using Copies = std::uint64_t; ///< a state: one bit for each layout of each matrix in which there is a valid copy

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t most_states = std::size_t{1} << 20;
constexpr std::int64_t most_layers = 1000000;
constexpr int most_droppable = 20;
constexpr std::size_t portion = 32; ///< of the processes that may take longest, which are looked at in turn

[[noreturn]] void bad_phases(const std::string& what, Status status = Status::bad_argument) {
  throw Error(status, "gridmap: phases: " + what);
}

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
  if (!p.move && !p.matrices.empty()) bad_phases("it is not said what moving takes");
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

/// One way through a phase from a state.
struct Transition {
  int candidate = 0;
  std::size_t after = 0; ///< the number of the state before the next phase
  double seconds = 0;
};

/// What a phase does to states, and what it takes.
class PhaseMachine {
public:
  explicit PhaseMachine(const PhaseProblem& problem) : p_(problem) {
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

  const PhaseProblem& problem() const { return p_; }
  int phases() const { return static_cast<int>(p_.phases.size()); }
  Copies start() const {
    Copies state = 0;
    for (int m = 0; m < matrices(); ++m) state |= bit(m, p_.start[at(m)]);
    return state;
  }
  /// Every matrix in one copy, as the candidate has it; what it does not use as in `otherwise`.
  Copies as_in(int phase, int candidate, Copies otherwise) const {
    Copies state = 0;
    for (int m = 0; m < matrices(); ++m)
      state |= uses(phase, m) == PhaseUse::none ? otherwise & all_of(m) : bit(m, layout(phase, candidate, m));
    return state;
  }

  /// A state by its number among those before its phase: a plan of many cycles comes to the same ones again and again.
  std::size_t number_of(int phase, Copies state) {
    const auto [found, is_new] = numbers_[at(phase)].try_emplace(state, nodes_[at(phase)].size());
    if (is_new) {
      nodes_[at(phase)].push_back({state, false, {}});
      if (++states_ > most_states)
        bad_phases(fmt::format("there are more than {} states of copies", most_states), Status::unsupported);
    }
    return found->second;
  }
  Copies state(int phase, std::size_t number) const { return nodes_[at(phase)][number].state; }
  std::size_t numbers(int phase) const { return nodes_[at(phase)].size(); }
  int next(int phase) const { return (phase + 1) % phases(); }

  /// All that may be done in a phase; of two sets of copies that can be kept, only what is not part of another.
  const std::vector<Transition>& from(int phase, std::size_t number) {
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

  /// The copies that there are after a candidate's step.
  Copies after(int phase, int candidate, Copies before) const { return kept(phase, candidate, before)[0]; }

  /// A candidate's step from a state: every copy it needs is made of the one that lets it end first.
  PhaseStep step(int phase, int candidate, Copies before) {
    const Sourced best = quickest(phase, candidate, before);
    PhaseStep step{phase, candidate, std::vector<int>(at(matrices()), -1), best.seconds, 0};
    for (int m = 0; m < matrices(); ++m)
      if ((best.sources & all_of(m)) != 0)
        step.copied_from[at(m)] = __builtin_ctzll(best.sources & all_of(m)) - offsets_[at(m)];
    step.move_s = best.seconds - costs_[at(phase)][at(candidate)].longest_s;
    return step;
  }

private:
  int matrices() const { return static_cast<int>(p_.matrices.size()); }
  PhaseUse uses(int phase, int m) const { return p_.phases[at(phase)].uses[at(m)]; }
  bool reads(int phase, int m) const {
    return uses(phase, m) == PhaseUse::read || uses(phase, m) == PhaseUse::read_write;
  }
  int layout(int phase, int candidate, int m) const {
    return p_.phases[at(phase)].candidates[at(candidate)].layouts[at(m)];
  }
  Copies bit(int m, int l) const { return Copies{1} << (offsets_[at(m)] + l); }
  Copies all_of(int m) const {
    const int n = p_.matrices[at(m)].layouts;
    return (n == 64 ? ~Copies{0} : (Copies{1} << n) - 1) << offsets_[at(m)];
  }

  /// What copies are made of, one bit for each that is made, and the seconds with them.
  struct Sourced {
    Copies sources = 0;
    double seconds = infinity;
  };

  /// What is known of a candidate's seconds.
  struct Costs {
    double longest_s = 0; ///< without copies
    Copies copied = 0;    ///< all that copies may be made of
    std::unordered_map<Copies, double> of_sources;
    std::unordered_map<Copies, Sourced> of_copies; ///< by the copies that there are of what is missing
    /// The processes that may take longest, whatever is copied, those that may take most first: how long they may take,
    /// their own seconds, and those of each copy, by its bit.
    std::vector<double> bounds, own;
    std::array<std::vector<double>, 64> moves;
    double others_s = -infinity; ///< no other process takes longer, whatever is copied
    bool has_slowest = false;
  };

  /// The layouts in which there may be copies before each phase, as if all of them could be kept.
  std::vector<Copies> possible_copies() const {
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

  Sourced quickest(int phase, int candidate, Copies before) {
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

  double seconds_of(int phase, int candidate, Copies sources) {
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

  struct Moves {
    std::array<const double*, 64> of;
    std::size_t count = 0;
  };

  /// The longest of the sums of processes first .. last-1.
  static double longest(const std::vector<double>& own, const Moves& moves, std::size_t first, std::size_t last) {
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

  /// Of each process the most that a copy of matrix m may take, whichever of `sources` it is made of.
  const std::vector<double>& longest_move_s(int phase, int candidate, int m, Copies sources) {
    const auto [found, is_new] = longest_moves_.try_emplace({bit(m, layout(phase, candidate, m)), sources});
    std::vector<double>& most = found->second;
    if (is_new) most.assign(p_.phases[0].candidates[0].seconds.size(), 0);
    for (Copies left = is_new ? sources : 0; left != 0; left &= left - 1) {
      const std::vector<double>& move = move_s(phase, candidate, __builtin_ctzll(left));
      for (std::size_t k = 0; k < most.size(); ++k) most[k] = std::max(most[k], move[k]);
    }
    return most;
  }

  /// A bound that some hundred of the values reach, or all where there are few: by every so manieth of them.
  static double high(const std::vector<double>& values) {
    constexpr std::size_t looked_at = 256, reaching = 12;
    if (values.size() <= looked_at) return -infinity;
    std::vector<double> some;
    for (std::size_t k = 0; k < values.size(); k += values.size() / looked_at) some.push_back(values[k]);
    std::nth_element(some.begin(), some.begin() + reaching, some.end(), std::greater<>());
    return some[reaching];
  }

  /// Sums are rounded in the same order as in `longest`, so that no sum of a process is above its bound.
  void find_slowest(int phase, int candidate, Costs& costs) {
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

  /// Of each process, for the copy that a candidate needs, of the layout that a bit stands for.
  const std::vector<double>& move_s(int phase, int candidate, int source) {
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

  std::int64_t bytes(Copies state) const {
    std::int64_t sum = 0;
    for (int m = 0; m < matrices(); ++m) sum += p_.matrices[at(m)].copy_bytes * __builtin_popcountll(state & all_of(m));
    return sum;
  }

  /// The sets of copies that there may be after a phase: all that are valid, or, where they do not fit, what is kept.
  std::vector<Copies> kept(int phase, int candidate, Copies before) const {
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

  const PhaseProblem& p_;
  std::vector<int> offsets_;
  std::vector<std::vector<Costs>> costs_; ///< by phase and candidate
  struct Node {
    Copies state;
    bool is_known;
    std::vector<Transition> ways;
  };
  std::vector<std::deque<Node>> nodes_; ///< by phase: what is known of one stays where it is
  std::vector<std::unordered_map<Copies, std::size_t>> numbers_;
  std::size_t states_ = 0;                                                 ///< in nodes_
  std::map<std::pair<Copies, Copies>, std::vector<double>> longest_moves_; ///< by copies made, and made of
  std::map<std::tuple<int, int, int>, std::vector<double>> moves_;
};

/// A state that a layer of the dynamic programme has reached, and how.
struct Reached {
  Copies state = 0;
  std::size_t number = 0; ///< of the state, before the phase that follows
  double seconds = 0;
  int before = -1; ///< in the layer before
  int candidate = -1;
};
using Layer = std::vector<Reached>;

/// What takes longer and has no copy more is left out.
void prune(Layer& layer) {
  if (layer.size() > 4096) return;
  std::sort(layer.begin(), layer.end(), [](const Reached& a, const Reached& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds
                                  : __builtin_popcountll(a.state) > __builtin_popcountll(b.state);
  });
  Layer left;
  for (const Reached& r : layer)
    if (std::none_of(left.begin(), left.end(), [&](const Reached& l) { return (r.state & l.state) == r.state; }))
      left.push_back(r);
  layer = std::move(left);
}

Layer advance(PhaseMachine& machine, int phase, const Layer& layer) {
  constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
  const int next_phase = machine.next(phase);
  Layer next;
  std::vector<std::size_t> places(machine.numbers(next_phase), nowhere); // in `next`, by number
  for (std::size_t k = 0; k < layer.size(); ++k)
    for (const Transition& way : machine.from(phase, layer[k].number)) {
      const double seconds = layer[k].seconds + way.seconds;
      if (way.after >= places.size()) places.resize(machine.numbers(next_phase), nowhere);
      std::size_t& place = places[way.after];
      if (place == nowhere) {
        place = next.size();
        next.push_back({machine.state(next_phase, way.after), way.after, seconds, static_cast<int>(k), way.candidate});
      } else if (seconds < next[place].seconds) {
        next[place].seconds = seconds;
        next[place].before = static_cast<int>(k);
        next[place].candidate = way.candidate;
      }
    }
  return next;
}

/// The steps that led to entry `last` of the last layer; layers[k] is before phase (first + k) mod phases.
std::vector<PhaseStep> steps_of(PhaseMachine& machine, const std::vector<Layer>& layers, int first, std::size_t last) {
  std::vector<PhaseStep> steps;
  for (std::size_t k = layers.size() - 1; k > 0; --k) {
    const Reached& r = layers[k][last];
    const int phase = static_cast<int>((at(first) + k - 1) % at(machine.phases()));
    last = at(r.before);
    steps.push_back(machine.step(phase, r.candidate, layers[k - 1][last].state));
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

double sum_of(const std::vector<PhaseStep>& steps) {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](double s, const PhaseStep& step) { return s + step.seconds; });
}

/// One cycle of phases from phase `first` on, from one state: all layers, without leaving any state out.
std::vector<Layer> one_cycle(PhaseMachine& machine, int first, Copies state, int phases) {
  std::vector<Layer> layers{{{state, machine.number_of(first, state), 0, -1, -1}}};
  for (int k = 0; k < phases; ++k) layers.push_back(advance(machine, (first + k) % machine.phases(), layers.back()));
  return layers;
}

/// One way through a phase between two of its states, by their numbers.
struct StateEdge {
  std::size_t to = 0;
  double seconds = 0;
};

/// All states before each phase that can be reached, and the ways from them to those before the next phase.
struct StateGraph {
  std::vector<std::size_t> states; ///< how many
  std::vector<std::vector<StateEdge>> edges;
  struct Ways { ///< edges first .. end-1 from one state
    std::size_t from = 0, first = 0, end = 0;
  };
  std::vector<std::vector<Ways>> ways_from;
  bool is_whole = true; ///< else there are more states before some phase than were looked for

  explicit StateGraph(PhaseMachine& machine, std::size_t most = most_states)
      : edges(at(machine.phases())), ways_from(edges.size()) {
    std::vector<std::pair<int, std::size_t>> open{{0, machine.number_of(0, machine.start())}};
    while (!open.empty() && is_whole) {
      const auto [phase, from] = open.back();
      open.pop_back();
      const int next = machine.next(phase);
      const std::size_t first = edges[at(phase)].size(), known = machine.numbers(next);
      for (const Transition& way : machine.from(phase, from)) edges[at(phase)].push_back({way.after, way.seconds});
      for (std::size_t number = known; number < machine.numbers(next); ++number) open.emplace_back(next, number);
      is_whole = machine.numbers(next) <= most;
      ways_from[at(phase)].push_back({from, first, edges[at(phase)].size()});
    }
    for (int phase = 0; phase < machine.phases(); ++phase) states.push_back(machine.numbers(phase));
  }

  /// The least seconds of a cycle that begins before phase `first` with state `from`, to each state.
  std::vector<double> cycle_s(std::size_t first, std::size_t from) const {
    std::vector<double> here(states[first], infinity), next;
    here[from] = 0;
    for (std::size_t k = 0; k < states.size(); ++k) {
      const std::size_t phase = (first + k) % states.size();
      next.assign(states[(phase + 1) % states.size()], infinity);
      for (const Ways& ways : ways_from[phase]) { // few states are reached from one
        const double begun = here[ways.from];
        if (begun == infinity) continue;
        for (std::size_t e = ways.first; e < ways.end; ++e) {
          const StateEdge& edge = edges[phase][e];
          next[edge.to] = std::min(next[edge.to], begun + edge.seconds);
        }
      }
      here.swap(next);
    }
    return here;
  }
};

/// A graph of all states at one place of the cycle: an edge is a cycle of phases.
struct CycleGraph {
  std::size_t nodes = 0;
  std::vector<double> weights; ///< row-major, infinity for none

  CycleGraph(const StateGraph& graph, std::size_t first) : nodes(graph.states[first]) {
    weights.reserve(nodes * nodes);
    for (std::size_t u = 0; u < nodes; ++u) {
      const std::vector<double> row = graph.cycle_s(first, u);
      weights.insert(weights.end(), row.begin(), row.end());
    }
  }
  double weight(std::size_t from, std::size_t to) const { return weights[from * nodes + to]; }
};

/// The steps of least seconds for so many cycles, a cycle at a time: what cycles take between the states at their
/// beginning is worked out once.
class ManyCycles {
public:
  ManyCycles(PhaseMachine& machine, const StateGraph& graph) : machine_(machine), g_(graph, 0) {}

  std::vector<PhaseStep> steps(std::int64_t cycles) {
    find_least(cycles);
    std::vector<std::size_t> nodes{first_least(after(cycles))};
    for (std::int64_t k = cycles; k > 0; --k) nodes.push_back(before(after(k - 1), nodes.back()));
    std::vector<PhaseStep> all;
    all.reserve(at(cycles) * at(machine_.phases()));
    for (std::size_t k = nodes.size() - 1; k > 0; --k) {
      const std::vector<PhaseStep>& cycle = steps_between(nodes[k], nodes[k - 1]);
      all.insert(all.end(), cycle.begin(), cycle.end());
    }
    return all;
  }

private:
  using Seconds = std::vector<double>; ///< to each node, more than to the one that is reached first

  /// From the start, after 0, 1, 2, ... cycles. After the same seconds the same ones follow.
  void find_least(std::int64_t cycles) {
    constexpr std::size_t looked_back = 8;
    least_ = {Seconds(g_.nodes, infinity)};
    least_[0][machine_.number_of(0, machine_.start())] = 0;
    for (std::int64_t k = 0; k < cycles && repeated_ == 0; ++k) {
      Seconds next(g_.nodes, infinity);
      for (std::size_t u = 0; u < g_.nodes; ++u) {
        const double begun = least_.back()[u];
        if (begun == infinity) continue;
        const double* weights = g_.weights.data() + u * g_.nodes;
        double* there = next.data();
        for (std::size_t v = 0; v < g_.nodes; ++v) there[v] = std::min(there[v], begun + weights[v]);
      }
      const double first = next[first_least(next)];
      for (double& seconds : next) seconds -= first;
      for (std::size_t back = 1; back <= std::min(looked_back, least_.size()) && repeated_ == 0; ++back)
        if (least_[least_.size() - back] == next) repeated_ = back;
      least_.push_back(std::move(next));
    }
  }
  const Seconds& after(std::int64_t cycles) const {
    const std::size_t k = at(cycles), known = least_.size();
    return least_[k < known ? k : known - repeated_ + (k - known) % repeated_];
  }
  static std::size_t first_least(const Seconds& seconds) {
    return at(std::min_element(seconds.begin(), seconds.end()) - seconds.begin());
  }
  std::size_t before(const Seconds& begun, std::size_t v) const {
    std::size_t best = 0;
    for (std::size_t u = 1; u < g_.nodes; ++u)
      if (begun[u] + g_.weight(u, v) < begun[best] + g_.weight(best, v)) best = u;
    return best;
  }

  /// Of one cycle.
  const std::vector<PhaseStep>& steps_between(std::size_t from, std::size_t to) {
    const auto [found, is_new] = steps_.try_emplace({from, to});
    if (!is_new) return found->second;
    const auto [layers, is_first] = layers_.try_emplace(from);
    if (is_first) layers->second = one_cycle(machine_, 0, machine_.state(0, from), machine_.phases());
    const Layer& last = layers->second.back();
    const auto end = std::find_if(last.begin(), last.end(), [&](const Reached& r) { return r.number == to; });
    return found->second = steps_of(machine_, layers->second, 0, at(end - last.begin()));
  }

  PhaseMachine& machine_;
  CycleGraph g_;
  std::vector<Seconds> least_;
  std::size_t repeated_ = 0; ///< the last so many of least_ come again and again; 0: none are known to
  std::map<std::size_t, std::vector<Layer>> layers_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<PhaseStep>> steps_;
};

/// The same, a phase at a time, for few cycles or many states: of a layer only what may be part of the best is kept.
std::vector<PhaseStep> steps_by_phases(PhaseMachine& machine, std::int64_t cycles) {
  std::vector<Layer> layers{{{machine.start(), machine.number_of(0, machine.start()), 0, -1, -1}}};
  for (std::int64_t cycle = 0; cycle < cycles; ++cycle)
    for (int phase = 0; phase < machine.phases(); ++phase) {
      layers.push_back(advance(machine, phase, layers.back()));
      prune(layers.back());
    }
  const Layer& last = layers.back();
  const auto best = std::min_element(last.begin(), last.end(),
                                     [](const Reached& a, const Reached& b) { return a.seconds < b.seconds; });
  return steps_of(machine, layers, 0, at(best - last.begin()));
}

std::vector<PhaseStep> least_steps(PhaseMachine& machine, std::int64_t cycles) {
  constexpr std::int64_t most_nodes = 512;
  if (cycles > 1) { // a row of its table costs as much as a cycle
    const StateGraph graph(machine, at(std::min(cycles, most_nodes)));
    if (graph.is_whole) return ManyCycles(machine, graph).steps(cycles);
  }
  return steps_by_phases(machine, cycles);
}

/// The nodes of a cycle of least mean weight, in order. Source: Karp, A characterization of the minimum cycle mean in a
/// digraph, Discrete Mathematics 23, 1978. Walks may start anywhere.
std::vector<std::size_t> least_mean_cycle(const CycleGraph& g) {
  const std::size_t n = g.nodes;
  std::vector<std::vector<double>> walk(n + 1, std::vector<double>(n, infinity)); // lightest of k edges to each node
  std::fill(walk[0].begin(), walk[0].end(), 0.0);
  for (std::size_t k = 1; k <= n; ++k)
    for (std::size_t u = 0; u < n; ++u) {
      const double* weights = g.weights.data() + u * n;
      double* lightest = walk[k].data();
      const double begun = walk[k - 1][u];
      for (std::size_t v = 0; v < n; ++v) lightest[v] = std::min(lightest[v], begun + weights[v]);
    }
  const auto before = [&](std::size_t k, std::size_t v) {
    std::size_t u = 0;
    while (walk[k - 1][u] + g.weight(u, v) > walk[k][v]) ++u; // one of them is the sum that was taken
    return u;
  };
  double least = infinity;
  std::size_t end = n;
  for (std::size_t v = 0; v < n; ++v) {
    if (walk[n][v] == infinity) continue;
    double most = -infinity;
    for (std::size_t k = 0; k < n; ++k)
      if (walk[k][v] < infinity) most = std::max(most, (walk[n][v] - walk[k][v]) / static_cast<double>(n - k));
    if (most < least) {
      least = most;
      end = v;
    }
  }
  // the walk of n edges to it goes through a cycle of that mean; with rounding: the best of those that it goes through
  std::vector<std::size_t> path;
  for (std::size_t k = n, v = end;; v = before(k--, v)) {
    path.push_back(v);
    if (k == 0) break;
  }
  std::reverse(path.begin(), path.end());
  std::vector<std::size_t> best;
  double best_mean = infinity;
  for (std::size_t i = 0; i < path.size(); ++i) {
    double sum = 0;
    for (std::size_t j = i + 1; j < path.size(); ++j) {
      sum += g.weight(path[j - 1], path[j]);
      if (path[j] != path[i]) continue;
      if (const double mean = sum / static_cast<double>(j - i); mean < best_mean) {
        best_mean = mean;
        best.assign(path.begin() + static_cast<std::ptrdiff_t>(i), path.begin() + static_cast<std::ptrdiff_t>(j));
      }
      break;
    }
  }
  return best;
}

/// From the entries, each with what it took to come there, to a node of the cycle: the way that loses least against
/// going round the cycle all the time. Nodes in order.
std::vector<std::size_t> way_to(const CycleGraph& g, const std::vector<double>& entries,
                                const std::vector<std::size_t>& cycle, double mean) {
  std::vector<double> lost = entries;
  std::vector<std::size_t> before(g.nodes, g.nodes);
  const auto is_on_cycle = [&](std::size_t v) { return std::find(cycle.begin(), cycle.end(), v) != cycle.end(); };
  for (std::size_t round = 0; round < g.nodes; ++round) {
    bool has_changed = false;
    for (std::size_t u = 0; u < g.nodes; ++u) {
      if (lost[u] == infinity || is_on_cycle(u)) continue; // there it is at its end
      for (std::size_t v = 0; v < g.nodes; ++v) {
        const double there = lost[u] + g.weight(u, v) - mean;
        if (!(there < lost[v] - 1e-12 * std::abs(mean))) continue;
        lost[v] = there;
        before[v] = u;
        has_changed = true;
      }
    }
    if (!has_changed) break;
  }
  // entering at another node of the cycle costs what the cycle is ahead or behind there
  std::size_t end = cycle[0];
  double least = infinity, ahead = 0;
  for (std::size_t k = 0; k < cycle.size(); ++k) {
    if (lost[cycle[k]] - ahead < least) {
      least = lost[cycle[k]] - ahead;
      end = cycle[k];
    }
    ahead += g.weight(cycle[k], cycle[(k + 1) % cycle.size()]) - mean;
  }
  std::vector<std::size_t> way;
  for (std::size_t v = end; v != g.nodes; v = before[v]) way.push_back(v);
  std::reverse(way.begin(), way.end());
  return way;
}

class Endless {
public:
  explicit Endless(const PhaseProblem& problem) : machine_(problem), graph_(machine_) {
    for (int p = 1; p < machine_.phases(); ++p)
      if (graph_.states[at(p)] < graph_.states[at(first_)]) first_ = p;
  }

  PhasePlan plan() {
    const CycleGraph g(graph_, at(first_));
    std::vector<std::size_t> cycle = least_mean_cycle(g);
    double sum = 0;
    for (std::size_t k = 0; k < cycle.size(); ++k) sum += g.weight(cycle[k], cycle[(k + 1) % cycle.size()]);
    const double mean = sum / static_cast<double>(cycle.size());

    const std::vector<Layer> entry = one_cycle(machine_, 0, machine_.start(), first_);
    std::vector<double> entries(g.nodes, infinity);
    for (const Reached& r : entry.back()) entries[r.number] = r.seconds;
    const std::vector<std::size_t> way = way_to(g, entries, cycle, mean);
    PhasePlan plan;
    const auto entered = std::find_if(entry.back().begin(), entry.back().end(),
                                      [&](const Reached& r) { return r.number == way.front(); });
    plan.steps = steps_of(machine_, entry, 0, at(entered - entry.back().begin()));
    for (std::size_t k = 1; k < way.size(); ++k) add(plan, way[k - 1], way[k]);
    plan.lead_in = plan.steps.size();
    std::rotate(cycle.begin(), std::find(cycle.begin(), cycle.end(), way.back()), cycle.end());
    for (std::size_t k = 0; k < cycle.size(); ++k) add(plan, cycle[k], cycle[(k + 1) % cycle.size()]);
    plan.period = static_cast<int>(cycle.size());
    plan.cycle_s = mean;
    plan.seconds = sum_of(plan.steps);
    return plan;
  }

private:
  void add(PhasePlan& plan, std::size_t from, std::size_t to) {
    const std::vector<Layer> layers = one_cycle(machine_, first_, machine_.state(first_, from), machine_.phases());
    const auto end =
        std::find_if(layers.back().begin(), layers.back().end(), [&](const Reached& r) { return r.number == to; });
    const std::vector<PhaseStep> steps = steps_of(machine_, layers, first_, at(end - layers.back().begin()));
    plan.steps.insert(plan.steps.end(), steps.begin(), steps.end());
  }

  PhaseMachine machine_;
  StateGraph graph_;
  int first_ = 0; ///< the place of the cycle with the fewest states
};

} // namespace

double redistribution_s(const std::vector<double>& compute_s, const std::vector<double>& move_s) {
  if (compute_s.empty() || compute_s.size() != move_s.size())
    bad_phases(fmt::format("{} times of computing and {} of moving, expected as many, and at least one",
                           compute_s.size(), move_s.size()),
               Status::shape_mismatch);
  double together = 0;
  for (std::size_t k = 0; k < compute_s.size(); ++k) together = std::max(together, compute_s[k] + move_s[k]);
  return together - *std::max_element(compute_s.begin(), compute_s.end());
}

PhasePlan plan_phases(const PhaseProblem& problem, std::int64_t cycles) {
  PhaseMachine machine(problem);
  if (cycles < 0 || cycles > most_layers / machine.phases())
    bad_phases(fmt::format("{} cycles, expected 0 .. {}; longer runs are endless ones", cycles,
                           most_layers / machine.phases()));
  PhasePlan plan;
  plan.steps = least_steps(machine, cycles);
  plan.seconds = sum_of(plan.steps);
  plan.lead_in = plan.steps.size();
  plan.cycle_s = cycles > 0 ? plan.seconds / static_cast<double>(cycles) : 0;
  return plan;
}

PhasePlan plan_endless_phases(const PhaseProblem& problem) {
  return Endless(problem).plan();
}

PhasePlan published_phases(const PhaseProblem& problem, bool unrolled) {
  PhaseMachine machine(problem);
  struct Vertex {
    bool is_there = false;
    double seconds = 0;
    Copies state = 0;
    std::vector<PhaseStep> steps;
  };
  const auto candidates = [&](int phase) { return problem.phases[at(phase)].candidates.size(); };
  PhasePlan best;
  best.seconds = infinity;
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
    Vertex end = shortest(k, machine.as_in(0, static_cast<int>(k), machine.start()));
    if (unrolled) end = shortest(k, end.state); // in the state in which a cycle leaves the data
    if (end.seconds >= best.seconds) continue;
    best.seconds = best.cycle_s = end.seconds;
    best.steps.assign(end.steps.begin(), end.steps.end() - 1);
  }
  best.period = 1;
  return best;
}

} // namespace gridmap
