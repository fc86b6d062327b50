// SPDX-License-Identifier: BSD-3-Clause
#include "redist/exchange.hpp"

#include <optional>
#include <utility>

#include "base/mpi/agree.hpp"
#include "exec/impl.hpp"

namespace redist {

Exchange Exchange::prepare(const std::vector<const RankPlan*>& plans, Executor& executor) {
  if (!executor.impl_) throw base::Error(base::Status::bad_state, "redist: executor: is closed, expected an open one");
  std::shared_ptr<detail::Connections> ranks = executor.impl_->ranks;
  ranks->require_ready();
  std::unique_ptr<detail::Prepared> made;
  const std::optional<base::Error> wrong =
      base::attempt([&] { made = std::make_unique<detail::Prepared>(ranks, plans, detail::Slab{}); });
  ranks->agree(wrong, made ? made->signature : 0, detail::PutDown::nothing, false);
  return Exchange(std::move(made));
}

Exchange::Exchange(std::unique_ptr<detail::Prepared> prepared) : prepared_(std::move(prepared)) {}
Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;

ExecuteReport Exchange::run(const std::vector<Pointers>& pointers) const {
  detail::Connections& ranks = *prepared_->ranks;
  ranks.require_ready();
  detail::begin_run(ranks, prepared_.get(), pointers, {});
  return detail::finish_run(ranks);
}

} // namespace redist
