// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>

#include <mpi.h>

#include "advise/machine.hpp"
#include "processes/packet.hpp"
#include "redist/executor.hpp"

namespace blacs_dyn {

class Control;

/// The times of messages and copies on this machine, measured at the first change.
class MachineFigures {
public:
  /// control: of process 0, which keeps the figures for the history; null on others.
  explicit MachineFigures(const std::unique_ptr<Control>& control) : control_(&control) {}
  /// As measured in this run, else, on process 0, in an earlier one, else the default figures. Local.
  advise::Machine figures() const;
  /// The same on all processes of the grid, for what all of them plan: as measured in this run, else the default
  /// figures. Local.
  advise::Machine agreed() const { return measured_.value_or(advise::Machine{}); }
  /// Measures unless that was done: either all processes of comm have measured or none. Where memory is short nothing
  /// is measured. executor: over the ranks of comm. Collective over comm. @throws Error{mpi_failure,
  /// timeout}
  void measure_once(MPI_Comm comm, redist::Executor& executor);
  void write(Packet& packet) const; ///< for a process that joins
  void read(Packet& packet);

private:
  const std::unique_ptr<Control>* control_;
  std::optional<advise::Machine> measured_;
};

} // namespace blacs_dyn
