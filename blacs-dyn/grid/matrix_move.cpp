// SPDX-License-Identifier: BSD-3-Clause
#include "grid/matrix_move.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/memory.hpp"
#include "grid/change_routines.hpp"
#include "grid/checkpoints.hpp"
#include "grid/machine_figures.hpp"
#include "grid/settings.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

namespace {

/// A move in slabs cannot be taken back. Before a restore the matrices have nothing to save. @throws Error to refuse it
void save_before_slabs(const MoveOrders& orders) {
  if (!orders.has_data || orders.settings.checkpoint.empty() || orders.checkpoints.must_restore()) return;
  const std::string why = orders.checkpoints.save();
  if (!why.empty())
    throw Error(Status::io_failure,
                "blacs-dyn: the matrices would move in slabs, and the checkpoint before it was not written: {}", why);
}

/// Exchanges by an executor. Each process finds alone that another one has died in it (timeout), or never does, and
/// then goes on: to those that would agree on an error this is a failure of MPI.
template <class Step> void exchanged(Step&& step) {
  try {
    step();
  } catch (const Error& error) {
    if (error.status() != Status::timeout) throw;
    throw Error(Status::mpi_failure, error.what());
  }
}

} // namespace

void MatrixMove::run(MPI_Comm gathered, const GridMap& to, std::vector<Matrix*> matrices, const MoveOrders& orders) {
  const double t0 = MPI_Wtime();
  redist::ExecuteOptions options;
  options.is_comm_lent = true; // it was made for this change
  redist::Executor executor(gathered, options);
  exchange_s = MPI_Wtime() - t0;
  try {
    exchanged([&] { orders.machine.measure_once(gathered, executor); });
    run_by(executor, gathered, to, std::move(matrices), orders);
  } catch (const Error& error) {
    // agreed errors only: after a failure of MPI nothing collective is left to do
    if (error.status() != Status::mpi_failure) executor.close();
    throw;
  }
  executor.close();
}

void MatrixMove::run_by(redist::Executor& executor, MPI_Comm gathered, const GridMap& to, std::vector<Matrix*> matrices,
                        const MoveOrders& orders) {
  matrices_ = std::move(matrices);
  to_ = to.shape;
  // on one host nothing is gained by steps; between hosts the plan chooses by predicted cost
  const redist::Schedule schedule = orders.settings.exchange_order;
  const bool is_free = schedule == redist::Schedule::automatic;
  bool is_short = false;
  std::int64_t print = 0;
  const std::optional<Error> trouble = attempt([&] {
    print = lay_out(to);
    is_short = must_go_in_slabs(memory_of_host(executor), orders.settings.is_exchange_low);
    plan(is_free && executor.is_on_one_host() ? redist::Schedule::async : schedule, orders.machine.agreed());
  });
  // in one round; MPI agrees where something is wrong, and gives the reason to all
  std::array<std::int64_t, 4> least{};
  exchanged([&] { least = executor.minimum({trouble ? -1 : 0, print, -print, is_short ? -1 : 0}); });
  if (least[0] != 0 || least[1] != -least[2])
    agree_on_number(gathered, trouble ? trouble->status() : Status::success, trouble ? trouble->what() : "", print,
                    "blacs-dyn: the rules of the matrices give different block sizes or owners on different processes");
  is_in_slabs = least[3] != 0;
  if (is_in_slabs) together(gathered, [&] { save_before_slabs(orders); });
  if (orders.has_data) orders.routines.call_before(); // nothing can refuse the move any more
  exchanged([&] { exchange(executor); });
}

/// @return a number that is the same on all processes where the layouts are
std::int64_t MatrixMove::lay_out(const GridMap& to) {
  std::vector<const redist::Layout*> layouts;
  moved_.resize(matrices_.size());
  plans_.reserve(matrices_.size());
  pointers_.reserve(matrices_.size());
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    const Matrix& a = *matrices_[i];
    moved_[i].layout = received.count(&a) != 0 ? std::move(received.at(&a)) : a.on(to);
    if (a.is_factored) // the factorization takes its descriptor there
      for (const gridmap::Axis* axis : {&moved_[i].layout.rows, &moved_[i].layout.cols})
        static_cast<void>(axis->in_turn());
    moved_[i].local_size = a.local_size_on(moved_[i].layout, who_.my_position);
    layouts.push_back(&moved_[i].layout);
  }
  return fingerprint(layouts);
}

MoveMemory MatrixMove::memory_of_host(const redist::Executor& executor) const {
  MoveMemory memory;
  memory.processes = executor.ranks_on_host();
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    const Matrix& a = *matrices_[i];
    std::int64_t columns = redist::usual_slabs;
    const auto bytes_here = [&](const redist::Layout& layout, const std::vector<int>& ranks) {
      double bytes = 0;
      for (const int at : layout.grid.ranks) {
        if (!executor.shares_memory_with(ranks[static_cast<std::size_t>(at)])) continue;
        const redist::LocalSize size = layout.local_size_of(at);
        bytes += static_cast<double>(a.bytes(size));
        if (size.cols > 0) columns = std::min(columns, size.cols);
      }
      return bytes;
    };
    // the program's arrays stay whole until the new ones are filled
    const double before = a.is_adopted ? 0 : bytes_here(a.layout, who_.old_ranks);
    const double after = bytes_here(moved_[i].layout, who_.new_ranks);
    memory.add(before, after, columns);
  }
  return memory;
}

/// Whether this host has too little memory for both copies. @throws Error{out_of_memory} when slabs do not help either
bool MatrixMove::must_go_in_slabs(const MoveMemory& memory, bool is_low) const {
  if (memory.before + memory.after == 0) return false;
  const base::FreeMemory free = base::free_memory();
  if (!is_low && (free.bytes < 0 || free.bytes >= memory.with_both())) return false;
  base::require_memory("the matrices on the new grid, moved in slabs", memory.in_slabs());
  return true;
}

void MatrixMove::plan(redist::Schedule schedule, const redist::Machine& machine) {
  const auto in_union = [](redist::Layout layout, const std::vector<int>& ranks) {
    layout.grid.renumber(ranks);
    return layout;
  };
  const double t0 = MPI_Wtime();
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    const Matrix& a = *matrices_[i];
    Moved& moved = moved_[i];
    if (who_.my_position < to_.size()) moved.array = array_of(a, moved.local_size);
    redist::PlanOptions options;
    options.schedule = schedule;
    options.machine = machine;
    options.element_bytes = static_cast<int>(element_bytes(a.type));
    const redist::Plan plan(in_union(a.layout, who_.old_ranks), in_union(moved.layout, who_.new_ranks), options);
    const redist::PlanTotals totals = plan.totals();
    moved_bytes += totals.moved_elements * options.element_bytes;
    kept_bytes += totals.kept_elements * options.element_bytes;
    moved.plan = plan.for_rank(who_.my_rank, a.type);
  }
  plan_s = MPI_Wtime() - t0;
}

LocalArray MatrixMove::array_of(const Matrix& a, redist::LocalSize size) {
  const std::size_t bytes = a.bytes(size);
  if (spare && !a.owner.allocate && bytes <= spare->bytes() && bytes > spare->bytes() / 2)
    return LocalArray(std::move(*spare));
  return a.array_of(size);
}

void MatrixMove::exchange(redist::Executor& executor) {
  if (moved_.empty()) return;
  const double t0 = MPI_Wtime();
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    const Matrix& a = *matrices_[i];
    Moved& moved = moved_[i];
    plans_.push_back(&moved.plan);
    pointers_.push_back(
        {who_.is_joining ? nullptr : a.local.data(), a.lld(), moved.array.data(), moved.local_size.lld()});
    pointers_.back().keeps_from = a.is_adopted;
  }
  if (is_in_slabs) {
    if (spare) spare->clear();
    executor.execute_in_place(plans_, pointers_);
  } else {
    executor.execute(plans_, pointers_);
  }
  exchange_s += MPI_Wtime() - t0;
}

void MatrixMove::use_new() {
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    Moved& moved = moved_[i];
    Matrix& a = *matrices_[i];
    redist::SharedArray old = a.local.take_own();
    a.place(std::move(moved.layout), moved.local_size, std::move(moved.array), a.context());
    if (spare && !is_in_slabs && old.bytes() > spare->bytes() && old.lend()) *spare = std::move(old);
  }
}

} // namespace blacs_dyn
