// SPDX-License-Identifier: BSD-3-Clause
// The common parts of the commands about running jobs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.hpp"
#include "control/client.hpp"

namespace command {

/// exit status of a request that the job declined
constexpr int declined_status = 3;

/// By name, of this user on this host. @throws base::Error
std::vector<std::string> running_jobs();
/// Its answer to `status`; only "job" and "error" when it has just ended, or is stopped.
base::Json status_of(const std::string& job);

/// The same name; with an empty one: the only running job, if there is exactly one. @throws Failure
std::string job_or_only(const std::string& job);
/// The connection of job_or_only(job). @throws Failure
control::Client connect_to(const std::string& job);
/// The outcome of a request that was not carried out. @throws Failure: declined (status 3), or failed (status 1)
[[noreturn]] void throw_outcome(const base::Json& answer);

std::string grid_text(const base::Json& grid);     ///< "2x3", "-" when it is none
std::string seconds_text(const base::Json& value); ///< "21.3 ms", "-" when it is none
std::string bytes_text(const base::Json& value);   ///< "15.4 MB"
/// What a status counts of processes that have no id yet, and the word for it.
constexpr std::pair<const char*, const char*> without_id[] = {{"warm", "spare"}, {"starting", "starting"}};
/// `3 asleep (2 kept), 5 spare, 1 starting`: processes beside the grid, of a status or an event `waiting`; "" for none.
std::string waiting_text(const base::Json& status);
/// "2x2 -> 3x3 in 920 ms: spawn 820 ms, merge 40 ms, plan 0.1 ms, exchange 38 ms; 13.4 MB moved"
std::string change_text(const base::Json& report);

/// An event `balance` or `balanced`, in one line.
std::string balance_text(const base::Json& event);
std::string phases_text(const base::Json& event); ///< a new plan

} // namespace command
