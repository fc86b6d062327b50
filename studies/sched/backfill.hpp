// SPDX-License-Identifier: BSD-3-Clause
// The two reference policies of the literature for rigid jobs. Each job runs on the processors it asked for, in the
// order of arrival, and others may pass it by their estimates. Pure.
#pragma once
#include <vector>

#include "trace.hpp"

namespace sched {

enum class Backfill {
  /// The first of the queue has a reservation: the earliest time at which, by the estimates, enough processors are
  /// free. Another one starts now if it fits and does not delay that: it ends before, or takes processors that are left
  /// over then. Source: Lifka 1995; Mu'alem and Feitelson 2001.
  easy,
  /// Every job has a reservation from its arrival on, which delays none that came before. When a job ends before its
  /// estimate, all that wait are looked at in the order of arrival, and move to the earliest time that is free.
  /// Source: Mu'alem and Feitelson 2001.
  conservative
};

/// When each of the jobs starts; all that happens at one time is known before anything is decided. Exact: the whole
/// queue is looked at.
///
/// @param jobs  by submit_s; none asks for more than `procs`.
/// @throws base::Error{bad_argument} where one does, or they are not in order.
std::vector<double> backfill(const std::vector<TraceJob>& jobs, int procs, Backfill kind);

} // namespace sched
