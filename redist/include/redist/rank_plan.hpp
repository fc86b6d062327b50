// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

namespace redist {

/// Rounds of an exchange that gives its sources up: 1/16 of a share is held twice.
constexpr int usual_slabs = 16;

/// `count` pieces of `len` consecutive indices along one axis: piece t starts at local index from +
/// t*from_step in the source's local array and at to + t*to_step in the target's. count = 1 is a plain run.
struct Run {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t len = 0;
  std::int64_t count = 1;
  std::int64_t from_step = 0;
  std::int64_t to_step = 0;
};

/// Data from one position of an axis to one position of another. Pieces do not overlap, neither in the
/// source nor in the target; within a run they ascend on both sides. Successive runs may interleave (a long
/// periodic pattern of several pieces keeps one strided run per piece). `total` is the sum of len*count.
struct RunList {
  std::vector<Run> runs;
  std::int64_t total = 0;
};

/// Everything one process sends to, receives from, or keeps for one other process: rows x cols, a full
/// product.
///
/// `rows` runs along the rows of the *target*, `cols` along its columns. Both ends hold the same two lists;
/// offsets count from the start of the local arrays. Element (r, c) of the message, r-th index of rows and
/// c-th of cols in the order of the runs, is on the receiver local row rows.to[r], column cols.to[c]. On the
/// sender it is
///     RankPlan::transposed false:  local row rows.from[r], column cols.from[c]
///     RankPlan::transposed true:   local row cols.from[c], column rows.from[r]   (rows.from counts source
///     *columns*)
/// On the wire it is the packed rows.total x cols.total matrix, column-major: element (r, c) at r + c *
/// rows.total, always the target's order, so that the receiver unpacks contiguously whatever the operation.
struct Message {
  int peer = -1; ///< rank in the plan's communicator
  const RunList* rows = nullptr;
  const RunList* cols = nullptr;
  std::int64_t elements() const { return rows->total * cols->total; }
};

/// A part of a message that travels in one step of a schedule: packed columns col_begin .. col_end-1 of it,
/// or, when the split falls inside a column, packed elements first .. first+count-1 of the packed matrix
/// (element offsets are exact, so a split is possible anywhere).
struct Piece {
  int step = 0;
  int message = 0;        ///< index into sends or recvs
  std::int64_t first = 0; ///< packed element offset
  std::int64_t count = 0; ///< packed elements
  int matrix = 0;         ///< in an exchange of several: index of the plan
};

/// One rank's own part of a plan: pure data, made without communication. Owns the run lists that its messages
/// point to, so it can be moved but not copied, and outlives the Plan it came from.
struct RankPlan {
  RankPlan() = default;
  RankPlan(RankPlan&&) = default;
  RankPlan& operator=(RankPlan&&) = default;

  int rank = -1;
  char type = 'd';               ///< of the elements: s d c z i
  std::deque<RunList> lists;     ///< one per neighbour row and column; a deque, so that the pointers stay good
  std::vector<Message> sends;    ///< to others only, peer ascending
  std::vector<Message> recvs;    ///< from others only, peer ascending
  std::vector<Message> keeps;    ///< from me to me: none or one
  std::vector<Piece> send_order; ///< what to send when, by ascending step; each message is covered exactly once
  std::vector<Piece> recv_order;
  int steps = 0;           ///< of the whole machine
  bool transposed = false; ///< rows of the source are columns of the target
  bool conjugated = false; ///< complex elements are conjugated on the way
  std::int64_t m_loc_from = 0,
               n_loc_from = 0;             ///< my share of the source, rows x columns; 0 x 0 outside its grid
  std::int64_t m_loc_to = 0, n_loc_to = 0; ///< my share of the target
  /// None, or two numbers per local column of the target: in column j only local rows row_limits[2j] ..
  /// row_limits[2j+1]-1 are written.
  std::vector<std::int64_t> row_limits;
};

/// Where one matrix lies in an exchange. `from` is this rank's share of the source (null when it has none), `to` its
/// share of the target; no element is in both.
///
/// With `alpha` and `beta` the target becomes alpha op(source) + beta target. They are elements of the matrix's type
/// and the same on all ranks. As in PxGEADD nothing of the source is read with alpha = 0, and nothing of the target
/// with beta = 0. Without them (null) it is a copy, as with 1 and 0.
struct Pointers {
  const void* from = nullptr;
  std::int64_t lld_from = 1;
  void* to = nullptr;
  std::int64_t lld_to = 1;
  const void* alpha = nullptr;
  const void* beta = nullptr;
  bool keeps_from = false; ///< its pages are not given back to the system, where others' are
};

} // namespace redist
