// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <climits>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include "control/runtime_dir.hpp"
#include "setup_file.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

std::vector<std::string> comma_separated(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream all{std::string(text)};
  for (std::string word; std::getline(all, word, ',');) words.push_back(word);
  return words;
}

bool is_switched_on(const char* name, bool fallback) {
  const char* text = environment(name);
  if (!text) return fallback;
  const std::string_view word = text;
  if (word == "on" || word == "1") return true;
  if (word == "off" || word == "0") return false;
  throw Error(Status::bad_argument, fmt::format("blacs-dyn: {} is \"{}\", wanted on or off", name, text));
}

namespace {

/// What `read` throws, with the name of the variable before it.
template <class Read> auto naming(const char* name, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(error.status(), fmt::format("{}: {}", name, error.what()));
  }
}

void read_group(const char* text, GroupPolicy& policy) {
  using Kind = GroupPolicy::Kind;
  const std::string_view word = text;
  char* end = nullptr;
  const long size = std::strtol(text, &end, 10);
  if (word == "auto") {
    policy.kind = Kind::automatic;
  } else if (word == "all") {
    policy.kind = Kind::whole;
  } else if (*end == '\0' && size >= 1 && size <= INT_MAX) {
    policy.kind = size == 1 ? Kind::one_each : Kind::fixed;
    policy.size = static_cast<int>(size);
  } else {
    throw Error(
        Status::bad_argument,
        fmt::format("blacs-dyn: DYNGRID_UNIT is \"{}\", wanted auto, all or a number of processes from 1", text));
  }
}

/// A whole number; `otherwise` where the variable is not set.
int read_number(const char* name, const char* text, int least, int otherwise) {
  if (!text) return otherwise;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < least || value > max_processes)
    throw Error(Status::bad_argument, fmt::format("blacs-dyn: {} is \"{}\", wanted a whole number {} .. {}", name, text,
                                                  least, max_processes));
  return static_cast<int>(value);
}

void read_control(Settings& settings) {
  settings.is_controlled = is_switched_on("DYNGRID_CONTROL", true);
  settings.undoes = is_switched_on("DYNGRID_UNDO", true);
  if (const char* text = environment("DYNGRID_JOB")) {
    control::check_job_name(text, "DYNGRID_JOB");
    settings.job = text;
  }
  if (const char* text = environment("DYNGRID_ALLOW"))
    settings.allowed = naming("DYNGRID_ALLOW", [&] { return control::Allowed::parse(text); });
  if (const char* text = environment("DYNGRID_STEPS")) {
    char* end = nullptr;
    settings.steps = std::strtoll(text, &end, 10);
    if (*end != '\0' || settings.steps < 1)
      throw Error(Status::bad_argument,
                  fmt::format("blacs-dyn: DYNGRID_STEPS is \"{}\", wanted a number of steps from 1", text));
  }
  if (const char* text = environment("DYNGRID_EXPERIMENT"))
    settings.experiment = control::Experiment::parse(text, "DYNGRID_EXPERIMENT");
}

} // namespace

namespace {
/// "20": every so many resize points. "90s": every so many seconds.
void read_interval(const std::string& text, Settings& settings) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool in_seconds = std::string_view(end) == "s";
  const bool is_whole = value == static_cast<double>(static_cast<std::int64_t>(value));
  if (end == text.c_str() || !(value > 0) || value > 1e12 || (*end != '\0' && !in_seconds) ||
      (!in_seconds && !is_whole))
    throw Error(
        Status::bad_argument,
        fmt::format(
            "blacs-dyn: DYNGRID_CHECKPOINT_EVERY is \"{}\", wanted a number of resize points (20) or of seconds (90s)",
            text));
  if (in_seconds)
    settings.checkpoint_seconds = value;
  else
    settings.checkpoint_points = static_cast<std::int64_t>(value);
}
} // namespace

Settings Settings::from_environment() {
  Settings settings;
  if (const char* text = environment("DYNGRID_RESIZE_AT"))
    settings.requests = gridmap::parse_timetable(text, "blacs-dyn: DYNGRID_RESIZE_AT");
  if (const char* text = environment("DYNGRID_PLACEMENT"))
    settings.placement = gridmap::parse_placement(text, "blacs-dyn: DYNGRID_PLACEMENT");
  settings.keep_first = is_switched_on("DYNGRID_KEEP_FIRST", true);
  if (const char* text = environment("DYNGRID_SCHEDULE"))
    settings.exchange_order = naming("DYNGRID_SCHEDULE", [&] { return redist::schedule_from(text); });
  if (const char* text = environment("DYNGRID_HOSTS"))
    for (const std::string& host : comma_separated(text))
      parse_host(host, "DYNGRID_HOSTS", settings.group_policy.hosts, settings.group_policy.slots);
  if (const char* text = environment("DYNGRID_UNIT")) read_group(text, settings.group_policy);
  if (const char* text = environment("DYNGRID_JOIN_TIMEOUT")) {
    char* end = nullptr;
    settings.join_limit_s = std::strtod(text, &end);
    if (*end != '\0' || !(settings.join_limit_s > 0))
      throw Error(Status::bad_argument,
                  fmt::format("blacs-dyn: DYNGRID_JOIN_TIMEOUT is \"{}\", wanted seconds above 0", text));
  }
  if (const char* text = environment("DYNGRID_PROCESSES")) {
    const std::string_view word = text;
    if (word != "spawn" && word != "join")
      throw Error(Status::bad_argument,
                  fmt::format("blacs-dyn: DYNGRID_PROCESSES is \"{}\", wanted spawn or join", text));
    settings.way = word == "join" ? LauncherKind::join : LauncherKind::spawn;
  }
  if (const char* text = environment("DYNGRID_SPARE")) {
    char* end = nullptr;
    const long spare = std::strtol(text, &end, 10);
    if (*end != '\0' || spare < 0 || spare > INT_MAX)
      throw Error(Status::bad_argument,
                  fmt::format("blacs-dyn: DYNGRID_SPARE is \"{}\", wanted a number of processes from 0", text));
    settings.spare = static_cast<int>(spare);
  }
  if (const char* text = environment("DYNGRID_CHECKPOINT")) settings.checkpoint = text;
  if (const char* text = environment("DYNGRID_RESTORE")) settings.restore = text;
  if (const char* text = environment("DYNGRID_CHECKPOINT_EVERY")) {
    if (settings.checkpoint.empty())
      throw Error(Status::bad_argument,
                  "blacs-dyn: DYNGRID_CHECKPOINT_EVERY is set and DYNGRID_CHECKPOINT, where to, is not");
    read_interval(text, settings);
  }
  settings.is_verbose = is_switched_on("DYNGRID_VERBOSE", false);
  is_switched_on("DYNGRID_HUGEPAGES", true); // redist reads these two when it first needs them, and says nothing
  if (const char* text = environment("DYNGRID_GEMR2D");
      text && std::string_view(text) != "stock" && std::string_view(text) != "dyngrid")
    throw Error(Status::bad_argument,
                fmt::format("blacs-dyn: DYNGRID_GEMR2D is \"{}\", wanted stock or dyngrid", text));
  settings.per_core = read_number("DYNGRID_PER_CORE", environment("DYNGRID_PER_CORE"), 0, usual_per_core);
  static_cast<void>(read_number("DYNGRID_CORES", environment("DYNGRID_CORES"), 1, 1)); // control::usable_cores reads it
  read_control(settings);
  return settings;
}

} // namespace blacs_dyn
