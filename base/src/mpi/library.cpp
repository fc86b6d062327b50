// SPDX-License-Identifier: BSD-3-Clause
#include "base/mpi/library.hpp"

#include <array>

#include <mpi.h>

namespace base {

const MpiVersion& mpi_library() {
  static const MpiVersion version = [] {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    return mpi_version_in(text.data());
  }();
  return version;
}

} // namespace base
