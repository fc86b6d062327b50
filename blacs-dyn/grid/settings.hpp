// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/allowed.hpp"
#include "base/environment.hpp"
#include "control/balance_mode.hpp"
#include "control/job_state.hpp"
#include "processes/launchers/launcher.hpp"
#include "processes/names.hpp"
#include "processes/room.hpp"
#include "redist/plan.hpp"

namespace blacs_dyn {

using base::environment;

/// on, off (or 1, 0). @throws Error{bad_argument} that names the variable.
bool is_switched_on(const char* name, bool fallback);

/// The settings by which the processes of an application decide, the same on all of them. Read from the environment of
/// the first ones; new processes receive it.
struct Settings {
  gridmap::Placement placement = gridmap::Placement::optimal;
  redist::Schedule exchange_order = redist::Schedule::automatic;
  bool is_exchange_low = false; ///< DYNGRID_EXCHANGE=memory=low; otherwise where a host has no memory for two copies
  GroupPolicy group_policy;
  LauncherKind way = LauncherKind::background; ///< how new processes are started
  bool is_way_asked_for = false;               ///< DYNGRID_PROCESSES; otherwise it is `blocking` where it must be
  bool waits = false;        ///< DYNGRID_WAIT: a resize point waits for the new processes that it requests
  bool is_scheduled = false; ///< DYNGRID_SCHED: a scheduler watches, and growths are asked of it
  double join_limit_s = 60;
  std::int64_t points = 0;            ///< resize points passed
  std::string checkpoint;             ///< where to; empty: only where the program says
  std::int64_t checkpoint_points = 0; ///< one every N resize points; 0: not by points
  int checkpoint_signal = 0;          ///< SIGTERM: one at the next resize point, and the run ends; SIGUSR1: it goes on
  double checkpoint_seconds = 0;      ///< one at the first resize point after N seconds; 0: not by time
  control::BalanceMode balance = control::BalanceMode::off; ///< DYNGRID_BALANCE
  std::string restore;       ///< what the application goes on from; empty: it begins anew
  bool must_restore = false; ///< that has not been done yet

  double keep_s = 0; ///< DYNGRID_START=keep: seconds that a group sleeps, when none of it is needed, before it leaves
  int warm = 0;      ///< `DYNGRID_START=warm`: number of spare processes, which sleep until a growth takes them

  std::vector<TimedRequest> requests; ///< DYNGRID_RESIZE_AT; process 0 looks at them

  // of this process alone
  std::string pool; ///< "": the application began on all processes of mpirun
  int spare = 0;    ///< DYNGRID_SPARE: number of mpirun's processes that are not in the first grid
  bool is_verbose = false;
  int per_core = usual_per_core; ///< of DYNGRID_DECIDE; 0: any number
  int known_cores = 0;           ///< of the hosts where processes are or may come; 0: of one of them it is not known
  // what process 0 sends to and receives from the outside
  bool is_controlled = true;                    ///< DYNGRID_JOB is not off
  std::string job;                              ///< DYNGRID_JOB; empty: its process number
  advise::Allowed allowed;                      ///< DYNGRID_ALLOW
  std::int64_t steps = 0;                       ///< of DYNGRID_DECIDE; 0: the program gives it, or it is not known
  bool undoes = true;                           ///< of DYNGRID_DECIDE
  std::optional<advise::Experiment> experiment; ///< of DYNGRID_DECIDE

  /// @throws Error{bad_argument} that names the variable, its value and what was expected.
  static Settings from_environment(const std::string& pool = "");
};

template <class Archive> void fields(Archive& a, GroupPolicy& policy) {
  a(policy.kind, policy.size, policy.hosts, policy.slots, policy.speeds, policy.started, policy.one_owner, policy.warm,
    policy.keeps);
}
/// Without what is of one process alone.
template <class Archive> void fields(Archive& a, Settings& s) {
  a(s.placement, s.exchange_order, s.is_exchange_low, s.group_policy, s.way, s.is_way_asked_for, s.waits,
    s.is_scheduled, s.join_limit_s, s.points, s.warm, s.keep_s);
  a(s.checkpoint, s.checkpoint_signal, s.checkpoint_points, s.checkpoint_seconds, s.restore, s.must_restore, s.balance,
    s.requests);
}

} // namespace blacs_dyn
