// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace control {

/// 32 random hexadecimal digits that cannot be guessed.
/// @throws base::Error{io_failure}
std::string random_word();

/// Interfaces that are up, with their IPv4 addresses: name and address.
std::vector<std::pair<std::string, std::string>> interfaces();

/// An interface that is up, other than the loopback one, with an address of IPv4 or IPv6.
bool has_network();

/// An IPv4 address by which other hosts reach this one, the first that exists of:
/// - where `host` is another host whose name is known, the one by which packets to it leave;
/// - that of this host's own name;
/// - where the name has only a loopback address, as Debian's installer writes into /etc/hosts, that of the first
///   interface with another;
/// - 127.0.0.1.
std::string own_address(const std::string& host = "");

} // namespace control
