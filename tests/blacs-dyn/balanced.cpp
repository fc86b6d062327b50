// SPDX-License-Identifier: BSD-3-Clause
// A running application with a known load: every process has a /proc of its own, in which this program writes the
// kernel's figures for such a share.
// mpirun -np 4 balanced uniform|weighted|first|advise|alike|flicker|unreadable|held FOLDER
// mpirun -np 4 balanced stopped|stopped_first|stopped_asleep FOLDER: SIGSTOP to process 1, 0, or 1 in its sleep
// mpirun -np 2 balanced spawned FOLDER: with DYNGRID_START=unit=2 DYNGRID_RESIZE_AT=2:2x2, one of the two new processes
// Steps last as long as they would: the part of a process over its share, it sleeps. The expected results follow from
// that, and every element of the matrix is compared at the end. No time is judged; an event that does not happen within
// ten minutes is missing.
#include <signal.h> // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/own_kernel.hpp"
#include "dyngrid.h"
#include "dyngrid/balance.h"
#include "dyngrid/control.h"

namespace {

using own::Kernel;
using own::now_s;

constexpr std::int64_t n = 240, nb = 4;
constexpr double step_s = 0.08; // of a process with a quarter of the matrix and all of its processor

/// The kernel counts continuously, not at the end of a step: samples are taken at any time.
void work(Kernel& kernel, double seconds, double share, bool is_counted) {
  for (const double end = now_s() + seconds; now_s() < end;) {
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(0.02, std::max(0.0, end - now_s()))));
    if (is_counted) kernel.ran(share);
  }
}

int failures = 0;
void expect(bool is_right, const std::string& what) {
  if (is_right) return;
  ++failures;
  std::fprintf(stderr, "balanced: process %d: %s\n", static_cast<int>(getpid()), what.c_str());
}

double element(std::int64_t i, std::int64_t j) {
  return static_cast<double>(1000 * i + j);
}

/// Calls f(i, j, local element) for all of mine.
template <class F> void for_each(const dyngrid_matrix* a, F&& f) {
  std::int64_t lld = 1, first_row = 0, end_row = 0, first_col = 0, end_col = 0;
  dyngrid_matrix_shape(a, nullptr, nullptr, &lld);
  auto* local = static_cast<double*>(dyngrid_local(a));
  std::int64_t j_loc = 0;
  for (std::int64_t l = 0; dyngrid_my_range(a, 'C', l, &first_col, &end_col) == 1; ++l)
    for (std::int64_t j = first_col; j < end_col; ++j, ++j_loc) {
      std::int64_t i_loc = 0;
      for (std::int64_t k = 0; dyngrid_my_range(a, 'R', k, &first_row, &end_row) == 1; ++k)
        for (std::int64_t i = first_row; i < end_row; ++i, ++i_loc) f(i, j, local[i_loc + j_loc * lld]);
    }
}

double part_of(const dyngrid_matrix* a) {
  std::int64_t rows = 0, cols = 0;
  dyngrid_matrix_shape(a, &rows, &cols, nullptr);
  return static_cast<double>(rows) * static_cast<double>(cols) / static_cast<double>(n * n);
}

/// Captures the standard error of process 0, and still prints it there on request.
class Said {
public:
  explicit Said(std::string file) : file_(std::move(file)), before_(dup(2)) {
    std::FILE* opened = std::freopen(file_.c_str(), "w", stderr);
    expect(opened != nullptr, file_);
  }
  std::string end() {
    std::fflush(stderr);
    dup2(before_, 2);
    std::ifstream in(file_);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    std::fputs(text.c_str(), stderr);
    return text;
  }

private:
  std::string file_;
  int before_;
};

/// On one line, `then` somewhere after `first`.
void expect_said(const std::string& text, const std::string& first, const std::string& then = "") {
  std::istringstream lines(text);
  bool is_said = false;
  for (std::string line; !is_said && std::getline(lines, line);) {
    const auto at = line.find(first);
    is_said = at != std::string::npos && line.find(then, at + first.size()) != std::string::npos;
  }
  expect(is_said, "it is not said: " + first + " ... " + then);
}

int grid_size() {
  int p = 0, q = 0;
  dyngrid_grid(&p, &q, nullptr, nullptr);
  return p * q;
}

std::atomic<bool> is_other_stopped{false};

/// SIGSTOP now, SIGCONT later; the others wait for it in their next message.
void stop_for(int pid, int seconds) {
  kill(pid, SIGSTOP);
  is_other_stopped = true;
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    is_other_stopped = false;
    kill(pid, SIGCONT);
  }).detach();
}

/// The events of one run, as the program sees them.
struct Seen {
  int changes = 0, least = 4; ///< of the grid or its parts; the fewest processes
  bool has_returned = false, has_new_parts = false;
  double left_s = 0;              ///< when a process left
  int points_during_the_stop = 0; ///< resize points that began and ended while the other process was stopped
};

/// One process's part of a run.
class Run {
public:
  Run(std::string kind, const std::string& parent)
      : kind_(std::move(kind)), folder_(fmt::format("{}/{}", parent, getpid())), kernel_(fresh(folder_)),
        is_stopped_(kind_.rfind("stopped", 0) == 0), is_asleep_(is("stopped_asleep")), is_spawned_(is("spawned")),
        is_weighted_(is("weighted") || is("first")) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    stopped_pid_ = static_cast<int>(getpid());
    MPI_Bcast(&stopped_pid_, 1, MPI_INT, is("stopped_first") ? 0 : std::min(1, size - 1), MPI_COMM_WORLD);
    if (is("unreadable")) std::filesystem::remove_all(folder_ + "/proc");
    if (rank_ == 0 && (is_stopped_ || is("unreadable"))) said_.emplace(folder_ + "/said");
    is_quiet_ = is("advise") || is("alike") || (is_stopped_ && !is_asleep_) || is("unreadable") || is("held");
  }
  ~Run() { std::filesystem::remove_all(folder_); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  bool begin() {
    setenv("DYNGRID_LOAD_ROOT", folder_.c_str(), 1);
    setenv("DYNGRID_BALANCE", is("advise") ? "advise" : "auto", 1);
    setenv("DYNGRID_GRID", is_weighted_ ? "1x4" : is_spawned_ ? "1x2" : "2x2", 1);
    if (dyngrid_init() != DYNGRID_SUCCESS || dyngrid_set_steps(2000) != DYNGRID_SUCCESS) return false;
    expect((is_weighted_ ? dyngrid_matrix_create_weighted("A", 'd', n, n, nb, nb, DYNGRID_ORDER_BLOCK, &a_)
                         : dyngrid_matrix_create("A", 'd', n, n, nb, nb, &a_)) == DYNGRID_SUCCESS,
           dyngrid_last_message());
    for_each(a_, [](std::int64_t i, std::int64_t j, double& e) { e = element(i, j); });
    return true;
  }

  void steps() {
    double begun = now_s(); // shared: new processes have none, woken ones receive it again
    dyngrid_share("begun", &begun, sizeof begun);
    bool must_grow = is_spawned_;
    for (int step = 0;; ++step) {
      const bool was_stopped = is_other_stopped;
      const int outcome = dyngrid_resize_point();
      seen_.points_during_the_stop += was_stopped && is_other_stopped ? 1 : 0;
      if (outcome == DYNGRID_LEAVE || outcome < 0) return;
      const double t = now_s() - begun;
      if (outcome == DYNGRID_RESIZED && !std::exchange(must_grow, false)) changed(t);
      stop(step, t);
      const double share = share_at(t);
      work(kernel_, 4 * step_s * part_of(a_) / share, share, !is("unreadable"));
      if (is_over(t)) return;
    }
  }

  void judge() {
    std::int64_t wrong = 0;
    if (dyngrid_comm() != MPI_COMM_NULL)
      for_each(a_, [&](std::int64_t i, std::int64_t j, double e) { wrong += e == element(i, j) ? 0 : 1; });
    expect(wrong == 0, fmt::format("{} elements are wrong", wrong));
    if (dyngrid_process_id() == 0) judge_by_first();
    if (is_asleep_ && rank_ == 2) expect(seen_.points_during_the_stop > 1, "all waited for a process that was stopped");
  }

private:
  static const std::string& fresh(const std::string& folder) {
    std::filesystem::remove_all(folder);
    return folder;
  }
  bool is(const char* kind) const { return kind_ == kind; }

  void changed(double t) {
    ++seen_.changes;
    seen_.has_returned = seen_.has_returned || (grid_size() == 4 && seen_.least < 4);
    seen_.least = std::min(seen_.least, grid_size());
    seen_.left_s = t;
  }

  void stop(int step, double t) {
    if (is_stopped_ && !is_asleep_ && rank_ == 2 && step == 40) stop_for(stopped_pid_, 4);
    if (is_asleep_ && rank_ == 2 && seen_.changes == 1 && t > seen_.left_s + 3 && !std::exchange(has_stopped_, true))
      stop_for(stopped_pid_, 12); // after 10 s without a competitor it would return
  }

  /// Process 1 is loaded from 3 s on, in `first` and `held` process 0; in `uniform` the load ends when it sleeps.
  double share_at(double t) const {
    const bool is_new = seen_.changes == 0 && t > 3;
    if (is("alike")) return t > 3 ? 0.3 : 1;
    if (is("flicker")) return rank_ == 1 && static_cast<int>(t / 0.7) % 2 == 1 ? 0.3 : 1;
    if (rank_ == 1 && is_new && (is("uniform") || is("weighted") || is("advise") || is_asleep_)) return 0.25;
    if (rank_ == 0 && is_new && (is("first") || is("held"))) return 0.25;
    if (is_spawned_ && dyngrid_process_id() == 3 && seen_.changes == 0) return 0.25;
    return is_weighted_ && rank_ == loaded() && seen_.changes == 1 ? 0.25 : 1;
  }

  /// Among parts that are distributed by speed: process 0 stays, and its part gets smaller as that of any other.
  int loaded() const { return is("first") ? 0 : 1; }

  /// All stop together: the observations of one process count, and the part of the loaded process.
  bool is_over(double t) {
    if (is_weighted_) seen_.has_new_parts = seen_.has_new_parts || (rank_ == loaded() && part_of(a_) < 0.12);
    const double lasts_s = is_quiet_ || is("flicker") ? 14 : 600;
    const bool is_back = (is("uniform") || is_asleep_ || is_spawned_) && seen_.has_returned;
    int is_over = t > lasts_s || is_back ? 1 : 0, is_seen = seen_.has_new_parts ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_over, 1, MPI_INT, MPI_MAX, dyngrid_comm());
    MPI_Allreduce(MPI_IN_PLACE, &is_seen, 1, MPI_INT, MPI_MAX, dyngrid_comm());
    seen_.has_new_parts = is_seen != 0;
    return is_over != 0 || is_seen != 0;
  }

  void judge_by_first() {
    std::vector<dyngrid_load> loads(8);
    int count = 0;
    expect(dyngrid_loads(loads.data(), 8, &count) == DYNGRID_SUCCESS && count == 4 && loads[0].process == 0 &&
               loads[0].is_known == 1,
           fmt::format("{} loads are known", count));
    const std::string words = said_ ? said_->end() : "";
    if (is("unreadable")) expect_said(words, "gets of its processor is not known, since /proc cannot be read");
    if (is_stopped_) expect_said(words, is("stopped_first") ? "process 0 on " : "process 1 on ", " was stopped for");
    if (is("unreadable")) expect(loads[1].share == 1 && loads[1].competing == -1, "a load without /proc");
    if (is("uniform") || is_asleep_ || is_spawned_)
      expect(seen_.least == 3 && seen_.has_returned, fmt::format("{} at least", seen_.least));
    if (is_weighted_) expect(seen_.has_new_parts, fmt::format("process {} has as much as before", loaded()));
    if (is("flicker")) expect(seen_.changes <= 4, fmt::format("{} changes for 10 loads", seen_.changes));
    if (is_quiet_) expect(seen_.changes == 0, fmt::format("{} changes", seen_.changes));
  }

  std::string kind_, folder_;
  Kernel kernel_;
  bool is_stopped_, is_asleep_;
  bool is_spawned_; ///< the loaded one; its number is 3
  bool is_weighted_;
  bool is_quiet_ = false, has_stopped_ = false;
  int rank_ = 0, stopped_pid_ = 0;
  std::optional<Said> said_;
  dyngrid_matrix* a_ = nullptr;
  Seen seen_;
};

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  {
    Run run(argv[1], argv[2]);
    if (!run.begin()) return 1;
    run.steps();
    run.judge();
    expect(dyngrid_finalize() == DYNGRID_SUCCESS, dyngrid_last_message());
    MPI_Finalize();
  }
  return failures == 0 ? 0 : 1;
}
