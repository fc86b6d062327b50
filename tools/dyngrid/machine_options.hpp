// SPDX-License-Identifier: BSD-3-Clause
// The figures of a machine as options of `plan decision` and `plan exchange`.
#pragma once

#include <string>

#include "advise/machine.hpp"
#include "command.hpp"

namespace command {

/// --latency, --bandwidth and --pack-rate. measured: where their defaults are measured, for the help.
void add_machine_options(CommandLine& app, advise::Machine& given, const std::string& measured);
/// As measured, but for what these options say.
advise::Machine machine_of(const CommandLine& app, const advise::Machine& given, advise::Machine measured);

} // namespace command
