// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dyngrid.h"
#include "dyngrid/layout.h"
#include "grid/field.hpp"
#include "grid/local_array.hpp"
#include "grid/matrix_grid.hpp"
#include "gridmap/axis.hpp"
#include "processes/names.hpp"
#include "redist/halo.hpp"
#include "redist/layout.hpp"

namespace blacs_dyn {

/// Replaces the rule of a matrix on a process that slept when the rule was given: the others send the result of theirs.
std::int64_t rule_of_others(void* context, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes);

/// How one axis of a matrix lies on a grid of any shape: in blocks of one size, as the user's rule says, or as the
/// product of some dimensions of a field.
struct AxisRule {
  char which = 'R';
  std::int64_t n = 0;
  std::int64_t nb = 1;
  dyngrid_distribution rule = nullptr;
  void* context = nullptr;
  dyngrid_owner_rule owner_rule = nullptr; ///< instead of `rule`; both null: blocks of nb
  gridmap::FieldDimensions field{};        ///< instead of all of these

  bool has_rule() const { return rule || owner_rule; }
  /// @throws Error{bad_argument} when its numbers cannot be
  void check(const char* routine) const;
  /// @throws Error{bad_argument} when the rule fails or what it says cannot be.
  gridmap::Axis on(const GridMap& grid) const;
};

/// order: DYNGRID_ORDER_*, dealt out by speed over the whole grid; 0: it is not. @throws Error{bad_argument}
redist::Layout layout_on(const GridMap& grid, const AxisRule& rows, const AxisRule& cols, int order,
                         const MatrixGrid& lies_on = {});

/// Rows and columns of a matrix, or of what a field is as a matrix.
struct MatrixExtents {
  std::int64_t m = 0, n = 0;

  MatrixExtents transposed() const { return {n, m}; }
};

/// Of the process at (row, col) of the grid for which this thread asks a rule now; 0 where there is none.
double rule_speed(int row, int col);

} // namespace blacs_dyn

/// A matrix that follows the grid. The handle of the C interface.
struct dyngrid_matrix {
  std::string name;
  char type = 'd';
  blacs_dyn::AxisRule rows{'R'}, cols{'C'};
  blacs_dyn::MatrixGrid lies_on;
  redist::Layout layout; ///< now; ranks are those of the grid's communicator
  redist::LocalSize local_size;
  blacs_dyn::LocalArray local;
  blacs_dyn::ProgramMemory owner; ///< of the local arrays, where they are this process's program's
  bool is_adopted = false; ///< the program made it, with memory of its own; the same on all processes, though one that
                           ///< joins or wakes may have the library's memory
  mutable std::vector<int> desc; ///< whole only after descriptor() where blocks have different sizes or owners
  bool is_placed = false;        ///< false on a new process before its first resize point
  int order = 0;                 ///< DYNGRID_ORDER_*: dealt out by speed, in blocks of rows.nb x cols.nb; 0: it is not
  int relayouts = 0;             ///< how often the program gave it other block sizes or another rule
  std::int64_t made = 0;         ///< number among all that were made on the grid: one made again is another one
  bool is_factored = false;      ///< dyngrid_lu or dyngrid_cholesky works on it, and has its address
  bool is_rule_missing = false;  ///< on some process of the grid; the same on all of them
  const std::int64_t number = next_number(); ///< of no other matrix of this process, living or freed
  std::int64_t placements = 0;               ///< how often it got a local array of a layout: each is another one
  std::int64_t writes = 0;                   ///< how often its elements got other values, as far as dyngrid knows

  static constexpr std::size_t entries_of_desc = 10;  ///< in blocks of one size: one more than ScaLAPACK's nine
  dyngrid_matrix() { desc.reserve(entries_of_desc); } // a change that is agreed takes no memory for it
  dyngrid_matrix(const dyngrid_matrix&) = delete;
  dyngrid_matrix& operator=(const dyngrid_matrix&) = delete;
  ~dyngrid_matrix() { local.leave_to_program(); } ///< an array that is the program's outlives the matrix

  /// The leading dimension of the local array.
  std::int64_t lld() const { return adopted_lld_ > 0 ? adopted_lld_ : local_size.lld(); }
  bool lacks_rule() const { return rows.rule == blacs_dyn::rule_of_others || cols.rule == blacs_dyn::rule_of_others; }

  bool is_field() const { return !rows.field.empty(); }
  bool has_rule() const {
    return rows.has_rule() || cols.has_rule() || order != 0 || is_field();
  } ///< beside its blocks
  /// Over the p x q grid, and not a field.
  bool is_ordinary() const { return lies_on.is_whole() && !is_field(); }
  std::string lies_text() const { return is_field() ? " as a field" : lies_on.text(); } ///< of one that is not
  /// Of the process of that rank: this one.
  const blacs_dyn::FieldPart& field_part(int rank) const;
  bool has_same_form(const dyngrid_matrix& other) const;
  /// The layout that the others gave the matrix since then, or with which they made it again, replaces that which this
  /// process declared, or had when it was parked. Where that is a rule, theirs counts from here on if this process
  /// missed it.
  void follow(const dyngrid_matrix& others, bool rows_have_rule, bool cols_have_rule, bool missed_one);
  std::string extents_text() const; ///< "100 x 100"; of a field all its extents
  std::string form() const;         ///< "'d' 100 x 100 in 8 x 8 blocks"
  /// The matrix on another grid. @throws Error{bad_argument}
  redist::Layout on(const blacs_dyn::GridMap& grid) const;
  /// The local array of the process of that rank in the grid. @throws Error{shape_mismatch} when LLD_ cannot hold it
  redist::LocalSize local_size_on(const redist::Layout& on_grid, int rank) const;
  /// Bytes of a local array; one element at least, so that the pointer is never null in the grid.
  std::size_t bytes(redist::LocalSize size) const;
  /// Memory for a local array of that size. @throws Error{out_of_memory} naming the matrix
  blacs_dyn::LocalArray array_of(redist::LocalSize size) const;
  /// The old array is freed. lld: of an array that the program made; 0: that of the size
  void place(redist::Layout on_grid, redist::LocalSize size, blacs_dyn::LocalArray array, int context,
             std::int64_t lld = 0);
  int context() const { return desc.empty() ? -1 : desc[1]; }
  /// What ScaLAPACK takes, or DTYPE_ 601. Lists of owners are in it as sizes of 0 that skip positions, up to nprocs
  /// times as many as there are blocks, and are worked out when asked for. @throws Error{shape_mismatch} when they are
  /// too long
  const std::vector<int>& descriptor() const;
  /// The borders of its blocks as it lies now; sides: of rows and columns, or of each dimension of a field.
  /// @throws Error{bad_argument}
  redist::HaloPlan halo_plan(const std::vector<redist::HaloSides>& sides, redist::Neighbours neighbours) const;
  std::size_t dims() const { return is_field() ? rows.field.size() + cols.field.size() : 2; }
  /// Of a field, in the order of its array; none of another matrix.
  gridmap::FieldDimensions field_dimensions() const;
  /// Its own extents; of a field also those of any split of its dimensions into rows and columns.
  bool can_be(const blacs_dyn::MatrixExtents& extents) const { return split_of(extents).has_value(); }
  /// The same elements in the same local arrays as a matrix of other extents.
  struct View {
    redist::Layout layout;
    std::int64_t lld = 1; ///< of this process
  };
  /// rank: of this process; the matrix can_be() of these extents. @throws Error{bad_argument}
  View as(const blacs_dyn::MatrixExtents& extents, int rank) const;
  /// Which rows, or columns, the process of that rank has: this one.
  const std::vector<gridmap::Axis::Stretch>& stretches(bool is_row, int rank) const;
  void unplace(); ///< this process has no part of it any more

private:
  static std::int64_t next_number();
  /// How many dimensions are rows then; that of the field itself where that fits.
  std::optional<std::size_t> split_of(const blacs_dyn::MatrixExtents& extents) const;
  std::vector<int> written_descriptor(int context) const;
  mutable std::atomic<bool> is_descriptor_whole_{true}; ///< threads of the program may ask at the same time
  struct Known {
    bool is_known = false;
    std::vector<gridmap::Axis::Stretch> list;
  };
  std::int64_t adopted_lld_ = 0; ///< of the array that the program had, until the first change; 0: as the rows say
  mutable std::array<Known, 2> stretches_;  ///< worked out when asked for
  mutable blacs_dyn::FieldPart field_part_; ///< likewise; empty until then
};

namespace blacs_dyn {

using Matrix = dyngrid_matrix;

std::size_t element_bytes(char type); ///< 0 for an unknown type
/// Of this number of elements; SIZE_MAX, which no memory has, where it is larger still.
std::size_t bytes_of(std::int64_t elements, char type);
/// As a matrix of which extents `to` is when it gets `from`, transposed or not: its own or those of `from`, since a
/// field can be split into rows and columns in several ways. None when the two do not fit.
std::optional<MatrixExtents> copied_as(const Matrix& from, bool is_transposed, const Matrix& to);
using redist::fingerprint;

} // namespace blacs_dyn
