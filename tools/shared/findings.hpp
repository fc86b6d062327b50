// SPDX-License-Identifier: BSD-3-Clause
// What `dyngrid doctor` judges, apart from how it looks.
#pragma once

#include <string>
#include <vector>

#include "base/mpi_version.hpp"

namespace command {

enum class Verdict { ok, note, warning, error };
const char* to_string(Verdict verdict) noexcept;

/// One thing looked at: what was found, and when it is not good, what helps.
struct Finding {
  std::string check;
  Verdict verdict = Verdict::ok;
  std::string text, cure;
};

using base::to_string;
using base::Version;
using base::version_in;

/// What is known of one version of Open MPI, PMIx or MPICH (`software`: "Open MPI", "PMIx", "MPICH").
std::vector<Finding> known_troubles(const std::string& software, const Version& version);
/// Of an MPI that cannot start processes.
Finding cannot_spawn(const std::string& software, const Version& version);

/// What the kernel's log says of work that it could not do because processes kept the cores.
Finding judge_kernel_log(const std::string& log);

/// The lines that the probe printed, judged.
struct ProbeReport {
  std::string output;
  int status = 0;
  bool timed_out = false;
  double seconds = 0, limit_s = 0;
};
std::vector<Finding> judge_probe(const ProbeReport& report);

/// A program as its file and those of its libraries show it.
struct ProgramFiles {
  std::string program;            ///< full path
  bool is_elf = false;            ///< no script
  bool is_static = false;         ///< as a whole: it loads no libraries
  std::vector<std::string> files; ///< itself and its libraries, in the order in which routines are looked for
  std::string copier;             ///< of these the first that has p?gemr2d; empty: none has
  bool has_own_blacs = false;     ///< a part of the BLACS is in the program itself
};
std::vector<Finding> judge_program(const ProgramFiles& found);
/// What a preload of libdyngrid.so does not take of it; empty: it takes all.
std::string idle_preload(const ProgramFiles& found);

/// Prints them, as a table or as one JSON object; the worst verdict.
Verdict show(const std::vector<Finding>& findings, bool as_json);

} // namespace command
