// SPDX-License-Identifier: BSD-3-Clause
// Letters and scalars among the arguments.
#pragma once
#include "arguments.hpp"
#include "triangle.hpp"

namespace pblas {

inline Op op_of(char letter) {
  return capital(letter) == 'N' ? Op::none : capital(letter) == 'T' ? Op::transpose : Op::conjugate_transpose;
}
inline Part part_of(char letter) {
  return capital(letter) == 'U' ? Part::upper : Part::lower;
}
template <class T> const T& value(const void* pointer) {
  return *static_cast<const T*>(pointer);
}
/// The info of a process that is outside the grid of the descriptor at `position`.
inline int outside(int position) {
  return -(100 * position + 2);
}

} // namespace pblas
