// SPDX-License-Identifier: BSD-3-Clause
// Redistribution against stock PDGEMR2D and memcpy: interleaved runs in one mpirun, in another order in each
// repetition, medians of the slowest rank's seconds.
//
//   mpirun --oversubscribe -np 16 bench_redist --n 4000 --csv out.csv
//   mpirun --oversubscribe -np 4  bench_redist --n 4000 --grow        # the other ranks come from
//   MPI_Comm_spawn
//   mpirun --oversubscribe -np 4  bench_redist --dropin               # p?gemr2d alone, as a table
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "base/clock.hpp"
#include "base/command_line.hpp"
#include "base/grid_shape.hpp"
#include "base/mpi/blacs.hpp"
#include "base/statistics.hpp"
#include "base/status.hpp"
#include "common/mpi_main.hpp"
#include "common/report.hpp"
#include "common/timing.hpp"
#include "order.hpp"
#include "redist/executor.hpp"
#include "redist/measure.hpp"
#include "redist/plan.hpp"
#include "redist/shared_array.hpp"

#ifdef DYNGRID_HAVE_COSTA
#include <costa/grid2grid/transform.hpp>
#include <costa/layout.hpp>
#endif

extern "C" {
using GeFunction = void(int, int, void*, int, int, int*, void*, int, int, int*, int);
void dyngrid_Cpdgemr2d(int, int, void*, int, int, int*, void*, int, int, int*, int);
}

namespace {

using base::median;
using base::monotonic_ns;
using bench::quiet_barrier;
int union_rank = -1, union_size = 0; ///< after a growth
} // namespace

/// Stock BLACS calls this at its first grid and sizes its tables by the answer; without it, it knows the first
/// processes only.
extern "C" void Cblacs_pinfo(int* mypnum, int* nprocs) {
  static auto* const hidden = reinterpret_cast<void (*)(int*, int*)>(dlsym(RTLD_NEXT, "Cblacs_pinfo"));
  hidden(mypnum, nprocs);
  if (union_rank >= 0) {
    *mypnum = union_rank;
    *nprocs = union_size;
  }
}

namespace {

using Shape = base::GridShape;
struct Case {
  Shape from, to;
  std::int64_t n, nb_from, nb_to; ///< 0: block
  int ranks() const { return std::max(from.size(), to.size()); }
};

struct Settings {
  std::vector<std::int64_t> sizes{4000, 8000};
  std::vector<std::string> grids{"1x2-2x2", "2x2-3x3", "2x2-2x4", "3x3-4x4", "4x4-3x3", "2x2-4x4", "4x4-4x4"};
  std::vector<std::string> methods{"stock", "dyngrid", "dropin", "memcpy"};
  std::vector<std::string> blocks;
  int reps = 5;
  int rounds = 1;
  bool check = false;
  bool grow = false;
  bool dropin = false; ///< the table of p?gemr2d
  bool child = false;
  std::string csv;
};

enum class Pages { small, as_they_come };

/// Memory directly from the system, so that a fresh array really is fresh.
struct Array {
  double* data = nullptr;
  std::size_t bytes = 0;
  Array() = default;
  Array(std::size_t count, Pages pages) : bytes(std::max<std::size_t>(count, 1) * sizeof(double)) {
    const std::size_t page = std::size_t{2} << 20;
    void* space = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (space == MAP_FAILED) throw std::bad_alloc();
    base_ = space;
    data = reinterpret_cast<double*>((reinterpret_cast<std::uintptr_t>(space) + page - 1) / page * page);
    if (pages == Pages::small) madvise(base_, bytes + page, MADV_NOHUGEPAGE);
  }
  Array(Array&& other) noexcept { *this = std::move(other); }
  Array& operator=(Array&& other) noexcept {
    std::swap(data, other.data);
    std::swap(bytes, other.bytes);
    std::swap(base_, other.base_);
    return *this;
  }
  ~Array() {
    if (base_ != nullptr) munmap(base_, bytes + (std::size_t{2} << 20));
  }

private:
  void* base_ = nullptr;
};

int context_of(MPI_Comm comm, Shape shape) {
  const int handle = Csys2blacs_handle(comm);
  std::vector<int> map(static_cast<std::size_t>(shape.nprow * shape.npcol)); // column-major
  for (int p = 0; p < shape.nprow; ++p)
    for (int q = 0; q < shape.npcol; ++q) map[static_cast<std::size_t>(p + q * shape.nprow)] = p * shape.npcol + q;
  int ctxt = handle;
  Cblacs_gridmap(&ctxt, map.data(), shape.nprow, shape.nprow, shape.npcol);
  Cfree_blacs_system_handle(handle);
  return ctxt;
}

redist::Layout layout(std::int64_t n, std::int64_t nb, Shape shape) {
  return {gridmap::Axis::equal(n, nb, shape.nprow), gridmap::Axis::equal(n, nb, shape.npcol),
          redist::Grid::row_major(shape.nprow, shape.npcol)};
}

/// The results of one case over all rounds.
struct Result {
  std::map<std::string, std::vector<double>> times; ///< per method
  std::size_t peak = 0;
  double plan_s = 0;
  double predicted_s = 0;
  double measure_s = 0; ///< time to measure the machine's figures so far, with this number of ranks
  bool right = true;
  bool has(const std::string& method) const { return times.count(method) != 0; }
  double seconds(const std::string& method) const { return median(times.at(method)); }
};

class CaseRun;

/// A way to move the matrix, or a reference for comparison.
struct Method {
  const char* name;
  void (CaseRun::*run)();
  bool moves_it = true;          ///< so that the target can be compared afterwards
  bool has_fresh_target = false; ///< allocated anew each time
  bool is_transposed = false;
  double alpha = 1, beta = 0; ///< b = alpha op(a) + beta b
};
const std::vector<Method>& methods();

const Method& method_of(const std::string& name) {
  return *std::find_if(methods().begin(), methods().end(), [&](const Method& m) { return name == m.name; });
}

/// One case with its arrays, contexts, plan and executors. All calls are collective over its communicator.
class CaseRun {
public:
  CaseRun(MPI_Comm comm, const Case& c, const Settings& settings, Result& result);
  void measure();
  void close();

  // the methods
  void stock() { stock_(n_, n_, a_.data, 1, 1, desc_a_, b_.data, 1, 1, desc_b_, global_); }
  void stock_context() { in_fresh_contexts(stock_); }
  void dropin_context() { in_fresh_contexts(dyngrid_Cpdgemr2d); }
  void dropin() { dyngrid_Cpdgemr2d(n_, n_, a_.data, 1, 1, desc_a_, b_.data, 1, 1, desc_b_, global_); }
  void dyngrid() { move(*usual_, method_->is_transposed ? mine_transposed_ : mine_, a_.data, b_.data); }
  void planned() { move(*usual_, redist::Plan(from_, to_, plan_options()).for_rank(rank_), a_.data, b_.data); }
  void over_mpi() { move(*over_mpi_, mine_, a_.data, b_.data); }
  void direct() {
    move(*usual_, mine_, static_cast<double*>(shared_a_.data()), static_cast<double*>(shared_b_.data()));
  }
  void copy() { std::memcpy(b_.data, other_.data, static_cast<std::size_t>(m_to_ * n_to_) * sizeof(double)); }
#ifdef DYNGRID_HAVE_COSTA
  void costa();
#endif

private:
  static redist::PlanOptions plan_options() {
    redist::PlanOptions options;
    options.schedule = redist::Schedule::async;
    return options;
  }
  /// As libraries do it: a context for the copy and one for each grid, made and closed each time.
  void in_fresh_contexts(GeFunction* gemr2d);
  void move(redist::Executor& by, const redist::RankPlan& plan, const double* from, double* to);
  double seconds_of(const Method& method);
  void forget_targets();
  bool is_right() const;

  MPI_Comm comm_;
  const Case case_;
  const Settings& settings_;
  Result& result_;
  int rank_ = 0, n_ = 0;
  redist::Layout from_, to_;
  std::int64_t m_from_ = 0, n_from_ = 0, m_to_ = 0, n_to_ = 0; ///< mine
  Array a_, b_, other_;
  redist::SharedArray shared_a_, shared_b_;
  int ctxt_a_ = -1, ctxt_b_ = -1, global_ = -1;
  int desc_a_[9] = {}, desc_b_[9] = {};
  GeFunction* stock_ = nullptr;
  redist::RankPlan mine_, mine_transposed_;
  std::optional<redist::Executor> usual_, over_mpi_;
  const Method* method_ = nullptr;  ///< under way
  const double* written_ = nullptr; ///< by the last method
};

const std::vector<Method>& methods() {
  static const std::vector<Method> all = {
      {"stock", &CaseRun::stock},
      {"stock_cold", &CaseRun::stock, true, true},
      {"dyngrid", &CaseRun::dyngrid},
      {"dyngrid_cold", &CaseRun::dyngrid, true, true},
      {"memcpy", &CaseRun::copy, false},
      {"memcpy_cold", &CaseRun::copy, false, true},
      {"planned", &CaseRun::planned},
      {"dropin", &CaseRun::dropin},
      {"stock_context", &CaseRun::stock_context},
      {"dropin_context", &CaseRun::dropin_context},
      {"mpi", &CaseRun::over_mpi},
      {"direct", &CaseRun::direct},
      {"transposed", &CaseRun::dyngrid, true, false, true},
      {"added", &CaseRun::dyngrid, true, false, false, 2, -1},
      {"added_transposed", &CaseRun::dyngrid, true, false, true, 2, -1},
#ifdef DYNGRID_HAVE_COSTA
      {"costa", &CaseRun::costa},
      {"costa_transposed", &CaseRun::costa, true, false, true},
      {"costa_added", &CaseRun::costa, true, false, false, 2, -1},
      {"costa_added_transposed", &CaseRun::costa, true, false, true, 2, -1},
#endif
  };
  return all;
}

void describe(int (&desc)[9], int ctxt, const redist::Layout& layout, std::int64_t m_loc) {
  const int values[9] = {1,
                         ctxt,
                         static_cast<int>(layout.rows.n),
                         static_cast<int>(layout.cols.n),
                         static_cast<int>(layout.rows.sizes[0]),
                         static_cast<int>(layout.cols.sizes[0]),
                         0,
                         0,
                         static_cast<int>(std::max<std::int64_t>(1, m_loc))};
  std::copy(std::begin(values), std::end(values), desc);
}

CaseRun::CaseRun(MPI_Comm comm, const Case& c, const Settings& settings, Result& result)
    : comm_(comm), case_(c), settings_(settings), result_(result), n_(static_cast<int>(c.n)),
      from_(layout(c.n, c.nb_from, c.from)), to_(layout(c.n, c.nb_to, c.to)) {
  int size = 0;
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size);
  const auto [p, q] = from_.grid.position_of(rank_);
  const auto [pt, qt] = to_.grid.position_of(rank_);
  if (p >= 0) m_from_ = from_.rows.local_size(p), n_from_ = from_.cols.local_size(q);
  if (pt >= 0) m_to_ = to_.rows.local_size(pt), n_to_ = to_.cols.local_size(qt);
  a_ = Array(static_cast<std::size_t>(m_from_ * n_from_), Pages::small);
  b_ = Array(static_cast<std::size_t>(m_to_ * n_to_), Pages::small);
  other_ = Array(static_cast<std::size_t>(m_to_ * n_to_), Pages::small);
  for (std::int64_t j = 0; j < n_from_; ++j) {
    const std::int64_t jg = from_.cols.to_global(j, q);
    for (std::int64_t i = 0; i < m_from_; ++i)
      a_.data[i + j * m_from_] = static_cast<double>(from_.rows.to_global(i, p) * c.n + jg);
  }
  std::memset(b_.data, 1, b_.bytes);
  std::memset(other_.data, 1, other_.bytes);

  ctxt_a_ = context_of(comm, c.from);
  ctxt_b_ = context_of(comm, c.to);
  global_ = context_of(comm, {1, size});
  describe(desc_a_, p < 0 ? -1 : ctxt_a_, from_, m_from_);
  describe(desc_b_, pt < 0 ? -1 : ctxt_b_, to_, m_to_);
  stock_ = reinterpret_cast<GeFunction*>(dlsym(RTLD_NEXT, "Cpdgemr2d")); // ours hides it

  double t0 = MPI_Wtime();
  const redist::Plan plan(from_, to_, plan_options());
  mine_ = plan.for_rank(rank_);
  result_.plan_s = MPI_Wtime() - t0;
  redist::PlanOptions transposed = plan_options();
  transposed.op = redist::Op::transpose;
  mine_transposed_ = redist::Plan(from_, to_, transposed).for_rank(rank_);
  usual_.emplace(comm);
  t0 = MPI_Wtime();
  static std::map<int, std::pair<advise::Machine, double>> measured; // by number of ranks, with the seconds it took
  if (measured.count(size) == 0) {
    const advise::Machine machine = redist::measure_machine(comm, *usual_);
    measured[size] = {machine, MPI_Wtime() - t0};
  }
  result_.predicted_s = plan.predicted_seconds(measured[size].first, sizeof(double));
  result_.measure_s = measured[size].second;

  const auto is_asked_for = [&](const char* name) {
    return std::find(settings.methods.begin(), settings.methods.end(), name) != settings.methods.end();
  };
  if (is_asked_for("mpi")) {
    redist::ExecuteOptions options;
    options.transport = redist::Transport::mpi;
    over_mpi_.emplace(comm, options);
  }
  if (is_asked_for("direct")) {
    shared_a_ = redist::SharedArray(a_.bytes, redist::Sharing::yes);
    shared_b_ = redist::SharedArray(b_.bytes, redist::Sharing::yes);
    std::memcpy(shared_a_.data(), a_.data, a_.bytes);
    std::memset(shared_b_.data(), 1, b_.bytes);
  }
}

void CaseRun::move(redist::Executor& by, const redist::RankPlan& plan, const double* from, double* to) {
  const redist::ExecuteReport report =
      by.execute({&plan}, {{from, std::max<std::int64_t>(1, m_from_), to, std::max<std::int64_t>(1, m_to_),
                            &method_->alpha, &method_->beta}});
  result_.peak = std::max(result_.peak, report.peak_bytes);
  written_ = to;
}

void CaseRun::in_fresh_contexts(GeFunction* gemr2d) {
  int contexts[3] = {context_of(comm_, case_.from), context_of(comm_, case_.to), -1};
  contexts[2] = context_of(comm_, {1, case_.ranks()});
  int a[9], b[9];
  std::copy_n(desc_a_, 9, a);
  std::copy_n(desc_b_, 9, b);
  if (a[1] >= 0) a[1] = contexts[0];
  if (b[1] >= 0) b[1] = contexts[1];
  gemr2d(n_, n_, a_.data, 1, 1, a, b_.data, 1, 1, b, contexts[2]);
  for (int ctxt : contexts)
    if (ctxt >= 0) Cblacs_gridexit(ctxt);
}

#ifdef DYNGRID_HAVE_COSTA
void CaseRun::costa() {
  auto source = costa::block_cyclic_layout<double>(n_, n_, desc_a_[4], desc_a_[5], 1, 1, n_, n_, case_.from.nprow,
                                                   case_.from.npcol, 'R', 0, 0, a_.data, desc_a_[8], 'C', rank_);
  auto target = costa::block_cyclic_layout<double>(n_, n_, desc_b_[4], desc_b_[5], 1, 1, n_, n_, case_.to.nprow,
                                                   case_.to.npcol, 'R', 0, 0, b_.data, desc_b_[8], 'C', rank_);
  costa::transform<double>(source, target, method_->is_transposed ? 'T' : 'N', method_->alpha, method_->beta, comm_);
}
#endif

/// From the first rank's start to the last one's end. Ranks that share cores leave a barrier one after the other, on
/// the host's one clock. The executor's own agreement is the barrier, since its waiting ranks sleep instead of using
/// the others' cores.
double CaseRun::seconds_of(const Method& method) {
  method_ = &method;
  written_ = nullptr;
  usual_->minimum({});
  const std::int64_t begin = monotonic_ns();
  if (method.has_fresh_target) {
    b_ = Array();
    b_ = Array(static_cast<std::size_t>(m_to_ * n_to_), Pages::as_they_come);
  }
  (this->*method.run)();
  const std::int64_t end = monotonic_ns();
  if (method.run == &CaseRun::stock || method.run == &CaseRun::stock_context)
    MPI_Barrier(comm_); // it returns with sends in flight, which need a process inside MPI
  const std::array<std::int64_t, 4> least = usual_->minimum({begin, -end});
  return static_cast<double>(-least[1] - least[0]) * 1e-9;
}

void CaseRun::forget_targets() {
  std::memset(b_.data, 0, static_cast<std::size_t>(m_to_ * n_to_) * sizeof(double));
  if (shared_b_.data() != nullptr)
    std::memset(shared_b_.data(), 0, static_cast<std::size_t>(m_to_ * n_to_) * sizeof(double));
}

bool CaseRun::is_right() const {
  const auto [p, q] = to_.grid.position_of(rank_);
  const double* target = written_ != nullptr ? written_ : b_.data;
  for (std::int64_t j = 0; j < n_to_; ++j)
    for (std::int64_t i = 0; i < m_to_; ++i) {
      std::int64_t row = to_.rows.to_global(i, p), col = to_.cols.to_global(j, q);
      if (method_->is_transposed) std::swap(row, col);
      if (target[i + j * m_to_] != method_->alpha * static_cast<double>(row * case_.n + col)) return false;
    }
  return true;
}

void CaseRun::measure() {
  bench::Turns turns(settings_.methods.size());
  for (int rep = -1; rep < settings_.reps; ++rep) // the first one warms up
    for (const std::size_t turn : turns.next()) {
      const std::string& name = settings_.methods[turn];
      const Method& method = method_of(name);
      const bool is_checked = settings_.check && method.moves_it;
      if (is_checked) forget_targets();
      const double t = seconds_of(method);
      if (rep >= 0) result_.times[name].push_back(t);
      if (is_checked && rep == 0 && !is_right()) result_.right = false;
    }
}

void CaseRun::close() {
  int right = result_.right ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, comm_);
  result_.right = right != 0;
  auto peak = static_cast<unsigned long long>(result_.peak);
  MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm_);
  result_.peak = peak;
  MPI_Allreduce(MPI_IN_PLACE, &result_.plan_s, 1, MPI_DOUBLE, MPI_MAX, comm_);
  for (int ctxt : {global_, ctxt_a_, ctxt_b_})
    if (ctxt >= 0) Cblacs_gridexit(ctxt);
  if (over_mpi_) over_mpi_->close();
  usual_->close();
}

/// @param grids  as 2x2-3x3
/// @param blocks as 64, block or 64-128
Case parse(const std::string& grids, const std::string& blocks, std::int64_t n) {
  Case c{};
  c.n = n;
  std::tie(c.from, c.to) = base::parse_grid_change(grids, "bench_redist: --grids");
  const auto one = [](const std::string& text) -> std::int64_t { return text == "block" ? 0 : std::stoll(text); };
  const auto dash = blocks.find('-');
  c.nb_from = one(blocks.substr(0, dash));
  c.nb_to = dash == std::string::npos ? c.nb_from : one(blocks.substr(dash + 1));
  return c;
}

std::string block_name(std::int64_t nb) {
  return nb == 0 ? "block" : std::to_string(nb);
}

/// Geometric mean and worst of the ratio of two methods over all cases.
struct Ratio {
  double log_sum = 0, lowest = 1e300, highest = 0;
  int count = 0;
  void add(double r) {
    log_sum += std::log(r);
    lowest = std::min(lowest, r);
    highest = std::max(highest, r);
    ++count;
  }
  double mean() const { return count == 0 ? 0 : std::exp(log_sum / count); }
};

/// Over all cases.
struct Summary {
  std::map<std::string, Ratio> ratios;
  bool is_right = true;
  std::size_t peak = 0;
  double measure_s = 0;
  int within_15 = 0, within_30 = 0, predictions = 0;

  void add(const Result& r);
  void print() const;
};

void Summary::add(const Result& r) {
  is_right = is_right && r.right;
  peak = std::max(peak, r.peak);
  measure_s = std::max(measure_s, r.measure_s);
  const auto ratio = [&](const char* over, const char* under) {
    if (r.has(over) && r.has(under)) ratios[std::string(over) + " / " + under].add(r.seconds(over) / r.seconds(under));
  };
  ratio("stock_context", "dropin_context");
  for (const char* ours : {"dyngrid", "dropin", "mpi", "direct"}) {
    ratio("stock", ours);
    ratio(ours, "memcpy");
  }
  if (r.has("dyngrid_cold")) { // the figures of the machine are of fresh memory, as in a change of the grid
    const double measured_s = r.seconds("dyngrid_cold");
    const double off = std::max(r.predicted_s, measured_s) / std::min(r.predicted_s, measured_s);
    ratios["prediction, off by the factor"].add(off);
    within_15 += off <= 1.15 ? 1 : 0;
    within_30 += off <= 1.30 ? 1 : 0;
    ++predictions;
  }
  ratio("costa", "dyngrid");
  ratio("costa", "direct");
  ratio("costa_transposed", "transposed");
  ratio("costa_added", "added");
  ratio("costa_added_transposed", "added_transposed");
  ratio("added", "dyngrid");
  ratio("transposed", "dyngrid");
  ratio("stock_cold", "dyngrid_cold");
  ratio("dyngrid_cold", "memcpy_cold");
}

void Summary::print() const {
  std::printf("\n%-40s %10s %10s %10s %6s\n", "ratio", "geo. mean", "lowest", "highest", "cases");
  for (const auto& [name, r] : ratios)
    std::printf("%-40s %10.2f %10.2f %10.2f %6d\n", name.c_str(), r.mean(), r.lowest, r.highest, r.count);
  if (predictions > 0)
    std::printf("predicted within 15 %%: %d, within 30 %%: %d, of %d cases; figures of the machine in at most %.2f s "
                "for each number of ranks\n",
                within_15, within_30, predictions, measure_s);
  std::printf("buffers per rank at most %.2f MB\n", static_cast<double>(peak) / 1e6);
}

void print(const Case& c, const Result& r, const Settings& settings) {
  const std::string grids = std::to_string(c.from.nprow) + 'x' + std::to_string(c.from.npcol) + '-' +
                            std::to_string(c.to.nprow) + 'x' + std::to_string(c.to.npcol);
  std::printf("%-9s %6lld %11s %8.3f %8.2f", grids.c_str(), static_cast<long long>(c.n),
              (block_name(c.nb_from) + "-" + block_name(c.nb_to)).c_str(), r.plan_s * 1e3, r.predicted_s * 1e3);
  for (const std::string& name : settings.methods) std::printf(" %17.3f", r.seconds(name) * 1e3);
  std::printf("%s\n", settings.check ? (r.right ? "  right" : "  WRONG") : "");
  std::fflush(stdout);
}

/// Stock against ours, in contexts that stay and in those that are made for each copy. A line of a markdown table.
void print_dropin(const Case& c, const Result& r) {
  const auto cell = [&](const char* stock, const char* ours) {
    const double stock_s = r.seconds(stock), ours_s = r.seconds(ours);
    return fmt::format("{:.3f} | {:.3f} | {:.2f}", stock_s * 1e3, ours_s * 1e3, stock_s / ours_s);
  };
  std::printf("| %dx%d -> %dx%d | %lld | %s | %s |\n", c.from.nprow, c.from.npcol, c.to.nprow, c.to.npcol,
              static_cast<long long>(c.n), cell("stock", "dropin").c_str(),
              cell("stock_context", "dropin_context").c_str());
  std::fflush(stdout);
}

void print_head(const Settings& settings) {
  if (settings.dropin) {
    std::printf(
        "| grids | n | stock ms | kept ms | times as fast | stock, fresh contexts | fresh ms | times as fast |\n"
        "|---|---|---|---|---|---|---|---|\n");
    return;
  }
  std::printf("%-9s %6s %11s %8s %8s", "grids", "n", "nb", "plan ms", "pred. ms");
  for (const std::string& name : settings.methods) std::printf(" %17s", (name + " ms").c_str());
  std::printf("\n");
}

/// A line for each single run of each method.
void write_samples(apps::Report& report, const Case& c, const Result& r, const Settings& settings) {
  apps::Sample sample;
  sample.part = "methods";
  sample.n = c.n;
  sample.nb = c.nb_from == c.nb_to ? block_name(c.nb_from) : block_name(c.nb_from) + "-" + block_name(c.nb_to);
  sample.from = fmt::format("{}x{}", c.from.nprow, c.from.npcol);
  sample.to = fmt::format("{}x{}", c.to.nprow, c.to.npcol);
  sample.ranks = c.ranks();
  sample.bytes = c.n * c.n * 8;
  sample.is_checked = settings.check && r.right;
  sample.phase = "exchange";
  for (const std::string& name : settings.methods) {
    sample.method = name;
    report.add(sample, r.times.at(name));
  }
  sample.method = "dyngrid";
  sample.phase = "plan";
  report.add(sample, {r.plan_s});
  sample.phase = "predicted";
  report.add(sample, {r.predicted_s});
}

/// Returns the exit status of a command line that is wrong or asks for help.
std::optional<int> read_command_line(Settings& settings, int argc, char** argv) {
  base::CommandLine app("Redistribution against stock PDGEMR2D and memcpy", "bench_redist");
  app.add_option("--n", settings.sizes, "matrix sizes").separated_by(',').check(base::positive_number());
  app.add_option("--grids", settings.grids, "e.g. 2x2-3x3,3x3-4x4").separated_by(',');
  app.add_option("--nb", settings.blocks, "e.g. 64,block,64-128; default: the bars' own").separated_by(',');
  std::vector<std::string> known;
  for (const Method& method : methods()) known.emplace_back(method.name);
  app.add_option(
         "--methods", settings.methods,
         "stock, dyngrid, planned (dyngrid with its planning), dropin, mpi (dyngrid over MPI alone), direct (dyngrid "
         "from and to shared memory), stock_context and dropin_context (in contexts made and closed for each copy), "
         "memcpy, transposed, added (b = 2 a - b) and added_transposed, where it was found "
         "costa and costa_ before each of the last three; each of stock, dyngrid, memcpy also with _cold (fresh "
         "pages as the kernel gives them; DYNGRID_EXCHANGE=hugepages=off keeps dyngrid from asking for huge ones). "
         "Predictions are compared with dyngrid_cold, where it is among them")
      .separated_by(',')
      .check(base::one_of(known));
  app.add_option("--reps", settings.reps, "runs per method and case").check(base::positive_number());
  app.add_option("--rounds", settings.rounds,
                 "go through all cases this many times and take the medians of all runs of a case: on a machine whose "
                 "speed changes in the meantime no case "
                 "meets only one of its speeds")
      .check(base::positive_number());
  app.add_option("--csv", settings.csv, "file for one line per single run").type_name("FILE");
  app.add_flag("--check", settings.check, "compare every element");
  app.add_flag("--dropin", settings.dropin,
               "p?gemr2d against stock as a table: n from 64 to 2000, contexts that are kept and fresh ones, on 4 "
               "processes");
  app.add_flag("--grow", settings.grow, "ranks beyond the first ones come from MPI_Comm_spawn");
  app.add_flag("--child", settings.child).hidden();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto status = base::read_command_line(app, argc, argv, rank == 0);
  if (settings.dropin) {
    const Settings usual;
    settings.methods = {"stock", "dropin", "stock_context", "dropin_context"};
    if (settings.sizes == usual.sizes) settings.sizes = {64, 128, 256, 512, 1000, 1500, 2000};
    if (settings.grids == usual.grids) settings.grids = {"2x2-2x2", "2x2-1x4", "1x2-2x2"};
    if (settings.blocks.empty()) settings.blocks = {"64-32"};
    if (settings.reps == usual.reps) settings.reps = 101;
  }
  return status;
}

/// The communicator of all ranks, including those that --grow starts.
struct Ranks {
  MPI_Comm all = MPI_COMM_NULL, to_others = MPI_COMM_NULL;

  Ranks(const Settings& settings, int argc, char** argv) {
    if (settings.child) {
      MPI_Comm_get_parent(&to_others);
      MPI_Intercomm_merge(to_others, 1, &all);
    } else if (settings.grow) {
      int needed = 1, have = 0;
      for (const std::string& grids : settings.grids) needed = std::max(needed, parse(grids, "1", 1).ranks());
      MPI_Comm_size(MPI_COMM_WORLD, &have);
      std::vector<char*> arguments(argv + 1, argv + argc);
      char child[] = "--child";
      arguments.push_back(child);
      arguments.push_back(nullptr);
      MPI_Comm_spawn(argv[0], arguments.data(), needed - have, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &to_others,
                     MPI_ERRCODES_IGNORE);
      MPI_Intercomm_merge(to_others, 0, &all);
    } else {
      MPI_Comm_dup(MPI_COMM_WORLD, &all);
    }
  }
  void close() {
    MPI_Comm_free(&all);
    if (to_others != MPI_COMM_NULL) MPI_Comm_disconnect(&to_others);
  }
};

/// All cases of --grids, --n and --nb for which `size` ranks suffice.
std::vector<Case> cases_of(const Settings& settings, int size) {
  std::vector<Case> cases;
  for (const std::string& grids : settings.grids) {
    std::vector<std::string> blocks = settings.blocks;
    const Case shapes = parse(grids, "1", 1);
    if (shapes.ranks() > size) continue;
    const bool same = shapes.from.nprow == shapes.to.nprow && shapes.from.npcol == shapes.to.npcol;
    if (blocks.empty())
      blocks = same ? std::vector<std::string>{"32-64", "64-128", "256-128", "64-block"}
                    : std::vector<std::string>{"32", "64", "256", "block", "64-128"};
    for (std::int64_t n : settings.sizes)
      for (const std::string& nb : blocks) cases.push_back(parse(grids, nb, n));
  }
  return cases;
}

/// One case on the ranks that it needs. Collective over all.
void measure(MPI_Comm all, int rank, const Case& c, const Settings& settings, Result& result) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(all, rank < c.ranks() ? 0 : MPI_UNDEFINED, rank, &part);
  if (part != MPI_COMM_NULL) {
    CaseRun one(part, c, settings, result);
    one.measure();
    one.close();
    MPI_Comm_free(&part);
  }
  quiet_barrier(all);
}

int run(int argc, char** argv) {
  Settings settings;
  if (const auto status = read_command_line(settings, argc, argv)) return *status;
  Ranks ranks(settings, argc, argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(ranks.all, &rank);
  MPI_Comm_size(ranks.all, &size);
  union_rank = rank;
  union_size = size;
  int mypnum = 0, nprocs = 0;
  Cblacs_pinfo(&mypnum, &nprocs);

  apps::Report report("bench_redist", rank == 0 ? settings.csv : "");
  if (rank == 0) print_head(settings);
  const std::vector<Case> cases = cases_of(settings, size);
  std::vector<Result> results(cases.size());
  Summary summary;
  for (int round = 1; round <= settings.rounds; ++round)
    for (std::size_t k = 0; k < cases.size(); ++k) {
      measure(ranks.all, rank, cases[k], settings, results[k]);
      if (rank != 0 || round != settings.rounds) continue;
      if (settings.dropin)
        print_dropin(cases[k], results[k]);
      else
        print(cases[k], results[k], settings);
      if (results[k].has(settings.methods[0])) write_samples(report, cases[k], results[k], settings);
      summary.add(results[k]);
    }
  if (rank == 0) summary.print();
  int exit_status = summary.is_right ? 0 : 1;
  if (!report.finish()) exit_status = 1;
  MPI_Bcast(&exit_status, 1, MPI_INT, 0, ranks.all);
  ranks.close();
  return exit_status;
}

} // namespace

int main(int argc, char** argv) {
  return apps::mpi_main("bench_redist", argc, argv, run);
}
