// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include <mpi.h>

#include "grid/matrices.hpp"
#include "processes/participants.hpp"
#include "processes/processes.hpp"
#include "redist/grid_life.hpp"

namespace blacs_dyn {

/// The current grid: its communicator, its BLACS context, and what a change of it closes.
class Grid {
public:
  Grid(const Processes& processes, Matrices& matrices) : processes_(processes), matrices_(matrices) {}

  bool has_me() const { return comm() != MPI_COMM_NULL; }
  MPI_Comm comm() const { return processes_.grid(); }
  const GridMap& map() const { return processes_.process_set().grid; }
  Shape shape() const { return map().shape; }
  int rank() const; ///< -1 outside
  /// Of a move on this grid: all its processes, and no others.
  Participants participants() const;
  int context() const { return context_; }
  Matrices::Site site() const { return {comm(), shape(), context_, &map()}; }

  /// The numbers by which blacs_get names it; made once per grid.
  int system_handle();
  int fortran_handle() const;
  void rank_and_size(int* iam, int* nprocs) const;

  /// Outside the first grid: this process sleeps from its first resize point on, until a change wakes it.
  bool is_still_outside() const { return is_still_outside_; }
  void stay_outside() { is_still_outside_ = true; }
  void enter_or_go() { is_still_outside_ = false; }

  void open_context(); ///< and those of matrices; collective over the grid
  /// Those of matrices that were made since. Collective over the grid.
  void open_contexts_of_matrices();
  /// Frees what is kept for this grid. Called before its contexts are closed for a change or the end. Collective over
  /// the grid.
  std::function<void()> on_close;
  /// The contexts that do not outlive a change to the processes of `staying_ranks` in `gathered`; MPI_COMM_NULL at the
  /// end of the application. Local to the BLACS, collective over the contexts' grids.
  /// by: "the change at step 3".
  void close_contexts(MPI_Comm gathered, const std::vector<int>& staying_ranks, const std::string& by);
  void close_all_contexts(); ///< as blacs_exit does
  /// After a change: which earlier grids, whose duplicates may still exist, have all their processes in the current
  /// one. Local.
  void tie();
  void leave() {
    enter_or_go();
    context_ = -1;
  }

  /// Checks a number that all processes have to give alike, from least to most; alone outside the grid. @throws agreed
  /// Error{bad_argument, rank_mismatch}
  void check_choice(const char* routine, const char* what, int value, int least, int most) const;

private:
  struct Tied { ///< a grid of which there are communicators
    std::weak_ptr<redist::GridLife> life;
    std::vector<int> ids;
  };
  struct Arranged { ///< processes of this grid, as a matrix lies on them
    redist::Grid grid;
    bool rows_replicated = false, cols_replicated = false;
    int context = -1; ///< -1: this process is not among them
  };
  int context_of(const redist::Layout& layout);
  void forget_contexts();

  const Processes& processes_;
  Matrices& matrices_;
  int context_ = -1;
  std::vector<Arranged> arranged_;
  int system_handle_ = -1;
  bool is_still_outside_ = false;
  std::vector<Tied> tied_;
};

} // namespace blacs_dyn
