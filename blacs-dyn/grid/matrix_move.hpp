// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "grid/matrices.hpp"
#include "grid/move_memory.hpp"
#include "processes/participants.hpp"
#include "redist/executor.hpp"
#include "redist/plan.hpp"
#include "redist/rank_plan.hpp"

namespace blacs_dyn {

class ChangeRoutines;
class Checkpoints;
class MachineFigures;
struct Settings;

/// How matrices are to move. The same on all processes but for `has_data`.
struct MoveOrders {
  const Settings& settings;
  MachineFigures& machine;  ///< by which an automatic schedule is chosen
  bool has_data;            ///< of the old grid: this process writes the checkpoint and calls the routines
  Checkpoints& checkpoints; ///< one is written before a move in slabs, where one is configured
  ChangeRoutines& routines; ///< the program's
};

/// Matrices from the old grid into new arrays of the new one, which may be the same grid. The old arrays stay as they
/// are until use_new(), or go in slabs where the memory of a host is too small for both.
class MatrixMove {
public:
  explicit MatrixMove(const Participants& who) : who_(who) {}

  /// Measures the machine unless that was done, plans, allocates, and moves. Collective over the union. @throws agreed
  /// Error with the old arrays whole, but for {mpi_failure}, also where a process has died
  void run(MPI_Comm gathered, const GridMap& to, std::vector<Matrix*> matrices, const MoveOrders& orders);
  /// The same by an executor over `gathered` that is there.
  void run_by(redist::Executor& executor, MPI_Comm gathered, const GridMap& to, std::vector<Matrix*> matrices,
              const MoveOrders& orders);
  void use_new(); ///< the old arrays are freed, but for the spare one

  Matrices::Layouts received; ///< before run(): how those lie whose rules this process lacks
  /// Before run(): memory that one of the new arrays may take. After use_new(): that of an old array, lent to the
  /// system.
  redist::SharedArray* spare = nullptr;
  bool is_in_slabs = false; ///< after run()
  double plan_s = 0, exchange_s = 0;
  std::int64_t moved_bytes = 0, kept_bytes = 0;

private:
  std::int64_t lay_out(const GridMap& to);
  MoveMemory memory_of_host(const redist::Executor& executor) const;
  bool must_go_in_slabs(const MoveMemory& memory, bool is_low) const;
  void plan(redist::Schedule schedule, const redist::Machine& machine);
  LocalArray array_of(const Matrix& a, redist::LocalSize size);
  void exchange(redist::Executor& executor);

  /// A matrix on the new grid.
  struct Moved {
    redist::Layout layout;
    redist::LocalSize local_size;
    LocalArray array;
    redist::RankPlan plan;
  };

  const Participants& who_;
  Shape to_{};
  std::vector<Matrix*> matrices_;
  std::vector<Moved> moved_;                   ///< as matrices_
  std::vector<const redist::RankPlan*> plans_; ///< as matrices_
  std::vector<redist::Pointers> pointers_;     ///< as matrices_
};

} // namespace blacs_dyn
