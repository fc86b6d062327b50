// SPDX-License-Identifier: BSD-3-Clause
#include "askable.hpp"

#include <limits>

namespace sched {

Askable::Classes::key_type Askable::key_of(const Job& job) {
  return {job.sizes, job.procs, job.priority, job.finish_by_s < std::numeric_limits<double>::infinity()};
}

void Askable::count(const Job& job, int sign) {
  const int procs = sign * (job.procs - job.sizes->smallest());
  spare_ += procs;
  if (job.finish_by_s == std::numeric_limits<double>::infinity()) spare_untimed_ += procs;
}

void Askable::insert(const Job& job, std::int64_t order, double end_s) {
  const auto key = key_of(job);
  auto at = classes_.find(key);
  if (at == classes_.end())
    at = classes_
             .emplace(key,
                      Class{job.sizes, job.priority, job.procs, job.sizes->above(job.procs), std::get<3>(key), {}, {}})
             .first;
  at->second.members.insert({end_s, order, &job});
  at->second.ends.insert({end_s, order, &job});
  count(job, 1);
}

void Askable::erase(const Job& job, std::int64_t order, double end_s) {
  const auto at = classes_.find(key_of(job));
  at->second.members.erase({end_s, order, &job});
  at->second.ends.erase({end_s, order, &job});
  if (at->second.members.empty()) classes_.erase(at);
  count(job, -1);
}

} // namespace sched
