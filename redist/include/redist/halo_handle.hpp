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
/// Of the first `dims` dimensions; periodic may be null. @throws base::Error{null_pointer}
std::vector<HaloSides> sides_of(std::size_t dims, const int* lo, const int* hi, const int* periodic);
/// To compare between processes: a rank would wait for a message that its neighbour does not send.
std::int64_t number_of(const std::vector<HaloSides>& sides, Neighbours neighbours);

} // namespace redist
