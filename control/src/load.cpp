// SPDX-License-Identifier: BSD-3-Clause
#include "control/load.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "advise/rules.hpp"
#include "base/names.hpp"
#include "base/statistics.hpp"
#include "base/text.hpp"

namespace control {
namespace {

constexpr advise::LoadRules rules;

/// Lines of a text, and words of a line: streams would cost more than all the rest of a sample.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Removes and returns the whole number at the start of a line, after blanks.
std::optional<std::int64_t> next_number(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t\n"), line.size()));
  std::int64_t value = 0;
  const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (failed != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return value;
}

/// The number after `name` at the beginning of a line; -1 when there is none.
std::int64_t entry(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.compare(0, name.size(), name) != 0 || line.size() <= name.size() || line[name.size()] != ' ') continue;
    return base::whole_number(base::trimmed(line.substr(name.size()))).value_or(-1);
  }
  return -1;
}

/// "12 (a name (with) anything) R 1 ...": the letter.
bool is_runnable(const std::string& stat) {
  const std::size_t end = stat.rfind(')');
  return end != std::string::npos && end + 2 < stat.size() && stat[end + 2] == 'R';
}

/// `cpu3 user nice system idle iowait irq softirq steal guest guest_nice`; the last two are in user and nice already.
void add_processors(const LoadTexts& texts, LoadSample& sample) {
  for (std::string_view rest = texts.stat; !rest.empty();) {
    std::string_view line = next_line(rest);
    if (line.compare(0, 3, "cpu") != 0 || line.size() < 4 || line[3] == ' ') continue;
    line.remove_prefix(3);
    const auto number = static_cast<int>(next_number(line).value_or(0));
    if (!texts.cpus.empty() && std::find(texts.cpus.begin(), texts.cpus.end(), number) == texts.cpus.end()) continue;
    ++sample.cores;
    for (int k = 0; k < 8; ++k) {
      const auto ticks = next_number(line);
      if (!ticks) break;
      const bool is_idle = k == 3 || k == 4;
      if (!is_idle) sample.busy_ticks += *ticks;
      if (k == 7) sample.stolen_ticks += *ticks;
    }
  }
}

double part(double of, double all) {
  return all > 0 ? std::clamp(of / all, 0.0, 1.0) : 0;
}

} // namespace

LoadSample load_sample(const LoadTexts& texts) {
  LoadSample sample;
  sample.at_s = texts.at_s;
  for (const auto& [number, thread] : texts.threads) {
    if (is_runnable(thread.stat)) ++sample.own_runnable;
    std::string_view words = thread.schedstat; // nanoseconds that it ran, that it waited
    const auto cpu_ns = next_number(words), wait_ns = next_number(words);
    if (cpu_ns && wait_ns)
      sample.threads[number] = {1e-9 * static_cast<double>(*cpu_ns), 1e-9 * static_cast<double>(*wait_ns)};
  }
  for (const std::string& text : texts.cpu_stat) {
    const std::int64_t ns = entry(text, "throttled_time"), us = entry(text, "throttled_usec"); // version 1, version 2
    sample.throttled_s.push_back(ns >= 0   ? 1e-9 * static_cast<double>(ns)
                                 : us >= 0 ? 1e-6 * static_cast<double>(us)
                                           : 0);
  }
  add_processors(texts, sample);
  sample.quota = texts.quota;
  if (texts.quota > 0)
    sample.rivals = static_cast<int>(std::count_if(texts.group.begin(), texts.group.end(), is_runnable));
  sample.runnable = static_cast<int>(entry(texts.stat, "procs_running"));
  return sample;
}

const char* to_string(LoadSource source) {
  // never destroyed: the thread that answers may read it while the program exits
  static const auto* names = new base::Names{"schedstat", "clock", "competitors"};
  return base::name_of(source, *names);
}

namespace {

/// The part of its control group's quota, beside its competitors in the group.
double part_of_quota(const LoadSample& before, const LoadSample& after) {
  const double rivals = before.rivals < 0 ? after.rivals : (before.rivals + after.rivals) / 2.0;
  return after.quota / (rivals + 1);
}

/// Of a process that does not run itself: the share that it would get.
void judge_by_competitors(const LoadSample& before, const LoadSample& after, Load& load) {
  const double cores = std::max(after.cores, 1);
  load.share = load.competing < 0 ? 1 : std::min(1.0, cores / (load.competing + 1));
  load.is_calm = load.competing < cores;
  if (after.quota > 0 &&
      after.rivals >= 0) { // a process in another group of the host takes nothing from this one's quota
    load.share = std::min(1.0, part_of_quota(before, after));
    load.is_calm = before.rivals <= 0 && after.rivals == 0;
  }
  load.share = std::min(load.share, 1 - load.throttled);
}

} // namespace

Load judge_load(const LoadSample& before, const LoadSample& after, LoadSource source, const MarkedWork& work,
                double stopped_s) {
  Load load;
  const double wall_s = after.at_s - before.at_s;
  double cpu_s = 0, wait_s = 0, busiest_s = 0;
  for (const auto& [number, thread] : after.threads) {
    const auto was = before.threads.find(number); // a thread that is new began at 0
    const double ran = thread.cpu_s - (was == before.threads.end() ? 0 : was->second.cpu_s);
    cpu_s += std::max(ran, 0.0);
    wait_s += std::max(thread.wait_s - (was == before.threads.end() ? 0 : was->second.wait_s), 0.0);
    busiest_s = std::max(busiest_s, ran);
  }
  load.busy = wall_s > 0 ? cpu_s / wall_s : 0;
  load.stopped = part(stopped_s, wall_s);
  wait_s += stopped_s;
  load.waited = part(wait_s, cpu_s + wait_s);
  for (std::size_t k = 0; k < std::min(before.throttled_s.size(), after.throttled_s.size()); ++k)
    load.throttled = std::max(load.throttled, part(after.throttled_s[k] - before.throttled_s[k], wall_s));
  load.stolen = part(static_cast<double>(after.stolen_ticks - before.stolen_ticks),
                     static_cast<double>(after.busy_ticks - before.busy_ticks));
  load.competing = -1;
  if (before.runnable >= 0 && after.runnable >= 0)
    load.competing =
        (std::max(before.runnable - before.own_runnable, 0) + std::max(after.runnable - after.own_runnable, 0)) / 2.0;

  load.source = source;
  const bool is_asleep = cpu_s + wait_s < rules.asleep_part * wall_s;
  if (source == LoadSource::schedstat && is_asleep) load.source = LoadSource::competitors;
  if (source == LoadSource::clock && work.wall_s < rules.marked_s) load.source = LoadSource::competitors;
  switch (load.source) {
  case LoadSource::schedstat:
    load.share = std::min(1 - load.waited, std::max(1 - load.throttled, part(busiest_s, wall_s)));
    if (after.quota > 0 && after.rivals >= 0) // with pauses it is not throttled, but would be with more work
      load.share = std::min(load.share, std::max(load.busy, part_of_quota(before, after)));
    load.is_calm = load.share > rules.calm_share;
    break;
  case LoadSource::clock:
    load.share = part(work.cpu_s, work.wall_s);
    load.is_calm = load.share > rules.calm_share;
    break;
  case LoadSource::competitors:
    judge_by_competitors(before, after, load);
    break;
  }
  load.share = std::clamp(load.share * (1 - load.stolen), rules.least_share, 1.0);
  return load;
}

bool LoadWatch::add(double share) {
  last_.push_back(share);
  if (static_cast<int>(last_.size()) > 2 * rules.of) last_.pop_front();
  if (reference_ < 0) reference_ = share;
  const auto count = [&](double sign) {
    const auto from = last_.end() - std::min<std::ptrdiff_t>(rules.of, static_cast<std::ptrdiff_t>(last_.size()));
    return std::count_if(from, last_.end(), [&](double s) { return sign * (s - reference_) > rules.changed; });
  };
  return std::max(count(1), count(-1)) >= rules.needed;
}

double LoadWatch::share() const {
  return last_.empty() ? 1 : base::median({last_.begin(), last_.end()});
}

void LoadWatch::settle() {
  while (static_cast<int>(last_.size()) >= rules.needed)
    last_.pop_front(); // of the first sample after a change only a part is new
  reference_ = share();
}

} // namespace control
