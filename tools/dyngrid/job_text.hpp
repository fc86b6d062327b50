// SPDX-License-Identifier: BSD-3-Clause
// The common parts of the commands about running jobs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/command_line.hpp"
#include "base/grid_shape.hpp"
#include "base/json_fwd.hpp"
#include "control/client.hpp"

namespace command {

/// exit status of a request that the job declined
constexpr int declined_status = 3;

/// The job's connection. With an empty name: the only running job, if there is exactly one. Throws Failure, status 1.
control::Client connect_to(std::string& job);

std::string grid_text(const base::Json& grid);     ///< "2x3", "-" when it is none
std::string seconds_text(const base::Json& value); ///< "21.3 ms", "-" when it is none
std::string bytes_text(const base::Json& value);   ///< "15.4 MB"
/// `3 asleep (2 kept), 5 warm, 1 starting`: processes beside the grid, of a status or an event `waiting`; "" for none.
std::string waiting_text(const base::Json& status);
/// "2x2 -> 3x3 in 920 ms: spawn 820 ms, merge 40 ms, plan 0.1 ms, exchange 38 ms; 13.4 MB moved"
std::string change_text(const base::Json& report);

/// An event `balance` or `balanced`, in one line.
std::string balance_text(const base::Json& event);
std::string phases_text(const base::Json& event); ///< a new plan

/// resize, grow and shrink: their options and the handling of the answer.
struct Wish {
  std::string job, what; ///< what: the grid or the number, as given
  std::string placement, without, hosts, form;
  double deadline_s = 0, wait_s = -1, tpp = 0;
  bool force = false, no_undo = false, wait = false, json = false, ask_only = false;
};
std::shared_ptr<Wish> add_wish(base::CommandLine& app, const char* name_of_what, const char* help_of_what);
/// Adds --form.
void add_form(base::CommandLine& app, const std::shared_ptr<Wish>& wish, const char* help);
/// "+5" or "5". Throws Failure.
std::int64_t parse_count(const std::string& text);
/// Send the request, and print the answer. `op`: grow, shrink or offer. Throw Failure: declined (status 3), failed
/// (status 1).
void ask_for_grid(const Wish& wish, base::GridShape grid);
void ask_for_processes(const Wish& wish, const std::string& op, std::int64_t count);

} // namespace command
