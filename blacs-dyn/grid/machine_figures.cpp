// SPDX-License-Identifier: BSD-3-Clause
#include "grid/machine_figures.hpp"

#include "base/status.hpp"
#include "grid/control.hpp"
#include "redist/measure.hpp"

namespace blacs_dyn {

advise::Machine MachineFigures::figures() const {
  if (measured_) return *measured_;
  return *control_ ? (*control_)->state().machine() : advise::Machine{};
}

void MachineFigures::measure_once(MPI_Comm comm, redist::Executor& executor) {
  if (measured_) return;
  try {
    measured_ = redist::measure_machine(comm, executor);
  } catch (const base::Error& error) {
    if (error.status() != base::Status::out_of_memory) throw; // which all processes have agreed on
    return;
  }
  if (*control_) (*control_)->state().set_machine(*measured_);
}

void MachineFigures::write(Packet& packet) const {
  packet.put(measured_.has_value()).put(measured_.value_or(advise::Machine{}));
}

void MachineFigures::read(Packet& packet) {
  const bool is_measured = packet.get<bool>();
  const auto figures = packet.get<advise::Machine>();
  if (is_measured) measured_ = figures;
}

} // namespace blacs_dyn
