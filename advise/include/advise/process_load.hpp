// SPDX-License-Identifier: BSD-3-Clause
// What one process gets of its processor: an observation, in plain numbers.
#pragma once

#include <cstdint>
#include <string>

namespace advise {

/// Of one process, as resize points transfer it: plain bytes.
struct LoadFigures {
  std::int32_t process = -1; ///< its number in the application; -1: not known
  std::int32_t place = -1;   ///< in the grid, row-major; -1: it sleeps
  std::int32_t samples = 0;  ///< 0: nothing is known yet
  std::int32_t source = 0;   ///< control::LoadSource
  double share = 1;          ///< median of the last samples; the rest is of the last one, as in control::Load
  double latest = 1;         ///< share of the last sample
  double waited = 0, throttled = 0, stolen = 0, stopped = 0, busy = 0, competing = -1;
  double held_s = 0;    ///< for how long the share has been constant
  double calm_s = 0;    ///< for how long it has had no competitor
  double stopped_s = 0; ///< in which it was stopped (SIGSTOP), since its start
  double speed = 1;     ///< without load, relative
  double rate = 0;      ///< marked units of work per second of its processor; 0: not known
};

struct ProcessLoad : LoadFigures {
  std::string host; ///< known of every process: not transferred
};

} // namespace advise
