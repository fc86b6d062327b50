// SPDX-License-Identifier: BSD-3-Clause
#include "findings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include "base/parse_json.hpp"
#include "text.hpp"

namespace command {

const char* to_string(Verdict verdict) noexcept {
  constexpr const char* names[] = {"ok", "note", "warning", "error"};
  return names[static_cast<int>(verdict)];
}

namespace {
struct Versions {
  const char* software;
  Version from, before; ///< from <= version < before
};
struct Trouble {
  Versions of;
  Verdict verdict;
  const char* text;
  const char* cure;
};

constexpr Version newest{999, 0, 0};
constexpr Versions open_mpi_3{"Open MPI", {0, 0, 1}, {4, 0, 0}}, open_mpi_40{"Open MPI", {4, 0, 0}, {4, 1, 0}},
    open_mpi_41{"Open MPI", {4, 1, 0}, {5, 0, 0}}, open_mpi_5{"Open MPI", {5, 0, 0}, newest},
    pmix_42{"PMIx", {4, 2, 0}, {4, 2, 3}}, mpich_3{"MPICH", {0, 0, 1}, {4, 0, 0}};

// Problems seen with these versions, or described in their bug trackers; docs/mpi.md lists the workarounds in dyngrid.
const Trouble troubles[] = {
    {open_mpi_3, Verdict::warning, "dyngrid was never tried with versions before 4", "take Open MPI 4.1"},
    {open_mpi_40, Verdict::warning, "spawned processes are known to hang in MPI_Init with 4.0", "take Open MPI 4.1"},
    {open_mpi_41, Verdict::note,
     "a process that dies ends the whole application, spawned ones before their MPI_Init included",
     "nothing: dyngrid checks program, libraries, slots and hosts before it starts anything"},
    {open_mpi_41, Verdict::note,
     "old and new processes talk by TCP, also on one host: the shared-memory transport does not cross spawned worlds",
     "nothing for matrices: dyngrid moves them through shared memory of its own. For the messages of the program: "
     "dyngrid run, which takes UCX where it works; docs/mpi.md has the variables for mpirun alone"},
    {open_mpi_41, Verdict::note,
     "one-sided windows (MPI_Win_allocate, MPI_Win_create) over a grown grid fail with MPI_ERR_WIN",
     "dyngrid run sets OMPI_MCA_osc=^rdma,sm; with mpirun alone export it. A program that has shared windows "
     "(MPI_Win_allocate_shared) wants ^rdma instead"},
    {open_mpi_5, Verdict::warning,
     "a grid grows on the host where mpirun has started the application, and on no other; there is no join way; with "
     "DYNGRID_PROCESSES=blocking a new process that dies before its MPI_Init leaves the growth waiting. Tried with "
     "5.0.7",
     "on several hosts start more at once, which sleep until a grid needs them: dyngrid run --spare N"},
    {open_mpi_5, Verdict::note,
     "old and new processes talk by TCP, also on one host: the shared-memory transport does not cross spawned worlds",
     "nothing: dyngrid moves matrices through shared memory of its own"},
    {pmix_42, Verdict::note,
     "a launcher of this version can forget a new process when one that has ended had its socket before",
     "nothing: a released process waits until the launcher has closed its connection"},
    {mpich_3, Verdict::warning, "dyngrid was never tried with MPICH before 4", "take a later one, or Open MPI"},
};
} // namespace

std::vector<Finding> known_troubles(const std::string& software, const Version& version) {
  std::vector<Finding> found;
  if (version == Version{0, 0, 0}) return found;
  for (const Trouble& t : troubles)
    if (software == t.of.software && version >= t.of.from && version < t.of.before)
      found.push_back({fmt::format("{} {}", software, to_string(version)), t.verdict, t.text, t.cure});
  return found;
}

Finding cannot_spawn(const std::string& software, const Version& version) {
  return {fmt::format("{} {}", software, to_string(version)), Verdict::warning,
          "built for UCX (ch4:ucx), it cannot start processes or connect to others: a grid has at most the processes "
          "that mpiexec started, and the join way is not possible",
          "start more at once, which sleep until a grid needs them: dyngrid run --spare N (with --resize-at it does so "
          "by itself); or take Open MPI, MPICH from 4.3, or one built with ch4:ofi"};
}

Finding judge_kernel_log(const std::string& log) {
  int times = 0;
  std::string last;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    for (const char* trouble : {"workqueue lockup", "soft lockup", "detected stall", "detected expedited stall"})
      if (line.find(trouble) != std::string::npos) {
        ++times;
        last = line.substr(line.compare(0, 1, "<") == 0 ? line.find('>') + 1 : 0); // "<3>[12.5] BUG: ...": its level
        break;
      }
  if (times == 0) return {"kernel log", Verdict::ok, "no lockup", ""};
  return {"kernel log", Verdict::warning,
          fmt::format("the kernel's own work found no free core, {} time{}; the last: {}", times, times == 1 ? "" : "s",
                      last),
          "a job that stood still since, mpirun included, has to be started again; dyngrid run lets processes that "
          "wait sleep, by hand preload libdyngrid-yield.so, or start no "
          "more processes than there are cores"};
}

namespace {

/// The position of a library of that name in the order; the number of files if it is absent.
std::size_t at(const ProgramFiles& found, const char* name) {
  const auto has_name = [&](const std::string& file) {
    return file.substr(file.rfind('/') + 1).compare(0, std::strlen(name), name) == 0;
  };
  return static_cast<std::size_t>(std::find_if(found.files.begin(), found.files.end(), has_name) - found.files.begin());
}

Finding judge_order(const ProgramFiles& found) {
  const std::size_t ours = at(found, "libdyngrid.so"), theirs = at(found, "libscalapack"), none = found.files.size();
  if (found.copier == found.program)
    return {"order", Verdict::warning, "p?gemr2d is the program's own (ScaLAPACK is linked statically)",
            "link ScaLAPACK and the BLACS as shared libraries, after -ldyngrid; a preload does not take these calls"};
  if (found.copier.empty())
    return {"order", Verdict::note, "neither it nor its libraries have ScaLAPACK's p?gemr2d",
            "nothing, where it loads ScaLAPACK when it runs (Python)"};
  if (ours == none)
    return {"order", Verdict::note,
            fmt::format("it is not linked with libdyngrid.so; p?gemr2d is that of {}", found.copier),
            "dyngrid run --preload puts dyngrid before it; for resize points link -ldyngrid before ScaLAPACK"};
  const std::string order = fmt::format("libdyngrid.so is number {} of its libraries, ScaLAPACK {}", ours,
                                        theirs == none ? "none" : "number " + std::to_string(theirs));
  if (found.copier == found.files[ours])
    return {"order", Verdict::ok,
            order + "; p?gemr2d is dyngrid's, and by default large p?gemm, p?getrf and p?potrf on dyngrid's "
                    "grids are, too (DYNGRID_PBLAS)",
            ""};
  return {"order", Verdict::error, fmt::format("{}; p?gemr2d is that of {}", order, found.copier),
          "link -ldyngrid before ScaLAPACK"};
}

} // namespace

std::vector<Finding> judge_program(const ProgramFiles& found) {
  if (!found.is_elf)
    return {{"program", Verdict::note, found.program + " is no program file but a script or the like",
             "name the program that it starts"}};
  if (found.is_static)
    return {{"program", Verdict::error, found.program + " is linked statically as a whole: dyngrid is not in it",
             "link it with shared libraries, -ldyngrid before ScaLAPACK"}};
  std::vector<Finding> findings{{"program", Verdict::ok, found.program, ""}, judge_order(found)};
  for (const std::string& file : found.files)
    if (file.find("ilp64") != std::string::npos)
      findings.push_back({"integers", Verdict::error, file + " is for integers of 8 bytes (ILP64), and dyngrid for 4",
                          "link the libraries for lp64, and compile without -fdefault-integer-8 or -i8"});
  if (found.has_own_blacs)
    findings.push_back(
        {"BLACS", Verdict::warning, "a part of the BLACS is in the program itself (linked statically)",
         "link ScaLAPACK and the BLACS as shared libraries, after -ldyngrid; as it is, dyngrid_init says "
         "whether the two fit together"});
  return findings;
}

std::string idle_preload(const ProgramFiles& found) {
  if (!found.is_elf) return {};
  if (found.is_static) return found.program + " is linked statically as a whole: a preload does not reach it";
  if (found.copier != found.program && !found.has_own_blacs) return {};
  return fmt::format("{} has ScaLAPACK or the BLACS in itself: a preload does not take these calls", found.program);
}

std::vector<Finding> judge_probe(const ProbeReport& report) {
  std::vector<Finding> findings;
  std::string refusal, last_line;
  int right = 0, wrong = 0;
  bool grown = false, shrunk = false;
  std::string times;
  std::istringstream lines(report.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, seconds, verdict;
    words >> word >> seconds >> verdict;
    if (word == "refused") refusal = line.substr(std::min(line.size(), word.size() + seconds.size() + 2));
    if (word == "grown" || word == "shrunk") {
      (word == "grown" ? grown : shrunk) = true;
      (verdict == "right" ? right : wrong) += 1;
      times += fmt::format("{}{} in {} s", times.empty() ? "" : ", ", word, seconds);
    }
    if (line.find_first_not_of(" -\t") != std::string::npos) last_line = line;
  }
  constexpr const char* check = "grow and shrink";
  if (report.timed_out)
    findings.push_back(
        {check, Verdict::error,
         fmt::format("not done after {:g} s ({}); it was ended", report.limit_s,
                     grown ? "it had grown" : "it had not grown"),
         "look at the launcher and the network findings above; run again with --limit 60 on a slow machine"});
  else if (!refusal.empty())
    findings.push_back({check, Verdict::error, refusal, "change what the message names"});
  else if (!grown || !shrunk || report.status != 0)
    findings.push_back({check, Verdict::error,
                        fmt::format("the launcher ended with status {}: {}", report.status,
                                    last_line.empty() ? "it printed nothing" : last_line),
                        "run the command that `dyngrid doctor --verbose` prints, by hand"});
  else if (wrong > 0)
    findings.push_back({check, Verdict::error, times + ": the matrix was wrong afterwards",
                        "please report this, with the output of dyngrid doctor --json"});
  else
    findings.push_back({check, report.seconds > 5 ? Verdict::warning : Verdict::ok,
                        fmt::format("{}, {:.1f} s in all, the matrix right both times", times, report.seconds),
                        report.seconds > 5 ? "the machine is busy, or starts programs from a slow disk" : ""});
  return findings;
}

Verdict show(const std::vector<Finding>& findings, bool as_json) {
  Verdict worst = Verdict::ok;
  Json list = Json::array();
  for (const Finding& f : findings) {
    worst = std::max(worst, f.verdict);
    list.push_back({{"check", f.check},
                    {"verdict", to_string(f.verdict)},
                    {"finding", f.text},
                    {"cure", f.cure.empty() ? Json(nullptr) : Json(f.cure)}});
  }
  if (!print_json(as_json, {{"verdict", to_string(worst)}, {"findings", list}})) {
    std::size_t width = 0;
    for (const Finding& f : findings) width = std::max(width, f.check.size());
    for (const Finding& f : findings) {
      fmt::print("{:7}  {:{}}  {}\n", to_string(f.verdict), f.check, width, f.text);
      if (!f.cure.empty()) fmt::print("{:7}  {:{}}  -> {}\n", "", "", width, f.cure);
    }
  }
  std::fflush(stdout);
  return worst;
}

} // namespace command
