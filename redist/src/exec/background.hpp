// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <exception>
#include <thread>

#include "exec/prepared.hpp"

namespace redist::detail {

/// The helper thread: moves what goes through shared memory between start() and finish(). MPI is not called from it.
class Background {
public:
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    if (thread_.joinable()) thread_.join(); // its partners are in the same exchange: it ends
  }

  /// Only when nothing goes over MPI. If no thread can be started, finish() does it all.
  void start(Prepared& exchange);
  bool is_running() const { return thread_.joinable(); }
  bool is_done() const { return is_done_.load(); }
  /// @throws what the thread threw
  void join();

private:
  std::thread thread_;
  std::exception_ptr failed_;
  std::atomic<bool> is_done_{false};
};

} // namespace redist::detail
