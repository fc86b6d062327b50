// SPDX-License-Identifier: BSD-3-Clause
// How A-MPI balances, beside gridmap/balance.hpp, to compare with. Pure.
// Source: Weatherly 2002, sections 2.3.1 and 4.2 to 4.5.
#pragma once
#include <functional>
#include <vector>

namespace published {

/// The part of all work that each process gets by its speed alone.
/// @throws Error{bad_argument}  speeds that are not finite and above 0
std::vector<double> naive_shares(const std::vector<double>& speeds);

/// The part of the work of a pair that its loaded process gets, by how many processes compete with it and the pair's
/// ratio of computation to communication. Measured between two processes (A-MPI's Figure 4.5); 0 .. 1.
using WorkFunction = std::function<double(int competing, double ratio)>;

struct SuccessiveBalance {
  std::vector<double> work_s;              ///< of each process, seconds of a processor alone
  std::vector<std::vector<double>> rounds; ///< the same after each round
};

/// In each round every loaded process is paired with an unloaded one, and the work function says what it gets of what
/// both have; the rest is dealt out evenly among the unloaded. It ends when no assignment changes by more than
/// `tolerance_s`, or after 1,000 rounds. Starts from equal parts.
/// @param work_s  of all processes together, at speed 1
/// @param comm_s  of one process, above 0
/// @param competing  processes that compete, by process; at least one has none
/// @throws Error{bad_argument}
SuccessiveBalance successive_balancing(double work_s, double comm_s, const std::vector<int>& competing,
                                       const WorkFunction& work_function, double tolerance_s = 0);

/// Whether all loaded processes leave, ten steps after a balance: the largest mean step is longer than work and
/// communication of the unloaded ones would be without them. Of several phases the one that dominates counts.
bool loaded_processes_leave(double largest_mean_step_s, double work_s, int unloaded, double comm_of_unloaded_s);

/// Seconds that an item takes without competitors: CPU time from 10 ms on, where it is known; else the least of the
/// wall times of several steps.
/// @param cpu_s negative: not known
/// @throws Error{bad_argument}  without wall times
double unloaded_item_s(const std::vector<double>& wall_s, double cpu_s = -1);

} // namespace published
