// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "operand.hpp"
#include "triangle.hpp"

namespace pblas {

/// op(A).
template <class T> struct Turned {
  Op op;
  const Operand<const T>& of;
};

/// C := alpha op(A) op(B) + beta C in a part of C. C stays where it is; A or B is copied first when it does not lie as
/// C does. Collective over the grid. Source: [vandeGeijnWatts1997]; panels are cut without regard to blocks
/// (docs/decisions/0050), and go round a ring.
template <class T>
void gemm(T alpha, const Turned<T>& a, const Turned<T>& b, T beta, const Operand<T>& c, Part part = Part::all);

/// One triangle of C := alpha op(A) op(A)' + beta C, op none or transpose, ' the transpose or the adjoint. With the
/// adjoint the diagonal becomes real.
template <class T> void syrk(Part part, bool is_adjoint, T alpha, const Turned<T>& a, T beta, const Operand<T>& c);

} // namespace pblas
