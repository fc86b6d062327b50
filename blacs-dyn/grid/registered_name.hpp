// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <string_view>

#include "base/status.hpp"

namespace blacs_dyn {

constexpr std::size_t longest_name = 63; ///< of a matrix, of shared state, of a resize point

/// Names of matrices and of shared state: 1 .. longest_name characters. @throws Error{null_pointer, bad_argument}
inline void check_registered_name(const char* routine, const char* name) {
  using base::Error;
  using base::Status;
  if (!name) throw Error(Status::null_pointer, "blacs-dyn: {}: name is null", routine);
  const std::size_t length = std::string_view(name).size();
  if (length < 1 || length > longest_name)
    throw Error(Status::bad_argument, "blacs-dyn: {}: name has {} characters, expected 1 .. {}", routine, length,
                longest_name);
}

} // namespace blacs_dyn
