// SPDX-License-Identifier: BSD-3-Clause
// Names of base/mpi that this room uses.
#pragma once

#include <mpi.h>

#include "base/mpi/check.hpp"
#include "base/status.hpp"
#include "base/tags.hpp"

namespace redist::detail {

using base::mpi_is_up;

inline void check(int code, const char* what) {
  base::check_mpi(code, what);
}

} // namespace redist::detail
