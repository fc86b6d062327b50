// SPDX-License-Identifier: BSD-3-Clause
#include "grid/copier.hpp"

#include <algorithm>

#include "processes/mpi_util.hpp"
#include "redist/plan.hpp"

namespace blacs_dyn {

void Copier::copy(const Matrix* from, Matrix* to, const Matrices& matrices, const Matrices::Site& site) {
  if (site.grid == MPI_COMM_NULL)
    throw base::Error(base::Status::bad_state, "blacs-dyn: dyngrid_copy before the first resize point of a new "
                                               "process: its matrices have no content yet");
  std::int64_t print = 0;
  together(site.grid, [&] { print = matrices.check_copy(from, to); });
  check_same(site.grid, print, "blacs-dyn: dyngrid_copy: called with different matrices on different processes");
  if (from == to) return;
  executor(site.grid);
  together(site.grid, [&] {
    if (matrices.revision() != revision_) kept_.clear(); // the address of a freed matrix may be another one's
    revision_ = matrices.revision();
    plan(*from, *to, site);
  });
  Kept& kept = kept_.front();
  if (!kept.exchange) kept.exchange.emplace(redist::Exchange::prepare({&kept.plan}, *executor_));
  kept.exchange->run({{from->local.data(), from->lld(), to->local.data(), to->lld()}});
  ++to->writes;
}

redist::Executor& Copier::executor(MPI_Comm grid) {
  if (!executor_) executor_.emplace(grid);
  return *executor_;
}

/// Makes it the first of the kept ones.
void Copier::plan(const Matrix& from, const Matrix& to, const Matrices::Site& site) {
  const auto at =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.from == &from && k.to == &to; });
  if (at != kept_.end()) return kept_.splice(kept_.begin(), kept_, at);
  int rank = 0;
  MPI_Comm_rank(site.grid, &rank);
  redist::PlanOptions options;
  options.element_bytes = static_cast<int>(element_bytes(from.type));
  if (executor_->ranks_on_host() == site.shape.size()) options.schedule = redist::Schedule::async;
  const redist::Plan plan(from.layout, to.layout, options);
  kept_.push_front({&from, &to, plan.for_rank(rank, from.type), {}});
  if (kept_.size() > exchanges_kept) kept_.pop_back();
}

void Copier::close() {
  kept_.clear();
  if (executor_) executor_->close();
  executor_.reset();
}

} // namespace blacs_dyn
