// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include "base/names.hpp"

namespace redist {

/// In which order the messages go. All of them carry the same messages; ranks run through their own pieces in
/// this order and never wait for each other but for the data.
enum class Schedule {
  automatic,   ///< the one with the least predicted seconds
  caterpillar, ///< ScaLAPACK's round robin over all ranks: in step d rank number i exchanges with number (N -
               ///< i - d) mod N
  circulant,   ///< per axis q - p mod max(P, Q): one partner at a time, max(P,Q)/gcd(P,Q) steps per axis for
               ///< equal block sizes
  matching,    ///< messages split so that one partner at a time takes no longer than the busiest process must
  async        ///< everything at once, each rank beginning with its next higher neighbour
};

/// As users write them.
inline const base::Names& schedule_names() {
  static const base::Names names{"auto", "caterpillar", "circulant", "matching", "async"};
  return names;
}

/// The name; "automatic" in full.
const char* to_string(Schedule schedule) noexcept;
/// "automatic" is taken too. @throws Error{bad_argument} for anything else that is no name
Schedule schedule_from(const std::string& name);

} // namespace redist
