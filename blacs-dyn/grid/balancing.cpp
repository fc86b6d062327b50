// SPDX-License-Identifier: BSD-3-Clause
#include "grid/balancing.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "advise/factor_layout.hpp"
#include "advise/payoff.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/index.hpp"
#include "base/parse_json.hpp"
#include "dyngrid/balance.h"
#include "grid/application.hpp"
#include "gridmap/dealing.hpp"
#include "redist/plan.hpp"

namespace blacs_dyn {

using advise::Balance;
using advise::BalanceAction;
using advise::BalanceRequest;
using advise::BalanceVerdict;
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
  std::int32_t has_verdict = 0; ///< process 0: a broadcast follows
  std::int32_t wants_loads = 0;
  std::int64_t item_bytes = 0; ///< of what rows and columns took: a gathering follows where there are some
};

// ---- every process

void Balancing::start_monitor() {
  if (monitor_) return;
  try {
    const char* root = environment("DYNGRID_LOAD_ROOT");
    monitor_.reset(new control::LoadMonitor(root ? root : ""));
  } catch (const std::exception& error) { // this process has no figures; the others see that they are missing
    if (app_.processes.id() == 0) std::fprintf(stderr, "dyngrid: %s\n", error.what());
    is_monitored_ = false;
  }
}

void Balancing::set_mode(BalanceMode mode) {
  app_.settings.balance = mode;
  if (app_.control) app_.control->board().set_mode(mode);
}

void Balancing::begin_or_wake() {
  if (app_.settings.balance != BalanceMode::off) is_monitored_ = true;
  if (is_monitored_ && !monitor_) start_monitor();
  if (std::exchange(is_asleep_, false)) { // woken
    told_ = {};
    told_asleep_s_ = 0;
    items_.take(app_.matrices); // from before its sleep
    monitor_->sleeps(false);
  }
}

std::uint64_t Balancing::flags() {
  begin_or_wake();
  // where no process balances and the program requests none, process 0 asks when it needs loads, and is not called for
  // one
  const bool is_of_use = app_.settings.balance != BalanceMode::off || is_wanted_here_;
  if (monitor_ && is_of_use && monitor_->has_changed()) return PlaceWord::loads;
  if (is_wanted_here_ && !is_monitored_) return PlaceWord::loads; // from which on all measure
  if (app_.processes.id() != 0 || !app_.control) return 0;
  const control::LoadBoard& board = app_.control->board();
  if (board.has_question() || memory_.has_outcome()) return PlaceWord::loads;
  const double now = base::monotonic_s();
  const bool is_wanted = app_.settings.balance != BalanceMode::off || is_wanted_here_ || board.is_wanted(now);
  return is_wanted && now - gathered_s_ >= (is_decision_near_ ? rules.gather_near_s : rules.gather_s)
             ? std::uint64_t{PlaceWord::loads}
             : 0;
}

LoadFigures Balancing::own_load() const {
  LoadFigures load;
  load.process = app_.processes.id();
  if (monitor_) monitor_->write(load);
  load.speed = app_.processes.process_set().speed_of(load.process);
  return load;
}

std::vector<ProcessLoad> Balancing::with_hosts(const std::vector<LoadFigures>& loads) const {
  std::map<int, std::string> hosts;
  for (advise::ProcessInfo& process : app_.processes.process_set().everybody())
    hosts[process.id] = std::move(process.host);
  std::vector<ProcessLoad> all;
  for (const LoadFigures& load : loads) all.push_back({load, hosts[load.process]});
  return all;
}

Balancing::Verdict Balancing::exchange(bool is_asked) {
  const MPI_Comm grid = app_.grid.comm();
  const bool is_0 = app_.processes.id() == 0;
  if (is_asked) {
    is_monitored_ = true;
    begin_or_wake();
  }
  Record mine;
  mine.load = own_load();
  Asked asked;
  asked.by_program = is_asked;
  mine.wants_loads = is_wanted_here_ ? 1 : 0;
  const std::vector<char> my_items = items_.take(app_.matrices);
  mine.item_bytes = static_cast<std::int64_t>(my_items.size());
  if (is_0) {
    gathered_s_ = base::monotonic_s();
    if (app_.control) asked.question = app_.control->board().take_question();
    mine.has_verdict = asked || app_.settings.balance != BalanceMode::off || memory_.has_outcome() ? 1 : 0;
  }
  if (!is_0) app_.processes.hear_told(base::tag_load); // passed on
  const std::size_t places = at(app_.grid.shape().size());
  std::vector<Record> all(places);
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, grid), "MPI_Allgather");
  if (monitor_) monitor_->told();
  std::vector<LoadFigures> in_grid;
  for (std::size_t k = 0; k < places; ++k) {
    in_grid.push_back(all[k].load);
    in_grid.back().place = static_cast<std::int32_t>(k);
  }
  loads_ = with_hosts(in_grid);
  std::vector<std::int64_t> sizes;
  for (const Record& record : all) sizes.push_back(record.item_bytes);
  if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size > 0; }))
    asked.items = gather(my_items, sizes);
  is_monitored_ = true; // from the first exchange on
  for (const Record& record : all) is_wanted_here_ = is_wanted_here_ || record.wants_loads != 0;
  Verdict verdict;
  verdict.mode = app_.settings.balance;
  if (is_0) verdict = consider(asked);
  verdict.report = last_;
  if (all[0].has_verdict == 0) return {};
  Packet packet;
  packet.put(verdict);
  broadcast(packet.bytes(), 0, grid);
  if (!is_0) packet.get(verdict);
  set_mode(verdict.mode);
  last_ = verdict.report;
  is_doing_ = verdict.kind != Verdict::Kind::nothing;
  return verdict;
}

std::vector<std::vector<char>> Balancing::gather(const std::vector<char>& mine,
                                                 const std::vector<std::int64_t>& sizes) const {
  std::vector<int> counts, begins;
  std::int64_t end = 0;
  for (const std::int64_t size : sizes) {
    counts.push_back(static_cast<int>(size)); // at most 1 MiB each
    begins.push_back(static_cast<int>(end));
    end += size;
  }
  if (end > INT_MAX)
    throw Error(
        base::Status::unsupported,
        fmt::format("blacs-dyn: dyngrid_work_items: {} bytes of rows and columns, expected at most {}: use larger "
                    "blocks",
                    end, INT_MAX));
  const bool is_0 = app_.processes.id() == 0;
  std::vector<char> all(is_0 ? at(end) : 0);
  check_mpi(MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(), counts.data(), begins.data(),
                        MPI_BYTE, 0, app_.grid.comm()),
            "MPI_Gatherv");
  std::vector<std::vector<char>> each;
  for (std::size_t k = 0; is_0 && k < sizes.size(); ++k)
    each.emplace_back(all.begin() + begins[k], all.begin() + begins[k] + counts[k]);
  return each;
}

void Balancing::write(Packet& packet) const {
  control::BalanceReport report = last_;
  report.is_done = report.is_done || is_doing_; // else they do not come
  packet.put(report);
}

void Balancing::read(Packet& packet) {
  packet.get(last_);
  is_doing_ = false; // what this process fell asleep in is over
}

void Balancing::joined() {
  if (last_.is_done && last_.measured_change_s == 0) last_.done(app_.last_resize.total_s);
}

int Balancing::lay_out_anew(const GridMap& to) {
  const ProcessSet& set = app_.processes.process_set();
  const GridMap before = set.grid;
  app_.processes.take_speeds(set.speeds_on(to), to);
  try {
    return app_.relayout.all();
  } catch (...) {
    app_.processes.take_speeds(set.speeds_on(before), before);
    throw;
  }
}

Balancing::FactorOrder::FactorOrder(Balancing& balancing, const Verdict& verdict) {
  matrix_ = balancing.app_.matrices.find(verdict.for_factors);
  if (!matrix_) return;
  before_ = std::exchange(matrix_->order, int{DYNGRID_ORDER_FACTOR});
  ++matrix_->relayouts; // a process that sleeps receives it
}

Balancing::FactorOrder::~FactorOrder() {
  if (!matrix_) return;
  matrix_->order = before_;
  --matrix_->relayouts;
}

void Balancing::end() {
  monitor_.reset();
  std::vector<LoadFigures> unheard;
  if (app_.processes.id() == 0 && app_.processes.world() != MPI_COMM_NULL) hear_sleepers(unheard);
}

// ---- marked work

void Balancing::work_begins() {
  if (marked_)
    throw Error(base::Status::bad_state, "blacs-dyn: dyngrid_work_begin: the work before has no dyngrid_work_end");
  marked_ = Clocks{base::monotonic_s(), control::thread_cpu_s()};
}

void Balancing::work_ends(double units) {
  if (!marked_)
    throw Error(base::Status::bad_state, "blacs-dyn: dyngrid_work_end without dyngrid_work_begin before it");
  if (!std::isfinite(units) || units < 0)
    throw Error(base::Status::bad_argument,
                fmt::format("blacs-dyn: dyngrid_work_end: units is {}, expected a finite number of at least 0", units));
  const Clocks begun = *std::exchange(marked_, std::nullopt);
  if (!monitor_) return;
  monitor_->work(control::thread_cpu_s() - begun.cpu_s, base::monotonic_s() - begun.wall_s, units);
}

void Balancing::work_items(const Matrix* a, const ItemTimes::Told& told) {
  if (!app_.matrices.has(a))
    throw Error(base::Status::not_found, "blacs-dyn: dyngrid_work_items: the handle is of no living matrix");
  const int rank = app_.grid.has_me() ? app_.grid.rank() : -1;
  items_.tell(*a, told, a->stretches(told.axis == 'R', rank, app_.grid.shape()));
}

// ---- sleeping processes

/// Reports to process 0 what this process would get, when that changes and every told_every_s seconds. Passes on the
/// reports of the groups that this process owns.
void Balancing::while_asleep() {
  if (app_.processes.id() < 0) return;
  app_.processes.hear_told(base::tag_load);
  if (app_.settings.balance == BalanceMode::off) return;
  start_monitor();
  if (!monitor_) return;
  is_asleep_ = true;
  monitor_->sleeps(true);
  const double now = base::monotonic_s();
  if (now - told_asleep_s_ < rules.asleep_news_s) return;
  const LoadFigures load = own_load();
  if (load.samples == 0) return;
  const bool is_calm = load.calm_s > rules.asleep_news_s, was_calm = told_.calm_s > rules.asleep_news_s;
  if (told_.samples > 0 && std::abs(load.share - told_.share) < rules.asleep_share && is_calm == was_calm &&
      now - told_asleep_s_ < rules.asleep_s)
    return;
  told_ = load;
  told_asleep_s_ = now;
  const char* bytes = reinterpret_cast<const char*>(&load);
  app_.processes.tell_process0(base::tag_load, {bytes, bytes + sizeof load});
}

/// Process 0: the reports since the last time; all sleeping processes are appended to `loads`.
void Balancing::hear_sleepers(std::vector<LoadFigures>& loads) const {
  const double now = base::monotonic_s();
  for (const std::vector<char>& bytes : app_.processes.hear_told(base::tag_load)) {
    LoadFigures load;
    if (bytes.size() != sizeof load) continue;
    std::memcpy(&load, bytes.data(), sizeof load);
    load.place = -1;
    load.busy = now; // kept until the next report: when it was received
    const auto known = std::find_if(asleep_.begin(), asleep_.end(),
                                    [&](const LoadFigures& other) { return other.process == load.process; });
    (known == asleep_.end() ? *asleep_.insert(known, load) : *known) = load;
  }
  const std::vector<int> parked = app_.processes.process_set().all_parked();
  asleep_.erase(std::remove_if(asleep_.begin(), asleep_.end(),
                               [&](const LoadFigures& load) { return !has(parked, load.process); }),
                asleep_.end());
  for (const int id : parked) {
    const auto known =
        std::find_if(asleep_.begin(), asleep_.end(), [&](const LoadFigures& load) { return load.process == id; });
    LoadFigures load;
    load.process = id; // nothing is known of it yet
    if (known != asleep_.end()) {
      load = *known;
      const double ago = now - load.busy;
      load.busy = 0;
      load.held_s += ago;
      if (load.calm_s > 0) load.calm_s += ago;   // it would have reported a competitor
      if (ago > rules.silent_s) load.calm_s = 0; // not taken back: all would wait for it
    }
    const ProcessSet& set = app_.processes.process_set();
    load.speed = set.speed_of(id);
    const int owner = set.group_of(id).owner;
    if (owner > 0 && !has(set.grid.ids, owner)) load.calm_s = 0; // it wakes those it owns: not taken back before
    loads.push_back(load);
  }
}

// ---- process 0

void Balancing::all_came() {
  if (panels_) return; // a panel ends otherwise
  const double now = base::monotonic_s(), begun_s = std::exchange(begun_s_, -1);
  if (app_.processes.id() == 0 && begun_s >= 0 && is_monitored_) memory_.step(now, now - begun_s);
}

void Balancing::Panels::all_came() {
  Balancing& b = balancing_;
  const double now = base::monotonic_s(), begun_s = std::exchange(b.begun_s_, -1);
  if (b.app_.processes.id() == 0 && begun_s >= 0 && b.is_monitored_) b.memory_.step(now, now - begun_s, size_);
}

Balancing::Panels::Panels(Balancing& balancing, Matrix& matrix, const Place& place)
    : balancing_(balancing), matrix_(matrix), what_{place.text, matrix.name, -1, 0, 0, 0},
      begun_s_(std::exchange(balancing.begun_s_, -1)), // what lies before the first panel is no panel
      revision_(balancing.app_.matrices.revision()), seen_(balancing.revision_),
      grid_(balancing.app_.processes.process_set().grid) {
  balancing_.panels_ = this;
  balancing_.know_factored(what_);
}

/// The program's step goes on, unless the grid is another one by now.
Balancing::Panels::~Panels() {
  Balancing& b = balancing_;
  b.panels_ = nullptr;
  b.know_factored({});
  const GridMap& grid = b.app_.processes.process_set().grid;
  const bool is_same = b.app_.matrices.revision() == revision_ && b.revision_ == seen_ && grid.shape == grid_.shape &&
                       grid.ids == grid_.ids && grid.speeds == grid_.speeds;
  b.begun_s_ = is_same ? begun_s_ : -1;
  if (!is_same) b.memory_.grid_changed(base::monotonic_s());
}

void Balancing::Panels::done(std::int64_t first, std::int64_t end) {
  const std::int64_t m = matrix_.rows.n, n = matrix_.cols.n;
  if (what_.first == 0) what_.first = gridmap::factor_work(m, n, 0, end - first);
  size_ = gridmap::factor_work(m, n, first, end) / what_.first;
  what_.last = first;
  what_.next = end;
  what_.left = std::llround(gridmap::factor_work(m, n, end, std::min(m, n)) / what_.first);
  if (balancing_.app_.processes.id() != 0) return;
  balancing_.know_factored(what_);
  if (balancing_.app_.control) balancing_.app_.control->panel(size_, what_.left);
}

void Balancing::know_factored(const Factored& what) {
  if (app_.processes.id() != 0) return;
  const bool is_another = what.place != factored_.place;
  factored_ = what;
  if (is_another) {
    memory_.end_panels();
    if (what.is_under_way()) memory_.begin_panels(base::monotonic_s());
  }
  if (!app_.control) return;
  if (is_another && what.is_under_way())
    app_.control->begin_panels(what.place);
  else if (is_another)
    app_.control->end_panels();
  app_.control->panel(1, what.left);
}

void Balancing::point_left() {
  if (app_.processes.id() != 0 || !is_monitored_) return;
  begun_s_ = base::monotonic_s();
  look_at_grid();
}

void Balancing::look_at_grid() {
  if (!is_monitored_) return;
  const GridMap& grid = app_.processes.process_set().grid;
  if (app_.matrices.revision() == revision_ && grid.shape == grid_.shape && grid.ids == grid_.ids &&
      grid.speeds == grid_.speeds)
    return;
  know_grid();
  memory_.grid_changed(base::monotonic_s());
  memory_.forget_trial(); // what follows is not what it brought
}

void Balancing::know_grid() {
  revision_ = app_.matrices.revision();
  grid_ = app_.processes.process_set().grid;
}

std::vector<int> Balancing::ids() const {
  std::vector<int> ids;
  for (const ProcessLoad& load : memory_.loads()) ids.push_back(load.process);
  return ids;
}

/// Rows and columns as they were decided; the first process stays at (0,0), so that the same one prints.
GridMap Balancing::map_of(const advise::BalanceChoice& choice, std::int64_t mb, std::int64_t nb) const {
  GridMap map;
  map.shape = {choice.grid.nprow, choice.grid.npcol};
  for (const int k : choice.order) map.ids.push_back(memory_.id_of(k));
  std::vector<std::int64_t> rows = choice.rows, cols = choice.cols;
  const int first = app_.processes.process_set().grid.ids.front();
  if (const auto place = static_cast<int>(position(map.ids, first)); place < map.shape.size() && place > 0) {
    const int row = place / map.shape.npcol, col = place % map.shape.npcol;
    for (int j = 0; j < map.shape.npcol; ++j) std::swap(map.ids[at(j)], map.ids[at(row * map.shape.npcol + j)]);
    for (int i = 0; i < map.shape.nprow; ++i)
      std::swap(map.ids[at(i * map.shape.npcol)], map.ids[at(i * map.shape.npcol + col)]);
    std::swap(rows[0], rows[at(row)]);
    std::swap(cols[0], cols[at(col)]);
  }
  // in blocks, so that dealing them out gives the same parts again
  const auto shares = [](const std::vector<std::int64_t>& parts, std::int64_t nb) {
    std::vector<double> blocks;
    for (const std::int64_t part : parts) blocks.push_back(static_cast<double>(nb > 0 ? (part + nb - 1) / nb : part));
    return blocks;
  };
  map.row_shares = shares(rows, mb);
  map.col_shares = shares(cols, nb);
  return map;
}

// ---- the order of a matrix that is being factored

/// The matrix that is being factored, where it is dealt out by speed in another order than DYNGRID_ORDER_FACTOR. Null:
/// there is no such matrix.
const Matrix* Balancing::may_get_factor_order() const {
  if (!factored_.is_under_way() || factored_.next <= factored_.last) return nullptr;
  const Matrix* a = app_.matrices.find(factored_.matrix);
  return a && a->order != 0 && a->order != DYNGRID_ORDER_FACTOR ? a : nullptr;
}

std::vector<double> Balancing::speeds_on(const GridMap& map) const {
  std::vector<double> speeds;
  for (const int id : map.ids)
    for (const ProcessLoad& load : memory_.loads())
      if (load.process == id) speeds.push_back(memory_.speed_of(load));
  return speeds;
}

/// Seconds of one element in one step at speed 1: as all steps say, or the last panel, whichever is less. Where shares
/// get uneven towards the end, the work seems to be more than it is.
double Balancing::factor_unit_s(const Matrix& a, const std::vector<double>& speeds,
                                const advise::BalanceRequest& r) const {
  const Factored& f = factored_;
  const double alike = gridmap::factor_work(a.rows.n, a.cols.n, f.last, f.next);
  const double slowest = advise::factor_time(a.layout.rows, a.layout.cols, speeds, f.last, f.next);
  return std::min(r.work_s, slowest > 0 ? r.step_s * alike / slowest : 0) / f.first;
}

/// The rest of the factorization in DYNGRID_ORDER_FACTOR on the current grid, where the time saved exceeds the cost of
/// the move.
std::optional<Balance> Balancing::factor_order(const BalanceVerdict& stays) const {
  const Matrix* factored = may_get_factor_order();
  if (!factored) return std::nullopt;
  const Matrix& a = *factored;
  const GridMap& grid = app_.processes.process_set().grid;
  const redist::Layout to = layout_on(grid, a.rows, a.cols, DYNGRID_ORDER_FACTOR);
  const std::vector<double> speeds = speeds_on(grid);
  if (speeds.size() != grid.ids.size()) return std::nullopt;
  const redist::Plan plan = move_of(a, to);
  const advise::Cost change = advise::exchange_cost(app_.machine.figures(), volume_of(plan, a));
  const advise::FactorLayoutDecision decision =
      advise::decide_factor_layout({a.layout.rows, a.layout.cols, to.rows, to.cols, speeds, factored_.next,
                                    factor_unit_s(a, speeds, stays.request), change.total(), stays.request.rules});
  if (!decision.pays) return std::nullopt;
  Balance balance = *stays.balance;
  balance.action = BalanceAction::rebalance;
  balance.steps = static_cast<double>(std::max<std::int64_t>(1, factored_.left));
  balance.now.step = {{{"work", decision.now_s / balance.steps}}};
  balance.then = balance.now;
  balance.then.step = {{{"work", decision.then_s / balance.steps}}};
  balance.then.change = change;
  balance.then.moved_elements = plan.totals().moved_elements;
  for (auto [parts, axis] : {std::pair(&balance.then.rows, &to.rows), std::pair(&balance.then.cols, &to.cols)}) {
    parts->clear();
    for (int k = 0; k < axis->nprocs; ++k) parts->push_back(axis->local_size(k));
  }
  balance.payoff_steps = advise::payoff_point(change.total(), balance.now.step_s(), balance.then.step_s());
  balance.why = fmt::format("in the order for factorizations the rest of \"{}\" takes {} for {}", a.name,
                            seconds_of(decision.then_s), seconds_of(decision.now_s));
  return balance;
}

/// The cost of moving all matrices, by redist's plan, and the other costs of a change.
advise::Cost Balancing::price(const advise::BalanceChoice& choice, std::int64_t mb, std::int64_t nb) const {
  const GridMap to = map_of(choice, mb, nb);
  const GridMap& from = app_.processes.process_set().grid;
  std::vector<int> ranks;
  int next = from.shape.size();
  for (const int id : to.ids) {
    const auto was = static_cast<int>(position(from.ids, id));
    ranks.push_back(was < from.shape.size() ? was : next++);
  }
  advise::Cost planned;
  for (const Matrix* a : app_.matrices.list()) {
    redist::Layout layout = a->on(to);
    layout.grid.ranks = ranks;
    planned += advise::exchange_cost(app_.machine.figures(), volume_of(move_of(*a, std::move(layout)), *a));
  }
  if (from.shape == to.shape && from.ids == to.ids) return planned;
  return app_.control ? app_.control->change_cost({to.shape.nprow, to.shape.npcol}, planned) : planned;
}

BalanceRequest Balancing::subject() const {
  BalanceRequest s;
  const Matrix* a = factored_.is_under_way() ? app_.matrices.find(factored_.matrix) : nullptr;
  if (!a) a = items_.known_of(app_.matrices);
  if (!a) a = app_.matrices.largest();
  const Shape shape = app_.grid.shape();
  s.grid = {shape.nprow, shape.npcol};
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
  s.element_bytes = std::max<std::int64_t>(1, static_cast<std::int64_t>(app_.matrices.bytes() / elements));
  if (app_.control) {
    s.steps_left = app_.control->steps_left();
    if (!app_.control->allowed().text().empty()) s.max_aspect = 0; // it says all that is to be said of shapes
    s.allowed = [allowed = app_.control->allowed()](base::GridShape to) { return allowed.permits(to); };
  }
  if (factored_.is_under_way()) {
    s.steps_left = factored_.left;
  } else {
    s.row_costs = items_.costs(*a, true);
    s.col_costs = items_.costs(*a, false);
  }
  s.change = [this, mb = s.mb, nb = s.nb](const advise::BalanceChoice& choice) { return price(choice, mb, nb); };
  return s;
}

Balancing::Verdict Balancing::verdict_of(const BalanceVerdict& decided) const {
  Verdict verdict;
  verdict.mode = app_.settings.balance;
  verdict.to = map_of(decided.balance->then, decided.request.mb, decided.request.nb);
  const GridMap& from = app_.processes.process_set().grid;
  verdict.kind =
      from.shape == verdict.to.shape && from.ids == verdict.to.ids ? Verdict::Kind::relayout : Verdict::Kind::change;
  const auto& all = app_.matrices.all();
  if (std::none_of(all.begin(), all.end(), [](const auto& a) { return a->order != 0; })) return verdict;
  for (const ProcessLoad& load : memory_.loads())
    if (load.samples > 0) {
      verdict.ids.push_back(load.process);
      verdict.speeds.push_back(memory_.speed_of(load));
    }
  return verdict;
}

/// The same grid, speeds and shares.
Balancing::Verdict Balancing::verdict_for_factors() const {
  Verdict verdict;
  verdict.mode = app_.settings.balance;
  verdict.kind = Verdict::Kind::relayout;
  verdict.to = app_.processes.process_set().grid;
  verdict.for_factors = factored_.matrix;
  return verdict;
}

/// Once the loads are known: by place.
void Balancing::take_items(const std::vector<std::vector<char>>& items) {
  if (items.empty()) return;
  std::vector<double> speeds(items.size(), 1);
  for (const ProcessLoad& load : memory_.loads())
    if (load.place >= 0 && load.place < static_cast<int>(items.size()))
      speeds[at(load.place)] = memory_.alone_speed_of(load);
  items_.gathered(items, speeds, app_.matrices);
  memory_.costs_told();
}

/// Once the loads are there. Throws nothing: the others wait for the decision.
Balancing::Verdict Balancing::consider(const Asked& asked) {
  Verdict nothing;
  const std::optional<control::BalanceQuestion>& question = asked.question;
  if (question && question->mode) set_mode(*question->mode);
  const BalanceMode mode = nothing.mode = app_.settings.balance;
  const double now = base::monotonic_s();
  const auto answer = [&](const char* outcome, control::Json fields) {
    fields["outcome"] = outcome;
    fields["mode"] = to_string(mode);
    if (question && app_.control) app_.control->board().answer(*question, std::move(fields));
  };
  const auto fail = [&](const std::string& reason) {
    answer("failed", {{"reason", reason}});
    if (asked) note_nothing(reason);
    return nothing;
  };
  try {
    std::vector<LoadFigures> asleep;
    hear_sleepers(asleep);
    std::vector<ProcessLoad> all = loads_;
    for (ProcessLoad& load : with_hosts(asleep)) all.push_back(std::move(load));
    if (!app_.processes.is_speed_given()) control::take_marked_speeds(all);
    if (app_.control) app_.control->board().show(all, now);
    say_unmeasured(all);
    say_stopped(all);
    loads_ = all;
    memory_.take(std::move(all), now);
    take_items(asked.items);
    say_outcome();
    if (!asked && (mode == BalanceMode::off || !memory_.is_due(now))) {
      is_decision_near_ = mode != BalanceMode::off && (is_decision_near_ || !memory_.is_settled(now));
      return nothing;
    }
    is_decision_near_ = false;
    if (!app_.matrices.largest()) return fail("no matrix is registered: there is nothing that could be given out anew");
    BalanceVerdict decided = decide_balance(subject(), memory_, now);
    if (!decided.balance) return fail(decided.why_not + ": ask again after a few steps");
    const bool would_stay = decided.balance->action == BalanceAction::stay;
    const std::optional<Balance> for_factors = would_stay ? factor_order(decided) : std::nullopt;
    if (for_factors) decided.balance = for_factors;
    const Balance& balance = *decided.balance;
    const bool stays = balance.action == BalanceAction::stay;
    is_decision_near_ = stays && balance.refused && decided.request.held_s < rules.near_s;
    if (stays || (mode != BalanceMode::automatic && !asked.is_now())) {
      if (!stays || asked) say(decided, false, static_cast<bool>(asked));
      answer("advised", {{"balance", control::to_json(balance, ids())}});
      return nothing;
    }
    Verdict verdict = for_factors ? verdict_for_factors() : verdict_of(decided);
    note(decided);
    doing_ = std::move(decided);
    asked_ = question;
    return verdict;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dyngrid: no balance was found: %s\n", error.what());
    return fail(error.what());
  }
}

/// Records the decision, before anything is done.
void Balancing::note(const BalanceVerdict& decided) {
  last_ = control::BalanceReport(*decided.balance, decided.request.step_s, last_.number + 1);
}

void Balancing::note_nothing(const std::string& why) {
  const Shape shape = app_.grid.shape();
  const std::int64_t number = last_.number + 1;
  last_ = {};
  last_.number = number;
  last_.from = last_.to = {shape.nprow, shape.npcol};
  last_.why = why;
}

void Balancing::carried_out() {
  if (!std::exchange(is_doing_, false)) return; // it fell asleep in it, and was woken for something else
  last_.done(app_.last_resize.total_s);
  if (app_.processes.id() != 0 || !doing_) return;
  const BalanceVerdict decided = *std::exchange(doing_, std::nullopt);
  for (const ProcessLoad& load : memory_.loads())
    memory_.speed_given(load.process, app_.processes.process_set().speed_of(load.process));
  memory_.carried_out(decided, app_.last_resize.total_s, base::monotonic_s());
  know_grid();
  tried_ = last_;
  if (app_.control) app_.control->balanced(tried_);
  say(decided, true, true);
  if (!asked_ || !app_.control) return;
  app_.control->board().answer(*asked_, {{"outcome", "done"},
                                         {"mode", to_string(app_.settings.balance)},
                                         {"balance", control::to_json(*decided.balance, ids())}});
  app_.control->wake();
  asked_.reset();
}

void Balancing::failed(const std::string& why) {
  if (!std::exchange(is_doing_, false)) return;
  last_.why = "it could not be done: " + why;
  if (app_.processes.id() != 0) return;
  doing_.reset();
  std::fprintf(stderr, "dyngrid: the work is not given out anew: %s\n", why.c_str());
  if (asked_ && app_.control) app_.control->board().answer(*asked_, {{"outcome", "failed"}, {"reason", why}});
  asked_.reset();
}

/// Advice that repeats is sent each time, but counted and printed once.
void Balancing::say(const BalanceVerdict& decided, bool is_done, bool is_asked) {
  const Balance& balance = *decided.balance;
  const bool is_new = is_asked || to_string(balance.action) + balance.why != advised_;
  if (is_new && !is_done) note(decided);
  if (app_.control) {
    control::Json event = control::to_json(balance, ids());
    event["event"] = "balance";
    event["done"] = is_done;
    event["number"] = last_.number;
    app_.control->board().tell(std::move(event));
    app_.control->wake();
  }
  const std::string text = fmt::format(
      "{}{}: {}; now {}; {}change {}, {} elements move",
      is_done || balance.action == BalanceAction::stay ? "" : "would ", to_string(balance.action), balance.why,
      shown(balance.now), balance.action == BalanceAction::stay ? "" : fmt::format("then {}; ", shown(balance.then)),
      seconds_of(balance.then.change.total()), balance.then.moved_elements);
  if (!is_new) return;
  advised_ = is_done ? "" : to_string(balance.action) + balance.why;
  if (app_.settings.is_verbose || (!is_done && app_.settings.balance == BalanceMode::advise))
    std::fprintf(stderr, "dyngrid: balance: %s\n", text.c_str());
}

/// Once: the processes whose load cannot be measured.
void Balancing::say_unmeasured(const std::vector<ProcessLoad>& loads) {
  for (const ProcessLoad& load : loads) {
    const bool is_unmeasured = load.place >= 0 && load.samples > 0 && load.competing < 0 &&
                               load.source == static_cast<std::int32_t>(control::LoadSource::competitors);
    if (!is_unmeasured || std::exchange(is_unmeasured_said_, true)) continue;
    std::fprintf(stderr,
                 "dyngrid: balance: what process %d on %s gets of its processor is not known, since /proc cannot be "
                 "read there: it counts as unloaded (dyngrid doctor says more)\n",
                 load.process, load.host.c_str());
  }
}

/// Each stop once, when it is over.
void Balancing::say_stopped(const std::vector<ProcessLoad>& loads) {
  for (const ProcessLoad& load : loads) {
    double& said_s = stopped_said_[load.process];
    if (load.stopped_s <= said_s) continue;
    std::fprintf(stderr, "dyngrid: balance: process %d on %s was stopped for %.1f s; that counts as waiting\n",
                 load.process, load.host.c_str(), load.stopped_s - said_s);
    said_s = load.stopped_s;
  }
}

void Balancing::say_outcome() {
  const auto outcome = memory_.outcome(base::monotonic_s());
  if (!outcome) return;
  tried_.judged(*outcome);
  if (last_.number == tried_.number) last_ = tried_;
  if (app_.control) {
    app_.control->balanced(tried_);
    control::Json event = control::to_json(*outcome);
    event["event"] = "balanced";
    event["number"] = tried_.number;
    app_.control->board().tell(std::move(event));
    app_.control->wake();
  }
  if (app_.settings.is_verbose)
    std::fprintf(stderr,
                 "dyngrid: balance: %s took %.3g s (predicted %.3g s); a step took %.3g s, takes %.3g s (predicted "
                 "%.3g s)\n",
                 to_string(outcome->action), outcome->change_s, outcome->predicted_change_s, outcome->before_s,
                 outcome->after_s, outcome->predicted_after_s);
}

} // namespace blacs_dyn
