// SPDX-License-Identifier: BSD-3-Clause
#include "book.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/status.hpp"

namespace sched {
namespace {

[[noreturn]] void damaged(const Entry& entry, const char* what) {
  throw base::Error(base::Status::io_failure,
                    fmt::format("scheduler: the journal does not add up: {} (job {}, entry {})", what, entry.job,
                                encode(entry).substr(9, 60)));
}

std::int64_t whole(const std::string& text) {
  return std::strtoll(text.c_str(), nullptr, 10);
}

} // namespace

const char* to_string(BookJob::Phase phase) {
  switch (phase) {
  case BookJob::Phase::waiting:
    return "waiting";
  case BookJob::Phase::running:
    return "running";
  case BookJob::Phase::ended:
    return "ended";
  }
  return "?";
}

const BookJob* Book::find(std::int64_t id) const {
  const auto at = jobs_.find(id);
  return at == jobs_.end() ? nullptr : &at->second;
}

void Book::close_segment(std::int64_t job, double at_s) {
  for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment)
    if (segment->job == job) {
      if (segment->end_s == 0) segment->end_s = at_s;
      return;
    }
}

void Book::apply(const Entry& e) {
  const auto fields = [&](std::size_t least) {
    if (e.fields.size() < least) damaged(e, "an entry is too short");
  };
  const auto job_in = [&](BookJob::Phase phase) -> BookJob& {
    const auto at = jobs_.find(e.job);
    if (at == jobs_.end()) damaged(e, "there is no such job");
    if (at->second.phase != phase) damaged(e, "the job is in another phase");
    return at->second;
  };
  using Phase = BookJob::Phase;
  switch (e.kind) {
  case Entry::Kind::open:
    fields(4);
    procs_ = static_cast<int>(whole(e.fields[0]));
    policy_ = e.fields[1];
    next_id_ = std::max(next_id_, whole(e.fields[2]));
    boot_ = e.fields[3];
    break;
  case Entry::Kind::submit: {
    fields(8);
    if (jobs_.count(e.job) != 0) damaged(e, "two jobs with one number");
    BookJob job;
    job.id = e.job;
    job.submit_s = e.at_s;
    job.spec.name = e.fields[0];
    job.spec.allow = e.fields[1];
    job.spec.priority = static_cast<int>(whole(e.fields[2]));
    job.spec.rigid = e.fields[3] == "1";
    job.spec.folder = e.fields[4];
    job.spec.steps = whole(e.fields[5]);
    const auto variables = static_cast<std::size_t>(whole(e.fields[6]));
    fields(7 + variables + 1);
    const auto first = e.fields.begin() + 7, split = first + static_cast<std::ptrdiff_t>(variables);
    job.spec.variables.assign(first, split);
    job.spec.command.assign(split, e.fields.end());
    next_id_ = std::max(next_id_, e.job + 1);
    jobs_.emplace(e.job, std::move(job));
    break;
  }
  case Entry::Kind::start: {
    fields(3);
    BookJob& job = job_in(Phase::waiting);
    job.phase = Phase::running;
    job.start_s = e.at_s;
    job.processors = split_ids(e.fields[0]);
    job.procs = static_cast<int>(job.processors.size());
    job.pid = whole(e.fields[1]);
    job.pid_started = whole(e.fields[2]);
    segments_.push_back({job.id, e.at_s, 0, job.processors});
    break;
  }
  case Entry::Kind::ask: {
    fields(2);
    BookJob& job = job_in(Phase::running);
    job.target = static_cast<int>(whole(e.fields[0]));
    job.reserved = split_ids(e.fields[1]);
    job.asked_s = e.at_s;
    break;
  }
  case Entry::Kind::size: {
    fields(2);
    BookJob& job = job_in(Phase::running);
    job.processors = split_ids(e.fields[0]);
    job.procs = static_cast<int>(whole(e.fields[1]));
    job.target = 0;
    job.reserved.clear();
    ++job.resizes;
    close_segment(job.id, e.at_s);
    segments_.push_back({job.id, e.at_s, 0, job.processors});
    break;
  }
  case Entry::Kind::answer: {
    fields(2);
    BookJob& job = job_in(Phase::running);
    job.target = 0;
    job.reserved.clear();
    job.why = e.fields[0];
    job.deaf_until_s = std::strtod(e.fields[1].c_str(), nullptr);
    ++job.ignored;
    break;
  }
  case Entry::Kind::cancel: {
    const auto at = jobs_.find(e.job);
    if (at == jobs_.end()) damaged(e, "there is no such job");
    at->second.is_cancelled = true;
    break;
  }
  case Entry::Kind::requeue: {
    BookJob& job = job_in(Phase::running);
    close_segment(job.id, e.at_s);
    job.phase = Phase::waiting;
    job.procs = 0;
    job.processors.clear();
    job.reserved.clear();
    job.target = 0;
    job.pid = job.pid_started = 0;
    job.start_s = 0;
    break;
  }
  case Entry::Kind::end: {
    fields(2);
    const auto at = jobs_.find(e.job);
    if (at == jobs_.end()) damaged(e, "there is no such job");
    BookJob& job = at->second;
    if (job.phase == Phase::ended) damaged(e, "the job ended twice");
    close_segment(job.id, e.at_s);
    job.phase = Phase::ended;
    job.end_s = e.at_s;
    job.procs = 0;
    job.processors.clear();
    job.reserved.clear();
    job.target = 0;
    job.status = e.fields[0];
    job.why = e.fields[1];
    break;
  }
  }
}

std::set<int> Book::free_ids() const {
  std::set<int> ids;
  for (int i = 0; i < procs_; ++i) ids.insert(i);
  for (const auto& [id, job] : jobs_) {
    for (const int i : job.processors) ids.erase(i);
    for (const int i : job.reserved) ids.erase(i);
  }
  return ids;
}

std::vector<int> Book::choose(int n) const {
  const auto ids = free_ids();
  if (n < 0 || static_cast<std::size_t>(n) > ids.size())
    throw base::Error(base::Status::internal,
                      fmt::format("scheduler: {} processors wanted, {} are free", n, ids.size()));
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

std::vector<int> Book::keep(const BookJob& job, int n) {
  auto ids = job.processors;
  ids.resize(std::min(ids.size(), static_cast<std::size_t>(std::max(n, 0))));
  return ids;
}

Entry Book::open(double at_s, int procs, const std::string& policy, const std::string& boot) const {
  return {Entry::Kind::open, at_s, 0, {std::to_string(procs), policy, std::to_string(next_id_), boot}};
}

Entry Book::submit(double at_s, const JobSpec& spec) const {
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

Entry Book::start(double at_s, std::int64_t job, int procs, std::int64_t pid, std::int64_t pid_started) const {
  return {Entry::Kind::start, at_s, job, {join_ids(choose(procs)), std::to_string(pid), std::to_string(pid_started)}};
}

Entry Book::ask(double at_s, std::int64_t job, int target) const {
  const auto has = static_cast<int>(jobs_.at(job).processors.size());
  const auto more = target > has ? choose(target - has) : std::vector<int>{};
  return {Entry::Kind::ask, at_s, job, {std::to_string(target), join_ids(more)}};
}

Entry Book::size(double at_s, std::int64_t job, int n) const {
  const BookJob& j = jobs_.at(job);
  auto ids = keep(j, n);
  // what was promised first, then what is free, then there is no more
  for (const int id : j.reserved)
    if (static_cast<int>(ids.size()) < n) ids.push_back(id);
  for (const int id : free_ids())
    if (static_cast<int>(ids.size()) < n) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return {Entry::Kind::size, at_s, job, {join_ids(ids), std::to_string(n)}};
}

Entry Book::answer(double at_s, std::int64_t job, const std::string& why, double deaf_until_s) const {
  return {Entry::Kind::answer, at_s, job, {why, fmt::format("{:.6f}", deaf_until_s)}};
}

Entry Book::cancel(double at_s, std::int64_t job) const {
  return {Entry::Kind::cancel, at_s, job, {}};
}
Entry Book::requeue(double at_s, std::int64_t job) const {
  return {Entry::Kind::requeue, at_s, job, {}};
}
Entry Book::end(double at_s, std::int64_t job, const std::string& status, const std::string& why) const {
  return {Entry::Kind::end, at_s, job, {status, why}};
}

} // namespace sched
