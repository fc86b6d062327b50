// SPDX-License-Identifier: BSD-3-Clause
#include "workload.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

#include "advise/topology.hpp"
#include "base/status.hpp"

namespace sched {
namespace {

std::vector<std::string_view> split(std::string_view text, std::string_view by) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find_first_of(by);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

} // namespace

void refuse_input(const std::string& text) {
  throw base::Error(base::Status::bad_argument, "scheduler: " + text);
}

Sizes parse_sizes(std::string_view text, int most, std::string_view where) {
  if (text == "any") {
    std::vector<int> list(static_cast<std::size_t>(std::max(most, 1)));
    std::iota(list.begin(), list.end(), 1);
    return Sizes(std::move(list));
  }
  try {
    return Sizes(advise::parse_set(std::string(text)));
  } catch (const base::Error& error) {
    refuse_input(fmt::format("the sizes '{}' in {} are not numbers of processors like 4,9,16 or 4:32:*2 or 'any': {}",
                             text, where, error.what()));
  }
}

RandomArrivals::RandomArrivals(const std::vector<App>& apps, std::vector<double> per_s, std::uint64_t seed,
                               double ignoring, double crashing)
    : apps_(apps), cumulative_(std::move(per_s)), random_(seed), ignoring_(ignoring), crashing_(crashing) {
  if (cumulative_.size() != apps_.size() || apps_.empty())
    refuse_input(fmt::format("{} rates for {} kinds of jobs, expected one each", cumulative_.size(), apps_.size()));
  for (std::size_t i = 1; i < cumulative_.size(); ++i) cumulative_[i] += cumulative_[i - 1];
  if (!(cumulative_.back() > 0)) refuse_input("no job ever arrives: the rates of arrival add up to 0");
}

bool RandomArrivals::next(Newcomers& arrival) {
  now_s_ += random_.exponential() / cumulative_.back();
  const double pick = random_.uniform() * cumulative_.back();
  const auto at = std::lower_bound(cumulative_.begin(), cumulative_.end(), pick);
  const App& app = apps_[static_cast<std::size_t>(
      std::min(at - cumulative_.begin(), static_cast<std::ptrdiff_t>(apps_.size()) - 1))];
  arrival.at_s = now_s_;
  arrival.app = &app;
  const double length = random_.exponential(); // drawn always: the same jobs with and without
  arrival.steps = app.random_steps ? app.steps * length : app.steps;
  arrival.ignores = random_.uniform() <= ignoring_;
  const double crash = random_.uniform(), at_part = random_.uniform();
  arrival.crashes_at = crash <= crashing_ ? at_part : -1;
  return true;
}

RecordedArrivals::RecordedArrivals(std::vector<Newcomers> list) : list_(std::move(list)) {
  std::stable_sort(list_.begin(), list_.end(), [](const Newcomers& a, const Newcomers& b) { return a.at_s < b.at_s; });
}

bool RecordedArrivals::next(Newcomers& arrival) {
  if (at_ == list_.size()) return false;
  arrival = list_[at_++];
  return true;
}

std::vector<App> drms_apps(const DrmsChoices& choices) {
  // t(n) = a + b/n through the published steady-state step times on 16 and 32 processors (DRMS, table 8):
  // 2335 and 1198 ms, 968 and 534 ms, 874 and 467 ms. a/(a + b) is the serial fraction, t(8) the step of a
  // large job.
  struct Kind {
    const char* name;
    double t16_s, t32_s;
  };
  constexpr std::array<Kind, 3> kinds{{{"bt", 2.335, 1.198}, {"lu", 0.968, 0.534}, {"sp", 0.874, 0.467}}};
  struct Category {
    const char* name;
    const char* sizes;
    int reference; // the processors that the published range of times is for
    double shortest_s, longest_s;
    double step_s; // on the reference; 0: the published one
  };
  const std::array<Category, 3> categories{{{"I", "1,2,4", 1, choices.small_shortest_s, choices.small_longest_s, 2},
                                            {"II", "4:16:4", 4, 3000, 4000, 2},
                                            {"III", "8:32:4", 8, 13000, 20000, 0}}};
  constexpr int variants = 7;
  std::vector<App> apps;
  for (std::size_t c = 0; c < categories.size(); ++c) {
    const Category& category = categories[c];
    for (int v = 0; v < variants; ++v) {
      const Kind& kind = kinds[static_cast<std::size_t>(v) % kinds.size()];
      const double b = (kind.t16_s - kind.t32_s) * 32, a = kind.t32_s - b / 32;
      const double serial = std::min(1.0, choices.serial[c] * a / (a + b));
      const auto amdahl = [&](int n) { return serial + (1 - serial) / n; };
      const double total_s =
          category.shortest_s * std::pow(category.longest_s / category.shortest_s, v / (variants - 1.0));
      const double step_s = category.step_s > 0 ? category.step_s : a + b / category.reference;
      App app;
      app.name = fmt::format("{}-{}-{}", category.name, kind.name, v + 1);
      app.category = static_cast<int>(c);
      app.sizes = parse_sizes(category.sizes, 32, "a category");
      app.steps = std::max(1.0, std::round(total_s / step_s));
      const double scale = total_s / app.steps / amdahl(category.reference);
      for (const int n : app.sizes.list()) app.step_s.push_back(scale * amdahl(n));
      app.work_s = app.steps * scale;
      app.resizable = c > 0 || choices.resize_small;
      // least squares through the 20 reconfiguration times of table 4, rms 1.8 s
      app.resize_base_s = 1.24 * choices.resize_scale;
      app.resize_per_proc_s = 0.387 * choices.resize_scale;
      apps.push_back(std::move(app));
    }
  }
  return apps;
}

const std::vector<Mix>& drms_mixes() {
  static const std::vector<Mix> mixes{{{5, 25, 70}},  {{15, 25, 60}}, {{25, 25, 50}},
                                      {{35, 25, 40}}, {{45, 25, 30}}, {{55, 25, 20}}};
  return mixes;
}

Mix parse_mix(std::string_view text) {
  const auto parts = split(text, ":");
  Mix mix{};
  int sum = 0;
  bool good = parts.size() == 3;
  for (std::size_t i = 0; good && i < 3; ++i) {
    const auto [end, error] = std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), mix.percent[i]);
    good = error == std::errc{} && end == parts[i].data() + parts[i].size() && mix.percent[i] >= 0 &&
           mix.percent[i] <= 100;
    sum += mix.percent[i];
  }
  if (!good || sum != 100)
    refuse_input(fmt::format("the mix '{}' is not three percentages that add up to 100, expected e.g. 25:25:50", text));
  return mix;
}

std::string to_string(const Mix& mix) {
  return fmt::format("{}:{}:{}", mix.percent[0], mix.percent[1], mix.percent[2]);
}

std::vector<double> rates_for(const std::vector<App>& apps, const Mix& mix, double utilization, int procs) {
  std::array<double, 3> work{};
  for (const App& app : apps) work.at(static_cast<std::size_t>(app.category)) += app.work_s;
  std::vector<double> rates;
  for (const App& app : apps) {
    const auto c = static_cast<std::size_t>(app.category);
    rates.push_back(mix.percent[c] / 100.0 * utilization * procs / work[c]);
  }
  return rates;
}

namespace {

/// One line of a list of jobs, and what is said of it when it is wrong.
class JobLine {
public:
  JobLine(std::string_view text, int number, std::string_view where)
      : fields_(split(text, ",")), place_(fmt::format("line {} of {}", number, where)) {
    if (fields_.size() < 5) wrong(text, "name,arrival_s,sizes,steps,step times");
  }

  void read(App& app, Newcomers& arrival) const {
    app.name = std::string(trim(fields_[0]));
    arrival.at_s = real(fields_[1], "seconds");
    const std::vector<int> sizes = ascending_sizes(fields_[2]);
    arrival.steps = real(fields_[3], "a number of steps");
    for (const auto part : split(trim(fields_[4]), "; "))
      if (!part.empty()) app.step_s.push_back(real(part, "seconds"));
    if (sizes.empty() || sizes.size() != app.step_s.size()) wrong(fields_[4], "one step time for each size");
    for (const double t : app.step_s)
      if (t <= 0) wrong(fields_[4], "step times above 0");
    if (arrival.steps <= 0) wrong(fields_[3], "at least one step");
    app.sizes = Sizes(sizes);
    app.steps = arrival.steps;
    app.work_s = arrival.steps * app.step_s.front() * sizes.front();
    for (std::size_t i = 5; i < fields_.size(); ++i) read_option(trim(fields_[i]), app, arrival);
  }

private:
  void wrong(std::string_view field, const char* wanted) const {
    refuse_input(fmt::format("'{}' in {}, expected {}", field, place_, wanted));
  }

  double real(std::string_view field, const char* what) const {
    const std::string copy(trim(field));
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    if (copy.empty() || *end != '\0' || !std::isfinite(value) || value < 0) wrong(field, what);
    return value;
  }

  std::vector<int> ascending_sizes(std::string_view field) const {
    std::vector<int> sizes;
    for (const auto part : split(trim(field), "; ")) {
      if (part.empty()) continue;
      const Sizes some = parse_sizes(part, 1, place_);
      for (const int size : some.list()) {
        if (!sizes.empty() && size <= sizes.back()) wrong(field, "ascending sizes");
        sizes.push_back(size);
      }
    }
    return sizes;
  }

  void read_option(std::string_view field, App& app, Newcomers& arrival) const {
    const auto equals = field.find('=');
    const auto key = field.substr(0, equals);
    const auto value = equals == std::string_view::npos ? std::string_view{} : field.substr(equals + 1);
    if (key == "priority") {
      const bool minus = !value.empty() && value[0] == '-';
      const double size = real(minus ? value.substr(1) : value, "a priority");
      app.priority = static_cast<int>(minus ? -size : size);
    } else if (key == "resize") {
      app.resize_base_s = real(value, "seconds of a change");
    } else if (key == "rigid") {
      app.resizable = false;
    } else if (key == "ignores") {
      arrival.ignores = true;
    } else if (key == "crashes") {
      arrival.crashes_at = real(value, "a part of the steps");
    } else {
      wrong(field, "priority=, resize=, rigid, ignores or crashes=");
    }
  }

  std::vector<std::string_view> fields_;
  std::string place_;
};

} // namespace

RecordedJobs parse_jobs(std::string_view text, std::string_view where) {
  RecordedJobs jobs;
  std::vector<Newcomers> arrivals;
  int number = 0;
  for (auto line : split(text, "\n")) {
    ++number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    App app;
    Newcomers arrival;
    JobLine(line, number, where).read(app, arrival);
    jobs.apps.push_back(std::move(app));
    arrivals.push_back(arrival);
  }
  for (std::size_t i = 0; i < arrivals.size(); ++i) arrivals[i].app = &jobs.apps[i];
  jobs.arrivals = std::move(arrivals);
  return jobs;
}

} // namespace sched
