// SPDX-License-Identifier: BSD-3-Clause
#include "plan/axis_table.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/index.hpp"

namespace redist::detail {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

using base::at;

/// After how many indices both distributions are back where they were; `never` when that is beyond 2^63.
std::int64_t joint_period(const AxisTable& a, const AxisTable& b) {
  std::int64_t period = 0;
  if (__builtin_mul_overflow(a.cycle() / std::gcd(a.cycle(), b.cycle()), b.cycle(), &period)) return never;
  return period;
}

/// One stretch that lies in one block on each side. `mine` and `other` are local indices.
struct Stretch {
  int position;   ///< on the other axis
  std::int64_t x; ///< counted from the beginning of the window
  std::int64_t mine;
  std::int64_t other;
  std::int64_t len;
};

/// Calls emit(Stretch) for what position p of `mine` shares with the other axis in the first `length` indices
/// of the window, ascending.
template <class Emit> void walk(Span mine, Span other, std::int64_t length, int p, Emit&& emit) {
  const AxisTable& a = *mine.axis;
  const AxisTable& b = *other.axis;
  if (length <= 0 || a.begin_of(p) == a.end_of(p)) return;
  const std::int64_t end = mine.begin + length;
  for (std::int64_t c = mine.begin / a.cycle(); c <= (end - 1) / a.cycle(); ++c) {
    const std::int64_t base = c * a.cycle();
    for (const std::uint32_t* j = a.begin_of(p); j != a.end_of(p); ++j) {
      const std::int64_t block = base + a.start(*j);
      if (block >= end) break;
      const std::int64_t g0 = std::max(block, mine.begin);
      const std::int64_t g1 = std::min(block + a.size(*j), end);
      if (g0 >= g1) continue;
      std::int64_t x = g0 - mine.begin;
      std::int64_t left = g1 - g0;
      std::int64_t i_loc = c * a.per_cycle(p) + a.local(*j) + (g0 - block);
      std::int64_t i_other = other.begin + x;
      std::int64_t d = i_other / b.cycle();
      std::int64_t rest = i_other % b.cycle();
      for (std::size_t k = b.find(rest); left > 0;) {
        const std::int64_t len = std::min(left, b.start(k) + b.size(k) - rest);
        const int q = b.owner(k);
        emit(Stretch{q, x, i_loc, d * b.per_cycle(q) + b.local(k) + (rest - b.start(k)), len});
        x += len;
        i_loc += len;
        left -= len;
        rest += len;
        if (++k == b.blocks()) {
          k = 0;
          rest = 0;
          ++d;
        }
      }
    }
  }
}

struct Repeat {
  std::int64_t period; ///< indices, `never` when nothing repeats within the window
  std::int64_t from;   ///< what the local index of the source grows by per period
  std::int64_t to;
};

/// Makes a stretch a part of the last run when it follows that in both local arrays.
bool glue(std::vector<Run>& runs, std::int64_t from, std::int64_t to, std::int64_t len) {
  if (runs.empty()) return false;
  Run& last = runs.back();
  if (last.count > 1 || last.from + last.len != from || last.to + last.len != to) return false;
  last.len += len;
  return true;
}

void append_glued(std::vector<Run>& runs, std::int64_t from, std::int64_t to, std::int64_t len) {
  if (!glue(runs, from, to, len)) runs.push_back({from, to, len, 1, 0, 0});
}

/// Appends a plain run, as one more piece of the last run where it continues that.
void append_strided(std::vector<Run>& runs, const Run& run) {
  if (!runs.empty() && runs.back().len == run.len) {
    Run& last = runs.back();
    if (last.count == 1) {
      last.from_step = run.from - last.from;
      last.to_step = run.to - last.to;
    }
    if (run.from == last.from + last.count * last.from_step && run.to == last.to + last.count * last.to_step) {
      ++last.count;
      return;
    }
  }
  runs.push_back(run);
}

/// Above this many runs a list is kept as one strided run per stretch of a period, although its pieces then
/// interleave.
constexpr std::int64_t long_list = 1024;

/// The run list of one pair. It depends only on the stretches of the first period and on what repeats, so
/// that both ends get the same list.
RunList make_list(const std::vector<Run>& first_period, const std::vector<std::int64_t>& x, const Repeat& repeat,
                  std::int64_t length) {
  RunList list;
  std::vector<Run> glued; // gluing joins what is apart in the window, so a period must be whole or cut before
  for (const Run& run : first_period) append_glued(glued, run.from, run.to, run.len);
  std::vector<Run> once;
  for (const Run& run : glued) append_strided(once, run);
  if (repeat.period >= length) {
    list.runs = std::move(once);
  } else {
    const std::int64_t periods = length / repeat.period;
    const std::int64_t rest = length - periods * repeat.period;
    std::vector<Run> plain;
    if (glued.size() > 1 && static_cast<std::int64_t>(once.size()) <=
                                std::max(2 * static_cast<std::int64_t>(glued.size()), long_list) / (periods + 1)) {
      for (std::int64_t k = 0; k < periods; ++k)
        for (const Run& run : glued) append_glued(plain, run.from + k * repeat.from, run.to + k * repeat.to, run.len);
    } else {
      for (Run run : glued) {
        if (repeat.from == run.len && repeat.to == run.len)
          run.len *= periods;
        else if (periods > 1)
          run = {run.from, run.to, run.len, periods, repeat.from, repeat.to};
        list.runs.push_back(run);
      }
      if (list.runs.size() == 1 && list.runs[0].count == 1) plain.swap(list.runs);
    }
    for (std::size_t i = 0; i < first_period.size() && x[i] < rest; ++i)
      append_glued(plain, first_period[i].from + periods * repeat.from, first_period[i].to + periods * repeat.to,
                   std::min(first_period[i].len, rest - x[i]));
    for (const Run& run : plain) append_strided(list.runs, run);
  }
  for (const Run& run : list.runs) list.total += run.len * run.count;
  return list;
}

/// `flipped`: `mine` is the target of the runs.
std::vector<Neighbour> neighbours(Span mine, Span other, std::int64_t length, int p, bool flipped) {
  const AxisTable& a = *mine.axis;
  const AxisTable& b = *other.axis;
  const std::int64_t period = joint_period(a, b);
  std::vector<Stretch> stretches;
  walk(mine, other, std::min(length, period), p, [&](const Stretch& stretch) { stretches.push_back(stretch); });
  std::stable_sort(stretches.begin(), stretches.end(),
                   [](const Stretch& l, const Stretch& r) { return l.position < r.position; });
  std::vector<Neighbour> result;
  std::vector<Run> runs;
  std::vector<std::int64_t> x;
  for (auto first = stretches.begin(); first != stretches.end();) {
    const int q = first->position;
    runs.clear();
    x.clear();
    for (; first != stretches.end() && first->position == q; ++first) {
      runs.push_back(flipped ? Run{first->other, first->mine, first->len, 1, 0, 0}
                             : Run{first->mine, first->other, first->len, 1, 0, 0});
      x.push_back(first->x);
    }
    Repeat repeat{period, 0, 0};
    if (period < length) {
      const std::int64_t step_mine = period / a.cycle() * a.per_cycle(p);
      const std::int64_t step_other = period / b.cycle() * b.per_cycle(q);
      repeat.from = flipped ? step_other : step_mine;
      repeat.to = flipped ? step_mine : step_other;
    }
    result.push_back({q, make_list(runs, x, repeat, length)});
  }
  return result;
}

} // namespace

AxisTable::AxisTable(const gridmap::Axis& axis) : n_(axis.n), nprocs_(axis.nprocs) {
  axis.validate();
  per_cycle_.assign(at(nprocs_), 0);
  const auto k = static_cast<std::int64_t>(axis.sizes.size());
  const bool is_listed = !axis.owners.empty();
  const std::int64_t cycle_blocks = is_listed ? k : std::lcm(k, static_cast<std::int64_t>(nprocs_));
  std::int64_t begin = 0;
  for (std::int64_t j = 0; j < cycle_blocks && begin < n_; ++j) {
    const std::int64_t size = axis.sizes[at(j % k)];
    if (size == 0) continue;
    const int p = is_listed ? axis.owners[at(j)] : static_cast<int>((axis.src + j) % nprocs_);
    start_.push_back(begin);
    owner_.push_back(p);
    local_.push_back(per_cycle_[at(p)]);
    const std::int64_t covered = size <= never - begin ? size : never - begin;
    per_cycle_[at(p)] += covered;
    begin += covered;
  }
  // A pattern that ends at n or beyond never repeats; its one cycle is the whole axis.
  start_.push_back(begin);
  cycle_ = std::max<std::int64_t>(1, begin);
  if (axis.is_uniform()) uniform_ = axis.sizes[0];
  first_of_.assign(at(nprocs_) + 1, 0);
  for (const int p : owner_) ++first_of_[at(p) + 1];
  std::partial_sum(first_of_.begin(), first_of_.end(), first_of_.begin());
  blocks_of_.resize(owner_.size());
  std::vector<std::size_t> next(first_of_.begin(), first_of_.end() - 1);
  for (std::size_t j = 0; j < owner_.size(); ++j) blocks_of_[next[at(owner_[j])]++] = static_cast<std::uint32_t>(j);
}

std::size_t AxisTable::find(std::int64_t rest) const {
  if (uniform_ > 0) return at(rest / uniform_);
  return at(std::upper_bound(start_.begin(), start_.end(), rest) - start_.begin() - 1);
}

void append(RunList& list, std::int64_t from, std::int64_t to, std::int64_t len) {
  list.total += len;
  if (!glue(list.runs, from, to, len)) append_strided(list.runs, {from, to, len, 1, 0, 0});
}

std::vector<Neighbour> runs_from(Span from, Span to, std::int64_t length, int p) {
  return neighbours(from, to, length, p, false);
}

std::vector<Neighbour> runs_to(Span from, Span to, std::int64_t length, int q) {
  return neighbours(to, from, length, q, true);
}

std::int64_t OverlapTable::at(int p, int q) const {
  const Entry* found = std::lower_bound(begin(p), end(p), q, [](const Entry& entry, int to) { return entry.to < to; });
  return found != end(p) && found->to == q ? found->elements : 0;
}

OverlapTable overlap(Span from, Span to, std::int64_t length) {
  const std::int64_t period = joint_period(*from.axis, *to.axis);
  OverlapTable table;
  table.out.assign(at(from.axis->nprocs()), 0);
  table.in.assign(at(to.axis->nprocs()), 0);
  std::vector<std::int64_t> elements(at(to.axis->nprocs()), 0);
  std::vector<int> touched;
  table.first.push_back(0);
  for (int p = 0; p < from.axis->nprocs(); ++p) {
    touched.clear();
    walk(from, to, std::min(length, period), p, [&](const Stretch& stretch) {
      std::int64_t sum = stretch.len;
      if (period < length) {
        const std::int64_t left = length - stretch.x - stretch.len;
        const std::int64_t whole = left < 0 ? 0 : left / period + 1;
        const std::int64_t cut = length - (stretch.x + whole * period);
        sum = whole * stretch.len + std::max<std::int64_t>(0, cut);
      }
      std::int64_t& so_far = elements[at(stretch.position)];
      if (so_far == 0) touched.push_back(stretch.position);
      so_far += sum;
    });
    std::sort(touched.begin(), touched.end());
    for (const int q : touched) {
      table.entries.push_back({q, elements[at(q)]});
      table.out[at(p)] += elements[at(q)];
      table.in[at(q)] += elements[at(q)];
      elements[at(q)] = 0;
    }
    table.first.push_back(table.entries.size());
  }
  return table;
}

} // namespace redist::detail
