// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "processes/launchers/launcher.hpp"
#include "processes/processes.hpp"

namespace blacs_dyn {

/// What new processes run: this program with its arguments, unless a setting names another.
class NewcomerCommand {
public:
  /// The classical way: what blacs_setup.dat says. No arguments: this process's own.
  void set(std::string program, std::optional<std::vector<std::string>> arguments);
  /// @param entry  name of the resize point where the others wait; empty: it has none
  SpawnOptions options(Mode mode, const std::string& entry, double join_limit_s) const;
  /// @throws Error{not_found, spawn_failure} when it cannot be started. Local.
  void check() const;

private:
  std::string program_; ///< empty: DYNGRID_START=program=PATH, or this one
  std::optional<std::vector<std::string>> arguments_;
};

} // namespace blacs_dyn
