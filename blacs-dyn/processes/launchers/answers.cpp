// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/answers.hpp"

#include <algorithm>

namespace blacs_dyn::pmix {

bool Answers::may_ask(const void* asker) {
  const std::lock_guard lock(mutex_);
  if (is_open(question) || is_open(order) || is_open(start)) {
    if (next_ == nullptr) {
      next_ = asker;
      put_off_ = Clock::now();
    }
    return false;
  }
  const bool is_others_turn = next_ != nullptr && next_ != asker && Clock::now() - put_off_ < longest_;
  if (!is_others_turn) next_ = nullptr;
  return !is_others_turn;
}

void Answers::settle() {
  std::unique_lock lock(mutex_);
  for (const Kind kind : {question, order})
    has_come_.wait_until(lock, open_[kind].since + longest_, [&] { return open_[kind].count == 0; });
}

void Answers::expect(Kind kind) {
  const std::lock_guard lock(mutex_);
  ++open_[kind].count;
  open_[kind].since = Clock::now();
}

void Answers::have_come(Kind kind) {
  const std::lock_guard lock(mutex_);
  open_[kind].count = std::max(0, open_[kind].count - 1);
  has_come_.notify_all();
}

} // namespace blacs_dyn::pmix
