// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/placement.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "assignment.hpp"
#include "base/index.hpp"
#include "base/names.hpp"
#include "base/status.hpp"
#include "base/text.hpp"

namespace gridmap {

using base::Error;
using base::Status;
namespace {

using base::at;

/// Steps through an axis block by block without storing the blocks.
class BlockWalk {
public:
  explicit BlockWalk(const Axis& axis) : axis_(axis), in_turn_(axis.src), left_(axis.sizes[0]) { skip_empty(); }
  int owner() const { return axis_.owners.empty() ? in_turn_ : axis_.owners[j_]; }
  std::int64_t left() const { return left_; }
  void advance(std::int64_t count) {
    left_ -= count;
    skip_empty();
  }

private:
  void skip_empty() {
    while (left_ == 0) {
      if (++j_ == axis_.sizes.size()) j_ = 0;
      if (++in_turn_ == axis_.nprocs) in_turn_ = 0;
      left_ = axis_.sizes[j_];
    }
  }
  const Axis& axis_;
  std::size_t j_ = 0;
  int in_turn_; ///< position that a block has where owners are not listed
  std::int64_t left_;
};

/// After how many elements blocks and owners both repeat.
std::int64_t cycle_elements(const Axis& axis) {
  const auto k = static_cast<std::int64_t>(axis.sizes.size());
  const std::int64_t turns = axis.owners.empty() ? axis.nprocs / std::gcd(k, std::int64_t{axis.nprocs}) : 1;
  return turns * std::accumulate(axis.sizes.begin(), axis.sizes.end(), std::int64_t{0});
}

void count_range(const Axis& from, const Axis& to, std::int64_t length, std::int64_t times, Overlap& table) {
  if (length == 0 || times == 0) return;
  BlockWalk a(from), b(to);
  while (true) {
    const std::int64_t step = std::min({a.left(), b.left(), length});
    table.counts[at(a.owner()) * at(to.nprocs) + at(b.owner())] += times * step;
    length -= step;
    if (length == 0) return;
    a.advance(step);
    b.advance(step);
  }
}

/// Old row -> new row per axis in data order, -1 for a row that goes.
std::vector<int> local1_axis(int p, int p_new) {
  std::vector<int> to(at(p), -1);
  for (int i = 0; i < std::min(p, p_new); ++i) to[at(i)] = i;
  return to;
}

/// New index of each of p old rows when r new ones go to the centres of r divisions.
std::vector<int> local2_growth(int p, int r) {
  std::vector<int> to(at(p));
  std::int64_t added = 0;
  for (int i = 0; i < p; ++i) {
    while (added < r && ((2 * added + 1) * p + r) / (2 * std::int64_t{r}) <= i) ++added;
    to[at(i)] = static_cast<int>(i + added);
  }
  return to;
}

std::vector<int> local2_axis(int p, int p_new) {
  if (p_new >= p) return local2_growth(p, p_new - p);
  std::vector<int> to(at(p), -1);
  const std::vector<int> back = local2_growth(p_new, p - p_new);
  for (int i = 0; i < p_new; ++i) to[at(back[at(i)])] = i;
  return to;
}

/// From data order (0 holds the first block) to grid positions.
std::vector<int> with_sources(const std::vector<int>& to, int src, int p, int src_new, int p_new) {
  std::vector<int> result(to.size(), -1);
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i] >= 0) result[(i + at(src)) % at(p)] = static_cast<int>((std::int64_t{to[i]} + src_new) % p_new);
  return result;
}

class Placer {
public:
  explicit Placer(const PlacementRequest& request)
      : request_(request), rows_(overlap(request.rows_from, request.rows_to)),
        cols_(overlap(request.cols_from, request.cols_to)), old_count_(rows_.from * cols_.from),
        new_count_(rows_.to * cols_.to), leaves_(at(old_count_), 0) {
    for (const int process : request.leave) leaves_[at(process)] = 1;
    for (int i = 0; i < old_count_; ++i)
      if (!leaves_[at(i)]) remaining_.push_back(i);
    keeps_first_ = request.keep_first && !leaves_[0];
    if (remaining_count() > new_count_ && request.method == Placement::optimal) {
      // more than all elements, and otherwise as large as the assignment can take without rounding
      const std::int64_t most = std::max(request.rows_from.n * request.cols_from.n + 1,
                                         (std::int64_t{1} << 58) / (std::int64_t{old_count_} + new_count_ + 2));
      for (const std::int64_t bonus : request.stay_bonus) bonus_.push_back(std::clamp(bonus, -most, most));
    }
  }

  PlacementResult run() const {
    switch (request_.method) {
    case Placement::global:
      return finish(global());
    case Placement::local1:
      return finish(from_axes(axis(local1_axis, rows_, request_.rows_from, request_.rows_to),
                              axis(local1_axis, cols_, request_.cols_from, request_.cols_to)));
    case Placement::local2:
      return finish(from_axes(axis(local2_axis, rows_, request_.rows_from, request_.rows_to),
                              axis(local2_axis, cols_, request_.cols_from, request_.cols_to)));
    case Placement::optimal:
      return finish(optimal());
    }
    throw Error(Status::bad_argument, "gridmap: place: method is {}, expected 0 .. 3",
                static_cast<int>(request_.method));
  }

  PlacementResult figures_of(const std::vector<int>& grid) const {
    std::vector<char> is_there(at(process_count()), 0);
    const auto is_free = [&](int process) {
      return process >= 0 && at(process) < is_there.size() && (process >= old_count_ || !leaves_[at(process)]) &&
             !std::exchange(is_there[at(process)], 1);
    };
    if (grid.size() != at(new_count_) || !std::all_of(grid.begin(), grid.end(), is_free))
      throw Error(Status::shape_mismatch,
                  "gridmap: figures: the grid is {}, expected {} different processes from 0 .. {}",
                  fmt::join(grid, ","), new_count_, is_there.size() - 1);
    return finish(grid);
  }

private:
  /// Process at each position of the new grid, -1 for a free position.
  using Grid = std::vector<int>;

  int remaining_count() const { return static_cast<int>(remaining_.size()); }
  int process_count() const { return old_count_ + std::max(0, new_count_ - remaining_count()); } ///< of both grids

  /// Where a rule puts each row; keep_first: row 0 changes places with whatever it puts at 0.
  template <class Rule> std::vector<int> axis(Rule rule, const Overlap& table, const Axis& from, const Axis& to) const {
    std::vector<int> moved = with_sources(rule(table.from, table.to), from.src, table.from, to.src, table.to);
    if (keeps_first_) {
      const auto at_0 = std::find(moved.begin(), moved.end(), 0);
      if (at_0 != moved.end()) *at_0 = moved[0];
      moved[0] = 0;
    }
    return moved;
  }

  /// detail::assign; keep_first: of left 0 to right 0 and of the others among themselves, which is as exact.
  std::vector<int> assign_rest(int lefts, int rights, const std::vector<detail::Pair>& pairs,
                               const std::vector<std::int64_t>& bonus = {}) const {
    if (!keeps_first_) return detail::assign(lefts, rights, pairs, bonus);
    std::vector<detail::Pair> others;
    for (const detail::Pair& pair : pairs)
      if (pair.left > 0 && pair.right > 0) others.push_back({pair.left - 1, pair.right - 1, pair.weight});
    std::vector<int> result{0};
    const std::vector<std::int64_t> others_bonus(bonus.begin() + (bonus.empty() ? 0 : 1), bonus.end());
    for (const int right : detail::assign(lefts - 1, rights - 1, others, others_bonus))
      result.push_back(right < 0 ? -1 : right + 1);
    return result;
  }

  std::int64_t weight(int process, std::int64_t position) const {
    return rows_.count(process / cols_.from, static_cast<int>(position / cols_.to)) *
           cols_.count(process % cols_.from, static_cast<int>(position % cols_.to));
  }
  std::int64_t bonus(int process) const { return bonus_.empty() ? 0 : bonus_[at(process)]; }

  /// What `optimal` makes large. In 128 bits: bonuses of up to m*n each may add up to more than 64.
  __int128 score(const Grid& grid) const {
    __int128 sum = 0;
    for (std::size_t k = 0; k < grid.size(); ++k)
      if (grid[k] >= 0 && grid[k] < old_count_) sum += weight(grid[k], static_cast<std::int64_t>(k)) + bonus(grid[k]);
    return sum;
  }

  Grid global() const {
    Grid grid(at(new_count_), -1);
    std::copy_n(remaining_.begin(), std::min(remaining_count(), new_count_), grid.begin());
    return grid;
  }

  /// The processes that a rule per axis places, and then the other old processes row-major where positions are free.
  Grid from_axes(const std::vector<int>& row_to, const std::vector<int>& col_to) const {
    Grid grid(at(new_count_), -1);
    std::vector<int> unplaced;
    for (int i = 0; i < old_count_; ++i) {
      const int p = row_to[at(i / cols_.from)], q = col_to[at(i % cols_.from)];
      if (leaves_[at(i)]) continue;
      if (p >= 0 && q >= 0)
        grid[at(p) * at(cols_.to) + at(q)] = i;
      else
        unplaced.push_back(i);
    }
    std::size_t next = 0;
    for (std::size_t k = 0; k < grid.size() && next < unplaced.size(); ++k)
      if (grid[k] < 0) grid[k] = unplaced[next++];
    return grid;
  }

  std::vector<int> best_axis(const Overlap& table) const {
    std::vector<detail::Pair> pairs;
    for (int p = 0; p < table.from; ++p)
      for (int p_new = 0; p_new < table.to; ++p_new)
        if (table.count(p, p_new) > 0) pairs.push_back({p, p_new, table.count(p, p_new)});
    return assign_rest(table.from, table.to, pairs);
  }

  static std::int64_t entries(const Overlap& table) {
    return static_cast<std::int64_t>(
        std::count_if(table.counts.begin(), table.counts.end(), [](std::int64_t c) { return c > 0; }));
  }

  Grid optimal() const {
    Grid best = from_axes(best_axis(rows_), best_axis(cols_));
    __int128 best_score = score(best);
    const auto try_grid = [&](Grid grid) {
      const __int128 s = score(grid);
      if (s <= best_score) return;
      best_score = s;
      best = std::move(grid);
    };
    // affordable: one arc for each pair with common elements
    const std::int64_t row_entries = entries(rows_), col_entries = entries(cols_);
    if (col_entries == 0 || row_entries <= max_assignment_arcs / col_entries) {
      try_grid(assignment());
      return best;
    }
    try_grid(from_axes(axis(local2_axis, rows_, request_.rows_from, request_.rows_to),
                       axis(local2_axis, cols_, request_.cols_from, request_.cols_to)));
    try_grid(from_axes(axis(local1_axis, rows_, request_.rows_from, request_.rows_to),
                       axis(local1_axis, cols_, request_.cols_from, request_.cols_to)));
    try_grid(global());
    exchange_leavers(best);
    return best;
  }

  Grid assignment() const {
    std::vector<detail::Pair> pairs;
    std::vector<std::int64_t> bonus;
    for (int left = 0; left < remaining_count(); ++left) {
      const int p = remaining_[at(left)] / cols_.from, q = remaining_[at(left)] % cols_.from;
      if (!bonus_.empty()) bonus.push_back(bonus_[at(remaining_[at(left)])]);
      for (int p_new = 0; p_new < rows_.to; ++p_new) {
        if (rows_.count(p, p_new) == 0) continue;
        for (int q_new = 0; q_new < cols_.to; ++q_new)
          if (cols_.count(q, q_new) > 0)
            pairs.push_back({left, p_new * cols_.to + q_new, rows_.count(p, p_new) * cols_.count(q, q_new)});
      }
    }
    const std::vector<int> position = assign_rest(remaining_count(), new_count_, pairs, bonus);
    Grid grid(at(new_count_), -1);
    for (std::size_t left = 0; left < position.size(); ++left)
      if (position[left] >= 0) grid[at(position[left])] = remaining_[left];
    return grid;
  }

  /// Beyond the exact assignment: a process that leaves takes the position where that gains most, the ones
  /// worth most first.
  void exchange_leavers(Grid& grid) const {
    if (bonus_.empty()) return;
    std::vector<char> stays(at(old_count_), 0);
    for (const int i : grid) stays[at(i)] = 1;
    std::vector<int> leavers;
    for (const int i : remaining_)
      if (!stays[at(i)]) leavers.push_back(i);
    std::stable_sort(leavers.begin(), leavers.end(), [&](int a, int b) { return bonus(a) > bonus(b); });
    for (const int i : leavers) {
      __int128 best_gain = 0;
      std::size_t best_k = grid.size();
      for (std::size_t k = keeps_first_ ? 1 : 0; k < grid.size(); ++k) {
        const auto position = static_cast<std::int64_t>(k);
        const __int128 gain =
            static_cast<__int128>(bonus(i)) - bonus(grid[k]) + weight(i, position) - weight(grid[k], position);
        if (gain > best_gain) {
          best_gain = gain;
          best_k = k;
        }
      }
      if (best_k < grid.size()) grid[best_k] = i;
    }
  }

  PlacementResult finish(Grid grid) const {
    int next = old_count_;
    for (int& process : grid)
      if (process < 0) process = next++;
    PlacementResult result;
    const std::size_t processes = at(process_count());
    result.kept.assign(processes, 0);
    result.in.assign(processes, 0);
    result.out.assign(processes, 0);
    const std::vector<std::int64_t> old_rows = request_.rows_from.local_sizes();
    const std::vector<std::int64_t> old_cols = request_.cols_from.local_sizes();
    const std::vector<std::int64_t> new_rows = request_.rows_to.local_sizes();
    const std::vector<std::int64_t> new_cols = request_.cols_to.local_sizes();
    for (int i = 0; i < old_count_; ++i)
      result.out[at(i)] = old_rows[at(i / cols_.from)] * old_cols[at(i % cols_.from)];
    for (std::size_t k = 0; k < grid.size(); ++k) {
      const auto process = at(grid[k]);
      result.in[process] = new_rows[k / at(cols_.to)] * new_cols[k % at(cols_.to)];
      if (grid[k] >= old_count_) continue;
      result.kept[process] = weight(grid[k], static_cast<std::int64_t>(k));
      result.in[process] -= result.kept[process];
      result.out[process] -= result.kept[process];
      result.retained_elements += result.kept[process];
    }
    result.moved_elements = request_.rows_from.n * request_.cols_from.n - result.retained_elements;
    result.max_in = *std::max_element(result.in.begin(), result.in.end());
    result.max_out = *std::max_element(result.out.begin(), result.out.end());
    result.grid = std::move(grid);
    return result;
  }

  const PlacementRequest& request_;
  Overlap rows_, cols_;
  int old_count_, new_count_;
  std::vector<char> leaves_;   ///< by old process: it must not stay
  std::vector<int> remaining_; ///< old processes that may stay, ascending
  bool keeps_first_ = true;
  std::vector<std::int64_t> bonus_;
};

void check(const PlacementRequest& request) {
  for (const Axis* axis : {&request.rows_from, &request.cols_from, &request.rows_to, &request.cols_to})
    axis->validate();
  check_counts(request.rows_from, request.cols_from, "place: the old");
  check_counts(request.rows_to, request.cols_to, "place: the new");
  const std::int64_t old_count = std::int64_t{request.rows_from.nprocs} * request.cols_from.nprocs;
  if (!request.stay_bonus.empty() && static_cast<std::int64_t>(request.stay_bonus.size()) != old_count)
    throw Error(Status::bad_argument,
                "gridmap: place: {} values in stay_bonus, expected none or {}, one per old process",
                request.stay_bonus.size(), old_count);
  std::vector<char> is_named(request.leave.empty() ? 0 : at(static_cast<int>(old_count)), 0);
  for (const int process : request.leave)
    if (process < 0 || process >= old_count || std::exchange(is_named[at(process)], 1))
      throw Error(Status::bad_argument, "gridmap: place: leave has {}, expected different old processes from 0 .. {}",
                  process, old_count - 1);
}

} // namespace

const base::Names& placement_names() {
  static const base::Names names{"optimal", "global", "local1", "local2"};
  return names;
}

const char* to_string(Placement placement) {
  return base::name_of(placement, placement_names());
}

Placement parse_placement(std::string_view text, std::string_view where) {
  return base::value_of_name<Placement>(base::trimmed(text), placement_names(), where);
}

Overlap overlap(const Axis& from, const Axis& to) {
  from.validate();
  to.validate();
  if (from.n != to.n)
    throw Error(Status::shape_mismatch, "gridmap: overlap: n is {} before and {} after, expected the same", from.n,
                to.n);
  Overlap table{from.nprocs, to.nprocs, std::vector<std::int64_t>(at(from.nprocs) * at(to.nprocs), 0)};
  if (from.n == 0) return table;
  const std::int64_t a = cycle_elements(from), b = cycle_elements(to);
  const std::int64_t steps = b / std::gcd(a, b); // the common period is a * steps
  if (a > from.n / steps) {
    count_range(from, to, from.n, 1, table);
  } else {
    count_range(from, to, a * steps, from.n / (a * steps), table);
    count_range(from, to, from.n % (a * steps), 1, table);
  }
  return table;
}

PlacementResult place(const PlacementRequest& request) {
  check(request);
  return Placer(request).run();
}

PlacementResult figures_of(const PlacementRequest& request, const std::vector<int>& grid) {
  check(request);
  return Placer(request).figures_of(grid);
}

} // namespace gridmap
