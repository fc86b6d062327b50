// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/mapping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "arrange.hpp"
#include "base/status.hpp"

namespace gridmap {

using base::Error;
using base::Status;
namespace {
using base::at;

template <class... Values> [[noreturn]] void bad_mapping(fmt::format_string<Values...> message, Values&&... values) {
  throw Error(Status::bad_argument, "gridmap: map: " + fmt::format(message, std::forward<Values>(values)...));
}

void check(const MappingRequest& request) {
  if (request.nprow < 1 || request.npcol < 1)
    bad_mapping("grid is {}x{}, expected at least 1x1", request.nprow, request.npcol);
  if (request.speeds.empty()) bad_mapping("the list of speeds is empty, expected one per grid position");
  const auto count = static_cast<std::int64_t>(request.speeds.size());
  if (std::int64_t{request.nprow} * request.npcol != count)
    throw Error(Status::shape_mismatch, "gridmap: map: {} speeds for a {}x{} grid, expected {}", count, request.nprow,
                request.npcol, std::int64_t{request.nprow} * request.npcol);
  for (std::size_t k = 0; k < request.speeds.size(); ++k)
    if (!std::isfinite(request.speeds[k]) || request.speeds[k] <= 0)
      bad_mapping("speed {} is {}, expected a finite number above 0", k, request.speeds[k]);
  const auto [least, most] = std::minmax_element(request.speeds.begin(), request.speeds.end());
  if (*least < detail::least_speed || *most > detail::largest_speed)
    bad_mapping("speeds are {} to {}, expected {} to {}", *least, *most, detail::least_speed, detail::largest_speed);
  if (*most > *least * 1e12)
    bad_mapping("speeds differ from {} to {}, expected at most a factor of 1e12", *least, *most);
  if (request.m < 0 || request.n < 0 || request.m > detail::largest_size || request.n > detail::largest_size)
    bad_mapping("matrix is {} x {}, expected from 0 x 0 to 2^53 x 2^53", request.m, request.n);
  if (request.method != MapMethod::best && request.method != MapMethod::svd && request.method != MapMethod::natural)
    bad_mapping("method is {}, expected 0 .. 2", static_cast<int>(request.method));
}

double largest_time(const Mapping& map) {
  double t = 0;
  for (int i = 0; i < map.nprow; ++i)
    for (int j = 0; j < map.npcol; ++j)
      t = std::max(t, static_cast<double>(map.rows[at(i)]) * static_cast<double>(map.cols[at(j)]) / map.speed(i, j));
  return t;
}

/// The best whole rows for the columns there are, or columns for the rows.
void refit(Mapping& map, bool rows, std::int64_t total) {
  std::vector<double> speeds(at(rows ? map.nprow : map.npcol), std::numeric_limits<double>::infinity());
  for (int i = 0; i < map.nprow; ++i)
    for (int j = 0; j < map.npcol; ++j) {
      double& speed = speeds[at(rows ? i : j)];
      speed = std::min(speed, map.speed(i, j) / static_cast<double>(rows ? map.cols[at(j)] : map.rows[at(i)]));
    }
  (rows ? map.rows : map.cols) = detail::least_time_parts(total, speeds);
}

/// Turns of exact rows for the columns and exact columns for the rows, while the largest time falls.
double turn_integers(Mapping& map, std::int64_t m, std::int64_t n) {
  double time = largest_time(map);
  for (int round = 0; round < 20; ++round) {
    Mapping next = map;
    refit(next, true, m);
    refit(next, false, n);
    const double t = largest_time(next);
    if (t >= time * (1 - 1e-12)) break;
    time = t;
    map = std::move(next);
  }
  return time;
}

/// Then a unit from one row (column) to another and turns again, on grids where that is cheap. On 1 x P and P x 1 grids
/// the first turns have found the best.
void improve_integers(Mapping& map, std::int64_t m, std::int64_t n) {
  if (m < map.nprow || n < map.npcol) return;
  double time = turn_integers(map, m, n);
  if (map.nprow == 1 || map.npcol == 1 || map.nprow * map.npcol > 64) return;
  const auto move = [&](bool rows) {
    const int count = rows ? map.nprow : map.npcol;
    for (int a = 0; a < count; ++a)
      for (int b = 0; b < count; ++b) {
        Mapping next = map;
        std::vector<std::int64_t>& parts = rows ? next.rows : next.cols;
        if (a == b || parts[at(a)] <= 1) continue;
        --parts[at(a)];
        ++parts[at(b)];
        refit(next, !rows, rows ? n : m);
        const double t = turn_integers(next, m, n);
        if (t >= time * (1 - 1e-12)) continue;
        time = t;
        map = std::move(next);
        return true;
      }
    return false;
  };
  for (int moves = 0; moves < 200 && (move(true) || move(false)); ++moves) {
  }
}

detail::Shares natural_shares(const detail::Speeds& speeds) {
  detail::Shares shares;
  shares.r.assign(at(speeds.p), 0);
  shares.c.assign(at(speeds.q), 0);
  double all = 0;
  for (int i = 0; i < speeds.p; ++i)
    for (int j = 0; j < speeds.q; ++j) {
      shares.r[at(i)] += speeds(i, j);
      shares.c[at(j)] += speeds(i, j);
      all += speeds(i, j);
    }
  for (double& x : shares.r) x /= std::sqrt(all);
  for (double& x : shares.c) x /= std::sqrt(all);
  return shares;
}

} // namespace

void detail::finish_mapping(const MappingRequest& request, Shares shares, Mapping& map) {
  map.nprow = request.nprow;
  map.npcol = request.npcol;
  for (const int k : map.order) map.speeds.push_back(request.speeds[at(k)]);
  map.r = std::move(shares.r);
  map.c = std::move(shares.c);
  const double elements = static_cast<double>(request.m) * static_cast<double>(request.n);
  const double r_sum = std::accumulate(map.r.begin(), map.r.end(), 0.0),
               c_sum = std::accumulate(map.c.begin(), map.c.end(), 0.0);
  // natural shares may ask more of a processor than it has
  double slowest = 1;
  for (int i = 0; i < map.nprow; ++i)
    for (int j = 0; j < map.npcol; ++j) slowest = std::max(slowest, map.utilization(i, j));
  map.t_continuous = elements / (r_sum * c_sum) * (request.method == MapMethod::natural ? slowest : 1);
  map.rows = largest_remainder(request.m, map.r);
  map.cols = largest_remainder(request.n, map.c);
  if (request.method == MapMethod::best) improve_integers(map, request.m, request.n);
  map.t_theory = largest_time(map);
}

double Mapping::mean_utilization() const {
  return std::accumulate(r.begin(), r.end(), 0.0) * std::accumulate(c.begin(), c.end(), 0.0) /
         std::accumulate(speeds.begin(), speeds.end(), 0.0);
}

Mapping map_processors(const MappingRequest& request) {
  check(request);
  const int p = request.nprow, q = request.npcol;
  std::vector<int> by_speed(request.speeds.size());
  std::iota(by_speed.begin(), by_speed.end(), 0);
  std::stable_sort(by_speed.begin(), by_speed.end(),
                   [&](int a, int b) { return request.speeds[at(a)] > request.speeds[at(b)]; });
  std::vector<double> descending;
  for (const int k : by_speed) descending.push_back(request.speeds[at(k)]);

  const auto mapped = [&](detail::Arrangement arrangement) {
    Mapping map;
    for (const int rank : arrangement.rank) map.order.push_back(by_speed[at(rank)]);
    map.proved = arrangement.proved;
    detail::finish_mapping(request, std::move(arrangement.shares), map);
    return map;
  };
  const auto as_published = [&] {
    detail::SvdSearch search;
    search.tries_vector_before = true;
    return mapped(detail::svd_arrangement(descending, p, q, search));
  };
  if (request.method == MapMethod::svd) return as_published();
  if (request.method == MapMethod::natural) {
    detail::Arrangement in_order;
    in_order.rank.resize(descending.size());
    std::iota(in_order.rank.begin(), in_order.rank.end(), 0);
    in_order.shares = natural_shares({p, q, descending});
    return mapped(std::move(in_order));
  }
  Mapping map = mapped(detail::best_arrangement(descending, p, q, request.search_work));
  if (map.proved) return map;

  // Rounding to whole rows may cost what the better shares gain: then the published arrangement, its rows improved as
  // well, is the faster one. A proved optimum of the shares stays what it is.
  Mapping published = as_published();
  return published.t_theory < map.t_theory ? published : map;
}

Mapping map_in_place(const MappingRequest& request) {
  check(request);
  const detail::Speeds speeds{request.nprow, request.npcol, request.speeds};
  Mapping map;
  map.order.resize(request.speeds.size());
  std::iota(map.order.begin(), map.order.end(), 0);
  detail::Shares shares;
  if (request.method == MapMethod::natural) {
    shares = natural_shares(speeds);
  } else {
    shares = detail::svd_shares(speeds);
    if (request.method == MapMethod::best) {
      detail::ascend(speeds, shares);
      const double work = detail::exact_work(speeds.p, speeds.q);
      if (work > 0 && work * speeds.p * speeds.q <= request.search_work) {
        detail::Shares exact = detail::exact_shares(speeds);
        if (exact.value > shares.value) shares = std::move(exact);
        map.proved = true;
      }
    }
  }
  detail::finish_mapping(request, std::move(shares), map);
  return map;
}

std::vector<std::int64_t> natural_blocks(std::int64_t n, const std::vector<double>& speeds) {
  if (n < 0 || n > detail::largest_size) bad_mapping("n is {}, expected 0 to 2^53", n);
  if (speeds.empty()) bad_mapping("the list of speeds is empty, expected at least one");
  for (std::size_t k = 0; k < speeds.size(); ++k)
    if (!std::isfinite(speeds[k]) || speeds[k] <= 0)
      bad_mapping("speed {} is {}, expected a finite number above 0", k, speeds[k]);
  return detail::largest_remainder(n, speeds);
}

} // namespace gridmap
