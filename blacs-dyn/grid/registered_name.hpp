// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

namespace blacs_dyn {

constexpr std::size_t longest_name = 63; ///< of a matrix, of shared state, of a resize point

/// Names of matrices and of shared state: 1 .. longest_name characters. @throws Error{null_pointer, bad_argument}
void check_registered_name(const char* routine, const char* name);

} // namespace blacs_dyn
