// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

#include "gridmap/machine.hpp"
#include "packet.hpp"

namespace blacs_dyn {

/// What messages and copies take on this machine: measured once, at the first change. Before it the figures of the
/// application's earlier runs, on process 0, or the usual ones.
class MachineFigures {
public:
  const gridmap::Machine& figures() const { return figures_; }
  /// Of earlier runs. Local.
  void expect(const gridmap::Machine& figures) { figures_ = figures; }
  /// Measures unless that was done: either all processes of comm have measured or none. Where memory is short nothing
  /// is measured. Collective over comm. @return whether it measured. @throws Error{mpi_failure}
  bool measure_once(MPI_Comm comm);
  void write(Packet& packet) const; ///< for a process that joins
  void read(Packet& packet);

private:
  gridmap::Machine figures_;
  bool is_measured_ = false;
};

} // namespace blacs_dyn
