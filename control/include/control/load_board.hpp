// SPDX-License-Identifier: BSD-3-Clause
// Loads and balances between the application's thread of process 0 and the one that listens.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "control/balancer.hpp"
#include "control/protocol.hpp"

namespace control {

/// What somebody outside wants to know, or to have done, at the next resize point.
struct BalanceQuestion {
  std::int64_t number = 0;
  bool now = false;                ///< do it, if it is to be done
  std::optional<BalanceMode> mode; ///< from here on
};

/// Neither thread waits for the other for longer than a few copies take.
class LoadBoard {
public:
  LoadBoard();
  ~LoadBoard();
  std::function<void()> wake; ///< called when there is something to tell; set before the other thread is there
  // ---- the application's thread
  void set_mode(BalanceMode mode);
  /// Somebody has asked for loads a short while ago: they are to be gathered though nothing is balanced. One atomic
  /// load.
  bool is_wanted(double now_s) const noexcept { return now_s < wanted_until_s_.load(std::memory_order_relaxed); }
  bool has_question() const noexcept { return has_question_.load(std::memory_order_acquire); }
  std::optional<BalanceQuestion> take_question();
  void show(const std::vector<ProcessLoad>& loads, double now_s);
  void answer(const BalanceQuestion& question, Json fields);
  void tell(Json event); ///< of a balance; the last one is kept
  // ---- the listener's thread
  Json loads(double now_s); ///< the reply to `load`; wants them
  /// @return what was asked before and is put aside by this
  std::optional<BalanceQuestion> ask(const Request& request, std::int64_t number);
  std::vector<Json> take_events();

private:
  mutable std::mutex mutex_;
  std::atomic<double> wanted_until_s_{0};
  std::atomic<bool> has_question_{false};
  std::optional<BalanceQuestion> question_;
  BalanceMode mode_ = BalanceMode::off;
  std::vector<Json> loads_;
  double shown_s_ = -1;
  std::unique_ptr<const Json> last_balance_; ///< null: none yet
  std::vector<Json> events_;
};

} // namespace control
