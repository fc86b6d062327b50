// SPDX-License-Identifier: BSD-3-Clause
// The judgements of `dyngrid doctor`, apart from its measurements.
#pragma once

#include <string>
#include <vector>

#include "base/mpi_version.hpp"

namespace command {

enum class Verdict { ok, note, warning, error };
const char* to_string(Verdict verdict) noexcept;

/// One examined thing: what was found, and when it is not good, the remedy.
struct Finding {
  std::string check;
  Verdict verdict = Verdict::ok;
  std::string text, cure;
};

using base::to_string;
using base::Version;
using base::version_in;

/// The known problems of one version of Open MPI, PMIx or MPICH (`software`: "Open MPI", "PMIx", "MPICH").
std::vector<Finding> known_troubles(const std::string& software, const Version& version);
/// Of an MPI that cannot start processes.
Finding cannot_spawn(const std::string& software, const Version& version);

/// The kernel log's lines on work that it could not do because processes occupied the cores.
Finding judge_kernel_log(const std::string& log);

/// The lines that the probe printed, judged.
struct ProbeReport {
  std::string output;
  int status = 0;
  bool timed_out = false;
  double seconds = 0, limit_s = 0;
};
std::vector<Finding> judge_probe(const ProbeReport& report);

/// A program as described by its file and those of its libraries.
struct ProgramFiles {
  std::string program;            ///< full path
  bool is_elf = false;            ///< no script
  bool is_static = false;         ///< as a whole: it loads no libraries
  std::vector<std::string> files; ///< itself and its libraries, in the order of symbol search
  std::string copier;             ///< of these the first that has p?gemr2d; empty: none has
  bool has_own_blacs = false;     ///< a part of the BLACS is in the program itself
};
std::vector<Finding> judge_program(const ProgramFiles& found);
/// The routines that a preload of libdyngrid.so does not take over; empty: it takes over all.
std::string idle_preload(const ProgramFiles& found);

/// Prints them, as a table or as one JSON object; returns the worst `Verdict`.
Verdict show(const std::vector<Finding>& findings, bool as_json);

} // namespace command
