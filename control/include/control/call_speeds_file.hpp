// SPDX-License-Identifier: BSD-3-Clause
// What calls took in earlier runs, in a file beside the history: a line for each routine, place and size.
#pragma once
#include <string>
#include <vector>

#include "gridmap/calls.hpp"

namespace control {

/// Empty: nothing is kept (DYNGRID_HISTORY=off).
std::string call_speeds_file();
/// The lines of this kind of machine.
std::string lines_of(const std::vector<gridmap::CallSample>& samples, const std::string& machine);
/// Lines of other machines, and those that cannot be read, are nothing.
std::vector<gridmap::CallSample> call_samples_in(const std::string& lines, const std::string& machine);
/// Replaces this machine's lines of the same routine, place and size, and keeps the others. A file that cannot be
/// written stays as it is.
void save_call_samples(const std::string& file, const std::vector<gridmap::CallSample>& samples,
                       const std::string& machine);

} // namespace control
