// SPDX-License-Identifier: BSD-3-Clause
#include "load_by_host.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace command {
namespace {

struct OnHost {
  int processes = 0, asleep = 0, measured = 0;
  double sum = 0, least = 0;
  base::Json competing;

  void add(const base::Json& load) {
    const bool is_asleep = load.value("place", base::Json()).is_null();
    ++(is_asleep ? asleep : processes);
    if (is_asleep || load.at("samples").get<int>() == 0) return;
    const auto share = load.at("share").get<double>();
    least = measured == 0 ? share : std::min(least, share);
    sum += share;
    ++measured;
    const base::Json there = load.value("competing", base::Json());
    if (there.is_number() && (competing.is_null() || there.get<double>() > competing.get<double>())) competing = there;
  }
};

} // namespace

base::Json load_by_host(const std::map<std::string, base::Json>& loads) {
  std::map<std::pair<std::string, std::string>, OnHost> table; // job, host
  std::map<std::string, std::set<std::string>> jobs_of_host;
  for (const auto& [job, list] : loads)
    for (const base::Json& load : list) {
      const auto host = load.at("host").get<std::string>();
      OnHost& there = table[{job, host}];
      there.add(load);
      if (there.processes > 0) jobs_of_host[host].insert(job);
    }
  base::Json rows = base::Json::array();
  for (const auto& [key, there] : table) {
    const auto& [job, host] = key;
    std::set<std::string> beside = jobs_of_host[host];
    beside.erase(job);
    const bool is_known = there.measured > 0;
    rows.push_back({{"job", job},
                    {"host", host},
                    {"processes", there.processes},
                    {"asleep", there.asleep},
                    {"share", is_known ? base::Json(there.sum / there.measured) : base::Json()},
                    {"least_share", is_known ? base::Json(there.least) : base::Json()},
                    {"competing", there.competing},
                    {"beside", beside}});
  }
  return rows;
}

} // namespace command
