// SPDX-License-Identifier: BSD-3-Clause
// The scheduler's question for the loads of its jobs, before it chooses which of them shrinks. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/json_fwd.hpp"

namespace sched {

/// A job's reply to `load`.
struct LoadReply {
  std::optional<double> share; ///< the mean of its grid's processes that were measured; empty: none was
  bool is_last = false; ///< a later reply tells no more: all were measured recently, or it does not know the question
};

/// A share above advise::LoadRules::calm_share counts as 1.
/// @throws nothing: an unusable reply is the last one and has no share.
LoadReply load_reply(const base::Json& line);

/// All jobs are asked at the same time. A job that has just begun to measure is asked again. After `patience_s` the
/// round ends without the jobs that did not answer.
class LoadRound {
public:
  explicit LoadRound(double patience_s) : patience_s_(patience_s) {}

  /// Opens a round unless one is open or the last one ended a short time ago.
  /// @param jobs to be asked in a new round
  /// @return whether a round is open: a choice has to wait for its end
  bool open_if_needed(const std::vector<std::int64_t>& jobs, double now_s);
  /// The jobs to be asked now; they count as asked.
  std::vector<std::int64_t> due(double now_s);
  void received(std::int64_t job, const LoadReply& reply, double now_s);
  /// It has ended, or is out of reach.
  void lost(std::int64_t job);
  /// Closes the round when no reply is missing or its time is over.
  /// @return whether it did: true once for each round
  bool close_if_ended(double now_s);
  /// The jobs without a last reply.
  std::vector<std::int64_t> silent() const;

private:
  double patience_s_;
  bool is_open_ = false;
  double began_s_ = 0;
  std::optional<double> ended_s_;
  std::map<std::int64_t, double> ask_s_; ///< jobs without a last reply -> when to ask; infinite: a reply is on its way
};

} // namespace sched
