// SPDX-License-Identifier: BSD-3-Clause
#include "job_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

#include "base/names.hpp"
#include "base/status.hpp"

namespace sched {
namespace {

[[noreturn]] void damaged(const Entry& entry, const char* what) {
  throw base::Error(base::Status::io_failure, "scheduler: the journal does not add up: {} (job {}, entry {})", what,
                    entry.job, encode(entry).substr(9, 60));
}

std::int64_t whole(const std::string& text) {
  return std::strtoll(text.c_str(), nullptr, 10);
}

void require_fields(const Entry& entry, std::size_t least) {
  if (entry.fields.size() < least) damaged(entry, "an entry is too short");
}

JobRecord submitted(const Entry& e) {
  require_fields(e, 8);
  JobRecord job;
  job.id = e.job;
  job.submit_s = e.at_s;
  job.spec.name = e.fields[0];
  job.spec.allow = e.fields[1];
  job.spec.priority = static_cast<int>(whole(e.fields[2]));
  job.spec.rigid = e.fields[3] == "1";
  job.spec.folder = e.fields[4];
  job.spec.steps = whole(e.fields[5]);
  const auto variables = static_cast<std::size_t>(whole(e.fields[6]));
  require_fields(e, 7 + variables + 1);
  const auto first = e.fields.begin() + 7, split = first + static_cast<std::ptrdiff_t>(variables);
  job.spec.variables.assign(first, split);
  job.spec.command.assign(split, e.fields.end());
  return job;
}

} // namespace

const char* to_string(JobRecord::Phase phase) {
  static const base::Names names{"waiting", "running", "ended"};
  return base::name_of(phase, names);
}

const JobRecord* JobTable::find(std::int64_t id) const {
  const auto at = jobs_.find(id);
  return at == jobs_.end() ? nullptr : &at->second;
}

void JobTable::close_segment(std::int64_t job, double at_s) {
  for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment)
    if (segment->job == job) {
      if (segment->end_s == 0) segment->end_s = at_s;
      return;
    }
}

JobRecord& JobTable::job_of(const Entry& e) {
  const auto at = jobs_.find(e.job);
  if (at == jobs_.end()) damaged(e, "there is no such job");
  return at->second;
}

JobRecord& JobTable::job_in(JobRecord::Phase phase, const Entry& e) {
  JobRecord& job = job_of(e);
  if (job.phase != phase) damaged(e, "the job is in another phase");
  return job;
}

void JobTable::ask_job(JobRecord& job, const Entry& entry) {
  require_fields(entry, 2);
  job.target = static_cast<int>(whole(entry.fields[0]));
  job.reserved = split_ids(entry.fields[1]);
  job.asked_s = entry.at_s;
}

void JobTable::answer_of_job(JobRecord& job, const Entry& entry) {
  require_fields(entry, 2);
  job.target = 0;
  job.reserved.clear();
  job.why = entry.fields[0];
  job.unresponsive_until_s = std::strtod(entry.fields[1].c_str(), nullptr);
  ++job.ignored;
}

void JobTable::apply(const Entry& e) {
  using Phase = JobRecord::Phase;
  switch (e.kind) {
  case Entry::Kind::open:
    require_fields(e, 4);
    procs_ = static_cast<int>(whole(e.fields[0]));
    policy_ = e.fields[1];
    next_id_ = std::max(next_id_, whole(e.fields[2]));
    boot_ = e.fields[3];
    host_ = e.fields.size() > 4 ? e.fields[4] : "";
    break;
  case Entry::Kind::submit:
    if (jobs_.count(e.job) != 0) damaged(e, "two jobs with one number");
    jobs_.emplace(e.job, submitted(e));
    next_id_ = std::max(next_id_, e.job + 1);
    break;
  case Entry::Kind::start:
    start_job(job_in(Phase::waiting, e), e);
    break;
  case Entry::Kind::ask:
    ask_job(job_in(Phase::running, e), e);
    break;
  case Entry::Kind::size:
    resize_job(job_in(Phase::running, e), e);
    break;
  case Entry::Kind::answer:
    answer_of_job(job_in(Phase::running, e), e);
    break;
  case Entry::Kind::cancel: {
    JobRecord& job = job_of(e);
    job.is_cancelled = true;
    job.why_cancelled = e.fields.empty() ? "cancelled" : e.fields[0];
    break;
  }
  case Entry::Kind::finish: {
    require_fields(e, 2);
    JobRecord& job = job_in(Phase::waiting, e);
    job.spec.finish_by_s = std::strtod(e.fields[0].c_str(), nullptr);
    job.spec.seconds = e.fields[1];
    break;
  }
  case Entry::Kind::suspend:
  case Entry::Kind::resume:
    suspend_job(job_in(Phase::running, e), e);
    break;
  case Entry::Kind::requeue:
    requeue_job(job_in(Phase::running, e), e.at_s);
    break;
  case Entry::Kind::end:
    require_fields(e, 2);
    end_job(job_of(e), e);
    break;
  }
}

void JobTable::start_job(JobRecord& job, const Entry& e) {
  require_fields(e, 3);
  job.phase = JobRecord::Phase::running;
  job.start_s = e.at_s;
  job.processors = split_ids(e.fields[0]);
  job.procs = static_cast<int>(job.processors.size());
  job.pid = whole(e.fields[1]);
  job.pid_started = whole(e.fields[2]);
  segments_.push_back({job.id, e.at_s, 0, job.processors});
}

void JobTable::resize_job(JobRecord& job, const Entry& e) {
  require_fields(e, 2);
  job.processors = split_ids(e.fields[0]);
  job.procs = static_cast<int>(whole(e.fields[1]));
  if (job.is_suspended) job.lent = 0; // it has shrunk before it was stopped, and that is received now
  job.target = 0;
  job.reserved.clear();
  ++job.resizes;
  close_segment(job.id, e.at_s);
  segments_.push_back({job.id, e.at_s, 0, job.processors});
}

void JobTable::suspend_job(JobRecord& job, const Entry& e) {
  require_fields(e, 1);
  const bool is_suspended = e.kind == Entry::Kind::suspend;
  if (job.is_suspended == is_suspended) damaged(e, "a job is stopped, or goes on, twice");
  const std::vector<int> ids = split_ids(e.fields[0]);
  job.is_suspended = is_suspended;
  job.was_suspended = true;
  job.lent = is_suspended ? static_cast<int>(job.processors.size()) - static_cast<int>(ids.size()) : 0;
  job.processors = ids;
  job.target = 0;
  job.reserved.clear();
  close_segment(job.id, e.at_s);
  segments_.push_back({job.id, e.at_s, 0, ids});
}

void JobTable::requeue_job(JobRecord& job, double at_s) {
  take_processors(job, at_s);
  job.phase = JobRecord::Phase::waiting;
  job.pid = job.pid_started = 0;
  job.start_s = 0;
}

void JobTable::end_job(JobRecord& job, const Entry& e) {
  if (job.phase == JobRecord::Phase::ended) damaged(e, "the job ended twice");
  take_processors(job, e.at_s);
  job.phase = JobRecord::Phase::ended;
  job.end_s = e.at_s;
  job.status = e.fields[0];
  job.why = e.fields[1];
}

void JobTable::take_processors(JobRecord& job, double at_s) {
  close_segment(job.id, at_s);
  job.procs = job.lent = 0;
  job.is_suspended = false;
  job.processors.clear();
  job.reserved.clear();
  job.target = 0;
}

std::set<int> JobTable::free_ids() const {
  std::set<int> ids;
  for (int i = 0; i < procs_; ++i) ids.insert(i);
  for (const auto& [id, job] : jobs_) {
    for (const int i : job.processors) ids.erase(i);
    for (const int i : job.reserved) ids.erase(i);
  }
  return ids;
}

std::vector<int> JobTable::choose(int n) const {
  const auto ids = free_ids();
  if (n < 0 || static_cast<std::size_t>(n) > ids.size())
    throw base::Error(base::Status::internal, "scheduler: {} processors requested, {} are free", n, ids.size());
  if (!speeds_.empty()) {
    std::vector<int> fastest(ids.begin(), ids.end());
    const auto speed = [&](int id) {
      return static_cast<std::size_t>(id) < speeds_.size() ? speeds_[static_cast<std::size_t>(id)] : 1;
    };
    std::stable_sort(fastest.begin(), fastest.end(), [&](int a, int b) { return speed(a) > speed(b); });
    fastest.resize(static_cast<std::size_t>(n));
    std::sort(fastest.begin(), fastest.end());
    return fastest;
  }
  std::vector<int> best, piece;
  const auto look = [&] {
    if (static_cast<int>(piece.size()) >= n && (best.empty() || piece.size() < best.size())) best = piece;
  };
  for (const int id : ids) {
    if (!piece.empty() && piece.back() != id - 1) {
      look();
      piece.clear();
    }
    piece.push_back(id);
  }
  look();
  if (best.empty()) best.assign(ids.begin(), ids.end());
  best.resize(static_cast<std::size_t>(n));
  return best;
}

std::vector<int> JobTable::keep(const JobRecord& job, int n) {
  auto ids = job.processors;
  ids.resize(std::min(ids.size(), static_cast<std::size_t>(std::max(n, 0))));
  return ids;
}

Entry JobTable::open(double at_s, int procs, const std::string& policy, const std::string& boot,
                     const std::string& host) const {
  Entry e{Entry::Kind::open, at_s, 0, {std::to_string(procs), policy, std::to_string(next_id_), boot}};
  if (!host.empty()) e.fields.push_back(host);
  return e;
}

Entry JobTable::submit(double at_s, const JobSpec& spec) const {
  Entry e{Entry::Kind::submit, at_s, next_id_, {}};
  e.fields = {spec.name,
              spec.allow,
              std::to_string(spec.priority),
              spec.rigid ? "1" : "0",
              spec.folder,
              std::to_string(spec.steps),
              std::to_string(spec.variables.size())};
  e.fields.insert(e.fields.end(), spec.variables.begin(), spec.variables.end());
  e.fields.insert(e.fields.end(), spec.command.begin(), spec.command.end());
  return e;
}

Entry JobTable::finish(double at_s, std::int64_t job, const JobSpec& spec) const {
  return {Entry::Kind::finish, at_s, job, {fmt::format("{:.3f}", spec.finish_by_s), spec.seconds}};
}

Entry JobTable::start(double at_s, std::int64_t job, int procs, std::int64_t pid, std::int64_t pid_started) const {
  return {Entry::Kind::start, at_s, job, {join_ids(choose(procs)), std::to_string(pid), std::to_string(pid_started)}};
}

Entry JobTable::ask(double at_s, std::int64_t job, int target) const {
  const int has = jobs_.at(job).procs;
  const auto more = target > has ? choose(target - has) : std::vector<int>{};
  return {Entry::Kind::ask, at_s, job, {std::to_string(target), join_ids(more)}};
}

Entry JobTable::narrow(double at_s, std::int64_t job, const std::vector<int>& ids) const {
  const JobRecord& j = jobs_.at(job);
  for (const int id : ids)
    if (std::find(j.reserved.begin(), j.reserved.end(), id) == j.reserved.end())
      throw base::Error(base::Status::internal, "scheduler: processor {} is not promised to job {}", id, job);
  return {Entry::Kind::ask, at_s, job, {std::to_string(j.procs + static_cast<int>(ids.size())), join_ids(ids)}};
}

Entry JobTable::size(double at_s, std::int64_t job, int n) const {
  const JobRecord& j = jobs_.at(job);
  auto ids = keep(j, n);
  // the promised ones first, then free ones, then there are no more
  for (const int id : j.reserved)
    if (static_cast<int>(ids.size()) < n) ids.push_back(id);
  for (const int id : free_ids())
    if (static_cast<int>(ids.size()) < n) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return {Entry::Kind::size, at_s, job, {join_ids(ids), std::to_string(n)}};
}

Entry JobTable::size(double at_s, std::int64_t job, int n, const std::vector<int>& ids) const {
  return {Entry::Kind::size, at_s, job, {join_ids(ids), std::to_string(n)}};
}

Entry JobTable::ask_on(const Entry& size) const {
  const JobRecord& j = jobs_.at(size.job);
  const std::vector<int> has = split_ids(size.fields[0]);
  std::vector<int> ids;
  for (const std::vector<int>* list : {&j.processors, &j.reserved})
    std::copy_if(list->begin(), list->end(), std::back_inserter(ids),
                 [&](int id) { return !std::binary_search(has.begin(), has.end(), id); });
  std::sort(ids.begin(), ids.end());
  return {Entry::Kind::ask, size.at_s, size.job, {std::to_string(j.target), join_ids(ids)}};
}

std::vector<int> JobTable::candidates(std::int64_t job) const {
  const JobRecord& j = jobs_.at(job);
  std::vector<int> ids = j.processors;
  const auto first = std::find_if(segments_.begin(), segments_.end(),
                                  [&](const Segment& s) { return s.job == job && s.begin_s >= j.start_s; });
  if (first != segments_.end())
    std::stable_partition(ids.begin(), ids.end(), [&](int id) {
      return std::binary_search(first->processors.begin(), first->processors.end(), id);
    });
  ids.insert(ids.end(), j.reserved.begin(), j.reserved.end());
  const std::set<int> free = free_ids();
  ids.insert(ids.end(), free.begin(), free.end());
  return ids;
}

Entry JobTable::answer(double at_s, std::int64_t job, const std::string& why, double unresponsive_until_s) const {
  return {Entry::Kind::answer, at_s, job, {why, fmt::format("{:.6f}", unresponsive_until_s)}};
}

Entry JobTable::cancel(double at_s, std::int64_t job, const std::string& why) const {
  Entry e{Entry::Kind::cancel, at_s, job, {}};
  if (!why.empty()) e.fields.push_back(why);
  return e;
}
Entry JobTable::suspend(double at_s, std::int64_t job, int n) const {
  return {Entry::Kind::suspend, at_s, job, {join_ids(keep(jobs_.at(job), n))}};
}
bool JobTable::can_resume(const JobRecord& job) const {
  return job.is_suspended && static_cast<int>(free_ids().size()) >= job.lent;
}
Entry JobTable::resume(double at_s, std::int64_t job) const {
  const JobRecord& j = jobs_.at(job);
  std::vector<int> ids = j.processors;
  for (const int id : choose(j.lent)) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return {Entry::Kind::resume, at_s, job, {join_ids(ids)}};
}
Entry JobTable::requeue(double at_s, std::int64_t job) const {
  return {Entry::Kind::requeue, at_s, job, {}};
}
Entry JobTable::end(double at_s, std::int64_t job, const std::string& status, const std::string& why) const {
  return {Entry::Kind::end, at_s, job, {status, why}};
}

} // namespace sched
