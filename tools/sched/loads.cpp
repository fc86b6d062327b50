// SPDX-License-Identifier: BSD-3-Clause
#include "loads.hpp"

#include <algorithm>
#include <exception>

#include "advise/rules.hpp"
#include "base/parse_json.hpp"
#include "time.hpp"

namespace sched {
namespace {

using base::Json;

constexpr double recent_s = 3;  ///< a gathering of loads; a job gathers once a second while it is asked
constexpr double again_s = 0.2; ///< after a reply that was not the last one
constexpr double choices_s = 5; ///< for so long choices follow one round

LoadReply reply_in(const Json& line) {
  const auto loads = line.find("loads");
  if (!line.value("ok", false) || loads == line.end() || !loads->is_array()) return {std::nullopt, true};
  int places = 0, measured = 0;
  double sum = 0;
  for (const Json& load : *loads) {
    if (load.value("place", Json()).is_null()) continue; // it sleeps
    ++places;
    if (load.at("samples").get<int>() == 0) continue;
    ++measured;
    sum += std::clamp(load.at("share").get<double>(), advise::LoadRules().least_share, 1.0);
  }
  const Json age = line.value("age_s", Json());
  LoadReply reply;
  reply.is_last = places > 0 && measured == places && age.is_number() && age.get<double>() <= recent_s;
  if (measured > 0) reply.share = sum / measured > advise::LoadRules().calm_share ? 1 : sum / measured;
  return reply;
}

} // namespace

LoadReply load_reply(const Json& line) {
  try {
    return reply_in(line);
  } catch (const std::exception&) {
    return {std::nullopt, true};
  }
}

bool LoadRound::open_if_needed(const std::vector<std::int64_t>& jobs, double now_s) {
  if (is_open_) return true;
  if (ended_s_ && now_s < *ended_s_ + choices_s) return false;
  is_open_ = true;
  began_s_ = now_s;
  ask_s_.clear();
  for (const std::int64_t job : jobs) ask_s_[job] = now_s;
  return true;
}

std::vector<std::int64_t> LoadRound::due(double now_s) {
  std::vector<std::int64_t> jobs;
  for (auto& [job, ask_s] : ask_s_) {
    if (!is_open_ || now_s < ask_s) continue;
    jobs.push_back(job);
    ask_s = never;
  }
  return jobs;
}

void LoadRound::received(std::int64_t job, const LoadReply& reply, double now_s) {
  const auto asked = ask_s_.find(job);
  if (asked == ask_s_.end()) return;
  if (reply.is_last)
    ask_s_.erase(asked);
  else if (asked->second == never)
    asked->second = now_s + again_s;
}

void LoadRound::lost(std::int64_t job) {
  ask_s_.erase(job);
}

bool LoadRound::close_if_ended(double now_s) {
  if (!is_open_ || (!ask_s_.empty() && now_s < began_s_ + patience_s_)) return false;
  is_open_ = false;
  ended_s_ = now_s;
  return true;
}

std::vector<std::int64_t> LoadRound::silent() const {
  std::vector<std::int64_t> jobs;
  for (const auto& [job, ask_s] : ask_s_) jobs.push_back(job);
  return jobs;
}

} // namespace sched
