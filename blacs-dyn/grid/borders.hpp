// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <mpi.h>

#include "dyngrid/layout.h"
#include "grid/grid.hpp"
#include "redist/halo_handle.hpp"
#include "redist/shared_array.hpp"

/// A ghosted array of one matrix, and the halo that fills its borders. The handle of the C interface.
struct dyngrid_borders {
  dyngrid_matrix* matrix = nullptr;
  std::int64_t matrix_number = 0; ///< the address of a matrix that was freed may be another one's
  std::vector<redist::HaloSides> sides;
  redist::Neighbours neighbours = redist::Neighbours::four;
  std::vector<char> boundary; ///< one element

  std::optional<dyngrid_halo> halo; ///< none outside the grid, and after a change of it until the next update
  redist::SharedArray ghosted;
  gridmap::Axis rows, cols;    ///< of the layout that both were made for
  std::int64_t placements = 0; ///< of the matrix at the last update

  bool is_current() const { return halo && placements == matrix->placements; }
  /// Phases move a matrix to another layout and back: then both are kept.
  bool fits() const { return halo && rows == matrix->layout.rows && cols == matrix->layout.cols; }
  /// A number to compare between processes: what the program asked for, and whether it fits.
  std::int64_t print() const;
  /// Collective over comm. @throws agreed Error, with neither of the two left
  void make(MPI_Comm comm);
  void close(); ///< collective over the grid that it was made on
};

namespace blacs_dyn {

/// The borders of a program. Collective calls are collective over the grid, on a process outside they are local.
class Borders {
public:
  Borders(const Grid& grid, const Matrices& matrices) : grid_(grid), matrices_(matrices) {}

  struct Asked {
    const int *lo, *hi, *periodic;
    int neighbours;
    bool has_place; ///< for the handle
  };
  dyngrid_borders* create(dyngrid_matrix* matrix, const Asked& asked, const void* boundary);
  /// Of a halo without borders, for a matrix as it lies now. Collective over the grid. @throws agreed Error
  redist::HaloPlan halo_plan(const dyngrid_matrix* matrix, const Asked& asked) const;
  /// @return the ghosted array; null outside the grid
  void* update(dyngrid_borders* borders) const;
  /// Waits for the neighbours only.
  void exchange(dyngrid_borders* borders) const;
  void store(const dyngrid_borders* borders) const;   ///< local
  dyngrid_halo* halo(dyngrid_borders* borders) const; ///< of now
  void free(dyngrid_borders* borders);
  void close(); ///< the grid changes, or ends: all halos and arrays. Collective over it
  void clear() { all_.clear(); }

private:
  /// @throws Error{null_pointer, not_found}
  void require(const char* routine, const dyngrid_matrix* matrix, const Asked& asked) const;
  void require(const char* routine, const dyngrid_borders* borders) const;
  void require_current(const char* routine, const dyngrid_borders* borders) const;

  const Grid& grid_;
  const Matrices& matrices_;
  std::vector<std::unique_ptr<dyngrid_borders>> all_;
};

} // namespace blacs_dyn
