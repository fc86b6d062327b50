// SPDX-License-Identifier: BSD-3-Clause
// What the routines of dyngrid/gridmap.h share, here and in advise: arguments read with checks, outputs written where
// the caller wants them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/status.hpp"

namespace gridmap::c_arguments {

inline void want(const void* pointer, const char* name) {
  if (!pointer) throw base::Error(base::Status::null_pointer, "gridmap: {} is null", name);
}

template <class T> std::vector<T> list(const T* values, std::int64_t count, const char* name) {
  if (count < 0)
    throw base::Error(base::Status::bad_argument, "gridmap: {} has {} values, expected at least 0", name, count);
  if (count > 0) want(values, name);
  return count > 0 ? std::vector<T>(values, values + count) : std::vector<T>();
}

template <class T, class U> void put(T* output, const U& value) {
  if (output) *output = static_cast<T>(value);
}
template <class T> void put_all(T* output, const std::vector<T>& values) {
  if (output) std::copy(values.begin(), values.end(), output);
}

/// Number of places of a grid, checked before an array of that length is read.
inline std::int64_t places(int nprow, int npcol) {
  if (nprow < 1 || npcol < 1)
    throw base::Error(base::Status::bad_argument, "gridmap: grid is {}x{}, expected at least 1x1", nprow, npcol);
  return std::int64_t{nprow} * npcol;
}

} // namespace gridmap::c_arguments
