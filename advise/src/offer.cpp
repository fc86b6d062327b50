// SPDX-License-Identifier: BSD-3-Clause
#include "advise/offer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/grid_shape.hpp"
#include "base/host_list.hpp"
#include "gridmap/mapping.hpp"
#include "refusal.hpp"

namespace advise {
namespace {

using base::GridShape;

constexpr std::size_t most_looked_at = 256; ///< slots, the fastest; with more the search takes longer than it saves
constexpr std::int64_t any_size = 1 << 20;  ///< of a matrix: shares are what counts here

void check(const OfferedHost& host, const std::string& where) {
  if (!base::is_host_name(host.name))
    refuse("{}: a host is called \"{}\", expected a name", where, host.name.substr(0, 60));
  if (host.slots < 1 || host.slots > base::most_slots)
    refuse("{}: {} has {} slots, expected 1 .. {}", where, host.name, host.slots, base::most_slots);
  if (!std::isfinite(host.speed) || host.speed <= 0)
    refuse("{}: the speed of {} is {}, expected a finite number above 0", where, host.name, host.speed);
}

/// The capacity of a grid of these speeds, in speeds: no process waits for a slower one in its row or column.
double capacity(GridShape grid, const std::vector<double>& speeds) {
  gridmap::MappingRequest request{speeds, grid.nprow, grid.npcol, any_size, any_size, gridmap::MapMethod::best};
  const double m = any_size;
  return m * m / gridmap::map_in_place(request).t_continuous;
}

/// A slot for each processor, the fastest first; of which host.
std::vector<std::size_t> slots_by_speed(const Offer& offer) {
  std::vector<std::size_t> hosts(offer.hosts.size()), slots;
  std::iota(hosts.begin(), hosts.end(), std::size_t{0});
  std::stable_sort(hosts.begin(), hosts.end(),
                   [&](std::size_t a, std::size_t b) { return offer.hosts[a].speed > offer.hosts[b].speed; });
  const std::size_t most =
      offer.most > 0 ? std::min<std::size_t>(most_looked_at, static_cast<std::size_t>(offer.most)) : most_looked_at;
  for (const std::size_t h : hosts)
    for (int k = 0; k < offer.hosts[h].slots && slots.size() < most; ++k) slots.push_back(h);
  return slots;
}

Choice choice_of(const gridmap::Selection& selection, const Offer& offer, const std::vector<std::size_t>& slots,
                 double tpp) {
  Choice choice;
  choice.grid = {selection.mapping.nprow, selection.mapping.npcol};
  choice.form = selection.found_by;
  choice.left_because = selection.unused_because;
  std::vector<int> taken(offer.hosts.size(), 0);
  for (const int k : selection.chosen) ++taken[slots[static_cast<std::size_t>(k)]];
  for (std::size_t h = 0; h < taken.size(); ++h)
    if (taken[h] > 0) choice.hosts.push_back({offer.hosts[h].name, taken[h], offer.hosts[h].speed});
  choice.power = power_of(choice.hosts);
  choice.power_left = std::max(0.0, tpp - choice.power);
  return choice;
}

} // namespace

void check_hosts(const std::vector<OfferedHost>& hosts, const std::string& where) {
  if (hosts.empty() || hosts.size() > most_hosts)
    refuse("{}: {} hosts, expected 1 .. {}", where, hosts.size(), most_hosts);
  for (const OfferedHost& host : hosts) check(host, where);
  if (const auto twice = base::named_twice(hosts, base::host_name())) refuse("{}: {} is there twice", where, *twice);
}

int slots_of(const std::vector<OfferedHost>& hosts) {
  const auto sum = std::accumulate(hosts.begin(), hosts.end(), std::int64_t{0},
                                   [](std::int64_t all, const OfferedHost& host) { return all + host.slots; });
  return static_cast<int>(std::min<std::int64_t>(sum, base::max_processes));
}

double power_of(const std::vector<OfferedHost>& hosts) {
  return std::accumulate(hosts.begin(), hosts.end(), 0.0,
                         [](double sum, const OfferedHost& host) { return sum + host.slots * host.speed; });
}

std::vector<OfferedHost> parse_hosts(const std::string& text, const std::string& where) {
  std::vector<OfferedHost> hosts;
  for (base::HostEntry& host : base::parse_hosts(text, "advise: " + where))
    hosts.push_back({std::move(host.name), host.slots.value_or(1), host.speed.value_or(1)});
  check_hosts(hosts, where);
  return hosts;
}

Choice choose(GridShape grid, const std::vector<double>& speeds, const Offer& offer,
              const std::function<bool(GridShape)>& permits, const Worth& worth) {
  const std::vector<std::size_t> slots = slots_by_speed(offer);
  gridmap::SelectionRequest request;
  request.nprow = grid.nprow;
  request.npcol = grid.npcol;
  request.grid = speeds;
  for (const std::size_t h : slots) request.available.push_back(offer.hosts[h].speed);
  const double all = std::accumulate(request.available.begin(), request.available.end(), 0.0);
  request.tpp = offer.tpp > 0 ? offer.tpp : all;
  request.m = request.n = any_size;
  request.strategy = offer.form;
  request.permits = [&](int p, int q) { return permits(GridShape{p, q}); };
  const double now = capacity(grid, speeds), m = any_size;
  if (worth.steps_s > 0)
    request.price = [&](int p, int q) { // steps_s / gain is t_continuous in another unit
      const GridShape to{p, q};
      if (to == grid) return std::numeric_limits<double>::infinity(); // whether any growth pays is not asked here
      return worth.change_s(to) * m * m / (now * worth.steps_s);
    };
  const gridmap::Selection selection = gridmap::select_processors(request);
  Choice choice = choice_of(selection, offer, slots, request.tpp);
  choice.gain = m * m / selection.mapping.t_continuous / now;
  if (!choice.hosts.empty() && permits(choice.grid)) return choice;
  Choice none;
  none.grid = grid;
  none.power_left = request.tpp;
  none.left_because = choice.hosts.empty() ? choice.left_because
                                           : fmt::format("{} makes {} of it, which is not allowed",
                                                         gridmap::to_string(offer.form), to_string(choice.grid));
  return none;
}

} // namespace advise
