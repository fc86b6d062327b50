// SPDX-License-Identifier: BSD-3-Clause
// The application's thread; the other one is in job_answers.cpp.
#include "control/job_state.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/parse_json.hpp"
#include "control/history_json.hpp"
#include "job_parts.hpp"

namespace control {
namespace {

using base::GridShape;
using base::Status;
using Lock = std::lock_guard<std::mutex>;

} // namespace

Json to_json(const ChangeReport& r) {
  Json json = members_of(r.cost);
  json.update({{"woken", r.woken},
               {"released", r.released},
               {"parked", r.parked},
               {"total_s", r.total_s},
               {"kept_bytes", r.kept_bytes}});
  return json;
}

JobState::JobState(JobInfo info, GridShape first_grid, double now)
    : info_(std::move(info)), first_grid_(first_grid), started_(now), grid_(first_grid),
      book_(&books_.open(size_, {})) {
  board.wake = [this] {
    if (wake) wake();
  };
}

JobState::~JobState() = default;

void JobState::step_ended(double now) {
  if (!is_in_step_) return;
  is_in_step_ = false;
  const double step_s = std::max(0.0, now - begun_);
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  owed_.push_back({step_s, panel_size_});
  if (!lock.owns_lock()) return; // the other thread reads: the application does not wait for it
  add_owed();
  events_.step(step_ - 1, grid_, step_s, now - started_);
}

void JobState::want_steps(bool requested) {
  const Lock lock(mutex_);
  events_.want_steps(requested);
}

/// The caller has the lock.
void JobState::add_owed() {
  for (const TimedStep& step : owed_) add_step(step);
  owed_.clear();
}

void JobState::add_step(const TimedStep& step) {
  ++step_;
  last_step_s_ = step.step_s;
  if (step.size < advise::BalanceRules().least_size) return;
  const double step_s = step.step_s / step.size;
  if (!stay_.add(step_s)) return;
  recent_.add(step_s);
  if (trial_) judge_trial();
  book_->add_step(grid_, step_s);
}

void JobState::judge_trial() {
  trial_->after = recent_;
  const advise::Trial::Decision decision = trial_->decision();
  if (decision == advise::Trial::Decision::open) return;
  if (decision == advise::Trial::Decision::slower) {
    const double was = trial_->before.seconds(), is = trial_->after.seconds();
    back_ = Back{trial_->from, {}};
    back_->why = fmt::format("{} takes {:.3g} s a step, {} took {:.3g}: back to {} (DYNGRID_DECIDE=undo=off leaves it)",
                             to_string(trial_->to), is, to_string(trial_->from), was, to_string(trial_->from));
    undone_[trial_->to] = {is, fmt::format("{} was tried and takes {:.3g} s a step, {} takes {:.3g}",
                                           to_string(trial_->to), is, to_string(trial_->from), was)};
    post({{"event", "undo"},
          {"request", trial_->number},
          {"from", to_json(trial_->to)},
          {"grid", to_json(trial_->from)},
          {"step_s", is},
          {"before_step_s", was}});
    settle();
  }
  trial_.reset();
}

void JobState::begin_panels(const std::string& of) {
  end_panels();
  {
    const Lock lock(mutex_);
    add_owed();
    outside_ = Outside{book_, true, begun_, is_in_step_, stay_};
  }
  is_in_step_ = false;
  panel_size_ = 1;
  open_book(size_, of);
  const Lock lock(mutex_);
  panels_left_ = -1;
  book_->know_changes_of(*outside_->book);
}

void JobState::panel(double size, std::int64_t left) {
  if (!outside_) return;
  panel_size_ = size;
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) panels_left_ = left; // else the next one passes it on
}

void JobState::end_panels() {
  if (!outside_) return;
  panel_size_ = 1;
  const Lock lock(mutex_);
  add_owed();
  const Outside before = *std::exchange(outside_, std::nullopt);
  book_ = before.book;
  panels_of_.clear();
  end_trial();
  stay_ = before.is_same_grid ? before.stay : advise::Stay{};
  begun_ = before.begun;
  is_in_step_ = before.is_same_grid && before.is_in_step;
}

/// Another change follows, or the measure of the steps has changed.
void JobState::end_trial() {
  trial_.reset();
  back_.reset();
  recent_.forget();
  settle();
}

void JobState::settle() {
  pending_.store(queue_.waiting().has_value() || (experiment_ && !is_moving_) || back_.has_value(),
                 std::memory_order_release);
}

template <class Report> void JobState::tell(Report&& report) {
  {
    const Lock lock(mutex_);
    report();
    settle();
  }
  if (wake) wake();
}

ResizeRequest JobState::hand_out(ResizeRequest request) {
  request.job_ = this;
  return request;
}

std::optional<ResizeRequest> JobState::own_request(ResizeRequest::Origin origin, GridShape to) {
  ResizeRequest request;
  request.origin = origin;
  request.to = to;
  return hand_out(std::move(request));
}

std::optional<ResizeRequest> JobState::want(double now) {
  look_at_deadlines(now);
  std::optional<ResizeRequest> request;
  advise::Situation here;
  {
    const Lock lock(mutex_);
    request = queue_.take();
    if (!request && back_) {
      auto back = own_request(ResizeRequest::Origin::undo, back_->to);
      back->why = back_->why;
      return back;
    }
    if (!request) {
      auto trial = experiment_wants();
      settle();
      return trial;
    }
    settle();
    here = situation();
    if (request->steps_before.count() == 0) request->steps_before = recent_;
  }
  const bool must_add = request->form == gridmap::Strategy::local && request->to != here.grid;
  if ((request->from != here.grid && (request->op != Operation::resize || must_add)) ||
      request->op == Operation::leave ||
      !request->without.is_empty()) { // the named processes may have joined and left on the same grid
    advise::Decision again;
    try {
      again = decide(here, *request);
    } catch (const base::Error& error) { // the other processes wait for this one
      again.why = error.what();
    }
    if (!again.is_accepted) {
      tell([&] { outcome(request->number, "declined", {{"reason", again.why}}); });
      return std::nullopt;
    }
    request->to = again.to;
    take_choice(*request, again);
  }
  const Lock lock(mutex_);
  under_way_.push_back(request->number);
  return hand_out(std::move(*request));
}

void JobState::take_back(ResizeRequest request) {
  bool is_superseded = false;
  {
    const Lock lock(mutex_);
    no_longer_under_way(request.number);
    is_superseded = request.origin == ResizeRequest::Origin::outside && queue_.waiting();
    if (request.origin == ResizeRequest::Origin::experiment)
      has_asked_ = is_moving_ = false;
    else if (is_superseded)
      outcome(request.number, "superseded", {{"by", queue_.waiting()->number}});
    else if (request.origin == ResizeRequest::Origin::outside)
      queue_.put_back(std::move(request));
    settle(); // a change to undo stays so
  }
  if (is_superseded && wake) wake();
}

void JobState::no_longer_under_way(std::int64_t number) {
  under_way_.erase(std::remove(under_way_.begin(), under_way_.end(), number), under_way_.end());
}

void JobState::end_change(const ResizeRequest* request, const ChangeReport& report, int parked, double now) {
  tell([&] {
    add_owed();
    if (outside_) outside_->is_same_grid = false;
    book_->leave(grid_, stay_.steps == 1 ? stay_.cold_s : std::nullopt);
    const bool is_from_outside = request && request->origin == ResizeRequest::Origin::outside;
    if (request) experiment_goes_on(*request);
    std::optional<advise::Trial> trial;
    const bool is_larger = report.cost.to.size() >= report.cost.from.size();
    if (is_from_outside && request->undo && is_larger && info_.undoes) {
      const std::size_t least = advise::TrialRules().least_before;
      const advise::UsualTime& steps = request->steps_before.count() >= least ? request->steps_before : recent_;
      if (steps.count() >= least)
        trial = advise::Trial{report.cost.from, report.cost.to, request->number, steps, advise::UsualTime()};
    }
    end_trial();
    trial_ = std::move(trial);
    grid_ = report.cost.to;
    parked_ = parked;
    stay_ = {};
    book_->know_change(report.cost);
    if (outside_) outside_->book->know_change(report.cost);
    book_of_changes().write_change(report.cost);
    last_change_ = {report, now - started_};
    Json event{{"event", "resize"}, {"from", to_json(report.cost.from)}, {"grid", to_json(grid_)},
               {"step", step_},     {"report", to_json(report)},         {"units", json_of(groups_)}};
    event["request"] = is_from_outside ? Json(request->number) : Json(nullptr);
    event["hosts"] = hosts_of(processes_);
    post(std::move(event));
    drop_ask();
    if (is_from_outside) {
      Json done{{"grid", to_json(grid_)}, {"report", to_json(report)}};
      if (!request->hosts.empty()) done["hosts"] = to_json(request->hosts);
      outcome(request->number, "done", std::move(done));
    }
  });
}

void JobState::end_failed(const ResizeRequest* request, GridShape to, Status status, const std::string& why) {
  tell([&] {
    if (request && request->origin == ResizeRequest::Origin::undo) end_trial(); // it is impossible
    if (request) experiment_goes_on(*request);
    Json more{{"grid", to_json(to)}, {"status", static_cast<int>(status)}, {"reason", why}};
    if (request && request->origin == ResizeRequest::Origin::outside) {
      outcome(request->number, "failed", std::move(more));
    } else {
      more["event"] = "failed";
      post(std::move(more));
    }
  });
}

void JobState::give_up(const ResizeRequest& request) noexcept {
  try {
    end_failed(&request, request.to, Status::internal, "given up: the request was not answered");
  } catch (const std::exception&) { // out of memory, while the request is destroyed
  }
}

void JobState::end_unchanged(const ResizeRequest& request) {
  tell([&] {
    if (request.origin == ResizeRequest::Origin::undo) end_trial();
    experiment_goes_on(request);
    if (request.origin == ResizeRequest::Origin::outside)
      outcome(request.number, "done", {{"grid", to_json(grid_)}, {"reason", "the grid is that already"}});
  });
}

void JobState::end_superseded(const ResizeRequest& request, std::int64_t by) {
  tell([&] {
    experiment_goes_on(request);
    if (request.origin == ResizeRequest::Origin::outside) outcome(request.number, "superseded", {{"by", by}});
  });
}

/// The caller has the lock.
std::optional<ResizeRequest> JobState::experiment_wants() {
  if (!experiment_ || is_moving_) return std::nullopt;
  const auto ask_for = [&](GridShape grid) {
    has_asked_ = is_moving_ = true;
    return own_request(ResizeRequest::Origin::experiment, grid);
  };
  while (tried_ < experiment_->grids.size()) {
    const GridShape turn = experiment_->grids[tried_];
    if (turn == grid_) {
      if (stay_.steps <= experiment_->steps) return std::nullopt; // more steps here
      if (const double step_s = *stay_.mean_s(); !quickest_ || step_s < quickest_->step_s)
        quickest_ = Tried{turn, step_s};
    } else if (!has_asked_) {
      return ask_for(turn);
    }
    has_asked_ = false; // measured, or not available
    if (++tried_ == experiment_->grids.size())
      post({{"event", "experiment"},
            {"grid", quickest_ ? to_json(quickest_->grid) : Json(nullptr)},
            {"step_s", quickest_ ? quickest_->step_s : 0}});
  }
  if (quickest_ && !(quickest_->grid == grid_)) return ask_for(quickest_->grid);
  experiment_.reset();
  return std::nullopt;
}

/// The caller has the lock. Its request was answered, the last one too.
void JobState::experiment_goes_on(const ResizeRequest& request) {
  if (request.origin != ResizeRequest::Origin::experiment) return;
  is_moving_ = false;
  if (experiment_ && tried_ == experiment_->grids.size()) experiment_.reset();
}

void JobState::set_matrices(Matrices matrices) {
  {
    const Lock lock(mutex_);
    matrix_bytes_ = matrices.bytes;
    planned_exchange_ = std::move(matrices.planned_exchange);
    used_grid_ = std::move(matrices.used_grid);
    each_matrix_ = matrices.each.empty() ? matrices.size : matrices.each;
    if (matrices.size == size_) return;
  }
  const std::string panels_of = panels_of_;
  end_panels();
  open_book(matrices.size, "");
  if (!panels_of.empty()) begin_panels(panels_of);
}

void JobState::set_machine(const advise::Machine& figures) {
  const Lock lock(mutex_);
  measured_ = unsaved_machine_ = figures;
}

std::optional<advise::Machine> JobState::figures() const {
  return measured_ ? measured_ : book_->known().machine;
}

advise::Machine JobState::machine() const {
  const Lock lock(mutex_);
  return figures().value_or(advise::Machine{});
}

/// The file is read without the lock.
void JobState::open_book(const std::string& size, const std::string& panels_of) {
  const std::string key = panels_of.empty() ? size : fmt::format("{}, panels of {}", size, panels_of);
  bool is_new = false, is_kept = true;
  {
    const Lock lock(mutex_);
    is_new = !books_.has(key);
    is_kept = !is_new || !books_.is_full();
  }
  History known;
  if (is_new && is_kept) known = read_history(info_.history_file, {info_.app, key, info_.machine});
  const Lock lock(mutex_);
  if (size != size_) undone_.clear(); // steps of another problem
  size_ = size;
  panels_of_ = panels_of;
  book_ = is_kept ? &books_.open(key, std::move(known)) : &books_.scratch(!panels_of.empty(), *book_);
  end_trial();
  stay_ = {};
}

void JobState::set_groups(std::vector<advise::GroupInfo> groups) {
  const Lock lock(mutex_);
  const int before = kept();
  groups_ = std::move(groups);
  if (kept() != before) tell_of_waiting();
}

void JobState::set_warm(int asleep, int starting) {
  const Lock lock(mutex_);
  if (warm_ == asleep && warm_starting_ == starting) return;
  warm_ = asleep;
  warm_starting_ = starting;
  tell_of_waiting();
}

/// In groups that sleep as a whole: they leave after a while.
int JobState::kept() const {
  int count = 0;
  for (const advise::GroupInfo& group : groups_) count += group.active == 0 ? group.processes : 0;
  return count;
}

void JobState::tell_of_waiting() {
  post({{"event", "waiting"}, {"warm", warm_}, {"starting", warm_starting_}, {"kept", kept()}});
}

void JobState::set_processes(std::vector<advise::ProcessInfo> processes, int npcol) {
  const Lock lock(mutex_);
  npcol_ = npcol;
  processes_ = std::move(processes);
  parked_ = static_cast<int>(
      std::count_if(processes_.begin(), processes_.end(), [](const advise::ProcessInfo& p) { return p.place < 0; }));
}

void JobState::set_allowed(advise::Allowed allowed) {
  const Lock lock(mutex_);
  allowed_ = std::move(allowed);
}

void JobState::set_steps(std::int64_t steps) {
  const Lock lock(mutex_);
  steps_ = steps;
}

void JobState::restored(std::int64_t steps) {
  is_in_step_ = false; // what was computed is gone
  const Lock lock(mutex_);
  add_owed();
  step_ = steps;
}

void JobState::set_experiment(advise::Experiment experiment) {
  const Lock lock(mutex_);
  experiment_ = std::move(experiment);
  tried_ = 0;
  has_asked_ = false;
  quickest_.reset();
  settle();
}

void JobState::balanced(const BalanceReport& report) {
  const Lock lock(mutex_);
  book_of_changes().add_balance(report);
}

void JobState::phase_took(const PhaseKey& phase, double seconds) {
  const Lock lock(mutex_);
  book_->add_phase(phase, seconds);
}

void JobState::phases_planned(Json plan) {
  const Lock lock(mutex_);
  plan["event"] = "phases";
  post(std::move(plan));
}

PhaseTimes JobState::phases() const {
  const Lock lock(mutex_);
  return book_->known().phases;
}

void JobState::save_history(bool is_end) {
  constexpr double wait_s = 0.2;
  std::map<std::string, HistoryEntries> parts;
  std::optional<advise::Machine> machine;
  HistoryKey key{info_.app, "", info_.machine};
  {
    const Lock lock(mutex_);
    parts = books_.take_unsaved(is_end);
    machine = std::exchange(unsaved_machine_, std::nullopt);
    key.size = size_;
  }
  if (machine && !info_.history_file.empty() && !append_machine(info_.history_file, key, *machine, wait_s)) {
    const Lock lock(mutex_);
    if (!unsaved_machine_) unsaved_machine_ = machine;
  }
  for (const auto& [size, part] : parts) {
    if (info_.history_file.empty() ||
        append_history(info_.history_file, {info_.app, size, info_.machine}, part, wait_s))
      continue;
    const Lock lock(mutex_);
    books_.put_back(size, part);
  }
}

advise::StepTable JobState::steps_by_grid() const {
  auto steps = book_->known().steps;
  if (stay_.cold_s && steps.find(grid_) == steps.end()) steps[grid_].add(*stay_.cold_s);
  return steps;
}

advise::Situation JobState::situation() const {
  advise::Situation s;
  s.grid = grid_;
  s.allowed = allowed_;
  s.groups = groups_;
  s.processes = processes_;
  s.cores = info_.cores;
  s.per_core = info_.per_core;
  s.parked = parked_;
  s.steps_left = left();
  s.steps = steps_by_grid();
  s.changes = book_->known().changes;
  s.spawns = book_->known().spawns;
  s.planned_exchange = planned_exchange_;
  s.used_grid = used_grid_;
  s.usual_spawn_s = advise::usual_spawn_s;
  return s;
}

void JobState::post(Json event) {
  events_.add(step_, std::move(event));
}

void JobState::outcome(std::int64_t number, const char* what, Json more) {
  no_longer_under_way(number);
  more["event"] = "outcome";
  more["request"] = number;
  more["outcome"] = what;
  post(std::move(more));
}

std::optional<CheckpointRequest> JobState::requested_checkpoint() const {
  if (!is_checkpoint_requested_.load(std::memory_order_acquire)) return std::nullopt;
  const Lock lock(mutex_);
  return checkpoint_;
}

std::optional<CheckpointRequest> JobState::take_checkpoint() {
  const Lock lock(mutex_);
  is_checkpoint_requested_.store(false, std::memory_order_release);
  return std::exchange(checkpoint_, std::nullopt);
}

void JobState::checkpointed(const CheckpointRequest& request, const std::string& path, const std::string& failure) {
  tell([&] {
    if (failure.empty())
      outcome(request.number, "done", {{"file", path}, {"ends", request.ends}});
    else
      outcome(request.number, "failed", {{"reason", failure}});
  });
}

std::optional<Grant> JobState::ask(const std::string& grids, bool waits, double patience_s) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (has_no_listener_) return std::nullopt;
  ask_ = Ask{++last_ask_, grids, waits, 0};
  grant_.reset();
  post({{"event", "asks"}, {"asks", to_json(*ask_)}});
  if (wake) wake();
  const auto is_answered = [&] { return grant_ || has_no_listener_; };
  if (patience_s < 0)
    answered_.wait(lock, is_answered);
  else
    answered_.wait_for(lock, std::chrono::duration<double>(patience_s), is_answered);
  const std::optional<Grant> grant = std::exchange(grant_, std::nullopt);
  if (!grant || grant->procs == 0) drop_ask();
  return grant;
}

void JobState::answers_no_more() {
  const Lock lock(mutex_);
  has_no_listener_ = true;
  answered_.notify_all();
}

void JobState::asks_no_more() {
  const Lock lock(mutex_);
  drop_ask();
}

void JobState::drop_ask() {
  if (!ask_) return;
  ask_.reset();
  post({{"event", "asks"}, {"asks", nullptr}});
  if (wake) wake();
}

std::int64_t JobState::left() const {
  if (outside_) return panels_left_;
  return steps_ > 0 ? std::max<std::int64_t>(0, steps_ - step_) : -1;
}

std::int64_t JobState::steps_left() const {
  const Lock lock(mutex_);
  return left();
}

double JobState::seconds_left() const {
  const Lock lock(mutex_);
  const double step_s = stay_.mean_s().value_or(-1);
  return left() >= 0 && step_s >= 0 ? static_cast<double>(left()) * step_s : -1;
}

advise::Allowed JobState::allowed() const {
  const Lock lock(mutex_);
  return allowed_;
}

advise::Cost JobState::change_cost(GridShape to, const advise::Cost& planned) const {
  const Lock lock(mutex_);
  return situation().change(grid_, to, 0, planned);
}

} // namespace control
