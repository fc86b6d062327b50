// SPDX-License-Identifier: BSD-3-Clause
// The cost of new processes, by each way of starting them, side by side. Runs itself (--member) as a user's program
// under `dyngrid run --processes`, in turn: blocking, background (cold, `--warm`, and `--warm` as one group) and join.
// So a machine that becomes slower or faster affects all alike. Every figure is a median, as process 0 measures it.
// With --waiting instead: the cost of letting waiting processes sleep (libdyngrid-yield.so) where they outnumber the
// cores.
#include "base/clock.hpp"
#include "base/command_line.hpp"
#include "base/grid_shape.hpp"
#include "base/mpi/library.hpp"
#include "base/mpi_version.hpp"
#include "common/launch.hpp"
#include "common/report.hpp"

#include <dyngrid.h>
#include <dyngrid/control.h>
#include <fmt/format.h>

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

// ---- the program that grows

void need(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "bench_processes: %s: %s\n", what, dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

class Member {
public:
  Member(std::string to, std::int64_t n, std::int64_t nb, int cycles, int rest_steps)
      : to_(std::move(to)), n_(n), nb_(nb), cycles_(cycles), rest_steps_(rest_steps) {}

  int run() {
    need(dyngrid_init() == DYNGRID_SUCCESS, "dyngrid_init");
    for (const char* name : {"a", "b", "c"}) {
      dyngrid_matrix* matrix = nullptr;
      need(dyngrid_matrix_create(name, 'd', n_, n_, nb_, nb_, &matrix) == DYNGRID_SUCCESS, "matrix");
    }
    need(dyngrid_share("phase", &phase_, sizeof phase_) == DYNGRID_SUCCESS, "share");
    const auto [nprow, npcol] = base::parse_grid_shape(to_, "bench_processes: --to");
    came_later_ = dyngrid_is_newcomer() != 0;
    if (came_later_) { // lives for one phase
      const int outcome = dyngrid_resize_point_at("grow");
      if (outcome == DYNGRID_LEAVE) return dyngrid_finalize(); // it slept until the end
      need(outcome == DYNGRID_RESIZED, "a new process");
      look_around();
      go_back();
      return dyngrid_finalize();
    }
    dyngrid_grid(&from_rows_, &from_cols_, nullptr, nullptr);
    MPI_Comm_rank(dyngrid_comm(), &rank_);
    say("begun", base::unix_time_s());
    for (phase_ = 0; phase_ < 2 * cycles_; ++phase_) {
      for (int step = 0; step < rest_steps_; ++step) { // for starting spare processes
        need(dyngrid_resize_point_at("grow") == DYNGRID_SAME, "a resize point with nothing to do");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      if (phase_ % 2 == 0) { // requested here, carried out by a later resize point
        double in_calls = 0;
        const double asked = base::unix_time_s();
        need(dyngrid_request(nprow, npcol) == DYNGRID_SUCCESS, "request");
        for (int outcome = DYNGRID_SAME, step = 0; outcome == DYNGRID_SAME; ++step) {
          const double called = base::unix_time_s();
          outcome = dyngrid_resize_point_at("grow"); // new processes call it at another line
          in_calls += base::unix_time_s() - called;
          need(outcome >= 0 && step < 10000, "growth at a resize point");
          if (outcome == DYNGRID_SAME) std::this_thread::sleep_for(std::chrono::milliseconds(5)); // a step of work
        }
        say("stand", in_calls);
        say("come", base::unix_time_s() - asked);
        dyngrid_resize_report report{};
        dyngrid_last_resize(&report);
        say("start", report.spawn_s);
        say("merge", report.merge_s);
        say("exchange", report.plan_s + report.exchange_s);
        say("rest", in_calls - report.spawn_s - report.merge_s - report.plan_s - report.exchange_s);
      } else {
        const double called = base::unix_time_s();
        need(dyngrid_resize(nprow, npcol, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "growth");
        say("now", base::unix_time_s() - called);
      }
      look_around();
      go_back();
    }
    return dyngrid_finalize();
  }

private:
  void say(const char* what, double seconds) const {
    if (rank_ == 0) std::printf("measured %s %.9f\n", what, seconds);
    std::fflush(stdout);
  }

  /// On the larger grid: the time of a resize point and of a short message to all, and the processes of the grid.
  void look_around() {
    const MPI_Comm comm = dyngrid_comm();
    int rank = 0, size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int mine = came_later_ ? static_cast<int>(getpid()) : 0;
    std::vector<int> all(static_cast<std::size_t>(size));
    MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    newcomers_.clear();
    for (const int pid : all)
      if (pid > 0) newcomers_.push_back(pid);
    constexpr int times = 200;
    double in = 1, out = 0;
    const auto timed = [&](const char* what, auto&& call) {
      for (int i = 0; i < 10; ++i) call(); // opens connections
      MPI_Barrier(comm);
      const double begun = base::unix_time_s();
      for (int i = 0; i < times; ++i) call();
      say(what, (base::unix_time_s() - begun) / times);
    };
    timed("point", [] { need(dyngrid_resize_point() == DYNGRID_SAME, "a resize point with nothing to do"); });
    timed("message", [&] { MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm); });
  }

  void go_back() {
    MPI_Bcast(&from_rows_, 1, MPI_INT, 0, dyngrid_comm());
    MPI_Bcast(&from_cols_, 1, MPI_INT, 0, dyngrid_comm());
    MPI_Barrier(dyngrid_comm());
    const double called = base::unix_time_s();
    const int outcome = dyngrid_resize(from_rows_, from_cols_, DYNGRID_OPTIMAL);
    if (outcome == DYNGRID_LEAVE) return;
    need(outcome == DYNGRID_RESIZED, "going back");
    say("shrink", base::unix_time_s() - called);
    const double left = base::unix_time_s();
    if (rank_ == 0) {
      bool is_one_left = true;
      while (is_one_left && base::unix_time_s() - left < 10) {
        is_one_left = false;
        for (const int pid : newcomers_) is_one_left = is_one_left || kill(pid, 0) == 0;
        if (is_one_left) std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    }
    say("gone", base::unix_time_s() - left);
    MPI_Barrier(dyngrid_comm());
  }

  std::string to_;
  std::int64_t n_, nb_;
  int cycles_, rest_steps_, phase_ = 0, rank_ = -1, from_rows_ = 0, from_cols_ = 0;
  bool came_later_ = false;
  std::vector<int> newcomers_;
};

// ---- the program that waits

double cpu_s() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/// Short messages to all; then process 0 works for half a second, and the others wait for it.
int wait_often() {
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double in = 1, out = 0;
  constexpr int times = 1000;
  const auto all = [&] { MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); };
  for (int k = 0; k < 50; ++k) all();
  double begun = base::unix_time_s();
  for (int k = 0; k < times; ++k) all();
  const double message_s = (base::unix_time_s() - begun) / times;
  begun = base::unix_time_s();
  double used_s = cpu_s();
  if (rank == 0)
    while (cpu_s() - used_s < 0.5) continue;
  MPI_Barrier(MPI_COMM_WORLD);
  const double elapsed_s = base::unix_time_s() - begun;
  used_s = rank == 0 ? 0 : cpu_s() - used_s;
  double waiting_s = 0;
  MPI_Reduce(&used_s, &waiting_s, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("measured message %.9f\nmeasured work %.9f\nmeasured waiting %.9f\n", message_s, elapsed_s, waiting_s);
  MPI_Finalize();
  return 0;
}

// ---- the one that compares

struct Settings {
  std::vector<std::pair<std::string, std::string>> growths = {{"2x2", "3x3"}, {"3x3", "4x4"}, {"1x1", "1x2"}};
  std::string from = "1x2", to = "2x2", csv, command; ///< of one of them
  std::int64_t n = 1000, nb = 64;
  int cycles = 3, reps = 3, rest_steps = 0;
  bool is_quick = false, is_markdown = false, is_member = false, is_waiting = false, waits = false;
};

using Samples = std::map<std::string, std::vector<double>>; // by measure

/// `dyngrid run` with these options. Launcher appends "-np P PROGRAM ARGUMENTS" to the words.
apps::Launcher under_dyngrid_run(const Settings& s, const std::string& setting, const std::string& options) {
  return {
      fmt::format("sh -c 'np=$2; shift 2; {} exec \"{}\" run {} -n \"$np\" -- \"$@\"' sh", setting, s.command, options),
      300};
}

Samples samples_in(const std::string& text) {
  Samples samples;
  std::istringstream lines(text);
  for (std::string word; lines >> word;) {
    std::string what;
    double value = 0;
    if (word == "measured" && lines >> what >> value) samples[what].push_back(value);
  }
  return samples;
}

Samples one_run(const Settings& s, const std::string& way) {
  const bool is_group = way == "spare group", is_spare = is_group || way == "spare";
  const int newcomers = apps::processes_of(s.to) - apps::processes_of(s.from);
  const std::string start =
      is_spare ? fmt::format("background --warm {}{}", newcomers, is_group ? " --unit all" : "") : way;
  const std::string options = fmt::format("--processes {} --grid {}", start, s.from);
  const apps::Launcher launcher = under_dyngrid_run(s, "DYNGRID_WAIT=off", options);
  const double started = base::unix_time_s();
  Samples samples = samples_in(launcher.output_of(
      "bench_processes", apps::processes_of(s.from),
      {"--member", "--from", s.from, "--to", s.to, "--n", std::to_string(s.n), "--nb", std::to_string(s.nb), "--cycles",
       std::to_string(s.cycles), "--rest-steps", std::to_string(is_spare ? 50 + 10 * newcomers : 0)}));
  for (double& at : samples["begun"]) at -= started;
  return samples;
}

void samples(apps::Report& report, const char* part, const std::string& phase, const char* way,
             const std::vector<double>& seconds, const std::string& from = "", const std::string& to = "") {
  apps::Sample sample;
  sample.part = part;
  sample.from = from;
  sample.to = to;
  sample.phase = phase;
  sample.method = way;
  report.add(sample, seconds);
}

/// Processes that only yield against processes that sleep after a while: one table, in turn.
int compare_waiting(const Settings& s) {
  apps::Report report("bench_waiting", s.csv);
  std::map<std::string, Samples> all;
  const std::vector<int> counts = s.is_quick ? std::vector<int>{4} : std::vector<int>{4, 8, 16};
  const std::vector<std::string> grids =
      s.is_quick ? std::vector<std::string>{"2x2"} : std::vector<std::string>{"2x2", "3x3", "4x4"};
  for (int rep = 0; rep < s.reps; ++rep)
    for (const char* way : {"off", "on"}) {
      const apps::Launcher launcher = under_dyngrid_run(s, fmt::format("DYNGRID_YIELD={}", way), "");
      for (const int processes : counts)
        for (const auto& [what, values] : samples_in(launcher.output_of("bench_processes", processes, {"--waits"})))
          all[way][fmt::format("{} {}", what, processes)].push_back(values.at(0));
      for (const std::string& grid : grids)
        for (const apps::RunStep& step :
             launcher
                 .run("pdgemm", apps::processes_of(grid),
                      {"--grid", grid, "--n", std::to_string(s.n), "--nb", std::to_string(s.nb), "--steps", "4"})
                 .steps)
          if (step.step > 0) all[way]["pdgemm " + grid].push_back(step.seconds);
    }
  std::vector<std::pair<std::string, std::string>> ids;
  for (const int processes : counts)
    ids.emplace_back(fmt::format("message {}", processes),
                     fmt::format("MPI_Allreduce of 8 bytes, {} processes", processes));
  for (const int processes : counts)
    ids.emplace_back(fmt::format("work {}", processes),
                     fmt::format("half a second of work by one process while {} more wait", processes - 1));
  for (const int processes : counts)
    ids.emplace_back(fmt::format("waiting {}", processes),
                     fmt::format("... CPU time that those {} take meanwhile", processes - 1));
  for (const std::string& grid : grids)
    ids.emplace_back("pdgemm " + grid, fmt::format("PDGEMM, n = {}, on {}", s.n, grid));
  const auto of = [&](const char* way, const std::string& id) { return 1000 * apps::median(all[way][id]); };
  for (const auto& [id, text] : ids) {
    samples(report, "waiting", id, "yields", all["off"][id]);
    samples(report, "waiting", id, "yields then sleeps", all["on"][id]);
  }
  if (s.is_markdown) {
    fmt::print("| milliseconds | yields | yields then sleeps |\n|---|---|---|\n");
    for (const auto& [id, text] : ids)
      fmt::print("| {} | {} | {} |\n", text, apps::Cell(of("off", id), 3).shown, apps::Cell(of("on", id), 3).shown);
    return report.finish() ? 0 : 1;
  }
  apps::Table table{fmt::format("Milliseconds, {} runs of each way", s.reps),
                    {"", "what", "yields", "yields then sleeps"},
                    {},
                    "Medians, the two in turn; DYNGRID_YIELD=off and on."};
  for (const auto& [id, text] : ids) table.rows.push_back({id, text, {of("off", id), 3}, {of("on", id), 3}});
  report.add(table);
  return report.finish() ? 0 : 1;
}

struct Row {
  const char* id;
  const char* text;
};
constexpr Row rows[] = {
    {"begun", "from `dyngrid run` to the first line of the program"},
    {"stand", "growth at resize points: the application stands still"},
    {"come", "... from the request to the first step on the larger grid"},
    {"start", "... of it: new processes start (blocking), or are called in"},
    {"merge", "... of it: communicators and contexts"},
    {"exchange", "... of it: the matrices move"},
    {"rest", "... of it: asking whether they are there, deciding, telling them"},
    {"now", "growth by dyngrid_resize, which waits"},
    {"shrink", "back to the smaller grid, the new processes leave for good"},
    {"gone", "... until their processes are gone"},
    {"point", "a resize point with nothing to do, on the larger grid"},
    {"message", "MPI_Allreduce of 8 bytes, on the larger grid"},
};

/// The mpiruns of Open MPI 5 cannot connect to each other: there is no way join.
std::vector<const char*> ways_of(const base::MpiVersion& mpi) {
  std::vector<const char*> ways{"blocking", "background", "spare", "spare group"};
  if (!base::is_open_mpi_5(mpi)) ways.push_back("join");
  return ways;
}

/// One table for one growth.
apps::Table compare(const Settings& s, const std::vector<const char*>& ways, apps::Report& report) {
  std::map<std::string, Samples> all;
  for (int rep = 0; rep < s.reps; ++rep)
    for (const char* way : ways)
      for (const auto& [what, values] : one_run(s, way)) {
        auto& list = all[way][what];
        list.insert(list.end(), values.begin(), values.end());
      }
  apps::Table table{fmt::format("Milliseconds, {} -> {} -> {}, three {} x {} matrices in blocks of {}; {} runs of each "
                                "way, {} growths in each",
                                s.from, s.to, s.from, s.n, s.n, s.nb, s.reps, 2 * s.cycles),
                    {"", "what"},
                    {},
                    "Medians, the ways in turn. With blocking the application waits while new processes start; with "
                    "the others it computes; spare ones were started before, and slept, one by one or as one group."};
  table.columns.insert(table.columns.end(), ways.begin(), ways.end());
  for (const Row& row : rows) {
    std::vector<apps::Cell> line{row.id, row.text};
    for (const char* way : ways) {
      if (all[way][row.id].empty()) throw std::runtime_error(fmt::format("a run printed no \"{}\"", row.text));
      line.emplace_back(1000 * apps::median(all[way][row.id]), 3);
      samples(report, "costs", row.id, way, all[way][row.id], s.from, s.to);
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

int compare_all(Settings s) {
  apps::Report report("bench_processes", s.csv);
  const std::vector<const char*> ways = ways_of(base::mpi_library());
  for (const auto& [from, to] : s.growths) {
    s.from = from;
    s.to = to;
    const apps::Table table = compare(s, ways, report);
    if (!s.is_markdown) {
      report.add(table);
      continue;
    }
    fmt::print("\n| milliseconds, {} -> {}, three {} x {} matrices |", s.from, s.to, s.n, s.n);
    for (const char* way : ways) fmt::print(" {} |", way);
    fmt::print("\n|---|");
    for (std::size_t k = 0; k < ways.size(); ++k) fmt::print("--:|");
    fmt::print("\n");
    for (const auto& line : table.rows) {
      for (std::size_t k = 1; k < line.size(); ++k) fmt::print("| {} ", line[k].shown);
      fmt::print("|\n");
    }
  }
  return report.finish() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  Settings s;
  base::CommandLine cli(
      "What new processes cost by each way in which they start (blocking, background, spare, spare as one "
      "group, and, with Open MPI 4, join), side by side. See docs/operating.md.",
      "bench_processes");
  cli.help_column(30);
  cli.add_option("--from", s.from, "grid to start with, with --to; default: 2x2 -> 3x3, 3x3 -> 4x4, 1x1 -> 1x2")
      .type_name("PxQ");
  cli.add_option("--to", s.to, "grid to grow to, again and again, with --from").type_name("PxQ");
  cli.add_option("--n", s.n, "order of the three matrices that follow the grid")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--nb", s.nb, "their block size").check(base::positive_number()).show_default();
  cli.add_option("--cycles", s.cycles, "times that a run grows at resize points, and as often by dyngrid_resize")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--reps", s.reps, "runs of each way, in turn").check(base::positive_number()).show_default();
  cli.add_flag("--quick", s.is_quick, "one short run of each: figures mean nothing");
  cli.add_flag("--markdown", s.is_markdown, "only the table, as docs/results.md has it");
  cli.add_option("--command", s.command, "the dyngrid command; default: beside this program").type_name("PATH");
  cli.add_option("--csv", s.csv, "file for one line per single run").type_name("FILE");
  cli.add_flag("--waiting", s.is_waiting,
               "instead: processes that outnumber the cores and wait by yielding, against ones that sleep after a "
               "while (DYNGRID_YIELD)");
  cli.add_flag("--member", s.is_member).hidden();
  cli.add_flag("--waits", s.waits).hidden();
  cli.add_option("--rest-steps", s.rest_steps).hidden();
  if (const auto status = base::read_command_line(cli, argc, argv)) return *status;
  try {
    if (apps::processes_of(s.to) <= apps::processes_of(s.from))
      throw base::CommandLineError(fmt::format("--to: is '{}', expected more processes than {}", s.to, s.from));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_processes: %s (see --help)\n", error.what());
    return 2;
  }
  if (s.is_quick) {
    if (cli.count("--n") == 0) s.n = 64;
    if (cli.count("--cycles") == 0) s.cycles = 1;
    if (cli.count("--reps") == 0) s.reps = 1;
  }
  if (s.is_quick || cli.count("--from") > 0 || cli.count("--to") > 0) s.growths = {{s.from, s.to}};
  if (s.waits) return wait_often();
  if (s.is_member) return Member(s.to, s.n, s.nb, s.cycles, s.rest_steps).run();
  if (s.command.empty())
    s.command = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "dyngrid").string();
  try {
    return s.is_waiting ? compare_waiting(s) : compare_all(s);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_processes: %s\n", error.what());
    return 1;
  }
}
