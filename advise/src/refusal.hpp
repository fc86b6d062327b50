// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/status.hpp"

namespace advise {

/// What a request from outside asks for is not possible; `why` says what is wrong with it, in the form of
/// fmt::format().
/// @throws Error{bad_argument}
template <class... Values> [[noreturn]] void refuse(fmt::format_string<Values...> why, Values&&... values) {
  throw base::Error(base::Status::bad_argument, "advise: " + fmt::format(why, std::forward<Values>(values)...));
}

/// Finite numbers of at least 0, or above 0. what: "balance: speed".
/// @throws Error{bad_argument}
inline void check_all(std::string_view what, const std::vector<double>& values, bool may_be_0) {
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]) || values[k] < 0 || (values[k] == 0 && !may_be_0))
      refuse("{} {} is {}, expected a finite number {}", what, k, values[k], may_be_0 ? "from 0" : "above 0");
}

} // namespace advise
