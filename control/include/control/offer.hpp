// SPDX-License-Identifier: BSD-3-Clause
// Processors that are offered by name, number and speed, and the choice among them. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/protocol.hpp"
#include "control/without.hpp"
#include "gridmap/selection.hpp"

namespace control {

struct OfferedHost {
  std::string name;
  int slots = 0;    ///< processors, each for one process
  double speed = 1; ///< of each
};
template <class Archive> void fields(Archive& a, OfferedHost& host) {
  a(host.name, host.slots, host.speed);
}
int slots_of(const std::vector<OfferedHost>& hosts);
double power_of(const std::vector<OfferedHost>& hosts); ///< speeds of all slots, together

struct Offer {
  std::vector<OfferedHost> hosts;
  std::int64_t most = 0; ///< processors that may be taken; 0: all
  double tpp = 0;        ///< total power that may be taken, the sum of their speeds; 0: all
  gridmap::Strategy form = gridmap::Strategy::best;

  /// "hosts", "tpp" and "form" of a request; empty when it names no hosts. @throws base::Error{bad_argument}
  static std::optional<Offer> in(const Request& request);
};
/// "node1:8:1.4,node2:4": without a speed it is 1. @throws base::Error{bad_argument} naming `where`
std::vector<OfferedHost> parse_hosts(const std::string& text, const std::string& where);
/// [{"name","slots","speed"}], as in a request.
Json to_json(const std::vector<OfferedHost>& hosts);

/// The part of an offer that is taken.
struct Choice {
  std::vector<OfferedHost> hosts; ///< with the slots that are taken
  base::GridShape grid;           ///< with them
  double power = 0, power_left = 0;
  std::string left_because; ///< why the rest is not taken
  gridmap::Strategy form = gridmap::Strategy::best;
  double gain = 1; ///< speed of the new grid over that of the present one, where work is distributed by speed
};
Json to_json(const Choice& choice);

/// The criteria for a change of the grid, beside the gain.
struct Worth {
  double steps_s = 0; ///< of the steps left on the present grid; 0: not known
  std::function<double(base::GridShape to)> change_s;
};

/// The present grid and processors of the offer as one larger grid, in the way of `form` by gridmap::select_processors.
/// For `best` the one with the least steps_s / gain + change_s, where steps_s is known. Never more than is offered.
/// Nothing chosen: there is no such grid.
/// @param speeds of the present grid, row-major
Choice choose(base::GridShape grid, const std::vector<double>& speeds, const Offer& offer,
              const std::function<bool(base::GridShape)>& permits, const Worth& worth = {});

} // namespace control
