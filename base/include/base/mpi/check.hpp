// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

namespace base {

/// @throws Error{mpi_failure} with MPI's own text, unless `code` is MPI_SUCCESS. The communicator must return its
/// errors.
void check_mpi(int code, const char* what);

/// A count for one call of MPI. @throws Error{unsupported} from 2^31 on
int mpi_count(std::size_t count);

/// False before MPI_Init and after MPI_Finalize.
bool mpi_is_up() noexcept;

} // namespace base
