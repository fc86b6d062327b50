// SPDX-License-Identifier: BSD-3-Clause
// Loads and balances between the application's thread of process 0 and the listener's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "advise/process_load.hpp"
#include "control/balance_mode.hpp"
#include "control/protocol.hpp"

namespace control {

/// A client's question, or its request for a balance, at the next resize point.
struct BalanceQuestion {
  std::int64_t number = 0;
  bool now = false;                ///< carry it out, if the decision is to balance
  std::optional<BalanceMode> mode; ///< from here on
};

/// Neither thread waits for the other for longer than a few copies take.
class LoadBoard {
public:
  LoadBoard();
  ~LoadBoard();
  std::function<void()> wake; ///< called when there is an event; set before the other thread starts
  // ---- the application's thread
  void set_mode(BalanceMode mode);
  /// A client has requested loads recently: they are gathered even if nothing is balanced. One atomic load.
  bool is_requested(double now_s) const noexcept { return now_s < requested_until_s_.load(std::memory_order_relaxed); }
  bool has_question() const noexcept { return has_question_.load(std::memory_order_acquire); }
  std::optional<BalanceQuestion> take_question();
  void show(const std::vector<advise::ProcessLoad>& loads, double now_s);
  void answer(const BalanceQuestion& question, Json fields);
  void post(Json event); ///< of a balance; the last one is kept
  // ---- the listener's thread
  Json loads(double now_s); ///< the reply to `load`; requests them
  /// @return the earlier question that this one replaces
  std::optional<BalanceQuestion> ask(const Request& request, std::int64_t number);
  std::vector<Json> take_events();

private:
  mutable std::mutex mutex_;
  std::atomic<double> requested_until_s_{0};
  std::atomic<bool> has_question_{false};
  std::optional<BalanceQuestion> question_;
  BalanceMode mode_ = BalanceMode::off;
  std::vector<Json> loads_;
  double shown_s_ = -1;
  std::unique_ptr<const Json> last_balance_; ///< null: none yet
  std::vector<Json> events_;
};

} // namespace control
