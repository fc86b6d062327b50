// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "grid/matrices.hpp"
#include "grid/settings.hpp"
#include "processes/hosts.hpp"
#include "processes/processes.hpp"
#include "processes/room.hpp"

namespace blacs_dyn {

/// Checks whether there is room for new processes. This is done before anything is started and before any work that
/// grows with their number: placing a grid of 1000x1000 takes hours.
class Headroom {
public:
  Headroom(const Processes& processes, const Settings& settings, const Hosts& hosts, const Matrices& matrices)
      : processes_(processes), settings_(settings), hosts_(hosts), matrices_(matrices) {}

  /// @param fresh  new processes
  /// @param after  the grid with them
  /// @param is_forced  on process 0: however many processes a core gets
  /// Collective over the grid. @throws agreed Error{no_slots, not_found, unsupported}
  void check(int fresh, Shape after, const GroupPolicy& policy, bool is_forced) const;
  /// Process 0, before these groups are started: returns when mpirun has a slot for each process of them. A process
  /// that leaves, or was called off, holds one until it has ended. meanwhile: releases those that were called off.
  /// @throws Error{no_slots}
  void await_slots(const std::vector<NewGroup>& groups, const std::function<void()>& meanwhile) const;
  /// Process 0: why this number of spare processes is not started now; empty: it can be.
  std::string trouble_with_spares(int fresh) const;

private:
  Room room_for(const std::vector<HostShare>& shares, Shape after) const;
  void check_here(int fresh, Shape after, const GroupPolicy& policy, std::int64_t bytes_each, bool is_forced) const;
  void check_slots(const std::vector<HostShare>& shares) const;
  std::int64_t bytes_of_a_process() const;
  std::int64_t living() const; ///< processes of the application
  std::int64_t living_and_spare() const;
  std::int64_t slots_taken() const;

  const Processes& processes_;
  const Settings& settings_;
  const Hosts& hosts_;
  const Matrices& matrices_;
};

} // namespace blacs_dyn
