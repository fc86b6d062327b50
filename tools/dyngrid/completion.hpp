// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/command_line.hpp"

namespace command {

/// What the last of `words` (those after the program's name) can be: "WORD<tab>HELP" each, or one line :files or
/// :command. The shell chooses those that begin as the last word does.
std::vector<std::string> completions(const base::CommandLine& root, const std::vector<std::string>& words);

} // namespace command
