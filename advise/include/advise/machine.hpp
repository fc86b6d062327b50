// SPDX-License-Identifier: BSD-3-Clause
// Cost of an exchange on a machine, as a sum of named terms. Pure.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace advise {

/// Cost of a message and of a copy. The defaults are those of processes on hosts joined by a 10 Gbit/s network.
struct Machine {
  double latency_s = 1e-5;            ///< per message or step
  double bandwidth_bytes_per_s = 1e9; ///< out of, and at the same time into, one process
  double pack_bytes_per_s = 4e9;      ///< one process packing, unpacking or copying
  double contention = 0.1;            ///< part of its bandwidth that a process loses when several send to it at once
  int cores = 0;                      ///< on which all processes together pack; 0: one for each
};

struct Term {
  std::string_view name; ///< a literal
  double seconds = 0;
};

struct Cost {
  std::vector<Term> terms;

  double total() const;
  double of(std::string_view name) const; ///< 0 when there is no such term
  Cost& operator+=(const Cost& more);     ///< term by term
  Cost& operator*=(double factor);
};

/// One exchange of one matrix in plain numbers.
struct PlanVolume {
  std::int64_t turns = 0;     ///< messages one after the other: steps, or partners of the busiest process
  double wire_bytes = 0;      ///< over the steps, the largest message; without steps, of the busiest process
  bool is_contended = false;  ///< several processes send to one at once
  double touched_bytes = 0;   ///< out of, into and kept by one process, largest over processes
  double packed_bytes = 0;    ///< by all processes together: 2 * moved + kept
  std::int64_t processes = 0; ///< in either grid
};

/// Terms: "latency" of the turns, "bandwidth" of the wire, and "packing", so much as copying takes longer than the
/// wire: the two go on at once. Copying is that of the busiest process, or of all on the cores there are.
Cost exchange_cost(const Machine& machine, const PlanVolume& volume);

} // namespace advise
