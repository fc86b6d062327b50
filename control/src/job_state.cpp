// SPDX-License-Identifier: BSD-3-Clause
#include "control/job_state.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/statistics.hpp"
#include "base/text.hpp"
#include "control/history_json.hpp"
#include "gridmap/placement.hpp"

namespace control {
namespace {

using base::Error;
using base::Status;
using gridmap::GridShape;
using Lock = std::lock_guard<std::mutex>;

std::pair<int, int> key_of(GridShape s) {
  return {s.nprow, s.npcol};
}

gridmap::Placement placement_from(const Request& request, const std::string& name) {
  return gridmap::parse_placement(name.substr(0, 40), fmt::format("control: {}: \"placement\"", request.op));
}

std::vector<std::int64_t> groups_in(const Request& request) {
  const auto given = request.body->find("units");
  const auto is_number = [](const Json& value) { return value.is_number_integer() && value.get<std::int64_t>() > 0; };
  if (given == request.body->end() || !given->is_array() || given->empty() || given->size() > 1024 ||
      !std::all_of(given->begin(), given->end(), is_number))
    throw Error(Status::bad_argument,
                fmt::format("control: {}: \"units\" is {}, expected a list of numbers from 1", request.op,
                            given == request.body->end()
                                ? "missing"
                                : given->dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 80)));
  return given->get<std::vector<std::int64_t>>();
}

Decision decide(const Situation& here, const ResizeRequest& wish) {
  if (wish.op == Operation::resize && !wish.without.is_empty())
    return decide_resize_without(here, wish.to, wish.without, wish.force);
  if (wish.op == Operation::resize) return decide_resize(here, wish.to, wish.force);
  if (wish.op == Operation::grow && wish.offer) return decide_offer(here, *wish.offer, wish.force);
  if (wish.op == Operation::grow) return decide_grow(here, wish.by, wish.force);
  if (wish.op == Operation::leave) return decide_leave(here, wish.groups);
  return decide_shrink(here, wish.by);
}

void take_choice(ResizeRequest& wish, const Decision& decision) {
  if (!decision.choice) return;
  wish.hosts = decision.choice->hosts;
  wish.form = decision.choice->form;
}

/// What is offered, as far as the request says it by number or by host.
std::optional<Offer> offer_in(const Request& request, const char* number, std::int64_t& count) {
  constexpr std::int64_t most = 1 << 20;
  std::optional<Offer> offer = Offer::in(request);
  if (!offer || request.body->contains(number)) count = whole_number(request, number, 1, most);
  if (offer) offer->most = count;
  return offer;
}

Json json_of(const std::vector<GroupInfo>& groups) {
  Json list = Json::array();
  for (const GroupInfo& group : groups)
    list.push_back({{"unit", group.number}, {"processes", group.processes}, {"active", group.active}});
  return list;
}

Json json_of(const std::vector<ProcessInfo>& processes, int npcol) {
  Json list = Json::array();
  for (const ProcessInfo& p : processes) {
    list.push_back({{"process", p.id}, {"host", p.host}, {"unit", p.unit}, {"speed", p.speed}});
    list.back()["place"] = p.place < 0 ? Json(nullptr) : Json({p.place / npcol, p.place % npcol});
  }
  return list;
}

/// Where the processes of the grid are, by the names that were asked for; null: on too many hosts for one line.
Json hosts_of(const std::vector<ProcessInfo>& processes) {
  constexpr std::size_t most_hosts = 512;
  std::map<std::string, int> count;
  for (const ProcessInfo& p : processes)
    if (p.place >= 0) ++count[p.asked_host.empty() ? p.host : p.asked_host];
  if (count.size() > most_hosts) return nullptr;
  Json list = Json::array();
  for (const auto& [name, slots] : count) list.push_back({{"name", name}, {"slots", slots}});
  return list;
}

Json json_of(const Prediction& p) {
  return {{"seconds", p.seconds}, {"error", p.error}, {"measured", p.is_measured}, {"grids", p.grids}};
}

Json json_of(const gridmap::Cost& cost) {
  Json terms = Json::object();
  for (const gridmap::Term& term : cost.terms) terms[std::string(term.name)] = term.seconds;
  return terms;
}

Json json_of(const Forecast& f) {
  return {{"step_now", json_of(f.now)},     {"step_then", json_of(f.then)},
          {"spawn_s", f.spawn_s},           {"exchange_s", f.exchange_s()},
          {"other_s", f.other_s()},         {"resize_s", f.resize_s()},
          {"payoff_steps", f.payoff_steps}, {"payoff_steps_at_best", f.payoff_at_best},
          {"terms", json_of(f.change)}};
}

Json json_of(const ResizeRequest& p, double now) {
  Json json{{"request", p.number},
            {"op", to_string(p.op)},
            {"from", to_json(p.from)},
            {"grid", to_json(p.to)},
            {"late", p.is_late()}};
  json["deadline_s"] = p.deadline ? Json(*p.deadline - now) : Json(nullptr);
  return json;
}

Json json_of(const ChangeCost& c) {
  Json json = members_of(c);
  json["grid"] = to_json(c.to);
  return json;
}

/// Standard error of the mean by the median distance from the median, so that one step that was disturbed does not
/// count.
double scatter(const std::vector<double>& values) {
  const double middle = base::median(values);
  std::vector<double> apart;
  for (const double v : values) apart.push_back(std::abs(v - middle));
  return 1.4826 * base::median(std::move(apart)) / std::sqrt(static_cast<double>(values.size()));
}

} // namespace

Trial::Verdict Trial::verdict() const {
  if (before.size() < 2 || after.size() < least) return Verdict::open;
  const double was = base::median(before), is = base::median(after);
  if (is > 1.05 * was && is - was > 3 * std::hypot(scatter(before), scatter(after))) return Verdict::slower;
  return after.size() < most ? Verdict::open : Verdict::stays;
}

Json to_json(const ChangeReport& r) {
  Json json = json_of(r.cost);
  json.update({{"woken", r.woken},
               {"released", r.released},
               {"parked", r.parked},
               {"total_s", r.total_s},
               {"kept_bytes", r.kept_bytes}});
  return json;
}

Experiment Experiment::parse(const std::string& text, const std::string& where) {
  const auto bad = [&] {
    return Error(Status::bad_argument,
                 fmt::format("control: {} is \"{}\", expected grids and, after @, steps on each: \"2x2,2x3,3x3@3\"",
                             where, text.substr(0, 80)));
  };
  Experiment experiment;
  const std::size_t at = text.find('@');
  if (at != std::string::npos) {
    experiment.steps = base::whole_number<int>(std::string_view(text).substr(at + 1)).value_or(0);
    if (experiment.steps < 1) throw bad();
  }
  const std::vector<std::string> grids = base::split(std::string_view(text).substr(0, at), ',');
  if (grids.empty()) throw bad();
  for (const std::string& grid : grids) {
    const std::optional<GridShape> shape = base::grid_shape_from(grid);
    if (!shape) throw bad();
    experiment.grids.push_back(*shape);
  }
  return experiment;
}

JobState::JobState(JobInfo info, GridShape first_grid, double now)
    : info_(std::move(info)), first_grid_(first_grid), started_(now), grid_(first_grid), book_(&books_[size_]) {
  board.wake = [this] {
    if (wake) wake();
  };
}

JobState::~JobState() = default;

// ---- the application's thread

void JobState::step_ended(double now, double size) {
  if (!is_in_step_) return;
  is_in_step_ = false;
  const double step_s = std::max(0.0, now - begun_);
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  owed_.push_back({step_s, size});
  if (!lock.owns_lock()) return; // the other thread reads: the application does not wait for it
  add_owed();
  if (!wants_steps_) return;
  if (steps_told_.size() < most_steps)
    steps_told_.push_back({step_ - 1, grid_, step_s, now});
  else
    ++steps_skipped_;
}

void JobState::want_steps(bool wanted) {
  const Lock lock(mutex_);
  wants_steps_ = wanted;
  if (wanted) steps_told_.reserve(most_steps);
}

/// The caller has the lock.
void JobState::add_owed() {
  for (const TimedStep& step : owed_) add_step(step);
  owed_.clear();
}

void JobState::add_step(const TimedStep& step) {
  constexpr double least_size = 0.05; // of a panel in whose time work still counts
  ++step_;
  last_step_s_ = step.step_s;
  if (step.size < least_size) return;
  const double step_s = step.step_s / step.size;
  if (++on_grid_ == 1) {
    cold_s_ = step_s;
    return;
  }
  here_.add(step_s);
  if (recent_.size() == Trial::most) recent_.erase(recent_.begin());
  recent_.push_back(step_s);
  if (trial_) judge_trial();
  book_->known.steps[key_of(grid_)].add(step_s);
  book_->unsaved_steps[key_of(grid_)].add(step_s);
}

void JobState::judge_trial() {
  trial_->after = recent_;
  const Trial::Verdict verdict = trial_->verdict();
  if (verdict == Trial::Verdict::open) return;
  if (verdict == Trial::Verdict::slower) {
    const double was = base::median(trial_->before), is = base::median(trial_->after);
    back_ = Back{trial_->from, {}};
    back_->why = fmt::format("{} takes {:.3g} s a step, {} took {:.3g}: back to {} (DYNGRID_DECIDE=undo=off leaves it)",
                             to_string(trial_->to), is, to_string(trial_->from), was, to_string(trial_->from));
    undone_[key_of(trial_->to)] = {is, fmt::format("{} was tried and takes {:.3g} s a step, {} takes {:.3g}",
                                                   to_string(trial_->to), is, to_string(trial_->from), was)};
    tell({{"event", "undo"},
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
    outside_ = Outside{book_, true, begun_, is_in_step_, on_grid_, cold_s_, here_};
  }
  is_in_step_ = false;
  panel_size_ = 1;
  const bool is_open = open_book(size_, of);
  const Lock lock(mutex_);
  if (!is_open) outside_.reset(); // they count as the program's
  panels_left_ = -1;
  if (!is_open) return;
  book_->known.changes = outside_->book->known.changes; // a change costs what it costs
  book_->known.spawns = outside_->book->known.spawns;
}

void JobState::panel(double size, std::int64_t left) {
  if (!outside_) return;
  panel_size_ = size;
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) panels_left_ = left; // else the next one says it
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
  on_grid_ = before.is_same_grid ? before.on_grid : 0;
  cold_s_ = before.is_same_grid ? before.cold_s : std::nullopt;
  here_ = before.is_same_grid ? before.here : StepTimes{};
  begun_ = before.begun;
  is_in_step_ = before.is_same_grid && before.is_in_step;
}

/// Another change has come, or what the steps are measured by.
void JobState::end_trial() {
  trial_.reset();
  back_.reset();
  recent_.clear();
  settle();
}

void JobState::settle() {
  pending_.store(queue_.waiting().has_value() || experiment_.has_value() || back_.has_value(),
                 std::memory_order_release);
}

ResizeRequest JobState::hand_out(ResizeRequest request) {
  request.state_ = ResizeRequest::State::taken;
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
  std::optional<ResizeRequest> wish;
  Situation here;
  {
    const Lock lock(mutex_);
    wish = queue_.take();
    if (!wish && back_) {
      auto back = own_request(ResizeRequest::Origin::undo, back_->to);
      back->why = back_->why;
      return back;
    }
    if (!wish) {
      auto trial = experiment_wants();
      settle();
      return trial;
    }
    settle();
    here = situation();
    if (wish->steps_before.empty()) wish->steps_before = recent_;
  }
  if ((wish->from != here.grid && wish->op != Operation::resize) || wish->op == Operation::leave ||
      !wish->without.is_empty()) { // who is named may have come and gone on the same grid
    const Decision again = decide(here, *wish);
    if (!again.is_accepted) {
      const Lock lock(mutex_);
      outcome(wish->number, "declined", {{"reason", again.why}});
      return std::nullopt;
    }
    wish->to = again.to;
    take_choice(*wish, again);
  }
  return hand_out(std::move(*wish));
}

void JobState::take_back(ResizeRequest request) {
  const Lock lock(mutex_);
  if (request.origin == ResizeRequest::Origin::experiment)
    has_asked_ = false;
  else if (request.origin == ResizeRequest::Origin::outside && queue_.waiting())
    outcome(request.number, "superseded", {{"by", queue_.waiting()->number}});
  else if (request.origin == ResizeRequest::Origin::outside)
    queue_.put_back(std::move(request));
  settle(); // what is to be taken back stays so
}

void JobState::end_change(const ResizeRequest* request, const ChangeReport& report, int parked, double now) {
  {
    const Lock lock(mutex_);
    add_owed();
    if (outside_) outside_->is_same_grid = false;
    StepTimes& before = book_->known.steps[key_of(grid_)];
    if (on_grid_ == 1 && cold_s_ && before.count == 0) { // better than nothing
      before.add(*cold_s_);
      book_->unsaved_steps[key_of(grid_)].add(*cold_s_);
    }
    if (before.count == 0) book_->known.steps.erase(key_of(grid_));
    const bool is_from_outside = request && request->origin == ResizeRequest::Origin::outside;
    std::optional<Trial> trial;
    const bool is_larger = report.cost.to.size() >= report.cost.from.size();
    if (is_from_outside && request->undo && is_larger && info_.undoes) {
      const std::vector<double>& steps = request->steps_before.size() >= 2 ? request->steps_before : recent_;
      if (steps.size() >= 2) trial = Trial{report.cost.from, report.cost.to, request->number, steps, {}};
    }
    end_trial();
    trial_ = std::move(trial);
    grid_ = report.cost.to;
    parked_ = parked;
    on_grid_ = 0;
    cold_s_.reset();
    here_ = {};
    std::vector<Book*> books{book_};
    if (outside_) books.push_back(outside_->book);
    for (Book* book : books) {
      book->known.changes.push_back(report.cost);
      if (report.cost.spawned > 0) book->known.spawns.push_back(report.cost);
    }
    book_of_changes().unsaved_changes.push_back(report.cost);
    last_change_ = {report, now - started_};
    Json event{{"event", "resize"}, {"from", to_json(report.cost.from)}, {"grid", to_json(grid_)},
               {"step", step_},     {"report", to_json(report)},         {"units", json_of(groups_)}};
    event["request"] = is_from_outside ? Json(request->number) : Json(nullptr);
    event["hosts"] = hosts_of(processes_);
    tell(std::move(event));
    drop_ask();
    if (is_from_outside) {
      Json done{{"grid", to_json(grid_)}, {"report", to_json(report)}};
      if (!request->hosts.empty()) done["hosts"] = to_json(request->hosts);
      outcome(request->number, "done", std::move(done));
    }
    settle();
  }
  if (wake) wake();
}

void JobState::end_failed(const ResizeRequest* request, GridShape to, Status status, const std::string& why) {
  {
    const Lock lock(mutex_);
    if (request && request->origin == ResizeRequest::Origin::undo) end_trial(); // it cannot be
    Json more{{"grid", to_json(to)}, {"status", static_cast<int>(status)}, {"reason", why}};
    if (request && request->origin == ResizeRequest::Origin::outside) {
      outcome(request->number, "failed", std::move(more));
    } else {
      more["event"] = "failed";
      tell(std::move(more));
      drop_ask();
    }
    settle();
  }
  if (wake) wake();
}

void JobState::give_up(const ResizeRequest& request) noexcept {
  try {
    end_failed(&request, request.to, Status::internal, "given up: nobody answered the request");
  } catch (const std::exception&) { // out of memory, while the request is destroyed
  }
}

void JobState::end_unchanged(const ResizeRequest& request) {
  {
    const Lock lock(mutex_);
    if (request.origin == ResizeRequest::Origin::undo) end_trial();
    if (request.origin == ResizeRequest::Origin::outside)
      outcome(request.number, "done", {{"grid", to_json(grid_)}, {"reason", "the grid is that already"}});
    settle();
  }
  if (wake) wake();
}

void JobState::end_superseded(const ResizeRequest& request, std::int64_t by) {
  {
    const Lock lock(mutex_);
    if (request.origin == ResizeRequest::Origin::outside) outcome(request.number, "superseded", {{"by", by}});
  }
  if (wake) wake();
}

/// The caller has the lock.
std::optional<ResizeRequest> JobState::experiment_wants() {
  if (!experiment_) return std::nullopt;
  while (tried_ < experiment_->grids.size()) {
    const GridShape turn = experiment_->grids[tried_];
    if (turn == grid_ ? on_grid_ < experiment_->steps + 1 : !has_asked_) {
      if (turn == grid_) return std::nullopt; // more steps here
      has_asked_ = true;
      return own_request(ResizeRequest::Origin::experiment, turn);
    }
    ++tried_; // measured, or it could not be had
    has_asked_ = false;
  }
  std::optional<GridShape> best;
  double seconds = 0;
  for (const GridShape g : experiment_->grids) {
    const auto at = book_->known.steps.find(key_of(g));
    if (at == book_->known.steps.end() || at->second.count == 0 || (best && at->second.mean >= seconds)) continue;
    best = g;
    seconds = at->second.mean;
  }
  experiment_.reset();
  tell({{"event", "experiment"}, {"grid", best ? to_json(*best) : Json(nullptr)}, {"step_s", seconds}});
  if (!best || *best == grid_) return std::nullopt;
  return own_request(ResizeRequest::Origin::experiment, *best);
}

void JobState::set_matrices(Matrices matrices) {
  {
    const Lock lock(mutex_);
    matrix_bytes_ = matrices.bytes;
    planned_exchange_ = std::move(matrices.planned_exchange);
    if (matrices.size == size_) return;
  }
  const std::string panels_of = panels_of_;
  end_panels();
  if (open_book(matrices.size, "")) undone_.clear(); // steps of another problem
  if (!panels_of.empty()) begin_panels(panels_of);
}

/// The file is read without the lock.
bool JobState::open_book(const std::string& size, const std::string& panels_of) {
  constexpr std::size_t most_sizes = 64; // of a program that makes and frees matrices all the time
  const std::string key = panels_of.empty() ? size : fmt::format("{}, panels of {}", size, panels_of);
  bool is_new = false;
  {
    const Lock lock(mutex_);
    is_new = books_.find(key) == books_.end();
    if (is_new && books_.size() >= most_sizes) return false;
  }
  Book book;
  if (is_new) book.known = read_history(info_.history_file, {info_.app, key, info_.machine});
  const Lock lock(mutex_);
  size_ = size;
  panels_of_ = panels_of;
  book_ = &books_.emplace(key, std::move(book)).first->second;
  end_trial();
  on_grid_ = 0;
  cold_s_.reset();
  here_ = {};
  return true;
}

void JobState::set_groups(std::vector<GroupInfo> groups) {
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
  for (const GroupInfo& group : groups_) count += group.active == 0 ? group.processes : 0;
  return count;
}

void JobState::tell_of_waiting() {
  tell({{"event", "waiting"}, {"warm", warm_}, {"starting", warm_starting_}, {"kept", kept()}});
}

void JobState::set_processes(std::vector<ProcessInfo> processes, int npcol) {
  const Lock lock(mutex_);
  npcol_ = npcol;
  processes_ = std::move(processes);
  parked_ = static_cast<int>(
      std::count_if(processes_.begin(), processes_.end(), [](const ProcessInfo& p) { return p.place < 0; }));
}

void JobState::set_allowed(Allowed allowed) {
  const Lock lock(mutex_);
  allowed_ = std::move(allowed);
}

void JobState::set_steps(std::int64_t steps) {
  const Lock lock(mutex_);
  steps_ = steps;
}

void JobState::set_experiment(Experiment experiment) {
  const Lock lock(mutex_);
  experiment_ = std::move(experiment);
  tried_ = 0;
  has_asked_ = false;
  settle();
}

void JobState::balanced(const BalanceReport& report) {
  const Lock lock(mutex_);
  for (std::vector<BalanceReport>* list : {&book_of_changes().unsaved_balances, &book_of_changes().known.balances}) {
    if (report.measured_steps == 0)
      list->push_back(report);
    else if (!list->empty() && list->back().number == report.number && list->back().measured_steps == 0)
      list->back() = report;
  }
}

void JobState::phase_took(const PhaseKey& phase, double seconds) {
  const Lock lock(mutex_);
  if (book_->known.phases.size() >= most_phase_times && book_->known.phases.count(phase) == 0) return;
  StepTimes& known = book_->known.phases[phase];
  known.forget_beyond(remembered_steps);
  known.add(seconds);
  book_->unsaved_phases[phase].add(seconds);
}

void JobState::phases_planned(Json plan) {
  const Lock lock(mutex_);
  plan["event"] = "phases";
  tell(std::move(plan));
}

PhaseTimes JobState::phases() const {
  const Lock lock(mutex_);
  return book_->known.phases;
}

void JobState::save_history(bool is_end) {
  struct Part {
    std::string size;
    std::map<std::pair<int, int>, StepTimes> steps;
    std::vector<ChangeCost> changes;
    std::vector<BalanceReport> balances;
    PhaseTimes phases;
  };
  constexpr double wait_s = 0.2;
  std::vector<Part> parts;
  {
    const Lock lock(mutex_);
    for (auto& [size, book] : books_) {
      auto& balances = book.unsaved_balances;
      const bool is_open = !is_end && !balances.empty() && balances.back().measured_steps == 0;
      const auto open = balances.end() - (is_open ? 1 : 0);
      if (book.unsaved_steps.empty() && book.unsaved_changes.empty() && open == balances.begin() &&
          book.unsaved_phases.empty())
        continue;
      parts.push_back({size, {}, {}, {balances.begin(), open}, {}});
      parts.back().phases.swap(book.unsaved_phases);
      balances.erase(balances.begin(), open);
      parts.back().steps.swap(book.unsaved_steps);
      parts.back().changes.swap(book.unsaved_changes);
    }
  }
  for (const Part& part : parts) {
    if (info_.history_file.empty() || append_history(info_.history_file, {info_.app, part.size, info_.machine},
                                                     part.steps, part.changes, wait_s, part.balances, part.phases))
      continue;
    const Lock lock(mutex_);
    Book& book = books_[part.size];
    for (const auto& [shape, times] : part.steps) book.unsaved_steps[shape].add(times);
    for (const auto& [phase, times] : part.phases) book.unsaved_phases[phase].add(times);
    auto& list = book.unsaved_changes;
    list.insert(list.begin(), part.changes.begin(), part.changes.end());
    if (list.size() > 200) list.erase(list.begin(), list.end() - 200); // it can never be written
    if (book.unsaved_balances.size() < 200)
      book.unsaved_balances.insert(book.unsaved_balances.begin(), part.balances.begin(), part.balances.end());
  }
}

// ---- the listener's thread

Situation JobState::situation() const {
  Situation s;
  s.grid = grid_;
  s.allowed = allowed_;
  s.groups = groups_;
  s.processes = processes_;
  s.cores = info_.cores;
  s.per_core = info_.per_core;
  s.parked = parked_;
  s.steps_left = left();
  s.steps = book_->known.steps;
  if (cold_s_ && s.steps.find(key_of(grid_)) == s.steps.end()) s.steps[key_of(grid_)].add(*cold_s_);
  s.changes = book_->known.changes;
  s.spawns = book_->known.spawns;
  s.planned_exchange = planned_exchange_;
  s.usual_spawn_s = gridmap::usual_spawn_s;
  return s;
}

void JobState::tell(Json event) {
  constexpr std::size_t most = 1000;
  if (events_.size() >= most) return; // nobody is there to take them
  events_.emplace_back(step_, std::move(event));
}

void JobState::outcome(std::int64_t number, const char* what, Json more) {
  more["event"] = "outcome";
  more["request"] = number;
  more["outcome"] = what;
  tell(std::move(more));
}

Json JobState::status(double now, bool with_processes) const {
  const Lock lock(mutex_);
  Json json{{"job", info_.job},
            {"pid", info_.pid},
            {"app", info_.app},
            {"size", size_},
            {"host", info_.host},
            {"protocol", protocol_version},
            {"version", info_.version},
            {"grid", to_json(grid_)},
            {"first_grid", to_json(first_grid_)},
            {"parked", parked_},
            {"kept", kept()},
            {"warm", warm_},
            {"starting", warm_starting_},
            {"step", step_},
            {"steps", steps_},
            {"steps_on_grid", on_grid_},
            {"uptime_s", now - started_},
            {"allowed", allowed_.text()},
            {"resizable", info_.why_fixed.empty()},
            {"matrix_bytes", matrix_bytes_}};
  json["step_s"] = step_ > 0 ? Json(last_step_s_) : Json(nullptr);
  json["mean_step_s"] = here_.count > 0 ? Json(here_.mean) : cold_s_ ? Json(*cold_s_) : Json(nullptr);
  json["last_resize"] = nullptr;
  if (last_change_) {
    json["last_resize"] = to_json(last_change_->report);
    json["last_resize"]["t"] = last_change_->at;
  }
  json["pending"] = queue_.waiting() ? json_of(*queue_.waiting(), now) : Json(nullptr);
  json["asks"] = ask_ ? to_json(*ask_) : Json(nullptr);
  json["experimenting"] = experiment_.has_value();
  json["units"] = json_of(groups_);
  json["hosts"] = hosts_of(processes_);
  json["cores"] = info_.cores;
  if (with_processes) json["processes"] = json_of(processes_, npcol_);
  return json;
}

Json JobState::history() const {
  Situation here;
  std::string size;
  Json grids = Json::array(), resizes = Json::array(), balances = Json::array(), phases = Json::array();
  {
    const Lock lock(mutex_);
    here = situation();
    size = size_;
    for (const BalanceReport& balance : book_->known.balances) balances.push_back(members_of(balance));
    for (const auto& [phase, times] : book_->known.phases) phases.push_back(members_of(phase, times));
  }
  for (const auto& [shape, times] : here.steps) grids.push_back(members_of(shape, times));
  for (const ChangeCost& change : here.changes) resizes.push_back(json_of(change));
  const auto sweet = sweet_spot(here.steps);
  return {{"app", info_.app},
          {"size", size},
          {"machine", info_.machine},
          {"file", info_.history_file},
          {"grids", grids},
          {"resizes", resizes},
          {"balances", balances},
          {"phases", phases},
          {"cores", info_.cores},
          {"per_core", info_.per_core},
          {"sweet_spot", sweet ? to_json(*sweet) : Json(nullptr)}};
}

Json JobState::calls() const {
  constexpr std::size_t most = 400; // far below what a client has to fetch at a time
  Json json = members_of(calls_ == nullptr ? CallReport{} : calls_->report(), most);
  json["app"] = info_.app;
  return json;
}

/// What was given up as slower than the grid there is would be given up again.
void JobState::refuse_undone(const Situation& here, Decision& decision) const {
  const Lock lock(mutex_);
  const auto tried = undone_.find(key_of(decision.to));
  const auto now = here.steps.find(key_of(here.grid));
  if (decision.to.size() < here.grid.size() || tried == undone_.end() || now == here.steps.end() ||
      now->second.mean >= tried->second.step_s)
    return;
  decision.is_accepted = false;
  decision.why = tried->second.why;
}

Json JobState::submit(const Request& request, double now) {
  constexpr std::int64_t most = 1 << 20;
  ResizeRequest wish;
  wish.op = operation_of(request);
  wish.force = flag(request, "force");
  wish.undo = request.body->contains("undo") ? flag(request, "undo") : !wish.force;
  const std::string name = text(request, "placement", "");
  if (!name.empty()) wish.placement = placement_from(request, name);
  const double limit = seconds(request, "deadline_s", 0);
  if (limit > 0) wish.deadline = now + limit;
  if (wish.op == Operation::resize && request.body->contains("without")) {
    wish.without = Without::parse(text(request, "without", ""), "resize: \"without\"");
    wish.undo = false; // the grid before had those that are to leave
  }
  if (wish.op == Operation::resize)
    wish.to = grid(request, "grid");
  else if (wish.op == Operation::leave)
    wish.groups = groups_in(request);
  else if (wish.op == Operation::grow)
    wish.offer = offer_in(request, "by", wish.by);
  else
    wish.by = whole_number(request, "by", 1, most);
  if (wish.op == Operation::resize && request.body->contains("form"))
    wish.form = gridmap::parse_strategy(text(request, "form", ""), "control: resize: \"form\"");
  if (!info_.why_fixed.empty()) return {{"accepted", false}, {"reason", info_.why_fixed}};
  Situation here;
  {
    const Lock lock(mutex_);
    here = situation();
  }
  Decision decision = decide(here, wish);
  if (decision.is_accepted && wish.undo) refuse_undone(here, decision);
  Json answer{{"accepted", decision.is_accepted}, {"from", to_json(here.grid)}};
  if (decision.forecast) answer["prediction"] = json_of(*decision.forecast);
  if (!decision.is_accepted) {
    answer["reason"] = decision.why;
    return answer;
  }
  wish.from = here.grid;
  wish.to = decision.to;
  take_choice(wish, decision);
  if (decision.choice) answer["chosen"] = to_json(*decision.choice);
  answer["grid"] = to_json(decision.to);
  answer["why"] = decision.why;
  const Lock lock(mutex_);
  const RequestQueue::Submitted submitted = queue_.submit(std::move(wish));
  if (submitted.superseded) outcome(submitted.superseded->number, "superseded", {{"by", submitted.number}});
  tell([&] {
    Json event = json_of(*queue_.waiting(), now);
    event["event"] = "request";
    return event;
  }());
  settle();
  answer["request"] = submitted.number;
  return answer;
}

Json JobState::offer(const Request& request) const {
  std::int64_t procs = 0;
  const std::optional<Offer> offered = offer_in(request, "procs", procs);
  if (!info_.why_fixed.empty()) return {{"accepted", false}, {"reason", info_.why_fixed}};
  Situation here;
  {
    const Lock lock(mutex_);
    here = situation();
  }
  const Decision decision = offered ? decide_offer(here, *offered, false) : decide_grow(here, procs, false);
  Json answer{{"accepted", decision.is_accepted}, {"from", to_json(here.grid)}};
  if (decision.forecast) answer["prediction"] = json_of(*decision.forecast);
  if (!decision.is_accepted) {
    answer["reason"] = decision.why;
  } else {
    answer["grid"] = to_json(decision.to);
    answer["used"] = decision.to.size() - here.grid.size();
    if (decision.choice) answer["chosen"] = to_json(*decision.choice);
    answer["why"] = decision.why;
  }
  return answer;
}

Json JobState::cancel(const Request& request) {
  std::optional<std::int64_t> number;
  if (request.body->contains("request") && !request.body->at("request").is_null())
    number = whole_number(request, "request", 1, INT64_MAX);
  const Lock lock(mutex_);
  const auto cancelled = queue_.cancel(number);
  if (cancelled) outcome(cancelled->number, "cancelled", Json::object());
  settle();
  return {{"cancelled", cancelled ? Json(cancelled->number) : Json(nullptr)}};
}

std::optional<Grant> JobState::ask(const std::string& grids, bool waits, double patience_s) {
  std::unique_lock<std::mutex> lock(mutex_);
  ask_ = Ask{++last_ask_, grids, waits, 0};
  grant_.reset();
  tell({{"event", "asks"}, {"asks", to_json(*ask_)}});
  if (wake) wake();
  const auto is_answered = [&] { return grant_.has_value(); };
  if (patience_s < 0)
    answered_.wait(lock, is_answered);
  else
    answered_.wait_for(lock, std::chrono::duration<double>(patience_s), is_answered);
  const std::optional<Grant> grant = std::exchange(grant_, std::nullopt);
  if (!grant || grant->procs == 0) drop_ask();
  return grant;
}

void JobState::asks_no_more() {
  const Lock lock(mutex_);
  drop_ask();
}

void JobState::drop_ask() {
  if (!ask_) return;
  ask_.reset();
  tell({{"event", "asks"}, {"asks", nullptr}});
  if (wake) wake();
}

Json JobState::grant(const Request& request) {
  const auto number = whole_number(request, "ask", 1, INT64_MAX);
  Grant grant = Grant::in(request);
  const Lock lock(mutex_);
  if (!ask_ || ask_->number != number || ask_->granted > 0 || grant_)
    throw Error(Status::bad_state, fmt::format("control: grant: \"ask\" is {}, which waits for no answer", number));
  ask_->granted = grant.procs;
  grant_ = std::move(grant);
  answered_.notify_all();
  return {{"taken", true}};
}

Json JobState::balance(const Request& request) {
  if (!info_.why_fixed.empty()) return {{"accepted", false}, {"reason", info_.why_fixed}};
  std::int64_t number = 0;
  {
    const Lock lock(mutex_);
    number = queue_.number();
  }
  const auto before = board.ask(request, number);
  const Lock lock(mutex_);
  if (before) outcome(before->number, "superseded", {{"by", number}});
  return {{"accepted", true}, {"request", number}};
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
  const double step_s = here_.count > 0 ? here_.mean : cold_s_.value_or(-1);
  return left() >= 0 && step_s >= 0 ? static_cast<double>(left()) * step_s : -1;
}

Allowed JobState::allowed() const {
  const Lock lock(mutex_);
  return allowed_;
}

gridmap::Cost JobState::change_cost(GridShape to, const gridmap::Cost& planned) const {
  const Lock lock(mutex_);
  return situation().change(grid_, to, 0, planned);
}

void JobState::look_at_deadlines(double now) {
  const Lock lock(mutex_);
  while (const auto overdue = queue_.overdue(now)) {
    if (overdue->is_withdrawn)
      outcome(overdue->number, "expired", {{"reason", "no resize point came before the deadline"}});
    else
      tell({{"event", "late"}, {"request", overdue->number}});
  }
  settle();
}

std::optional<double> JobState::next_deadline() const {
  const Lock lock(mutex_);
  const auto& wish = queue_.waiting();
  if (!wish || wish->is_late()) return std::nullopt;
  return wish->deadline;
}

std::vector<Json> JobState::take_events() {
  const Lock lock(mutex_);
  std::vector<Json> told;
  for (const Step& step : steps_told_)
    told.push_back({{"event", "step"},
                    {"step", step.step},
                    {"grid", to_json(step.grid)},
                    {"step_s", step.step_s},
                    {"t", step.now - started_}});
  steps_told_.clear();
  if (steps_skipped_ > 0) told.push_back({{"event", "skipped"}, {"events", std::exchange(steps_skipped_, 0)}});
  for (auto& [step, event] : events_) { // among the steps where it belongs: before those that had not ended yet
    const std::int64_t first = step;
    const auto place = std::find_if(told.begin(), told.end(), [&](const Json& other) {
      return other["event"] == "step" && other["step"] >= first;
    });
    told.insert(place, std::move(event));
  }
  events_.clear();
  for (Json& event : board.take_events()) told.push_back(std::move(event));
  return told;
}

} // namespace control
