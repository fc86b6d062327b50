// SPDX-License-Identifier: BSD-3-Clause
// Where the operands of a call are, and the processes and contexts of other places.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <mpi.h>

#include "base/mpi/comm.hpp"
#include "calls/routine.hpp"
#include "gridmap/axis.hpp"
#include "gridmap/calls.hpp"
#include "redist/layout.hpp"

namespace blacs_dyn::calls {

using gridmap::CallPlace;
using gridmap::GridShape;

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

/// Calls under Mode::report that differ in nothing but their data.
struct ReportedCalls {
  gridmap::CallTally* row = nullptr; ///< of the account
  gridmap::CallGain gain;
  std::int64_t calls = 0, told = 0; ///< told: those that the account has what they would gain of
  double told_s = 0;
  CallPlace best{};           ///< that the account has; nb 0: none
  double unsaid_s = 0;        ///< of those since the last that all agreed on
  bool is_settled = false;    ///< no later one is agreed on
  bool is_left_alone = false; ///< by other processes than the first that called
};

/// The processes of a context, in its order, and what is known of calls by them.
struct Callers {
  base::Group group;
  int rank = 0, size = 1;
  bool is_one_of_many = false; ///< so that its calls stay, and nothing is kept of them
  bool is_first = false;       ///< whose calls came first in this process
  std::map<GridShape, int> contexts;
  gridmap::CallSpeeds speeds;
  gridmap::Recent copy_factors;                                      ///< measured over predicted seconds of copies
  std::int64_t forced = 0;                                           ///< calls moved by Mode::forced
  std::map<std::pair<std::string, int>, gridmap::CallsSoFar> so_far; ///< by routine and aspect
  std::map<std::pair<std::int64_t, CallPlace>, double> copies_s;     ///< predicted, by a call's hash
  /// Each of them has the same ones, as all come to the same calls.
  std::unordered_map<std::int64_t, ReportedCalls> reported; ///< by hash

  double copy_factor() const { return copy_factors.count() > 0 ? copy_factors.usual() : 1; }

  /// What the last call took here; all processes together know it with the next one.
  struct Last {
    gridmap::CallSample sample; ///< count 0: there was none
    double copy_s = 0, predicted_copy_s = 0;
  };
  Last last;
  void know_last(double run_s, double copy_s); ///< of the slowest process each
};
MPI_Comm comm_of_context(int ctxt);
/// The processes of `comm`; local. What is known of them stays where it is.
Callers& callers_of(MPI_Comm comm);
/// The context of a grid of the first ones of them, -1 outside; that of the caller where the shape is the same. It
/// stays open. Collective the first time.
Standing place_context(Callers& callers, GridShape grid, const Standing& caller, MPI_Comm comm);
/// A context of a grid of the first processes of `comm`, which it is made of; it is kept in `contexts`. Collective the
/// first time.
Standing context_of(std::map<GridShape, int>& contexts, GridShape grid, MPI_Comm comm);
/// Contexts of places are closed, or are by whoever calls this. Local.
void forget_places();

} // namespace blacs_dyn::calls
