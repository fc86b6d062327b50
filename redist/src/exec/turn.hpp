// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "exec/stream.hpp"

namespace redist::detail {

/// Picks the next outgoing stream of a run: those with something in the earliest unfinished step, in turn. Which
/// streams it serves is fixed when the exchange is prepared. What is left of them belongs to the run: begin() comes
/// first.
class Turn {
public:
  Turn() = default;
  Turn(std::vector<Stream>* streams, std::vector<std::size_t> served) : streams_(streams), served_(std::move(served)) {
    active_.reserve(served_.size());
  }
  /// The streams are where a run begins.
  void begin() { start_step(); }
  bool done() const { return active_.empty(); }
  std::size_t next_index() const { return active_[at_ % active_.size()]; } // while not done()
  Stream& next() const { return (*streams_)[next_index()]; }
  /// The next stream has moved on.
  void advance() {
    const Stream& s = next();
    if (s.at_end() || s.step() != step_)
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(at_ % active_.size()));
    else
      ++at_;
    if (active_.empty()) start_step();
  }

private:
  /// The streams that have something in the earliest step that any of them has.
  void start_step() {
    at_ = 0;
    active_.clear();
    for (std::size_t s : served_) {
      const Stream& stream = (*streams_)[s];
      if (stream.at_end() || (!active_.empty() && stream.step() > step_)) continue;
      if (!active_.empty() && stream.step() < step_) active_.clear();
      step_ = stream.step();
      active_.push_back(s);
    }
  }
  std::vector<Stream>* streams_ = nullptr;
  std::vector<std::size_t> served_;
  std::vector<std::size_t> active_; ///< of the step, not through with it
  std::size_t at_ = 0;
  int step_ = 0;
};

} // namespace redist::detail
