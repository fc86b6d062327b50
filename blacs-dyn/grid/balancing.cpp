// SPDX-License-Identifier: BSD-3-Clause
#include "grid/balancing.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "advise/factor_layout.hpp"
#include "base/clock.hpp"
#include "base/index.hpp"
#include "base/parse_json.hpp"
#include "dyngrid/balance.h"
#include "processes/messages.hpp"
#include "redist/plan.hpp"

namespace blacs_dyn {

using advise::Balance;
using advise::BalanceAction;
using advise::BalanceDecision;
using advise::BalanceRequest;
using advise::LoadFigures;
using advise::ProcessLoad;
using base::at;
using base::Error;
using control::BalanceMode;

namespace {

constexpr advise::BalanceRules rules;

std::string seconds_of(double s) {
  return fmt::format("{:.3g} s", s);
}

redist::Plan move_of(const Matrix& a, redist::Layout to) {
  redist::PlanOptions options;
  options.schedule = redist::Schedule::async;
  return {a.layout, std::move(to), options};
}

advise::PlanVolume volume_of(const redist::Plan& plan, const Matrix& a) {
  return plan.volume(static_cast<int>(element_bytes(a.type)));
}

/// "3x3 of 0, 1, 2": the processes of a grid.
std::string shown(const advise::BalanceChoice& choice) {
  return fmt::format("{}, a step of {}", to_string(choice.grid), seconds_of(choice.step_s()));
}

} // namespace

/// A message of one process to the others. The fields of process 0 hold for all.
struct Balancing::Record {
  LoadFigures load;
  std::int32_t has_decision = 0; ///< process 0: a broadcast follows
  std::int32_t wants_loads = 0;
  std::int64_t item_bytes = 0; ///< of what rows and columns took: a gathering follows where there are some
};

// ---- every process

void Balancing::set_mode(BalanceMode mode) {
  settings_.balance = mode;
  if (control_) control_->state().board.set_mode(mode);
}

std::uint64_t Balancing::flags() {
  if (reports_.begin_or_wake()) items_.take(matrices_); // from before its sleep
  // where no process balances and the program requests none, process 0 asks when it needs loads, and is not called for
  // one
  const bool is_of_use = settings_.balance != BalanceMode::off || is_requested_here_;
  if (is_of_use && reports_.has_changed()) return PlaceWord::loads;
  if (is_requested_here_ && !reports_.is_on()) return PlaceWord::loads; // from which on all measure
  if (processes_.id() != 0 || !control_) return 0;
  const control::LoadBoard& board = control_->state().board;
  if (board.has_question() || memory_.has_outcome()) return PlaceWord::loads;
  const double now = base::monotonic_s();
  const bool is_requested = settings_.balance != BalanceMode::off || is_requested_here_ || board.is_requested(now);
  return is_requested && now - gathered_s_ >= (is_decision_near_ ? rules.gather_near_s : rules.gather_s)
             ? std::uint64_t{PlaceWord::loads}
             : 0;
}

std::vector<ProcessLoad> Balancing::with_hosts(const std::vector<LoadFigures>& loads) const {
  std::map<int, std::string> hosts;
  for (advise::ProcessInfo& process : processes_.process_set().everybody()) hosts[process.id] = std::move(process.host);
  std::vector<ProcessLoad> all;
  for (const LoadFigures& load : loads) all.push_back({load, hosts[load.process]});
  return all;
}

Balancing::Decision Balancing::exchange(bool is_asked) {
  const MPI_Comm grid = grid_.comm();
  const bool is_0 = processes_.id() == 0;
  const std::size_t places = at(grid_.shape().size());
  std::vector<Record> all;
  std::vector<LoadFigures> in_grid;
  std::vector<std::int64_t> sizes;
  together(grid, [&] { // before anything is taken, since it may be refused
    all.resize(places);
    in_grid.reserve(places);
    sizes.reserve(places);
  });
  // observe
  if (is_asked) {
    reports_.turn_on();
    if (reports_.begin_or_wake()) items_.take(matrices_);
  }
  Record mine;
  mine.load = reports_.own();
  mine.wants_loads = is_requested_here_ ? 1 : 0;
  std::vector<char> my_items;
  static_cast<void>(attempt([&] { my_items = items_.take(matrices_); })); // without memory: at the next exchange
  mine.item_bytes = static_cast<std::int64_t>(my_items.size());
  Asked asked;
  asked.by_program = is_asked;
  if (is_0) {
    gathered_s_ = base::monotonic_s();
    if (control_) asked.question = control_->state().board.take_question();
    mine.has_decision = asked || settings_.balance != BalanceMode::off || memory_.has_outcome() ? 1 : 0;
  }
  // gather
  if (!is_0) processes_.receive_reports(base::tag_load); // passed on
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, grid), "MPI_Allgather");
  reports_.was_sent();
  for (std::size_t k = 0; k < places; ++k) {
    in_grid.push_back(all[k].load);
    in_grid.back().place = static_cast<std::int32_t>(k);
    sizes.push_back(all[k].item_bytes);
    is_requested_here_ = is_requested_here_ || all[k].wants_loads != 0;
  }
  loads_.clear();
  static_cast<void>(attempt([&] { loads_ = with_hosts(in_grid); })); // without memory: at the next exchange
  grid_of_loads_ = grid_.shape();
  if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size > 0; }))
    asked.items = gather(my_items, sizes);
  reports_.turn_on(); // from the first exchange on
  // decide
  Decision decision;
  decision.mode = settings_.balance;
  if (is_0) decision = decide(asked);
  decision.report = last_;
  // broadcast
  if (all[0].has_decision == 0) return {};
  decision = value_of_root(decision, 0, grid);
  set_mode(decision.mode);
  last_ = decision.report;
  is_doing_ = decision.kind != Decision::Kind::nothing;
  return decision;
}

std::vector<std::vector<char>> Balancing::gather(const std::vector<char>& mine,
                                                 const std::vector<std::int64_t>& sizes) const {
  const std::int64_t end = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (end > INT_MAX)
    throw Error(base::Status::unsupported,
                "blacs-dyn: dyngrid_work_items: {} bytes of rows and columns, expected at most {}: use larger blocks",
                end, INT_MAX);
  const bool is_0 = processes_.id() == 0;
  std::vector<int> counts, begins;
  std::vector<char> all;
  std::vector<std::vector<char>> each;
  int has_room = 1;
  if (is_0) {
    const std::optional<Error> wrong = attempt([&] {
      for (const std::int64_t size : sizes) {
        begins.push_back(counts.empty() ? 0 : begins.back() + counts.back());
        counts.push_back(static_cast<int>(size)); // at most 1 MiB each
      }
      all.resize(at(end));
      for (const std::int64_t size : sizes) each.emplace_back(at(size));
    });
    if (wrong) std::fprintf(stderr, "dyngrid: costs of rows and columns are not gathered: %s\n", wrong->what());
    has_room = wrong ? 0 : 1;
  }
  check_mpi(MPI_Bcast(&has_room, 1, MPI_INT, 0, grid_.comm()), "MPI_Bcast");
  if (has_room == 0) return {};
  check_mpi(MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(), counts.data(), begins.data(),
                        MPI_BYTE, 0, grid_.comm()),
            "MPI_Gatherv");
  for (std::size_t k = 0; k < each.size(); ++k) std::copy_n(all.begin() + begins[k], counts[k], each[k].begin());
  return each;
}

void Balancing::write(Packet& packet) const {
  control::BalanceReport report = last_;
  report.is_done = report.is_done || is_doing_; // else they do not come
  packet.put(report);
}

void Balancing::read(Packet& packet) {
  packet.get(last_);
  is_doing_ = false; // what this process was parked in is over
}

void Balancing::joined(double change_s) {
  if (last_.is_done && last_.measured_change_s == 0) last_.done(change_s);
}

void Balancing::work_items(const Matrix* a, const ItemTimes::Report& report) {
  matrices_.require("dyngrid_work_items", a);
  const int rank = grid_.has_me() ? grid_.rank() : -1;
  items_.record(*a, report, a->stretches(report.axis == 'R', rank));
}

// ---- process 0

void Balancing::step_ended(double size) {
  const double now = base::monotonic_s(), begun_s = std::exchange(begun_s_, -1);
  if (processes_.id() == 0 && begun_s >= 0 && reports_.is_on()) memory_.step(now, now - begun_s, size);
}

void Balancing::all_came() {
  if (!panels_) step_ended(1); // a panel ends otherwise
}

void Balancing::point_left() {
  if (processes_.id() != 0 || !reports_.is_on()) return;
  begun_s_ = base::monotonic_s();
  if (is_now(seen_)) return;
  seen_ = seen_now();
  memory_.grid_changed(begun_s_);
  memory_.forget_trial(); // what follows is not what it brought
}

bool Balancing::is_now(const Seen& seen) const {
  const GridMap& grid = processes_.process_set().grid;
  return matrices_.revision() == seen.revision && grid.shape == seen.grid.shape && grid.ids == seen.grid.ids &&
         grid.speeds == seen.grid.speeds;
}

std::vector<int> Balancing::ids() const {
  std::vector<int> ids;
  for (const ProcessLoad& load : memory_.loads) ids.push_back(load.process);
  return ids;
}

GridMap Balancing::map_of(const advise::BalanceChoice& choice, std::int64_t mb, std::int64_t nb) const {
  GridMap map;
  map.shape = choice.grid;
  for (const int k : choice.order) map.ids.push_back(memory_.id_of(k));
  map.speeds = processes_.process_set().speeds_on(map); // of rules
  // in blocks, so that dealing them out gives the same parts again
  const auto shares = [](const std::vector<std::int64_t>& parts, std::int64_t block) {
    std::vector<double> blocks;
    for (const std::int64_t part : parts)
      blocks.push_back(static_cast<double>(block > 0 ? (part + block - 1) / block : part));
    return blocks;
  };
  map.row_shares = shares(choice.rows, mb);
  map.col_shares = shares(choice.cols, nb);
  return map;
}

/// The cost of moving all matrices, by redist's plan, and the other costs of a change. Process 0 lacks no rule: it
/// never sleeps (docs/decisions/0033).
advise::Cost Balancing::price(const advise::BalanceChoice& choice, std::int64_t mb, std::int64_t nb) const {
  const GridMap to = map_of(choice, mb, nb);
  const GridMap& from = processes_.process_set().grid;
  std::vector<int> ranks;
  int next = from.shape.size();
  for (const int id : to.ids) {
    const auto was = static_cast<int>(position(from.ids, id));
    ranks.push_back(was < from.shape.size() ? was : next++);
  }
  advise::Cost planned;
  for (const Matrix* a : matrices_.list()) {
    redist::Layout layout = a->on(to);
    layout.grid.renumber(ranks);
    planned += advise::exchange_cost(machine_.figures(), volume_of(move_of(*a, std::move(layout)), *a));
  }
  if (from.shape == to.shape && from.ids == to.ids) return planned;
  return control_ ? control_->state().change_cost(to.shape, planned) : planned;
}

BalanceRequest Balancing::subject() const {
  BalanceRequest s;
  const Matrix* a = panels_ ? &panels_->matrix_ : nullptr;
  if (!a) a = items_.known_of(matrices_);
  if (!a) a = matrices_.largest();
  const Shape shape = grid_.shape();
  s.grid = shape;
  s.m = std::max<std::int64_t>(1, a->rows.n);
  s.n = std::max<std::int64_t>(1, a->cols.n);
  s.is_weighted = a->order != 0;
  if (!a->has_rule() || s.is_weighted) {
    s.mb = a->rows.nb;
    s.nb = a->cols.nb;
  }
  for (int i = 0; i < shape.nprow; ++i) s.rows.push_back(a->layout.rows.local_size(i));
  for (int j = 0; j < shape.npcol; ++j) s.cols.push_back(a->layout.cols.local_size(j));
  const double elements = static_cast<double>(s.m) * static_cast<double>(s.n);
  s.element_bytes = std::max<std::int64_t>(1, static_cast<std::int64_t>(matrices_.bytes() / elements));
  if (control_) {
    s.steps_left = control_->state().steps_left();
    if (!control_->state().allowed().text().empty()) s.max_aspect = 0; // it alone limits the shapes
    s.allowed = [allowed = control_->state().allowed()](base::GridShape to) { return allowed.permits(to); };
  }
  if (panels_) {
    s.steps_left = panels_->left_;
  } else {
    s.row_costs = items_.costs(*a, true);
    s.col_costs = items_.costs(*a, false);
  }
  s.change = [this, mb = s.mb, nb = s.nb](const advise::BalanceChoice& choice) { return price(choice, mb, nb); };
  return s;
}

Balancing::Decision Balancing::decision_of(const BalanceDecision& decided) const {
  Decision decision;
  decision.mode = settings_.balance;
  decision.to = map_of(decided.balance->then, decided.request.mb, decided.request.nb);
  const GridMap& from = processes_.process_set().grid;
  decision.kind = from.shape == decision.to.shape && from.ids == decision.to.ids ? Decision::Kind::relayout
                                                                                 : Decision::Kind::change;
  if (decision.kind == Decision::Kind::change && !decided.request.is_weighted)
    decision.to.row_shares = decision.to.col_shares = {}; // equal: weighted matrices follow the speeds
  const auto& all = matrices_.all();
  if (std::none_of(all.begin(), all.end(), [](const auto& a) { return a->order != 0; })) return decision;
  for (const ProcessLoad& load : memory_.loads)
    if (load.samples > 0) {
      decision.ids.push_back(load.process);
      decision.speeds.push_back(memory_.speed_of(load));
    }
  return decision;
}

// ---- the order of a matrix that is being factored

/// The matrix that is being factored, where it is dealt out by speed in another order than DYNGRID_ORDER_FACTOR. Null:
/// there is no such matrix.
const Matrix* Balancing::may_get_factor_order() const {
  if (!panels_ || panels_->next_ <= panels_->last_) return nullptr;
  const Matrix& a = panels_->matrix_;
  return a.order != 0 && a.order != DYNGRID_ORDER_FACTOR ? &a : nullptr;
}

std::vector<double> Balancing::speeds_on(const GridMap& map) const {
  std::vector<double> speeds;
  for (const int id : map.ids)
    for (const ProcessLoad& load : memory_.loads)
      if (load.process == id) speeds.push_back(memory_.speed_of(load));
  return speeds;
}

/// The rest of the factorization in DYNGRID_ORDER_FACTOR on the current grid, where the time saved exceeds the cost of
/// the move.
std::optional<Balance> Balancing::factor_order(const BalanceDecision& stays) const {
  const Matrix* factored = may_get_factor_order();
  if (!factored) return std::nullopt;
  const Matrix& a = *factored;
  const GridMap& grid = processes_.process_set().grid;
  const redist::Layout to = layout_on(grid, a.rows, a.cols, DYNGRID_ORDER_FACTOR);
  advise::FactorLayoutRequest r;
  r.speeds = speeds_on(grid);
  if (r.speeds.size() != grid.ids.size()) return std::nullopt;
  const redist::Plan plan = move_of(a, to);
  r.name = a.name;
  r.rows = a.layout.rows;
  r.cols = a.layout.cols;
  r.rows_then = to.rows;
  r.cols_then = to.cols;
  r.last = panels_->last_;
  r.next = panels_->next_;
  r.first_work = panels_->first_;
  r.panels_left = panels_->left_;
  r.work_s = stays.request.work_s;
  r.step_s = stays.request.step_s;
  r.change = advise::exchange_cost(machine_.figures(), volume_of(plan, a));
  r.moved_elements = plan.totals().moved_elements;
  r.rules = stays.request.rules;
  return advise::decide_factor_layout(r, *stays.balance).balance;
}

/// The same grid, speeds and shares.
Balancing::Decision Balancing::decision_for_factors() const {
  Decision decision;
  decision.mode = settings_.balance;
  decision.kind = Decision::Kind::relayout;
  decision.to = processes_.process_set().grid;
  decision.for_factors = panels_->matrix_.name;
  return decision;
}

/// Once the loads are known: by place.
void Balancing::take_items(const std::vector<std::vector<char>>& items) {
  if (items.empty()) return;
  std::vector<double> speeds(items.size(), 1);
  for (const ProcessLoad& load : memory_.loads)
    if (load.place >= 0 && load.place < static_cast<int>(items.size()))
      speeds[at(load.place)] = memory_.alone_speed_of(load);
  items_.gathered(items, speeds, matrices_);
  memory_.are_costs_new = true;
}

/// Once the loads are there. Throws nothing: the others wait for the decision.
Balancing::Decision Balancing::decide(const Asked& asked) {
  Decision nothing;
  const std::optional<control::BalanceQuestion>& question = asked.question;
  if (question && question->mode) set_mode(*question->mode);
  const BalanceMode mode = nothing.mode = settings_.balance;
  const double now = base::monotonic_s();
  const auto answer = [&](const char* outcome, control::Json fields) {
    fields["outcome"] = outcome;
    fields["mode"] = to_string(mode);
    if (question && control_) control_->state().board.answer(*question, std::move(fields));
  };
  const auto fail = [&](const std::string& reason, bool is_too_early = false) {
    answer("failed", {{"reason", reason}, {"too_early", is_too_early}});
    if (asked) note_nothing(reason);
    return nothing;
  };
  const auto find = [&]() -> Decision {
    for (ProcessLoad& load : with_hosts(reports_.of_sleepers())) loads_.push_back(std::move(load));
    if (!processes_.is_speed_given()) control::take_marked_speeds(loads_);
    if (control_) control_->state().board.show(loads_, now);
    print_unmeasured();
    print_stopped();
    memory_.take(loads_, now);
    take_items(asked.items);
    publish_outcome();
    if (!asked && (mode == BalanceMode::off || !memory_.is_due(now))) {
      is_decision_near_ = mode != BalanceMode::off && (is_decision_near_ || !memory_.is_settled(now));
      return nothing;
    }
    is_decision_near_ = false;
    if (!matrices_.largest())
      return fail("no matrix over the whole grid is registered, so there is no work to redistribute");
    BalanceDecision decided = decide_balance(subject(), memory_, now);
    const double end = base::monotonic_s();
    memory_.decision_took(end - now, end);
    if (!decided.balance) return fail(decided.why_not + ": ask again after a few steps", true);
    const bool would_stay = decided.balance->action == BalanceAction::stay;
    const std::optional<Balance> for_factors = would_stay ? factor_order(decided) : std::nullopt;
    if (for_factors) decided.balance = for_factors;
    const Balance& balance = *decided.balance;
    const bool stays = balance.action == BalanceAction::stay;
    is_decision_near_ = stays && balance.refused && decided.request.held_s < rules.near_s;
    if (stays || (mode != BalanceMode::automatic && !asked.is_now())) {
      if (!stays || asked) publish(decided, false, static_cast<bool>(asked));
      answer("advised", {{"balance", control::to_json(balance, ids())}});
      return nothing;
    }
    Decision decision = for_factors ? decision_for_factors() : decision_of(decided);
    note(decided);
    doing_ = std::move(decided);
    asked_ = question;
    return decision;
  };
  Decision decision;
  const std::optional<Error> wrong = attempt([&] { decision = find(); });
  if (!wrong) return decision;
  std::fprintf(stderr, "dyngrid: no balance was found: %s\n", wrong->what());
  return fail(wrong->what());
}

/// Records the decision, before anything is done.
void Balancing::note(const BalanceDecision& decided) {
  last_ = control::BalanceReport(*decided.balance, decided.request.step_s, last_.number + 1);
}

void Balancing::note_nothing(const std::string& why) {
  const std::int64_t number = last_.number + 1;
  last_ = {};
  last_.number = number;
  last_.from = last_.to = grid_.shape();
  last_.why = why;
}

void Balancing::carried_out(double change_s) {
  if (!std::exchange(is_doing_, false)) return; // it was parked in it, and woken for something else
  last_.done(change_s);
  if (processes_.id() != 0 || !doing_) return;
  const BalanceDecision decided = *std::exchange(doing_, std::nullopt);
  for (const ProcessLoad& load : memory_.loads)
    memory_.speed_given(load.process, processes_.process_set().speed_of(load.process));
  memory_.carried_out(decided, change_s, base::monotonic_s());
  seen_ = seen_now();
  tried_ = last_;
  if (control_) control_->state().balanced(tried_);
  publish(decided, true, true);
  if (!asked_ || !control_) return;
  control_->state().board.answer(*asked_, {{"outcome", "done"},
                                           {"mode", to_string(settings_.balance)},
                                           {"balance", control::to_json(*decided.balance, ids())}});
  control_->wake();
  asked_.reset();
}

void Balancing::failed(const std::string& why) {
  if (!std::exchange(is_doing_, false)) return;
  last_.why = "it could not be done: " + why;
  if (processes_.id() != 0) return;
  doing_.reset();
  std::fprintf(stderr, "dyngrid: the work was not redistributed: %s\n", why.c_str());
  if (asked_ && control_) control_->state().board.answer(*asked_, {{"outcome", "failed"}, {"reason", why}});
  asked_.reset();
}

/// Advice that repeats is sent each time, but counted and printed once.
void Balancing::publish(const BalanceDecision& decided, bool is_done, bool is_asked) {
  const Balance& balance = *decided.balance;
  const bool is_new = is_asked || to_string(balance.action) + balance.why != advised_;
  if (is_new && !is_done) note(decided);
  if (control_) {
    control::Json event = control::to_json(balance, ids());
    event["event"] = "balance";
    event["done"] = is_done;
    event["number"] = last_.number;
    control_->state().board.post(std::move(event));
    control_->wake();
  }
  const std::string text = fmt::format(
      "{}{}: {}; now {}; {}change {}, {} elements move",
      is_done || balance.action == BalanceAction::stay ? "" : "would ", to_string(balance.action), balance.why,
      shown(balance.now), balance.action == BalanceAction::stay ? "" : fmt::format("then {}; ", shown(balance.then)),
      seconds_of(balance.then.change.total()), balance.then.moved_elements);
  if (!is_new) return;
  advised_ = is_done ? "" : to_string(balance.action) + balance.why;
  if (settings_.is_verbose || (!is_done && settings_.balance == BalanceMode::advise))
    std::fprintf(stderr, "dyngrid: balance: %s\n", text.c_str());
}

/// Once: the processes whose load cannot be measured.
void Balancing::print_unmeasured() {
  for (const ProcessLoad& load : loads_) {
    const bool is_unmeasured = load.place >= 0 && load.samples > 0 && load.competing < 0 &&
                               load.source == static_cast<std::int32_t>(control::LoadSource::competitors);
    if (!is_unmeasured || std::exchange(has_printed_unmeasured_, true)) continue;
    std::fprintf(stderr,
                 "dyngrid: balance: what process %d on %s gets of its processor is not known, since /proc cannot be "
                 "read there: it counts as unloaded (dyngrid doctor says more)\n",
                 load.process, load.host.c_str());
  }
}

/// Each stop once, when it is over.
void Balancing::print_stopped() {
  for (const ProcessLoad& load : loads_) {
    double& printed_s = printed_stop_s_[load.process];
    if (load.stopped_s <= printed_s) continue;
    std::fprintf(stderr,
                 "dyngrid: balance: process %d on %s was stopped for %.1f s; only repeated stops count as waiting\n",
                 load.process, load.host.c_str(), load.stopped_s - printed_s);
    printed_s = load.stopped_s;
  }
}

void Balancing::publish_outcome() {
  const auto outcome = memory_.outcome(base::monotonic_s());
  if (!outcome) return;
  tried_.judged(*outcome);
  if (last_.number == tried_.number) last_ = tried_;
  if (control_) {
    control_->state().balanced(tried_);
    control::Json event = control::to_json(*outcome);
    event["event"] = "balanced";
    event["number"] = tried_.number;
    control_->state().board.post(std::move(event));
    control_->wake();
  }
  if (settings_.is_verbose)
    std::fprintf(stderr,
                 "dyngrid: balance: %s took %.3g s (predicted %.3g s); a step took %.3g s, takes %.3g s (predicted "
                 "%.3g s)\n",
                 to_string(outcome->action), outcome->change_s, outcome->predicted_change_s, outcome->before_s,
                 outcome->after_s, outcome->predicted_after_s);
}

} // namespace blacs_dyn
