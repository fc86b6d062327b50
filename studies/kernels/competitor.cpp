// SPDX-License-Identifier: BSD-3-Clause
#include "emulated.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <mpi.h>

#include "base/index.hpp"
#include "common/local.hpp"
#include "common/need.hpp"
#include "common/own_kernel.hpp"
#include "dyngrid.h"
#include "gridmap/mapping.hpp"
#include "processor.hpp"

namespace bench {
namespace {

constexpr int loaded_process = 1;
constexpr double loaded_share = 0.5;      // of the processor that it has with one competitor
constexpr double comes_after = 1.0 / 3.0; // of the time without a competitor

/// What happens to this process while a factorization runs; looked at after each product.
class Course {
public:
  /// comes_s: after so long; infinity: never. asks: for a change to the grid there is, when it comes
  Course(const Processor& processor, own::Kernel& kernel, double gflops, double comes_s, bool asks)
      : processor_(processor), kernel_(kernel), gflops_(gflops), comes_s_(own::now_s() + comes_s), asks_(asks) {
    current = this;
  }
  ~Course() { current = nullptr; }
  Course(const Course&) = delete;
  Course& operator=(const Course&) = delete;

  void look() {
    constexpr double again_s = 0.02; // the kernel is a file
    const double now = own::now_s();
    if (now - looked_s_ < again_s) return;
    looked_s_ = now;
    if (!has_come_ && now > comes_s_) come();
    kernel_.ran(has_come_ && is_loaded() ? loaded_share : 1);
  }
  static Course* current;

private:
  static bool is_loaded() { return dyngrid_process_id() == loaded_process; }
  void come() {
    has_come_ = true;
    if (is_loaded()) processor_.begin_to_set(loaded_share * gflops_);
    int nprow = 0, npcol = 0;
    if (asks_ && dyngrid_is_first() != 0 && dyngrid_grid(&nprow, &npcol, nullptr, nullptr) == 0)
      need(dyngrid_request(nprow, npcol) == 0, "dyngrid_request");
  }
  const Processor& processor_;
  own::Kernel& kernel_;
  double gflops_, comes_s_, looked_s_ = 0;
  bool asks_, has_come_ = false;
};
Course* Course::current = nullptr;

} // namespace
} // namespace bench

/// Stands before that of libdyngrid-slow.so.
extern "C" void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
                       const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
                       const double* beta, double* c, const int* ldc) {
  using Routine = decltype(&dgemm_);
  static const auto behind = reinterpret_cast<Routine>(dlsym(RTLD_NEXT, "dgemm_"));
  behind(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (bench::Course::current != nullptr) bench::Course::current->look();
}

namespace bench {
namespace {

/// A program that knew of it lays the matrix out anew when the competitor comes.
enum class Method { alone, known, adapted, never };
constexpr std::array<Method, 4> methods{Method::alone, Method::known, Method::adapted, Method::never};
const char* name_of(Method method) {
  constexpr std::array<const char*, 4> names{"no competitor", "had known", "adapted", "never adapting"};
  return names[base::at(static_cast<int>(method))];
}

/// One matrix, factored again and again.
class Factored {
public:
  Factored(const Processor& processor, own::Kernel& kernel, const EmulatedSettings& settings, std::string routine,
           int n)
      : processor_(processor), kernel_(kernel), settings_(settings), routine_(std::move(routine)), n_(n),
        pivots_(base::at(n)) {
    const int nb = settings.nb;
    need(dyngrid_matrix_create_weighted("A", 'd', n, n, nb, nb, DYNGRID_ORDER_FACTOR, &a_) == 0, "A");
    if (!settings.check) return; // these would move with it
    need(dyngrid_matrix_create("expected", 'd', n, n, nb, nb, &expected_) == 0, "expected");
    need(dyngrid_matrix_create("result", 'd', n, n, nb, nb, &result_) == 0, "result");
  }
  ~Factored() {
    for (dyngrid_matrix* matrix : {a_, expected_, result_})
      if (matrix != nullptr) dyngrid_matrix_free(&matrix);
  }
  Factored(const Factored&) = delete;
  Factored& operator=(const Factored&) = delete;

  /// comes_s: the competitor; Method::alone: it does not
  double seconds(Method method, double comes_s) {
    prepare(method);
    const double never = std::numeric_limits<double>::infinity();
    Course course(processor_, kernel_, settings_.gflops, method == Method::alone ? never : comes_s,
                  method == Method::known);
    MPI_Barrier(dyngrid_comm());
    const double begin = MPI_Wtime();
    int info = -1;
    const int outcome =
        routine_ == "getrf" ? dyngrid_lu(a_, 0, pivots_.data(), &info) : dyngrid_cholesky(a_, 'L', 0, &info);
    double seconds = MPI_Wtime() - begin;
    need((outcome == DYNGRID_SAME || outcome == DYNGRID_RESIZED) && info == 0, routine_.c_str());
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, dyngrid_comm());
    if (settings_.check) compare(method);
    return seconds;
  }

private:
  /// Equal speeds and shares, no load that is remembered, the first values.
  void prepare(Method method) {
    constexpr double forgotten_s = 3, tick_s = 0.05;
    need(dyngrid_set_balance(DYNGRID_BALANCE_OFF) == 0, "dyngrid_set_balance");
    need(dyngrid_set_speed(1) == 0 && dyngrid_relayout() >= 0, "equal shares");
    if (method == Method::known)
      need(dyngrid_set_speed(dyngrid_process_id() == loaded_process ? loaded_share : 1) == 0, "dyngrid_set_speed");
    apps::fill<double>(a_, [&](std::int64_t i, std::int64_t j) {
      const std::int64_t low = std::min(i, j), high = std::max(i, j);
      return i == j ? n_ : static_cast<double>(apps::mixed(low, high, 3, 2001) - 1000) * 1e-3;
    });
    processor_.set(settings_.gflops);
    if (method != Method::adapted) return;
    need(dyngrid_set_balance(DYNGRID_BALANCE_AUTO) == 0, "dyngrid_set_balance");
    for (const double until = own::now_s() + forgotten_s; own::now_s() < until; kernel_.ran(1))
      std::this_thread::sleep_for(std::chrono::duration<double>(tick_s));
  }
  void compare(Method method) {
    dyngrid_matrix* to = has_expected_ ? result_ : expected_;
    need(dyngrid_copy(a_, to) == 0, "dyngrid_copy");
    if (!std::exchange(has_expected_, true)) return;
    std::int64_t n_loc = 0, lld = 1;
    dyngrid_matrix_shape(expected_, nullptr, &n_loc, &lld);
    const auto* x = static_cast<const double*>(dyngrid_local(expected_));
    const auto* y = static_cast<const double*>(dyngrid_local(result_));
    double off = 0;
    for (std::int64_t k = 0; k < lld * n_loc; ++k) off = std::max(off, std::abs(x[k] - y[k]));
    MPI_Allreduce(MPI_IN_PLACE, &off, 1, MPI_DOUBLE, MPI_MAX, dyngrid_comm());
    if (off > 1e-9 * n_) {
      std::fprintf(stderr, "bench_kernels: %s, %s, is %g off\n", routine_.c_str(), name_of(method), off);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  const Processor& processor_;
  own::Kernel& kernel_;
  const EmulatedSettings& settings_;
  std::string routine_;
  int n_;
  dyngrid_matrix *a_ = nullptr, *expected_ = nullptr, *result_ = nullptr;
  std::vector<int> pivots_;
  bool has_expected_ = false;
};

/// What the processors can do on this grid before and after, of which shares that are products use all they can.
double speed_kept(int nprow, int npcol) {
  std::vector<double> speeds(base::at(nprow * npcol), 1);
  speeds.back() = loaded_share;
  return 1 / (gridmap::map_processors({speeds, nprow, npcol, 1000, 1000, gridmap::MapMethod::best}).t_continuous *
              nprow * npcol / 1e6);
}

struct Measured {
  std::map<Method, double> median;
  double bound = 0;
};

/// The methods in turn. The run before them says how long it takes.
Measured measure(Factored& factored, const EmulatedSettings& settings, double kept, apps::Sample sample,
                 apps::Report& report) {
  const double comes_s = comes_after * factored.seconds(Method::alone, 0);
  std::map<Method, std::vector<double>> runs;
  for (int rep = 0; rep < settings.reps; ++rep)
    for (const Method method : methods) runs[method].push_back(factored.seconds(method, comes_s));
  Measured measured;
  for (const Method method : methods) {
    sample.method = name_of(method);
    report.add(sample, runs[method]);
    measured.median[method] = apps::median(runs[method]);
  }
  measured.bound = comes_s + (measured.median[Method::alone] - comes_s) / kept;
  sample.method = "bound";
  report.add(sample, {measured.bound});
  return measured;
}

constexpr const char* competitor_note =
    "One processor of {} GFLOP/s has to be shared with one other program from a third of the time on that the "
    "factorization takes without. Had known: equal shares until then, shares by speed from the next panel on. Bound: "
    "from then on all speed that shares which are products can use.";

} // namespace

bool run_competitor(const EmulatedSettings& settings, apps::Report& report) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!Processor::is_there("--competitor", rank)) return false;
  const Processor processor;
  setenv("DYNGRID_LOAD_ROOT", processor.folder().c_str(), 1);
  own::Kernel kernel(processor.folder());
  need(dyngrid_init() == 0, "dyngrid_init");
  int nprow = 0, npcol = 0;
  dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
  const std::string grid = fmt::format("{}x{}", nprow, npcol);
  need(dyngrid_allow(grid.c_str()) == 0, "dyngrid_allow"); // all methods with all processes
  const double kept = speed_kept(nprow, npcol);
  apps::Table table{
      "A competitor that comes in the middle of a factorization: medians",
      {"routine", "grid", "n", "nb", "alone s", "bound s", "had known s", "adapted s", "never s", "adapted over known"},
      {}};
  for (const int n : settings.orders)
    for (const std::string& routine : settings.routines) {
      if (routine == "gemm") continue;
      Factored factored(processor, kernel, settings, routine, n);
      apps::Sample sample;
      sample.part = "competitor";
      sample.application = routine;
      sample.n = n;
      sample.nb = std::to_string(settings.nb);
      sample.from = sample.to = grid;
      sample.phase = "call";
      sample.ranks = nprow * npcol;
      const Measured m = measure(factored, settings, kept, sample, report);
      const auto cell = [&](Method method) { return apps::Cell(m.median.at(method), 3); };
      table.rows.push_back({routine, grid, n, settings.nb, cell(Method::alone), apps::Cell(m.bound, 3),
                            cell(Method::known), cell(Method::adapted), cell(Method::never),
                            apps::Cell(m.median.at(Method::adapted) / m.median.at(Method::known), 3)});
    }
  table.note = fmt::format(competitor_note, settings.gflops);
  if (rank == 0) report.add(table);
  need(dyngrid_finalize() == 0, "dyngrid_finalize");
  return true;
}

} // namespace bench
