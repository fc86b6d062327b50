// SPDX-License-Identifier: BSD-3-Clause
#include "advise/calls.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/status.hpp"
#include "base/text.hpp"

namespace advise {

using base::Error;
using base::Status;

std::string to_string(const CallPlace& place) {
  return fmt::format("{}/{}", to_string(place.grid), place.nb);
}

// ---- what is asked for

CallPlace place_asked(const CallPlace& asked, const CallPlace& here) {
  return {asked.grid.size() == 0 ? here.grid : asked.grid, asked.nb == 0 ? here.nb : asked.nb};
}

const std::vector<std::string>& call_routines() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    const auto add = [&](const char* types, std::initializer_list<const char*> routines) {
      for (const char* routine : routines)
        for (const char* type = types; *type != '\0'; ++type) names.push_back(fmt::format("p{}{}", *type, routine));
    };
    add("sdcz", {"gemm", "trsm", "getrf", "getrs", "gesv", "potrf", "potrs", "posv", "geqrf"});
    add("sd", {"syev", "syevd"});
    add("cz", {"heev", "heevd"});
    return names;
  }();
  return all;
}

namespace {

/// All that an entry names: one, all types of one, or all.
std::vector<std::string> routines_named(std::string_view name) {
  std::vector<std::string> named;
  for (const std::string& routine : call_routines()) {
    const bool is_type_open = name.size() == routine.size() && name.substr(0, 2) == "p?";
    if (name == "all" || name == routine || (is_type_open && name.substr(2) == std::string_view(routine).substr(2)))
      named.push_back(routine);
  }
  return named;
}

/// "2x2/64", "2x2" or "/64".
bool read_place(std::string_view text, CallPlace& place) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto nb = base::whole_number<int>(text.substr(slash + 1));
    if (!nb || *nb < 1) return false;
    place.nb = *nb;
    text = text.substr(0, slash);
    if (text.empty()) return true;
  }
  const auto grid = base::grid_shape_from(text);
  if (grid) place.grid = *grid;
  return grid.has_value();
}

CallRule rule_from(std::string_view what, std::string_view entry, std::string_view where) {
  CallRule rule;
  if (what == "auto")
    rule.mode = CallRule::Mode::automatic;
  else if (what == "forced")
    rule.mode = CallRule::Mode::forced;
  else if (what == "report")
    rule.mode = CallRule::Mode::report;
  else if (what == "off")
    rule.mode = CallRule::Mode::direct;
  else if (read_place(what, rule.place))
    rule.mode = CallRule::Mode::fixed;
  else
    throw Error(
        Status::bad_argument,
        "{} has \"{}\", expected auto, off, report, forced or a place like 2x2/64, 2x2 or /64 behind the routine",
        where, entry);
  return rule;
}

} // namespace

CallRules parse_call_rules(std::string_view text, std::string_view where) {
  CallRules rules;
  std::vector<std::string> entries = base::split(base::trimmed(text), ',');
  const bool is_one = entries.size() == 1;
  if (entries.empty() || (is_one && (entries[0].empty() || entries[0] == "off"))) return rules;
  if (is_one && entries[0] == "report") entries[0] = "all=report";
  for (const std::string& entry : entries) {
    const std::size_t sign = entry.find_first_of("=:");
    const std::string name = entry.substr(0, sign);
    const CallRule rule = sign == std::string::npos ? CallRule{CallRule::Mode::automatic, {}}
                                                    : rule_from(entry.substr(sign + 1), entry, where);
    const std::vector<std::string> named = routines_named(name);
    if (named.empty())
      throw Error(Status::bad_argument,
                  "{} names the routine \"{}\", expected off, report, all, or some of p?gemm, p?trsm, p?getrf, "
                  "p?getrs, p?gesv, p?potrf, p?potrs, p?posv, p?geqrf, p?syev, p?syevd, p?heev and p?heevd with a type "
                  "in place of the ?",
                  where, name);
    for (const std::string& routine : named) rules[routine] = rule;
  }
  return rules;
}

// ---- what is known

namespace {
constexpr CallChoiceRules rules;
} // namespace

void CallSpeeds::add(const CallSample& sample) {
  if (!std::isfinite(sample.seconds) || sample.seconds <= 0 || sample.count < 1) return;
  Size& size = known_[{sample.routine, sample.aspect, sample.place}][sample.n];
  size.work = sample.work;
  const auto kept = static_cast<std::int64_t>(rules.kept);
  for (std::int64_t k = 0; k < std::min(sample.count, kept); ++k) size.seconds.add(sample.seconds);
}

/// By all sizes but one; NaN where there is no other.
double CallSpeeds::fitted(const Sizes& sizes, std::int64_t n, double work, std::int64_t without) {
  double nn = 0, nw = 0, ww = 0, nt = 0, wt = 0;
  for (const auto& [size, known] : sizes) {
    if (size == without) continue;
    const double far = std::log2(static_cast<double>(size) / static_cast<double>(n));
    const double t = known.seconds.quartile_s();
    const double weight = 1 / (t * t * (1 + far * far));
    const double x = static_cast<double>(size), y = known.work;
    nn += weight * x * x, nw += weight * x * y, ww += weight * y * y;
    nt += weight * x * t, wt += weight * y * t;
  }
  if (nn == 0) return std::numeric_limits<double>::quiet_NaN();
  const double determinant = nn * ww - nw * nw;
  double by_n = 0, by_work = 0;
  if (determinant > 1e-9 * nn * ww) {
    by_n = (nt * ww - wt * nw) / determinant;
    by_work = (wt * nn - nt * nw) / determinant;
  } else if (ww > 0) { // one size: all of it is work
    by_work = wt / ww;
  }
  if (by_n < 0) by_n = 0, by_work = wt / ww;
  if (by_work < 0) by_work = 0, by_n = nt / nn;
  return by_n * static_cast<double>(n) + by_work * work;
}

CallExpectation CallSpeeds::expect(const std::string& routine, int aspect, const CallPlace& place, std::int64_t n,
                                   double work) const {
  const auto found = known_.find({routine, aspect, place});
  if (found == known_.end()) return {};
  const Sizes& sizes = found->second;
  const auto same = sizes.find(n);
  const double by_others = fitted(sizes, n, work, n);
  if (same == sizes.end()) return {by_others, rules.unsure_of_one * by_others};
  const UsualTime& known = same->second.seconds;
  const bool are_few = static_cast<std::int64_t>(known.count()) < rules.few;
  // one disturbed call must not close a place for good, nor make the caller's own place look bad
  if (are_few && by_others < known.quartile_s()) return {by_others, rules.unsure_of_one * by_others};
  return {known.quartile_s(), known.quartile_error_s()};
}

// ---- what is decided

CallDecision decide_call(const std::vector<CallOption>& options) {
  const CallOption& stay = options[0];
  CallDecision decision;
  decision.stay_s = stay.seconds();
  std::size_t best = 0;
  for (std::size_t k = 1; k < options.size(); ++k) {
    const bool is_known = !std::isnan(options[k].seconds());
    if (is_known && (best == 0 || options[k].seconds() < options[best].seconds())) best = k;
  }
  if (best == 0) return decision;
  decision.best = options[best].place;
  decision.run_s = options[best].run_s;
  decision.copy_s = options[best].copy_s;
  decision.needed_s = std::max(rules.gain * decision.stay_s, stay.spread_s + options[best].spread_s);
  const double gain = decision.stay_s - options[best].seconds();
  if (gain > rules.gain * decision.stay_s && gain >= decision.needed_s) decision.chosen = best; // false with NaN
  return decision;
}

std::string to_string(const CallDecision& decision) {
  if (std::isnan(decision.stay_s)) return "stays: its time here is not known";
  if (std::isnan(decision.run_s)) return fmt::format("stays: {:.3g} s here, no other place is known", decision.stay_s);
  return fmt::format("{} {}: {:.3g} s + {:.3g} s of copies, here {:.3g} s; a move has to save {:.3g} s",
                     decision.is_moved() ? "moves to" : "stays, the best other place is", to_string(decision.best),
                     decision.run_s, decision.copy_s, decision.stay_s, decision.needed_s);
}

bool is_time_to_measure(const CallsSoFar& so_far, double expected_s) {
  if (so_far.rounds == 0) return std::max(expected_s, so_far.spent_s) > rules.worth_measuring_s;
  return so_far.rounds < rules.most_rounds && so_far.measured_s < rules.most_measured * so_far.spent_s;
}

void CallGain::look_at(std::vector<CallOption> options) {
  expected_s_ = options[0].run_s;
  options_ = std::move(options);
  is_known_ = false;
  for (std::size_t k = 1; k < options_.size(); ++k) is_known_ = is_known_ || !std::isnan(options_[k].run_s);
  choose();
}

void CallGain::add(double seconds) {
  ++calls_;
  seconds_ += seconds;
  stayed_.add(seconds);
  if ((calls_ & (calls_ - 1)) == 0 || calls_ == rules.few) choose(); // each costs as much as there are places
}

void CallGain::choose() {
  if (calls_ == 0) return;
  CallOption& stay = options_[0];
  stay.run_s = stayed_.quartile_s();
  stay.spread_s = stayed_.quartile_error_s();
  if (calls_ < rules.few && expected_s_ < stay.run_s) stay.run_s = expected_s_; // as CallSpeeds::expect() has it
  chosen_ = decide_call(options_).chosen;
}

double CallGain::best_s() const {
  if (chosen_ == 0) return seconds_;
  return std::min(seconds_, static_cast<double>(calls_) * options_[chosen_].seconds());
}

std::vector<CallPlace> call_places(GridShape here, int nb) {
  std::vector<CallPlace> places;
  const auto add = [&](GridShape grid, int block) {
    const CallPlace place{grid, block};
    if (!(place == CallPlace{here, nb}) && std::find(places.begin(), places.end(), place) == places.end())
      places.push_back(place);
  };
  const int processes = here.size();
  for (const int block : {rules.block, rules.small_block, rules.large_block}) add(base::squarest(processes), block);
  for (const int block : {rules.block, rules.small_block}) add(here, block);
  const GridShape squarest = base::squarest(processes);
  add({squarest.npcol, squarest.nprow}, rules.block);
  add({1, processes}, rules.block);
  add({processes, 1}, rules.block);
  for (int fewer = processes / 2; fewer >= 1; fewer /= 2) add(base::squarest(fewer), rules.block);
  return places;
}

CallPlace forced_place(GridShape here, int nb, std::int64_t call) {
  const int processes = here.size();
  std::vector<CallPlace> places{{{1, processes}, 5}, {{processes, 1}, 7}, {base::squarest(processes), 13}};
  if (processes > 1)
    places.insert(places.end(), {{base::squarest(processes - 1), 9}, {{processes - 1, 1}, 3}, {{1, 1}, 33}});
  places.erase(std::remove(places.begin(), places.end(), CallPlace{here, nb}), places.end());
  return places[static_cast<std::size_t>(call) % places.size()];
}

// ---- the report

std::string describe(const std::vector<CallTally>& tallies, bool is_report) {
  if (tallies.empty()) return {};
  std::string text = fmt::format("{:<9} {:<18} {:>7}  {:>11} {:>13} {:>9}  {}\n", "routine", "size", "calls", "seconds",
                                 is_report ? "in best place" : "where it was", "moved MB", "ran on");
  std::vector<CallTally> longest = tallies;
  std::stable_sort(longest.begin(), longest.end(),
                   [](const CallTally& a, const CallTally& b) { return a.seconds > b.seconds; });
  constexpr std::size_t most_rows = 40;
  const std::size_t rows = std::min(longest.size(), most_rows);
  double rest_s = 0;
  for (std::size_t k = rows; k < longest.size(); ++k) rest_s += longest[k].seconds;
  longest.resize(rows);
  for (const CallTally& t : longest) {
    std::string places;
    for (const auto& [place, count] : t.places)
      places += fmt::format("{}{}{}", places.empty() ? "" : ", ", place == "-" ? "its own place" : place,
                            t.places.size() > 1 ? fmt::format(" {} times", count) : "");
    const bool is_told_apart = !is_report && !t.best.empty(); // the others of this table are not of Mode::report
    if (!t.best.empty()) places += fmt::format("; best: {}", t.best == "-" ? "its own place" : t.best);
    if (is_told_apart) places += fmt::format(" in {:.4f}", t.other_s);
    // of those that are known, for all of them
    const std::string other =
        t.known == 0 || is_told_apart
            ? "-"
            : fmt::format("{:.4f}", t.other_s * static_cast<double>(t.calls) / static_cast<double>(t.known));
    text += fmt::format("{:<9} {:<18} {:>7}  {:>11.4f} {:>13} {:>9.1f}  {}\n", t.routine, t.size, t.calls, t.seconds,
                        other, t.moved_bytes / 1e6, places);
  }
  if (tallies.size() > rows) text += fmt::format("{} more of {:.4f} s together\n", tallies.size() - rows, rest_s);
  return text;
}

} // namespace advise
