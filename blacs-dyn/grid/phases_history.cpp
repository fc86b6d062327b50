// SPDX-License-Identifier: BSD-3-Clause
// The times of phases and their moves: process 0 writes them to the history, and all read them back from it.
#include <algorithm>

#include <fmt/format.h>

#include "base/index.hpp"
#include "base/parse_json.hpp"
#include "grid/control.hpp"
#include "grid/phases.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

using base::at;

namespace {

struct Recalled { ///< a candidate of a phase, or a move of a matrix
  int which = 0, from = -1, to = 0;
  double seconds = 0;
};

} // namespace

/// "64x64"; for one that has no block size, its distinguishing name.
std::string Phases::layout_name(int shared, int layout) const {
  const redist::Layout& l = shared_[at(shared)].copies[at(layout)].layout;
  if (l.rows.is_uniform() && l.cols.is_uniform() && l.rows.src == 0 && l.cols.src == 0)
    return fmt::format("{}x{}", l.rows.sizes[0], l.cols.sizes[0]);
  return fmt::format("uneven-{:08x}", fingerprint({&l}) & 0xffffffff);
}

std::string Phases::layouts_name(const Candidate& candidate) const {
  std::string text;
  for (std::size_t m = 0; m < shared_.size(); ++m)
    if (candidate.layouts[m] >= 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", shared_[m].matrix->name,
                          layout_name(static_cast<int>(m), candidate.layouts[m]));
  return text;
}

control::PhaseKey Phases::key_of(int phase, int candidate) const {
  const auto& list = candidates_[at(phase)];
  return {grid_.shape(), phases_[at(phase)]->name, "", layouts_name(list[at(candidate)])};
}

control::PhaseKey Phases::key_of(const MoveKey& move) const {
  const auto [shared, from, to] = move;
  return {grid_.shape(), shared_[at(shared)].matrix->name, layout_name(shared, from), layout_name(shared, to)};
}

/// The phase that ended last: how long it took on the slowest process. Collective, where all have ended it.
void Phases::settle() {
  if (!ended_) return;
  const auto [phase, candidate, seconds] = *ended_;
  ended_.reset();
  const double longest = longest_of(seconds);
  advise::UsualTime& own = candidates_[at(phase)][at(candidate)].seconds;
  const bool is_first = own.count() == 0;
  own.add(seconds);
  trials_.took(phase, candidate, longest);
  if (control_ && !is_first) control_->state().phase_took(key_of(phase, candidate), longest);
}

/// Stores the candidates that ran only once on this grid before the plan, as they were too slow for a second time.
void Phases::remember_single_runs() {
  if (!control_) return;
  const control::PhaseTimes known = control_->state().phases();
  for (int p = 0; p < static_cast<int>(candidates_.size()); ++p)
    for (int c = 0; c < static_cast<int>(candidates_[at(p)].size()); ++c) {
      if (candidates_[at(p)][at(c)].seconds.count() != 1) continue;
      const control::PhaseKey key = key_of(p, c);
      if (known.count(key) == 0) control_->state().phase_took(key, trials_.typical_s(p, c));
    }
}

/// Collective, when the layouts are new: what earlier runs, or this one on an earlier stay on this grid, know of them.
void Phases::recall() {
  const MPI_Comm comm = grid_.comm();
  std::vector<Recalled> list;
  Packet packet;
  together(comm, [&] {
    if (grid_.rank() != 0) return;
    if (control_) {
      control_->know(matrices_);
      const control::PhaseTimes known = control_->state().phases();
      const auto recalled = [&](const control::PhaseKey& key, Recalled what) {
        const auto at = known.find(key);
        if (at == known.end()) return;
        what.seconds = at->second.mean;
        list.push_back(what);
      };
      for (int p = 0; p < static_cast<int>(candidates_.size()); ++p)
        for (int c = 0; c < static_cast<int>(candidates_[at(p)].size()); ++c) recalled(key_of(p, c), {p, -1, c, 0});
      for (int m = 0; m < static_cast<int>(shared_.size()) && !known.empty(); ++m) {
        const int layouts = static_cast<int>(shared_[at(m)].copies.size());
        for (int from = 0; from < layouts; ++from)
          for (int to = 0; to < layouts; ++to)
            if (from != to) recalled(key_of(MoveKey{m, from, to}), {m, from, to, 0});
      }
    }
    packet.put(list);
  });
  broadcast(packet.bytes(), 0, comm);
  list = packet.get_vector<Recalled>();
  if (list.empty()) return;
  together(comm, [&] {
    for (const auto& [which, from, to, seconds] : list) {
      if (from < 0) {
        trials_.knows(which, to, seconds);
        continue;
      }
      const std::vector<double> each = move_seconds(which, from, to, grid_.shape().size());
      const double predicted = *std::max_element(each.begin(), each.end()) / trials_.move_factor({which, from, to});
      if (predicted > 0) trials_.knows_move({which, from, to}, seconds / predicted);
    }
  });
}

/// For the clients that watch: what is expected of each phase of a cycle.
void Phases::tell_of_plan() const {
  if (!control_) return;
  control::Json steps = control::Json::array();
  double cycle_s = 0;
  for (std::size_t k = plan_.lead_in; k < plan_.steps.size(); ++k) {
    const advise::PhaseStep& step = plan_.steps[k];
    const control::PhaseKey key = key_of(step.phase, step.candidate);
    steps.push_back(
        {{"phase", key.name}, {"layouts", key.layouts}, {"seconds", step.seconds}, {"move_s", step.move_s}});
    cycle_s += step.seconds;
  }
  const double cycles = static_cast<double>(steps.size()) / static_cast<double>(phases_.size());
  control_->state().phases_planned({{"steps", steps}, {"cycle_s", cycle_s / std::max(1.0, cycles)}});
}

} // namespace blacs_dyn
