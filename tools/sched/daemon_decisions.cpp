// SPDX-License-Identifier: BSD-3-Clause
// What the scheduler decides about its jobs, and the answers to requests of jobs themselves.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "daemon.hpp"
#include "talk.hpp"
#include "time.hpp"

namespace sched {

using base::Error;
using base::monotonic_s;
using base::Status;
using base::unix_time_s;
using Phase = JobRecord::Phase;

/// Refers to live.
const double* Daemon::by_speed(const JobRecord& job, const Live& live, const std::vector<double>& step_s,
                               double speed) const {
  if (table_.speeds().empty()) return step_s.data();
  const std::set<int> free = table_.free_ids();
  live.by_speed_s =
      steps_by_speed(step_s, live.sizes.list(), table_.speeds(), job.processors, {free.begin(), free.end()}, speed);
  return live.by_speed_s.data();
}

Job Daemon::view_of(const JobRecord& job, const Live& live) const {
  Job view;
  view.id = job.id;
  view.arrival_s = job.submit_s;
  view.priority = job.spec.priority;
  view.sizes = &live.sizes;
  view.procs = job.is_suspended ? static_cast<int>(job.processors.size()) : job.procs;
  view.target = job.target;
  view.unresponsive_until_s = job.unresponsive_until_s;
  view.resizable = !job.spec.rigid && !job.is_cancelled && !job.is_suspended && live.client.has_value() &&
                   live.is_resizable && !live.ask;
  view.step_s = live.step_s.data();
  view.steps_left = live.steps_left;
  view.resize_s = live.resize_s;
  if (!table_.speeds().empty())
    view.power = mean_speed(table_.speeds(), job.processors) * static_cast<double>(job.processors.size());
  view.share = share_of(live);
  view.cores = live.cores > 0 ? live.cores : cores_;
  if (job.spec.finish_by_s > 0) view.finish_by_s = job.spec.finish_by_s;
  const int at = live.sizes.index_of(job.procs);
  const bool is_measured = live.steps_left >= 0 && at >= 0 && live.step_s[static_cast<std::size_t>(at)] > 0;
  if (is_measured || job.spec.seconds.empty()) {
    view.step_s = by_speed(job, live, live.step_s, mean_speed(table_.speeds(), job.processors));
    return view;
  }
  // by its user's figures: a job is one step, of which a part is done
  view.step_s = by_speed(job, live, live.told_s, 1);
  const double takes_s = at >= 0 ? view.step_s[at] : 0;
  view.steps_left = job.phase != Phase::running ? 1
                    : takes_s > 0               ? std::max(0.0, 1 - (unix_time_s() - job.start_s) / takes_s)
                                                : -1;
  return view;
}

State Daemon::state_now(std::deque<Job>& views) const {
  State state;
  state.now_s = unix_time_s();
  state.procs = options_.procs;
  if (!table_.speeds().empty())
    for (const int id : table_.free_ids()) state.free_speeds.push_back(mean_speed(table_.speeds(), {id}));
  std::sort(state.free_speeds.begin(), state.free_speeds.end(), std::greater<>());
  // A running job that waits for processors counts as a job of the processors that it lacks, in the order in which they
  // asked: a job that shrinks for another does not get them back by asking at once.
  std::map<std::int64_t, std::int64_t> asking;
  for (const auto& [id, live] : live_)
    if (live.waits()) asking[live.asked_as] = id;
  for (const auto& [number, id] : asking) {
    Job view;
    view.id = id;
    view.arrival_s = table_.find(id)->submit_s;
    view.priority = table_.find(id)->spec.priority;
    view.sizes = &live_.at(id).more;
    views.push_back(view);
    state.waiting.push_back(&views.back());
  }
  for (const auto& [id, job] : table_.jobs()) {
    if (job.phase == Phase::ended || (job.is_cancelled && job.phase != Phase::running)) continue;
    const Live& live = live_.at(id);
    views.push_back(view_of(job, live));
    if (job.phase == Phase::running)
      state.running.push_back(&views.back());
    else if (live.has_fitting_size)
      state.waiting.push_back(&views.back());
  }
  std::stable_sort(state.waiting.begin(), state.waiting.end(),
                   [](const Job* a, const Job* b) { return a->priority > b->priority; });
  return state;
}

Promise Daemon::promised(const JobSpec& spec, const Live& live) const {
  if (options_.policy != "qos")
    throw Error(Status::bad_argument, "scheduler: submit: finish-by times are kept by policy qos, and this is {}",
                options_.policy);
  if (spec.seconds.empty())
    throw Error(Status::bad_argument,
                "scheduler: submit: a finish-by time needs what the job takes, expected \"seconds\", e.g. 4=100,8=55");
  JobRecord job;
  job.spec = spec;
  std::deque<Job> views;
  const State state = state_now(views);
  const Promise promise = promise_for(state, view_of(job, live));
  if (promise.procs > 0) return promise;
  const double in_s = promise.end_s - state.now_s;
  throw Error(Status::bad_argument,
              std::isfinite(in_s)
                  ? fmt::format("scheduler: submit: it cannot have ended in {:.0f} s; the earliest possible time is in "
                                "{:.0f} s, at {:.0f} since 1970",
                                spec.finish_by_s - state.now_s, std::ceil(in_s), std::ceil(promise.end_s))
                  : "scheduler: submit: no finish-by time can be promised: of jobs that hold the processors it is not "
                    "known when they end");
}

/// Requests of jobs themselves: those that cannot wait are answered, those that can are considered.
void Daemon::answer_asks() {
  std::vector<std::int64_t> asking;
  for (auto& [id, live] : live_) {
    live.more = Sizes();
    if (live.ask && live.ask->granted == 0 && table_.find(id)->phase == Phase::running) asking.push_back(id);
  }
  for (const std::int64_t id : asking) look_at_ask(id, live_.at(id));
}

void Daemon::look_at_ask(std::int64_t id, Live& live) {
  const JobRecord& job = *table_.find(id);
  const int has = job.procs;
  std::vector<int> sizes;
  try {
    sizes = sizes_asked_for(*live.ask, live.allowed, has, options_.procs);
  } catch (const Error& error) {
    return refuse(id, error.what());
  }
  if (sizes.empty())
    return refuse(id, fmt::format("it has {} processors, and of the {} there are no grid of {} has more", has,
                                  options_.procs, live.ask->grids));
  if (!live.ask->waits) {
    std::deque<Job> views;
    const std::string why = why_not_now(sizes.front() - has, state_now(views), job.spec.priority);
    return why.empty() ? grant(id, sizes.front()) : refuse(id, why);
  }
  std::vector<Need> needs = needs_but(id);
  needs.push_back({id, has, sizes.front()});
  if (const std::string why = why_never(needs, options_.procs); !why.empty()) return refuse(id, why);
  for (int& n : sizes) n -= has;
  live.more = Sizes(std::move(sizes));
}

std::vector<Need> Daemon::needs_but(std::int64_t id) const {
  std::vector<Need> needs;
  for (const auto& [other, live] : live_)
    if (other != id && live.waits()) {
      const int has = table_.find(other)->procs;
      needs.push_back({other, has, has + live.more.smallest()});
    }
  return needs;
}

void Daemon::grant(std::int64_t id, int procs) {
  Live& live = live_.at(id);
  commit(table_.ask(unix_time_s(), id, procs));
  live.ask->granted = procs;
  Json fields{{"ask", live.ask->number}, {"procs", procs}};
  if (options_.launch.hosts.procs() > 0)
    fields["hosts"] = control::to_json(offer_of(options_.launch.hosts, table_.find(id)->reserved));
  send(id, live, "grant", fields);
}

void Daemon::refuse(std::int64_t id, const std::string& why) {
  Live& live = live_.at(id);
  say(fmt::format("job {} does not get {}: {}", id, live.ask->grids, why));
  send(id, live, "grant", {{"ask", live.ask->number}, {"procs", 0}, {"reason", why}});
  live.ask.reset();
}

void Daemon::schedule() {
  answer_asks();
  std::deque<Job> views;
  const State state = state_now(views);
  std::vector<Decision> decisions;
  policy_->decide(state, decisions);
  std::vector<std::string> whys;
  for (const Decision& decision : decisions) whys.push_back(why_by_load(*policy_, state, decision));
  // requests to shrink wait for the loads of jobs; nothing else does
  const std::vector<std::int64_t> candidates = candidates_to_shrink(*policy_, state);
  const bool needs_loads = !candidates.empty() && loads_.open_if_needed(candidates, monotonic_s());
  for (std::size_t i = 0; i < decisions.size(); ++i) { // a start that fails makes `state` invalid
    const std::int64_t id = decisions[i].job->id;
    const int procs = decisions[i].procs;
    try {
      if (decisions[i].is_start() && table_.find(id)->phase == Phase::running)
        grant(id, table_.find(id)->procs + procs);
      else if (decisions[i].is_start())
        start(id, procs);
      else if (!decisions[i].is_shrink() || !needs_loads)
        ask(id, procs, whys[i]);
    } catch (const NoRoom&) {
      throw;
    } catch (const Error& error) { // a fault in one decision must not end the scheduler, now and after each restart
      if (!journal_.why_broken().empty()) throw;
      say(fmt::format("job {}: {}", id, error.what()));
    }
  }
  if (needs_loads) look_at_loads();
}

/// `why`: empty, or the reason for a request to shrink.
void Daemon::ask(std::int64_t id, int procs, const std::string& why) {
  Live& live = live_.at(id);
  const auto shape = live.allowed.largest(procs, procs);
  if (!shape) return;
  if (!why.empty()) say(fmt::format("asks job {} to shrink to {}: {}", id, procs, why));
  live.why_asked = why;
  commit(table_.ask(unix_time_s(), id, procs));
  live.request = 0;
  live.may_grow = options_.dictates;
  live.is_withdrawing = false;
  if (!options_.dictates) {
    const int has = table_.find(id)->procs;
    if (procs > has)
      offer(id, "offer");
    else
      send(id, live, "shrink", {{"by", has - procs}, {"deadline_s", options_.deadline_s}});
    return;
  }
  // this scheduler decides whether the growth is worthwhile, since it knows the other requests; but a job that measures
  // slower has no use for the processors
  send(id, live, "resize",
       {{"grid", control::to_json(*shape)}, {"force", true}, {"undo", true}, {"deadline_s", options_.deadline_s}});
}

} // namespace sched
