// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

#include "control/checkpoint_file.hpp"
#include "redist/layout.hpp"

namespace blacs_dyn {

using control::SavedMatrix;
using control::SavedShared;
using control::SavedState;
using control::Slab;

/// The pieces in which a matrix goes to and from the file, at most `limit_bytes` each and in column-major order: whole
/// columns, as many as fit, or parts of one column where not even one does. All have the size of the first, but for the
/// last of their row or column. Pure; empty for an empty matrix.
std::vector<Slab> slabs_of(std::int64_t m, std::int64_t n, std::int64_t element_bytes, std::int64_t limit_bytes);

/// A matrix of the program.
struct SpreadMatrix {
  SavedMatrix saved;
  redist::Layout layout;
  void* local = nullptr; ///< column-major
  std::int64_t lld = 1;
};

/// Writes one file with the state and all matrices. Collective over `grid`, whose ranks are row-major in the grid of
/// the matrices' layouts; rank 0 writes. The data of the other ranks come to it in slabs. So it needs some 32 MB more,
/// and every other rank 16 MB, whatever the matrices' size. `state`: that of rank 0 counts; its matrices are taken from
/// `matrices`.
/// @throws agreed Error{io_failure, unsupported}; an older file of that name is whole then.
void write_checkpoint(MPI_Comm grid, const std::string& path, SavedState state,
                      const std::vector<SpreadMatrix>& matrices);

/// The content of a file, the same on every rank: rank 0 reads it. Collective. @throws agreed Error{not_found,
/// io_failure, unsupported}
SavedState look_into_checkpoint(MPI_Comm grid, const std::string& path);

/// Fills the local arrays from a file; matrices are found by their names. Shared state goes to where `shared` says, on
/// rank 0 alone. Collective as above. A failure leaves the arrays half filled.
/// @throws agreed Error{not_found, io_failure, rank_mismatch}
void read_checkpoint(MPI_Comm grid, const std::string& path, const std::vector<SpreadMatrix>& matrices,
                     const std::vector<SavedShared>& shared);

} // namespace blacs_dyn
