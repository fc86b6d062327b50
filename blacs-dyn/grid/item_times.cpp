// SPDX-License-Identifier: BSD-3-Clause
#include "grid/item_times.hpp"

#include <algorithm>
#include <cmath>

#include "base/index.hpp"
#include "base/status.hpp"
#include "dyngrid/balance.h"
#include "processes/packet.hpp"

namespace blacs_dyn {

using base::at;
using base::Error;
using base::Status;

namespace {

constexpr double not_reported = -1;

/// The report of one process about one axis of a matrix.
struct Summary {
  std::string name;
  char axis = 'R';
  std::int64_t first_group = 0, others = 0;
  std::vector<float> seconds; ///< of an item, the mean of each group; below 0: not reported
};
template <class Archive> void fields(Archive& a, Summary& summary) {
  a(summary.name, summary.axis, summary.first_group, summary.others, summary.seconds);
}

const AxisRule& axis_of(const Matrix& a, char axis) {
  return axis == 'R' ? a.rows : a.cols;
}

void check(const Matrix& a, const ItemTimes::Report& report, const gridmap::Axis::Stretch& mine) {
  const char* what = report.axis == 'R' ? "rows" : "columns";
  if (a.order != DYNGRID_ORDER_BLOCK)
    throw Error(Status::unsupported,
                "blacs-dyn: dyngrid_work_items: matrix \"{}\" is not dealt out in one stretch for each process, "
                "expected one of dyngrid_matrix_create_weighted with DYNGRID_ORDER_BLOCK",
                a.name);
  if (report.count < 0)
    throw Error(Status::bad_argument, "blacs-dyn: dyngrid_work_items: count is {}, expected at least 0", report.count);
  if (report.count > 0 &&
      (report.first < mine.first || report.first >= mine.last || report.count > mine.last - report.first))
    throw Error(Status::bad_argument,
                "blacs-dyn: dyngrid_work_items: {} {} from {} on, counted from 0, expected some of this process's {} "
                ".. {} (dyngrid_my_range)",
                report.count, what, report.first, mine.first, mine.last - 1);
  for (std::int64_t k = 0; k < report.count; ++k)
    if (!std::isfinite(report.seconds[k]) || report.seconds[k] < 0)
      throw Error(
          Status::bad_argument,
          "blacs-dyn: dyngrid_work_items: seconds of number {} of the {} is {}, expected a finite number of at least 0",
          report.first + k, what, report.seconds[k]);
}

} // namespace

std::int64_t ItemTimes::group_of(const AxisRule& axis) {
  constexpr std::int64_t most = 1 << 17;
  const std::int64_t blocks = axis.n / axis.nb + (axis.n % axis.nb != 0);
  return axis.nb * std::max<std::int64_t>(1, blocks / most + (blocks % most != 0));
}

void ItemTimes::record(const Matrix& a, const Report& report, const std::vector<gridmap::Axis::Stretch>& mine) {
  const gridmap::Axis::Stretch all = mine.empty() ? gridmap::Axis::Stretch{} : mine[0];
  check(a, report, all);
  if (report.count == 0) return;
  Mine& m = mine_[{a.name, report.axis}];
  const std::int64_t others = report.axis == 'R' ? a.local_size.cols : a.local_size.rows;
  if (m.begin != all.first || m.others != others || static_cast<std::int64_t>(m.items.size()) != all.last - all.first)
    m = {all.first, others, std::vector<Last>(at(all.last - all.first))};
  for (std::int64_t k = 0; k < report.count; ++k) m.items[at(report.first - all.first + k)].add(report.seconds[k]);
}

std::vector<char> ItemTimes::take(Matrices& matrices) {
  std::vector<Summary> all;
  for (const auto& [key, m] : mine_) {
    const Matrix* a = matrices.find(key.first);
    const auto end = m.begin + static_cast<std::int64_t>(m.items.size());
    if (!a || end > axis_of(*a, key.second).n || m.others == 0) continue;
    const std::int64_t group = group_of(axis_of(*a, key.second));
    Summary summary{key.first, key.second, m.begin / group, m.others, {}};
    for (std::int64_t g = summary.first_group; g * group < end; ++g) {
      double sum = 0;
      std::int64_t count = 0;
      for (std::int64_t i = std::max(g * group, m.begin); i < std::min((g + 1) * group, end); ++i) {
        const Last& item = m.items[at(i - m.begin)];
        if (item.count == 0) continue;
        sum += item.least();
        ++count;
      }
      summary.seconds.push_back(static_cast<float>(count > 0 ? sum / static_cast<double>(count) : not_reported));
    }
    all.push_back(std::move(summary));
  }
  mine_.clear();
  if (all.empty()) return {};
  Packet packet;
  packet.put(all);
  return std::move(packet.bytes());
}

void ItemTimes::gathered(const std::vector<std::vector<char>>& packets, const std::vector<double>& speeds,
                         Matrices& matrices) {
  struct Sum {
    std::vector<double> seconds, others; ///< of an item at speed 1, and of how much of it
  };
  std::map<Key, Sum> sums;
  for (std::size_t k = 0; k < packets.size(); ++k) {
    if (packets[k].empty()) continue;
    Packet packet(packets[k]);
    for (const Summary& summary : packet.get_vector<Summary>()) {
      const Matrix* a = matrices.find(summary.name);
      if (!a) continue;
      const AxisRule& axis = axis_of(*a, summary.axis);
      const std::int64_t group = group_of(axis);
      const std::size_t groups = at(axis.n / group + (axis.n % group != 0));
      Sum& sum = sums[{summary.name, summary.axis}];
      sum.seconds.resize(groups);
      sum.others.resize(groups);
      for (std::size_t g = 0; g < summary.seconds.size() && at(summary.first_group) + g < groups; ++g) {
        if (summary.seconds[g] < 0) continue;
        sum.seconds[at(summary.first_group) + g] += static_cast<double>(summary.seconds[g]) * speeds[k];
        sum.others[at(summary.first_group) + g] += static_cast<double>(summary.others);
      }
    }
  }
  for (const auto& [key, sum] : sums) {
    const Matrix& a = *matrices.find(key.first);
    const AxisRule &axis = axis_of(a, key.second), &other = key.second == 'R' ? a.cols : a.rows;
    const std::int64_t group = group_of(axis);
    Known& known = known_[key];
    if (known.n != axis.n || known.group != group)
      known = {axis.n, group, std::vector<double>(sum.seconds.size(), not_reported)};
    for (std::size_t g = 0; g < sum.seconds.size(); ++g) {
      if (sum.others[g] == 0) continue;
      const auto items =
          static_cast<double>(std::min(group, axis.n - static_cast<std::int64_t>(g) * group)); // the last has fewer
      known.costs[g] = sum.seconds[g] / sum.others[g] * static_cast<double>(other.n) * items;
    }
  }
}

const ItemTimes::Known* ItemTimes::known(const Matrix& a, bool is_row) const {
  const AxisRule& axis = is_row ? a.rows : a.cols;
  const auto found = known_.find({a.name, axis.which});
  if (found == known_.end() || a.order != DYNGRID_ORDER_BLOCK) return nullptr;
  const Known& known = found->second;
  return known.n == axis.n && known.group == group_of(axis) ? &known : nullptr;
}

advise::ItemCosts ItemTimes::costs(const Matrix& a, bool is_row) const {
  const Known* reported = known(a, is_row);
  if (!reported) return {};
  advise::ItemCosts items{reported->costs, reported->group};
  double sum = 0;
  std::int64_t count = 0; // items that are known
  const auto size_of = [&](std::size_t g) {
    return std::min(items.group, reported->n - static_cast<std::int64_t>(g) * items.group);
  };
  for (std::size_t g = 0; g < items.costs.size(); ++g) {
    if (items.costs[g] < 0) continue;
    sum += items.costs[g];
    count += size_of(g);
  }
  for (std::size_t g = 0; g < items.costs.size(); ++g) // those without a report: as the others
    if (items.costs[g] < 0) items.costs[g] = sum / static_cast<double>(count) * static_cast<double>(size_of(g));
  return items;
}

Matrix* ItemTimes::known_of(const Matrices& matrices) const {
  Matrix* largest = nullptr;
  const auto elements = [](const Matrix& a) { return static_cast<double>(a.rows.n) * static_cast<double>(a.cols.n); };
  for (Matrix* a : matrices.list()) {
    const bool is_known = known(*a, true) || known(*a, false);
    if (is_known && (!largest || elements(*a) > elements(*largest))) largest = a;
  }
  return largest;
}

} // namespace blacs_dyn
