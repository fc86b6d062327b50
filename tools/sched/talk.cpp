// SPDX-License-Identifier: BSD-3-Clause
#include "talk.hpp"

#include <algorithm>

#include "base/host_list.hpp"
#include "base/status.hpp"

namespace sched {
namespace {

/// Calls f(host, its first id) for each.
template <class F> void each_host(const Hosts& hosts, F&& f) {
  int first = 0;
  for (const Host& host : hosts.list) {
    f(host, first);
    first += host.slots;
  }
}

bool is_on(const Host& host, int first, int id) {
  return id >= first && id < first + host.slots;
}

} // namespace

std::vector<Host> offer_of(const Hosts& hosts, const std::vector<int>& ids) {
  std::vector<Host> offer;
  each_host(hosts, [&](const Host& host, int first) {
    const auto count = std::count_if(ids.begin(), ids.end(), [&](int id) { return is_on(host, first, id); });
    if (count > 0) offer.push_back({host.name, static_cast<int>(count), host.speed});
  });
  return offer;
}

std::vector<int> taken_of(const Hosts& hosts, const std::vector<int>& ids, const std::vector<Host>& answer) {
  std::vector<int> offered = ids, taken;
  std::sort(offered.begin(), offered.end());
  for (const Host& part : answer) {
    int left = part.slots;
    each_host(hosts, [&](const Host& host, int first) {
      if (host.name != part.name) return;
      for (int& id : offered)
        if (left > 0 && id >= 0 && is_on(host, first, id)) {
          taken.push_back(id);
          id = -1;
          --left;
        }
    });
    if (left != 0 || part.slots < 1)
      throw base::Error(base::Status::bad_state,
                        "scheduler: the job takes {} processors of '{}', {} of them were not offered", part.slots,
                        part.name, part.slots < 1 ? part.slots : left);
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

std::vector<int> booked_of(const Hosts& hosts, const std::vector<int>& candidates, const std::vector<Host>& reported,
                           int n) {
  std::vector<int> left = candidates, booked;
  const auto take = [&](int& id) {
    booked.push_back(id);
    id = -1;
  };
  const auto is_full = [&] { return static_cast<int>(booked.size()) >= n; };
  for (const Host& part : reported) {
    int slots = part.slots;
    each_host(hosts, [&](const Host& host, int first) {
      if (!base::is_same_host(host.name, part.name)) return;
      for (int& id : left)
        if (id >= 0 && slots > 0 && !is_full() && is_on(host, first, id)) {
          take(id);
          --slots;
        }
    });
  }
  for (int& id : left)
    if (id >= 0 && !is_full()) take(id);
  std::sort(booked.begin(), booked.end());
  return booked;
}

double mean_speed(const std::vector<double>& speeds, const std::vector<int>& ids) {
  double sum = 0;
  for (const int id : ids)
    sum += static_cast<std::size_t>(id) < speeds.size() ? speeds[static_cast<std::size_t>(id)] : 1;
  return ids.empty() ? 1 : sum / static_cast<double>(ids.size());
}

std::vector<double> steps_by_speed(const std::vector<double>& step_s, const std::vector<int>& sizes,
                                   const std::vector<double>& speeds, const std::vector<int>& own,
                                   const std::vector<int>& free, double speed) {
  std::vector<int> order = free;
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return mean_speed(speeds, {a}) > mean_speed(speeds, {b}); });
  order.insert(order.begin(), own.begin(), own.end());
  std::vector<double> result = step_s;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto n = std::min(order.size(), static_cast<std::size_t>(sizes[i]));
    const std::vector<int> set(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n));
    result[i] *= speed / mean_speed(speeds, set);
  }
  return result;
}

std::vector<double> speeds_of(const Hosts& hosts) {
  std::vector<double> speeds;
  for (const Host& host : hosts.list) speeds.insert(speeds.end(), static_cast<std::size_t>(host.slots), host.speed);
  const bool are_alike = std::all_of(speeds.begin(), speeds.end(), [&](double speed) { return speed == speeds[0]; });
  return are_alike ? std::vector<double>{} : speeds;
}

} // namespace sched
