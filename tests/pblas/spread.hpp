// SPDX-License-Identifier: BSD-3-Clause
// Matrices whose elements every process can work out, spread at random: what the tests of pblas compare with is
// computed by LAPACK on each process alone.
#pragma once
#include <complex>
#include <cstdint>
#include <functional>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "../../apps/common/blacs.hpp"
#include "dyngrid/pblas.h"
#include "element_types.hpp"

namespace spread {

using elements::conj;
using elements::Dense;
using elements::element_of;
using elements::is_complex;
using elements::Real;

struct Grid : apps::BlacsGrid {
  Grid(int p, int q) : BlacsGrid(p, q) {}
  ~Grid() {
    if (myrow >= 0) Cblacs_gridexit(ctxt);
  }
};

using Random = std::mt19937;
inline int pick(Random& random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random);
}

/// The owner of index i, and its place: counted block by block.
struct Axis {
  std::vector<int> owner, local;
  std::vector<int> count;
  Axis(int n, const std::vector<int>& sizes, int src, int nprocs) : count(static_cast<std::size_t>(nprocs), 0) {
    int block = 0, inside = 0;
    for (int i = 0; i < n; ++i) {
      while (inside >= sizes[static_cast<std::size_t>(block) % sizes.size()]) inside = 0, ++block;
      const int p = (src + block) % nprocs;
      owner.push_back(p);
      local.push_back(count[static_cast<std::size_t>(p)]++);
      ++inside;
    }
  }
};

/// A window of m x n in a matrix with a rim, on a grid.
template <class T> struct Matrix {
  int m, n, i, j; ///< i, j from 1
  std::vector<int> desc;
  Axis rows, cols;
  std::vector<T> local, before;
  const Grid* grid;

  T* data() { return local.data(); }
  int lld() const { return desc[8]; }
  bool is_mine(int r, int c) const { return rows.owner[at(r)] == grid->myrow && cols.owner[at(c)] == grid->mycol; }
  T& here(int r, int c) { return local[at(rows.local[at(r)] + cols.local[at(c)] * lld())]; }
  static std::size_t at(int k) { return static_cast<std::size_t>(k); }

  void fill(const std::function<T(int, int)>& inside) {
    for (int r = 0; r < desc[2]; ++r)
      for (int c = 0; c < desc[3]; ++c)
        if (is_mine(r, c)) {
          const bool is_in = r >= i - 1 && r < i - 1 + m && c >= j - 1 && c < j - 1 + n;
          here(r, c) = is_in ? inside(r - i + 1, c - j + 1) : T(77);
        }
    before = local;
  }
  /// The window on all processes.
  Dense<T> whole() {
    Dense<T> all(m, n);
    for (int r = 0; r < m; ++r)
      for (int c = 0; c < n; ++c)
        if (is_mine(r + i - 1, c + j - 1)) all(r, c) = here(r + i - 1, c + j - 1);
    const int doubles = static_cast<int>(all.x.size() * sizeof(T) / sizeof(Real<T>));
    MPI_Allreduce(MPI_IN_PLACE, all.x.data(), doubles, sizeof(Real<T>) == 8 ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    return all;
  }
  /// True when nothing changed where `may` says that nothing may.
  bool is_kept(const std::function<bool(int, int)>& may = [](int, int) { return true; }) {
    for (int r = 0; r < desc[2]; ++r)
      for (int c = 0; c < desc[3]; ++c) {
        if (!is_mine(r, c)) continue;
        const bool is_in = r >= i - 1 && r < i - 1 + m && c >= j - 1 && c < j - 1 + n;
        const std::size_t place = at(rows.local[at(r)] + cols.local[at(c)] * lld());
        if (!(is_in && may(r - i + 1, c - j + 1)) && local[place] != before[place]) return false;
      }
    return true;
  }
};

enum class Kind { any, uniform, listed };

/// Sizes and owners at random, zero blocks among them.
template <class T> Matrix<T> random_matrix(Random& random, const Grid& grid, int m, int n, Kind kind = Kind::any) {
  const bool is_listed = kind == Kind::listed || (kind == Kind::any && pick(random, 0, 2) > 0);
  const auto sizes = [&](int total) {
    if (!is_listed) return std::vector<int>{pick(random, 1, 12)};
    std::vector<int> list(static_cast<std::size_t>(pick(random, 1, 7)));
    for (int& size : list)
      size = pick(random, 0, 3) == 0 ? 0 : pick(random, 1, pick(random, 0, 3) == 0 ? total + 5 : 9);
    list[static_cast<std::size_t>(pick(random, 0, static_cast<int>(list.size()) - 1))] = pick(random, 1, 9);
    return list;
  };
  const int i = pick(random, 0, 1) * pick(random, 0, 9) + 1, j = pick(random, 0, 1) * pick(random, 0, 9) + 1;
  const int m_all = m + i - 1 + pick(random, 0, 3), n_all = n + j - 1 + pick(random, 0, 3);
  const std::vector<int> row_sizes = sizes(m_all), col_sizes = sizes(n_all);
  const int rsrc = pick(random, 0, grid.nprow - 1), csrc = pick(random, 0, grid.npcol - 1);
  const Axis rows(m_all, row_sizes, rsrc, grid.nprow), cols(n_all, col_sizes, csrc, grid.npcol);
  const int m_loc = rows.count[static_cast<std::size_t>(grid.myrow)],
            n_loc = cols.count[static_cast<std::size_t>(grid.mycol)];
  const int lld = std::max(1, m_loc + pick(random, 0, 2));
  std::vector<int> desc{is_listed ? 601 : 1,
                        grid.ctxt,
                        m_all,
                        n_all,
                        is_listed ? static_cast<int>(row_sizes.size()) : row_sizes[0],
                        is_listed ? static_cast<int>(col_sizes.size()) : col_sizes[0],
                        rsrc,
                        csrc,
                        lld};
  if (is_listed) {
    desc.insert(desc.end(), row_sizes.begin(), row_sizes.end());
    desc.insert(desc.end(), col_sizes.begin(), col_sizes.end());
  }
  return {m,  n,    i, j, desc, rows, cols, std::vector<T>(static_cast<std::size_t>(lld * std::max(1, n_loc)), T(55)),
          {}, &grid};
}

/// An ordinary descriptor, written in lists.
inline void list(std::vector<int>& desc) {
  const int mb = desc[4], nb = desc[5];
  desc[0] = 601, desc[4] = desc[5] = 1;
  desc.insert(desc.end(), {mb, nb});
}

} // namespace spread
