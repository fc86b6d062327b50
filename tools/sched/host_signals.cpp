// SPDX-License-Identifier: BSD-3-Clause
#include "host_signals.hpp"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/host_list.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"

namespace sched {
namespace {

constexpr double answer_s = 15; ///< the time limit of a host
constexpr double again_s = 2;   ///< after it did not answer
constexpr std::ptrdiff_t calls_at_once = 16;

// A process found by the search may just have started another one: repeat until no new one is found.
constexpr const char* signal_script =
    "printf 'a\\000' | grep -zqxF a || exit 3; sent=' '; new=1; while [ $new = 1 ]; do new=0; "
    "for e in $(grep -lszxF -e \"$1\" /proc/[0-9]*/environ); do p=${e#/proc/}; p=${p%/environ}; "
    "case \"$sent\" in *\" $p \"*) continue ;; esac; "
    "kill -\"$2\" \"$p\" 2>/dev/null && sent=\"$sent$p \" && new=1; done; done; exit 0";

} // namespace

HostSignals::HostSignals(const std::string& shell, std::function<void(const std::string&)> warn)
    : shell_(base::words_in(shell)), warn_(std::move(warn)) {}

HostSignals::~HostSignals() = default;

void HostSignals::want(const std::string& host, const std::string& mark, bool is_stopped) {
  Wanted& wanted = wanted_[{host, mark}];
  wanted.is_stopped = is_stopped;
  wanted.next_s = 0;
}

void HostSignals::forget(const std::string& mark) {
  for (auto& [place, wanted] : wanted_)
    if (place.second == mark) {
      wanted.is_stopped = false;
      wanted.next_s = 0;
      wanted.is_last = true;
    }
}

void HostSignals::progress() {
  std::ptrdiff_t under_way = 0;
  for (auto at = wanted_.begin(); at != wanted_.end();) {
    if (collect(at->first, at->second)) {
      at = wanted_.erase(at);
    } else {
      under_way += at->second.call.valid();
      ++at;
    }
  }
  for (auto& [place, wanted] : wanted_) {
    if (under_way >= calls_at_once) return;
    if (wanted.call.valid() || base::monotonic_s() < wanted.next_s) continue;
    wanted.call_stops = wanted.is_stopped;
    wanted.call = call(place, wanted.is_stopped);
    ++under_way;
  }
}

bool HostSignals::collect(const Place& place, Wanted& wanted) {
  if (!wanted.call.valid() || wanted.call.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
  base::Outcome outcome;
  try {
    outcome = wanted.call.get();
  } catch (const std::exception& error) { // there is no such command, or no room for a process
    outcome.output = error.what();
  }
  if (outcome.status == 0) {
    if (wanted.is_silent) warn_(fmt::format("host {} answers again", place.first));
    wanted.is_silent = false;
    return wanted.call_stops == wanted.is_stopped;
  }
  if (wanted.is_last && !wanted.call_stops) return true;
  if (!wanted.is_silent)
    warn_(fmt::format("host {} does not answer, and processes there do not {}: {}; tried again every {:g} s",
                      place.first, wanted.call_stops ? "stop" : "go on",
                      outcome.timed_out ? fmt::format("nothing within {:g} s", answer_s)
                                        : fmt::format("status {}: {}", outcome.status,
                                                      base::trimmed(std::string_view(outcome.output).substr(0, 200))),
                      again_s));
  wanted.is_silent = true;
  wanted.next_s = base::monotonic_s() + again_s;
  return false;
}

std::future<base::Outcome> HostSignals::call(const Place& place, bool is_stopped) const {
  const auto& [host, mark] = place;
  const std::vector<std::string> there{"/bin/sh", "-c", signal_script, "sh", mark, is_stopped ? "STOP" : "CONT"};
  base::Command command{there};
  if (!base::is_this_host(host)) {
    command.words = shell_;
    command.words.push_back(host);
    command.words.push_back(base::shell_line(there));
  }
  const base::SignalsBlocked blocked; // signals go to the thread that waits for them
  return std::async(std::launch::async, [command = std::move(command)] { return base::run(command, answer_s); });
}

bool HostSignals::finish(double patience_s) {
  const double end_s = base::monotonic_s() + patience_s;
  for (progress(); !is_idle() && base::monotonic_s() < end_s; progress())
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return is_idle();
}

std::vector<std::string> HostSignals::silent(const std::string& mark) const {
  std::vector<std::string> hosts;
  for (const auto& [place, wanted] : wanted_)
    if (place.second == mark && wanted.is_silent) hosts.push_back(place.first);
  return hosts;
}

} // namespace sched
