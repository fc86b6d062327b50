// SPDX-License-Identifier: BSD-3-Clause
#include "matrix_move.hpp"

#include <algorithm>

#include "mpi_util.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

void MatrixMove::run(MPI_Comm gathered, redist::Schedule wanted, const std::function<void()>& before_exchange) {
  const double t0 = MPI_Wtime();
  redist::Executor executor(gathered);
  exchange_s = MPI_Wtime() - t0;
  try {
    // on one host nothing is gained by steps; between hosts the plan chooses by predicted cost
    const bool on_one_host = executor.range(executor.ranks_on_host()).first == std::int64_t{who_.count};
    const bool is_free = wanted == redist::Schedule::automatic;
    lay_out(gathered);
    plan(gathered, is_free && on_one_host ? redist::Schedule::async : wanted);
    before_exchange();
    exchange(executor);
  } catch (const Error& error) {
    // agreed errors only: after a failure of MPI nothing collective is left to do
    if (error.status() != Status::mpi_failure) executor.close();
    throw;
  }
  executor.close();
}

void MatrixMove::lay_out(MPI_Comm gathered) {
  std::int64_t print = 0;
  together(gathered, [&] {
    for (const auto& a : matrices_.all()) lays_.push_back(a->on(to_, who_.my_position));
    print = fingerprint(lays_);
  });
  check_same(gathered, print, "blacs-dyn: the rules of the matrices give different block sizes on different processes");
}

void MatrixMove::plan(MPI_Comm gathered, redist::Schedule schedule) {
  const redist::Grid from{from_.nprow, from_.npcol, who_.old_ranks}, to{to_.nprow, to_.npcol, who_.new_ranks};
  together(gathered, [&] {
    const double t0 = MPI_Wtime();
    for (std::size_t i = 0; i < lays_.size(); ++i) {
      const Matrix& a = *matrices_.all()[i];
      const Lay& lay = lays_[i];
      arrays_.emplace_back(who_.my_position < to_.size() ? a.bytes(lay) : 0);
      redist::PlanOptions options;
      options.schedule = schedule;
      options.element_bytes = static_cast<int>(element_bytes(a.type));
      const redist::Plan plan({a.lay.rows, a.lay.cols, from}, {lay.rows, lay.cols, to}, options);
      const redist::PlanTotals totals = plan.totals();
      moved_bytes += totals.moved_elements * options.element_bytes;
      kept_bytes += totals.kept_elements * options.element_bytes;
      plans_.push_back(plan.for_rank(who_.my_rank));
    }
    plan_s = MPI_Wtime() - t0;
  });
}

void MatrixMove::exchange(redist::Executor& executor) {
  if (plans_.empty()) return;
  const double t0 = MPI_Wtime();
  std::vector<redist::Transfer> transfers;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const Matrix& a = *matrices_.all()[i];
    transfers.push_back({&plans_[i], who_.is_joining ? nullptr : a.local.data(), a.lay.lld(), arrays_[i].data(),
                         std::max<std::int64_t>(1, plans_[i].m_loc_to), a.type});
  }
  executor.execute(transfers);
  exchange_s += MPI_Wtime() - t0;
}

void MatrixMove::use_new(int context) {
  for (std::size_t i = 0; i < arrays_.size(); ++i)
    matrices_.all()[i]->place(std::move(lays_[i]), std::move(arrays_[i]), context);
}

} // namespace blacs_dyn
