// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace base {

/// The text as a terminal may have it, whoever wrote it: control characters (C0, C1, DEL), those that turn the
/// direction of writing, and bytes that are no UTF-8 come out in hexadecimal, after a backslash and an x. What is
/// printable already is unchanged.
std::string printable(std::string_view text);

} // namespace base
