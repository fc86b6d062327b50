// SPDX-License-Identifier: BSD-3-Clause
#include "app.hpp"
#include "base/environment.hpp"
#include "base/grid_shape.hpp"
#include "base/parse_json.hpp"
#include "base/status.hpp"
#include "base/text.hpp"

#include <dyngrid/balance.h>
#include <dyngrid/checkpoint.h>
#include <dyngrid/control.h>
#include <dyngrid/gridmap.h>
#include <dyngrid/layout.h>
#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>

namespace apps {

namespace {

const std::vector<std::string> placement_names{"optimal", "global", "local1", "local2"};

/// The time of the whole change beyond its parts: agreeing, making new local arrays, waiting for the last process.
double other_s(const dyngrid_resize_report& r) {
  return std::max(0.0, r.total_s - r.spawn_s - r.merge_s - r.plan_s - r.exchange_s);
}

// mpirun gives its processes a terminal of their own even when its output goes to a file, so isatty(1) is no test.
// mpirun is the parent of the processes on its host: its own descriptor 1 shows its output.
bool output_is_terminal() {
  if (isatty(1) == 0) return false;
  if (std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return true;
  struct stat status {};
  const std::string path = fmt::format("/proc/{}/fd/1", getppid());
  if (stat(path.c_str(), &status) != 0 || !S_ISCHR(status.st_mode)) return false;
  char target[256] = {};
  const auto length = readlink(path.c_str(), target, sizeof target - 1);
  return length > 0 && std::string(target).rfind("/dev/null", 0) != 0;
}

std::pair<int, int> parse_grid(const std::string& text) {
  if (const auto grid = base::grid_shape_from(text)) return {grid->nprow, grid->npcol};
  throw base::CommandLineError(fmt::format("'{}' is not a grid, expected e.g. 2x3", text));
}

std::string block_text(const Options& options) {
  return options.nb > 0 ? std::to_string(options.nb) : "block";
}

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

} // namespace

bool is_first_of_mpirun() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK"); // MPICH's
  return rank == nullptr || std::string(rank) == "0";
}

std::int64_t parse_block(const std::string& text) {
  if (text == "block") return 0;
  const auto nb = base::whole_number(text);
  if (!nb || *nb < 1)
    throw base::CommandLineError(fmt::format("'{}' is no block size, expected a number above 0 or block", text));
  return *nb;
}

std::vector<GridChange> parse_changes(const std::string& text) {
  std::vector<GridChange> changes;
  std::string_view entries = base::trimmed(text);
  if (!entries.empty() && entries.back() == ',') entries.remove_suffix(1); // the last entry may have one too
  for (const std::string& entry : base::split(entries, ',')) {
    const std::size_t colon = entry.find(':');
    const auto step = base::whole_number<int>(entry.substr(0, colon));
    const auto grid = base::grid_shape_from(colon == std::string::npos ? "" : entry.substr(colon + 1));
    if (!step || *step < 0 || !grid)
      throw base::CommandLineError(
          fmt::format("entry '{}' of --resize-at is not STEP:ROWSxCOLUMNS, as in 5:3x3,10:4x4", entry));
    if (!changes.empty() && *step <= changes.back().step)
      throw base::CommandLineError(
          fmt::format("--resize-at has step {} after step {}, expected ascending steps", *step, changes.back().step));
    changes.push_back({*step, grid->nprow, grid->npcol});
  }
  return changes;
}

void add_options(base::CommandLine& cli, Options& options, bool has_block) {
  cli.help_column(34);
  cli.add_option("--n", options.n, "order of the problem").check(base::positive_number()).show_default();
  if (has_block)
    cli.add_option(
           "--nb", [&options](const std::string& text) { options.nb = parse_block(text); },
           fmt::format("block size, or 'block': one block for each process, which follows the grid [{}]",
                       options.nb > 0 ? std::to_string(options.nb) : "block"))
        .type_name("NB");
  else
    cli.add_option("--nb", options.nb, "block size").check(base::positive_number()).show_default();
  cli.add_option(
         "--grid", [&options](const std::string& text) { std::tie(options.nprow, options.npcol) = parse_grid(text); },
         "first grid, e.g. 2x3; default: all processes, as square as possible")
      .type_name("PxQ");
  cli.add_option("--steps", options.steps, "number of steps").check(base::non_negative_number()).show_default();
  cli.add_option(
         "--resize-at", [&options](const std::string& text) { options.resize_at = parse_changes(text); },
         "changes of the grid, e.g. 5:3x3,10:4x4: before step 5 (the first is 0) to 3x3, ...")
      .type_name("STEP:PxQ,...");
  cli.add_option("--placement", options.placement, "where processes go in a new grid: optimal, global, local1, local2")
      .check(base::one_of(placement_names))
      .type_name("NAME")
      .show_default();
  cli.add_option("--schedule", options.schedule, "order of the exchange: auto, caterpillar, circulant, matching, async")
      .check(base::one_of({"auto", "caterpillar", "circulant", "matching", "async"}))
      .type_name("NAME")
      .show_default();
  cli.add_option("--balance", options.balance,
                 "what is done about processes that get less of their processor than others: off, advise, auto "
                 "(DYNGRID_BALANCE)")
      .check(base::one_of({"off", "advise", "auto"}))
      .type_name("MODE");
  cli.add_flag("--check", options.check, "verify every step; a wrong one makes the exit status 1");
  cli.add_option("--csv", options.csv, "write steps and changes to this file, one line each").type_name("FILE");
  cli.add_option("--json", options.json, "write the whole record to this file").type_name("FILE");
  cli.add_option("--pace", options.pace,
                 "seconds to rest before each step, read from this file each time: for watching schedulers at work")
      .type_name("FILE");
}

void add_speeds(base::CommandLine& cli, Options& options) {
  options.deals_by_speed = true;
  cli.add_option("--speeds", options.speeds,
                 "how fast the processes are, in the order of mpirun and of each new group, repeated: each "
                 "gets one stretch of rows and columns, in blocks of --nb, in proportion")
      .separated_by(',')
      .check(base::positive_number())
      .type_name("S,...");
}

void add_host_speeds(base::CommandLine& cli, Options& options) {
  cli.add_option("--host-speeds", options.host_speeds,
                 "how fast the processes of mpirun are; those that come later have the speeds that are given for their "
                 "hosts (DYNGRID_HOSTS, dyngrid resize --hosts): matrices are dealt out by them, in blocks of --nb")
      .separated_by(',')
      .check(base::positive_number())
      .type_name("S,...");
}

namespace {
/// The command line counts, then the environment.
void settle(const base::CommandLine& cli, const char* option, const char* key, std::string& value) {
  if (cli.count(option) > 0)
    setenv("DYNGRID_EXCHANGE", base::with_entry(std::getenv("DYNGRID_EXCHANGE"), key, value).c_str(), 1);
  else if (const auto set = base::environment("DYNGRID_EXCHANGE", key))
    value = std::string(base::trimmed(*set));
}
} // namespace

void parse(base::CommandLine& cli, Options& options, int argc, char** argv) {
  if (const auto status = read_command_line(cli, argc, argv, is_first_of_mpirun())) {
    std::fflush(nullptr);
    std::exit(*status);
  }
  if (!options.resize_at.empty()) setenv("DYNGRID_WAIT", "on", 0); // at exactly these steps
  if (!options.balance.empty()) setenv("DYNGRID_BALANCE", options.balance.c_str(), 1);
  settle(cli, "--placement", "placement", options.placement);
  settle(cli, "--schedule", "schedule", options.schedule);
}

void refuse(const std::string& app, const std::string& mistake) {
  if (is_first_of_mpirun()) std::fprintf(stderr, "%s: %s\n", app.c_str(), mistake.c_str());
  std::fflush(nullptr);
  std::exit(2);
}

namespace {
[[noreturn]] void end_all() {
  std::fflush(nullptr);
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized != 0 && finalized == 0) MPI_Abort(MPI_COMM_WORLD, 1);
  std::exit(1);
}
} // namespace

void require(int status, const char* what) {
  if (status >= 0) return;
  std::fprintf(stderr, "%s: %s: %s\n", what, dyngrid_status_string(status), dyngrid_last_message());
  end_all();
}

void start(const Options& options) {
  if ((options.nprow > 0 ? dyngrid_init_grid(options.nprow, options.npcol) : dyngrid_init()) <
      0) { // process 0 has printed the reason
    if (!is_first_of_mpirun()) std::this_thread::sleep_for(std::chrono::seconds(1));
    end_all();
  }
  require(dyngrid_set_steps(options.steps), "dyngrid_set_steps");
  const std::vector<double>& speeds = options.has_host_speeds() ? options.host_speeds : options.speeds;
  if (speeds.empty() || (options.has_host_speeds() && dyngrid_is_newcomer() != 0))
    return; // otherwise before the matrices, which then have its layout at once
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  require(dyngrid_set_speed(speeds[static_cast<std::size_t>(rank) % speeds.size()]), "dyngrid_set_speed");
}

dyngrid_matrix* make_matrix(const char* name, std::int64_t m, std::int64_t n, const Options& options, char type) {
  dyngrid_matrix* made = nullptr;
  const std::int64_t nb = options.is_weighted() ? std::max<std::int64_t>(1, options.nb) : options.nb;
  require(options.is_weighted() ? dyngrid_matrix_create_weighted(name, type, m, n, nb, nb, DYNGRID_ORDER_BLOCK, &made)
          : nb > 0              ? dyngrid_matrix_create(name, type, m, n, nb, nb, &made)
                                : dyngrid_matrix_create_by(name, type, m, n, dyngrid_block_rule, nullptr, &made),
          "dyngrid_matrix_create");
  return made;
}

double max_over_grid(double value) {
  double result = value;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, dyngrid_comm());
  return result;
}

double sum_over_grid(double value) {
  double result = value;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_SUM, dyngrid_comm());
  return result;
}

Run::Run(std::string name, const Options& options, std::string what_is_a_step)
    : name_(std::move(name)), word_(std::move(what_is_a_step)), options_(options),
      restarts_(dyngrid_is_restarted() != 0), on_terminal_(output_is_terminal()) {
  if (dyngrid_is_newcomer() == 0) dyngrid_grid(&counts_.first_nprow, &counts_.first_npcol, nullptr, nullptr);
  require(dyngrid_share("apps.counts", &counts_, sizeof counts_), "dyngrid_share");
}

// Each change is an item of its own, and so are some thousand steps: new processes and checkpoints receive what there
// is, not all that may come. Those received with a join or a checkpoint are taken here; a new one is shared by the
// whole grid.
void Run::share_record() {
  while (static_cast<std::int32_t>(changes_.size()) < counts_.changes) {
    const std::string name = fmt::format("apps.change.{}", changes_.size());
    require(dyngrid_share(name.c_str(), &changes_.emplace_back(), sizeof(Change)), "dyngrid_share");
  }
  while (pieces_.size() * steps_in_piece <= static_cast<std::size_t>(counts_.steps)) {
    const std::string name = fmt::format("apps.steps.{}", pieces_.size());
    require(dyngrid_share(name.c_str(), pieces_.emplace_back().data(), sizeof(Piece)), "dyngrid_share");
  }
}

const Step& Run::step_at(int index) const {
  const auto i = static_cast<std::size_t>(index);
  return pieces_[i / steps_in_piece][i % steps_in_piece];
}

bool Run::is_first() const {
  return dyngrid_is_first() != 0;
}

void Run::progress(const std::string& text) {
  if (!on_terminal_ || !is_first()) return;
  std::fprintf(stdout, "\r\033[K%s", text.c_str());
  std::fflush(stdout);
  progress_shown_ = !text.empty();
}

void Run::print(const std::string& line) {
  if (!is_first()) return;
  if (progress_shown_) std::fputs("\r\033[K", stdout);
  progress_shown_ = false;
  std::fprintf(stdout, "%s\n", line.c_str());
  std::fflush(stdout);
}

int Run::resize_point(const int& step) {
  const bool is_newcomer = dyngrid_is_newcomer() != 0;
  int nprow = 0, npcol = 0;
  dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
  requested_ = {};
  ask(step);
  const double begun = MPI_Wtime();
  const int outcome = dyngrid_resize_point();
  point_s_ = nprow > 0 ? MPI_Wtime() - begun : 0; // one that was outside the grid has slept
  if (outcome == DYNGRID_LEAVE) return outcome;
  share_record();
  say_restart(step);
  if (outcome == DYNGRID_SAME && requested_.nprow == 0) return outcome;
  dyngrid_resize_report report;
  dyngrid_last_resize(&report);
  if (outcome == DYNGRID_RESIZED && report.to_nprow == 0) return outcome; // a checkpoint was restored on the first grid
  if (outcome == DYNGRID_ERR_MPI || outcome == DYNGRID_ERR_INTERNAL || (outcome < 0 && is_newcomer))
    require(outcome, "dyngrid_resize_point");
  changed(step, outcome); // a new process has just received the step
  return outcome == DYNGRID_RESIZED ? outcome : DYNGRID_SAME;
}

void Run::ask(int step) {
  int nprow = 0, npcol = 0;
  dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
  if (nprow < 0) return; // it joins, or sleeps on
  for (const auto& change : options_.resize_at) {
    if (change.step != step || step >= options_.steps) continue;
    requested_ = change;
    progress(fmt::format("{} {} of {}: {}x{} -> {}x{}", word_, step, options_.steps, nprow, npcol, requested_.nprow,
                         requested_.npcol));
    dyngrid_request(requested_.nprow, requested_.npcol);
  }
  if (options_.pace.empty()) return;
  double rest_s = 0;
  std::ifstream(options_.pace) >> rest_s; // no number: no rest
  std::this_thread::sleep_for(std::chrono::duration<double>(std::min(rest_s, 60.0)));
}

void Run::say_restart(int step) {
  if (!std::exchange(restarts_, false)) return;
  print(step < options_.steps
            ? fmt::format("{}: goes on from the checkpoint before {} {} of {}", name_, word_, step, options_.steps)
            : fmt::format("{}: the checkpoint was written after {} {}s and this run has {}: nothing is left to do; "
                          "ask for more to go on",
                          name_, step, word_, options_.steps));
}

void Run::changed(int step, int outcome) {
  const GridChange asked_for = std::exchange(requested_, GridChange{});
  share_record();
  Change change;
  change.step = step;
  change.status = outcome;
  dyngrid_last_resize(&change.report);
  if (outcome == DYNGRID_RESIZED) point_s_ = std::max(0.0, point_s_ - change.report.total_s);
  change.requested_nprow = outcome == DYNGRID_RESIZED ? change.report.to_nprow : asked_for.nprow;
  change.requested_npcol = outcome == DYNGRID_RESIZED ? change.report.to_npcol : asked_for.npcol;
  ++counts_.changes;
  share_record();
  changes_.back() = change;
  if (outcome == DYNGRID_RESIZED) {
    const auto& r = change.report;
    print(fmt::format("  {}x{} -> {}x{} before {} {}: spawn {:.3f} s, merge {:.3f} s, plan {:.4f} s, exchange {:.4f} "
                      "s, other {:.3f} s, total {:.3f} s; {} moved, {} "
                      "kept; {} spawned, {} woken, {} released, {} parked",
                      r.from_nprow, r.from_npcol, r.to_nprow, r.to_npcol, word_, step, r.spawn_s, r.merge_s, r.plan_s,
                      r.exchange_s, other_s(r), r.total_s, megabytes(r.moved_bytes), megabytes(r.kept_bytes), r.spawned,
                      r.woken, r.released, r.parked));
    return;
  }
  int nprow = 0, npcol = 0;
  dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
  const std::string requested = asked_for.nprow > 0 ? fmt::format("{}x{}", asked_for.nprow, asked_for.npcol)
                                                    : "change"; // or it was requested from outside
  print(fmt::format("  no {} before {} {}, going on with {}x{}: {}: {}", requested, word_, step, nprow, npcol,
                    outcome < 0 ? dyngrid_status_string(outcome) : "nothing changed",
                    outcome < 0 ? dyngrid_last_message() : ""));
}

void Run::open_step(int step, double flops) {
  if (!head_printed_ && counts_.steps == 0) {
    const auto& o = options_;
    print(fmt::format("{}: n {}, nb {}, {} {}s, grid {}x{}, placement {}, schedule {}, dyngrid {}", name_, o.n,
                      block_text(o), o.steps, word_, counts_.first_nprow, counts_.first_npcol, o.placement, o.schedule,
                      dyngrid_version()));
    print(fmt::format("{:>6} {:>7} {:>10} {:>9}  {}", word_, "grid", "seconds", "GFLOP/s", "result"));
    head_printed_ = true;
  }
  current_ = Step{};
  current_.step = step;
  current_.flops = flops;
  current_.point_s = std::exchange(point_s_, 0);
  dyngrid_grid(&current_.nprow, &current_.npcol, nullptr, nullptr);
}

void Run::begin(int step, double flops) {
  open_step(step, flops);
  progress(fmt::format("{} {} of {} on {}x{} ...", word_, step, options_.steps, current_.nprow, current_.npcol));
  MPI_Barrier(dyngrid_comm());
  begun_ = MPI_Wtime();
}

void Run::end(bool has_check) {
  current_.seconds = max_over_grid(MPI_Wtime() - begun_);
  if (!options_.check)
    close_step("not checked");
  else if (!has_check)
    close_step("-");
}

void Run::done(int step, double flops, double seconds) {
  share_record();
  say_restart(step);
  open_step(step, flops);
  current_.seconds = max_over_grid(seconds);
  close_step(options_.check ? "-" : "not checked");
}

void Run::report_check(bool right, double residual, const std::string& note) {
  if (!options_.check) return;
  current_.right = right ? 1 : 0;
  current_.residual = residual;
  close_step((right ? "right" : "WRONG") + (note.empty() ? "" : ", " + note));
}

void Run::close_step(const std::string& word) {
  share_record();
  pieces_.back()[static_cast<std::size_t>(counts_.steps++) % steps_in_piece] = current_;
  const std::string rate =
      current_.flops > 0 && current_.seconds > 0 ? fmt::format("{:.2f}", current_.flops / current_.seconds / 1e9) : "-";
  print(fmt::format("{:>6} {:>7} {:>10.4f} {:>9}  {}", current_.step,
                    fmt::format("{}x{}", current_.nprow, current_.npcol), current_.seconds, rate, word));
}

// Mean seconds of a step on the grid before and after a change. The first step on a grid opens connections and touches
// its memory for the first time; it is left out where there is another.
std::pair<double, double> Run::mean_step_s(std::size_t change) const {
  const auto mean = [&](int first, int last) { // steps first <= step < last
    double sum = 0;
    int count = 0;
    for (int i = 0; i < counts_.steps; ++i) {
      const auto& s = step_at(i);
      if (s.step < first || s.step >= last) continue;
      sum += s.seconds;
      ++count;
      if (s.step == first && last - first > 1 && i + 1 < counts_.steps) {
        sum = 0;
        count = 0;
      }
    }
    return count > 0 ? sum / count : std::nan("");
  };
  int first = 0, last = options_.steps;
  for (std::size_t i = 0; i < static_cast<std::size_t>(counts_.changes); ++i) {
    if (changes_[i].status != DYNGRID_RESIZED) continue;
    if (i < change) first = changes_[i].step;
    if (i > change) {
      last = changes_[i].step;
      break;
    }
  }
  return {mean(first, changes_[change].step), mean(changes_[change].step, last)};
}

namespace {
std::string payoff_text(double t_resize, double t_old, double t_new) {
  if (std::isnan(t_old) || std::isnan(t_new)) return "-";
  const auto point = dyngrid_payoff_point(t_resize, t_old, t_new);
  return point < 0 ? "never" : std::to_string(point);
}
std::string cost_text(double t_resize, double t_new) {
  return std::isnan(t_new) || t_new <= 0 ? "-" : std::to_string(dyngrid_resize_cost(t_resize, t_new));
}
} // namespace

void Run::print_changes() {
  print("");
  print(fmt::format("changes of the grid (in {}s: payoff point = ceil(t_resize / (t_old - t_new)), resize cost = "
                    "ceil(t_resize / t_new))",
                    word_));
  print(fmt::format("{:>6} {:>7} {:>7} {:>8} {:>8} {:>8} {:>9} {:>8} {:>10} {:>8} {:>8} {:>13} {:>12}", "before",
                    "from", "to", "spawn s", "merge s", "plan s", "exchange s", "other s", "t_resize s", "t_old s",
                    "t_new s", "payoff point", "resize cost"));
  for (std::size_t i = 0; i < static_cast<std::size_t>(counts_.changes); ++i) {
    if (changes_[i].status != DYNGRID_RESIZED) continue;
    const auto& r = changes_[i].report;
    const auto [t_old, t_new] = mean_step_s(i);
    const auto seconds = [](double t) { return std::isnan(t) ? std::string("-") : fmt::format("{:.4f}", t); };
    print(fmt::format(
        "{:>6} {:>7} {:>7} {:>8.3f} {:>8.3f} {:>8.4f} {:>10.4f} {:>8.3f} {:>10.3f} {:>8} {:>8} {:>13} {:>12}",
        changes_[i].step, fmt::format("{}x{}", r.from_nprow, r.from_npcol),
        fmt::format("{}x{}", r.to_nprow, r.to_npcol), r.spawn_s, r.merge_s, r.plan_s, r.exchange_s, other_s(r),
        r.total_s, seconds(t_old), seconds(t_new), payoff_text(r.total_s, t_old, t_new), cost_text(r.total_s, t_new)));
  }
  print("");
}

int Run::finish(const std::string& more) {
  if (dyngrid_comm() == MPI_COMM_NULL) return 0;
  int wrong = 0, failed = 0, done = 0;
  double resize_s = 0, step_s = 0, point_s = 0;
  std::string path = fmt::format("{}x{}", counts_.first_nprow, counts_.first_npcol);
  for (int i = 0; i < counts_.steps; ++i) {
    wrong += step_at(i).right == 0 ? 1 : 0;
    step_s += step_at(i).seconds;
    point_s += step_at(i).point_s;
  }
  for (int i = 0; i < counts_.changes; ++i) {
    const auto& change = changes_[static_cast<std::size_t>(i)];
    if (change.status != DYNGRID_RESIZED) {
      ++failed;
      continue;
    }
    ++done;
    resize_s += change.report.total_s;
    path += fmt::format(" -> {}x{}", change.report.to_nprow, change.report.to_npcol);
  }
  if (done > 0) print_changes();
  const std::string checked = !options_.check ? "not checked"
                              : wrong == 0    ? "all right"
                                              : fmt::format("{} WRONG", wrong);
  std::string summary =
      fmt::format("{}: {} {}s {}, {}; {:.2f} s in {}s, {:.2f} s in resize points, {:.2f} s in {} changes of the grid",
                  name_, counts_.steps, word_, checked, path, step_s, word_, point_s, resize_s, done);
  if (failed > 0) summary += fmt::format(", {} refused", failed);
  if (!more.empty()) summary += "; " + more;

  int files_failed = 0;
  const auto written = [&](const std::string& file, bool is_written) {
    if (is_written) return;
    std::fprintf(stderr, "%s: cannot write %s\n", name_.c_str(), file.c_str());
    files_failed = 1;
  };
  if (is_first()) {
    if (!options_.csv.empty()) written(options_.csv, write_csv());
    if (!options_.json.empty()) written(options_.json, write_json(summary));
  }
  files_failed = static_cast<int>(max_over_grid(files_failed));
  print(summary);
  return wrong > 0 || files_failed > 0 ? 1 : 0;
}

bool Run::write_csv() const {
  std::ofstream out(options_.csv);
  out << "app,what,step,from,to,n,nb,placement,schedule,seconds,gflops,right,residual,spawn_s,merge_s,plan_s,exchange_"
         "s,moved_bytes,kept_bytes,payoff_point,"
         "resize_cost,point_s,version,commit\n";
  const std::string common =
      fmt::format("{},{},{},{}", options_.n, block_text(options_), options_.placement, options_.schedule);
  for (int i = 0; i < counts_.steps; ++i) {
    const auto& s = step_at(i);
    out << fmt::format("{},step,{},{}x{},{}x{},{},{:.6f},{:.3f},{},{:.3e},,,,,,,,,{:.6f},{},{}\n", name_, s.step,
                       s.nprow, s.npcol, s.nprow, s.npcol, common, s.seconds,
                       s.seconds > 0 ? s.flops / s.seconds / 1e9 : 0.0, s.right < 0 ? "" : std::to_string(s.right),
                       s.residual, s.point_s, dyngrid_version(), DYNGRID_COMMIT);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(counts_.changes); ++i) {
    const auto& c = changes_[i];
    if (c.status != DYNGRID_RESIZED) continue;
    const auto& r = c.report;
    const auto [t_old, t_new] = mean_step_s(i);
    const bool known = !std::isnan(t_old) && !std::isnan(t_new);
    out << fmt::format("{},resize,{},{}x{},{}x{},{},{:.6f},,,,{:.6f},{:.6f},{:.6f},{:.6f},{},{},{},{},,{},{}\n", name_,
                       c.step, r.from_nprow, r.from_npcol, r.to_nprow, r.to_npcol, common, r.total_s, r.spawn_s,
                       r.merge_s, r.plan_s, r.exchange_s, r.moved_bytes, r.kept_bytes,
                       known ? std::to_string(dyngrid_payoff_point(r.total_s, t_old, t_new)) : "",
                       std::isnan(t_new) ? "" : std::to_string(dyngrid_resize_cost(r.total_s, t_new)),
                       dyngrid_version(), DYNGRID_COMMIT);
  }
  return static_cast<bool>(out.flush());
}

bool Run::write_json(const std::string& summary) const {
  base::Json doc;
  doc["app"] = name_;
  doc["version"] = dyngrid_version();
  doc["commit"] = DYNGRID_COMMIT;
  doc["n"] = options_.n;
  if (options_.nb > 0)
    doc["nb"] = options_.nb;
  else
    doc["nb"] = block_text(options_);
  doc["placement"] = options_.placement;
  doc["schedule"] = options_.schedule;
  doc["steps"] = base::Json::array();
  for (int i = 0; i < counts_.steps; ++i) {
    const auto& s = step_at(i);
    base::Json step{{"step", s.step}, {"grid", {s.nprow, s.npcol}}, {"seconds", s.seconds}, {"point_s", s.point_s}};
    if (s.flops > 0) step["gflops"] = s.flops / s.seconds / 1e9;
    if (s.right >= 0) step["right"] = s.right == 1;
    if (s.residual != 0) step["residual"] = s.residual;
    doc["steps"].push_back(step);
  }
  doc["resizes"] = base::Json::array();
  for (std::size_t i = 0; i < static_cast<std::size_t>(counts_.changes); ++i) {
    const auto& c = changes_[i];
    base::Json resize{{"before_step", c.step},
                      {"wanted", {c.requested_nprow, c.requested_npcol}},
                      {"done", c.status == DYNGRID_RESIZED}};
    if (c.status != DYNGRID_RESIZED) {
      resize["status"] = dyngrid_status_string(c.status);
    } else {
      const auto& r = c.report;
      const auto [t_old, t_new] = mean_step_s(i);
      resize.update({{"from", {r.from_nprow, r.from_npcol}},
                     {"to", {r.to_nprow, r.to_npcol}},
                     {"spawned", r.spawned},
                     {"woken", r.woken},
                     {"released", r.released},
                     {"parked", r.parked},
                     {"spawn_s", r.spawn_s},
                     {"merge_s", r.merge_s},
                     {"plan_s", r.plan_s},
                     {"exchange_s", r.exchange_s},
                     {"total_s", r.total_s},
                     {"moved_bytes", r.moved_bytes},
                     {"kept_bytes", r.kept_bytes}});
      if (!std::isnan(t_old) && !std::isnan(t_new))
        resize["payoff_point"] = dyngrid_payoff_point(r.total_s, t_old, t_new);
      if (!std::isnan(t_new)) resize["resize_cost"] = dyngrid_resize_cost(r.total_s, t_new);
    }
    doc["resizes"].push_back(resize);
  }
  doc["summary"] = summary;
  std::ofstream out(options_.json);
  out << base::json_text(doc, 1) << '\n';
  return static_cast<bool>(out.flush());
}

} // namespace apps
