// SPDX-License-Identifier: BSD-3-Clause
// Makes a plan from the times of the phases: process 0 of the grid plans, all follow.
#include <algorithm>

#include "advise/phase_trials.hpp"
#include "base/index.hpp"
#include "grid/phases.hpp"
#include "processes/mpi_util.hpp"

// What of a plan goes to all.
namespace advise {
template <class Archive> void fields(Archive& a, PhaseStep& step) {
  a(step.phase, step.candidate, step.copied_from, step.seconds, step.move_s);
}
template <class Archive> void fields(Archive& a, PhasePlan& plan) {
  a(plan.steps, plan.lead_in);
}
} // namespace advise

namespace blacs_dyn {

using base::at;
using base::Error;
using base::Status;

/// Of each phase the numbers of the candidates that have times, in the order in which they are planned.
std::vector<std::vector<int>> Phases::known() const {
  std::vector<std::vector<int>> list(candidates_.size());
  for (std::size_t p = 0; p < candidates_.size(); ++p)
    for (int k = 0; k < static_cast<int>(candidates_[p].size()); ++k)
      if (trials_.has_times(static_cast<int>(p), k)) list[p].push_back(k);
  return list;
}

void Phases::plan(std::int64_t cycles) {
  const char* const routine = "blacs-dyn: dyngrid_phases_plan";
  if (!grid_.has_me()) throw Error(Status::bad_state, "{}: before the first resize point of a new process", routine);
  const auto checked = [&] {
    if (cycles < 0)
      throw Error(Status::bad_argument, "{}: cycles is {}, expected those that are left, or 0 for a run without an end",
                  routine, cycles);
    if (open_ >= 0 || !is_laid_out())
      throw Error(Status::bad_state, "{}: expected after a cycle of phases on this grid, and between them", routine);
    const std::vector<std::vector<int>> list = known();
    for (std::size_t p = 0; p < list.size(); ++p)
      if (list[p].empty() && !(ended_ && ended_->phase == static_cast<int>(p)))
        throw Error(Status::bad_state, "{}: phase \"{}\" has not run on this grid, expected one cycle before", routine,
                    phases_[p]->name);
    return cycles;
  };
  together_on_number(grid_.comm(), checked,
                     "blacs-dyn: dyngrid_phases_plan: called with different numbers of cycles on different processes");
  settle();
  plan_for(cycles);
}

/// Collective; all candidates of known() are planned.
void Phases::plan_for(std::int64_t cycles) {
  const MPI_Comm comm = grid_.comm();
  const int size = grid_.shape().size(), rank = grid_.rank();
  const std::vector<std::vector<int>> tried = known();
  std::vector<double> mine, all;
  together(comm, [&] {
    for (int p = 0; p < static_cast<int>(tried.size()); ++p)
      for (const int k : tried[at(p)]) {
        const advise::UsualTime& runs = candidates_[at(p)][at(k)].seconds;
        const double own = runs.count() < advise::PhaseRules().tries ? trials_.typical_s(p, k) : runs.seconds();
        mine.push_back(std::min(own, trials_.typical_s(p, k)) * trials_.hope(p, k));
      }
    all.resize(rank == 0 ? mine.size() * at(size) : 0);
  });
  const auto count = static_cast<int>(mine.size());
  check_mpi(MPI_Gather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm), "MPI_Gather");
  Packet packet;
  together(comm, [&] {
    if (rank != 0) return;
    const advise::PhaseProblem asked = problem(all, size);
    advise::PhasePlan planned = cycles == 0 ? advise::plan_endless_phases(asked) : advise::plan_phases(asked, cycles);
    if (cycles > 0) planned.lead_in = planned.steps.size() - phases_.size(); // longer than announced: the last cycle
    for (advise::PhaseStep& step : planned.steps) step.candidate = tried[at(step.phase)][at(step.candidate)];
    packet.put(planned);
  });
  broadcast(packet.bytes(), 0, comm);
  plan_ = packet.get<advise::PhasePlan>();
  for (advise::PhaseStep& step : plan_.steps) // what is expected, not what is hoped for
    step.seconds += trials_.typical_s(step.phase, step.candidate) * (1 - trials_.hope(step.phase, step.candidate));
  cursor_ = 0;
  is_endless_ = cycles == 0;
  remember_single_runs();
  trials_.planned(plan_.steps,
                  [&](int p, int c) -> const std::vector<int>& { return candidates_[at(p)][at(c)].layouts; });
  tell_of_plan();
}

/// seconds: of every process those of all candidates that were tried.
advise::PhaseProblem Phases::problem(const std::vector<double>& seconds, int processes) const {
  advise::PhaseProblem asked;
  std::int64_t in_use = 0;
  for (const Shared& shared : shared_) {
    asked.matrices.push_back({shared.matrix->name, static_cast<int>(shared.copies.size()), shared.copy_bytes()});
    asked.start.push_back(shared.now);
    in_use += shared.copy_bytes();
  }
  asked.memory_bytes = keep_bytes_ < 0 ? -1 : keep_bytes_ + in_use;
  const auto tried = known();
  const std::size_t columns = seconds.size() / at(processes);
  std::size_t column = 0;
  for (std::size_t p = 0; p < phases_.size(); ++p) {
    advise::Phase phase;
    phase.name = phases_[p]->name;
    phase.uses.assign(shared_.size(), advise::PhaseUse::none);
    for (const Phase::Use& use : phases_[p]->uses)
      phase.uses[shared_of(use.matrix)] = use.use == DYNGRID_READ    ? advise::PhaseUse::read
                                          : use.use == DYNGRID_WRITE ? advise::PhaseUse::write
                                                                     : advise::PhaseUse::read_write;
    for (const int k : tried[p]) {
      advise::PhaseCandidate candidate{{}, candidates_[p][at(k)].layouts, {}};
      for (std::size_t r = 0; r < at(processes); ++r) candidate.seconds.push_back(seconds[r * columns + column]);
      // the slowest process changes from run to run: the longest of the typical times is less than the typical longest
      const double longest = *std::max_element(candidate.seconds.begin(), candidate.seconds.end());
      const double typical = trials_.typical_s(static_cast<int>(p), k) * trials_.hope(static_cast<int>(p), k);
      if (longest > 0 && longest < typical)
        for (double& each : candidate.seconds) each *= typical / longest;
      phase.candidates.push_back(std::move(candidate));
      ++column;
    }
    asked.phases.push_back(std::move(phase));
  }
  asked.move = [this, processes](int m, int from, int to) { return move_seconds(m, from, to, processes); };
  return asked;
}

/// As redist predicts, in proportion to what this move, or else the others, took.
std::vector<double> Phases::move_seconds(int shared, int from, int to, int processes) const {
  std::vector<double> each = predicted_seconds(plan_between(shared, from, to), processes);
  const double factor = trials_.move_factor({shared, from, to});
  for (double& seconds : each) seconds *= factor;
  return each;
}

} // namespace blacs_dyn
