// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <vector>

#include "exec/stream.hpp"

namespace redist::detail {

/// Picks the next outgoing stream: those with something in the earliest unfinished step, in turn.
class Turn {
public:
  explicit Turn(std::vector<Stream>* streams) : streams_(streams) {}
  void add(std::size_t s) {
    all_.push_back(s);
    active_.reserve(all_.capacity());
  }
  /// The streams are at their beginning again.
  void rewind() {
    active_.clear();
    is_over_ = false;
  }
  bool done() {
    refill();
    return active_.empty();
  }
  std::size_t next_index() const { return active_[at_ % active_.size()]; } // after done() said no
  Stream& next() { return (*streams_)[next_index()]; }
  void advance() {
    Stream& s = next();
    if (s.at_end() || s.step() != step_)
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(at_ % active_.size()));
    else
      ++at_;
  }

private:
  void refill() {
    if (is_over_ || !active_.empty()) return;
    at_ = 0;
    bool any = false;
    for (std::size_t s : all_) {
      const Stream& stream = (*streams_)[s];
      if (stream.at_end() || (any && stream.step() > step_)) continue;
      if (!any || stream.step() < step_) active_.clear();
      any = true;
      step_ = stream.step();
      active_.push_back(s);
    }
    is_over_ = !any;
  }
  std::vector<Stream>* streams_;
  std::vector<std::size_t> all_, active_;
  std::size_t at_ = 0;
  int step_ = 0;
  bool is_over_ = false;
};

} // namespace redist::detail
