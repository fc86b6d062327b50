// SPDX-License-Identifier: BSD-3-Clause
#include "redist/measure.hpp"
#include "pack/copy.hpp"
#include "pack/packed_view.hpp"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "base/file_descriptor.hpp"
#include "exec/mpi_check.hpp"
#include "redist/plan.hpp"
#include "redist/shared_array.hpp"

namespace redist {
namespace {

using detail::check;

/// Of an even number of them the mean of the two in the middle. At least one.
double middle(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
}

RunList stretch(std::int64_t n, std::int64_t piece, std::int64_t step_from, std::int64_t step_to) {
  RunList list;
  list.runs.push_back({0, 0, piece, n / piece, step_from, step_to});
  list.total = n;
  return list;
}

/// Bytes copied per second while packing and unpacking 400-byte pieces of arrays that do not fit the cache:
/// the mean of both ways.
double pack_rate() {
  const std::int64_t height = 2000, width = 4000, piece = 50; // 64 MB arrays, every second piece taken
  // ordinary pages, as most programs have
  std::vector<double> source(static_cast<std::size_t>(height * width), 1.0), target(source);
  std::vector<char> panel(std::size_t{64} << 10);
  const RunList rows = stretch(height / 2, piece, 2 * piece, 2 * piece), cols = stretch(width, 1, 1, 1);
  detail::PackedView from, to;
  from.rows = to.rows = &rows;
  from.cols = to.cols = &cols;
  from.base = reinterpret_cast<char*>(source.data());
  to.base = reinterpret_cast<char*>(target.data());
  from.lld = to.lld = height;
  to.is_source = false;
  to.non_temporal = detail::non_temporal_is_possible();
  std::vector<double> times;
  for (int rep = 0; rep < 5; ++rep) {
    const double t = MPI_Wtime();
    const std::int64_t at_once = static_cast<std::int64_t>(panel.size()) / 8;
    for (std::int64_t first = 0; first < from.elements(); first += at_once) {
      const std::int64_t now = std::min(at_once, from.elements() - first);
      from.pack(first, now, panel.data());
      to.unpack(first, now, panel.data());
    }
    times.push_back(MPI_Wtime() - t);
  }
  return 2.0 * static_cast<double>(from.elements()) * 8 / middle(times);
}

std::int64_t now_ns() { // of the host; MPI_Wtime may begin with each process
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

/// A machine that others use too is quicker in one minute and slower in the next: several looks with time in between
/// find the middle.
enum class Instalment { first, later };
constexpr int instalments_at_most = 5;
constexpr double instalments_apart_s = 5;

/// One growth, and how long it took each time.
struct Growth {
  PlanTotals totals;
  RankPlan mine;
  std::vector<double> seconds;

  Growth(const Layout& from, const Layout& to, int rank) {
    PlanOptions options;
    options.schedule = Schedule::async;
    const Plan plan(from, to, options);
    totals = plan.totals();
    mine = plan.for_rank(rank);
  }
  double copied_bytes() const { return static_cast<double>(2 * totals.moved_elements + totals.kept_elements) * 8; }
};

/// What one instalment finds out.
struct Rates {
  double bytes_per_s = 0; ///< copied, on each core
  double latency_s = 0;   ///< per partner; 0: not measured
};

/// A matrix of n x n that goes to all of the ranks' rows and columns from half of either, and from one fewer of both:
/// growths, which is what the figures are used for.
std::vector<Growth> growths_of(std::int64_t n, int rank, int size) {
  int nprow = 1;
  for (int p = 1; p * p <= size; ++p)
    if (size % p == 0) nprow = p;
  const int npcol = size / nprow;
  const auto layout = [n](int rows, int cols) {
    return Layout{gridmap::Axis::block_cyclic(n, 64, rows), gridmap::Axis::block_cyclic(n, 64, cols),
                  Grid::row_major(rows, cols)};
  };
  std::vector<Growth> growths;
  growths.emplace_back(layout(nprow, (npcol + 1) / 2), layout(nprow, npcol), rank);
  if (nprow > 1) growths.emplace_back(layout((nprow + 1) / 2, npcol), layout(nprow, npcol), rank);
  if (nprow > 2) growths.emplace_back(layout(nprow - 1, npcol - 1), layout(nprow, npcol), rank);
  return growths;
}

/// Large and small growths in turn, as often as an instalment has time for. Collective.
void exchange_in_turn(Executor& executor, Instalment instalment, std::vector<Growth>& large,
                      std::vector<Growth>& small) {
  std::int64_t most_from = 0, most_to = 0;
  for (const Growth& growth : large) {
    most_from = std::max(most_from, growth.mine.m_loc_from * growth.mine.n_loc_from);
    most_to = std::max(most_to, growth.mine.m_loc_to * growth.mine.n_loc_to);
  }
  // ordinary pages, as most programs have
  std::vector<double> source(static_cast<std::size_t>(most_from), 1.0), target(static_cast<std::size_t>(most_to), 0.0);
  const auto seconds_of = [&](const Growth& growth) {
    const RankPlan& mine = growth.mine;
    executor.range(0);
    const std::int64_t begin = now_ns();
    executor.execute({{&mine, source.data(), std::max<std::int64_t>(1, mine.m_loc_from), target.data(),
                       std::max<std::int64_t>(1, mine.m_loc_to), 'd'}});
    // Ranks that share cores start one after the other: what counts is from the first start to the last end.
    const std::int64_t end = now_ns();
    return static_cast<double>(executor.range(end).second - executor.range(begin).first) * 1e-9;
  };
  constexpr int rounds_at_most = 30;
  const int rounds_at_least = instalment == Instalment::first ? 2 : 1;
  const std::int64_t begin_ns = executor.range(now_ns()).second,
                     longest_ns = instalment == Instalment::first ? 400000000 : 120000000;
  bool is_late = false;
  // the first one warms up
  for (int round = -1; round < rounds_at_most && (!is_late || round < rounds_at_least); ++round) {
    for (std::size_t k = 0; k < large.size(); ++k) {
      // as an application that has computed in between: nothing of the last one is in a cache
      std::fill(target.begin(), target.end(), 0.0);
      const double small_s = seconds_of(small[k]), large_s = seconds_of(large[k]);
      if (round < 0) continue;
      small[k].seconds.push_back(small_s);
      large[k].seconds.push_back(large_s);
    }
    is_late = executor.range(now_ns()).second > begin_ns + longest_ns;
  }
}

/// The same for ranks that all share one host's memory. A large and a small matrix tell what a byte costs and what a
/// partner costs. (A partner that gets a single element, again and again, costs a tenth of that.)
Rates exchange_rates(Executor& executor, int rank, int size, int cores, Instalment instalment) {
  constexpr std::int64_t n_large = 4900; // 192 MB on each side: past any cache. Columns of a power of two would be slow
  constexpr std::int64_t n_small = 1000;
  std::vector<Growth> large = growths_of(n_large, rank, size), small = growths_of(n_small, rank, size);
  exchange_in_turn(executor, instalment, large, small);
  double bytes_large = 0, bytes_small = 0, large_s = 0, small_s = 0, partners = 0;
  for (std::size_t k = 0; k < large.size(); ++k) {
    bytes_large += large[k].copied_bytes();
    bytes_small += small[k].copied_bytes();
    large_s += middle(large[k].seconds);
    small_s += middle(small[k].seconds);
    partners += static_cast<double>(small[k].totals.max_partners);
  }
  Rates rates;
  const double both_s = std::max(large_s - small_s, large_s / 2), of_bytes = (bytes_large - bytes_small) / both_s;
  rates.bytes_per_s = of_bytes / std::min(cores, size);
  if (partners > 0) rates.latency_s = std::max(small_s - bytes_small / of_bytes, 0.0) / partners;
  return rates;
}

/// One small element to every other rank.
RankPlan everybody_to_everybody(int rank, int size) {
  RankPlan plan;
  plan.rank = rank;
  plan.lists.push_back(stretch(1, 1, 1, 1));
  for (int r = 0; r < size; ++r) {
    if (r == rank) continue;
    plan.sends.push_back({r, &plan.lists[0], &plan.lists[0]});
    plan.recvs.push_back({r, &plan.lists[0], &plan.lists[0]});
  }
  plan.m_loc_from = plan.n_loc_from = plan.m_loc_to = plan.n_loc_to = 1;
  return plan;
}

/// What the file holds. On all ranks the same, once it has been handed round.
struct Figures {
  double latency_s = 0; ///< of a single element to each of all; 0: nothing has been measured
  double bandwidth_bytes_per_s = 0;
  int cores = 0;
  double last_at_s = 0;                           ///< when the last instalment was measured, since 1970
  int count = 0;                                  ///< of instalments
  std::array<Rates, instalments_at_most> rates{}; ///< of each

  bool is_empty() const { return latency_s <= 0 || count < 1; }
  Machine machine() const {
    std::vector<double> bytes_per_s, latencies_s;
    for (int k = 0; k < count; ++k) {
      bytes_per_s.push_back(rates[static_cast<std::size_t>(k)].bytes_per_s);
      latencies_s.push_back(rates[static_cast<std::size_t>(k)].latency_s);
    }
    Machine m;
    m.latency_s = std::max(latency_s, middle(latencies_s));
    m.bandwidth_bytes_per_s = bandwidth_bytes_per_s;
    m.pack_bytes_per_s = middle(bytes_per_s);
    m.cores = cores;
    return m;
  }
};

double now_since_1970_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Cores of all ranks together.
int cores_of(MPI_Comm comm, const Executor& executor) {
  // All ranks of a host share its cores: each counts for its part of them.
  const double part = static_cast<double>(executor.cores_on_host()) / executor.ranks_on_host();
  double cores = 0;
  check(MPI_Allreduce(&part, &cores, 1, MPI_DOUBLE, MPI_SUM, comm), "MPI_Allreduce");
  return std::max(1, static_cast<int>(cores + 0.5));
}

double latency_of(MPI_Comm comm, Executor& executor, int rank, int size) {
  const RankPlan small = everybody_to_everybody(rank, size);
  double from = rank, to = 0;
  std::vector<double> times;
  for (int rep = 0; rep < 21; ++rep) {
    executor.range(0);
    const double t = MPI_Wtime();
    executor.execute({{&small, &from, 1, &to, 1, 'd'}});
    times.push_back(MPI_Wtime() - t);
  }
  double mine = middle(times), most = 0;
  check(MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
  return most / (size - 1);
}

/// Of 32 MB from the first rank to the last.
double bandwidth_of(MPI_Comm comm, Executor& executor, int rank, int size) {
  const std::int64_t n = 1 << 22;
  SharedArray a(rank == 0 ? static_cast<std::size_t>(n * 8) : 0, Sharing::no),
      b(rank == size - 1 ? static_cast<std::size_t>(n * 8) : 0, Sharing::no);
  RankPlan large;
  large.rank = rank;
  large.lists.push_back(stretch(n, n, n, n));
  large.lists.push_back(stretch(1, 1, 1, 1));
  if (rank == 0)
    large.sends.push_back({size - 1, &large.lists[0], &large.lists[1]}), large.m_loc_from = n, large.n_loc_from = 1;
  if (rank == size - 1)
    large.recvs.push_back({0, &large.lists[0], &large.lists[1]}), large.m_loc_to = n, large.n_loc_to = 1;
  std::vector<double> times;
  for (int rep = 0; rep < 7; ++rep) {
    executor.range(0);
    const double t = MPI_Wtime();
    executor.execute({{&large, a.data(), n, b.data(), n, 'd'}});
    times.push_back(MPI_Wtime() - t);
  }
  double mine = rank == size - 1 ? middle(times) : 0, most = 0;
  check(MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
  return static_cast<double>(n) * 8 / most;
}

/// Adds an instalment to the figures; the first one is all of them. Collective.
void measure(MPI_Comm comm, Transport transport, Figures& figures) {
  int rank = 0, size = 1;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  ExecuteOptions options;
  options.transport = transport;
  Executor executor(comm, options);
  const bool is_first = figures.is_empty();
  const bool is_blind = transport == Transport::mpi; // which ranks share a host is not known then
  if (is_first) {
    figures = {};
    figures.cores = is_blind ? 0 : cores_of(comm, executor);
    const Machine usual;
    figures.latency_s = size > 1 ? latency_of(comm, executor, rank, size) : usual.latency_s;
    figures.bandwidth_bytes_per_s = size > 1 ? bandwidth_of(comm, executor, rank, size) : usual.bandwidth_bytes_per_s;
  }
  const int cores = figures.cores;
  Rates rates;
  if (!is_blind && executor.range(executor.ranks_on_host()).first == size) {
    rates = exchange_rates(executor, rank, size, cores, is_first ? Instalment::first : Instalment::later);
  } else { // as many at a time as there are cores, the others asleep in the executor's agreement
    const int packing =
        std::min(size, std::max(1, cores == 0 ? static_cast<int>(std::thread::hardware_concurrency()) : cores));
    executor.range(0);
    rates.bytes_per_s = rank < packing ? pack_rate() : 1e300;
    executor.range(0);
  }
  check(MPI_Allreduce(MPI_IN_PLACE, &rates.bytes_per_s, 1, MPI_DOUBLE, MPI_MIN, comm), "MPI_Allreduce");
  check(MPI_Allreduce(MPI_IN_PLACE, &rates.latency_s, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
  figures.rates[static_cast<std::size_t>(figures.count)] = rates;
  ++figures.count;
  executor.close();
}

/// Part of the file's name: other versions of dyngrid on this machine measured something else.
constexpr int file_version = 8;

/// Empty when the file has none.
Figures read_figures(const std::string& file) {
  Figures figures;
  if (file.empty()) return figures;
  std::ifstream in(file);
  in >> figures.latency_s >> figures.bandwidth_bytes_per_s >> figures.cores >> figures.last_at_s >> figures.count;
  if (!in || figures.count < 1 || figures.count > instalments_at_most || figures.latency_s <= 0 ||
      figures.bandwidth_bytes_per_s <= 0)
    return {};
  for (int k = 0; k < figures.count; ++k) {
    Rates& rates = figures.rates[static_cast<std::size_t>(k)];
    in >> rates.bytes_per_s >> rates.latency_s;
    if (!in || rates.bytes_per_s <= 0 || rates.latency_s < 0) return {};
  }
  return figures;
}

bool make_folder(const std::string& path) {
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

void write_figures(const std::string& file, const Figures& figures) {
  if (file.empty()) return;
  const std::string folder = file.substr(0, file.rfind('/'));
  const std::string part = file + "." + std::to_string(getpid());
  if (!make_folder(folder.substr(0, folder.rfind('/'))) || !make_folder(folder)) return;
  const base::FileDescriptor made = base::new_file(part, 0600);
  std::ostringstream out;
  out.precision(17);
  out << figures.latency_s << '\n'
      << figures.bandwidth_bytes_per_s << '\n'
      << figures.cores << '\n'
      << figures.last_at_s << '\n'
      << figures.count << '\n';
  for (int k = 0; k < figures.count; ++k)
    out << figures.rates[static_cast<std::size_t>(k)].bytes_per_s << ' '
        << figures.rates[static_cast<std::size_t>(k)].latency_s << '\n';
  if (!made || !base::write_all(made.get(), out.str()) || std::rename(part.c_str(), file.c_str()) != 0)
    std::remove(part.c_str()); // measured again next time
}

} // namespace

std::string machine_file(int ranks, Transport transport) {
  std::string folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/')
    folder = cache;
  else if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
    folder = std::string(home) + "/.cache";
  else
    return {};
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0) return {};
  const char* how = transport == Transport::mpi ? "mpi" : transport == Transport::shared ? "shared" : "automatic";
  return folder + "/dyngrid/machine" + std::to_string(file_version) + "-" + host + "-" + how + "-" +
         std::to_string(ranks);
}

Machine measure_machine(MPI_Comm comm, Transport transport, bool measure_again) {
  int rank = 0, size = 1;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  const std::string file = rank == 0 ? machine_file(size, transport) : std::string();
  struct {
    Figures figures;
    bool is_due = true; ///< an instalment
  } known;
  if (rank == 0 && !measure_again) {
    known.figures = read_figures(file);
    const double since_s = now_since_1970_s() - known.figures.last_at_s;
    const bool is_soon = since_s >= 0 && since_s < instalments_apart_s;
    if (!known.figures.is_empty() && (is_soon || known.figures.count >= instalments_at_most)) known.is_due = false;
  }
  check(MPI_Bcast(&known, sizeof known, MPI_BYTE, 0, comm), "MPI_Bcast");
  if (known.is_due) {
    measure(comm, transport, known.figures);
    known.figures.last_at_s = now_since_1970_s();
    if (rank == 0) write_figures(file, known.figures);
  }
  return known.figures.machine();
}

std::optional<Machine> known_machine(int ranks, Transport transport) {
  const Figures figures = read_figures(machine_file(ranks, transport));
  if (figures.is_empty()) return std::nullopt;
  return figures.machine();
}

} // namespace redist
