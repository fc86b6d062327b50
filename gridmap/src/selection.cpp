// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "arrange.hpp"
#include "base/grid_shape.hpp"
#include "base/status.hpp"

namespace gridmap {

using base::Error;
using base::Status;
namespace {
using base::at;
using detail::Arrangement;

template <class... Values> [[noreturn]] void bad_selection(fmt::format_string<Values...> message, Values&&... values) {
  throw Error(Status::bad_argument, "gridmap: select: " + fmt::format(message, std::forward<Values>(values)...));
}

void check(const SelectionRequest& request) {
  if (request.nprow < 1 || request.npcol < 1)
    bad_selection("grid is {}x{}, expected at least 1x1", request.nprow, request.npcol);
  if (static_cast<std::int64_t>(request.grid.size()) != std::int64_t{request.nprow} * request.npcol)
    throw Error(Status::shape_mismatch, "gridmap: select: {} speeds for a {}x{} grid, expected {}", request.grid.size(),
                request.nprow, request.npcol, std::int64_t{request.nprow} * request.npcol);
  for (const auto* list : {&request.grid, &request.available})
    for (std::size_t k = 0; k < list->size(); ++k) {
      const char* const which = list == &request.grid ? "grid" : "available";
      const double speed = (*list)[k];
      if (!std::isfinite(speed) || speed <= 0)
        bad_selection("{} speed {} is {}, expected a finite number above 0", which, k, speed);
      if (speed < detail::least_speed || speed > detail::largest_speed)
        bad_selection("{} speed {} is {}, expected {} to {}", which, k, speed, detail::least_speed,
                      detail::largest_speed);
    }
  if (!std::isfinite(request.tpp) || request.tpp < 0)
    bad_selection("tpp is {}, expected a finite number, at least 0", request.tpp);
  if (request.m < 0 || request.n < 0 || request.m > detail::largest_size || request.n > detail::largest_size)
    bad_selection("matrix is {} x {}, expected from 0 x 0 to 2^53 x 2^53", request.m, request.n);
  if (!(request.max_aspect >= 1)) bad_selection("max_aspect is {}, expected at least 1", request.max_aspect);
}

int smaller_side(int count) { // of the grid nearest to square
  return base::squarest(count).nprow;
}
bool is_prime(int count) {
  return count > 1 && smaller_side(count) == 1;
}

class Selector {
public:
  explicit Selector(const SelectionRequest& request) : request_(request), old_(static_cast<int>(request.grid.size())) {
    speeds_ = request.grid;
    speeds_.insert(speeds_.end(), request.available.begin(), request.available.end());
    all_ = static_cast<int>(speeds_.size());
    for (int k = old_; k < all_; ++k) free_.push_back(k);
    std::stable_sort(free_.begin(), free_.end(), [&](int a, int b) { return speeds_[at(a)] > speeds_[at(b)]; });
    limit_ = request.tpp * (1 + 1e-12); // sums of decimal fractions
    svd_.m = request.m;
    svd_.n = request.n;
  }

  Selection run() {
    switch (request_.strategy) {
    case Strategy::global:
      return finish(global(), MapMethod::svd);
    case Strategy::local:
      return finish(local(false), MapMethod::svd);
    case Strategy::mixed:
      return finish(local(true), MapMethod::svd);
    case Strategy::best:
      return finish(best(), MapMethod::best);
    }
    bad_selection("strategy is {}, expected 0 .. 3", static_cast<int>(request_.strategy));
  }

private:
  /// Processors on a grid, by number, with their shares.
  struct Plan {
    int p = 0, q = 0;
    std::vector<int> places; ///< row-major
    detail::Shares shares;
    bool proved = false;
    Strategy by = Strategy::best;
  };

  double speed(int k) const { return speeds_[at(k)]; }
  double total(const std::vector<int>& set) const {
    double sum = 0;
    for (const int k : set) sum += speed(k);
    return sum;
  }
  std::vector<double> descending(std::vector<int>& set) const {
    std::stable_sort(set.begin(), set.end(), [&](int a, int b) { return speed(a) > speed(b); });
    std::vector<double> result;
    for (const int k : set) result.push_back(speed(k));
    return result;
  }
  std::vector<int> with_old(const std::vector<int>& chosen) const {
    std::vector<int> set(at(old_));
    std::iota(set.begin(), set.end(), 0);
    set.insert(set.end(), chosen.begin(), chosen.end());
    return set;
  }

  static Plan to_plan(const Arrangement& a, const std::vector<int>& set, int p, int q) {
    Plan plan{p, q, {}, a.shares, a.proved, Strategy::best};
    for (const int rank : a.rank) plan.places.push_back(set[at(rank)]);
    return plan;
  }

  Plan svd_on_square(const std::vector<int>& chosen) const {
    std::vector<int> set = with_old(chosen);
    const std::vector<double> list = descending(set);
    const int p = smaller_side(static_cast<int>(set.size()));
    const int q = static_cast<int>(set.size()) / p;
    return to_plan(detail::svd_arrangement(list, p, q, svd_), set, p, q);
  }

  /// Largest free speed at most `limit`, neither chosen nor banned; -1 for none.
  int largest(double limit, const std::vector<int>& chosen, int banned = -1) const {
    const std::vector<char> used = marked(chosen);
    for (const int k : free_)
      if (speed(k) <= limit && k != banned && !used[at(k)]) return k;
    return -1;
  }
  std::vector<char> marked(const std::vector<int>& chosen) const {
    std::vector<char> used(at(all_), 0);
    for (const int k : chosen) used[at(k)] = 1;
    return used;
  }

  int smallest_fitting(double limit, const std::vector<int>& chosen) const {
    const std::vector<char> used = marked(chosen);
    for (auto k = free_.rbegin(); k != free_.rend(); ++k)
      if (!used[at(*k)]) return speed(*k) <= limit ? *k : -1;
    return -1;
  }

  /// As many as fit, largest first. A prime number of processors would make a grid of one row: then the last
  /// one gives way to two of which the first takes at most half the rest, or to none.
  void fill(std::vector<int>& chosen, int banned = -1) const {
    const std::size_t before = chosen.size();
    for (int k; (k = largest(limit_ - total(chosen), chosen, banned)) >= 0;) chosen.push_back(k);
    if (chosen.size() == before || !is_prime(old_ + static_cast<int>(chosen.size())) || old_ + chosen.size() <= 3)
      return;
    chosen.pop_back();
    const std::vector<int> without = chosen;
    const int first = largest((limit_ - total(chosen)) / 2, chosen, banned);
    if (first < 0) return;
    chosen.push_back(first);
    const int second = largest(limit_ - total(chosen), chosen, banned);
    if (second < 0)
      chosen = without;
    else
      chosen.push_back(second);
  }

  Plan global() const {
    std::vector<int> chosen;
    fill(chosen);
    Plan plan = svd_on_square(chosen);
    while (true) {            // replacement step
      double least = 1.0 / 3; // 'to a very significant extent': above 1/2 Table 6.7 does not come out
      int worst = -1;
      double needed = 0;
      for (int i = 0; i < plan.p; ++i)
        for (int j = 0; j < plan.q; ++j) {
          const int k = plan.places[at(i) * at(plan.q) + at(j)];
          if (k < old_) continue;
          const double demand = plan.shares.r[at(i)] * plan.shares.c[at(j)];
          if (demand / speed(k) < least) {
            least = demand / speed(k);
            worst = k;
            needed = demand;
          }
        }
      if (worst < 0) break;
      int substitute = -1; // smallest that does
      for (const int k : free_)
        if (speed(k) >= needed && speed(k) < speed(worst) && std::find(chosen.begin(), chosen.end(), k) == chosen.end())
          substitute = k;
      if (substitute < 0) break;
      std::vector<int> next = chosen;
      *std::find(next.begin(), next.end(), worst) = substitute;
      fill(next, worst);
      Plan changed = svd_on_square(next);
      if (changed.shares.value <= plan.shares.value * (1 + 1e-12)) break;
      plan = std::move(changed);
      chosen = std::move(next);
    }
    plan.by = Strategy::global;
    return plan;
  }

  detail::Shares shares_of(int p, int q, const std::vector<int>& places) const {
    detail::Speeds grid{p, q, {}};
    for (const int k : places) grid.v.push_back(speed(k));
    return detail::svd_shares(grid);
  }

  /// A new row or column: free processors beside `chosen`, proportional to `ratio`.
  struct Line {
    std::vector<int> places; ///< empty: there are none
    bool stand_in = false;   ///< one is stronger than its place asks for
  };
  Line line_for(const std::vector<double>& ratio, std::vector<int> taken) const {
    const double sum = std::accumulate(ratio.begin(), ratio.end(), 0.0);
    const auto most = std::max_element(ratio.begin(), ratio.end());
    const int first = largest((limit_ - total(taken)) * *most / sum, taken);
    if (first < 0) return {};
    Line line{std::vector<int>(ratio.size(), -1), false};
    line.places[at(most - ratio.begin())] = first;
    taken.push_back(first);
    std::vector<int> order(ratio.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return ratio[at(a)] > ratio[at(b)]; });
    for (const int i : order) {
      if (line.places[at(i)] >= 0) continue;
      int k = largest(ratio[at(i)] * speed(first) / *most, taken);
      if (k < 0) {
        k = smallest_fitting(limit_ - total(taken), taken);
        line.stand_in = true;
      }
      if (k < 0) return {};
      line.places[at(i)] = k;
      taken.push_back(k);
    }
    return line;
  }

  static std::vector<int> with_line(const Plan& plan, bool row, const std::vector<int>& line) {
    std::vector<int> places;
    if (row) {
      places = plan.places;
      places.insert(places.end(), line.begin(), line.end());
      return places;
    }
    for (int i = 0; i < plan.p; ++i) {
      places.insert(places.end(), plan.places.begin() + i * plan.q, plan.places.begin() + (i + 1) * plan.q);
      places.push_back(line[at(i)]);
    }
    return places;
  }

  Plan local(bool mix) const {
    Plan plan{request_.nprow, request_.npcol, with_old({}), {}, false, mix ? Strategy::mixed : Strategy::local};
    plan.shares = shares_of(plan.p, plan.q, plan.places);
    std::vector<int> chosen;
    while (true) {
      const auto& r = plan.shares.r;
      const auto& c = plan.shares.c;
      // more speed along a row than along a column: a new row, proportional to the shares of the columns
      const bool row =
          std::accumulate(c.begin(), c.end(), 0.0) / c[0] > std::accumulate(r.begin(), r.end(), 0.0) / r[0];
      const Line line = line_for(row ? c : r, chosen);
      if (line.places.empty()) break;
      const int p = plan.p + (row ? 1 : 0), q = plan.q + (row ? 0 : 1);
      std::vector<int> places = with_line(plan, row, line.places);
      detail::Shares shares = shares_of(p, q, places);
      // a processor stronger than its place asks for stands in only where that pays
      if (line.stand_in && shares.value <= plan.shares.value) break;
      plan.p = p;
      plan.q = q;
      plan.places = std::move(places);
      plan.shares = std::move(shares);
      chosen.insert(chosen.end(), line.places.begin(), line.places.end());
    }
    return refined(plan, mix);
  }

  /// From these places; `local` moves only the new ones.
  Plan refined(const Plan& plan, bool mix) const {
    std::vector<int> set = plan.places;
    const std::vector<double> list = descending(set);
    std::vector<int> rank_of(at(all_));
    for (std::size_t k = 0; k < set.size(); ++k) rank_of[at(set[k])] = static_cast<int>(k);
    detail::SvdSearch search = svd_;
    for (const int k : plan.places) {
      search.start.push_back(rank_of[at(k)]);
      search.movable.push_back(mix || k >= old_);
    }
    Plan moved = to_plan(detail::svd_arrangement(list, plan.p, plan.q, search), set, plan.p, plan.q);
    moved.by = plan.by;
    return moved;
  }

  /// Search state: a set of processors on a p x q grid and shares to start the next look from.
  struct State {
    std::vector<int> chosen;
    detail::Shares shares;
  };

  Arrangement look(const std::vector<int>& chosen, int p, int q, const detail::Shares* from,
                   std::vector<int>& set) const {
    set = with_old(chosen);
    const std::vector<double> list = descending(set);
    if (!from) return detail::quick_arrangement(list, p, q);
    Arrangement a;
    a.rank.resize(set.size());
    std::iota(a.rank.begin(), a.rank.end(), 0);
    a.shares = *from;
    a.shares.value = 0;
    detail::climb(list, p, q, a);
    return a;
  }

  /// First set of `count` for a grid: the largest of which the cheapest rest still fits.
  bool start(int count, std::vector<int>& chosen) const {
    chosen.clear();
    std::vector<double> tail(free_.size() + 1, 0.0); // of the k smallest
    for (std::size_t k = 1; k <= free_.size(); ++k) tail[k] = tail[k - 1] + speed(free_[free_.size() - k]);
    if (count > static_cast<int>(free_.size()) || tail[at(count)] > limit_) return false;
    double used = 0;
    for (std::size_t k = 0; k < free_.size() && static_cast<int>(chosen.size()) < count; ++k) {
      const int open = count - static_cast<int>(chosen.size()) - 1;
      const bool must = static_cast<int>(free_.size() - k) == open + 1;
      if (must || used + speed(free_[k]) + tail[at(open)] <= limit_) {
        chosen.push_back(free_[k]);
        used += speed(free_[k]);
      }
    }
    return true;
  }

  /// One of `chosen` against a free one, and often a second one, which makes room or takes what is left. `in` marks
  /// the chosen ones. @return what is left of the limit, below 0: the set is beyond it
  double exchange(std::vector<int>& chosen, std::vector<char>& in, detail::Sequence& sequence) const {
    const auto replace = [&](int& processor, int by) {
      in[at(processor)] = 0;
      in[at(by)] = 1;
      processor = by;
    };
    const auto any_free = [&] { return free_[at(sequence.below(static_cast<int>(free_.size())))]; };
    const auto count = static_cast<int>(chosen.size());
    int& out = chosen[at(sequence.below(count))];
    int added = any_free();
    while (in[at(added)]) added = any_free();
    replace(out, added);
    const double slack = limit_ - total(chosen);
    if (count == 1 || (slack >= 0 && sequence.uniform() >= 0.5)) return slack;
    int& other = chosen[at(sequence.below(count))];
    if (other == added) return slack;
    const double most = speed(other) + slack;
    const auto fits =
        std::find_if(free_.begin(), free_.end(), [&](int k) { return (!in[at(k)] || k == other) && speed(k) <= most; });
    if (fits == free_.end()) return slack;
    replace(other, *fits);
    return limit_ - total(chosen);
  }

  /// Exchanges processors against free ones; worse sets are accepted less and less often. Best state seen.
  State anneal(State state, int p, int q, int steps, double heat, detail::Sequence& sequence) const {
    State best = state;
    if (state.chosen.empty() || state.chosen.size() == free_.size()) return best;
    std::vector<int> set;
    std::vector<char> in = marked(state.chosen);
    for (int step = 0; step < steps; ++step) {
      State next = state;
      std::vector<char> next_in = in;
      if (exchange(next.chosen, next_in, sequence) < 0) continue;
      detail::Shares from = state.shares;
      if (sequence.uniform() < 0.3) {
        for (double& x : from.r) x *= std::exp(0.3 * (2 * sequence.uniform() - 1));
        for (double& x : from.c) x *= std::exp(0.3 * (2 * sequence.uniform() - 1));
      }
      next.shares = look(next.chosen, p, q, &from, set).shares;
      const double change = next.shares.value / state.shares.value - 1;
      const double temperature = heat * (1 - static_cast<double>(step) / steps);
      if (!(change >= 0 || (temperature > 0 && sequence.uniform() < std::exp(change / temperature)))) continue;
      state = std::move(next);
      in = std::move(next_in);
      if (state.shares.value > best.shares.value) best = state;
    }
    return best;
  }

  Plan best_map(const std::vector<int>& chosen, int p, int q, double work, Strategy by) const {
    std::vector<int> set = with_old(chosen);
    const std::vector<double> list = descending(set);
    Plan plan = to_plan(detail::best_arrangement(list, p, q, work), set, p, q);
    plan.by = by;
    return plan;
  }
  std::vector<int> chosen_of(const Plan& plan) const {
    std::vector<int> chosen;
    for (const int k : plan.places)
      if (k >= old_) chosen.push_back(k);
    return chosen;
  }

  double price(int p, int q) const {
    if (!request_.price) return 0;
    const auto [at, is_new] = prices_.try_emplace({p, q}, 0);
    if (is_new) at->second = request_.price(p, q);
    return at->second;
  }
  /// The less the better.
  double cost(double value, int p, int q) const {
    if (!request_.price) return 1 / value;
    return static_cast<double>(request_.m) * static_cast<double>(request_.n) / value + price(p, q);
  }

  /// The best plan that it has seen.
  struct Winner {
    const Selector& selector;
    Plan plan{};
    void see(Plan other) {
      if (plan.places.empty() || cost_of(other) < cost_of(plan) * (1 - 1e-12)) plan = std::move(other);
    }
    double cost_of(const Plan& of) const { return selector.cost(of.shares.value, of.p, of.q); }
  };
  struct Shape {
    int p, q;
    State state;
    double cost() const { return 100.0 * (p * q) * (p + q); } ///< of a look at it, in units of size^2
  };
  void keep_best(std::vector<Shape>& shapes, std::size_t survivors) const {
    const auto cost_of = [&](const Shape& shape) { return cost(shape.state.shares.value, shape.p, shape.q); };
    std::stable_sort(shapes.begin(), shapes.end(),
                     [&](const Shape& a, const Shape& b) { return cost_of(a) < cost_of(b); });
    shapes.resize(std::min(shapes.size(), survivors), Shape{});
  }

  bool permitted(int p, int q) const {
    return !request_.permits || (p == request_.nprow && q == request_.npcol) || request_.permits(p, q);
  }

  /// This shape or its transposed, which are equally fast: the one that is permitted, of both the cheaper one.
  std::optional<std::pair<int, int>> oriented(int p, int q) const {
    const bool is_turned = p != q && permitted(q, p);
    if (permitted(p, q) && (!is_turned || !(price(q, p) < price(p, q)))) return std::pair{p, q};
    if (is_turned) return std::pair{q, p};
    return std::nullopt;
  }

  /// All grids that the old one can grow to, without their sets of processors.
  std::vector<Shape> larger_shapes() const {
    const int longer = std::max(request_.nprow, request_.npcol), shorter = std::min(request_.nprow, request_.npcol);
    const double aspect = std::max(request_.max_aspect, static_cast<double>(longer) / shorter);
    const bool tall = request_.nprow > request_.npcol; // keeps the old grid's orientation; the measure is the same
    std::vector<Shape> shapes;
    for (int count = old_; count <= all_; ++count)
      for (int side = smaller_side(count); side >= 1; --side) {
        if (count % side != 0) continue;
        const int other = count / side;
        if (other > aspect * side) continue;
        if (const auto shape = oriented(tall ? other : side, tall ? side : other))
          shapes.push_back({shape->first, shape->second, {}});
      }
    return shapes;
  }

  /// Those of them that are looked at, each with a first set. Of a long list of free processors that is only every so
  /// many-th.
  std::vector<Shape> first_shapes() const {
    constexpr double most_cost = 3e8;
    std::vector<Shape> shapes = larger_shapes(), result;
    double all_cost = 0, saved = 0;
    for (const Shape& shape : shapes) all_cost += shape.cost();
    std::vector<int> set;
    for (Shape& shape : shapes) {
      saved += std::min(1.0, most_cost / all_cost);
      if (saved < 1 - 1e-9) continue;
      saved -= 1;
      if (!start(shape.p * shape.q - old_, shape.state.chosen)) continue;
      shape.state.shares = look(shape.state.chosen, shape.p, shape.q, nullptr, set).shares;
      result.push_back(std::move(shape));
    }
    return result;
  }

  /// Rounds: all shapes a little, the better ones more and more.
  void search(std::vector<Shape>& shapes) const {
    detail::Sequence sequence(20041);
    constexpr double work = 6e7; // per round, in units of size^2
    for (const std::size_t survivors : {shapes.size(), std::size_t{10}, std::size_t{4}}) {
      keep_best(shapes, survivors);
      double weight = 0;
      for (const Shape& shape : shapes) weight += shape.cost();
      const int steps = static_cast<int>(std::min(work / weight, 20000.0));
      for (Shape& shape : shapes)
        shape.state = anneal(std::move(shape.state), shape.p, shape.q, steps, 0.004, sequence);
    }
    keep_best(shapes, 3);
  }

  Plan best() const {
    Winner winner{*this};
    std::vector<Shape> shapes;
    for (const Plan& plan : {global(), local(false), local(true)}) {
      if (permitted(plan.p, plan.q)) winner.see(plan); // as published, in case
      const auto shape = oriented(plan.p, plan.q);
      if (!shape) continue;
      const Plan mapped = best_map(chosen_of(plan), shape->first, shape->second, 5e6, plan.by);
      winner.see(mapped);
      shapes.push_back({mapped.p, mapped.q, {chosen_of(mapped), mapped.shares}});
    }
    for (Shape& shape : first_shapes()) shapes.push_back(std::move(shape));
    search(shapes);
    for (const Shape& shape : shapes) { // the states know their shares, a fresh map may find better ones
      std::vector<int> set;
      const Arrangement found = look(shape.state.chosen, shape.p, shape.q, &shape.state.shares, set);
      winner.see(to_plan(found, set, shape.p, shape.q));
      winner.see(best_map(shape.state.chosen, shape.p, shape.q, 2e7, Strategy::best));
    }
    if (winner.plan.places.empty()) winner.see(best_map({}, request_.nprow, request_.npcol, 2e7, Strategy::best));
    return winner.plan;
  }

  std::string why_unused(const std::vector<int>& chosen, double left, Strategy strategy, int p, int q) const {
    if (left <= 1e-9 * request_.tpp) return "nothing is left";
    if (free_.empty()) return "there are no free processors";
    if (chosen.size() == free_.size()) return "all free processors are chosen";
    const std::vector<char> used = marked(chosen);
    double smallest = std::numeric_limits<double>::infinity();
    int fitting = 0;
    for (const int k : free_) {
      if (used[at(k)]) continue;
      smallest = std::min(smallest, speed(k));
      if (speed(k) <= left) ++fitting;
    }
    if (fitting == 0) return fmt::format("the smallest free processor, {:g}, does not fit into {:g}", smallest, left);
    if (strategy == Strategy::local || strategy == Strategy::mixed)
      return fmt::format("no whole row or column in proportion to the grid can be made of what fits into {:g}", left);
    if (strategy == Strategy::global)
      return fmt::format("{} free processors fit into {:g}, but one more makes {} processors, a grid of one row",
                         fitting, left, old_ + static_cast<int>(chosen.size()) + 1);
    return fmt::format(
        "{} free processors fit into {:g}, but no grid with more of them was found faster than this {}x{}", fitting,
        left, p, q);
  }

  Selection finish(Plan plan, MapMethod method) const {
    Selection result;
    result.found_by = plan.by;
    for (const int k : chosen_of(plan)) result.chosen.push_back(k - old_);
    std::sort(result.chosen.begin(), result.chosen.end());
    for (const int i : result.chosen) result.tpp_used += request_.available[at(i)];
    result.tpp_used = std::min(result.tpp_used, request_.tpp);
    result.tpp_left = request_.tpp - result.tpp_used;
    result.unused_because = why_unused(chosen_of(plan), result.tpp_left, request_.strategy, plan.p, plan.q);
    result.mapping.order = plan.places;
    result.mapping.proved = plan.proved;
    MappingRequest map{speeds_, plan.p, plan.q, request_.m, request_.n, method};
    detail::finish_mapping(map, std::move(plan.shares), result.mapping);
    return result;
  }

  const SelectionRequest& request_;
  int old_, all_ = 0;
  std::vector<double> speeds_; ///< of the old grid, then of the list
  std::vector<int> free_;      ///< numbers of the list's processors, descending by speed
  double limit_ = 0;
  detail::SvdSearch svd_;
  mutable std::map<std::pair<int, int>, double> prices_; ///< that were asked for
};

} // namespace

const char* to_string(Strategy strategy) {
  return base::name_of(strategy, strategy_names());
}

Strategy parse_strategy(std::string_view text, std::string_view where) {
  return base::value_of_name<Strategy>(text, strategy_names(), where);
}

Selection select_processors(const SelectionRequest& request) {
  check(request);
  return Selector(request).run();
}

} // namespace gridmap
