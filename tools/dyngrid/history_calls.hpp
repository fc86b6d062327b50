// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace command {

/// Prints what calls of ScaLAPACK's routines took, by place. `job`: a running job, or the name of a program or job that
/// has ended; "": the only running job, else the last run of each program. @throws Failure
void show_calls(const std::string& job, bool as_json);

} // namespace command
