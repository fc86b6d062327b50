// SPDX-License-Identifier: BSD-3-Clause
#include "redist/exchange.hpp"

#include <utility>

#include "exec/impl.hpp"

namespace redist {

Exchange Exchange::prepare(const std::vector<TransferPlan>& plans, Executor& executor) {
  if (!executor.impl_) throw base::Error(base::Status::bad_state, "redist: executor: is closed, expected an open one");
  std::shared_ptr<detail::Connections> ranks = executor.impl_->ranks;
  ranks->require_ready();
  std::unique_ptr<Impl> made;
  const detail::Outcome mine = ranks->attempt([&] { made = std::make_unique<Impl>(ranks, plans); });
  ranks->agree(mine, made ? made->prepared.signature : 0, detail::PutDown::nothing, false);
  return Exchange(std::move(made));
}

Exchange::Exchange(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;

ExecuteReport Exchange::run(const std::vector<Pointers>& pointers) const {
  detail::Connections& ranks = *impl_->ranks;
  ranks.require_ready();
  detail::begin_run(ranks, &impl_->prepared, pointers, {});
  return detail::finish_run(ranks);
}

} // namespace redist
