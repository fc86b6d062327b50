// SPDX-License-Identifier: BSD-3-Clause
// Processors that are offered by name, number and speed, and the choice among them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/grid_shape.hpp"
#include "gridmap/selection.hpp"

namespace advise {

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
};
/// "node1:8:1.4,node2:4": without a speed it is 1. @throws base::Error{bad_argument} naming `where`
std::vector<OfferedHost> parse_hosts(const std::string& text, const std::string& where);
constexpr std::size_t most_hosts = 1024;
/// At least one host, at most most_hosts, each once and of a speed above 0. @throws base::Error{bad_argument} naming
/// `where`
void check_hosts(const std::vector<OfferedHost>& hosts, const std::string& where);

/// The part of an offer that is taken.
struct Choice {
  std::vector<OfferedHost> hosts; ///< with the slots that are taken
  base::GridShape grid;           ///< with them
  double power = 0, power_left = 0;
  std::string left_because; ///< why the rest is not taken
  gridmap::Strategy form = gridmap::Strategy::best;
  double gain = 1; ///< speed of the new grid over that of the present one, where work is distributed by speed
};

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

} // namespace advise
