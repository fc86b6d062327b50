// SPDX-License-Identifier: BSD-3-Clause
// The common part of the applications: options, the record of steps and of changes of the grid, and its output. Nothing
// of it is needed to use dyngrid; an application is its main().
#pragma once

#include "base/command_line.hpp"

#include <dyngrid.h>

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace apps {

struct GridChange {
  int step = 0; ///< before this step, counted from 0
  int nprow = 0, npcol = 0;
};

struct Options {
  std::int64_t n = 1000, nb = 64; ///< nb 0: one block for each process
  int nprow = 0, npcol = 0;       ///< first grid; 0 x 0: dyngrid's own choice
  int steps = 10;
  std::vector<GridChange> resize_at;
  std::string placement = "optimal", schedule = "auto";
  bool check = false;
  std::string csv, json;
  std::string balance;             ///< off, advise, auto; empty: the environment's
  std::string pace;                ///< a file with the number of seconds to rest before each step
  std::vector<double> speeds;      ///< of add_speeds
  std::vector<double> host_speeds; ///< of add_host_speeds: new processes have the speeds of their hosts
  bool deals_by_speed = false;     ///< of add_speeds: where balanced, its matrices are distributed by speed

  bool has_host_speeds() const { return !host_speeds.empty(); }
  /// Matrices are distributed by speed.
  bool is_weighted() const {
    return !speeds.empty() || has_host_speeds() || (deals_by_speed && !balance.empty() && balance != "off");
  }
};

/// Of all processes of mpirun, or started by hand: the one that prints before MPI is initialized.
bool is_first_of_mpirun();

/// Adds the options that all applications have to `cli`, with the defaults in `options`. has_block: --nb takes 'block'
/// too.
void add_options(base::CommandLine& cli, Options& options, bool has_block = false);

/// Adds --speeds: matrices of make_matrix are distributed by them.
void add_speeds(base::CommandLine& cli, Options& options);

/// Adds --host-speeds: the same, but new processes have the given speeds of their hosts.
void add_host_speeds(base::CommandLine& cli, Options& options);

/// Reads the command line. On --help or an error it prints (one process of mpirun's only) and ends the process, status
/// 0 or 2. Sets DYNGRID_EXCHANGE for this process from --placement and --schedule. Call it before dyngrid_init.
void parse(base::CommandLine& cli, Options& options, int argc, char** argv);

/// For another mistake on the command line, before dyngrid_init: prints it (one process of mpirun's only) and ends the
/// process, status 2.
[[noreturn]] void refuse(const std::string& app, const std::string& mistake);

/// A block size, 0 for "block". Throws base::CommandLineError with what is wrong.
std::int64_t parse_block(const std::string& text);

/// "5:3x3,10:4x4". Throws base::CommandLineError with what is wrong.
std::vector<GridChange> parse_changes(const std::string& text);

/// Starts dyngrid on the grid of the options; with --speeds this process gets its own. On an error prints the message
/// and ends the process with status 1.
void start(const Options& options);

/// A matrix in square blocks of options.nb, or in one block for each process (nb 0). With --speeds it has one stretch
/// of rows and columns for each process in proportion, in blocks of nb. Calls require().
dyngrid_matrix* make_matrix(const char* name, std::int64_t m, std::int64_t n, const Options& options, char type = 'd');

/// Ends the application with `what: message` on stderr when status is an error: for errors after which it cannot
/// continue.
void require(int status, const char* what);

struct Step {
  std::int32_t step = 0, nprow = 0, npcol = 0, right = -1; ///< right: 1, 0, or -1 for not checked
  double seconds = 0, flops = 0, residual = 0;
  double point_s = 0; ///< in the resize point before it, but for a change of the grid
};

struct Change {
  std::int32_t step = 0, status = 0; ///< status: DYNGRID_RESIZED or an error, with the grid as it was
  std::int32_t requested_nprow = 0, requested_npcol = 0;
  dyngrid_resize_report report{};
};

/// The record of a run. It is shared state (dyngrid_share), so that the process at (0,0) at the end can print all of
/// it. All member functions are collective over the current grid unless stated otherwise.
class Run {
public:
  /// Call after start(), at the same place in old and new processes.
  /// @param what_is_a_step  word for the table, e.g. "step" or "panel".
  Run(std::string name, const Options& options, std::string what_is_a_step = "step");
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// dyngrid_resize_point, after the requests of --resize-at before `step`. Prints the time of a change. A change that
  /// fails is printed and recorded and the run goes on: DYNGRID_SAME.
  int resize_point(const int& step);

  // ---- instead of resize_point, begin and end: steps inside a call that has the resize points inside, too
  /// Requests the grids of --resize-at before `step`, at the next resize point, and rests as in --pace. Local.
  void ask(int step);
  /// Prints and records a change before `step`. outcome: DYNGRID_RESIZED, or the status of one that failed.
  void changed(int step, int outcome);
  /// A step that took `seconds` on this process. It has no check.
  void done(int step, double flops, double seconds);

  // ---- a step
  /// Starts the clock of a step: all processes of the grid start together. `flops` of the step, 0 for none.
  void begin(int step, double flops);
  /// Stops it; the time of a step is that of the slowest process. With --check a check must follow, unless has_check
  /// is false.
  void end(bool has_check = true);
  /// The check of the step that ended last, the same on all processes. `residual` is recorded, `note` printed.
  void report_check(bool right, double residual = 0, const std::string& note = "");

  /// A line from process (0,0) only.
  void print(const std::string& line);

  /// Prints the table of changes with payoff point and resize cost, writes --csv and --json, prints one line of summary
  /// with `more` at its end. Returns the exit status: 0, or 1 when a step was wrong or a file could not be written. A
  /// process that left the application may call it too and gets 0.
  int finish(const std::string& more = "");

private:
  struct Counts {
    std::int32_t steps = 0, changes = 0;
    std::int32_t first_nprow = 0, first_npcol = 0;
  };
  bool is_first() const; // local: process (0,0)
  void progress(const std::string& text);
  void say_restart(int step);
  void open_step(int step, double flops);
  void close_step(const std::string& word);
  void share_record();
  const Step& step_at(int index) const;
  std::pair<double, double> mean_step_s(std::size_t change) const;
  void print_changes();
  bool write_csv() const;
  bool write_json(const std::string& summary) const;

  std::string name_, word_;
  Options options_;
  Counts counts_;
  static constexpr std::size_t steps_in_piece = 4096;
  using Piece = std::array<Step, steps_in_piece>;
  std::deque<Piece> pieces_; ///< with room for one step more; shared memory stays where it is
  std::deque<Change> changes_;
  GridChange requested_; ///< requested last; 0 x 0 when it has been answered
  double begun_ = 0, point_s_ = 0;
  bool restarts_ = false; ///< and it has not been reported yet
  Step current_;
  bool head_printed_ = false, progress_shown_ = false, on_terminal_ = false;
};

/// Largest and sum over the processes of the current grid. Collective.
double max_over_grid(double value);
double sum_over_grid(double value);

} // namespace apps
