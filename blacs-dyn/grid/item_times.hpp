// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "advise/item_costs.hpp"
#include "grid/matrices.hpp"
#include "grid/matrix.hpp"

namespace blacs_dyn {

/// The times of single rows and columns. Each process reports its own; the reports between two gatherings go to process
/// 0 in groups of whole blocks. They stay there, by global index, whatever becomes of the grid. No MPI.
class ItemTimes {
public:
  struct Report {
    char axis = 'R';
    std::int64_t first = 0, count = 0;
    const double* seconds = nullptr;
  };
  /// Local. `mine`: what this process has of the axis. @throws Error{bad_argument, unsupported}
  void record(const Matrix& a, const Report& report, const std::vector<gridmap::Axis::Stretch>& mine);
  /// The reports since the last time, of existing matrices; another period begins here.
  std::vector<char> take(Matrices& matrices);

  // ---- process 0
  /// The time of all, and the speed of each alone. The cost of a row is the time of its parts, times the speed of the
  /// process that reported it. It is taken for all columns as for those that were reported.
  void gathered(const std::vector<std::vector<char>>& packets, const std::vector<double>& speeds, Matrices& matrices);
  advise::ItemCosts costs(const Matrix& a, bool is_row) const; ///< alike where nothing is known
  /// The largest matrix of which something is known; null when there is none.
  Matrix* known_of(const Matrices& matrices) const;

  /// Items of a group: whole blocks, and no more than 2^17 groups.
  static std::int64_t group_of(const AxisRule& axis);

private:
  using Key = std::pair<std::string, char>; ///< name of the matrix, axis
  /// The last five reported times of an item: where work moves, older ones belong to something else.
  struct Last {
    std::array<float, 5> seconds{};
    std::uint32_t count = 0;
    void add(double time) { seconds[static_cast<std::size_t>(count++ % 5U)] = static_cast<float>(time); }
    double least() const { return *std::min_element(seconds.begin(), seconds.begin() + std::min(count, 5U)); }
  };
  struct Mine {
    std::int64_t begin = 0, others = 0;
    std::vector<Last> items; ///< of this process, from `begin` on
  };
  struct Known {
    std::int64_t n = 0, group = 1;
    std::vector<double> costs; ///< of each group, at speed 1; below 0: not known
  };
  const Known* known(const Matrix& a, bool is_row) const; ///< null where nothing is known
  std::map<Key, Mine> mine_;
  std::map<Key, Known> known_;
};

} // namespace blacs_dyn
