// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "operand.hpp"

namespace pblas {

struct Triangle {
  bool is_left = true;
  bool is_lower = true; ///< of A as it lies
  bool is_unit = false;
};

/// B := alpha op(A)^-1 B (left), or alpha B op(A)^-1. B stays where it is; A is copied first when it is to be turned or
/// does not lie as B does. Collective over the grid.
template <class T> void trsm(Triangle what, Op op, T alpha, const Operand<const T>& a, const Operand<T>& b);

} // namespace pblas
