// SPDX-License-Identifier: BSD-3-Clause
// Processors that are offered by name, number and speed, and which of them are taken. Pure.
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

/// What is taken of an offer.
struct Choice {
  std::vector<OfferedHost> hosts; ///< with the slots that are taken
  gridmap::GridShape grid;        ///< with them
  double power = 0, power_left = 0;
  std::string left_because; ///< why the rest is left
  gridmap::Strategy form = gridmap::Strategy::best;
  double gain = 1; ///< what the new grid can do over what the present one can, where work is dealt out by speed
};
Json to_json(const Choice& choice);

/// What a change of the grid is judged by, beside the gain.
struct Worth {
  double steps_s = 0; ///< that the steps left take on the present grid; 0: not known
  std::function<double(gridmap::GridShape to)> change_s;
};

/// The present grid and processors of the offer as one larger grid, in the way of `form` by gridmap::select_processors;
/// for `best` the one of the least steps_s / gain + change_s, where steps_s is known. Never more than is offered.
/// Nothing chosen: there is no such grid. @param speeds  of the present grid, row-major
Choice choose(gridmap::GridShape grid, const std::vector<double>& speeds, const Offer& offer,
              const std::function<bool(gridmap::GridShape)>& permits, const Worth& worth = {});

} // namespace control
