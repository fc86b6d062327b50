// SPDX-License-Identifier: BSD-3-Clause
// Requests of clients on the scheduler's socket.
#include <algorithm>

#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "control/history_json.hpp"
#include "control/limits.hpp"
#include "daemon.hpp"
#include "submission.hpp"

namespace sched {

using base::Error;
using base::Json;
using base::monotonic_s;
using base::Status;
using base::unix_time_s;
using Phase = JobRecord::Phase;
namespace {

constexpr std::size_t ended_shown = 30;

} // namespace

void Daemon::answer(control::LineServer::Client client, std::string_view line) {
  control::Request request;
  try {
    request = control::parse_request(line);
    serve_request(client, request);
  } catch (const std::exception& error) {
    server_->send(client, control::to_line(control::failure(request.id, error)));
  }
}

void Daemon::serve_request(control::LineServer::Client client, const control::Request& request) {
  const auto reply = [&](Json fields) {
    server_->send(client, control::to_line(control::reply(request.id, std::move(fields))));
  };
  if (request.op == "submit") {
    reply(submit(request));
  } else if (request.op == "queue") {
    reply(queue(request));
  } else if (request.op == "cancel") {
    reply(cancel(request));
  } else if (request.op == "status") {
    reply(status());
  } else if (request.op == "timeline") {
    reply(timeline(request));
  } else if (request.op == "wait") {
    const auto id = job_of(request);
    const JobRecord& job = *table_.find(id);
    if (job.phase == Phase::ended) {
      reply({{"job", json_of(job)}});
      return;
    }
    server_->hold(client, true);
    waiters_.push_back({client, request.id, id});
  } else if (request.op == "shutdown") {
    reply(shut_down(control::flag(request, "cancel")));
  } else {
    throw Error(Status::bad_argument,
                "scheduler: op \"{}\" is not known, expected submit, queue, cancel, status, timeline, wait or shutdown",
                request.op.substr(0, 40));
  }
}

Daemon::Json Daemon::cancel(const control::Request& request) {
  const auto id = job_of(request);
  const JobRecord& job = *table_.find(id);
  if (job.phase == Phase::ended) return {{"cancelled", false}, {"reason", "it has ended"}};
  if (!job.is_cancelled) commit(table_.cancel(unix_time_s(), id));
  if (job.phase == Phase::waiting) end_unbegun(id, "cancelled");
  return {{"cancelled", true}};
}

Daemon::Json Daemon::status() const {
  int counts[3] = {};
  for (const auto& [id, job] : table_.jobs()) ++counts[static_cast<int>(job.phase)];
  Json answer = overview();
  answer.update({{"pid", ::getpid()},
                 {"uptime_s", monotonic_s() - began_s_},
                 {"folder", options_.folder},
                 {"waiting", counts[0]},
                 {"running", counts[1]},
                 {"ended", counts[2]},
                 {"protocol", control::protocol_version}});
  return answer;
}

/// The jobs go on, unless they are cancelled.
Daemon::Json Daemon::shut_down(bool cancels) {
  for (const auto& [id, job] : table_.jobs()) {
    if (!cancels || job.phase == Phase::ended || job.is_cancelled) continue;
    commit(table_.cancel(unix_time_s(), id));
    if (job.phase == Phase::running)
      kill_job(id);
    else
      end_unbegun(id, "cancelled");
  }
  stop_ = true;
  return {{"left_running", std::count_if(live_.begin(), live_.end(), [&](const auto& l) {
             return table_.find(l.first)->phase == Phase::running;
           })}};
}

std::int64_t Daemon::job_of(const control::Request& request) const {
  const auto id = control::whole_number(request, "job", 1, INT64_MAX);
  if (table_.find(id) == nullptr) throw Error(Status::not_found, "scheduler: there is no job {}", id);
  return id;
}

Daemon::Json Daemon::submit(const control::Request& request) {
  const JobSpec spec = spec_of(request);
  Live live;
  set_allowed(live, spec.allow, spec.seconds);
  if (!live.has_fitting_size)
    throw Error(Status::bad_argument,
                "scheduler: submit: \"{}\" allows no grid of at most {} processes, which is all there are", spec.allow,
                options_.procs);
  const Promise promise = spec.finish_by_s > 0 ? promised(spec, live) : Promise{};
  const Entry entry = table_.submit(unix_time_s(), spec);
  if (encode(entry).size() > 60000)
    throw Error(Status::bad_argument, "scheduler: submit: command and variables are longer than 60000 bytes");
  std::vector<Entry> entries{entry};
  if (spec.finish_by_s > 0 || !spec.seconds.empty()) entries.push_back(table_.finish(entry.at_s, entry.job, spec));
  commit(entries);
  live_[entry.job] = std::move(live);
  has_had_job_ = true;
  Json answer{{"job", entry.job}, {"out", file_of(entry.job) + ".out"}, {"err", file_of(entry.job) + ".err"}};
  if (promise.procs > 0) answer.update({{"predicted_procs", promise.procs}, {"predicted_end_s", promise.end_s}});
  return answer;
}

Daemon::Json Daemon::json_of(const JobRecord& job) const {
  Json json{{"job", job.id},
            {"name", job.spec.name},
            {"phase", to_string(job.phase)},
            {"priority", job.spec.priority},
            {"allow", job.spec.allow},
            {"submitted_s", job.submit_s},
            {"procs", job.procs},
            {"processors", job.processors},
            {"command", job.spec.command},
            {"changes", job.resizes},
            {"unanswered", job.ignored},
            {"cancelled", job.is_cancelled},
            {"suspended", job.is_suspended},
            {"hosts_silent", signals_.silent(mark_of(socket_name_of(job.id), options_.launch))},
            {"out", file_of(job.id) + ".out"},
            {"err", file_of(job.id) + ".err"}};
  json["finish_by_s"] = job.spec.finish_by_s > 0 ? Json(job.spec.finish_by_s) : Json(nullptr);
  json["asks"] = live_.count(job.id) != 0 && live_.at(job.id).ask ? control::to_json(*live_.at(job.id).ask) : Json();
  json["asked"] = job.target != 0 ? Json(job.target) : Json(nullptr);
  json["started_s"] = job.start_s > 0 ? Json(job.start_s) : Json(nullptr);
  json["ended_s"] = job.phase == Phase::ended ? Json(job.end_s) : Json(nullptr);
  json["status"] = job.phase == Phase::ended ? Json(job.status) : Json(nullptr);
  json["why"] = job.phase == Phase::waiting ? why_waiting(job) : job.why;
  if (job.pid > 0) json["pid"] = job.pid;
  const auto live = live_.find(job.id);
  if (live != live_.end() && job.phase == Phase::running) {
    json["socket_name"] = socket_name_of(job.id);
    json["share"] = live->second.share_s >= 0 ? Json(live->second.share) : Json(nullptr);
    json["resizable"] = live->second.client.has_value() && live->second.is_resizable && !job.spec.rigid;
    for (const char* member : {"grid", "step", "steps", "mean_step_s"})
      if (live->second.status && live->second.status->contains(member)) json[member] = (*live->second.status)[member];
  }
  return json;
}

const Daemon::Outlook& Daemon::outlook() const {
  if (outlook_) return *outlook_;
  Outlook made;
  int taken = 0;
  for (const auto& [id, job] : table_.jobs()) {
    taken += job.is_suspended ? static_cast<int>(job.processors.size()) : std::max(job.procs, job.target);
    if (job.target == 0 || job.target >= job.procs) continue;
    made.shrinking += fmt::format("{}{}", made.shrinking.empty() ? "" : ", ", id);
    const auto live = live_.find(id);
    if (live != live_.end() && !live->second.why_asked.empty())
      made.shrinking += fmt::format(" ({})", live->second.why_asked);
  }
  made.free = std::max(options_.procs - taken, 0);
  return outlook_.emplace(std::move(made));
}

/// The reason why a job has not begun.
std::string Daemon::why_waiting(const JobRecord& job) const {
  if (has_no_room_) return "the scheduler has no room to write or to start a process";
  const int least = live_.at(job.id).sizes.list().front();
  const Outlook& now = outlook();
  if (least > options_.procs) return fmt::format("needs {} processors, there are {}", least, options_.procs);
  if (least <= now.free) return fmt::format("others are before it (policy {})", options_.policy);
  return fmt::format("needs {} processor{}, {} {} free{}", least, least == 1 ? "" : "s", now.free,
                     now.free == 1 ? "is" : "are",
                     now.shrinking.empty() ? "" : "; asked to shrink: job " + now.shrinking);
}

Daemon::Json Daemon::overview() const {
  return {{"policy", options_.policy}, {"procs", options_.procs}, {"free", outlook().free}, {"now_s", unix_time_s()}};
}

Daemon::Json Daemon::queue(const control::Request& request) const {
  const bool all = control::flag(request, "all");
  const auto after = request.body->contains("after") ? control::whole_number(request, "after", 0, INT64_MAX) : 0;
  control::Page page;
  Json jobs = Json::array();
  std::size_t ended = 0;
  for (const auto& [id, job] : table_.jobs()) ended += job.phase == Phase::ended;
  for (const auto& [id, job] : table_.jobs()) {
    if (job.phase == Phase::ended && ended-- > ended_shown && !all) continue;
    if (id <= after) continue;
    Json element = json_of(job);
    if (!page.add(element)) break;
    jobs.push_back(std::move(element));
  }
  Json answer = overview();
  answer.update({{"jobs", std::move(jobs)}, {"more", page.is_full}});
  return answer;
}

Daemon::Json Daemon::timeline(const control::Request& request) const {
  const auto& all = table_.segments();
  const auto from = request.body->contains("from") ? control::whole_number(request, "from", 0, INT64_MAX) : 0;
  control::Page page;
  Json segments = Json::array(), names = Json::object();
  auto at = static_cast<std::size_t>(from);
  for (; at < all.size(); ++at) {
    const Segment& s = all[at];
    Json element{{"job", s.job}, {"begin_s", s.begin_s}, {"end_s", s.end_s}, {"processors", s.processors}};
    if (!page.add(element)) break;
    segments.push_back(std::move(element));
    names[std::to_string(s.job)] = table_.find(s.job)->spec.name;
  }
  return {{"procs", options_.procs},
          {"now_s", unix_time_s()},
          {"segments", std::move(segments)},
          {"names", names},
          {"next", page.is_full ? Json(at) : Json(nullptr)}};
}

void Daemon::tell_waiters(const JobRecord& job) {
  live_.erase(job.id);
  loads_.lost(job.id);
  if (!server_) return;
  const Json fields{{"job", json_of(job)}};
  const auto first = std::stable_partition(waiters_.begin(), waiters_.end(),
                                           [&](const Waiter& waiter) { return waiter.job != job.id; });
  const std::vector<Waiter> answered(first, waiters_.end());
  waiters_.erase(first, waiters_.end());
  for (const Waiter& w : answered) {
    server_->send(w.client, control::to_line(control::reply(w.id, fields)));
    const bool owed =
        std::any_of(waiters_.begin(), waiters_.end(), [&](const Waiter& other) { return other.client == w.client; });
    if (!owed) server_->hold(w.client, false);
  }
}

} // namespace sched
