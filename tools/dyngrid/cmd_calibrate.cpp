// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "control/call_speeds_file.hpp"
#include "control/history.hpp"
#include "control/variables.hpp"
#include "gridmap/calls.hpp"
#include "shared/launch.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

using gridmap::CallSample;

struct CalibrateOptions {
  std::string calls = "pdgemm,pdgetrf,pdpotrf", sizes = "500,1500", blocks = "4,64", mpirun = DYNGRID_MPIRUN;
  int processes = 0, nrhs = 0;
  double timeout_s = 3600;
  std::vector<std::string> mpirun_options;
  bool json = false, verbose = false;
};

/// Whole numbers from 1, in order and each once.
std::vector<int> read_numbers(const std::string& option, const std::string& text) {
  std::set<int> numbers;
  for (const std::string& word : base::split(text, ','))
    numbers.insert(static_cast<int>(base::parse_whole_number(word, option, 1, 1000000)));
  return {numbers.begin(), numbers.end()};
}

std::vector<std::string> read_routines(const std::string& text) {
  std::vector<std::string> names;
  for (const auto& [name, rule] : gridmap::parse_call_rules(text, "--calls"))
    if (rule.mode == gridmap::CallRule::Mode::automatic)
      names.push_back(name);
    else
      throw Failure(fmt::format("--calls is \"{}\", expected names of routines only, such as pdgetrf,p?gemm", text));
  if (names.empty()) throw Failure(fmt::format("--calls is \"{}\", expected names of routines", text));
  return names;
}

/// What is in the table of these routines and sizes, for so many processes at most; the quickest of each first.
std::vector<CallSample> table_of(const CalibrateOptions& o, const std::vector<std::string>& routines,
                                 const std::vector<int>& sizes) {
  std::vector<CallSample> samples;
  for (const CallSample& s :
       control::call_samples_in(base::content_of(control::call_speeds_file()), control::machine_name()))
    if (std::find(routines.begin(), routines.end(), s.routine) != routines.end() &&
        std::find(sizes.begin(), sizes.end(), s.n) != sizes.end() && s.place.grid.size() <= o.processes)
      samples.push_back(s);
  std::stable_sort(samples.begin(), samples.end(), [](const CallSample& a, const CallSample& b) {
    return std::tie(a.routine, a.n, a.aspect, a.seconds) < std::tie(b.routine, b.n, b.aspect, b.seconds);
  });
  return samples;
}

void print(const CalibrateOptions& o, const std::vector<CallSample>& samples) {
  Json all = Json::array();
  std::vector<std::vector<std::string>> rows{{"ROUTINE", "N", "PLACE", "SECONDS", "GFLOP/S"}};
  for (const CallSample& s : samples) {
    all.push_back({{"routine", s.routine},
                   {"n", s.n},
                   {"aspect", s.aspect},
                   {"grid", {s.place.grid.nprow, s.place.grid.npcol}},
                   {"nb", s.place.nb},
                   {"seconds", s.seconds},
                   {"operations", s.work}});
    rows.push_back({s.routine, std::to_string(s.n), to_string(s.place), duration_text(s.seconds),
                    fmt::format("{:.2f}", s.work / s.seconds / 1e9)});
  }
  if (print_json(o.json, {{"file", control::call_speeds_file()}, {"table", all}})) return;
  std::printf("%s", table(std::move(rows)).c_str());
  std::printf("kept in %s\n", control::call_speeds_file().c_str());
}

void run(const CalibrateOptions& o) {
  const std::vector<std::string> routines = read_routines(o.calls);
  const std::vector<int> sizes = read_numbers("--n", o.sizes), blocks = read_numbers("--nb", o.blocks);
  if (control::call_speeds_file().empty())
    throw Failure("the table is kept beside the history, and there is none (DYNGRID_HISTORY=off, or no HOME)");
  const std::string program = find_beside({"dyngrid-calibrate", "../" DYNGRID_LIBEXECDIR "/dyngrid/dyngrid-calibrate"});
  if (program.empty())
    throw Failure("there is no dyngrid-calibrate beside this command: install dyngrid as a whole", 1);
  RunRequest request;
  request.processes = o.processes;
  request.mpirun_options = o.mpirun_options;
  request.program = {program, base::joined(routines, ","), base::joined(sizes, ","), base::joined(blocks, ","),
                     std::to_string(o.nrhs)};
  for (const std::string& routine : routines)
    request.calls += fmt::format("{}{}=measure", request.calls.empty() ? "" : ",", routine);
  Site site = look_around(o.mpirun);
  for (const control::Variable& v : control::variables()) // the user's own calls are not those of the table
    if (std::string(v.name) != "DYNGRID_HISTORY") site.environment.erase(v.name);
  Launch launch = plan_launch(request, site);
  for (const char* name : {"DYNGRID_GRID", "DYNGRID_RESIZE_AT", "DYNGRID_START", "DYNGRID_RESTORE"})
    launch.environment.push_back({name, "", "not of the user's"});
  if (o.verbose) fmt::print(stderr, "dyngrid calibrate: {}\n", shell_line(launch));
  const base::Outcome outcome = run_for(launch, o.timeout_s);
  if (o.verbose) fmt::print(stderr, "{}", outcome.output);
  if (outcome.timed_out)
    throw Failure(fmt::format("not at its end after {:g} s (--timeout): nothing is kept", o.timeout_s), 1);
  if (outcome.status != 0)
    throw Failure(fmt::format("dyngrid-calibrate ended with status {}: {}", outcome.status, outcome.output), 1);
  print(o, table_of(o, routines, sizes));
}

} // namespace

void add_calibrate(CommandLine& root) {
  CommandLine& app =
      root.add_command("calibrate", "Measures routines of ScaLAPACK by grid and block size, for --calls");
  auto o = std::make_shared<CalibrateOptions>();
  app.add_option("--np", o->processes, "processes, as the program will have them. Also -np")
      .type_name("N")
      .check(base::positive_number())
      .required();
  app.add_option("--calls", o->calls, "routines, as for dyngrid run --calls").type_name("ROUTINE,...").show_default();
  app.add_option("--n", o->sizes, "orders of the matrices; each is measured as it is")
      .type_name("N,...")
      .show_default();
  app.add_option("--nb", o->blocks, "block sizes in which programs have their matrices")
      .type_name("NB,...")
      .show_default();
  app.add_option("--nrhs", o->nrhs, "right-hand sides; default: as many as the order")
      .type_name("N")
      .check(base::positive_number());
  app.add_option("--timeout", o->timeout_s, "so long it may take")
      .type_name("SECONDS")
      .check(base::positive_number())
      .show_default();
  app.add_option("--mpirun", o->mpirun, "the launcher").type_name("PATH").show_default();
  app.add_option("--mpirun-option", o->mpirun_options, "a further word for it; may be given several times")
      .type_name("WORD")
      .repeatable();
  app.add_flag("--verbose", o->verbose, "print the command line and what it says, on standard error");
  app.add_flag("--json", o->json, "print one JSON object");
  app.footer("The table is kept beside the history, for this kind of machine. With it calls under DYNGRID_CALLS are "
             "decided from the first\none on, and nothing is measured while the program runs. It holds for problems of "
             "the same shape: square, and with as\nmany right-hand sides. Example:\n"
             "  dyngrid calibrate -np 4 --calls pdgetrf,pdpotrf --n 1000,2000,4000 --nb 4");
  app.action([o] { run(*o); });
}

} // namespace command
