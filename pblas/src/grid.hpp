// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <mpi.h>

#include "base/mpi/comm.hpp"
#include "redist/blacs.hpp"
#include "redist/executor.hpp"
#include "redist/layout.hpp"

extern "C" void pxerbla_(const int* ctxt, const char* name, const int* info, std::size_t length);

namespace pblas {

using Position = redist::GridPosition;
using redist::communicator_of, redist::position_in;

/// Whether prefer_ours was called for this context.
bool are_ours_preferred(int ctxt);

/// What is kept for a context: the only owner of these communicators.
class Grid {
public:
  /// Collective over the context the first time. @throws Error{mpi_failure}
  static Grid& of(int ctxt);

  explicit Grid(MPI_Comm all, const Position& here);
  const Position& here() const { return here_; }
  MPI_Comm row() const { return row_.get(); } ///< of my row: rank q stands in column q
  MPI_Comm col() const { return col_.get(); } ///< of my column: rank p stands in row p
  /// Processes of my row, by rank, where they can be read in place, or none.
  const std::vector<std::int64_t>& row_processes() const { return row_processes_; }
  const std::vector<std::int64_t>& col_processes() const { return col_processes_; } ///< and of my column
  MPI_Comm all() const { return all_; }                                             ///< the context's own, borrowed
  /// The grid as redist has it, with ranks of executor().
  const redist::Grid& ranks() const { return ranks_; }
  /// Collective the first time.
  redist::Executor& executor();
  void close();

private:
  MPI_Comm all_;
  Position here_;
  base::Comm row_, col_;
  std::vector<std::int64_t> row_processes_, col_processes_;
  redist::Grid ranks_;
  std::optional<redist::Executor> executor_;
};

} // namespace pblas
