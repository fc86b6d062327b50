// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace control {

/// 32 hexadecimal digits that nobody can guess. @throws gridmap::Error{io_failure}
std::string random_word();

/// The IPv4 address that this host's own name has, a loopback one only when it has no other; empty when it has none.
std::string address_of_own_name();

} // namespace control
