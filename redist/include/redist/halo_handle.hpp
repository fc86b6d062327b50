// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dyngrid/halo.h"
#include "redist/halo.hpp"

/// The handle of the C interface.
struct dyngrid_halo {
  redist::Halo halo;
};

namespace redist {

/// DYNGRID_NEIGHBOURS_* @throws base::Error{bad_argument}
Neighbours neighbours_of(int number);

} // namespace redist
