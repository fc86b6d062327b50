// SPDX-License-Identifier: BSD-3-Clause
// A history as it is sent and printed.
#pragma once
#include <utility>

#include "control/client.hpp"
#include "control/history.hpp"
#include "control/protocol.hpp"

namespace control {

/// From an application's answer to "history", or one entry of `dyngrid history --json`. Missing members count as empty.
/// Its spawns are its own growths.
/// @throws base::Error{bad_argument} when a member is of another kind.
History history_from(const Json& answer);

/// All pages of a job's "history", joined.
/// @throws base::Error as Client::call
Json whole_history(Client& job);
/// Adds another page to the first one. @return where the next one begins; null after the last.
Json add_page(Json& history, const Json& page);

/// For files and for people. @throws std::exception for what is none
Json members_of(const StepTimes& times);
StepTimes step_times_from(const Json& json);
Json members_of(const PhaseKey& key, const StepTimes& times);
std::pair<PhaseKey, StepTimes> phase_times_from(const Json& json);

Json to_json(const Prediction& prediction);
/// The times of steps on a grid.
Json members_of(base::GridShape grid, const StepTimes& times);

Json members_of(const ChangeTotals& totals);

/// The cost of a change, the grids before and after it.
Json members_of(const ChangeCost& cost);
/// Missing members count as empty. @throws std::exception when a member is of another kind
ChangeCost change_from(const Json& json);

/// The times of messages and copies: latency_s, bandwidth_bytes_per_s, pack_bytes_per_s, cores.
Json members_of(const advise::Machine& figures);
/// @throws std::exception when a member is missing, of another kind or not above 0.
advise::Machine machine_from(const Json& json);

} // namespace control
