// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <vector>

#include "redist/layout.hpp"

namespace redist {

/// The grid a descriptor is read for, and where this process is in it. nprow = -1: this process is outside
/// the grid.
struct GridPosition {
  int nprow = -1;
  int npcol = -1;
  int myrow = -1;
  int mycol = -1;

  bool is_inside() const { return myrow >= 0; }
};

/// Contents of an array descriptor. DTYPE_ 1 is ScaLAPACK's nine integers, one block size per axis; DTYPE_ 601
/// lists them:
///
///     entry   1      2      3   4   5          6          7      8      9     10 ...
///     1       DTYPE_ CTXT_  M_  N_  MB_        NB_        RSRC_  CSRC_  LLD_
///     601     DTYPE_ CTXT_  M_  N_  row sizes  col sizes  RSRC_  CSRC_  LLD_  the row sizes, then the column
///     sizes
///
/// The sizes of an axis repeat with their number as period; block j lies on position (RSRC_ + j) mod nprow.
struct Descriptor {
  static constexpr int block_cyclic = 1;
  static constexpr int heterogeneous = 601;
  static constexpr int fixed = 9; ///< integers before the lists

  int dtype = block_cyclic;
  int ctxt = -1;
  gridmap::Axis rows;
  gridmap::Axis cols;
  int lld = 1;
};

/// The first entry that is not valid, as ScaLAPACK's info: 0, or -(100 * argument + entry), entries counted
/// from 1.
///
/// Checked in this order: DTYPE_, CTXT_ (the grid exists, or this process is outside it), M_, N_, block or
/// list sizes (at most gridmap::Axis::most_sizes in a list), RSRC_, CSRC_, the listed sizes (none negative, not all
/// zero when the axis has elements, in all positions together below 2^63), and LLD_ against the local rows. Outside the
/// grid RSRC_, CSRC_ are checked for their sign only and LLD_ for being positive.
/// @param length  integers that `desc` may be read to; fewer than the descriptor needs is an error of the
/// entry that says how
///                many there are. 0: as many as it says.
int check_descriptor(const int* desc, std::size_t length, const GridPosition& grid, int argument);

/// Whether these are integers of 8 bytes, of a program that was compiled with -fdefault-integer-8 or -i8 (ILP64): read
/// as integers of 4, each second one is 0, and block sizes never are. Reads nine of 4 bytes.
bool has_wide_integers(const int* desc);
constexpr const char* wide_integers =
    "its descriptor has integers of 8 bytes (ILP64), expected 4; compile without -fdefault-integer-8 or -i8, and link "
    "the ScaLAPACK for integers of 4 bytes (LP64)";

/// @throws Error{null_pointer, bad_descriptor} that names the entry.
Descriptor read_descriptor(const int* desc, std::size_t length, const GridPosition& grid);

/// The integers of a descriptor; DTYPE_ 1 when `dtype` says so and both axes are uniform.
/// @throws Error{shape_mismatch} when something does not fit into an int, or DTYPE_ 1 cannot say it.
std::vector<int> write_descriptor(const Descriptor& descriptor);

} // namespace redist
