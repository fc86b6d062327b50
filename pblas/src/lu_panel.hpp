// SPDX-License-Identifier: BSD-3-Clause
// A panel of an LU factorization: as many columns as one process of each row holds together, over the processes of a
// column of the grid.
#pragma once
#include <cstdint>
#include <vector>

#include <mpi.h>

#include "operand.hpp"

namespace pblas {

/// Finds the pivot of a column over the processes of a column of the grid, and gives all of them its row and the row
/// that it changes places with, in one reduction.
template <class T> class PivotSearch {
public:
  PivotSearch(MPI_Comm comm, std::int64_t widest);
  ~PivotSearch();
  PivotSearch(const PivotSearch&) = delete;
  PivotSearch& operator=(const PivotSearch&) = delete;

  /// @param row   of the whole matrix, that x is in; -1: nothing to offer
  /// @param lda   from one element of a row to the next
  /// @param top   the row to change places with, on the process that has it; else null
  void search(std::int64_t row, const T* x, std::int64_t column, const T* top, std::int64_t lda, std::int64_t width);
  std::int64_t pivot_row() const;
  const T* pivot() const; ///< `width` elements
  const T* top() const;

private:
  MPI_Comm comm_;
  std::int64_t widest_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
  std::vector<char> mine_, best_;
};

/// The panel's place, and what is known of it when it is factored.
template <class T> struct LuPanel {
  std::int64_t first = 0, width = 0; ///< columns, and the rows of its diagonal block
  int prow = 0, pcol = 0;            ///< position of the owner of that block
  std::int64_t row = 0, col = 0;     ///< local: rows and columns before it
  std::int64_t height = 0;           ///< local rows below the diagonal block
  std::vector<T> elements;           ///< the diagonal block, width x width, then my rows below it, height x width
  std::vector<double> pivots;        ///< rows of the matrix, one for each column; then info, as getrf's, or 0

  const T* block() const { return elements.data(); }
  const T* below() const { return elements.data() + width * width; }
  std::vector<std::int64_t> pivot_rows() const { return {pivots.begin(), pivots.end() - 1}; }
};

/// Factors the panel in place and fills it. Collective over a column of the grid. @param rows  of the matrix, that I
/// have
template <class T>
void factor(const Operand<T>& a, const std::vector<std::int64_t>& rows, PivotSearch<T>& search, LuPanel<T>& panel);

} // namespace pblas
