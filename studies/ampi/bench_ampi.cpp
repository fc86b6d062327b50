// SPDX-License-Identifier: BSD-3-Clause
// What A-MPI's thesis measures [Weatherly2002, chapter 5], by the clock, on nodes of studies/load/loadlab. Process K is
// on node K, the last one has the competitors of loadlab's --load.
//
//   loadlab --nodes 4 --load 3:2 -- bench_ampi --ratios 2,14,160 --competitors 2          sections 5.2 and 5.3
//   loadlab --nodes 4 --load 3:1 -- bench_ampi --removal 512,1024,2048                    table 5.2
//   mpirun -np 2 bench_ampi --memory 128,256                                             table 5.1
//
// The synthetic application spins for its rows, and exchanges messages. The processor time of all rows over that of the
// messages is the ratio. The size of the messages follows from a measurement: their processor time, because a
// competitor does not change that.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "base/command_line.hpp"
#include "base/statistics.hpp"
#include "common/mpi_main.hpp"
#include "control/load_reader.hpp"

#include <dyngrid.hpp>
#include <dyngrid/balance.h>
#include <dyngrid/control.h>

namespace {

using control::thread_cpu_s;

constexpr std::int64_t rows = 1000;

struct Settings {
  std::vector<double> ratios;
  std::vector<std::int64_t> removal, memory;
  std::string communication = "neighbours";
  int root = 0, competitors = 0, reps = 5;
  double work_s = 0.02, measure_s = 1, settle_s = 25;
};

void require(int status, const char* what) {
  if (status >= 0) return;
  fmt::print(stderr, "bench_ampi: {}: {}\n", what, dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

double max_over_grid(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, dyngrid_comm());
  return value;
}

void spin(double turns) {
  volatile double x = 1;
  for (double k = 0; k < turns; ++k) x = x * 0.999999 + 1e-6;
}

/// Turns of spin in a second of a processor. Collective.
double turns_per_second() {
  constexpr double turns = 2e6;
  double best = 0;
  for (int k = 0; k < 5; ++k) {
    const double began = thread_cpu_s();
    spin(turns);
    best = std::max(best, turns / (thread_cpu_s() - began));
  }
  return max_over_grid(best);
}

/// Messages of this many elements: with both neighbours of a row of nodes, or by a reduction to a root and a broadcast.
class Messages {
public:
  Messages(std::string kind, int root) : kind_(std::move(kind)), root_(root) {}

  void exchange(std::size_t count) {
    const MPI_Comm comm = dyngrid_comm();
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const int size = size_of(comm), length = static_cast<int>(count);
    in_.resize(std::max(in_.size(), count));
    out_.resize(std::max(out_.size(), count), 1.0);
    if (kind_ == "reduce") {
      const int root = std::min(root_, size - 1); // where the last node has left
      MPI_Reduce(out_.data(), in_.data(), length, MPI_DOUBLE, MPI_SUM, root, comm);
      MPI_Bcast(in_.data(), length, MPI_DOUBLE, root, comm);
      return;
    }
    const int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(out_.data(), length, MPI_DOUBLE, up, 1, in_.data(), length, MPI_DOUBLE, down, 1, comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(out_.data(), length, MPI_DOUBLE, down, 2, in_.data(), length, MPI_DOUBLE, up, 2, comm,
                 MPI_STATUS_IGNORE);
  }

  /// Elements for which a process computes for so long, by the clock of its processor. Collective.
  std::size_t elements_for(double cpu_s) {
    constexpr std::size_t few = 16384, many = 131072;
    const double least = cpu_of(few), most = cpu_of(many);
    const double element_s = std::max((most - least) / static_cast<double>(many - few), 1e-11);
    const double count = static_cast<double>(few) + (cpu_s - least) / element_s;
    return static_cast<std::size_t>(std::clamp(count, 1.0, 8e6));
  }

private:
  double cpu_of(std::size_t count) {
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 8; ++k) {
      const double began = thread_cpu_s();
      exchange(count);
      least = std::min(least, thread_cpu_s() - began);
    }
    return max_over_grid(least);
  }

  std::string kind_;
  int root_;
  std::vector<double> in_, out_;
};

// ---- sections 5.2 and 5.3

constexpr std::array ways{"equal", "naive", "logical", "physical", "dyngrid"};

/// The same on all processes, those included that sleep and wake.
struct Progress {
  std::int64_t stage = -1, steps = 0, elements = 0;
  double elapsed_s = 0, measured_s = 0, loops_per_s = 0; ///< of this stage
  std::int32_t is_ready = 0;
};

/// One stage after the other: each ratio in each way. Processes that sleep, in a resize point, find the stage in shared
/// state when they wake.
class Synthetic {
public:
  explicit Synthetic(const Settings& settings)
      : settings_(settings), nodes_(size_of(MPI_COMM_WORLD)), messages_(settings.communication, settings.root) {
    require(dyngrid_matrix_create_weighted("rows", 'd', rows, 1, 1, 1, DYNGRID_ORDER_BLOCK, &matrix_), "matrix");
    require(dyngrid_share("progress", &now_, sizeof now_), "dyngrid_share");
    now_.loops_per_s = turns_per_second();
    if (dyngrid_is_first() != 0)
      fmt::print("nodes,competitors,communication,root,ratio,way,step_s,steps,rows_of_loaded,processes,bytes\n");
  }

  void run() {
    for (;;) {
      const int outcome = dyngrid_resize_point();
      if (outcome == DYNGRID_LEAVE) return;
      require(outcome, "resize point");
      if (now_.is_ready == 0 && !prepare()) continue;
      if (now_.stage == stages()) return;
      step();
    }
  }

private:
  std::int64_t stages() const { return static_cast<std::int64_t>(settings_.ratios.size() * ways.size()); }
  std::string way() const { return ways.at(static_cast<std::size_t>(now_.stage) % ways.size()); }
  double ratio() const { return settings_.ratios.at(static_cast<std::size_t>(now_.stage) / ways.size()); }
  bool is_loaded() const { return dyngrid_process_id() == nodes_ - 1; }

  /// The next stage, on all nodes. False where the grid has to change first.
  bool prepare() {
    if (size_of(dyngrid_comm()) < nodes_) {
      require(dyngrid_request(nodes_, 1), "dyngrid_request");
      return false;
    }
    now_ = {now_.stage + 1, 0, now_.elements, 0, 0, now_.loops_per_s, 1};
    if (now_.stage == stages()) return true;
    double speed = 1;
    if (is_loaded() && way() == "naive") speed = 1.0 / (1 + settings_.competitors);
    if (is_loaded() && way() == "logical") speed = 1.0 / rows;
    require(dyngrid_set_speed(speed), "dyngrid_set_speed");
    require(dyngrid_relayout(), "dyngrid_relayout");
    if (now_.stage % static_cast<std::int64_t>(ways.size()) == 0) // the same messages in all ways
      now_.elements = static_cast<std::int64_t>(messages_.elements_for(settings_.work_s / ratio()));
    require(dyngrid_set_balance(way() == "dyngrid" ? DYNGRID_BALANCE_AUTO : DYNGRID_BALANCE_OFF),
            "dyngrid_set_balance");
    if (way() != "physical") return true;
    require(dyngrid_request_without(nodes_ - 1, 1, fmt::format("{}", nodes_ - 1).c_str()), "dyngrid_request_without");
    return false;
  }

  std::int64_t my_rows() const {
    std::int64_t first = 0, end = 0;
    return dyngrid_my_range(matrix_, 'R', 0, &first, &end) == 1 ? end - first : 0;
  }

  void step() {
    const double settle_s = way() == "dyngrid" ? settings_.settle_s : 0.2;
    const double began = MPI_Wtime();
    const std::int64_t mine = my_rows();
    spin(now_.loops_per_s * settings_.work_s * static_cast<double>(mine) / rows);
    messages_.exchange(static_cast<std::size_t>(now_.elements));
    const double step_s = max_over_grid(MPI_Wtime() - began);
    now_.elapsed_s += step_s;
    if (now_.elapsed_s < settle_s) return;
    if (now_.steps++ > 0) now_.measured_s += step_s; // the first one ends what was before
    if (now_.measured_s < settings_.measure_s || now_.steps < 12) return;
    const auto of_loaded = static_cast<std::int64_t>(max_over_grid(is_loaded() ? static_cast<double>(mine) : 0));
    if (dyngrid_is_first() != 0) {
      fmt::print("{},{},{},{},{},{},{:.6f},{},{},{},{}\n", nodes_, settings_.competitors, settings_.communication,
                 settings_.root, ratio(), way(), now_.measured_s / static_cast<double>(now_.steps - 1), now_.steps - 1,
                 of_loaded, size_of(dyngrid_comm()), 8 * now_.elements);
      std::fflush(stdout);
    }
    require(dyngrid_set_balance(DYNGRID_BALANCE_OFF), "dyngrid_set_balance");
    now_.is_ready = 0;
  }

  const Settings& settings_;
  int nodes_;
  Messages messages_;
  dyngrid_matrix* matrix_ = nullptr;
  Progress now_;
};

// ---- table 5.2

/// A matrix of order n in stretches of rows; the last node leaves, and comes back.
void run_removal(const Settings& settings) {
  const int nodes = size_of(MPI_COMM_WORLD);
  const bool leaves = dyngrid_process_id() == nodes - 1;
  if (dyngrid_is_first() != 0) fmt::print("nodes,competitors,n,change_s,exchange_s,moved_bytes\n");
  for (const std::int64_t n : settings.removal) {
    dyngrid_matrix* a = nullptr;
    require(dyngrid_matrix_create_weighted("a", 'd', n, n, 1, n, DYNGRID_ORDER_BLOCK, &a), "matrix");
    for (int rep = 0; rep < settings.reps; ++rep) {
      std::int64_t count = 0, columns = 0;
      dyngrid_matrix_shape(a, &count, &columns, nullptr);
      std::fill_n(static_cast<double*>(dyngrid_local(a)), count * columns, 1.0);
      MPI_Barrier(dyngrid_comm());
      const double began = MPI_Wtime();
      // the node that leaves sleeps in this call until the others bring it back
      require(dyngrid_resize_without(nodes - 1, 1, DYNGRID_OPTIMAL, fmt::format("{}", nodes - 1).c_str()), "removal");
      if (leaves) continue;
      const double change_s = max_over_grid(MPI_Wtime() - began);
      dyngrid_resize_report report{};
      dyngrid_last_resize(&report);
      if (dyngrid_is_first() != 0)
        fmt::print("{},{},{},{:.6f},{:.6f},{}\n", nodes, settings.competitors, n, change_s, report.exchange_s,
                   report.moved_bytes);
      require(dyngrid_resize(nodes, 1, DYNGRID_OPTIMAL), "return");
    }
    require(dyngrid_matrix_free(&a), "dyngrid_matrix_free");
  }
}

// ---- table 5.1

/// Seconds of a stretch, of the wall's clock.
template <class Work> double seconds(Work work) {
  const double began = MPI_Wtime();
  work();
  return MPI_Wtime() - began;
}

struct Times {
  double allocate_s = 0, shift_s = 0, update_s = 0;
};

using Array = std::unique_ptr<double[]>;

Array unwritten(std::size_t count) {
  return Array(new double[count]);
}

/// A-MPI's method: a pointer for each of n planes of n x n elements; planes come in front, the last ones go.
Times planes(std::size_t n, std::size_t inserted) {
  std::vector<Array> a(n);
  Times t;
  t.allocate_s = seconds([&] {
    for (Array& plane : a) plane = unwritten(n * n);
  });
  for (const Array& plane : a) std::fill_n(plane.get(), n * n, 0.0);
  t.shift_s = seconds([&] {
    std::vector<Array> front(inserted);
    for (Array& plane : front) {
      plane = unwritten(n * n);
      std::fill_n(plane.get(), n * n, 0.0);
    }
    a.resize(n - inserted);
    a.insert(a.begin(), std::make_move_iterator(front.begin()), std::make_move_iterator(front.end()));
  });
  t.update_s = seconds([&] {
    for (const Array& plane : a)
      for (std::size_t k = 0; k < n * n; ++k) plane[k] += 1;
  });
  return t;
}

/// One stretch of memory: what stays is copied into a new one.
Times contiguous(std::size_t n, std::size_t inserted) {
  Array a;
  Times t;
  t.allocate_s = seconds([&] { a = unwritten(n * n * n); });
  std::fill_n(a.get(), n * n * n, 0.0);
  t.shift_s = seconds([&] {
    Array b = unwritten(n * n * n);
    std::copy_n(a.get(), (n - inserted) * n * n, b.get() + inserted * n * n);
    std::fill_n(b.get(), inserted * n * n, 0.0);
    a.swap(b);
  });
  t.update_s = seconds([&] {
    for (std::size_t k = 0; k < n * n * n; ++k) a[k] += 1;
  });
  return t;
}

/// dyngrid: the planes come from the other process, or stay as they were. Columns of a matrix, so that a plane is
/// contiguous.
Times relayout(std::size_t n, std::size_t inserted) {
  const auto order = static_cast<std::int64_t>(n), all = order + static_cast<std::int64_t>(inserted) + 1;
  int column = 0;
  dyngrid_grid(nullptr, nullptr, nullptr, &column);
  dyngrid_matrix* a = nullptr;
  const auto share = [&](std::size_t first) { // planes of the first process
    require(dyngrid_set_speed(static_cast<double>(column == 0 ? first : static_cast<std::size_t>(all) - first)),
            "dyngrid_set_speed");
  };
  Times t;
  share(2 * inserted + 1 < static_cast<std::size_t>(all) ? inserted + 1 : static_cast<std::size_t>(all) - 1);
  t.allocate_s = max_over_grid(seconds([&] {
    require(dyngrid_matrix_create_weighted("a", 'd', order * order, all, order * order, 1, DYNGRID_ORDER_BLOCK, &a),
            "matrix");
  }));
  const auto update = [&] {
    std::int64_t count = 0, columns = 0;
    dyngrid_matrix_shape(a, &count, &columns, nullptr);
    double* local = static_cast<double*>(dyngrid_local(a));
    for (std::int64_t k = 0; k < count * columns; ++k) local[k] += 1;
  };
  update();
  share(1);
  t.shift_s = max_over_grid(seconds([&] { require(dyngrid_relayout(), "dyngrid_relayout"); }));
  t.update_s = max_over_grid(seconds(update));
  require(dyngrid_matrix_free(&a), "dyngrid_matrix_free");
  return t;
}

void run_memory(const Settings& settings) {
  const bool is_first = dyngrid_is_first() != 0;
  if (is_first) fmt::print("n,method,rows,allocate_s,shift_s,update_s\n");
  for (const std::int64_t order : settings.memory) {
    const auto n = static_cast<std::size_t>(order);
    for (const std::size_t inserted : {std::size_t{1}, n / 2}) {
      const auto print = [&](const char* method, auto measure) {
        std::vector<double> allocate, shift, update;
        for (int rep = 0; rep < settings.reps; ++rep) {
          const Times t = measure(n, inserted);
          allocate.push_back(t.allocate_s);
          shift.push_back(t.shift_s);
          update.push_back(t.update_s);
        }
        if (is_first)
          fmt::print("{},{},{},{:.6f},{:.6f},{:.6f}\n", n, method, inserted, base::median(allocate),
                     base::median(shift), base::median(update));
      };
      if (is_first) print("planes", planes);
      if (is_first) print("contiguous", contiguous);
      MPI_Barrier(dyngrid_comm());
      print("dyngrid", relayout);
    }
  }
}

int run(int argc, char** argv) {
  Settings settings;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  base::CommandLine cli("A-MPI's synthetic application, removals and arrays, by the clock; one CSV table on the output",
                        "bench_ampi");
  cli.add_option("--ratios", settings.ratios, "of computation to communication: each in five ways")
      .separated_by(',')
      .check(base::positive_number())
      .type_name("R,...");
  cli.add_option("--communication", settings.communication, "neighbours, or reduce: a reduction and a broadcast")
      .check(base::one_of({"neighbours", "reduce"}))
      .show_default();
  cli.add_option("--root", settings.root, "of reductions and broadcasts")
      .check(base::non_negative_number())
      .show_default();
  cli.add_option("--competitors", settings.competitors, "that loadlab starts on the last node")
      .check(base::non_negative_number())
      .show_default();
  cli.add_option("--work", settings.work_s, "seconds of one processor in a step, of all rows")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--seconds", settings.measure_s, "of measured steps in each way").check(base::positive_number());
  cli.add_option("--settle", settings.settle_s, "seconds that the balance has before")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--removal", settings.removal, "orders of matrices: the last process leaves, and comes back")
      .separated_by(',')
      .check(base::positive_number())
      .type_name("N,...");
  cli.add_option("--memory", settings.memory, "orders of arrays of three dimensions, whose planes are shifted")
      .separated_by(',')
      .check(base::positive_number())
      .type_name("N,...");
  cli.add_option("--reps", settings.reps, "repetitions of removals and shifts")
      .check(base::positive_number())
      .show_default();
  if (const auto status = base::read_command_line(cli, argc, argv, rank == 0)) return *status;
  const int size = size_of(MPI_COMM_WORLD);
  if (size < 2) throw base::CommandLineError("started with 1 process, expected at least 2");
  require(settings.memory.empty() ? dyngrid_init_grid(size, 1) : dyngrid_init_grid(1, size), "dyngrid_init_grid");
  if (!settings.ratios.empty()) Synthetic(settings).run();
  if (!settings.removal.empty()) run_removal(settings);
  if (!settings.memory.empty()) run_memory(settings);
  require(dyngrid_finalize(), "dyngrid_finalize");
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  return apps::mpi_main("bench_ampi", argc, argv, run);
}
