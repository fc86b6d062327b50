// SPDX-License-Identifier: BSD-3-Clause
#include "grid/copier.hpp"

#include <algorithm>

#include "base/status.hpp"
#include "grid/machine_figures.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

namespace {

void require_content(const char* call, const Grid& grid) {
  if (grid.comm() == MPI_COMM_NULL)
    throw Error(Status::bad_state,
                "blacs-dyn: {} before the first resize point of a new process: its matrices have no content yet", call);
}

} // namespace

void Copier::copy(const Matrix* from, Matrix* to) {
  require_content("dyngrid_copy", grid_);
  together_on_number(
      grid_.comm(), [&] { return matrices_.check_copy("dyngrid_copy", redist::Op::none, from, to); },
      "blacs-dyn: dyngrid_copy: called with different matrices on different processes");
  if (from != to) move(redist::Op::none, nullptr, *from, nullptr, *to);
}

void Copier::add(char op, const void* alpha, const Matrix* from, const void* beta, Matrix* to) {
  require_content("dyngrid_add", grid_);
  redist::Op done = redist::Op::none;
  const auto checked = [&] {
    done = redist::op_of(op);
    const std::int64_t print = matrices_.check_copy("dyngrid_add", done, from, to);
    if (alpha == nullptr || beta == nullptr)
      throw Error(Status::null_pointer, "blacs-dyn: dyngrid_add: {} is null, expected an element of type {}",
                  alpha == nullptr ? "alpha" : "beta", to->type);
    if (from == to)
      throw Error(
          Status::bad_argument,
          "blacs-dyn: dyngrid_add: \"{}\" is added to itself, expected two matrices: copy it to a second one before",
          to->name);
    return print;
  };
  together_on_number(grid_.comm(), checked,
                     "blacs-dyn: dyngrid_add: called with different matrices or operations on different processes");
  move(done, alpha, *from, beta, *to);
}

void Copier::move(redist::Op op, const void* alpha, const Matrix& from, const void* beta, Matrix& to) {
  executor();
  if (matrices_.revision() != revision_) kept_.clear(); // the address of a freed matrix may be another one's
  revision_ = matrices_.revision();
  const auto known = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& k) { return k.op == op && k.from == &from && k.to == &to; });
  if (known != kept_.end()) { // on every process: they keep the same ones
    kept_.splice(kept_.begin(), kept_, known);
  } else {
    try {
      together(grid_.comm(), [&] { plan(op, from, to); });
    } catch (const Error&) {
      kept_.clear(); // some have made the plan
      throw;
    }
  }
  Kept& kept = kept_.front();
  if (!kept.exchange) kept.exchange.emplace(redist::Exchange::prepare(kept.plans, *executor_));
  redist::Pointers& where = kept.pointers[0];
  where.from = from.local.data();
  where.lld_from = kept.from_lld;
  where.to = to.local.data();
  where.lld_to = kept.to_lld;
  where.alpha = alpha;
  where.beta = beta;
  kept.exchange->run(kept.pointers);
  ++to.writes;
}

redist::Executor& Copier::executor() {
  if (!executor_) executor_.emplace(grid_.comm());
  return *executor_;
}

redist::PlanOptions Copier::plan_options(char type) const {
  redist::PlanOptions options;
  options.machine = machine_.agreed();
  options.element_bytes = static_cast<int>(element_bytes(type));
  if (executor_->ranks_on_host() == grid_.shape().size()) options.schedule = redist::Schedule::async;
  return options;
}

/// Makes it the first of the kept ones.
void Copier::plan(redist::Op op, const Matrix& from, const Matrix& to) {
  const int rank = grid_.rank();
  redist::PlanOptions options = plan_options(from.type);
  options.op = op;
  const bool is_transposed = op != redist::Op::none;
  const MatrixExtents extents = copied_as(from, is_transposed, to).value();
  const Matrix::View source = from.as(is_transposed ? extents.transposed() : extents, rank),
                     target = to.as(extents, rank);
  const redist::Plan plan(source.layout, target.layout, options);
  kept_.push_front({op, &from, &to, source.lld, target.lld, plan.for_rank(rank, from.type)});
  kept_.front().plans.push_back(&kept_.front().plan);
  kept_.front().pointers.resize(1);
  if (kept_.size() > exchanges_kept) kept_.pop_back();
}

void Copier::close() {
  kept_.clear();
  if (executor_) executor_->close();
  executor_.reset();
}

} // namespace blacs_dyn
