// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <future>
#include <memory>
#include <vector>

#include "exec/connections.hpp"
#include "exec/prepared.hpp"
#include "redist/exchange.hpp"
#include "redist/executor.hpp"

namespace redist {

struct Executor::Impl {
  std::shared_ptr<detail::Connections> ranks; ///< exchanges that outlive the executor find it closed
  std::unique_ptr<detail::Prepared> once;     ///< of execute() and start()
  /// The helper thread: moves what goes through shared memory between start() and finish(). MPI is not called from it.
  /// When this is dropped it waits for the thread, whose partners are in the same exchange: it ends.
  std::future<void> helper;

  /// Prepares and begins in one agreement.
  void begin(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers);
  /// Only when nothing goes over MPI. If no thread can be started, finish() does it all.
  void start_helper();
  /// Messages over the communicator go on meanwhile. @throws what the thread threw
  void join_helper();
};

} // namespace redist
