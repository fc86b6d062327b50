// SPDX-License-Identifier: BSD-3-Clause
#include "advise/balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advise/chain.hpp"
#include "advise/payoff.hpp"
#include "advise/topology.hpp"
#include "base/index.hpp"
#include "base/names.hpp"
#include "base/status.hpp"
#include "gridmap/axis.hpp"
#include "gridmap/mapping.hpp"
#include "gridmap/placement.hpp"
#include "refusal.hpp"

namespace advise {

using gridmap::Axis;

using base::Error;
using base::Status;
namespace {

constexpr int most_mapped = 40;     ///< choices with unequal parts that are looked at, among up to 256 processes
constexpr int most_refined = 4;     ///< the best of them, which are looked at closely
constexpr double search_work = 2e7; ///< floating-point operations of all searches for an arrangement; about 0.05 s
constexpr int most_for_best = 64;   ///< processes that MapMethod::best arranges: with more it takes seconds

using base::at;

void check_parts(std::string_view name, const std::vector<std::int64_t>& parts, int count, std::int64_t all) {
  if (parts.empty()) return;
  if (static_cast<int>(parts.size()) != count ||
      std::any_of(parts.begin(), parts.end(), [](std::int64_t part) { return part < 0; }) ||
      std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) != all)
    throw Error(Status::shape_mismatch, "advise: balance: {} are {}, expected {} parts from 0 with the sum {}", name,
                fmt::join(parts, ", "), count, all);
}

void check_costs(std::string_view name, const ItemCosts& items, std::int64_t nb, bool is_weighted) {
  if (items.are_alike()) return;
  if (!is_weighted) refuse("balance: {} are of parts that may be unequal, but all are equal", name);
  if (items.group < 1 || items.group % std::max<std::int64_t>(1, nb) != 0)
    refuse("balance: {} are of groups of {} items, expected whole blocks of {}", name, items.group, nb);
}

void check_processes(const BalanceRequest& r) {
  std::vector<int> at_place(at(r.grid.size()), -1);
  for (std::size_t k = 0; k < r.processes.size(); ++k) {
    const BalanceProcess& p = r.processes[k];
    if (!std::isfinite(p.speed) || p.speed <= 0)
      refuse("balance: speed of process {} is {}, expected a finite number above 0", k, p.speed);
    if (!(p.share > 0 && p.share <= 1))
      refuse("balance: share of process {} is {}, expected a part of its processor, above 0, at most 1", k, p.share);
    if (!std::isfinite(p.waits_s) || p.waits_s < 0)
      refuse("balance: waits_s of process {} is {}, expected a finite number of seconds from 0", k, p.waits_s);
    if (std::isnan(p.away_s) || std::isnan(p.calm_s))
      refuse("balance: away_s and calm_s of process {} are {} and {}, expected numbers", k, p.away_s, p.calm_s);
    if (p.place < -1 || p.place >= r.grid.size() || (p.place >= 0 && at_place[at(p.place)] >= 0))
      throw Error(Status::shape_mismatch,
                  "advise: balance: place of process {} is {}, expected -1 or a free one of a {} grid", k, p.place,
                  to_string(r.grid));
    if (p.place >= 0) at_place[at(p.place)] = static_cast<int>(k);
  }
  if (std::count(at_place.begin(), at_place.end(), -1) > 0)
    throw Error(Status::shape_mismatch,
                "advise: balance: {} of the {} places of a {} grid have no process, expected one each",
                std::count(at_place.begin(), at_place.end(), -1), r.grid.size(), to_string(r.grid));
}

void check(const BalanceRequest& r) {
  base::check_grid_shape(r.grid, "advise: balance: grid");
  if (r.m < 1 || r.n < 1) refuse("balance: matrix is {} x {}, expected at least 1 x 1", r.m, r.n);
  if (r.m > std::numeric_limits<std::int64_t>::max() / 4 / r.n)
    refuse("balance: matrix is {} x {}, expected fewer than 2^61 elements", r.m, r.n);
  if (r.mb < 0 || r.nb < 0) refuse("balance: blocks are {} x {}, expected at least 0 x 0", r.mb, r.nb);
  if (r.element_bytes < 1) refuse("balance: element_bytes is {}, expected at least 1", r.element_bytes);
  for (const auto& [name, value] : {std::pair{"error", r.error}, std::pair{"measured_error", r.measured_error}})
    if (!(value >= 0)) refuse("balance: {} is {}, expected a part of a step, from 0", name, value);
  for (const MeasuredStep& known : r.measured)
    if (!(known.step_s > 0) || static_cast<int>(known.order.size()) != known.grid.size())
      refuse("balance: a measured step takes {} s on {} processes of a {} grid, expected a time above 0 "
             "and one process for each position",
             known.step_s, known.order.size(), to_string(known.grid));
  check_parts("rows", r.rows, r.grid.nprow, r.m);
  check_parts("cols", r.cols, r.grid.npcol, r.n);
  check_costs("row_costs", r.row_costs, r.mb, r.is_weighted);
  check_costs("col_costs", r.col_costs, r.nb, r.is_weighted);
  check_processes(r);
  for (const auto& [name, value] :
       {std::pair{"fixed_s", r.fixed_s}, std::pair{"work_s", r.work_s}, std::pair{"border_s", r.border_s},
        std::pair{"volume_s", r.volume_s}, std::pair{"messages_s", r.messages_s}, std::pair{"step_s", r.step_s}})
    if (!std::isfinite(value) || value < 0)
      refuse("balance: {} is {}, expected a finite number of seconds from 0", name, value);
  if (!(r.processor_part >= 0 && r.processor_part <= 1))
    refuse("balance: processor_part is {}, expected 0 .. 1", r.processor_part);
  if (r.steps_left < -1) refuse("balance: steps_left is {}, expected at least 0 (-1: not known)", r.steps_left);
  if (!(r.held_s >= 0)) refuse("balance: held_s is {}, expected seconds from 0", r.held_s);
  if (!(r.max_aspect == 0 || r.max_aspect >= 1))
    refuse("balance: max_aspect is {}, expected at least 1 (0: any)", r.max_aspect);
}

/// The search for the best choice.
class Search {
public:
  explicit Search(const BalanceRequest& request) : r_(request), work_{{r_.m, r_.row_costs}, {r_.n, r_.col_costs}} {
    now_.grid = r_.grid;
    now_.order.resize(at(r_.grid.size()));
    for (std::size_t k = 0; k < r_.processes.size(); ++k)
      if (r_.processes[k].place >= 0) now_.order[at(r_.processes[k].place)] = static_cast<int>(k);
    rows_now_ = r_.rows.empty() ? Axis::equal(r_.m, r_.mb, r_.grid.nprow) : Axis::variable(r_.rows);
    cols_now_ = r_.cols.empty() ? Axis::equal(r_.n, r_.nb, r_.grid.npcol) : Axis::variable(r_.cols);
    now_.rows = rows_now_.local_sizes();
    now_.cols = cols_now_.local_sizes();
    set_step(now_);
    if (r_.step_s > 0 && now_.step_s() > 0) {
      correction_ = r_.step_s / now_.step_s();
      now_.step *= correction_;
    }
    const auto left = static_cast<double>(r_.steps_left >= 0 ? r_.steps_left : r_.rules.steps_left);
    steps_ = now_.step_s() > 0 ? std::min(left, r_.held_s / now_.step_s()) : left;
    is_load_new_ = steps_ < left;
    are_steps_known_ = r_.steps_left >= 0 && !is_load_new_;
  }

  Balance run() {
    Balance balance;
    balance.now = balance.then = now_;
    balance.steps = steps_;
    const BalanceChoice* best = nullptr;
    std::vector<BalanceChoice> choices = look();
    double least = steps_ * now_.step_s();
    const BalanceChoice* quickest = nullptr;
    double without_recent = now_.step_s(); // seconds of a step of the best choice without processes that left lately
    for (const bool recent : {false, true}) {
      for (const BalanceChoice& choice : choices) {
        if (has_recent(choice) != recent || choice == now_) continue;
        if (quickest == nullptr || choice.step_s() < quickest->step_s()) quickest = &choice;
        if (!refusal(choice, without_recent).empty()) continue;
        const double all = all_s(choice);
        if (all >= least) continue;
        least = all;
        best = &choice;
      }
      if (best != nullptr) without_recent = best->step_s();
    }
    if (best == nullptr) {
      balance.why = "nothing is gained: no other choice has a shorter step";
      if (quickest != nullptr && quickest->step_s() < now_.step_s()) {
        balance.why = refusal(*quickest, now_.step_s());
        if (balance.why.empty())
          balance.why = fmt::format("{} would take {:.3g} s with the change and the error of its prediction, expected "
                                    "less than the {:.3g} s of the steps that can be counted on",
                                    to_string(quickest->grid), all_s(*quickest), steps_ * now_.step_s());
        if (quickest->step_s() <= now_.step_s() * (1 - r_.rules.gain)) balance.refused = *quickest;
      }
      return balance;
    }
    balance.then = *best;
    for (std::size_t k = 0; k < r_.processes.size(); ++k) {
      const bool is_in = std::count(best->order.begin(), best->order.end(), static_cast<int>(k)) > 0;
      if (is_in == (r_.processes[k].place >= 0)) continue;
      (is_in ? balance.comes : balance.leaves).push_back(static_cast<int>(k));
    }
    balance.action = balance.leaves.empty()
                         ? (balance.comes.empty() ? BalanceAction::rebalance : BalanceAction::take_back)
                         : (balance.comes.empty() ? BalanceAction::remove : BalanceAction::replace);
    balance.payoff_steps = payoff(*best, best->change.total());
    balance.why = fmt::format(
        "a step of {:.3g} s becomes {:.3g} s ({:.0f} % less); the time saved exceeds the cost after {} of {:.0f} steps",
        now_.step_s(), best->step_s(), 100 * balance.gain(), balance.payoff_steps, steps_);
    return balance;
  }

private:
  const BalanceRequest& r_;
  BalanceChoice now_;
  WorkOnGrid work_;
  Axis rows_now_, cols_now_;
  double correction_ = 1, steps_ = 0;
  bool are_steps_known_ = false; ///< not a guess
  bool is_load_new_ = false;     ///< it may end before the steps do

  /// A set of processes on a shape that was not considered yet.
  struct Candidate {
    GridShape grid;
    std::vector<int> members; ///< strongest first
    double bound = 0;         ///< seconds that a step takes at least
  };

  const BalanceProcess& process(int k) const { return r_.processes[at(k)]; }
  bool is_now(int k) const { return process(k).place >= 0; }
  bool must_stay(int k) const { return is_now(k) && (!r_.may_remove || !process(k).may_leave); }
  bool left_lately(int k) const { return !is_now(k) && process(k).away_s < r_.rules.soon_s; }

  static std::int64_t blocks(std::int64_t n, std::int64_t nb) { return nb > 0 ? (n + nb - 1) / nb : n; }

  /// Parts in whole blocks, of which the last one is cut; `parts` in elements, or in blocks.
  static void cut(std::vector<std::int64_t>& parts, std::int64_t n, std::int64_t nb, bool are_blocks) {
    if (nb == 0) return;
    for (std::int64_t& part : parts) {
      part = std::min(n, (are_blocks ? part : blocks(part, nb)) * nb);
      n -= part;
    }
  }

  double messages(GridShape g) const {
    if (g.size() == 1) return r_.one_process_ran || r_.grid.size() == 1 ? 0 : messages(r_.grid);
    return r_.border_s + r_.volume_s * (1.0 / g.nprow + 1.0 / g.npcol) + r_.messages_s * (g.nprow + g.npcol);
  }
  double messages(GridShape g, int k) const {
    return messages(g) * (1 - r_.processor_part + r_.processor_part / process(k).share) + waiting(g, k);
  }
  double waiting(GridShape g, int k) const { return g.size() > 1 ? process(k).waits_s : 0; }

  /// Predicted, not yet corrected.
  void set_step(BalanceChoice& choice) const {
    double work = 0, messages_s = 0, waits_s = 0, longest_work = 0;
    const std::vector<double> parts = work_.parts(choice.rows, choice.cols);
    for (std::size_t place = 0; place < parts.size(); ++place) {
      const int k = choice.order[place];
      const double own_work = r_.work_s * parts[place] / process(k).speed, own_messages = messages(choice.grid, k);
      longest_work = std::max(longest_work, parts[place] / process(k).speed);
      if (own_work + own_messages < work + messages_s + waits_s) continue;
      work = own_work;
      waits_s = waiting(choice.grid, k);
      messages_s = own_messages - waits_s;
    }
    choice.power = 1 / longest_work;
    choice.step.terms = {{"fixed", r_.fixed_s}, {"work", work}, {"messages", messages_s}};
    if (waits_s > 0) choice.step.terms.push_back({"waiting", waits_s});
  }

  /// Step, movement and price of a choice whose grid, order, rows and columns are there.
  void finish(BalanceChoice& choice, const Axis& rows, const Axis& cols) const {
    set_step(choice);
    choice.step *= correction_;
    const auto known = std::find(r_.measured.begin(), r_.measured.end(), choice);
    choice.is_measured = known != r_.measured.end();
    if (choice.is_measured) choice.step *= known->step_s / choice.step_s();
    const gridmap::Overlap by_row = overlap(rows_now_, rows), by_col = overlap(cols_now_, cols);
    const int npcol = choice.grid.npcol, npcol_now = r_.grid.npcol;
    std::int64_t kept = 0, most_moved = 0, most_touched = 0; // elements; of the busiest process
    std::vector<char> stays(at(r_.grid.size()), 0);
    for (int place = 0; place < choice.grid.size(); ++place) {
      const int before = process(choice.order[at(place)]).place;
      const std::int64_t own = choice.rows[at(place / npcol)] * choice.cols[at(place % npcol)];
      std::int64_t own_kept = 0, had = 0;
      if (before >= 0) {
        stays[at(before)] = 1;
        own_kept = by_row.count(before / npcol_now, place / npcol) * by_col.count(before % npcol_now, place % npcol);
        had = now_.rows[at(before / npcol_now)] * now_.cols[at(before % npcol_now)];
      }
      kept += own_kept;
      most_moved = std::max({most_moved, own - own_kept, had - own_kept});
      most_touched = std::max(most_touched, own + had - own_kept);
    }
    for (int place = 0; place < r_.grid.size(); ++place) {
      if (stays[at(place)]) continue;
      const std::int64_t had = now_.rows[at(place / npcol_now)] * now_.cols[at(place % npcol_now)];
      most_moved = std::max(most_moved, had);
      most_touched = std::max(most_touched, had);
    }
    choice.moved_elements = r_.m * r_.n - kept;
    if (r_.change) {
      choice.change = r_.change(choice);
      return;
    }
    if (choice.moved_elements == 0) return;
    const auto bytes = [&](std::int64_t elements) {
      return static_cast<double>(elements) * static_cast<double>(r_.element_bytes);
    };
    PlanVolume volume;
    volume.processes = std::max(choice.grid.size(), r_.grid.size());
    volume.turns = volume.processes - 1;
    volume.wire_bytes = bytes(most_moved);
    volume.is_contended = true;
    volume.touched_bytes = bytes(most_touched);
    volume.packed_bytes = bytes(2 * choice.moved_elements + kept);
    choice.change = exchange_cost(r_.machine, volume);
  }

  std::int64_t payoff(const BalanceChoice& choice, double price_s) const {
    return payoff_point(price_s, now_.step_s(), choice.step_s());
  }

  /// As payoff(), but parts of a step count: a step may be longer than the time that a load has lasted.
  double steps_to_pay_off(const BalanceChoice& choice, double price_s) const {
    const double saved_s = now_.step_s() - choice.step_s();
    return saved_s > 0 ? price_s / saved_s : std::numeric_limits<double>::infinity();
  }

  /// Seconds of a step without any competitor.
  double alone_s(const BalanceChoice& choice) const {
    const std::vector<double> parts = work_.parts(choice.rows, choice.cols);
    double longest = 0;
    for (std::size_t place = 0; place < parts.size(); ++place) {
      const BalanceProcess& p = process(choice.order[place]);
      longest = std::max(longest, r_.work_s * parts[place] * p.share / p.speed);
    }
    return r_.fixed_s + longest + messages(choice.grid);
  }

  /// The change, and, where the load may end before the steps do, the way back: until its end is seen and the processes
  /// that left may return, steps are longer than they would have been.
  double price_s(const BalanceChoice& choice) const {
    const double change_s = choice.change.total();
    if (!is_load_new_) return change_s;
    const double then_s = alone_s(choice), now_s = alone_s(now_);
    if (then_s <= now_s) return change_s;
    const bool leaves = std::any_of(now_.order.begin(), now_.order.end(), [&](int k) {
      return std::count(choice.order.begin(), choice.order.end(), k) == 0;
    });
    return change_s + (r_.rules.seen_s + (leaves ? r_.rules.calm_s : 0)) * (1 - now_s / then_s);
  }

  /// Seconds of all steps and the change.
  double all_s(const BalanceChoice& choice) const {
    const bool is_cut_anew = (choice.grid.nprow > 1 && !r_.rows_were_cut && r_.grid.nprow == 1) ||
                             (choice.grid.npcol > 1 && !r_.cols_were_cut && r_.grid.npcol == 1);
    const double error = is_cut_anew && !choice.is_measured ? r_.rules.errors * r_.error : 0;
    return steps_ * choice.step_s() * (1 + error) + price_s(choice);
  }

  /// Steps within which a change has to save its cost.
  double most_payoff(const BalanceChoice& choice) const {
    if (!are_steps_known_) return steps_ * r_.rules.payoff_part;
    const double saved_s = now_.step_s() - choice.step_s();
    return saved_s > 0 ? std::max(0.0, steps_ * (1 - r_.rules.worth * now_.step_s() / saved_s)) : 0;
  }

  bool has_recent(const BalanceChoice& choice) const {
    return std::any_of(choice.order.begin(), choice.order.end(), [&](int k) { return left_lately(k); });
  }

  /// Why a choice is not taken; empty when it may be. A process that left lately is measured by what is possible
  /// without it: a step of `without_recent` seconds.
  std::string refusal(const BalanceChoice& choice, double without_recent) const {
    const bool is_soon = has_recent(choice);
    const double before = is_soon ? without_recent : now_.step_s();
    const double factor = is_soon ? r_.rules.soon_factor : 1;
    const double least = r_.rules.gain * (choice.is_measured ? r_.rules.sure_part : 1);
    const double error = choice.is_measured ? r_.measured_error : r_.error;
    const double gain = std::min(factor * least + r_.rules.errors * error, 1.0);
    const std::string soon = is_soon
                                 ? fmt::format(" ({:.3g} times as much for a process that left less than {:.3g} s ago)",
                                               factor, r_.rules.soon_s)
                                 : "";
    if (choice.step_s() > before * (1 - gain))
      return fmt::format("{} would save {:.1f} % of a step, expected at least {:.3g} %{}", to_string(choice.grid),
                         100 * (1 - choice.step_s() / before), 100 * gain, soon);
    const double most = most_payoff(choice) / factor;
    double price = choice.change.total(), most_steps = most;
    if (steps_to_pay_off(choice, price) <= most && is_load_new_) { // the way back, too
      price = price_s(choice);
      most_steps = steps_ / factor;
    }
    if (steps_to_pay_off(choice, price) > most_steps)
      return fmt::format(
          "{} would cost {:.3g} s and save that after {} steps, expected at most {:.3g} of the {:.3g} that "
          "can be counted on{}",
          to_string(choice.grid), price, payoff(choice, price), most_steps, steps_, soon);
    return {};
  }

  /// Order: least waiting, then the strongest, then those in the grid, then position.
  std::vector<int> strongest(bool with_recent) const {
    std::vector<int> all;
    for (int k = 0; k < static_cast<int>(r_.processes.size()); ++k) {
      const BalanceProcess& p = process(k);
      if (is_now(k) || (r_.may_return && p.calm_s >= r_.rules.calm_s && (with_recent || !left_lately(k))))
        all.push_back(k);
    }
    std::stable_sort(all.begin(), all.end(), [&](int a, int b) {
      if (must_stay(a) != must_stay(b)) return must_stay(a);
      if (process(a).waits_s != process(b).waits_s) return process(a).waits_s < process(b).waits_s;
      if (process(a).speed != process(b).speed) return process(a).speed > process(b).speed;
      if (process(a).share != process(b).share) return process(a).share > process(b).share;
      if (is_now(a) != is_now(b)) return is_now(a);
      return process(a).place < process(b).place;
    });
    return all;
  }

  /// Seconds of work of the slowest process in equal parts, at least: the slowest member may have the smallest part,
  /// and the fastest one the largest.
  double least_work_s(GridShape shape, double slowest, double fastest) const {
    const std::vector<double> rows = work_.rows.parts(Axis::equal(r_.m, r_.mb, shape.nprow).local_sizes()),
                              cols = work_.cols.parts(Axis::equal(r_.n, r_.nb, shape.npcol).local_sizes());
    const auto [low_row, high_row] = std::minmax_element(rows.begin(), rows.end());
    const auto [low_col, high_col] = std::minmax_element(cols.begin(), cols.end());
    return std::max(r_.work_s * (*low_row * *low_col) / slowest, r_.work_s * (*high_row * *high_col) / fastest);
  }

  std::vector<Candidate> candidates() const {
    std::vector<Candidate> found;
    const double max_aspect = std::max(r_.max_aspect, aspect(r_.grid));
    const auto add_pool = [&](const std::vector<int>& pool) {
      const auto stay = std::count_if(pool.begin(), pool.end(), [&](int k) { return must_stay(k); });
      const auto least = std::max<std::ptrdiff_t>(1, stay);
      double sum = 0, slowest = std::numeric_limits<double>::infinity(), fastest = 0;
      std::vector<int> members;
      for (const int k : pool) {
        members.push_back(k);
        sum += process(k).speed;
        slowest = std::min(slowest, process(k).speed);
        fastest = std::max(fastest, process(k).speed);
        const int count = static_cast<int>(members.size());
        if (count < least) continue;
        for (int p = 1; p <= count; ++p) {
          if (count % p != 0) continue;
          const GridShape shape{p, count / p};
          const bool is_long = r_.max_aspect > 0 && aspect(shape) > max_aspect * (1 + 1e-9);
          if (!(shape == r_.grid) && (is_long || (r_.allowed && !r_.allowed(shape)))) continue;
          const double work_s = r_.is_weighted ? r_.work_s / sum : least_work_s(shape, slowest, fastest);
          const double bound = r_.fixed_s + work_s + messages(shape);
          found.push_back({shape, members, bound * correction_});
        }
      }
    };
    const std::vector<int> all = strongest(true), calm = strongest(false);
    add_pool(all);
    if (calm != all) add_pool(calm);
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
    return found;
  }

  /// Processes that must stay are in it, sleeping ones may join.
  bool may_be(const MeasuredStep& known) const {
    if (known == now_) return false;
    const std::vector<int> eligible = strongest(true);
    const auto is_in = [](const std::vector<int>& list, int k) {
      return std::find(list.begin(), list.end(), k) != list.end();
    };
    for (int k = 0; k < static_cast<int>(r_.processes.size()); ++k)
      if (must_stay(k) && !is_in(known.order, k)) return false;
    return std::all_of(known.order.begin(), known.order.end(), [&](int k) { return is_in(eligible, k); }) &&
           (known.grid == r_.grid || !r_.allowed || r_.allowed(known.grid));
  }

  BalanceChoice as_it_was(const MeasuredStep& known) const {
    BalanceChoice choice;
    static_cast<BalanceLayout&>(choice) = known;
    finish(choice, Axis::variable(known.rows), Axis::variable(known.cols));
    return choice;
  }

  std::vector<BalanceChoice> look() const {
    std::vector<BalanceChoice> choices;
    for (const MeasuredStep& known : r_.measured)
      if (may_be(known)) choices.push_back(as_it_was(known));
    if (r_.is_weighted) choices.push_back(new_parts());
    double least = steps_ * now_.step_s();
    std::vector<std::pair<double, const Candidate*>> mapped; // seconds of all steps
    const std::vector<Candidate> all = candidates();
    const std::size_t most =
        std::clamp<std::size_t>(256 * most_mapped / r_.processes.size(), most_refined, most_mapped);
    for (const Candidate& candidate : all) {
      // what cannot save enough, or cannot win, ends the list: the bounds only grow
      if (candidate.bound > now_.step_s() * (1 - r_.rules.gain) || steps_ * candidate.bound >= least) break;
      if (mapped.size() == most) break;
      choices.push_back(r_.is_weighted ? with_parts(candidate, false) : with_equal_parts(candidate));
      if (!has_recent(choices.back()) && refusal(choices.back(), now_.step_s()).empty())
        least = std::min(least, all_s(choices.back()));
      // the closer look at any other would repeat this one
      if (r_.is_weighted &&
          (candidate.grid.size() <= most_for_best || do_messages_differ(candidate.grid, candidate.members)))
        mapped.emplace_back(all_s(choices.back()), &candidate);
    }
    std::sort(mapped.begin(), mapped.end());
    if (static_cast<int>(mapped.size()) > most_refined) mapped.resize(most_refined);
    for (const auto& [seconds, candidate] : mapped) choices.push_back(with_parts(*candidate, true));
    return choices;
  }

  /// Equal parts; processes that stay are placed so that least moves.
  BalanceChoice with_equal_parts(const Candidate& candidate) const {
    BalanceChoice choice;
    choice.grid = candidate.grid;
    const Axis rows = Axis::equal(r_.m, r_.mb, choice.grid.nprow), cols = Axis::equal(r_.n, r_.nb, choice.grid.npcol);
    const std::int64_t all = r_.m * r_.n;
    std::vector<std::int64_t> bonus(at(r_.grid.size()), -all);
    std::vector<int> newcomers;
    for (const int k : candidate.members)
      if (is_now(k))
        bonus[at(process(k).place)] = all;
      else
        newcomers.push_back(k);
    const bool keep_first = bonus[0] > 0;
    // old ones that leave have to make room: place() keeps old processes while there are places
    gridmap::PlacementRequest request{rows_now_, cols_now_, rows, cols, gridmap::Placement::optimal, bonus, keep_first};
    std::vector<int> numbers = place(request).grid;
    std::size_t next = 0;
    for (const int number : numbers) {
      const bool stays = number < r_.grid.size() && bonus[at(number)] > 0;
      choice.order.push_back(stays ? now_.order[at(number)] : next < newcomers.size() ? newcomers[next++] : -1);
    }
    // processes that place() left out for one that leaves
    for (const int k : candidate.members)
      if (std::count(choice.order.begin(), choice.order.end(), k) == 0)
        *std::find(choice.order.begin(), choice.order.end(), -1) = k;
    choice.rows = rows.local_sizes();
    choice.cols = cols.local_sizes();
    finish(choice, rows, cols);
    return choice;
  }

  /// Speeds that make up for messages: a process that waits longer for them has that much less time to work in
  /// `seconds`, work and messages together.
  std::vector<double> speeds(GridShape grid, const std::vector<int>& members, double seconds) const {
    std::vector<double> speeds;
    for (const int k : members) speeds.push_back(process(k).speed * std::max(1 - messages(grid, k) / seconds, 1e-6));
    return speeds;
  }

  bool do_messages_differ(GridShape grid, const std::vector<int>& members) const {
    return r_.work_s > 0 && std::any_of(members.begin(), members.end(),
                                        [&](int k) { return messages(grid, k) != messages(grid, members.front()); });
  }

  /// The parts of an arrangement, by map_processors or map_in_place. Where messages differ the parts depend on how long
  /// a step is: then bisection on that, on the arrangement there is.
  template <class Map>
  BalanceChoice best_parts(GridShape grid, std::vector<int> members, Map map, bool is_refined) const {
    BalanceChoice best;
    best.grid = grid;
    const auto try_parts = [&](const gridmap::Mapping& mapping) {
      BalanceChoice choice;
      choice.grid = grid;
      choice.rows = mapping.rows;
      choice.cols = mapping.cols;
      cut(choice.rows, r_.m, r_.mb, true);
      cut(choice.cols, r_.n, r_.nb, true);
      for (const int k : mapping.order) choice.order.push_back(members[at(k)]);
      set_step(choice);
      if (best.order.empty() || choice.step_s() < best.step_s()) best = choice;
    };
    const std::int64_t m = blocks(r_.m, r_.mb), n = blocks(r_.n, r_.nb);
    const auto request = [&](const std::vector<double>& speeds) {
      return gridmap::MappingRequest{speeds,
                                     grid.nprow,
                                     grid.npcol,
                                     m,
                                     n,
                                     grid.size() <= most_for_best ? gridmap::MapMethod::best : gridmap::MapMethod::svd,
                                     search_work / 2 / (is_refined ? most_refined : most_mapped)};
    };
    const double infinity = std::numeric_limits<double>::infinity();
    try_parts(map(request(speeds(grid, members, infinity))));
    if (!do_messages_differ(grid, members)) return best;
    double least = 0; // messages
    for (const int k : members) least = std::max(least, messages(grid, k));
    members = best.order;
    double most = best.step_s() - r_.fixed_s;
    const int closest = grid.size() <= 16 || grid.nprow == 1 || grid.npcol == 1 ? 16 : 4;
    const int rounds = is_refined ? closest : 2;
    for (int round = 0; round < rounds; ++round) {
      const double middle = (least + most) / 2;
      const gridmap::Mapping mapping = gridmap::map_in_place(request(speeds(grid, members, middle)));
      try_parts(mapping);
      const double needed = r_.work_s * mapping.t_continuous / (static_cast<double>(m) * static_cast<double>(n));
      (needed <= middle ? most : least) = middle;
    }
    return best;
  }

  bool has_costs() const { return !r_.row_costs.are_alike() || !r_.col_costs.are_alike(); }

  /// The process at (0,0) stays there, so that the same one prints. Before cut_by_costs(): stretches keep their places.
  void keep_first(BalanceChoice& choice) const {
    const auto first = std::find(choice.order.begin(), choice.order.end(), now_.order[0]);
    if (first == choice.order.end()) return;
    const auto place = static_cast<int>(first - choice.order.begin());
    const int npcol = choice.grid.npcol, row = place / npcol, col = place % npcol;
    for (int j = 0; j < npcol; ++j) std::swap(choice.order[at(j)], choice.order[at(row * npcol + j)]);
    for (int i = 0; i < choice.grid.nprow; ++i)
      std::swap(choice.order[at(i * npcol)], choice.order[at(i * npcol + col)]);
    std::swap(choice.rows[0], choice.rows[at(row)]);
    std::swap(choice.cols[0], choice.cols[at(col)]);
  }

  /// What is cut: groups of whole blocks, and what each costs. Items that are alike are not listed one by one.
  static ItemCosts items_of(const ItemCosts& costs, std::int64_t n, std::int64_t nb) {
    constexpr std::int64_t most = 1 << 14;
    if (!costs.are_alike()) return costs;
    const std::int64_t all = blocks(n, nb);
    ItemCosts items;
    items.group = std::max<std::int64_t>(1, nb) * ((all + most - 1) / most);
    for (std::int64_t first = 0; first < n; first += items.group)
      items.costs.push_back(static_cast<double>(std::min(items.group, n - first)));
    return items;
  }

  /// One axis exactly, for the parts that the other one has. Where messages differ within a grid row, the longest
  /// count.
  void cut_axis(BalanceChoice& choice, const ItemCosts& items, bool is_row) const {
    const int count = is_row ? choice.grid.nprow : choice.grid.npcol;
    const int others = is_row ? choice.grid.npcol : choice.grid.nprow;
    const std::vector<double> other = is_row ? work_.cols.parts(choice.cols) : work_.rows.parts(choice.rows);
    ChainRequest request;
    const double all = std::accumulate(items.costs.begin(), items.costs.end(), 0.0);
    for (const double cost : items.costs) request.costs.push_back(all > 0 ? cost / all * r_.work_s : 0);
    for (int i = 0; i < count; ++i) {
      double longest = 0, messages_s = 0;
      for (int j = 0; j < others; ++j) {
        const int k = choice.order[at(is_row ? i * others + j : j * count + i)];
        longest = std::max(longest, other[at(j)] / process(k).speed);
        messages_s = std::max(messages_s, messages(choice.grid, k));
      }
      request.speeds.push_back(1 / longest);
      request.fixed_s.push_back(messages_s);
    }
    const Chain chain = balance_chain(request);
    const std::int64_t n = is_row ? r_.m : r_.n;
    std::vector<std::int64_t>& parts = is_row ? choice.rows : choice.cols;
    for (int i = 0; i < count; ++i)
      parts[at(i)] = std::min(n, chain.first[at(i) + 1] * items.group) - std::min(n, chain.first[at(i)] * items.group);
  }

  /// Rows and columns by what they cost, for processes that have their places: each axis exactly for the other one, in
  /// turn, while a step gets shorter. On 1 x P and P x 1 grids the best there is.
  void cut_by_costs(BalanceChoice& choice) const {
    constexpr int most_turns = 16;
    if (!has_costs() || r_.work_s == 0) return;
    const ItemCosts rows = items_of(r_.row_costs, r_.m, r_.mb), cols = items_of(r_.col_costs, r_.n, r_.nb);
    set_step(choice);
    BalanceChoice best = choice;
    for (int turn = 0, idle = 0; turn < most_turns && idle < 2; ++turn) {
      const bool is_row = turn % 2 == 0;
      cut_axis(choice, is_row ? rows : cols, is_row);
      set_step(choice);
      if (choice.step_s() < best.step_s()) {
        best = choice;
        idle = 0;
      } else {
        ++idle;
      }
    }
    choice = std::move(best);
  }

  /// All processes keep their places, the parts are new.
  BalanceChoice new_parts() const {
    BalanceChoice choice = best_parts(r_.grid, now_.order, gridmap::map_in_place, true);
    cut_by_costs(choice);
    finish(choice, Axis::variable(choice.rows), Axis::variable(choice.cols));
    return choice;
  }

  /// Arranged by speed; then rows and columns in the order in which least moves.
  BalanceChoice with_parts(const Candidate& candidate, bool is_refined) const {
    BalanceChoice choice = best_parts(candidate.grid, candidate.members, gridmap::map_processors, is_refined);
    gridmap::GridOrderRequest request{rows_now_, cols_now_, choice.rows, choice.cols, {}};
    int next_new = r_.grid.size();
    for (const int k : choice.order) request.grid.push_back(is_now(k) ? process(k).place : next_new++);
    const gridmap::GridOrder order = order_grid(request);
    BalanceChoice ordered = choice;
    for (int i = 0; i < choice.grid.nprow; ++i) {
      ordered.rows[at(i)] = choice.rows[at(order.row_order[at(i)])];
      for (int j = 0; j < choice.grid.npcol; ++j)
        ordered.order[at(i * choice.grid.npcol + j)] =
            choice.order[at(order.row_order[at(i)] * choice.grid.npcol + order.col_order[at(j)])];
    }
    for (int j = 0; j < choice.grid.npcol; ++j) ordered.cols[at(j)] = choice.cols[at(order.col_order[at(j)])];
    keep_first(ordered);
    cut(ordered.rows, r_.m, r_.mb, false); // after it the short block is in the last part
    cut(ordered.cols, r_.n, r_.nb, false);
    cut_by_costs(ordered);
    finish(ordered, Axis::variable(ordered.rows), Axis::variable(ordered.cols));
    return ordered;
  }
};

} // namespace

const char* to_string(BalanceAction action) {
  // never destroyed: a thread that answers may read it while the program exits
  static const auto* names = new base::Names{"stay", "rebalance", "remove", "take back", "replace"};
  return base::name_of(action, *names);
}

Balance decide_balance(const BalanceRequest& request) {
  check(request);
  return Search(request).run();
}

} // namespace advise
