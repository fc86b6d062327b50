// SPDX-License-Identifier: BSD-3-Clause
// The copies of matrices that there may be before each phase of a program, and the time of each phase from there. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "advise/phases.hpp"
#include "base/index.hpp"
#include "base/status.hpp"

namespace advise {

/// A state: one bit for each layout of each matrix in which there is a valid copy.
using Copies = std::uint64_t;

/// @throws base::Error, always
[[noreturn]] void bad_phases(const std::string& what, base::Status status = base::Status::bad_argument);

/// One way through a phase from a state.
struct Transition {
  int candidate = 0;
  std::size_t after = 0; ///< the number of the state before the next phase
  double seconds = 0;
};

/// Effect of a phase on states, and its seconds.
class PhaseMachine {
public:
  explicit PhaseMachine(const PhaseProblem& problem);

  int phases() const { return static_cast<int>(p_.phases.size()); }
  Copies start() const;

  /// A state by its number among those before its phase: a plan of many cycles comes to the same ones again and again.
  std::size_t number_of(int phase, Copies state);
  Copies state(int phase, std::size_t number) const { return nodes_[base::at(phase)][number].state; }
  std::size_t numbers(int phase) const { return nodes_[base::at(phase)].size(); }
  int next(int phase) const { return (phase + 1) % phases(); }

  /// All that may be done in a phase; of two sets of copies that can be kept, only what is not part of another.
  const std::vector<Transition>& from(int phase, std::size_t number);

  /// The copies that there are after a candidate's step.
  Copies after(int phase, int candidate, Copies before) const { return kept(phase, candidate, before)[0]; }

  /// A candidate's step from a state: every copy it needs is made of the one that lets it end first.
  PhaseStep step(int phase, int candidate, Copies before);

private:
  int matrices() const { return static_cast<int>(p_.matrices.size()); }
  PhaseUse uses(int phase, int m) const { return p_.phases[base::at(phase)].uses[base::at(m)]; }
  bool reads(int phase, int m) const {
    return uses(phase, m) == PhaseUse::read || uses(phase, m) == PhaseUse::read_write;
  }
  int layout(int phase, int candidate, int m) const {
    return p_.phases[base::at(phase)].candidates[base::at(candidate)].layouts[base::at(m)];
  }
  Copies bit(int m, int l) const { return Copies{1} << (offsets_[base::at(m)] + l); }
  Copies all_of(int m) const;

  /// Sources of the copies, one bit for each copy that is made, and the seconds with them.
  struct Sourced {
    Copies sources = 0;
    double seconds = std::numeric_limits<double>::infinity();
  };

  Sourced quickest(int phase, int candidate, Copies before);

  /// Of a candidate on the slowest process, with the copies that are made of `sources` first.
  double seconds_of(int phase, int candidate, Copies sources);

  /// For each process, for the copy that a candidate needs, of the layout that a bit stands for.
  const std::vector<double>& move_s(int phase, int candidate, int source);

  std::int64_t bytes(Copies state) const;

  /// The sets of copies that there may be after a phase: all that are valid, or, where they do not fit, what is kept.
  std::vector<Copies> kept(int phase, int candidate, Copies before) const;

  const PhaseProblem& p_;
  std::vector<int> offsets_;
  struct Node {
    Copies state;
    bool is_known;
    std::vector<Transition> ways;
  };
  std::vector<std::deque<Node>> nodes_; ///< by phase: what is known of one stays where it is
  std::vector<std::unordered_map<Copies, std::size_t>> numbers_;
  std::size_t states_ = 0;                                 ///< in nodes_
  std::map<std::tuple<int, int, Copies>, double> seconds_; ///< by phase, candidate and sources
  std::map<std::tuple<int, int, int>, std::vector<double>> moves_;
};

} // namespace advise
