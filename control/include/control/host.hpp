// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace control {

/// 32 hexadecimal digits that nobody can guess. @throws base::Error{io_failure}
std::string random_word();

/// Interfaces that are up, with their IPv4 addresses: name and address.
std::vector<std::pair<std::string, std::string>> interfaces();

/// An interface that is up, other than the loopback one, with an address of IPv4 or IPv6.
bool has_network();

/// An IPv4 address by which other hosts reach this one: by which packets to `host` leave, where that is another one
/// whose name is known; otherwise that of this host's own name; where the name has a loopback one only, as Debian's
/// installer writes it into /etc/hosts, that of the first interface with another; 127.0.0.1 where there is none.
std::string own_address(const std::string& host = "");

} // namespace control
