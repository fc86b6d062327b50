// SPDX-License-Identifier: BSD-3-Clause
#include "advise/phases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

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

/// The same, to a state by its number.
std::vector<PhaseStep> steps_to(PhaseMachine& machine, const std::vector<Layer>& layers, int first,
                                std::size_t number) {
  const Layer& last = layers.back();
  const auto end = std::find_if(last.begin(), last.end(), [&](const Reached& r) { return r.number == number; });
  return steps_of(machine, layers, first, at(end - last.begin()));
}

double sum_of(const std::vector<PhaseStep>& steps) {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](double s, const PhaseStep& step) { return s + step.seconds; });
}

/// Phases from phase `first` on, from one state: all layers, without leaving any state out.
std::vector<Layer> layers_from(PhaseMachine& machine, int first, Copies state, int phases) {
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

  explicit StateGraph(PhaseMachine& machine, std::size_t most = std::numeric_limits<std::size_t>::max())
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

/// The steps of least seconds for a number of cycles, a cycle at a time: what cycles take between the states at their
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

  /// From the start, after 0, 1, 2, ... cycles. If a cycle has the same seconds as an earlier one, the following cycles
  /// repeat too.
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
    if (is_first) layers->second = layers_from(machine_, 0, machine_.state(0, from), machine_.phases());
    return found->second = steps_to(machine_, layers->second, 0, to);
  }

  PhaseMachine& machine_;
  CycleGraph g_;
  std::vector<Seconds> least_;
  std::size_t repeated_ = 0; ///< length of the end of least_ that repeats; 0: none is known to
  std::map<std::size_t, std::vector<Layer>> layers_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<PhaseStep>> steps_;
};

/// The same, a phase at a time, for few cycles or many states: of a layer only what may be part of the best is kept.
std::vector<PhaseStep> steps_by_phases(PhaseMachine& machine, std::int64_t cycles) {
  std::vector<Layer> layers = layers_from(machine, 0, machine.start(), 0);
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
  const StateGraph graph(machine);
  int first = 0; // the place of the cycle with the fewest states
  for (int p = 1; p < machine.phases(); ++p)
    if (graph.states[at(p)] < graph.states[at(first)]) first = p;
  const CycleGraph g(graph, at(first));
  std::vector<std::size_t> cycle = least_mean_cycle(g);
  double sum = 0;
  for (std::size_t k = 0; k < cycle.size(); ++k) sum += g.weight(cycle[k], cycle[(k + 1) % cycle.size()]);
  const double mean = sum / static_cast<double>(cycle.size());

  const std::vector<Layer> entry = layers_from(machine, 0, machine.start(), first);
  std::vector<double> entries(g.nodes, infinity);
  for (const Reached& r : entry.back()) entries[r.number] = r.seconds;
  const std::vector<std::size_t> way = way_to(g, entries, cycle, mean);
  PhasePlan plan;
  plan.steps = steps_to(machine, entry, 0, way.front());
  const auto add = [&](std::size_t from, std::size_t to) {
    const std::vector<Layer> layers = layers_from(machine, first, machine.state(first, from), machine.phases());
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
