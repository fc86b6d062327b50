// SPDX-License-Identifier: BSD-3-Clause
// What workers bring to a program that nobody changes (dyngrid run --calls ... --workers N): LU and Cholesky of a
// program on a few processors of equal speed, on these and workers, and as fast as all of them could: by an mpirun of
// all, with the operands where they are best. Processors are emulated (common/slow_processor.c). Starts bench_calls.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/file_descriptor.hpp"
#include "base/grid_shape.hpp"
#include "base/text.hpp"
#include "common/launch.hpp"
#include "common/report.hpp"
#include "redist/layout.hpp"
#include "redist/plan.hpp"

namespace {

namespace fs = std::filesystem;
using base::GridShape;

struct Settings {
  int n = 2000, nb = 64, processes = 4, workers = 4, rounds = 3;
  double gflops = 0.2;
  std::vector<std::string> grids{"1x4", "2x2"}, routines{"getrf", "potrf"};
  std::string mpirun = "mpirun --oversubscribe", csv;
  bool check = false;
};

/// Seconds of runs, by routine, grid and block size.
struct Place {
  std::string grid;
  int nb;
  bool operator<(const Place& o) const { return std::tie(grid, nb) < std::tie(o.grid, o.nb); }
};
using Runs = std::map<std::pair<std::string, Place>, std::vector<double>>;

class Bench {
public:
  explicit Bench(Settings settings)
      : s_(std::move(settings)), report_("bench_workers", s_.csv),
        folder_(fs::temp_directory_path() / fmt::format("dgbw-{}", getpid())) {
    fs::create_directories(folder_);
  }
  ~Bench() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  int run() {
    for (int round = 0; round < s_.rounds; ++round) {
      measure(s_.processes, s_.grids, {s_.nb}, true);
      const std::vector<std::string> all = shapes_of_all();
      measure(s_.processes + s_.workers, all, {64, 32}, false);
    }
    tell();
    return report_.finish() ? 0 : 1;
  }

private:
  std::vector<std::string> shapes_of_all() const {
    const int all = s_.processes + s_.workers;
    const GridShape square = base::squarest(all);
    return {to_string(square), fmt::format("{}x{}", square.npcol, square.nprow), fmt::format("1x{}", all)};
  }

  /// One mpirun of bench_calls. With workers: direct, and by DYNGRID_CALLS; else direct only.
  void measure(int processes, const std::vector<std::string>& grids, const std::vector<int>& blocks, bool has_workers) {
    constexpr int limit_s = 3000;
    apps::Launcher launcher(s_.mpirun, limit_s);
    if (!launcher.preload("libdyngrid-slow.so")) throw base::CommandLineError("there is no libdyngrid-slow.so");
    launcher.preload("libdyngrid-yield.so");
    launcher.set("SLOWLAB_SPEED", fmt::format("{:g}", s_.gflops));
    launcher.set("DYNGRID_HISTORY", (folder_ / "history.jsonl").string()); // the first round measures for all
    std::vector<std::string> names;
    for (const std::string& routine : s_.routines) names.push_back("pd" + routine);
    if (has_workers) launcher.set("DYNGRID_CALLS", fmt::format("{},workers={}", base::joined(names, ","), s_.workers));
    const std::string csv = (folder_ / "runs.csv").string();
    std::vector<std::string> words{
        "--n",        std::to_string(s_.n),
        "--grids",    base::joined(grids, ","),
        "--nb",       base::joined(blocks, ","),
        "--routines", base::joined(s_.routines, ","),
        "--ways",     has_workers ? "direct,calls" : "direct",
        "--warm-ups", has_workers ? "5" : "1", // what is measured once or twice moves nothing
        "--reps",     "1",
        "--csv",      csv};
    if (s_.check) words.emplace_back("--check");
    launcher.output_of("bench_calls", processes, words);
    enum { routine_at = 2, nb_at = 4, grid_at = 5, method_at = 8, seconds_at = 14 };
    for (const auto& line : apps::read_csv(csv)) {
      if (line.at(0) != "bench_calls") continue;
      Runs& runs = !has_workers ? all_ : line.at(method_at) == "calls" ? called_ : direct_;
      runs[{line.at(routine_at), {line.at(grid_at), std::atoi(line.at(nb_at).c_str())}}].push_back(
          std::atof(line.at(seconds_at).c_str()));
    }
  }

  /// There and back, as planned.
  double predicted_copies(const std::string& grid, const Place& to) const {
    const auto layout = [&](const std::string& shape, int nb) {
      const GridShape g = base::parse_grid_shape(shape, "a grid");
      return redist::Layout{gridmap::Axis::block_cyclic(s_.n, nb, g.nprow),
                            gridmap::Axis::block_cyclic(s_.n, nb, g.npcol), redist::Grid::row_major(g.nprow, g.npcol)};
    };
    redist::Machine machine;
    machine.cores = s_.processes + s_.workers;
    redist::PlanOptions options;
    options.schedule = redist::Schedule::async;
    return 2 * redist::Plan(layout(grid, s_.nb), layout(to.grid, to.nb), options)
                   .predicted_seconds(machine, static_cast<int>(sizeof(double)));
  }

  void tell() {
    apps::Table table{
        fmt::format("Seconds, n = {}, {} processors and {} spare ones of {:g} GFLOP/s; medians of {} rounds", s_.n,
                    s_.processes, s_.workers, s_.gflops, s_.rounds),
        {"routine", "grid", "direct", "with workers", "all in place", "there", "copies", "part of the best", "speed-up",
         "part of all processors"},
        {}};
    for (const std::string& routine : s_.routines)
      for (const std::string& grid : s_.grids) {
        const Place here{grid, s_.nb};
        const double direct_s = apps::median(direct_.at({routine, here})),
                     called_s = apps::median(called_.at({routine, here}));
        const auto [best, best_s] = best_of_all(routine);
        const double copies_s = predicted_copies(grid, best);
        const double doubled = static_cast<double>(s_.processes) / (s_.processes + s_.workers);
        table.rows.push_back({routine, grid, apps::Cell(direct_s, 4), apps::Cell(called_s, 4), apps::Cell(best_s, 4),
                              fmt::format("{}/{}", best.grid, best.nb), apps::Cell(copies_s, 2),
                              apps::Cell((best_s + copies_s) / called_s, 3), apps::Cell(direct_s / called_s, 3),
                              apps::Cell(direct_s * doubled / called_s, 3)});
        add_samples(routine, here, "direct", direct_);
        add_samples(routine, here, "workers", called_);
        add_samples(routine, best, "all", all_);
      }
    table.note = "direct: where the program has its matrix, its own processes; with workers: as DYNGRID_CALLS says, "
                 "copies included; all in place: the best of some grids and blocks under an mpirun of all processors, "
                 "copies there and back as predicted: together the best possible; part of all processors: of what "
                 "direct would take if it scaled perfectly";
    report_.add(table);
  }

  std::pair<Place, double> best_of_all(const std::string& routine) const {
    std::pair<Place, double> best{{}, std::nan("")};
    for (const auto& [key, runs] : all_)
      if (const double seconds = apps::median(runs); key.first == routine && !(seconds >= best.second))
        best = {key.second, seconds};
    return best;
  }

  void add_samples(const std::string& routine, const Place& place, const char* method, const Runs& runs) {
    apps::Sample sample;
    sample.part = "workers";
    sample.application = routine;
    sample.n = s_.n;
    sample.nb = std::to_string(place.nb);
    sample.from = sample.to = place.grid;
    sample.method = method;
    sample.phase = "call";
    sample.ranks = apps::processes_of(place.grid);
    sample.is_checked = s_.check;
    report_.add(sample, runs.at({routine, place}));
  }

  const Settings s_;
  apps::Report report_;
  const fs::path folder_;
  Runs direct_, called_, all_;
};

} // namespace

int main(int argc, char** argv) {
  Settings s;
  base::CommandLine app("LU and Cholesky of a program on emulated processors, with workers of DYNGRID_CALLS on spare "
                        "ones, beside the best possible. Runs bench_calls under mpirun.",
                        "bench_workers");
  app.add_option("--n", s.n, "order of the matrix").check(base::positive_number()).show_default();
  app.add_option("--nb", s.nb, "block size of the program").check(base::positive_number()).show_default();
  app.add_option("--np", s.processes, "its processes").check(base::positive_number()).show_default();
  app.add_option("--workers", s.workers, "processes beyond them").check(base::positive_number()).show_default();
  app.add_option("--grids", s.grids, "its grids").separated_by(',').show_default();
  app.add_option("--routines", s.routines, "what it calls")
      .separated_by(',')
      .check(base::one_of({"getrf", "potrf"}))
      .show_default();
  app.add_option("--gflops", s.gflops, "speed of a processor; that of all must fit into this machine")
      .check(base::positive_number())
      .show_default();
  app.add_option("--rounds", s.rounds, "of all measurements in turn").check(base::positive_number()).show_default();
  app.add_option("--mpirun", s.mpirun, "words in front of -np").type_name("WORDS").show_default();
  app.add_option("--csv", s.csv, "file for one line per single run").type_name("FILE");
  app.add_flag("--check", s.check, "results are compared with the direct call's");
  if (const auto status = base::read_command_line(app, argc, argv)) return *status;
  try {
    for (const std::string& grid : s.grids)
      if (apps::processes_of(grid) != s.processes)
        throw base::CommandLineError(fmt::format("--grids: got {}, expected grids of {} processes", grid, s.processes));
    return Bench(std::move(s)).run();
  } catch (const base::CommandLineError& error) {
    std::fprintf(stderr, "bench_workers: %s; see --help\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_workers: %s\n", error.what());
    return 1;
  }
}
