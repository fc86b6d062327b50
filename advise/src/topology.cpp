// SPDX-License-Identifier: BSD-3-Clause
#include "advise/topology.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "advise/step_time.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "refusal.hpp"

namespace advise {

using base::Error;
using base::Status;
namespace {

void check(const TopologyRequest& r) {
  if (r.procs < 1 || r.procs > most_procs) refuse("topology: procs is {}, expected 1 .. {}", r.procs, most_procs);
  for (const auto& [name, value] : {std::pair{"aspect_p", r.aspect_p}, std::pair{"aspect_q", r.aspect_q}})
    if (!std::isfinite(value) || value < 0)
      refuse("topology: {} is {}, expected a finite number above 0 (0: no limit)", name, value);
  if (r.aspect_p > 0 && r.aspect_q > 0 && r.aspect_p * r.aspect_q < 1)
    refuse("topology: npcol <= {} nprow and nprow <= {} npcol exclude each other, expected a product of at least 1",
           r.aspect_p, r.aspect_q);
  if ((r.from_nprow > 0) != (r.from_npcol > 0) || r.from_nprow < 0 || r.from_npcol < 0)
    refuse("topology: grid to start from is {}x{}, expected at least 1x1", r.from_nprow, r.from_npcol);
  if (r.from_nprow > 0 && std::int64_t{r.from_nprow} * r.from_npcol > r.procs)
    throw Error(Status::shape_mismatch,
                "advise: topology: grid to start from is {}x{}, expected at most the {} processes available",
                r.from_nprow, r.from_npcol, r.procs);
  if (r.data_m < 0 || r.data_n < 0 || (r.data_m > 0) != (r.data_n > 0))
    refuse("topology: data is {} x {}, expected at least 1 x 1", r.data_m, r.data_n);
  if (!(r.data_aspect >= 1)) refuse("topology: data_aspect is {}, expected at least 1", r.data_aspect);
  if (r.prefer != Dominance::columns && r.prefer != Dominance::rows)
    refuse("topology: prefer is {}, expected 0 or 1", static_cast<int>(r.prefer));
  for (const auto* set : {&r.valid_procs, &r.valid_rows, &r.valid_cols})
    for (const int value : *set)
      if (value < 1) refuse("topology: a valid set holds {}, expected at least 1", value);
  for (const ShapeTime& t : r.times) {
    if (t.nprow < 1 || t.npcol < 1) refuse("topology: measured grid is {}x{}, expected at least 1x1", t.nprow, t.npcol);
    if (std::int64_t{t.nprow} * t.npcol > most_procs)
      refuse("topology: measured grid is {}x{}, expected at most {} processes", t.nprow, t.npcol, most_procs);
    if (!std::isfinite(t.seconds) || t.seconds <= 0)
      refuse("topology: measured time of {}x{} is {}, expected a finite number above 0", t.nprow, t.npcol, t.seconds);
  }
}

bool holds(const std::vector<int>& set, int value) {
  return set.empty() || std::find(set.begin(), set.end(), value) != set.end();
}

/// A little room, so that 3 <= 1.5 * 2 and 1/3 * 3 hold.
bool within(double value, double limit) {
  return value <= limit * (1 + 1e-9);
}

class Chooser {
public:
  explicit Chooser(const TopologyRequest& request)
      : r_(request), limits_(request.aspect_p > 0 || request.aspect_q > 0) {}

  Topology run() const {
    if (r_.steps != nullptr) return by_time(*r_.steps);
    return r_.times.empty() ? by_count() : by_time(StepModel(step_table(r_.times)));
  }

private:
  bool local() const { return r_.from_nprow > 0; }
  bool is_from(int p, int q) const { return p == r_.from_nprow && q == r_.from_npcol; }

  /// Longest side of a local piece over its shortest.
  double distortion(int p, int q) const {
    if (r_.data_m == 0) return 1;
    const double a = static_cast<double>(r_.data_m) / p, b = static_cast<double>(r_.data_n) / q;
    return std::max(a, b) / std::min(a, b);
  }
  bool allowed(int p, int q) const {
    if (local() && is_from(p, q)) return true;
    if (local() && (p < r_.from_nprow || q < r_.from_npcol)) return false;
    return is_within(r_, {p, q}) && (r_.data_m == 0 || within(distortion(p, q), r_.data_aspect));
  }
  /// Smaller is better, among equally many processes.
  std::array<double, 3> rank(int p, int q) const {
    const bool preferred = p == q || (p < q) == (r_.prefer == Dominance::columns);
    return {r_.data_m > 0 ? std::round(distortion(p, q) * 1e9) : 0,
            static_cast<double>(std::max(p, q)) / std::min(p, q), preferred ? 0.0 : 1.0};
  }

  Topology by_count() const {
    for (int count = r_.procs; count >= 1; --count) {
      if (!holds(r_.valid_procs, count) && !(local() && count == r_.from_nprow * r_.from_npcol)) continue;
      GridShape best;
      for (int side = 1; std::int64_t{side} * side <= count; ++side) {
        if (count % side != 0) continue;
        for (const GridShape s : {GridShape{side, count / side}, GridShape{count / side, side}})
          if (allowed(s.nprow, s.npcol) && (best.nprow == 0 || rank(s.nprow, s.npcol) < rank(best.nprow, best.npcol)))
            best = s;
      }
      if (best.nprow > 0) return finish(best, why_idle(best));
    }
    throw Error(Status::not_found,
                "advise: topology: no grid of at most {} processes is within the limits and valid sets", r_.procs);
  }

  std::string why_idle(const GridShape& s) const {
    const int idle = r_.procs - s.size();
    std::string text;
    if (local()) {
      const int added = s.size() - r_.from_nprow * r_.from_npcol;
      if (added == 0) {
        text = fmt::format("nothing can be added to {}x{}", s.nprow, s.npcol);
        if (idle > 0)
          text += fmt::format(": a row needs {} processes, a column {}, and {} are free", s.npcol, s.nprow, idle);
      } else {
        text = fmt::format("{} rows and {} columns added", s.nprow - r_.from_nprow, s.npcol - r_.from_npcol);
      }
    } else {
      text = "most processes";
    }
    if (idle == 0) return text + ", none idle";
    if (local() && s.size() == r_.from_nprow * r_.from_npcol)
      return text + (limits_ ? ", within the aspect limits" : "");
    text += fmt::format(", {} idle: ", idle);
    const int next = s.size() + 1;
    if (!local() && !limits_ && r_.data_m == 0) return text + "no valid grid has more";
    bool prime = true; // only one row or one column?
    for (int side = 2; std::int64_t{side} * side <= next; ++side) prime = prime && next % side != 0;
    if (!local() && prime && next > 3 && idle == 1)
      return text + fmt::format("{} is prime, it makes one row or one column only", next);
    return text + fmt::format("no grid of {} is within the limits",
                              idle == 1 ? fmt::format("{} processes", next)
                                        : fmt::format("{} to {} processes", next, r_.procs));
  }

  /// Rows, columns and seconds between which a shape is looked at.
  struct Range {
    GridShape least{std::numeric_limits<int>::max(), std::numeric_limits<int>::max()}, most;
    double quickest = std::numeric_limits<double>::infinity(), slowest = 0;
  };
  static Range range_of(const StepTable& measured) {
    Range range;
    for (const auto& [shape, times] : measured) {
      range.least = {std::min(range.least.nprow, shape.nprow), std::min(range.least.npcol, shape.npcol)};
      range.most = {std::max(range.most.nprow, shape.nprow), std::max(range.most.npcol, shape.npcol)};
      range.quickest = std::min(range.quickest, times.mean);
      range.slowest = std::max(range.slowest, times.mean);
    }
    return range;
  }

  /// Of the same seconds, what was measured.
  bool is_better(const Topology& a, const Topology& b) const {
    if (b.nprow == 0 || a.seconds != b.seconds) return b.nprow == 0 || a.seconds < b.seconds;
    if (a.interpolated != b.interpolated) return b.interpolated;
    return std::pair{a.nprow * a.npcol, rank(a.nprow, a.npcol)} < std::pair{b.nprow * b.npcol, rank(b.nprow, b.npcol)};
  }

  Topology by_time(const StepModel& model) const {
    const Range range = range_of(model.measured());
    Topology best;
    for (int p = range.least.nprow; p <= std::min(range.most.nprow, r_.procs); ++p)
      for (int q = range.least.npcol; q <= std::min(range.most.npcol, r_.procs / p); ++q) {
        if (!allowed(p, q)) continue;
        const Prediction step = *model.at({p, q});
        Topology here = finish({p, q}, {});
        here.seconds = std::clamp(step.seconds, range.quickest, range.slowest);
        here.interpolated = !step.is_measured;
        if (is_better(here, best)) best = here;
      }
    if (best.nprow == 0)
      throw Error(Status::not_found,
                  "advise: topology: no measured grid, and none between them, has at most {} processes and is within "
                  "the limits and valid sets",
                  r_.procs);
    best.why = fmt::format("{} {:g} s, the best of the grids in the measured range",
                           best.interpolated ? "interpolated" : "measured", best.seconds);
    if (best.idle > 0)
      best.why += fmt::format(", {} idle: grids with more are not faster or were not measured", best.idle);
    return best;
  }

  Topology finish(const GridShape& s, std::string why) const {
    Topology t;
    t.nprow = s.nprow;
    t.npcol = s.npcol;
    t.used = s.size();
    t.idle = r_.procs - t.used;
    t.why = std::move(why);
    return t;
  }

  const TopologyRequest& r_;
  bool limits_;
};

int number(const std::string& text, const std::string& whole) {
  const auto value = base::whole_number<int>(text);
  if (!value || *value < 1) refuse("topology: '{}' in the set '{}', expected a whole number above 0", text, whole);
  return *value;
}

} // namespace

Topology choose_topology(const TopologyRequest& request) {
  check(request);
  return Chooser(request).run();
}

bool is_within(const TopologyRequest& r, GridShape s) {
  return (r.aspect_p <= 0 || within(s.npcol, r.aspect_p * s.nprow)) &&
         (r.aspect_q <= 0 || within(s.nprow, r.aspect_q * s.npcol)) && holds(r.valid_rows, s.nprow) &&
         holds(r.valid_cols, s.npcol) && holds(r.valid_procs, s.size());
}

double aspect(GridShape s) {
  return static_cast<double>(std::max(s.nprow, s.npcol)) / std::min(s.nprow, s.npcol);
}

std::vector<int> parse_set(const std::string& text) {
  std::vector<int> set;
  if (base::trimmed(text).empty()) refuse("topology: the set is empty, expected e.g. 4:32:*2");
  for (const std::string& item : base::split(text, ',')) {
    const std::vector<std::string> parts = base::split(item, ':');
    if (parts.empty() || parts.size() > 3)
      refuse("topology: '{}' in the set '{}', expected a number, a:b, a:b:step or a:b:*factor", item, text);
    const int first = number(parts[0], text);
    const int last = parts.size() > 1 ? number(parts[1], text) : first;
    if (last < first) refuse("topology: '{}' in the set '{}' runs backwards", item, text);
    const bool multiply = parts.size() == 3 && !parts[2].empty() && parts[2][0] == '*';
    const int step = parts.size() == 3 ? number(multiply ? parts[2].substr(1) : parts[2], text) : 1;
    if (multiply && step < 2) refuse("topology: '{}' in the set '{}', expected a factor of at least 2", item, text);
    if (!multiply && (last - first) / step > most_procs)
      refuse("topology: '{}' in the set '{}' has more than {} numbers", item, text, most_procs);
    for (std::int64_t value = first; value <= last; value = multiply ? value * step : value + step)
      set.push_back(static_cast<int>(value));
  }
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

} // namespace advise
