// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <mpi.h>

#include "redist/layout.hpp"
#include "redist/rank_plan.hpp"

namespace redist {

/// Which elements around a block belong to its border.
enum class Neighbours {
  four, ///< above, below, left and right
  eight ///< corners too
};

/// The border along one axis: elements before and after each stretch, none of them below 0.
struct HaloSides {
  int lo = 1;            ///< above, or left
  int hi = 1;            ///< below, or right
  bool periodic = false; ///< the last index lies before the first
};

struct HaloOptions {
  HaloSides rows, cols;
  Neighbours neighbours = Neighbours::eight;
};

/// One stretch of consecutive global indices that a process holds along an axis, with its border in the ghosted array.
///
///     ghosted index:  ghosted - lo .. ghosted - 1   ghosted .. ghosted + size - 1   then `hi` more
///                    border                      indices glo .. glo + size-1   border
struct HaloStretch {
  std::int64_t glo = 0;     ///< first global index
  std::int64_t loc = 0;     ///< its index in the local array without borders
  std::int64_t ghosted = 0; ///< its index in the ghosted array
  std::int64_t size = 0;
};

/// One dimension of an array with borders: how it lies on its parts, and its border.
struct HaloDimension {
  gridmap::Axis axis;
  HaloSides sides;
};

/// What one process has of a dimension.
struct HaloPart {
  std::int64_t ghosted = 0, local = 0; ///< extents of the ghosted array, and of the local one without borders
  std::vector<HaloStretch> stretches;  ///< ascending; the elements of the process are their product over the dimensions
};

/// All that one process exchanges with one other, or with itself: full products of rows and columns of the
/// two ghosted arrays.
struct HaloMessage {
  int peer = -1;
  std::vector<Message> parts; ///< in the order on the wire; their `peer` is the same
  std::int64_t elements() const;
};

/// One rank's part of a halo plan. Owns the run lists that its messages point to.
struct RankHalo {
  RankHalo() = default;
  RankHalo(RankHalo&&) = default;
  RankHalo& operator=(RankHalo&&) = default;

  int rank = -1;
  std::int64_t rows = 0, cols = 0;   ///< of the ghosted array
  std::int64_t m_loc = 0, n_loc = 0; ///< of the local array without borders
  std::vector<HaloPart> parts;       ///< by dimension, rows before columns
  std::deque<RunList> lists;
  Message interior;               ///< from the local array to the ghosted one
  std::vector<HaloMessage> sends; ///< to others, peer ascending
  std::vector<HaloMessage> recvs; ///< from others, peer ascending
  std::vector<HaloMessage> keeps; ///< none or one: borders that are elements of this rank itself
};

/// The messages that fetch the borders of a distributed matrix, or field. Pure: no MPI, no matrix data.
///
/// Works for every layout but a replicated one: block, one variable block per process, uniform and
/// heterogeneous block-cyclic, block lists. Stretches that follow each other on one process are one. A border
/// may be wider than the blocks beside it: it then comes from several processes.
/// Places outside a matrix that is not periodic are never written.
class HaloPlan {
public:
  /// @throws Error{bad_argument, shape_mismatch} for a layout that is not valid or replicated, a side below 0, or four
  /// sides of 0.
  explicit HaloPlan(const Layout& layout, const HaloOptions& options = {});
  /// Of a field: several dimensions make the rows and several the columns of its matrix, the first running fastest. Row
  /// p of the grid has part p % n of a first row dimension on n parts, and so on; columns likewise.
  /// @throws Error{bad_argument} as above, or where the parts are not as many as the grid has rows and columns
  HaloPlan(std::vector<HaloDimension> rows, std::vector<HaloDimension> cols, Grid grid, Neighbours neighbours);

  /// Ranks outside the grid get an empty plan. Cost: time and memory O(stretches of both axes + my
  /// neighbours).
  /// @throws Error{out_of_memory} when rows or columns of the ghosted array are 2^63 or more
  RankHalo for_rank(int rank) const;

  const Grid& grid() const { return grid_; }

private:
  std::vector<HaloDimension> rows_, cols_;
  Grid grid_;
  Neighbours neighbours_;
};

/// Fetches borders over one communicator: one message to and from each neighbour, in buffers and with
/// requests that are made once.
///
///     redist::Halo halo(comm, redist::HaloPlan(layout), sizeof(double));
///     std::vector<double> u(halo.rows() * halo.cols());      // column-major
///     halo.fill(u.data(), &boundary);                        // what no exchange writes stays
///     halo.to_ghosted(local, lld, u.data());
///     while (...) { halo.exchange(u.data()); sweep(u); }
///     halo.from_ghosted(u.data(), local, lld);
class Halo {
public:
  /// Collective over comm, which is duplicated; it covers the layout's ranks, and those outside the grid take
  /// part in the making only.
  /// @param element_bytes  global. Any size, at least 1.
  /// @throws Error{bad_argument, unsupported (a message of more than 2^31 - 1 bytes), out_of_memory,
  /// mpi_failure}, agreed.
  Halo(MPI_Comm comm, const HaloPlan& plan, int element_bytes);
  ~Halo();
  Halo(Halo&&) noexcept;
  Halo& operator=(Halo&&) noexcept;

  /// Rows and columns of the ghosted array on this rank, 0 outside the grid.
  std::int64_t rows() const;
  std::int64_t cols() const;
  /// What this rank has of each dimension, rows before columns; empty outside the grid.
  const std::vector<HaloPart>& parts() const;

  /// Fetches the borders of the ghosted array, column-major with leading dimension `lld` (0: rows()). Every
  /// rank of the grid calls it; a rank waits for its neighbours only.
  /// @throws Error{null_pointer, bad_argument, bad_state} before anything is sent: the neighbours of a rank
  /// that
  ///   is wrong wait for it, as with MPI itself. Error{mpi_failure}.
  void exchange(void* ghosted, std::int64_t lld = 0);
  /// The same in two halves. Between them the interior may be read; borders may not be touched, and elements
  /// less than a border's width from the edge of their block may already be changed, as they have been packed.
  void start(void* ghosted, std::int64_t lld = 0);
  void finish();

  /// Copies the local array into the ghosted one and back. Local.
  void to_ghosted(const void* local, std::int64_t lld_local, void* ghosted, std::int64_t lld = 0) const;
  void from_ghosted(const void* ghosted, void* local, std::int64_t lld_local, std::int64_t lld = 0) const;
  /// Sets every element of the ghosted array, borders included, to *value. Local.
  void fill(void* ghosted, const void* value, std::int64_t lld = 0) const;

  /// Collective. Waits for an exchange under way and frees the communicator.
  void close();

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace redist
