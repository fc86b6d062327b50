// SPDX-License-Identifier: BSD-3-Clause
// Where the operands of a call are, and the processes and contexts of other places.
#pragma once
#include <array>
#include <map>

#include <mpi.h>

#include "advise/calls.hpp"
#include "base/mpi/comm.hpp"
#include "grid/calls/routine.hpp"
#include "gridmap/axis.hpp"
#include "redist/layout.hpp"

namespace blacs_dyn::calls {

using advise::CallPlace;
using base::GridShape;

using Descriptor = std::array<int, 9>;
enum Entry { dtype_at, ctxt_at, m_at, n_at, mb_at, nb_at, rsrc_at, csrc_at, lld_at };

/// Where this process stands in a context's grid; all -1 outside.
struct Standing {
  int ctxt = -1;
  GridShape grid{-1, -1};
  int row = -1, col = -1;
  bool is_inside() const { return row >= 0; }
};
Standing standing_in(int ctxt);

/// One matrix as the caller has it.
struct Given {
  void* data;
  int i, j; ///< from 1
  const int* desc;
};
Given given(const Arguments& a, const Operand& operand);
gridmap::Axis rows_of(const int* desc, GridShape grid);
gridmap::Axis cols_of(const int* desc, GridShape grid);

/// Whether ScaLAPACK's routine would take these operands, as far as this process sees: what is doubtful is not. Local.
bool is_acceptable(const Routine& routine, const Problem& problem, const Arguments& a, const Standing& here);

/// The processes of a context, in its order.
struct Callers {
  base::Group group;
  int size = 1;
  bool is_one_of_many = false; ///< so that its calls stay
  bool is_first = false;       ///< whose calls came first in this process
  std::map<GridShape, int> contexts;
};
/// The processes of `comm`; local. They stay where they are.
Callers& callers_of(MPI_Comm comm);
/// The context of a grid of the first ones of them, -1 outside; that of the caller where the shape is the same. It
/// stays open. Collective the first time.
Standing place_context(Callers& callers, GridShape grid, const Standing& caller, MPI_Comm comm);

} // namespace blacs_dyn::calls
