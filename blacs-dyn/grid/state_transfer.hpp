// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <vector>

#include "grid/registered.hpp"
#include "grid/settings.hpp"
#include "processes/packet.hpp"
#include "processes/participants.hpp"
#include "processes/processes.hpp"

namespace blacs_dyn {

class Balancing;
class MachineFigures;
class ProgramPosition;

/// What those that join receive from the others: the resize point where they are, settings, matrices, shared state.
class StateTransfer {
public:
  StateTransfer(const Processes& processes, Settings& settings, Registered& registered,
                ProgramPosition& program_position, MachineFigures& machine, Balancing& balancing)
      : processes_(processes), settings_(settings), registered_(registered), program_position_(program_position),
        machine_(machine), balancing_(balancing) {}

  /// Before the matrices move, in every change. A process that joins from another resize point, and can be led, goes to
  /// the others' while they wait.
  /// @param is_outside  this process has never been in the grid
  /// @param led  what the others sent, on a process that is led: in and out
  /// @return false: this process has to go to the others' resize point first. Collective over the union. @throws agreed
  /// Error
  bool share(Processes::Union& gathered, const Participants& who, bool is_outside, std::optional<Packet>& led);

private:
  bool share_with_joining(Processes::Union& gathered, const Participants& who, bool is_outside,
                          std::optional<Packet>& led);
  Packet write(bool some_wake) const;
  void read(Packet& state, const std::vector<SavedShared>& shared, bool is_outside);

  const Processes& processes_;
  Settings& settings_;
  Registered& registered_;
  ProgramPosition& program_position_;
  MachineFigures& machine_;
  Balancing& balancing_;
};

} // namespace blacs_dyn
