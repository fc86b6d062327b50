// SPDX-License-Identifier: BSD-3-Clause
#include "advise/phases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "advise/phase_machine.hpp"
#include "base/index.hpp"

namespace advise {
namespace {

using base::at;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t most_layers = 1000000;

/// A state that a layer of the dynamic programme has reached, and how.
struct Reached {
  Copies state = 0;
  std::size_t number = 0; ///< of the state, before the phase that follows
  double seconds = 0;
  int before = -1; ///< in the layer before
  int candidate = -1;
};
using Layer = std::vector<Reached>;
using Layers = std::vector<std::shared_ptr<const Layer>>; ///< shared by cycles that repeat

bool is_earlier(const Reached& a, const Reached& b) {
  return a.seconds < b.seconds;
}

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

/// The steps that led to a state of the last layer, by its number; layers[k] is before phase (first + k) mod phases.
std::vector<PhaseStep> steps_to(PhaseMachine& machine, const Layers& layers, int first, std::size_t number) {
  const Layer& last = *layers.back();
  const Reached* reached =
      &*std::find_if(last.begin(), last.end(), [&](const Reached& r) { return r.number == number; });
  std::vector<PhaseStep> steps;
  for (std::size_t k = layers.size() - 1; k > 0; --k) {
    const int phase = static_cast<int>((at(first) + k - 1) % at(machine.phases()));
    const Reached* const before = &(*layers[k - 1])[at(reached->before)];
    steps.push_back(machine.step(phase, reached->candidate, before->state));
    reached = before;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

double sum_of(const std::vector<PhaseStep>& steps) {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](double s, const PhaseStep& step) { return s + step.seconds; });
}

/// Phases from phase `first` on, from one state: all layers, without leaving any state out.
Layers layers_from(PhaseMachine& machine, int first, Copies state, int phases) {
  Layers layers{std::make_shared<Layer>(Layer{Reached{state, machine.number_of(first, state), 0, -1, -1}})};
  for (int k = 0; k < phases; ++k)
    layers.push_back(std::make_shared<Layer>(advance(machine, (first + k) % machine.phases(), *layers.back())));
  return layers;
}

/// Numbers all states before each phase that can be reached.
void find_states(PhaseMachine& machine) {
  std::vector<std::pair<int, std::size_t>> open{{0, machine.number_of(0, machine.start())}};
  while (!open.empty()) {
    const auto [phase, from] = open.back();
    open.pop_back();
    const int next = machine.next(phase);
    const std::size_t known = machine.numbers(next);
    machine.from(phase, from);
    for (std::size_t number = known; number < machine.numbers(next); ++number) open.emplace_back(next, number);
  }
}

/// A graph of all states before phase `first`, after find_states: an edge is a cycle of phases.
struct CycleGraph {
  std::size_t nodes = 0;
  std::vector<double> weights; ///< row-major, infinity for none

  CycleGraph(PhaseMachine& machine, int first) : nodes(machine.numbers(first)), weights(nodes * nodes, infinity) {
    for (std::size_t u = 0; u < nodes; ++u) {
      const Layers layers = layers_from(machine, first, machine.state(first, u), machine.phases());
      for (const Reached& r : *layers.back()) weights[u * nodes + r.number] = r.seconds;
    }
  }
  double weight(std::size_t from, std::size_t to) const { return weights[from * nodes + to]; }
};

/// Makes the seconds of a layer those above its least.
void compare_with_least(Layer& layer) {
  const double least = std::min_element(layer.begin(), layer.end(), is_earlier)->seconds;
  for (Reached& r : layer) r.seconds -= least;
}

bool are_equal(const Layer& a, const Layer& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Reached& x, const Reached& y) { return x.state == y.state && x.seconds == y.seconds; });
}

/// The steps of least seconds for a number of cycles. Of a layer only what may be part of the best is kept.
///
/// The seconds of a layer before a cycle are those above its least. What follows depends on its states and seconds
/// alone: after two equal layers the cycles between them repeat exactly, and are not worked out again. A layer is
/// compared with the last one that was reached after 1, 2, 4, ... cycles, which finds every period (Brent).
std::vector<PhaseStep> least_steps(PhaseMachine& machine, std::int64_t cycles) {
  const std::size_t phases = at(machine.phases()), steps = at(cycles) * phases;
  Layers layers = layers_from(machine, 0, machine.start(), 0);
  std::size_t compared = 0, repeated = 0; // a layer by its place, and how many at the end repeat
  while (layers.size() <= steps && repeated == 0) {
    for (int phase = 0; phase < machine.phases(); ++phase) {
      Layer next = advance(machine, phase, *layers.back());
      prune(next);
      if (machine.next(phase) == 0) compare_with_least(next);
      layers.push_back(std::make_shared<Layer>(next)); // a copy has no room to grow
    }
    const std::size_t end = layers.size() - 1, cycle = end / phases;
    if (are_equal(*layers[end], *layers[compared])) repeated = end - compared;
    if ((cycle & (cycle - 1)) == 0) compared = end;
  }
  while (layers.size() <= steps) layers.push_back(layers[layers.size() - repeated]);
  const Layer& last = *layers.back();
  return steps_to(machine, layers, 0, std::min_element(last.begin(), last.end(), is_earlier)->number);
}

/// The nodes of a cycle of least mean weight, in order. Source: Karp, A characterization of the minimum cycle mean in a
/// digraph, Discrete Mathematics 23, 1978. Walks may start anywhere.
std::vector<std::size_t> least_mean_cycle(const CycleGraph& g) {
  const std::size_t n = g.nodes;
  std::vector<std::vector<double>> walk(n + 1, std::vector<double>(n, infinity)); // lightest of k edges to each node
  std::fill(walk[0].begin(), walk[0].end(), 0.0);
  for (std::size_t k = 1; k <= n; ++k)
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = 0; v < n; ++v) walk[k][v] = std::min(walk[k][v], walk[k - 1][u] + g.weight(u, v));
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

} // namespace

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
  PhaseMachine machine(problem);
  find_states(machine);
  int first = 0; // the place of the cycle with the fewest states
  for (int p = 1; p < machine.phases(); ++p)
    if (machine.numbers(p) < machine.numbers(first)) first = p;
  const CycleGraph g(machine, first);
  std::vector<std::size_t> cycle = least_mean_cycle(g);
  double sum = 0;
  for (std::size_t k = 0; k < cycle.size(); ++k) sum += g.weight(cycle[k], cycle[(k + 1) % cycle.size()]);
  const double mean = sum / static_cast<double>(cycle.size());

  const Layers entry = layers_from(machine, 0, machine.start(), first);
  std::vector<double> entries(g.nodes, infinity);
  for (const Reached& r : *entry.back()) entries[r.number] = r.seconds;
  const std::vector<std::size_t> way = way_to(g, entries, cycle, mean);
  PhasePlan plan;
  plan.steps = steps_to(machine, entry, 0, way.front());
  const auto add = [&](std::size_t from, std::size_t to) {
    const Layers layers = layers_from(machine, first, machine.state(first, from), machine.phases());
    const std::vector<PhaseStep> steps = steps_to(machine, layers, first, to);
    plan.steps.insert(plan.steps.end(), steps.begin(), steps.end());
  };
  for (std::size_t k = 1; k < way.size(); ++k) add(way[k - 1], way[k]);
  plan.lead_in = plan.steps.size();
  std::rotate(cycle.begin(), std::find(cycle.begin(), cycle.end(), way.back()), cycle.end());
  for (std::size_t k = 0; k < cycle.size(); ++k) add(cycle[k], cycle[(k + 1) % cycle.size()]);
  plan.period = static_cast<int>(cycle.size());
  plan.cycle_s = mean;
  plan.seconds = sum_of(plan.steps);
  return plan;
}

} // namespace advise
