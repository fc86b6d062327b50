// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/ways.hpp"

#include "base/environment.hpp"
#include "base/status.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

const char* to_string(LauncherKind kind) {
  constexpr const char* names[] = {"blocking", "join", "background"};
  return names[static_cast<int>(kind)];
}

LauncherKind launcher_kind_from(const std::string& word) {
  for (const LauncherKind kind : {LauncherKind::background, LauncherKind::blocking, LauncherKind::join})
    if (word == to_string(kind)) return kind;
  throw Error(Status::bad_argument, "blacs-dyn: DYNGRID_PROCESSES is \"{}\", expected background, blocking or join",
              word);
}

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
  if (base::environment("DYNGRID_MEET")) return LauncherKind::background;
  return base::environment("DYNGRID_JOIN") ? LauncherKind::join : LauncherKind::blocking;
}

std::string never_by(LauncherKind way) {
  return way == LauncherKind::join ? join_trouble() : std::string();
}

std::string trouble_with(LauncherKind way, bool are_several_hosts, bool are_cores_known) {
  if (std::string why = never_by(way); !why.empty()) return why;
  if (way == LauncherKind::join && are_several_hosts)
    return "new processes are to join, but mpirun started the application on several hosts; the join way wants every "
           "mpirun on one host: start on one and let the others join";
  if (way != LauncherKind::background) return {};
  const std::string why = background_trouble(!are_several_hosts && are_cores_known);
  return why.empty() ? why : "new processes cannot be started in the background: " + why;
}

} // namespace blacs_dyn
