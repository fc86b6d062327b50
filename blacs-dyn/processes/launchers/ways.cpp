// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/ways.hpp"

#include <fmt/format.h>

#include "processes/launchers/background.hpp"
#include "processes/launchers/join/join.hpp"

namespace blacs_dyn {

std::unique_ptr<Launcher> make_launcher(LauncherKind way, LossText loss) {
  switch (way) {
  case LauncherKind::join:
    return make_join_launcher(std::move(loss));
  case LauncherKind::background:
    return make_background_launcher(std::move(loss));
  case LauncherKind::blocking:
    break;
  }
  return make_spawn_launcher();
}

LauncherKind way_of_this_process() {
  if (was_started_in_background()) return LauncherKind::background;
  return was_sent_for() ? LauncherKind::join : LauncherKind::blocking;
}

std::string never_by(LauncherKind way) {
  return way == LauncherKind::join ? join_trouble() : std::string();
}

std::string trouble_with(LauncherKind way, int hosts, bool are_cores_known) {
  if (std::string why = never_by(way); !why.empty()) return why;
  if (way == LauncherKind::join && hosts > 1)
    return fmt::format("new processes are to join, but mpirun started the application on {} hosts; the join way wants "
                       "every mpirun on one host: start on one and let the others join",
                       hosts);
  if (way != LauncherKind::background) return {};
  const std::string why = background_trouble(hosts == 1 && are_cores_known);
  return why.empty() ? why : "new processes cannot come in the background: " + why;
}

} // namespace blacs_dyn
