// SPDX-License-Identifier: BSD-3-Clause
// Process 0 outside the grid: what it does for the others.
#include "application.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

/// Until it is in the grid again, or the application ends. @return a dyngrid_outcome
int ResizePoints::attend() {
  for (;;) {
    Packet packet = app_.council.wait([this] { return wants_the_grid(); });
    try {
      const int outcome = answer(packet);
      if (outcome == DYNGRID_LEAVE || outcome == DYNGRID_REDIRECT || app_.grid.has_me()) return outcome;
    } catch (const Error& error) { // the grid has been told, too
      if (error.status() == Status::mpi_failure) throw;
    }
    app_.balancing.look_at_grid();
  }
}

bool ResizePoints::wants_the_grid() {
  app_.changes.keep_warm();
  return (app_.control && app_.control->is_pending()) || app_.changes.news() != 0 || app_.balancing.flags() != 0;
}

int ResizePoints::answer(Packet& packet) {
  using Call = Council::Call;
  const CouncilEnds ends(app_.council);
  const auto nothing = [] { return std::uint64_t{0}; };
  const auto call = packet.get<Call>();
  switch (call) {
  case Call::steps:
    app_.council.hear_steps(packet);
    return DYNGRID_SAME;
  case Call::word:
    app_.council.hear_word(packet);
    return DYNGRID_SAME;
  case Call::point: {
    Findings found;
    found.all = app_.council.answer(packet, [&] {
      if (app_.control) found.request = app_.control->called(app_.matrices);
      return found.asked() | app_.changes.news() | app_.balancing.flags();
    });
    return act_on(std::move(found));
  }
  case Call::change: {
    app_.council.answer(packet, nothing);
    return app_.changes.make(Packet(packet.get<std::vector<char>>()).get<Resize::Goal>());
  }
  case Call::rebalance:
    app_.council.answer(packet, nothing);
    return balance_as(app_.balancing.exchange(true));
  case Call::launcher: {
    app_.council.answer(packet, nothing);
    app_.use(Packet(packet.get<std::vector<char>>()).get<LauncherKind>());
    return DYNGRID_SAME;
  }
  case Call::end:
    app_.council.answer(packet, nothing);
    return end_outside();
  }
  throw Error(Status::internal, "blacs-dyn: process 0 is called for what it does not know");
}

/// The others end, and so do those that sleep.
int ResizePoints::end_outside() {
  if (app_.control) app_.control->hang_up();
  end();
  app_.balancing.end();
  app_.processes.finish();
  return app_.changes.leave();
}

} // namespace blacs_dyn
