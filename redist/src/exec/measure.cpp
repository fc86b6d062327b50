// SPDX-License-Identifier: BSD-3-Clause
#include "redist/measure.hpp"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "exec/mpi_check.hpp"
#include "exec/packer.hpp"
#include "redist/plan.hpp"
#include "redist/shared_array.hpp"

namespace redist {
namespace {

using detail::check;

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
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
  to.past_cache = detail::past_cache_is_possible();
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
  return 2.0 * static_cast<double>(from.elements()) * 8 / median(times);
}

std::int64_t now_ns() { // of the host; MPI_Wtime may begin with each process
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

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

/// The same for ranks that all share one host's memory: bytes copied per second and core while they exchange
/// a matrix that goes to all of their rows and columns from half of either, and from one fewer of both: growths, which is what the figure is used
/// for.
double exchange_rate(Executor& executor, int rank, int size, int cores, double latency_s) {
  int nprow = 1;
  for (int p = 1; p * p <= size; ++p)
    if (size % p == 0) nprow = p;
  const int npcol = size / nprow;
  const std::int64_t n = 4200; // 141 MB on each side: past any cache, and what an exchange costs beside its bytes does not count. Columns of a power of two would be slow
  const auto layout = [&](int rows, int cols) {
    return Layout{gridmap::Axis::block_cyclic(n, 64, rows), gridmap::Axis::block_cyclic(n, 64, cols), Grid::row_major(rows, cols)};
  };
  std::vector<Growth> growths;
  growths.emplace_back(layout(nprow, (npcol + 1) / 2), layout(nprow, npcol), rank);
  if (nprow > 1) growths.emplace_back(layout((nprow + 1) / 2, npcol), layout(nprow, npcol), rank);
  if (nprow > 2) growths.emplace_back(layout(nprow - 1, npcol - 1), layout(nprow, npcol), rank);
  std::int64_t most_from = 0, most_to = 0;
  for (const Growth& growth : growths) {
    most_from = std::max(most_from, growth.mine.m_loc_from * growth.mine.n_loc_from);
    most_to = std::max(most_to, growth.mine.m_loc_to * growth.mine.n_loc_to);
  }
  // ordinary pages, as most programs have
  std::vector<double> source(static_cast<std::size_t>(most_from), 1.0), target(static_cast<std::size_t>(most_to), 0.0);

  // A machine that others use too is quicker in one second and slower in the next: a longer look finds the middle.
  constexpr int rounds_at_most = 30, rounds_at_least = 4;
  const std::int64_t begin_ns = executor.range(now_ns()).second, longest_ns = 1000000000;
  bool is_late = false;
  for (int round = -1; round < rounds_at_most && (!is_late || round < rounds_at_least); ++round) {
    for (Growth& growth : growths) {
      const RankPlan& mine = growth.mine;
      std::fill(target.begin(), target.end(), 0.0); // as an application that has computed in between: nothing of the last one is in a cache
      executor.range(0);
      const std::int64_t begin = now_ns();
      executor.execute({{&mine, source.data(), std::max<std::int64_t>(1, mine.m_loc_from), target.data(),
                         std::max<std::int64_t>(1, mine.m_loc_to), 'd'}});
      // Ranks that share cores start one after the other: what counts is from the first start to the last end.
      const std::int64_t end = now_ns();
      const std::int64_t first = executor.range(begin).first, last = executor.range(end).second;
      if (round >= 0) growth.seconds.push_back(static_cast<double>(last - first) * 1e-9);
      is_late = last > begin_ns + longest_ns;
    }
    usleep(8000);
  }
  double bytes = 0, seconds = 0;
  for (const Growth& growth : growths) {
    const double waits = latency_s * static_cast<double>(growth.totals.max_partners), all = median(growth.seconds);
    bytes += growth.copied_bytes();
    seconds += std::max(all - waits, all / 2);
  }
  return bytes / seconds / std::min(cores, size);
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

Machine measure(MPI_Comm comm, Transport transport) {
  int rank = 0, size = 1;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  ExecuteOptions options;
  options.transport = transport;
  Executor executor(comm, options);
  Machine machine;
  // All ranks of a host share its cores: each counts for its part of them.
  const double part = static_cast<double>(executor.cores_on_host()) / executor.ranks_on_host();
  double cores = 0;
  check(MPI_Allreduce(&part, &cores, 1, MPI_DOUBLE, MPI_SUM, comm), "MPI_Allreduce");
  const bool alone = transport == Transport::mpi; // who shares a host is not known then
  machine.cores = alone ? 0 : std::max(1, static_cast<int>(cores + 0.5));

  if (size > 1) {
    const RankPlan small = everybody_to_everybody(rank, size);
    double from = rank, to = 0;
    std::vector<double> times;
    for (int rep = 0; rep < 21; ++rep) {
      executor.range(0);
      const double t = MPI_Wtime();
      executor.execute({{&small, &from, 1, &to, 1, 'd'}});
      times.push_back(MPI_Wtime() - t);
    }
    double mine = median(times), most = 0;
    check(MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
    machine.latency_s = most / (size - 1);

    const std::int64_t n = 1 << 22; // 32 MB from the first rank to the last
    SharedArray a(rank == 0 ? static_cast<std::size_t>(n * 8) : 0, Sharing::no),
        b(rank == size - 1 ? static_cast<std::size_t>(n * 8) : 0, Sharing::no);
    RankPlan large;
    large.rank = rank;
    large.lists.push_back(stretch(n, n, n, n));
    large.lists.push_back(stretch(1, 1, 1, 1));
    if (rank == 0)
      large.sends.push_back({size - 1, &large.lists[0], &large.lists[1]}), large.m_loc_from = n,
                                                                           large.n_loc_from = 1;
    if (rank == size - 1)
      large.recvs.push_back({0, &large.lists[0], &large.lists[1]}), large.m_loc_to = n, large.n_loc_to = 1;
    times.clear();
    for (int rep = 0; rep < 7; ++rep) {
      executor.range(0);
      const double t = MPI_Wtime();
      executor.execute({{&large, a.data(), n, b.data(), n, 'd'}});
      times.push_back(MPI_Wtime() - t);
    }
    mine = rank == size - 1 ? median(times) : 0;
    check(MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
    machine.bandwidth_bytes_per_s = static_cast<double>(n) * 8 / most;
  }
  double rate = 0;
  if (!alone && executor.range(executor.ranks_on_host()).first == size) {
    rate = exchange_rate(executor, rank, size, machine.cores, machine.latency_s);
  } else { // as many at a time as there are cores, the others asleep in the executor's agreement
    const int packing = std::min(size, std::max(1, machine.cores == 0 ? static_cast<int>(std::thread::hardware_concurrency()) : machine.cores));
    executor.range(0);
    rate = rank < packing ? pack_rate() : 1e300;
    executor.range(0);
  }
  check(MPI_Allreduce(&rate, &machine.pack_bytes_per_s, 1, MPI_DOUBLE, MPI_MIN, comm), "MPI_Allreduce");
  executor.close();
  return machine;
}

/// Part of the file's name: other versions of dyngrid on this machine measured something else.
constexpr int file_version = 6;

/// All zero when the file has none.
std::array<double, 5> read_figures(const std::string& file) {
  std::array<double, 5> figures{};
  if (file.empty()) return figures;
  std::ifstream in(file);
  for (double& figure : figures) in >> figure;
  if (!in || figures[0] <= 0 || figures[1] <= 0 || figures[2] <= 0) figures = {};
  return figures;
}

Machine machine_of(const std::array<double, 5>& figures) {
  Machine machine;
  machine.latency_s = figures[0];
  machine.bandwidth_bytes_per_s = figures[1];
  machine.pack_bytes_per_s = figures[2];
  machine.contention = figures[3];
  machine.cores = static_cast<int>(figures[4]);
  return machine;
}

bool make_folder(const std::string& path) {
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

void write_figures(const std::string& file, const std::array<double, 5>& figures) {
  if (file.empty()) return;
  const std::string folder = file.substr(0, file.rfind('/'));
  const std::string part = file + "." + std::to_string(getpid());
  if (!make_folder(folder.substr(0, folder.rfind('/'))) || !make_folder(folder)) return;
  std::ofstream out(part);
  out.precision(17);
  for (double figure : figures) out << figure << '\n';
  out.close();
  if (!out || std::rename(part.c_str(), file.c_str()) != 0) std::remove(part.c_str()); // measured again next time
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
  const char* how = transport == Transport::mpi      ? "mpi"
                    : transport == Transport::shared ? "shared"
                                                     : "automatic";
  return folder + "/dyngrid/machine" + std::to_string(file_version) + "-" + host + "-" + how + "-" + std::to_string(ranks);
}

Machine measure_machine(MPI_Comm comm, Transport transport, bool measure_again) {
  int rank = 0, size = 1;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  std::array<double, 5> figures{};
  const std::string file = rank == 0 ? machine_file(size, transport) : std::string();
  if (rank == 0 && !measure_again) figures = read_figures(file);
  check(MPI_Bcast(figures.data(), static_cast<int>(figures.size()), MPI_DOUBLE, 0, comm), "MPI_Bcast");
  if (figures[0] <= 0) {
    const Machine machine = measure(comm, transport);
    figures = {machine.latency_s, machine.bandwidth_bytes_per_s, machine.pack_bytes_per_s, machine.contention,
               static_cast<double>(machine.cores)};
    if (rank == 0) write_figures(file, figures);
  }
  return machine_of(figures);
}

std::optional<Machine> known_machine(int ranks, Transport transport) {
  const std::array<double, 5> figures = read_figures(machine_file(ranks, transport));
  if (figures[0] <= 0) return std::nullopt;
  return machine_of(figures);
}

} // namespace redist
