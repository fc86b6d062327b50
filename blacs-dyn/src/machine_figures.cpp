// SPDX-License-Identifier: BSD-3-Clause
#include "machine_figures.hpp"

#include "base/status.hpp"
#include "redist/measure.hpp"

namespace blacs_dyn {

bool MachineFigures::measure_once(MPI_Comm comm) {
  if (is_measured_) return false;
  try {
    figures_ = redist::measure_machine(comm);
    is_measured_ = true;
  } catch (const base::Error& error) { // agreed, but for an error of MPI
    if (error.status() == base::Status::mpi_failure) throw;
  }
  return is_measured_;
}

void MachineFigures::write(Packet& packet) const {
  packet.put(is_measured_).put(figures_);
}

void MachineFigures::read(Packet& packet) {
  is_measured_ = packet.get<bool>();
  figures_ = packet.get<gridmap::Machine>();
}

} // namespace blacs_dyn
