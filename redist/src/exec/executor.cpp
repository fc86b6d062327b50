// SPDX-License-Identifier: BSD-3-Clause
#include "redist/executor.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/mpi/agree.hpp"
#include "base/mpi/wait.hpp"
#include "base/status.hpp"
#include "exec/impl.hpp"
#include "exec/mpi_check.hpp"

namespace redist {

using base::Error;
using base::Status;

Executor::Executor(MPI_Comm comm, ExecuteOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->ranks = std::make_shared<detail::Connections>(comm, options);
}

Executor::~Executor() {
  if (!impl_ || impl_->ranks->comm == MPI_COMM_NULL) return;
  if (std::uncaught_exceptions() > 0 || !detail::mpi_is_up())
    return; // freeing is collective: a leak can be counted, a hang cannot
  try {
    close();
  } catch (...) {
  }
}

Executor::Executor(Executor&&) noexcept = default;

Executor& Executor::operator=(Executor&& other) noexcept {
  if (this != &other) {
    Executor old(std::move(*this)); // closed by its destructor
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Executor::Impl& Executor::open() const {
  if (!impl_) throw Error(Status::bad_state, "redist: executor: is closed, expected an open one");
  impl_->ranks->require_open();
  return *impl_;
}

Executor::Impl& Executor::under_way() const {
  if (!impl_ || impl_->ranks->active == nullptr)
    throw Error(Status::bad_state, "redist: executor: no exchange is under way, expected start() first");
  return *impl_;
}

void Executor::Impl::begin(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers) {
  ranks->require_ready();
  once.reset();
  const std::optional<Error> wrong =
      base::attempt([&] { once = std::make_unique<detail::Prepared>(ranks, plans, detail::Slab{}); });
  detail::begin_run(*ranks, once.get(), pointers, wrong);
}

void Executor::Impl::start_helper() {
  detail::Prepared& exchange = *once;
  if (!ranks->host || !exchange.wire_done() || exchange.done()) return;
  try {
    helper = std::async(std::launch::async, [&exchange] { exchange.drain(false); });
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
}

void Executor::Impl::join_helper() {
  if (!helper.valid()) return;
  std::chrono::duration<double> slice(detail::SharedHost::first_slice_s);
  while (helper.wait_for(slice) != std::future_status::ready) {
    base::let_mpi_progress(ranks->comm); // as in Prepared::drain
    slice = std::min(2 * slice, std::chrono::duration<double>(detail::SharedHost::longest_slice_s));
  }
  helper.get();
}

ExecuteReport Executor::execute(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers) {
  open().begin(plans, pointers);
  return finish();
}

void Executor::start(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers) {
  Impl& self = open();
  self.begin(plans, pointers);
  self.once->progress();
  self.start_helper();
}

bool Executor::advance() {
  Impl& self = under_way();
  const bool has_helper = self.helper.valid();
  if (!has_helper) self.ranks->active->progress();
  const bool is_done = has_helper ? self.helper.wait_for(std::chrono::seconds(0)) == std::future_status::ready
                                  : self.ranks->active->done();
  if (!is_done) base::let_mpi_progress(self.ranks->comm); // as in Prepared::drain
  return is_done;
}

ExecuteReport Executor::finish() {
  Impl& self = under_way();
  try {
    self.join_helper();
  } catch (...) {
    self.ranks->broken = true;
    self.ranks->active = nullptr;
    throw;
  }
  const ExecuteReport report = detail::finish_run(*self.ranks);
  self.once.reset();
  return report;
}

void Executor::refuse(const Error& why) {
  open().ranks->require_ready();
  detail::begin_run(*impl_->ranks, nullptr, {}, why);
  throw why; // not reached: all have agreed on an error
}

bool Executor::run_if_same(std::int64_t number, const Exchange* exchange, const std::vector<Pointers>& pointers) {
  open().ranks->require_ready();
  detail::Prepared* prepared = number < 0 ? nullptr : exchange->prepared_.get();
  if (!detail::begin_run(*impl_->ranks, prepared, pointers, {}, &number)) return false;
  detail::finish_run(*impl_->ranks);
  return true;
}

std::array<std::int64_t, 4> Executor::minimum(const std::array<std::int64_t, 4>& mine) {
  static_assert(detail::SharedHost::numbers_at_once == 4);
  std::int64_t numbers[4] = {mine[0], mine[1], mine[2], mine[3]};
  open().ranks->minimum_of(numbers);
  return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

int Executor::ranks_on_host() const {
  return impl_ && impl_->ranks->host ? impl_->ranks->host->reached() : 1;
}

bool Executor::shares_memory_with(int rank) const {
  return impl_ && (rank == impl_->ranks->rank || impl_->ranks->reaches(rank));
}

bool Executor::is_on_one_host() const {
  return impl_ && impl_->ranks->host && impl_->ranks->host->everybody();
}

int Executor::cores_on_host() const {
  return impl_ && impl_->ranks->host ? impl_->ranks->host->cores() : 1;
}

void Executor::close() {
  if (!impl_ || impl_->ranks->comm == MPI_COMM_NULL) return;
  if (impl_->ranks->active != nullptr) finish();
  impl_->ranks->close();
}

Exchange Exchange::prepare(const std::vector<const RankPlan*>& plans, Executor& executor) {
  const std::shared_ptr<detail::Connections> ranks = executor.open().ranks;
  ranks->require_ready();
  std::unique_ptr<detail::Prepared> made;
  const std::optional<Error> wrong =
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
