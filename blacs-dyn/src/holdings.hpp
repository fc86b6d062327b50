// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "checkpoint/file.hpp"
#include "dyngrid.h"
#include "gridmap/axis.hpp"
#include "packet.hpp"
#include "processes/shape.hpp"
#include "redist/shared_array.hpp"

namespace blacs_dyn {

/// How one axis of a matrix lies on a grid of any shape: in blocks of one size, or as the user's rule says.
struct AxisRule {
  char which = 'R';
  std::int64_t n = 0;
  std::int64_t nb = 1;
  dyngrid_distribution rule = nullptr; ///< null: blocks of nb
  void* context = nullptr;

  /// @throws Error{bad_argument} when the rule fails or what it says cannot be.
  gridmap::Axis on(Shape grid) const;
};

/// A matrix on one grid, as seen from one process.
struct Lay {
  gridmap::Axis rows, cols;
  std::int64_t m_loc = 0, n_loc = 0; ///< 0 outside the grid

  std::int64_t lld() const { return m_loc > 1 ? m_loc : 1; }
};

} // namespace blacs_dyn

/// A matrix that follows the grid. The handle of the C interface.
struct dyngrid_matrix {
  std::string name;
  char type = 'd';
  blacs_dyn::AxisRule rows{'R'}, cols{'C'};
  blacs_dyn::Lay lay;
  redist::SharedArray local;
  std::vector<int> desc;
  bool is_placed = false; ///< false on a newcomer before its first resize point

  bool has_rule() const { return rows.rule || cols.rule; }
  bool has_same_form(const dyngrid_matrix& other) const;
  std::string form() const; ///< "'d' 100 x 100 in 8 x 8 blocks"
  /// The matrix on a grid of another shape, from row-major position `at`. @throws Error{bad_argument, shape_mismatch}
  blacs_dyn::Lay on(blacs_dyn::Shape shape, int at) const;
  /// Bytes of the local array; one element at least, so that the pointer is never null in the grid.
  std::size_t bytes(const blacs_dyn::Lay& lay) const;
  void place(blacs_dyn::Lay lay, redist::SharedArray local, int context);
  void unplace(); ///< this process has no part of it any more
};

namespace blacs_dyn {

using Matrix = dyngrid_matrix;

std::size_t element_bytes(char type); ///< 0 for an unknown type

/// State that every process has: the user's memory, or what came before the user said where it goes.
struct Shared {
  std::string name;
  void* data = nullptr;
  std::vector<char> early; ///< content that waits for dyngrid_share on a newcomer
  std::size_t bytes = 0;
};

/// What follows the grid: matrices and shared state. Collective calls are collective over `grid`; MPI_COMM_NULL on a
/// process that waits to join, which declares alone.
class Holdings {
public:
  /// Where a process stands when it makes a matrix.
  struct Site {
    MPI_Comm grid = MPI_COMM_NULL;
    Shape shape;
    int context = -1;
  };

  Matrix* create(const char* name, char type, AxisRule rows, AxisRule cols, bool has_handle, const Site& site);
  void free(Matrix* matrix);
  Matrix* find(const std::string& name);
  /// Local. A number for the two, to compare between processes. @throws Error when `from` cannot be copied to `to`
  std::int64_t check_copy(const Matrix* from, const Matrix* to) const;
  const Matrix* largest() const; ///< null when there is none
  double bytes() const;          ///< of all matrices, on all processes together
  const std::vector<std::unique_ptr<Matrix>>& matrices() const { return matrices_; }
  std::int64_t revision() const { return revision_; } ///< another one when a matrix was made or freed

  void share(const char* name, void* data, std::size_t bytes, MPI_Comm grid);
  void unshare(const char* name);
  const std::vector<Shared>& shared() const { return shared_; }

  /// For those that join: forms, where the matrices lie now, and the shared state.
  void write(Packet& packet) const;
  /// Local. What a new process declared must be what the others have. @throws Error{rank_mismatch}
  void read(Packet& packet, bool is_new);

  /// From a checkpoint. check first: what the program shares must be there, in the same size. @throws Error{not_found,
  /// rank_mismatch}
  void check_shared(const std::vector<SavedShared>& saved) const;
  void take_shared(const std::vector<SavedShared>& saved);
  void add(std::unique_ptr<Matrix> matrix) { matrices_.push_back(std::move(matrix)); }

  void set_context(int context);
  void leave(); ///< the handles stay readable
  void clear();

private:
  void read_matrices(Packet& packet, bool is_new);
  void read_shared(Packet& packet);

  std::vector<std::unique_ptr<Matrix>> matrices_;
  std::vector<std::unique_ptr<Matrix>>
      retired_; ///< freed by the others while this process slept: the handle stays readable
  std::vector<Shared> shared_;
  std::int64_t revision_ = 0;
};

/// A number for where things lie, to compare between processes.
std::int64_t fingerprint(const std::vector<Lay>& lays);

} // namespace blacs_dyn
