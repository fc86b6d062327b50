// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "grid/program_position.hpp"
#include "grid/settings.hpp"
#include "processes/launchers/launcher.hpp"
#include "processes/processes.hpp"

namespace blacs_dyn {

/// What new processes run: this program with its arguments, unless a setting names another.
class NewcomerCommand {
public:
  NewcomerCommand(const Processes& processes, const Settings& settings, const ProgramPosition& program_position)
      : processes_(processes), settings_(settings), program_position_(program_position) {}

  /// The classical way: what blacs_setup.dat says. No arguments: this process's own.
  void set(std::string program, std::optional<std::vector<std::string>> arguments);
  SpawnOptions options() const;
  /// @throws Error{not_found, spawn_failure} when it cannot be started. Local.
  void check() const;

private:
  std::string program() const;

  const Processes& processes_;
  const Settings& settings_;
  const ProgramPosition& program_position_; ///< the name of the resize point where the others wait goes along
  std::string program_;                     ///< empty: DYNGRID_START=program=PATH, or this one
  std::optional<std::vector<std::string>> arguments_;
};

} // namespace blacs_dyn
