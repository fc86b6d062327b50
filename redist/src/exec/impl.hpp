// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "exec/background.hpp"
#include "exec/connections.hpp"
#include "exec/prepared.hpp"
#include "redist/exchange.hpp"
#include "redist/executor.hpp"

namespace redist {

struct Executor::Impl {
  std::shared_ptr<detail::Connections> ranks; ///< exchanges that outlive the executor find it closed
  std::unique_ptr<detail::Prepared> once;     ///< of execute() and start()
  detail::Background helper;

  void require_ready() const { ranks->require_ready(); }
  /// Prepares and begins in one agreement.
  void begin(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers);
};

} // namespace redist
