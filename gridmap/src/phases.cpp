// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/phases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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
  Copies after = 0;
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
    for (const Phase& phase : p_.phases) {
      longest_.emplace_back();
      for (const PhaseCandidate& c : phase.candidates)
        longest_.back().push_back(*std::max_element(c.seconds.begin(), c.seconds.end()));
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

  /// All that may be done in a phase; of two sets of copies that can be kept, only what is not part of another.
  const std::vector<Transition>& from(int phase, Copies before) {
    const auto [found, is_new] = known_.try_emplace({phase, before});
    if (!is_new) return found->second;
    std::vector<Transition> list;
    for (int c = 0; c < static_cast<int>(p_.phases[at(phase)].candidates.size()); ++c) {
      const double seconds = step(phase, c, before).seconds;
      for (const Copies after : kept(phase, c, before)) list.push_back({c, after, seconds});
    }
    if (known_.size() > most_states)
      bad_phases(fmt::format("there are more than {} states of copies", most_states), Status::unsupported);
    return known_[{phase, before}] = std::move(list);
  }

  /// The copies that there are after a candidate's step.
  Copies after(int phase, int candidate, Copies before) const { return kept(phase, candidate, before)[0]; }

  /// A candidate's step from a state: every copy it needs is made of the one that lets it end first.
  PhaseStep step(int phase, int candidate, Copies before) {
    std::vector<int> missing; // matrices
    for (int m = 0; m < matrices(); ++m) {
      const PhaseUse use = uses(phase, m);
      const bool is_read = use == PhaseUse::read || use == PhaseUse::read_write;
      if (is_read && (before & bit(m, layout(phase, candidate, m))) == 0) missing.push_back(m);
    }
    PhaseStep best;
    best.seconds = infinity;
    std::vector<int> sources(at(matrices()), -1);
    const auto choose = [&](auto self, std::size_t k) -> void {
      if (k == missing.size()) {
        const double seconds = seconds_of(phase, candidate, sources);
        if (seconds >= best.seconds) return;
        best.seconds = seconds;
        best.copied_from = sources;
        return;
      }
      const int m = missing[k];
      for (int l = 0; l < p_.matrices[at(m)].layouts; ++l) {
        if ((before & bit(m, l)) == 0) continue;
        sources[at(m)] = l;
        self(self, k + 1);
      }
      sources[at(m)] = -1;
    };
    choose(choose, 0);
    best.phase = phase;
    best.candidate = candidate;
    best.move_s = best.seconds - longest_[at(phase)][at(candidate)];
    return best;
  }

private:
  int matrices() const { return static_cast<int>(p_.matrices.size()); }
  PhaseUse uses(int phase, int m) const { return p_.phases[at(phase)].uses[at(m)]; }
  int layout(int phase, int candidate, int m) const {
    return p_.phases[at(phase)].candidates[at(candidate)].layouts[at(m)];
  }
  Copies bit(int m, int l) const { return Copies{1} << (offsets_[at(m)] + l); }
  Copies all_of(int m) const {
    const int n = p_.matrices[at(m)].layouts;
    return (n == 64 ? ~Copies{0} : (Copies{1} << n) - 1) << offsets_[at(m)];
  }

  double seconds_of(int phase, int candidate, const std::vector<int>& sources) {
    const PhaseCandidate& c = p_.phases[at(phase)].candidates[at(candidate)];
    if (std::all_of(sources.begin(), sources.end(), [](int s) { return s < 0; }))
      return longest_[at(phase)][at(candidate)];
    std::vector<int> key{phase, candidate};
    key.insert(key.end(), sources.begin(), sources.end());
    const auto [found, is_new] = costs_.try_emplace(std::move(key), 0);
    if (!is_new) return found->second;
    std::vector<const double*> moves;
    for (int m = 0; m < matrices(); ++m)
      if (sources[at(m)] >= 0) moves.push_back(move_s(m, sources[at(m)], c.layouts[at(m)]).data());
    constexpr std::size_t lanes = 8; // maxima side by side: each waits for the one before it
    std::array<double, lanes> most{}, own{};
    for (std::size_t first = 0; first < c.seconds.size(); first += lanes) {
      const std::size_t count = std::min(lanes, c.seconds.size() - first);
      for (std::size_t k = 0; k < count; ++k) own[k] = c.seconds[first + k];
      for (const double* move : moves)
        for (std::size_t k = 0; k < count; ++k) own[k] += move[first + k];
      for (std::size_t k = 0; k < count; ++k) most[k] = std::max(most[k], own[k]);
    }
    return found->second = *std::max_element(most.begin(), most.end());
  }

  const std::vector<double>& move_s(int m, int from, int to) {
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
  std::vector<std::vector<double>> longest_;
  std::map<std::pair<int, Copies>, std::vector<Transition>> known_;
  std::map<std::vector<int>, double> costs_;
  std::map<std::tuple<int, int, int>, std::vector<double>> moves_;
};

/// A state that a layer of the dynamic programme has reached, and how.
struct Reached {
  Copies state = 0;
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
  Layer next;
  std::unordered_map<Copies, std::size_t> index;
  for (std::size_t k = 0; k < layer.size(); ++k)
    for (const Transition& t : machine.from(phase, layer[k].state)) {
      const double seconds = layer[k].seconds + t.seconds;
      const auto [found, is_new] = index.try_emplace(t.after, next.size());
      if (is_new)
        next.push_back({t.after, seconds, static_cast<int>(k), t.candidate});
      else if (seconds < next[found->second].seconds)
        next[found->second] = {t.after, seconds, static_cast<int>(k), t.candidate};
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
  std::vector<Layer> layers{{{state, 0, -1, -1}}};
  for (int k = 0; k < phases; ++k) layers.push_back(advance(machine, (first + k) % machine.phases(), layers.back()));
  return layers;
}

/// States before each phase that can be reached.
std::vector<std::vector<Copies>> reachable(PhaseMachine& machine) {
  std::vector<std::vector<Copies>> states(at(machine.phases()));
  std::vector<std::unordered_map<Copies, bool>> seen(states.size());
  std::vector<std::pair<int, Copies>> open{{0, machine.start()}};
  std::size_t count = 0;
  while (!open.empty()) {
    const auto [phase, state] = open.back();
    open.pop_back();
    if (!seen[at(phase)].try_emplace(state, true).second) continue;
    states[at(phase)].push_back(state);
    if (++count > most_states)
      bad_phases(fmt::format("there are more than {} states of copies", most_states), Status::unsupported);
    for (const Transition& t : machine.from(phase, state)) open.emplace_back((phase + 1) % machine.phases(), t.after);
  }
  return states;
}

/// A graph of all states at one place of the cycle: an edge is a cycle of phases.
struct CycleGraph {
  std::size_t nodes = 0;
  std::vector<double> weights; ///< row-major, infinity for none
  double weight(std::size_t from, std::size_t to) const { return weights[from * nodes + to]; }
};

/// The nodes of a cycle of least mean weight, in order. Source: Karp, A characterization of the minimum cycle mean in a
/// digraph, Discrete Mathematics 23, 1978. Walks may start anywhere.
std::vector<std::size_t> least_mean_cycle(const CycleGraph& g) {
  const std::size_t n = g.nodes;
  std::vector<std::vector<double>> walk(n + 1, std::vector<double>(n, infinity)); // lightest of k edges to each node
  std::vector<std::vector<std::size_t>> before(n + 1, std::vector<std::size_t>(n, n));
  std::fill(walk[0].begin(), walk[0].end(), 0.0);
  for (std::size_t k = 1; k <= n; ++k)
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = 0; v < n; ++v)
        if (const double w = walk[k - 1][u] + g.weight(u, v); w < walk[k][v]) {
          walk[k][v] = w;
          before[k][v] = u;
        }
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
  for (std::size_t k = n, v = end;; v = before[k--][v]) {
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
  explicit Endless(const PhaseProblem& problem) : machine_(problem) {
    const auto states = reachable(machine_);
    for (int p = 1; p < machine_.phases(); ++p)
      if (states[at(p)].size() < states[at(first_)].size()) first_ = p;
    nodes_ = states[at(first_)];
    for (std::size_t k = 0; k < nodes_.size(); ++k) index_[nodes_[k]] = k;
  }

  PhasePlan plan() {
    CycleGraph g{nodes_.size(), std::vector<double>(nodes_.size() * nodes_.size(), infinity)};
    for (std::size_t u = 0; u < g.nodes; ++u) {
      const std::vector<Layer> layers = one_cycle(machine_, first_, nodes_[u], machine_.phases());
      for (const Reached& r : layers.back()) g.weights[u * g.nodes + index_.at(r.state)] = r.seconds;
    }
    std::vector<std::size_t> cycle = least_mean_cycle(g);
    double sum = 0;
    for (std::size_t k = 0; k < cycle.size(); ++k) sum += g.weight(cycle[k], cycle[(k + 1) % cycle.size()]);
    const double mean = sum / static_cast<double>(cycle.size());

    const std::vector<Layer> entry = one_cycle(machine_, 0, machine_.start(), first_);
    std::vector<double> entries(g.nodes, infinity);
    for (const Reached& r : entry.back()) entries[index_.at(r.state)] = r.seconds;
    const std::vector<std::size_t> way = way_to(g, entries, cycle, mean);
    PhasePlan plan;
    const auto entered = std::find_if(entry.back().begin(), entry.back().end(),
                                      [&](const Reached& r) { return r.state == nodes_[way.front()]; });
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
    const std::vector<Layer> layers = one_cycle(machine_, first_, nodes_[from], machine_.phases());
    const auto end = std::find_if(layers.back().begin(), layers.back().end(),
                                  [&](const Reached& r) { return r.state == nodes_[to]; });
    const std::vector<PhaseStep> steps = steps_of(machine_, layers, first_, at(end - layers.back().begin()));
    plan.steps.insert(plan.steps.end(), steps.begin(), steps.end());
  }

  PhaseMachine machine_;
  int first_ = 0; ///< the place of the cycle with the fewest states
  std::vector<Copies> nodes_;
  std::unordered_map<Copies, std::size_t> index_;
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
  std::vector<Layer> layers{{{machine.start(), 0, -1, -1}}};
  for (std::int64_t cycle = 0; cycle < cycles; ++cycle)
    for (int phase = 0; phase < machine.phases(); ++phase) {
      layers.push_back(advance(machine, phase, layers.back()));
      prune(layers.back());
    }
  const Layer& last = layers.back();
  const auto best = std::min_element(last.begin(), last.end(),
                                     [](const Reached& a, const Reached& b) { return a.seconds < b.seconds; });
  PhasePlan plan;
  plan.steps = steps_of(machine, layers, 0, at(best - last.begin()));
  plan.seconds = best->seconds;
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
        for (const Transition& t : machine.from(here, from.state)) {
          Vertex& to = next[at(t.candidate)];
          // back at the first phase only the moves count: its work was counted at the beginning
          const PhaseStep step = machine.step(here, t.candidate, from.state);
          const double seconds = from.seconds + (phase == machine.phases() ? step.move_s : step.seconds);
          if (to.is_there && to.seconds <= seconds) continue;
          to = {true, seconds, t.after, from.steps};
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
