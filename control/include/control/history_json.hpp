// SPDX-License-Identifier: BSD-3-Clause
// A history as it is sent and printed.
#pragma once

#include "control/history.hpp"
#include "control/protocol.hpp"

namespace control {

/// What an application answers to "history", or one entry of `dyngrid history --json`. Members that are missing are
/// nothing. Its spawns are its own growths.
/// @throws base::Error{bad_argument} when a member is of another kind.
History history_from(const Json& answer);

} // namespace control
