// SPDX-License-Identifier: BSD-3-Clause
#include "copier.hpp"

#include <algorithm>

#include "mpi_util.hpp"
#include "redist/plan.hpp"

namespace blacs_dyn {

void Copier::copy(const Matrix& from, Matrix& to, const Holdings::Site& site, std::int64_t revision) {
  if (!executor_) executor_.emplace(site.grid);
  together(site.grid, [&] {
    if (revision != revision_) plans_.clear(); // the address of a freed matrix may be another one's
    revision_ = revision;
    const auto at =
        std::find_if(plans_.begin(), plans_.end(), [&](const Kept& k) { return k.from == &from && k.to == &to; });
    if (at != plans_.end()) return plans_.splice(plans_.begin(), plans_, at);
    int rank = 0;
    MPI_Comm_rank(site.grid, &rank);
    const redist::Grid grid = redist::Grid::row_major(site.shape.nprow, site.shape.npcol);
    redist::PlanOptions options;
    options.element_bytes = static_cast<int>(element_bytes(from.type));
    if (executor_->ranks_on_host() == site.shape.size()) options.schedule = redist::Schedule::async;
    const redist::Plan plan({from.lay.rows, from.lay.cols, grid}, {to.lay.rows, to.lay.cols, grid}, options);
    plans_.push_front({&from, &to, plan.for_rank(rank)});
    if (plans_.size() > plans_kept) plans_.pop_back();
  });
  executor_->execute(
      {{&plans_.front().plan, from.local.data(), from.lay.lld(), to.local.data(), to.lay.lld(), from.type}});
}

void Copier::close() {
  plans_.clear();
  if (executor_) executor_->close();
  executor_.reset();
}

} // namespace blacs_dyn
