// SPDX-License-Identifier: BSD-3-Clause
#include "grid/settings.hpp"

#include <climits>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>

#include "base/host_list.hpp"
#include "base/text.hpp"
#include "control/runtime_dir.hpp"
#include "control/variables.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

bool is_switched_on(const char* name, bool fallback) {
  const char* text = environment(name);
  return base::parse_switch(fmt::format("blacs-dyn: {}", name), text ? std::optional<std::string>(text) : std::nullopt,
                            fallback);
}

namespace {

/// Passes on an error of `read`, with the name of the variable before it.
template <class Read> auto naming(const char* name, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(error.status(), "{}: {}", name, error.what());
  }
}

void read_group(const std::string& text, const std::string& where, GroupPolicy& policy) {
  using Kind = GroupPolicy::Kind;
  char* end = nullptr;
  const long size = std::strtol(text.c_str(), &end, 10);
  if (text == "auto") {
    policy.kind = Kind::automatic;
  } else if (text == "all") {
    policy.kind = Kind::whole;
  } else if (*end == '\0' && size >= 1 && size <= INT_MAX) {
    policy.kind = Kind::fixed;
    policy.size = static_cast<int>(size);
  } else {
    throw Error(Status::bad_argument, "{} is \"{}\", expected auto, all or a number of processes from 1", where, text);
  }
}

/// Reads an entry of a variable that is a list, where it is there; `read` gets its text, and what messages call it.
template <class Read> void if_set(const char* name, const char* key, Read&& read) {
  if (const auto text = environment(name, key)) read(*text, fmt::format("blacs-dyn: {}'s {}", name, key));
}

void read_control(Settings& settings) {
  if (const char* text = environment("DYNGRID_JOB"); text && std::string_view(text) == "off") {
    settings.is_controlled = false;
  } else if (text) {
    control::check_job_name(text, "DYNGRID_JOB");
    settings.job = text;
  }
  if (const char* text = environment("DYNGRID_BALANCE"))
    settings.balance = control::balance_mode_from(text, "blacs-dyn: DYNGRID_BALANCE");
  if (const char* text = environment("DYNGRID_ALLOW"))
    settings.allowed = naming("DYNGRID_ALLOW", [&] { return advise::Allowed::parse(text); });
  settings.undoes = base::parse_switch("blacs-dyn: DYNGRID_DECIDE's undo", environment("DYNGRID_DECIDE", "undo"), true);
  if_set("DYNGRID_DECIDE", "steps", [&](const std::string& text, const std::string& where) {
    settings.steps = base::parse_whole_number(text, where, 1);
  });
  if_set("DYNGRID_DECIDE", "experiment", [&](const std::string& text, const std::string&) {
    settings.experiment = advise::Experiment::parse(text, "DYNGRID_DECIDE's experiment");
  });
  if_set("DYNGRID_DECIDE", "per-core", [&](const std::string& text, const std::string& where) {
    settings.per_core = static_cast<int>(base::parse_whole_number(text, where, 0, max_processes));
  });
  if_set("DYNGRID_DECIDE", "cores",
         [](const std::string& text, const std::string& where) { // control::usable_cores reads it
           base::parse_whole_number(text, where, 1, max_processes);
         });
}

/// "20": every 20 resize points. "90s": every 90 seconds.
void read_interval(const std::string& text, Settings& settings) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool in_seconds = std::string_view(end) == "s";
  const bool is_whole = value == static_cast<double>(static_cast<std::int64_t>(value));
  if (end == text.c_str() || !(value > 0) || value > 1e12 || (*end != '\0' && !in_seconds) ||
      (!in_seconds && !is_whole))
    throw Error(
        Status::bad_argument,
        "blacs-dyn: DYNGRID_CHECKPOINT's every is \"{}\", expected a number of resize points (20) or of seconds (90s)",
        text);
  if (in_seconds)
    settings.checkpoint_seconds = value;
  else
    settings.checkpoint_points = static_cast<std::int64_t>(value);
}

/// "30" or "30s".
double read_seconds(const std::string& text, const std::string& where) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || (*end != '\0' && std::string_view(end) != "s") || !(seconds > 0) || seconds > 1e9)
    throw Error(Status::bad_argument, "{} is \"{}\", expected seconds above 0", where, text);
  return seconds;
}

void read_exchange(Settings& settings) {
  if_set("DYNGRID_EXCHANGE", "placement", [&](const std::string& text, const std::string& where) {
    settings.placement = gridmap::parse_placement(text, where);
  });
  if_set("DYNGRID_EXCHANGE", "schedule", [&](const std::string& text, const std::string&) {
    settings.exchange_order = naming("DYNGRID_EXCHANGE's schedule", [&] { return redist::schedule_from(text); });
  });
  if_set("DYNGRID_EXCHANGE", "memory", [&](const std::string& text, const std::string& where) {
    if (text != "auto" && text != "low")
      throw Error(Status::bad_argument, "{} is \"{}\", expected auto or low", where, text);
    settings.is_exchange_low = text == "low";
  });
  // redist reads these two when it first needs them, and prints nothing
  base::parse_switch("blacs-dyn: DYNGRID_EXCHANGE's hugepages", environment("DYNGRID_EXCHANGE", "hugepages"), true);
  if_set("DYNGRID_EXCHANGE", "gemr2d", [](const std::string& text, const std::string& where) {
    if (text != "stock" && text != "dyngrid")
      throw Error(Status::bad_argument, "{} is \"{}\", expected stock or dyngrid", where, text);
  });
}

void read_start(Settings& settings) {
  if_set("DYNGRID_START", "unit",
         [&](const std::string& text, const std::string& where) { read_group(text, where, settings.group_policy); });
  if_set("DYNGRID_START", "timeout",
         [&](const std::string& text, const std::string& where) { settings.join_limit_s = read_seconds(text, where); });
  if_set("DYNGRID_START", "keep", [&](const std::string& text, const std::string& where) {
    const bool is_zero = text == "0" || text == "0s";
    settings.keep_s = is_zero ? 0 : read_seconds(text, where);
    settings.group_policy.keeps = !is_zero;
  });
  if_set("DYNGRID_START", "warm", [&](const std::string& text, const std::string& where) {
    settings.warm = static_cast<int>(base::parse_whole_number(text, where, 0, max_processes));
  });
}

void read_checkpoints(Settings& settings) {
  const std::string own_file = settings.pool.empty() ? "" : "." + settings.pool; // two pools write two checkpoints
  settings.checkpoint = environment("DYNGRID_CHECKPOINT", "").value_or("");
  if (!settings.checkpoint.empty()) settings.checkpoint += own_file;
  if (const char* text = environment("DYNGRID_RESTORE")) settings.restore = text + own_file;
  if_set("DYNGRID_CHECKPOINT", "every", [&](const std::string& text, const std::string&) {
    if (settings.checkpoint.empty())
      throw Error(Status::bad_argument, "blacs-dyn: DYNGRID_CHECKPOINT has no file, expected PATH,every={}", text);
    read_interval(text, settings);
  });
  if_set("DYNGRID_CHECKPOINT", "signal", [&](const std::string& text, const std::string& where) {
    if (settings.checkpoint.empty())
      throw Error(Status::bad_argument, "blacs-dyn: DYNGRID_CHECKPOINT has no file, expected PATH,signal={}", text);
    settings.checkpoint_signal = text == "TERM" ? SIGTERM : text == "USR1" ? SIGUSR1 : 0;
    if (settings.checkpoint_signal == 0)
      throw Error(Status::bad_argument, "{} is \"{}\", expected TERM or USR1", where, text);
  });
}
} // namespace

Settings Settings::from_environment(const std::string& pool) {
  Settings settings;
  settings.pool = pool;
  control::check_environment();
  if (const char* text = environment("DYNGRID_RESIZE_AT"))
    settings.requests = gridmap::parse_timetable(text, "blacs-dyn: DYNGRID_RESIZE_AT");
  read_exchange(settings);
  if (const char* text = environment("DYNGRID_HOSTS"))
    settings.group_policy.set_hosts(base::parse_hosts(text, "blacs-dyn: DYNGRID_HOSTS"));
  read_start(settings);
  if (const char* text = environment("DYNGRID_PROCESSES")) {
    settings.way = launcher_kind_from(text);
    settings.is_way_asked_for = true;
  }
  settings.waits = is_switched_on("DYNGRID_WAIT", false);
  settings.is_scheduled = is_switched_on("DYNGRID_SCHED", false);
  if (const char* text = environment("DYNGRID_SPARE"))
    settings.spare = static_cast<int>(base::parse_whole_number(text, "blacs-dyn: DYNGRID_SPARE", 0, max_processes));
  read_checkpoints(settings);
  settings.is_verbose = is_switched_on("DYNGRID_VERBOSE", false);
  read_control(settings);
  return settings;
}

} // namespace blacs_dyn
