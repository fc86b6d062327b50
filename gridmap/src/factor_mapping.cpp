// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/factor_mapping.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/index.hpp"
#include "base/status.hpp"
#include "gridmap/dealing.hpp"

namespace gridmap {

using base::at;
namespace {

constexpr double most_work = 2e8; ///< of the exchanges: places looked at

/// One axis: whose its blocks are, and how much each position has of the blocks from any one on.
class Blocks {
public:
  Blocks(std::int64_t n, std::int64_t nb, int nprocs, std::vector<int> owners)
      : n_(n), nb_(nb), nprocs_(nprocs), owners_(std::move(owners)), left_((owners_.size() + 1) * at(nprocs)) {
    count(owners_.size());
  }
  std::size_t size() const { return owners_.size(); }
  const std::vector<int>& owners() const { return owners_; }
  const double* from(std::size_t block) const { return &left_[block * at(nprocs_)]; }

  /// Other owners of two blocks; last is the later one.
  void exchange(std::size_t first, std::size_t last) {
    std::swap(owners_[first], owners_[last]);
    count(last + 1);
  }
  void give(std::size_t block, int owner) {
    owners_[block] = owner;
    count(block + 1);
  }
  std::vector<std::int64_t> parts() const {
    std::vector<std::int64_t> parts;
    for (int i = 0; i < nprocs_; ++i) parts.push_back(static_cast<std::int64_t>(left_[at(i)]));
    return parts;
  }

private:
  /// What is left from each block before `end` on.
  void count(std::size_t end) {
    for (std::size_t b = end; b-- > 0;) {
      std::copy_n(from(b + 1), nprocs_, &left_[b * at(nprocs_)]);
      left_[b * at(nprocs_) + at(owners_[b])] +=
          static_cast<double>(std::min(nb_, n_ - static_cast<std::int64_t>(b) * nb_));
    }
  }
  std::int64_t n_, nb_;
  int nprocs_;
  std::vector<int> owners_;
  std::vector<double> left_;
};

/// Seconds of the steps before `end`.
double time_before(const Mapping& places, const Blocks& rows, const Blocks& cols, std::size_t end) {
  double sum = 0;
  for (std::size_t k = 0; k < std::min({end, rows.size(), cols.size()}); ++k) {
    double slowest = 0;
    for (int i = 0; i < places.nprow; ++i)
      for (int j = 0; j < places.npcol; ++j)
        slowest = std::max(slowest, rows.from(k)[i] * cols.from(k)[j] / places.speed(i, j));
    sum += slowest;
  }
  return sum;
}

/// Owners of one axis are exchanged, or changed, while that makes the sum less.
class Exchanges {
public:
  Exchanges(const Mapping& places, Blocks& rows, Blocks& cols) : places_(places), rows_(rows), cols_(cols) {}
  void run() {
    while (is_better(rows_, places_.nprow) || is_better(cols_, places_.npcol)) continue;
  }

private:
  double before(std::size_t end) {
    work_ += static_cast<double>(end) * places_.nprow * places_.npcol;
    return time_before(places_, rows_, cols_, end);
  }
  /// @return whether a change of blocks up to `last` has helped; if not it is taken back.
  template <class Do, class Undo> bool helps(std::size_t last, Do&& change, Undo&& back) {
    if (work_ > most_work) return false;
    const double was = before(last + 1);
    change();
    if (before(last + 1) < was * (1 - 1e-12)) return true;
    back();
    return false;
  }
  bool is_better(Blocks& axis, int nprocs) {
    bool has_helped = false;
    for (std::size_t last = 0; last < axis.size(); ++last) {
      for (std::size_t first = last; first-- > 0;) {
        if (work_ > most_work) return false;
        if (axis.owners()[first] == axis.owners()[last]) continue;
        has_helped |= helps(
            last, [&] { axis.exchange(first, last); }, [&] { axis.exchange(first, last); });
      }
      for (int owner = 0; owner < nprocs; ++owner) {
        const int was = axis.owners()[last];
        if (owner == was) continue;
        has_helped |= helps(
            last, [&] { axis.give(last, owner); }, [&] { axis.give(last, was); });
      }
    }
    return has_helped;
  }

  const Mapping& places_;
  Blocks &rows_, &cols_;
  double work_ = 0;
};

std::vector<int> in_turn(std::int64_t n, std::int64_t nb, int nprocs) {
  std::vector<int> owners(at((n + nb - 1) / nb));
  for (std::size_t b = 0; b < owners.size(); ++b) owners[b] = static_cast<int>(b % at(nprocs));
  return owners;
}

} // namespace

FactorMapping map_for_factors(const MappingRequest& request, std::int64_t nb, bool in_place) {
  if (nb < 1)
    throw base::Error(base::Status::bad_argument, "gridmap: factor mapping: nb is {}, expected at least 1", nb);
  FactorMapping best;
  best.map = in_place ? map_in_place(request) : map_processors(request);
  const std::int64_t m = request.m, n = request.n;
  const int p = request.nprow, q = request.npcol;
  Blocks rows(m, nb, p, factor_order((m + nb - 1) / nb, best.map.r));
  Blocks cols(n, nb, q, factor_order((n + nb - 1) / nb, best.map.c));
  Exchanges(best.map, rows, cols).run();
  best.t_steps = time_before(best.map, rows, cols, rows.size());
  best.t_cyclic =
      time_before(best.map, Blocks(m, nb, p, in_turn(m, nb, p)), Blocks(n, nb, q, in_turn(n, nb, q)), rows.size());
  const double speed = std::accumulate(best.map.speeds.begin(), best.map.speeds.end(), 0.0);
  for (std::int64_t k = 0; k < std::min(m, n); k += nb)
    best.t_least += static_cast<double>(m - k) * static_cast<double>(n - k) / speed;
  best.row_owners = rows.owners();
  best.col_owners = cols.owners();
  best.map.rows = rows.parts();
  best.map.cols = cols.parts();
  return best;
}

} // namespace gridmap
