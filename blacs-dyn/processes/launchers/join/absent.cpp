// SPDX-License-Identifier: BSD-3-Clause
// In place of the join component, where DYNGRID_WITH_JOIN is off.
#include "base/status.hpp"
#include "processes/launchers/rendezvous_launcher.hpp"

namespace blacs_dyn {

std::unique_ptr<Launcher> make_join_launcher(LossText) {
  throw base::Error(base::Status::unsupported, "blacs-dyn: " + join_trouble());
}

std::string join_trouble() {
  return "new processes are to join (DYNGRID_PROCESSES=join), but this dyngrid was built without that component; leave "
         "DYNGRID_PROCESSES out, or build dyngrid with -DDYNGRID_WITH_JOIN=ON";
}

} // namespace blacs_dyn
