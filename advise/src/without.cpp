// SPDX-License-Identifier: BSD-3-Clause
#include "advise/without.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/host_list.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "refusal.hpp"

namespace advise {

using base::Error;
using base::Status;

namespace {

constexpr std::size_t longest_list = 4096, longest_host = 255;

void add(std::vector<int>& ids, int id) {
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
}

std::string where_they_are(const std::vector<ProcessInfo>& all) {
  std::vector<int> ids;
  for (const ProcessInfo& process : all) ids.push_back(process.id);
  std::sort(ids.begin(), ids.end());
  constexpr std::size_t shown = 20;
  const bool is_cut = ids.size() > shown;
  if (is_cut) ids.resize(shown);
  return fmt::format("{}{}", fmt::join(ids, ", "), is_cut ? ", ..." : "");
}

/// Of those in the grid that are not in `named`; never process 0.
int slowest_of(const std::vector<ProcessInfo>& all, const std::vector<int>& named) {
  const ProcessInfo* slowest = nullptr;
  double fastest = 0;
  for (const ProcessInfo& process : all) {
    if (process.place < 0 || std::find(named.begin(), named.end(), process.id) != named.end()) continue;
    fastest = std::max(fastest, process.speed);
    if (process.id == 0) continue;
    const bool is_slower =
        slowest && (process.speed < slowest->speed || (process.speed == slowest->speed && process.id > slowest->id));
    if (!slowest || is_slower) slowest = &process;
  }
  if (!slowest) refuse("without the slowest: no process but process 0 is left in the grid, and it stays there");
  if (slowest->speed >= fastest)
    refuse("without the slowest: no process but process 0, which stays, is slower than the others (speed "
           "{:.6g}); name it by its id",
           fastest);
  return slowest->id;
}

/// For processes that are named one by one, or by their host.
[[noreturn]] void refuse_process0(const std::string& what, const std::string& advice) {
  refuse("without {}: process 0 stays in every grid, since it answers for the application; {}", what, advice);
}

std::string advice_for_host(const std::string& host, const std::vector<ProcessInfo>& all) {
  std::vector<int> others;
  for (const ProcessInfo& process : all)
    if (base::is_same_host(process.host, host) && process.id != 0) others.push_back(process.id);
  std::sort(others.begin(), others.end());
  return fmt::format("{}to free the host, write a checkpoint and restart the application on other hosts",
                     others.empty() ? "" : fmt::format("name the others on {}: {}; ", host, fmt::join(others, ",")));
}

} // namespace

Without Without::parse(std::string_view text, std::string_view where) {
  const auto bad = [&] {
    return Error(Status::bad_argument,
                 "advise: {} is \"{}\", expected ids of processes as \"3,5\", \"host:NAME\", \"slowest\" or "
                 "\"slowest:2\", joined by commas",
                 where, text.substr(0, 80));
  };
  if (text.size() > longest_list) throw bad();
  Without without;
  for (const std::string& part : base::split(text, ',')) {
    const std::string_view word = base::trimmed(part);
    const auto after = [&](std::string_view prefix) { return word.substr(prefix.size()); };
    const auto begins = [&](std::string_view prefix) { return word.substr(0, prefix.size()) == prefix; };
    if (word == "slowest") {
      ++without.slowest;
    } else if (begins("slowest:")) {
      const auto count = base::whole_number<int>(after("slowest:"));
      if (!count || *count < 1 || *count > (1 << 20)) throw bad();
      without.slowest += *count;
    } else if (begins("host:")) {
      const std::string_view host = after("host:");
      if (host.empty() || host.size() > longest_host) throw bad();
      without.hosts.emplace_back(host);
    } else {
      const auto id = base::whole_number<int>(word);
      if (!id || *id < 0) throw bad();
      add(without.ids, *id);
    }
  }
  if (without.is_empty()) throw bad();
  return without;
}

std::string Without::text() const {
  std::vector<std::string> parts;
  for (const int id : ids) parts.push_back(std::to_string(id));
  for (const std::string& host : hosts) parts.push_back("host:" + host);
  if (slowest > 0) parts.push_back(slowest == 1 ? "slowest" : fmt::format("slowest:{}", slowest));
  return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<int> Without::among(const std::vector<ProcessInfo>& all) const {
  std::vector<int> named;
  for (const int id : ids) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const ProcessInfo& p) { return p.id == id; });
    if (at == all.end())
      throw Error(Status::not_found, "advise: without {}: there is no process {}, expected some of {}", id, id,
                  where_they_are(all));
    if (id == 0) refuse_process0("0", "name other processes");
    add(named, at->id);
  }
  for (const std::string& host : hosts) {
    const bool is_exact = std::any_of(all.begin(), all.end(), [&](const ProcessInfo& p) { return p.host == host; });
    std::string known; // the host as its processes call it
    for (const ProcessInfo& process : all) {
      if (is_exact ? process.host != host : !base::is_same_host(process.host, host)) continue;
      if (!known.empty() && process.host != known)
        throw Error(Status::bad_argument, "advise: without host:{}: that may be {} or {}, expected one of them", host,
                    known, process.host);
      if (process.id == 0) refuse_process0("host:" + host, advice_for_host(host, all));
      known = process.host;
      add(named, process.id);
    }
    if (known.empty())
      throw Error(Status::not_found,
                  "advise: without host:{}: no process is on that host, expected one as dyngrid ps JOB shows it", host);
  }
  for (int k = 0; k < slowest; ++k) named.push_back(slowest_of(all, named));
  std::sort(named.begin(), named.end());
  return named;
}

std::string too_few_without(const std::vector<ProcessInfo>& all, const std::vector<int>& named, base::GridShape to) {
  int in_grid = 0, asleep = 0;
  for (const ProcessInfo& process : all) {
    if (std::find(named.begin(), named.end(), process.id) != named.end()) continue;
    ++(process.place >= 0 ? in_grid : asleep);
  }
  if (in_grid + asleep >= to.size()) return {};
  return fmt::format("{} without {} needs {} processes, but {} are left ({} in the grid, {} parked), and none is "
                     "started where others leave; expected a smaller grid",
                     to_string(to), fmt::join(named, ", "), to.size(), in_grid + asleep, in_grid, asleep);
}

} // namespace advise
