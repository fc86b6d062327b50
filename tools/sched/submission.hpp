// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "control/protocol.hpp"
#include "job_table.hpp"

namespace sched {

/// The job in a request that submits it.
/// @throws base::Error{bad_argument}
JobSpec spec_of(const control::Request& request);

} // namespace sched
