// SPDX-License-Identifier: BSD-3-Clause
#include "grid/calls/elsewhere.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/memory.hpp"
#include "grid/matrix.hpp"
#include "pblas/stock_calls.hpp"
#include "processes/mpi_util.hpp"

extern "C" {
#define DYNGRID_COPY(x)                                                                                                \
  void dyngrid_Cp##x##gemr2d(int m, int n, void* a, int ia, int ja, int* desc_a, void* b, int ib, int jb, int* desc_b, \
                             int ctxt);
DYNGRID_COPY(s)
DYNGRID_COPY(d)
DYNGRID_COPY(c)
DYNGRID_COPY(z)
#undef DYNGRID_COPY
}

namespace blacs_dyn::calls {
namespace {

auto copy_of(char type) {
  switch (type) {
  case 's':
    return dyngrid_Cpsgemr2d;
  case 'd':
    return dyngrid_Cpdgemr2d;
  case 'c':
    return dyngrid_Cpcgemr2d;
  default:
    return dyngrid_Cpzgemr2d;
  }
}

bool is_single(char type) {
  return type == 's' || type == 'c';
}
int bytes_of(char type) {
  return static_cast<int>(element_bytes(type));
}

int real_bytes(char type) {
  return is_single(type) ? 4 : 8;
}

/// The size that a query wrote. A float does not hold every number: a little more is fine.
int length_in(const void* work, char type) {
  const double value =
      is_single(type) ? double{*static_cast<const float*>(work)} * (1 + 1e-6) : *static_cast<const double*>(work);
  return static_cast<int>(std::clamp(std::ceil(value), 1.0, 2147483647.0));
}

/// For every index of the first `count` of a window that begins at `first`: body(index in the window, local index).
template <class Body>
void for_mine(const gridmap::Axis& axis, int mine, std::int64_t first, std::int64_t count, Body&& body) {
  for (const auto& stretch : axis.stretches(mine)) {
    const std::int64_t begin = std::max(stretch.first, first), end = std::min(stretch.last, first + count);
    if (begin >= end) continue;
    const std::int64_t local = axis.to_local(begin);
    for (std::int64_t i = begin; i < end; ++i) body(i - first, local + i - begin);
  }
}

/// Each byte is had by one process, or by several alike; the others have 0.
void gather(void* bytes, std::int64_t count, MPI_Comm comm) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, bytes, static_cast<int>(count), MPI_BYTE, MPI_BOR, comm), "MPI_Allreduce");
}

} // namespace

Elsewhere::Bytes Elsewhere::get(std::int64_t bytes) {
  bytes_ += bytes;
  Bytes made(std::malloc(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 16))));
  is_made_ = is_made_ && made != nullptr;
  return made;
}

Elsewhere::Elsewhere(const Routine& routine, const Problem& problem, const Arguments& a, char type,
                     const Standing& there, int nb)
    : routine_(routine), given_(a), type_(type), there_(there), arguments_(a) {
  for (const Operand& operand : problem.operands) {
    Panel panel{operand, given(a, operand), {}, nullptr};
    panel.desc = {1, there.ctxt, static_cast<int>(operand.m), static_cast<int>(operand.n), nb, nb, 0, 0, 1};
    if (there.is_inside()) {
      const std::int64_t rows = rows_of(panel.desc.data(), there.grid).local_size(there.row);
      const std::int64_t cols = cols_of(panel.desc.data(), there.grid).local_size(there.col);
      panel.desc[lld_at] = static_cast<int>(std::max<std::int64_t>(1, rows));
      panel.data = get(rows * cols * bytes_of(type));
    }
    panels_.push_back(std::move(panel));
  }
  for (Panel& panel : panels_) {
    replace(panel.operand.at, panel.data.get());
    replace(panel.operand.at + 1, const_cast<int*>(&one_));
    replace(panel.operand.at + 2, const_cast<int*>(&one_));
    replace(panel.operand.at + 3, panel.desc.data());
  }
  if (routine.info != Routine::none) replace(routine.info, &info_);
  if (!there.is_inside()) return;
  const Panel& first = panels_.front();
  const std::int64_t rows = rows_of(first.desc.data(), there.grid).local_size(there.row);
  const std::int64_t cols = cols_of(first.desc.data(), there.grid).local_size(there.col);
  const auto vector = [&](int at, Bytes& bytes, std::int64_t size) {
    if (at == Routine::none) return;
    bytes = get(size);
    replace(at, bytes.get());
  };
  vector(routine.pivots, pivots_, (rows + nb) * std::int64_t{sizeof(int)});
  vector(routine.tau, tau_, cols * bytes_of(type));
  vector(routine.eigenvalues, eigenvalues_, first.operand.n * real_bytes(type));
}

bool Elsewhere::get_work(void* stock) {
  if (routine_.work == Routine::none) return true;
  const auto set = [&](int at, void* space, int* length) {
    if (at == Routine::none) return;
    replace(at, space);
    replace(at + 1, length);
  };
  room_.assign(4096, 0);
  set(routine_.work, room_.data(), &lwork_);
  set(routine_.rwork, room_.data() + 1024, &lrwork_);
  set(routine_.iwork, room_.data() + 2048, &liwork_);
  pblas::invoke(stock, arguments_);
  if (info_ != 0) return true; // run() will ask the same, and report it
  const std::int64_t n = panels_.front().operand.n;
  const int nb = panels_.front().desc[nb_at];
  // p?syev asks for less than p?ormtr then wants where the second row begins another block, p?heevd for less than
  // p?lasrt where blocks are large
  const std::int64_t more = (n + 4 * nb) * nb;
  const auto as_int = [](std::int64_t length) { return static_cast<int>(std::min<std::int64_t>(length, INT_MAX)); };
  lwork_ = as_int(length_in(room_.data(), type_) + more);
  work_ = get(std::int64_t{lwork_} * bytes_of(type_));
  if (routine_.rwork != Routine::none) {
    lrwork_ = as_int(std::max<std::int64_t>(length_in(room_.data() + 1024, type_), 4 * n) + more);
    rwork_ = get(std::int64_t{lrwork_} * real_bytes(type_));
  }
  if (routine_.iwork != Routine::none) {
    std::memcpy(&liwork_, room_.data() + 2048, sizeof liwork_);
    iwork_ = get(std::int64_t{liwork_} * std::int64_t{sizeof(int)});
  }
  set(routine_.work, work_.get(), &lwork_);
  set(routine_.rwork, rwork_.get(), &lrwork_);
  set(routine_.iwork, iwork_.get(), &liwork_);
  return is_made_;
}

void Elsewhere::bring_in(const Everyone& all) {
  for (Panel& panel : panels_)
    if (panel.operand.use != Use::out)
      copy_of(type_)(static_cast<int>(panel.operand.m), static_cast<int>(panel.operand.n), panel.from.data,
                     panel.from.i, panel.from.j, const_cast<int*>(panel.from.desc), panel.data.get(), 1, 1,
                     panel.desc.data(), all.cover);
}

void Elsewhere::bring_back(const Everyone& all) const {
  for (const Panel& panel : panels_)
    if (panel.operand.use != Use::in)
      copy_of(type_)(static_cast<int>(panel.operand.m), static_cast<int>(panel.operand.n), panel.data.get(), 1, 1,
                     const_cast<int*>(panel.desc.data()), panel.from.data, panel.from.i, panel.from.j,
                     const_cast<int*>(panel.from.desc), all.cover);
}

double Elsewhere::moved_bytes() const {
  double bytes = 0;
  for (const Panel& panel : panels_)
    bytes += static_cast<double>(panel.operand.m) * static_cast<double>(panel.operand.n) * bytes_of(type_) *
             (panel.operand.use == Use::both ? 2 : 1);
  return bytes;
}

std::int64_t Elsewhere::pivots_count() const {
  return std::min(panels_.front().operand.m, panels_.front().operand.n);
}

/// As numbers of rows of the part, from 1.
std::vector<int> Elsewhere::all_pivots(const int* pivots, const Given& x, const Standing& where, MPI_Comm comm) const {
  std::vector<int> all(static_cast<std::size_t>(pivots_count()), 0);
  if (where.is_inside() && where.col == 0)
    for_mine(rows_of(x.desc, where.grid), where.row, x.i - 1, pivots_count(),
             [&](std::int64_t i, std::int64_t local) { all[static_cast<std::size_t>(i)] = pivots[local] - x.i + 1; });
  gather(all.data(), pivots_count() * std::int64_t{sizeof(int)}, comm);
  return all;
}

void Elsewhere::bring_pivots_in(const Everyone& all) {
  if (routine_.pivots == Routine::none || routine_.pivots_use == Use::out) return;
  const Panel& first = panels_.front();
  const auto* given = static_cast<const int*>(given_[static_cast<std::size_t>(routine_.pivots)]);
  const std::vector<int> pivots = all_pivots(given, first.from, all.caller, all.comm);
  if (!there_.is_inside()) return;
  auto* mine = static_cast<int*>(pivots_.get());
  for_mine(rows_of(first.desc.data(), there_.grid), there_.row, 0, pivots_count(),
           [&](std::int64_t i, std::int64_t local) { mine[local] = pivots[static_cast<std::size_t>(i)]; });
}

void Elsewhere::bring_vectors_back(const Everyone& all) const {
  if (routine_.pivots != Routine::none && routine_.pivots_use == Use::out) {
    const Panel& first = panels_.front();
    const Given here{nullptr, 1, 1, first.desc.data()};
    const std::vector<int> pivots = all_pivots(static_cast<const int*>(pivots_.get()), here, there_, all.comm);
    auto* mine = static_cast<int*>(given_[static_cast<std::size_t>(routine_.pivots)]);
    if (all.caller.is_inside())
      for_mine(rows_of(first.from.desc, all.caller.grid), all.caller.row, first.from.i - 1, pivots_count(),
               [&](std::int64_t i, std::int64_t local) {
                 mine[local] = pivots[static_cast<std::size_t>(i)] + first.from.i - 1;
               });
  }
  if (routine_.tau != Routine::none) bring_tau_back(all);
  if (routine_.eigenvalues != Routine::none) bring_eigenvalues_back(all);
}

void Elsewhere::bring_tau_back(const Everyone& all) const {
  const Panel& first = panels_.front();
  const auto size = static_cast<std::size_t>(bytes_of(type_));
  std::vector<char> tau(static_cast<std::size_t>(pivots_count()) * size, 0);
  const auto* mine = static_cast<const char*>(tau_.get());
  if (there_.is_inside() && there_.row == 0)
    for_mine(cols_of(first.desc.data(), there_.grid), there_.col, 0, pivots_count(),
             [&](std::int64_t j, std::int64_t local) {
               std::memcpy(&tau[static_cast<std::size_t>(j) * size], mine + static_cast<std::size_t>(local) * size,
                           size);
             });
  gather(tau.data(), static_cast<std::int64_t>(tau.size()), all.comm);
  if (!all.caller.is_inside()) return;
  for_mine(cols_of(first.from.desc, all.caller.grid), all.caller.col, first.from.j - 1, pivots_count(),
           [&](std::int64_t j, std::int64_t local) {
             std::memcpy(theirs(routine_.tau) + static_cast<std::size_t>(local) * size,
                         &tau[static_cast<std::size_t>(j) * size], size);
           });
}

/// Process 0 is in every place, and one of the caller's.
void Elsewhere::bring_eigenvalues_back(const Everyone& all) const {
  const auto bytes = static_cast<std::size_t>(panels_.front().operand.n) * static_cast<std::size_t>(real_bytes(type_));
  std::vector<char> values(bytes, 0);
  if (there_.is_inside()) std::memcpy(values.data(), eigenvalues_.get(), bytes);
  check_mpi(MPI_Bcast(values.data(), static_cast<int>(bytes), MPI_BYTE, 0, all.comm), "MPI_Bcast");
  if (all.caller.is_inside()) std::memcpy(theirs(routine_.eigenvalues), values.data(), bytes);
}

void Elsewhere::run(void* stock) {
  pblas::invoke(stock, arguments_);
}

int Elsewhere::info(MPI_Comm comm) const {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  int values[2] = {info_, rank == 0 ? info_ : std::numeric_limits<int>::max()}; // process 0 is in every place
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  return values[0] < 0 ? values[0] : values[1];
}

void Elsewhere::fill() {
  if (!there_.is_inside()) return;
  const int reals = bytes_of(type_) / real_bytes(type_);
  for (Panel& panel : panels_) {
    const gridmap::Axis rows = rows_of(panel.desc.data(), there_.grid), cols = cols_of(panel.desc.data(), there_.grid);
    const std::int64_t count = rows.local_size(there_.row) * cols.local_size(there_.col) * reals;
    std::uint64_t x = 88172645463325252u + static_cast<std::uint64_t>(there_.row * there_.grid.npcol + there_.col);
    const auto set = [&](std::int64_t k, double value) {
      if (is_single(type_))
        static_cast<float*>(panel.data.get())[k] = static_cast<float>(value);
      else
        static_cast<double*>(panel.data.get())[k] = value;
    };
    for (std::int64_t k = 0; k < count; ++k) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      set(k, static_cast<double>(x >> 11) / (1ull << 53) - 0.5);
    }
    // a heavy diagonal: Cholesky and triangular systems need it, the others do not depend on it
    for (std::int64_t j = 0; j < std::min(panel.operand.m, panel.operand.n); ++j)
      if (rows.owner(j) == there_.row && cols.owner(j) == there_.col) {
        const std::int64_t k = (rows.to_local(j) + cols.to_local(j) * panel.desc[lld_at]) * reals;
        set(k, static_cast<double>(std::max(panel.operand.m, panel.operand.n)));
        if (reals == 2) set(k + 1, 0);
      }
  }
  if (pivots_ != nullptr) {
    const gridmap::Axis rows = rows_of(panels_.front().desc.data(), there_.grid);
    auto* pivots = static_cast<int*>(pivots_.get());
    for_mine(rows, there_.row, 0, panels_.front().operand.m,
             [&](std::int64_t i, std::int64_t local) { pivots[local] = static_cast<int>(i + 1); });
  }
}

// ---- a whole call

int& Nested::depth() {
  static int depth = 0;
  return depth;
}

bool all_agree(bool mine, MPI_Comm comm) {
  int all = mine ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  return all == 1;
}

namespace {

bool has_memory(const Elsewhere& elsewhere, int processes) {
  constexpr std::int64_t small = 64 << 20;
  if (!elsewhere.is_made()) return false;
  const std::int64_t all = elsewhere.bytes_here() * processes; // as if all were on this host
  if (all < small) return true;
  const base::FreeMemory free = base::free_memory();
  return free.bytes < 0 || all < free.bytes;
}

} // namespace

Run run_there(Elsewhere& elsewhere, const Routine& routine, void* stock, const Standing& there, const Everyone& all) {
  Run run;
  bool has_room = all_agree(has_memory(elsewhere, all.size), all.comm);
  if (has_room && routine.work != Routine::none) {
    const Nested nested;
    if (there.is_inside()) has_room = elsewhere.get_work(stock);
    has_room = all_agree(has_room, all.comm);
  }
  if (!has_room) {
    run.outcome = Run::Outcome::no_memory;
    return run;
  }
  elsewhere.bring_in(all);
  elsewhere.bring_pivots_in(all);
  const double begin = MPI_Wtime();
  if (there.is_inside()) {
    const Nested nested;
    elsewhere.run(stock);
  }
  run.info = elsewhere.info(all.comm);
  run.run_s = MPI_Wtime() - begin;
  if (run.info < 0) {
    run.outcome = Run::Outcome::refused;
    return run;
  }
  elsewhere.bring_vectors_back(all);
  elsewhere.bring_back(all);
  return run;
}

double measure_there(Elsewhere& elsewhere, void* stock, const Standing& there, const Everyone& all, double& spent_s) {
  bool is_made = all_agree(elsewhere.is_made(), all.comm);
  const Nested nested;
  if (is_made && there.is_inside()) is_made = elsewhere.get_work(stock);
  if (!all_agree(is_made, all.comm)) return std::nan("");
  double least = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 2; ++repeat) {
    elsewhere.fill();
    check_mpi(MPI_Barrier(all.comm), "MPI_Barrier");
    const double begin = MPI_Wtime();
    if (there.is_inside()) elsewhere.run(stock);
    double seconds = MPI_Wtime() - begin;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, all.comm), "MPI_Allreduce");
    least = std::min(least, seconds);
    spent_s += seconds;
  }
  return least;
}

} // namespace blacs_dyn::calls
