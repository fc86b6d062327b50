// SPDX-License-Identifier: BSD-3-Clause
#include "grid/phases.hpp"

#include <algorithm>
#include <climits>

#include <fmt/format.h>

#include "base/fnv1a.hpp"
#include "base/index.hpp"
#include "grid/control.hpp"
#include "grid/copier.hpp"
#include "grid/machine_figures.hpp"
#include "grid/registered_name.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

using base::at;
using base::Error;
using base::Status;

namespace {

constexpr int most_candidates = 1 << 8; ///< of one phase

Error wrong(Status status, const char* routine, const std::string& text) {
  return Error(status, "blacs-dyn: {}: {}", routine, text);
}

} // namespace

// ---- declared

Phase* Phases::create(const char* name) {
  check_registered_name("dyngrid_phase_create", name);
  for (const auto& phase : phases_)
    if (phase->name == name)
      throw wrong(Status::bad_argument, "dyngrid_phase_create", fmt::format("there is a phase \"{}\" already", name));
  phases_.push_back(std::make_unique<Phase>());
  phases_.back()->name = name;
  forget();
  return phases_.back().get();
}

int Phases::index_of(const Phase* phase) const {
  const auto at = std::find_if(phases_.begin(), phases_.end(), [&](const auto& p) { return p.get() == phase; });
  return at == phases_.end() ? -1 : static_cast<int>(at - phases_.begin());
}

Phase& Phases::known(const char* routine, Phase* phase) const {
  if (!phase) throw wrong(Status::null_pointer, routine, "the phase is null");
  if (index_of(phase) < 0) throw wrong(Status::not_found, routine, "the handle is of no phase");
  return *phase;
}

Phase::Use& Phases::use_of(const char* routine, Phase* phase, Matrix* matrix) const {
  known(routine, phase);
  matrices_.require(routine, matrix);
  if (!matrix->is_ordinary())
    throw wrong(Status::unsupported, routine,
                fmt::format("matrix \"{}\" lies{}, expected one over the whole grid (DYNGRID_ON_GRID)", matrix->name,
                            matrix->lies_text()));
  auto& uses = phase->uses;
  const auto at = std::find_if(uses.begin(), uses.end(), [&](const auto& use) { return use.number == matrix->number; });
  if (at != uses.end()) return *at;
  // the one that was freed gives way to one of its name
  uses.erase(std::remove_if(uses.begin(), uses.end(),
                            [&](const auto& use) { return use.matrix_name == matrix->name && !is_living(use); }),
             uses.end());
  uses.push_back({matrix, matrix->number, matrix->name, 0, {}});
  return uses.back();
}

bool Phases::is_living(const Phase::Use& use) const {
  return matrices_.has(use.matrix) && use.matrix->number == use.number;
}

void Phases::use(Phase* phase, Matrix* matrix, int use) {
  if (use < DYNGRID_READ || use > (DYNGRID_READ | DYNGRID_WRITE))
    throw wrong(Status::bad_argument, "dyngrid_phase_uses",
                fmt::format("use is {}, expected DYNGRID_READ ({}), DYNGRID_WRITE ({}) or both", use,
                            static_cast<int>(DYNGRID_READ), static_cast<int>(DYNGRID_WRITE)));
  use_of("dyngrid_phase_uses", phase, matrix).use = use;
  forget();
}

void Phases::offer(Phase* phase, Matrix* matrix, AxisRule rows, AxisRule cols, int order) {
  Phase::Use& use = use_of("dyngrid_phase_layout", phase, matrix);
  rows.n = matrix->rows.n;
  cols.n = matrix->cols.n;
  rows.check("dyngrid_phase_layout");
  cols.check("dyngrid_phase_layout");
  use.offered.push_back({rows, cols, order});
  forget();
}

void Phases::Shared::was_written() {
  for (std::size_t k = 0; k < copies.size(); ++k) copies[k].is_valid = static_cast<int>(k) == now;
}

/// Which of them; their number when it is none.
std::size_t Phases::shared_of(const Matrix* matrix) const {
  const auto found = std::find_if(shared_.begin(), shared_.end(), [&](const Shared& s) { return s.matrix == matrix; });
  return static_cast<std::size_t>(found - shared_.begin());
}

void Phases::freed(const Matrix* matrix) {
  if (shared_of(matrix) < shared_.size()) forget();
}

// ---- layouts and candidates on this grid

bool Phases::has_order() const {
  for (const auto& phase : phases_)
    for (const Phase::Use& use : phase->uses)
      for (const OfferedLayout& offered : use.offered)
        if (offered.order != 0) return true;
  return false;
}

std::vector<double> Phases::shares_now() const {
  if (!has_order()) return {};
  const GridMap& grid = grid_.map();
  std::vector<double> shares(grid.row_shares.begin(), grid.row_shares.end());
  shares.insert(shares.end(), grid.col_shares.begin(), grid.col_shares.end());
  return shares;
}

/// And no other routine has moved a matrix since, nor given a process another speed that matters.
bool Phases::is_laid_out() const {
  const auto is_there = [](const Shared& s) {
    const redist::Layout &known = s.copies[at(s.now)].layout, &now = s.matrix->layout;
    return now.rows == known.rows && now.cols == known.cols;
  };
  return !candidates_.empty() && shares_ == shares_now() && std::all_of(shared_.begin(), shared_.end(), is_there);
}

void Phases::forget() {
  moves_.clear();
  plan_ = {};
  cursor_ = 0;
  candidates_.clear();
  shared_.clear();
  open_ = -1;
  trials_ = {};
  ended_.reset();
}

void Phases::clear() {
  forget();
  phases_.clear();
}

std::int64_t Phases::Shared::copy_bytes() const {
  return matrix->rows.n * matrix->cols.n * static_cast<std::int64_t>(element_bytes(matrix->type));
}

/// The number of this layout; a new one unless the matrix has it already.
int Phases::layout_number(Shared& shared, const OfferedLayout& offered) {
  const GridMap& grid = grid_.map();
  const redist::Layout layout = layout_on(grid, offered.rows, offered.cols, offered.order);
  for (std::size_t k = 0; k < shared.copies.size(); ++k) {
    const redist::Layout& other = shared.copies[k].layout;
    if (other.rows == layout.rows && other.cols == layout.cols) return static_cast<int>(k);
  }
  const redist::LocalSize size = shared.matrix->local_size_on(layout, grid_.rank());
  shared.copies.push_back({layout, layout, size, {}});
  return static_cast<int>(shared.copies.size()) - 1;
}

/// Local. The first layout of each matrix is the one that it has now.
void Phases::lay_out() {
  forget();
  try {
    for (const auto& phase : phases_)
      for (const Phase::Use& use : phase->uses) {
        if (!is_living(use))
          throw wrong(Status::not_found, "dyngrid_phase_begin",
                      fmt::format("a matrix of phase \"{}\" was freed", phase->name));
        const std::size_t m = shared_of(use.matrix);
        if (m == shared_.size()) {
          const Matrix& a = *use.matrix;
          shared_.push_back(Shared{use.matrix, {}, 0, a.writes});
          shared_.back().copies.push_back({a.layout, {}, a.local_size, {}, true});
        }
        for (const OfferedLayout& offered : use.offered) layout_number(shared_[m], offered);
      }
    list_candidates();
    shares_ = shares_now();
  } catch (...) {
    forget();
    throw;
  }
}

/// Of each phase, one for each choice among the layouts of its matrices.
void Phases::list_candidates() {
  std::size_t all = 0;
  for (const Shared& shared : shared_) all += shared.copies.size();
  if (all > at(advise::most_phase_layouts))
    throw wrong(Status::unsupported, "dyngrid_phase_begin",
                fmt::format("the phases have {} layouts of all matrices on this grid, expected at most {}: leave some "
                            "of them out",
                            all, advise::most_phase_layouts));
  for (const auto& phase : phases_) {
    std::vector<Candidate> list(1);
    list[0].layouts.assign(shared_.size(), -1);
    for (const Phase::Use& use : phase->uses) {
      const std::size_t m = shared_of(use.matrix);
      std::vector<int> layouts;
      for (const OfferedLayout& offered : use.offered) layouts.push_back(layout_number(shared_[m], offered));
      if (layouts.empty())
        for (std::size_t k = 0; k < shared_[m].copies.size(); ++k) layouts.push_back(static_cast<int>(k));
      std::sort(layouts.begin(), layouts.end());
      layouts.erase(std::unique(layouts.begin(), layouts.end()), layouts.end());
      if (list.size() * layouts.size() > most_candidates)
        throw wrong(
            Status::unsupported, "dyngrid_phase_begin",
            fmt::format("the layouts of phase \"{}\" make more than {} combinations", phase->name, most_candidates));
      std::vector<Candidate> longer;
      for (const Candidate& one : list)
        for (const int layout : layouts) {
          longer.push_back(one);
          longer.back().layouts[m] = layout;
        }
      list = std::move(longer);
    }
    candidates_.push_back(std::move(list));
  }
  std::vector<std::size_t> counts;
  for (const auto& list : candidates_) counts.push_back(list.size());
  trials_ = advise::PhaseTrials(counts);
}

std::int64_t Phases::fingerprint_of_all() const {
  base::Fnv1a hash;
  for (const auto& phase : phases_) {
    hash.text(phase->name);
    for (const Phase::Use& use : phase->uses) hash.text(use.matrix->name).number(use.use);
  }
  for (const Shared& shared : shared_)
    for (const Copy& copy : shared.copies) hash.number(fingerprint({&copy.layout}));
  return hash.positive();
}

// ---- run

void Phases::check_begin(const Phase* phase) const {
  if (open_ >= 0)
    throw wrong(
        Status::bad_state, "dyngrid_phase_begin",
        fmt::format("phase \"{}\" was begun, expected its end before \"{}\"", phases_[at(open_)]->name, phase->name));
  if (phase->uses.empty())
    throw wrong(Status::bad_state, "dyngrid_phase_begin",
                fmt::format("phase \"{}\" uses no matrix, expected dyngrid_phase_uses before", phase->name));
  for (const Phase::Use& use : phase->uses)
    if (use.use == 0)
      throw wrong(Status::bad_state, "dyngrid_phase_begin",
                  fmt::format("phase \"{}\" has layouts of \"{}\" and no use, expected dyngrid_phase_uses before",
                              phase->name, use.matrix->name));
}

void Phases::begin(Phase* phase) {
  if (!grid_.has_me())
    throw wrong(Status::bad_state, "dyngrid_phase_begin",
                "before the first resize point of a new process: its matrices have no content yet");
  const MPI_Comm comm = grid_.comm();
  bool is_new = false;
  const auto checked = [&] {
    is_new = !is_laid_out();
    known("dyngrid_phase_begin", phase);
    if (is_new && open_ < 0) lay_out();
    check_begin(phase);
    return base::Fnv1a().number(index_of(phase)).number(is_new ? fingerprint_of_all() : 0).positive();
  };
  try {
    together_on_number(
        comm, checked,
        "blacs-dyn: dyngrid_phase_begin: the processes begin different phases, or declared them differently");
  } catch (...) {
    if (is_new && open_ < 0) forget(); // so that the next call finds all processes alike
    throw;
  }
  const int p = index_of(phase);
  redist::Executor& executor = copier_.executor(); // collective the first time
  if (is_new) machine_.measure_once(comm, executor);
  const double t0 = MPI_Wtime();
  if (is_new) {
    try {
      recall();
    } catch (...) {
      forget();
      throw;
    }
  }
  for (Shared& shared : shared_)
    if (std::exchange(shared.writes, shared.matrix->writes) != shared.matrix->writes) shared.was_written();
  settle();
  if (p == 0 && (plan_.steps.empty() ? trials_.is_all_tried() : is_endless_ && trials_.is_outdated())) plan_for(0);
  last_ = {};
  last_.is_planned = plan_.steps.empty() ? 0 : 1;
  chosen_ = choose(p);
  const auto& list = candidates_[at(p)];
  last_.candidate = chosen_;
  last_.candidates = static_cast<int>(list.size());
  go_to(p, list[at(chosen_)]);
  open_ = p;
  begun_s_ = MPI_Wtime();
  last_.move_s = begun_s_ - t0;
}

void Phases::end(Phase* phase) {
  if (open_ < 0 || index_of(phase) != open_)
    throw wrong(Status::bad_state, "dyngrid_phase_end",
                open_ < 0
                    ? "no phase was begun, expected dyngrid_phase_begin before"
                    : fmt::format("the phase that was begun is \"{}\", expected its end", phases_[at(open_)]->name));
  last_.seconds = MPI_Wtime() - begun_s_;
  ended_ = Ended{open_, chosen_, last_.seconds};
  open_ = -1;
}

std::size_t Phases::step_behind(std::size_t step) const {
  return step + 1 < plan_.steps.size() ? step + 1 : plan_.lead_in;
}

/// The plan's next candidate of that phase, wherever the program goes on in its cycle. Before there is a plan the first
/// one that was tried least often.
int Phases::choose(int phase) {
  copy_from_.assign(shared_.size(), -1);
  if (plan_.steps.empty()) return trials_.next(phase).value_or(0);
  for (std::size_t k = 0; k < plan_.steps.size() && plan_.steps[cursor_].phase != phase; ++k)
    cursor_ = step_behind(cursor_);
  const advise::PhaseStep& step = plan_.steps[cursor_];
  last_.predicted_s = step.seconds;
  copy_from_ = step.copied_from;
  cursor_ = step_behind(cursor_);
  return step.candidate;
}

/// Every matrix of the phase into its layout, in which it has a valid copy, or is about to be overwritten.
void Phases::go_to(int phase, const Candidate& candidate) {
  make_room(phase, candidate);
  try {
    fill_and_take(phase, candidate);
  } catch (...) {
    give_back_spare_of_program();
    throw;
  }
  trim();
}

/// Of the program's memory, which has one array of a matrix besides that in a change. Local, the same on all processes.
void Phases::give_back_spare_of_program() {
  for (Shared& shared : shared_)
    for (std::size_t k = 0; k < shared.copies.size(); ++k) {
      Copy& copy = shared.copies[k];
      if (!shared.matrix->is_adopted || static_cast<int>(k) == shared.now) continue;
      copy.array.clear();
      copy.is_allocated = copy.is_valid = false;
    }
}

void Phases::fill_and_take(int phase, const Candidate& candidate) {
  for (const Phase::Use& use : phases_[at(phase)]->uses) {
    const std::size_t m = shared_of(use.matrix);
    Shared& shared = shared_[m];
    const int to = candidate.layouts[m];
    if (to != shared.now) {
      if (!shared.copies[at(to)].is_valid && (use.use & DYNGRID_READ) != 0) {
        const int planned = copy_from_[m];
        const bool is_there = planned >= 0 && shared.copies[at(planned)].is_valid;
        fill(static_cast<int>(m), is_there ? planned : shared.now, to);
      }
      take(static_cast<int>(m), to);
    }
    if ((use.use & DYNGRID_WRITE) != 0) shared.was_written();
  }
}

/// Arrays for the layouts that have none. Collective where one has: all know it.
void Phases::make_room(int phase, const Candidate& candidate) {
  const auto each_missing = [&](auto&& call) {
    for (const Phase::Use& use : phases_[at(phase)]->uses) {
      const std::size_t m = shared_of(use.matrix);
      const int to = candidate.layouts[m];
      if (to == shared_[m].now) continue;
      Copy& copy = shared_[m].copies[at(to)];
      if (!copy.is_allocated) call(shared_[m], copy);
    }
  };
  bool is_one_missing = false;
  each_missing([&](Shared&, Copy&) { is_one_missing = true; });
  if (!is_one_missing) return;
  std::vector<std::pair<Shared*, Copy*>> missing;
  std::vector<LocalArray> arrays;
  together(grid_.comm(), [&] {
    each_missing([&](Shared& shared, Copy& copy) { missing.emplace_back(&shared, &copy); });
    for (const auto& [shared, copy] : missing) arrays.push_back(shared->matrix->array_of(copy->size));
  });
  for (std::size_t k = 0; k < missing.size(); ++k) {
    missing[k].second->array = std::move(arrays[k]);
    missing[k].second->is_allocated = true;
  }
}

redist::Plan Phases::plan_between(int shared, int from, int to) const {
  const Shared& s = shared_[at(shared)];
  return {s.copies[at(from)].layout, s.copies[at(to)].layout, copier_.plan_options(s.matrix->type)};
}

/// Of each process. The same on all processes: what a move took in proportion to it decides when all plan again.
std::vector<double> Phases::predicted_seconds(const redist::Plan& plan, int processes) {
  return plan.predicted_seconds_of_ranks(plan.options().machine, plan.options().element_bytes, processes);
}

Phases::Move& Phases::move_between(int shared, int from, int to) {
  const auto known = moves_.find({shared, from, to});
  if (known != moves_.end() && known->second.exchange) return known->second;
  const char type = shared_[at(shared)].matrix->type;
  Move* kept = nullptr;
  together(grid_.comm(), [&] {
    Move made;
    const redist::Plan plan = plan_between(shared, from, to);
    const std::vector<double> each = predicted_seconds(plan, grid_.shape().size());
    made.predicted_s = *std::max_element(each.begin(), each.end());
    made.moved_bytes = plan.totals().moved_elements * plan.options().element_bytes;
    made.plan = plan.for_rank(grid_.rank(), type);
    made.pointers.resize(1);
    kept = &(moves_[{shared, from, to}] = std::move(made));
    kept->plans.push_back(&kept->plan);
  });
  kept->exchange.emplace(redist::Exchange::prepare(kept->plans, copier_.executor()));
  return *kept;
}

/// On the slowest process. Collective.
double Phases::longest_of(double mine) const {
  double longest = 0;
  check_mpi(MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, grid_.comm()), "MPI_Allreduce");
  return longest;
}

/// The copy in layout `to`, of the valid one in layout `from`.
void Phases::fill(int shared, int from, int to) {
  Shared& s = shared_[at(shared)];
  Move& move = move_between(shared, from, to);
  Copy &source = s.copies[at(from)], &copy = s.copies[at(to)];
  const bool is_in_use = from == s.now;
  const double t0 = MPI_Wtime();
  move.pointers[0] = {is_in_use ? s.matrix->local.data() : source.array.data(),
                      is_in_use ? s.matrix->lld() : source.size.lld(), copy.array.data(), copy.size.lld()};
  move.exchange->run(move.pointers);
  const double seconds = longest_of(MPI_Wtime() - t0);
  copy.is_valid = true;
  last_.moved_bytes += move.moved_bytes;
  if (move.predicted_s > 0) trials_.moved({shared, from, to}, seconds / move.predicted_s);
  if (control_) control_->state().phase_took(key_of(MoveKey{shared, from, to}), seconds);
}

/// The copy in layout `to` becomes the matrix. Local.
void Phases::take(int shared, int to) {
  Shared& s = shared_[at(shared)];
  Copy& before = s.copies[at(s.now)];
  Copy& now = s.copies[at(to)];
  if (s.matrix->is_adopted) { // the program has one array of it: place() has it free the old one
    before.is_allocated = before.is_valid = false;
  } else {
    before.array = std::move(s.matrix->local);
    before.is_allocated = true;
  }
  before.spare = std::move(s.matrix->layout);
  s.matrix->place(std::move(now.spare), now.size, std::move(now.array), s.matrix->context());
  now.is_valid = true;
  s.now = to;
  copier_.forget(); // not as a change of the matrices: to a balance a step is a step
}

/// Copies beside those in use go until the rest may be kept: what is not valid first, then what the plan wants last.
/// Local, the same on all processes.
void Phases::trim() {
  if (keep_bytes_ < 0) return;
  for (;;) {
    std::int64_t kept = 0;
    Copy* victim = nullptr;
    int latest = -1;
    for (std::size_t m = 0; m < shared_.size(); ++m)
      for (std::size_t k = 0; k < shared_[m].copies.size(); ++k) {
        Copy& copy = shared_[m].copies[k];
        if (static_cast<int>(k) == shared_[m].now || !copy.is_allocated) continue;
        kept += shared_[m].copy_bytes();
        const int used_next = copy.is_valid ? next_use(static_cast<int>(m), static_cast<int>(k)) : INT_MAX;
        if (used_next <= latest) continue;
        latest = used_next;
        victim = &copy;
      }
    if (kept <= keep_bytes_ || !victim) return;
    victim->array.clear();
    victim->is_allocated = victim->is_valid = false;
  }
}

/// In how many steps of the plan; a large number when in none.
int Phases::next_use(int shared, int layout) const {
  std::size_t next = cursor_;
  for (std::size_t k = 0; k < plan_.steps.size(); ++k) {
    const advise::PhaseStep& step = plan_.steps[next];
    const Candidate& c = candidates_[at(step.phase)][at(step.candidate)];
    if (c.layouts[at(shared)] == layout) return static_cast<int>(k);
    next = step_behind(next);
  }
  return INT_MAX - 1;
}

} // namespace blacs_dyn
