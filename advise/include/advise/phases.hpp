// SPDX-License-Identifier: BSD-3-Clause
// An application is a cycle of phases, and each would like its matrices to lie another way: which layout each phase is
// to have, with the price of moving. Pure.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace advise {

/// The use of a matrix by a phase.
enum class PhaseUse {
  none,
  read,      ///< needs a valid copy in its layout; copies elsewhere stay valid
  write,     ///< overwrites all of it: nothing is moved, its copy is the only valid one
  read_write ///< both
};

/// A matrix that the phases share. Its layouts are known by their number.
struct PhaseMatrix {
  std::string name;
  int layouts = 1;
  std::int64_t copy_bytes = 0; ///< of one copy, all processes together
};

/// One way to carry out a phase.
struct PhaseCandidate {
  std::string name;
  std::vector<int> layouts;    ///< of each matrix; not looked at where the phase does not use it
  std::vector<double> seconds; ///< of each process, finite, at least 0
};

struct Phase {
  std::string name;
  std::vector<PhaseUse> uses; ///< of each matrix
  std::vector<PhaseCandidate> candidates;
};

/// Seconds of each process to make a copy of `matrix` in layout `to` of one in layout `from`. Asked once for each pair.
using PhaseMove = std::function<std::vector<double>(int matrix, int from, int to)>;

constexpr int most_phase_layouts = 64;

struct PhaseProblem {
  std::vector<PhaseMatrix> matrices; ///< at most most_phase_layouts of all of them together
  std::vector<Phase> phases;         ///< of a cycle, in order
  PhaseMove move;
  std::vector<int> start;         ///< where each matrix lies before the first phase
  std::int64_t memory_bytes = -1; ///< for all copies while a phase runs; -1: any
};

struct PhaseStep {
  int phase = 0, candidate = 0;
  std::vector<int> copied_from; ///< of each matrix: the layout that a copy is made of first; -1: none is made
  double seconds = 0;           ///< with the copies: max over processes of both together
  double move_s = 0;            ///< what the copies add to the candidate's own seconds
};

struct PhasePlan {
  std::vector<PhaseStep> steps;
  double seconds = 0; ///< of all steps
  /// For endless runs: steps lead_in .. end are repeated; they are `period` cycles of `cycle_s` seconds each.
  std::size_t lead_in = 0;
  int period = 0;
  double cycle_s = 0;
};

/// The plan with the least seconds for a number of cycles. Exact: a layered dynamic programme over the layouts in which
/// each matrix has a valid copy; copies are dropped only where the memory wants it. Cost: states of a layer *
/// candidates for each phase of each cycle, until cycles repeat.
/// @throws Error{bad_argument, shape_mismatch}; out_of_memory where a phase's own copies do not fit; unsupported above
/// most_phase_layouts or 2^20 states
PhasePlan plan_phases(const PhaseProblem& problem, std::int64_t cycles);

/// The plan with the least seconds a cycle for runs without an end: the minimum mean cycle of the same states, which
/// may be several cycles of phases long, after Karp 1978; before it the way from the start that loses least.
/// @throws as plan_phases
PhasePlan plan_endless_phases(const PhaseProblem& problem);

} // namespace advise
