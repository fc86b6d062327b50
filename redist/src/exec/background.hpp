// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <future>

#include "exec/prepared.hpp"

namespace redist::detail {

/// The helper thread: moves what goes through shared memory between start() and finish(). MPI is not called from it.
/// When this is dropped it waits for the thread, whose partners are in the same exchange: it ends.
class Background {
public:
  /// Only when nothing goes over MPI. If no thread can be started, finish() does it all.
  void start(Prepared& exchange);
  bool is_running() const { return thread_.valid(); }
  bool is_done() const;
  /// Messages over `comm` go on meanwhile.
  /// @throws what the thread threw
  void join(MPI_Comm comm);

private:
  std::future<void> thread_;
};

} // namespace redist::detail
