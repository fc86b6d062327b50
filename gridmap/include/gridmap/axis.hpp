// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/grid_shape.hpp"

namespace gridmap {

using base::GridShape;

/// How one axis (the rows or the columns) of a matrix lies on the nprocs positions of one axis of a grid.
///
/// Blocks of sizes s_0 .. s_{k-1}, repeated with period k, cover 0 .. n-1; block j lies on position (src + j) mod
/// nprocs. The last block may be cut short. Zero sizes are allowed, as long as one period covers something when n > 0.
///
///     n = 10, sizes {2,1}, nprocs 2, src 0:   0 0 1 0 0 1 0 0 1 0      (uniform block-cyclic is k = 1)
///
/// Uniform block-cyclic is k = 1; 'block' is one size ceil(n/nprocs); a variable block per position is k =
/// nprocs with sum n; Beaumont's heterogeneous block-cyclic is k = nprocs repeated.
///
/// With `owners`, one for each size, block j lies on position owners[j mod k] instead, whatever src is.
struct Axis {
  static constexpr std::int64_t most_sizes = 1 << 24; ///< 128 MB of them; more is a mistake of the caller

  std::int64_t n = 0;
  std::vector<std::int64_t> sizes{1};
  int src = 0;
  int nprocs = 1;
  std::vector<int> owners{}; ///< none, or as many as sizes

  static Axis block_cyclic(std::int64_t n, std::int64_t nb, int nprocs, int src = 0);
  static Axis block(std::int64_t n, int nprocs, int src = 0); ///< nb = max(1, ceil(n / nprocs))
  /// block_cyclic(n, nb, nprocs), or with nb 0 block(n, nprocs).
  static Axis equal(std::int64_t n, std::int64_t nb, int nprocs);
  static Axis variable(std::vector<std::int64_t> rows_per_proc,
                       int src = 0); ///< one block each, n is their sum
  static Axis heterogeneous(std::int64_t n, std::vector<std::int64_t> sizes, int nprocs, int src = 0);
  /// Block j of sizes[j] on owners[j], which are as many; n is the sum of the sizes. In the shortest form: blocks of
  /// one owner that follow each other are one, and where owners come in turn they are not listed.
  /// @throws Error{bad_argument}
  static Axis owned(std::vector<std::int64_t> sizes, std::vector<int> owners, int nprocs);

  /// @throws Error{bad_argument} that says which member is wrong, got and expected.
  void validate() const;

  /// Elements on position p; NUMROC of this distribution. O(k).
  std::int64_t local_size(int p) const;
  std::vector<std::int64_t> local_sizes() const; ///< of all positions
  /// Elements of position p among the first i of all, 0 <= i <= n. O(k).
  std::int64_t count_before(int p, std::int64_t i_glo) const;
  /// Position that owns global index i (0-based, below n); INDXG2P. O(k).
  int owner(std::int64_t i_glo) const;
  /// Local index of global index i on its owner; INDXG2L. O(k).
  std::int64_t to_local(std::int64_t i_glo) const;
  /// Global index of local index i (below local_size(p)) on position p; INDXL2G. O(k).
  std::int64_t to_global(std::int64_t i_loc, int p) const;

  /// Neighbouring global indices first .. last-1 that one position has.
  struct Stretch {
    std::int64_t first = 0, last = 0;
  };
  /// Those of position p, ascending, neighbours joined. O(blocks of the axis).
  std::vector<Stretch> stretches(int p) const;

  bool is_uniform() const { return sizes.size() == 1 && owners.empty(); }
  /// The same without owners: a size of 0 skips a position. Up to nprocs times as many sizes. @throws
  /// Error{shape_mismatch} when those are more than most_sizes
  Axis in_turn() const;
  bool operator==(const Axis& other) const;
  std::string describe() const;
};

/// Elements are counted in 64 bits and processes in an int: fewer than 2^61, and at most 2^31 - 1.
/// where: "place: the old". @throws Error{bad_argument}
void check_counts(const Axis& rows, const Axis& cols, const char* where);

/// The stretches of one position one after the other, from a global index on. Allocates nothing; the axis outlives it.
class StretchWalk {
public:
  StretchWalk(const Axis& axis, int p, std::int64_t from = 0);
  /// Neighbours joined; an empty one, at n, when there are no more.
  Axis::Stretch next();

private:
  const Axis& axis_;
  int p_;
  std::int64_t from_;
  std::int64_t block_ = 0, begin_ = 0; ///< number and first index of the block to look at next
};

} // namespace gridmap
