// SPDX-License-Identifier: BSD-3-Clause
// Redistribution against stock PDGEMR2D and memcpy: interleaved runs in one mpirun, medians of the slowest
// rank's seconds.
//
//   mpirun --oversubscribe -np 16 bench_redist --n 4000 --csv out.csv
//   mpirun --oversubscribe -np 4  bench_redist --n 4000 --grow        # the other ranks come from
//   MPI_Comm_spawn
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <mpi.h>

#include "common/command_line.hpp"
#include "gemr2d/gemr2d.hpp"
#include "gridmap/status.hpp"
#include "redist/executor.hpp"
#include "redist/measure.hpp"
#include "redist/plan.hpp"
#include "redist/shared_array.hpp"
#include "timing.hpp"

#ifdef DYNGRID_HAVE_COSTA
#include <costa/grid2grid/transform.hpp>
#include <costa/layout.hpp>
#endif

extern "C" {
int Csys2blacs_handle(MPI_Comm);
void Cfree_blacs_system_handle(int);
void Cblacs_gridmap(int*, int*, int, int, int);
void Cblacs_gridexit(int);
void Cblacs_gridinfo(int, int*, int*, int*, int*);
using GeFunction = void(int, int, void*, int, int, int*, void*, int, int, int*, int);
void dyngrid_Cpdgemr2d(int, int, void*, int, int, int*, void*, int, int, int*, int);
}

namespace {

using bench::median;
using bench::now_ns;
using bench::quiet_barrier;
int union_rank = -1, union_size = 0; ///< after a growth
}

/// Stock BLACS asks this at its first grid and sizes its tables by the answer; by itself it knows the first
/// processes only.
extern "C" void Cblacs_pinfo(int* mypnum, int* nprocs) {
  static auto* const hidden =
      reinterpret_cast<void (*)(int*, int*)>(redist::detail::stock_symbol("Cblacs_pinfo"));
  hidden(mypnum, nprocs);
  if (union_rank >= 0) {
    *mypnum = union_rank;
    *nprocs = union_size;
  }
}

namespace {

struct Shape {
  int nprow, npcol;
};
struct Case {
  Shape from, to;
  std::int64_t n, nb_from, nb_to; ///< 0: block
};

struct Settings {
  std::vector<std::int64_t> sizes{4000, 8000};
  std::vector<std::string> grids{"1x2-2x2", "2x2-3x3", "2x2-2x4", "3x3-4x4", "4x4-3x3", "2x2-4x4", "4x4-4x4"};
  std::vector<std::string> methods{"stock", "dyngrid", "dropin", "memcpy"};
  std::vector<std::string> blocks;
  int reps = 5;
  bool check = false;
  bool grow = false;
  bool fresh = false;
  bool child = false;
  std::string csv;
};

/// Memory straight from the system, so that a fresh array really is fresh.
struct Array {
  double* data = nullptr;
  std::size_t bytes = 0;
  Array() = default;
  enum class Pages { small, huge, as_they_come };
  Array(std::size_t count, Pages pages) : bytes(std::max<std::size_t>(count, 1) * sizeof(double)) {
    const std::size_t page = std::size_t{2} << 20;
    void* space = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (space == MAP_FAILED) throw std::bad_alloc();
    base_ = space;
    data = reinterpret_cast<double*>((reinterpret_cast<std::uintptr_t>(space) + page - 1) / page * page);
    if (pages != Pages::as_they_come)
      madvise(base_, bytes + page, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
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
  int handle = Csys2blacs_handle(comm);
  std::vector<int> map(static_cast<std::size_t>(shape.nprow * shape.npcol)); // column-major
  for (int p = 0; p < shape.nprow; ++p)
    for (int q = 0; q < shape.npcol; ++q)
      map[static_cast<std::size_t>(p + q * shape.nprow)] = p * shape.npcol + q;
  int ctxt = handle;
  Cblacs_gridmap(&ctxt, map.data(), shape.nprow, shape.nprow, shape.npcol);
  return ctxt;
}

gridmap::Axis axis(std::int64_t n, std::int64_t nb, int nprocs) {
  return nb == 0 ? gridmap::Axis::block(n, nprocs) : gridmap::Axis::block_cyclic(n, nb, nprocs);
}

struct Result {
  std::map<std::string, double> seconds;
  std::size_t peak = 0;
  double plan_s = 0;
  double work_s = 0; ///< copying in the last run, summed over the ranks
  double predicted_s = 0;
  double measure_s = 0; ///< what asking for the machine's figures took
  bool right = true;
};

Result run_case(MPI_Comm comm, const Case& c, const Settings& settings) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  Result result;
  const redist::Layout from{axis(c.n, c.nb_from, c.from.nprow), axis(c.n, c.nb_from, c.from.npcol),
                            redist::Grid::row_major(c.from.nprow, c.from.npcol)};
  const redist::Layout to{axis(c.n, c.nb_to, c.to.nprow), axis(c.n, c.nb_to, c.to.npcol),
                          redist::Grid::row_major(c.to.nprow, c.to.npcol)};
  const auto [p, q] = from.grid.position_of(rank);
  const auto [pt, qt] = to.grid.position_of(rank);
  const std::int64_t m_from = p < 0 ? 0 : from.rows.local_size(p),
                     n_from = p < 0 ? 0 : from.cols.local_size(q);
  const std::int64_t m_to = pt < 0 ? 0 : to.rows.local_size(pt), n_to = pt < 0 ? 0 : to.cols.local_size(qt);
  Array a(static_cast<std::size_t>(m_from * n_from), Array::Pages::small),
      b(static_cast<std::size_t>(m_to * n_to), Array::Pages::small);
  Array other(static_cast<std::size_t>(m_to * n_to), Array::Pages::small);
  for (std::int64_t j = 0; j < n_from; ++j) {
    const std::int64_t jg = from.cols.to_global(j, q);
    for (std::int64_t i = 0; i < m_from; ++i)
      a.data[i + j * m_from] = static_cast<double>(from.rows.to_global(i, p) * c.n + jg);
  }
  std::memset(b.data, 1, b.bytes);
  std::memset(other.data, 1, other.bytes);

  int ctxt_a = context_of(comm, c.from), ctxt_b = context_of(comm, c.to);
  int size = 0;
  MPI_Comm_size(comm, &size);
  const int global = context_of(comm, {1, size});
  int desc_a[9] = {1,
                   p < 0 ? -1 : ctxt_a,
                   static_cast<int>(c.n),
                   static_cast<int>(c.n),
                   static_cast<int>(from.rows.sizes[0]),
                   static_cast<int>(from.cols.sizes[0]),
                   0,
                   0,
                   static_cast<int>(std::max<std::int64_t>(1, m_from))};
  int desc_b[9] = {1,
                   pt < 0 ? -1 : ctxt_b,
                   static_cast<int>(c.n),
                   static_cast<int>(c.n),
                   static_cast<int>(to.rows.sizes[0]),
                   static_cast<int>(to.cols.sizes[0]),
                   0,
                   0,
                   static_cast<int>(std::max<std::int64_t>(1, m_to))};
  auto* stock = reinterpret_cast<GeFunction*>(redist::detail::stock_symbol("Cpdgemr2d"));
  const int n = static_cast<int>(c.n);

  redist::PlanOptions options;
  options.schedule = redist::Schedule::async;
  double t0 = MPI_Wtime();
  const redist::Plan plan(from, to, options);
  const redist::RankPlan mine = plan.for_rank(rank);
  result.plan_s = MPI_Wtime() - t0;
  t0 = MPI_Wtime();
  static std::set<int> measured; // numbers of ranks
  const bool anew = settings.fresh && measured.insert(size).second;
  result.predicted_s = plan.predicted_seconds(redist::measure_machine(comm, redist::Transport::automatic, anew), 8);
  result.measure_s = MPI_Wtime() - t0;
  redist::Executor executor(comm);
  const double* written = nullptr; ///< by the last method
  const auto uses = [&](const char* name) {
    return std::find(settings.methods.begin(), settings.methods.end(), name) != settings.methods.end();
  };
  std::map<std::string, redist::ExecuteOptions> others; // methods that are the executor with other options
  others["mpi"].transport = redist::Transport::mpi;
  others["cached"].panel_writes = redist::PanelWrites::cached;
  others["around"].panel_writes = redist::PanelWrites::around;
  std::map<std::string, redist::Executor> executors;
  for (const auto& [name, chosen] : others)
    if (uses(name.c_str())) executors.emplace(name, redist::Executor(comm, chosen));

  const auto move = [&](redist::Executor& by, double* target) {
    const redist::ExecuteReport report = by.execute(
        {{&mine, a.data, std::max<std::int64_t>(1, m_from), target, std::max<std::int64_t>(1, m_to), 'd'}});
    result.peak = std::max(result.peak, report.peak_bytes);
    result.work_s = report.pack_s + report.copy_s;
  };
  redist::SharedArray shared_a, shared_b;
  if (uses("direct") || uses("direct_cold")) {
    shared_a = redist::SharedArray(a.bytes, redist::Sharing::yes);
    shared_b = redist::SharedArray(b.bytes, redist::Sharing::yes);
    std::memcpy(shared_a.data(), a.data, a.bytes);
    std::memset(shared_b.data(), 1, b.bytes);
  }
  const auto move_direct = [&] {
    executor.execute({{&mine, shared_a.data(), std::max<std::int64_t>(1, m_from), shared_b.data(),
                       std::max<std::int64_t>(1, m_to), 'd'}});
    written = static_cast<double*>(shared_b.data());
  };
  std::map<std::string, std::function<void()>> methods;
#ifdef DYNGRID_HAVE_COSTA
  methods["costa"] = [&] {
    auto source = costa::block_cyclic_layout<double>(n, n, desc_a[4], desc_a[5], 1, 1, n, n, c.from.nprow,
                                                     c.from.npcol, 'R', 0, 0, a.data, desc_a[8], 'C', rank);
    auto target = costa::block_cyclic_layout<double>(n, n, desc_b[4], desc_b[5], 1, 1, n, n, c.to.nprow,
                                                     c.to.npcol, 'R', 0, 0, b.data, desc_b[8], 'C', rank);
    costa::transform<double>(source, target, comm);
  };
#endif
  methods["direct"] = move_direct;
  methods["direct_cold"] = [&] {
    shared_b.clear();
    shared_b = redist::SharedArray(b.bytes, redist::Sharing::yes);
    move_direct();
  };
  methods["stock"] = [&] { stock(n, n, a.data, 1, 1, desc_a, b.data, 1, 1, desc_b, global); };
  methods["dropin"] = [&] { dyngrid_Cpdgemr2d(n, n, a.data, 1, 1, desc_a, b.data, 1, 1, desc_b, global); };
  methods["dyngrid"] = [&] { move(executor, b.data); };
  methods["planned"] = [&] { // the plan anew each time
    const redist::RankPlan fresh = redist::Plan(from, to, options).for_rank(rank);
    executor.execute(
        {{&fresh, a.data, std::max<std::int64_t>(1, m_from), b.data, std::max<std::int64_t>(1, m_to), 'd'}});
  };
  for (auto& [name, one] : executors) methods[name] = [&, by = &one] { move(*by, b.data); };
  methods["memcpy"] = [&] { std::memcpy(b.data, other.data, static_cast<std::size_t>(m_to * n_to) * 8); };
  for (const bool huge : {false, true}) {
    const std::string suffix = huge ? "_cold_huge" : "_cold";
    const auto fresh = [&, huge] {
      b = Array();
      b = Array(static_cast<std::size_t>(m_to * n_to),
                huge ? Array::Pages::huge : Array::Pages::as_they_come);
    };
    methods["stock" + suffix] = [&, fresh] {
      fresh();
      stock(n, n, a.data, 1, 1, desc_a, b.data, 1, 1, desc_b, global);
    };
    methods["dyngrid" + suffix] = [&, fresh] {
      fresh();
      move(executor, b.data);
    };
    methods["memcpy" + suffix] = [&, fresh] {
      fresh();
      std::memcpy(b.data, other.data, static_cast<std::size_t>(m_to * n_to) * 8);
    };
  }

  std::map<std::string, std::vector<double>> times;
  for (int rep = -1; rep < settings.reps; ++rep) // the first round warms up
    for (const std::string& name : settings.methods) {
      if (settings.check && name.rfind("memcpy", 0) != 0) {
        std::memset(b.data, 0, static_cast<std::size_t>(m_to * n_to) * 8);
        if (shared_b.data() != nullptr)
          std::memset(shared_b.data(), 0, static_cast<std::size_t>(m_to * n_to) * 8);
      }
      written = nullptr;
      // Ranks that share cores leave a barrier one after the other: what counts is the time from the first
      // start to the last end, on the host's one clock. The executor's own agreement is the barrier, since
      // its waiting ranks sleep instead of taking the others' cores.
      executor.range(0);
      const std::int64_t begin = now_ns();
      methods[name]();
      const std::int64_t end = now_ns();
      if (name.rfind("stock", 0) == 0)
        MPI_Barrier(comm); // it returns with sends in flight, which need somebody inside MPI
      const double t = static_cast<double>(executor.range(end).second - executor.range(begin).first) * 1e-9;
      if (rep >= 0) times[name].push_back(t);
      if (settings.check && rep == 0 && name.rfind("memcpy", 0) != 0)
        for (std::int64_t j = 0; j < n_to; ++j)
          for (std::int64_t i = 0; i < m_to; ++i)
            result.right = result.right &&
                           (written != nullptr ? written : b.data)[i + j * m_to] ==
                               static_cast<double>(to.rows.to_global(i, pt) * c.n + to.cols.to_global(j, qt));
    }
  for (auto& [name, list] : times) result.seconds[name] = median(list);
  int right = result.right ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, comm);
  result.right = right != 0;
  auto peak = static_cast<unsigned long long>(result.peak);
  MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm);
  result.peak = peak;
  MPI_Allreduce(MPI_IN_PLACE, &result.work_s, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, &result.plan_s, 1, MPI_DOUBLE, MPI_MAX, comm);
  for (int ctxt : {global, ctxt_a, ctxt_b})
    if (ctxt >= 0) Cblacs_gridexit(ctxt);
  for (auto& [name, one] : executors) one.close();
  executor.close();
  return result;
}

Case parse(const std::string& grids, const std::string& blocks, std::int64_t n) {
  Case c{};
  c.n = n;
  if (std::sscanf(grids.c_str(), "%dx%d-%dx%d", &c.from.nprow, &c.from.npcol, &c.to.nprow, &c.to.npcol) != 4)
    throw std::runtime_error("bench_redist: grids are '" + grids + "', wanted the form 2x2-3x3");
  const auto one = [](const std::string& text) -> std::int64_t {
    return text == "block" ? 0 : std::stoll(text);
  };
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

int run(int argc, char** argv) {
  Settings settings;
  CLI::App app("Redistribution against stock PDGEMR2D and memcpy", "bench_redist");
  app.add_option("--n", settings.sizes, "matrix sizes")->delimiter(',')->check(apps::positive_number());
  app.add_option("--grids", settings.grids, "e.g. 2x2-3x3,3x3-4x4")->delimiter(',');
  app.add_option("--nb", settings.blocks, "e.g. 64,block,64-128; default: the bars' own")->delimiter(',');
  const std::vector<std::string> known_methods{
      "stock", "stock_cold", "stock_cold_huge", "dyngrid", "dyngrid_cold", "dyngrid_cold_huge", "memcpy", "memcpy_cold", "memcpy_cold_huge",
      "planned", "dropin", "mpi", "cached", "around", "direct", "direct_cold",
#ifdef DYNGRID_HAVE_COSTA
      "costa",
#endif
  };
  app.add_option("--methods", settings.methods,
                 "stock, dyngrid, planned (dyngrid with its planning), dropin, mpi, cached and around (dyngrid writing its panels through "
                 "and around the cache), direct, direct_cold, "
                 "memcpy, costa where it was found; each of stock, dyngrid, memcpy also with _cold (fresh "
                 "pages as the kernel gives them; DYNGRID_HUGEPAGES=0 keeps dyngrid from asking for huge "
                 "ones) and _cold_huge")
      ->delimiter(',')->check(CLI::IsMember(known_methods));
  app.add_option("--reps", settings.reps, "runs per method and case")->check(apps::positive_number());
  app.add_option("--csv", settings.csv, "file for one line per case");
  app.add_flag("--check", settings.check, "compare every element");
  app.add_flag("--fresh", settings.fresh, "measure this machine's figures, which predictions need, anew instead of reading them");
  app.add_flag("--grow", settings.grow, "ranks beyond the first ones come from MPI_Comm_spawn");
  app.add_flag("--child", settings.child)->group("");
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (const auto status = apps::read_command_line(app, argc, argv, rank == 0)) return *status;

  MPI_Comm all = MPI_COMM_NULL, bridge = MPI_COMM_NULL;
  int needed = 1;
  for (const std::string& grids : settings.grids) {
    const Case c = parse(grids, "1", 1);
    needed = std::max({needed, c.from.nprow * c.from.npcol, c.to.nprow * c.to.npcol});
  }
  if (settings.child) {
    MPI_Comm_get_parent(&bridge);
    MPI_Intercomm_merge(bridge, 1, &all);
  } else if (settings.grow) {
    int have = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &have);
    std::vector<char*> arguments(argv + 1, argv + argc);
    char child[] = "--child";
    arguments.push_back(child);
    arguments.push_back(nullptr);
    MPI_Comm_spawn(argv[0], arguments.data(), needed - have, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &bridge,
                   MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(bridge, 0, &all);
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
  }
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  union_rank = rank;
  union_size = size;
  int mypnum = 0, nprocs = 0;
  Cblacs_pinfo(&mypnum, &nprocs);

  std::ofstream csv;
  if (rank == 0 && !settings.csv.empty()) csv.open(settings.csv);
  if (csv) {
    csv << "from,to,n,nb_from,nb_to,ranks,plan_s,peak_bytes,work_s,predicted_s";
    for (const std::string& name : settings.methods) csv << ',' << name << "_s";
    csv << ",right\n";
  }
  if (rank == 0) {
    std::printf("%-9s %6s %11s %8s %8s", "grids", "n", "nb", "plan ms", "pred. ms");
    for (const std::string& name : settings.methods) std::printf(" %17s", (name + " ms").c_str());
    std::printf("\n");
  }
  std::map<std::string, Ratio> ratios;
  bool right = true;
  std::size_t peak = 0;
  double measure_s = 0;
  int within_15 = 0, within_30 = 0, predictions = 0;
  for (const std::string& grids : settings.grids) {
    std::vector<std::string> blocks = settings.blocks;
    const bool same = parse(grids, "1", 1).from.nprow == parse(grids, "1", 1).to.nprow &&
                      parse(grids, "1", 1).from.npcol == parse(grids, "1", 1).to.npcol;
    if (blocks.empty())
      blocks = same ? std::vector<std::string>{"32-64", "64-128", "256-128", "64-block"}
                    : std::vector<std::string>{"32", "64", "256", "block", "64-128"};
    for (std::int64_t n : settings.sizes)
      for (const std::string& nb : blocks) {
        const Case c = parse(grids, nb, n);
        const int ranks = std::max(c.from.nprow * c.from.npcol, c.to.nprow * c.to.npcol);
        if (ranks > size) continue;
        MPI_Comm part = MPI_COMM_NULL;
        MPI_Comm_split(all, rank < ranks ? 0 : MPI_UNDEFINED, rank, &part);
        Result r;
        if (part != MPI_COMM_NULL) {
          r = run_case(part, c, settings);
          MPI_Comm_free(&part);
        }
        quiet_barrier(all);
        if (rank != 0) continue;
        right = right && r.right;
        peak = std::max(peak, r.peak);
        measure_s = std::max(measure_s, r.measure_s);
        std::printf("%-9s %6lld %11s %8.3f %8.2f", grids.c_str(), static_cast<long long>(n),
                    (block_name(c.nb_from) + "-" + block_name(c.nb_to)).c_str(), r.plan_s * 1e3,
                    r.predicted_s * 1e3);
        for (const std::string& name : settings.methods) std::printf(" %17.2f", r.seconds[name] * 1e3);
        std::printf("%s\n", settings.check ? (r.right ? "  right" : "  WRONG") : "");
        std::fflush(stdout);
        const auto ratio = [&](const char* over, const char* under) {
          if (r.seconds.count(over) != 0 && r.seconds.count(under) != 0)
            ratios[std::string(over) + " / " + under].add(r.seconds[over] / r.seconds[under]);
        };
        for (const char* ours : {"dyngrid", "dropin", "mpi", "direct"}) {
          ratio("stock", ours);
          ratio(ours, "memcpy");
        }
        if (r.seconds.count("dyngrid") != 0) {
          const double off =
              std::max(r.predicted_s, r.seconds["dyngrid"]) / std::min(r.predicted_s, r.seconds["dyngrid"]);
          ratios["prediction, off by the factor"].add(off);
          within_15 += off <= 1.15 ? 1 : 0;
          within_30 += off <= 1.30 ? 1 : 0;
          ++predictions;
        }
        ratio("costa", "dyngrid");
        ratio("costa", "direct");
        ratio("direct_cold", "memcpy_cold");
        ratio("direct_cold", "memcpy_cold_huge");
        ratio("stock_cold", "direct_cold");
        ratio("stock_cold", "dyngrid_cold");
        ratio("dyngrid_cold", "memcpy_cold");
        ratio("stock_cold", "dyngrid_cold_huge");
        ratio("dyngrid_cold_huge", "memcpy_cold");
        ratio("dyngrid_cold_huge", "memcpy_cold_huge");
        if (csv) {
          csv << c.from.nprow << 'x' << c.from.npcol << ',' << c.to.nprow << 'x' << c.to.npcol << ',' << n
              << ',' << block_name(c.nb_from) << ',' << block_name(c.nb_to) << ',' << ranks << ',' << r.plan_s
              << ',' << r.peak << ',' << r.work_s << ',' << r.predicted_s;
          for (const std::string& name : settings.methods) csv << ',' << r.seconds[name];
          csv << ',' << (r.right ? 1 : 0) << '\n';
          csv.flush();
        }
      }
  }
  if (rank == 0) {
    std::printf("\n%-40s %10s %10s %10s %6s\n", "ratio", "geo. mean", "lowest", "highest", "cases");
    for (const auto& [name, r] : ratios)
      std::printf("%-40s %10.2f %10.2f %10.2f %6d\n", name.c_str(), r.mean(), r.lowest, r.highest, r.count);
    if (predictions > 0)
      std::printf("predicted within 15 %%: %d, within 30 %%: %d, of %d cases; figures of the machine in at most %.2f s\n", within_15, within_30,
                  predictions, measure_s);
    std::printf("buffers per rank at most %.2f MB\n", static_cast<double>(peak) / 1e6);
  }
  int verdict = right ? 0 : 1;
  MPI_Bcast(&verdict, 1, MPI_INT, 0, all);
  MPI_Comm_free(&all);
  if (bridge != MPI_COMM_NULL) MPI_Comm_disconnect(&bridge);
  return verdict;
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 1;
  try {
    code = run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return code;
}
