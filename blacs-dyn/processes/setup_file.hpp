// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/host_list.hpp"

namespace blacs_dyn {

/// The content of blacs_setup.dat: the processes to spawn in the classical way (Chinnusamy 2004, section 3.3.3).
///
///     # one thing a line, '#' begins a comment
///     executable  ./solver        "self": the running program
///     processes   5
///     arguments   -n 2000         optional; "self" takes the running program's own arguments when there is no such
///                                 line
///     host        node7:4:1.5     optional, any number: where, how many at most, how fast
///
/// The words "executable" and "processes" may be left out, in this order: a file of two lines "./solver" and "5" will
/// do.
struct SetupFile {
  std::string executable;
  int processes = 0;
  bool has_arguments = false;
  std::vector<std::string> arguments;
  std::vector<base::HostEntry> hosts;
};

/// local: the host of process 0, which is called localhost, too; empty: not known. @throws Error{bad_argument} with the
/// number of the line
SetupFile parse_setup_file(std::string_view text, std::string_view name, std::string_view local = {});

/// DYNGRID_START=setup=PATH, else blacs_setup.dat.
std::string setup_file_name();

} // namespace blacs_dyn
