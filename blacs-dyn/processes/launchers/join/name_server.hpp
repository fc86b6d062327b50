// SPDX-License-Identifier: BSD-3-Clause
// The ompi-server over which mpiruns find each other. docs/decisions/0013.
#pragma once
#include <string>
#include <vector>

namespace blacs_dyn {

/// Where an ompi-server is, from "2005663744.0;tcp://10.0.0.1:4711,10.0.1.1:4711;tcp6://[..]:4712".
struct NameServer {
  std::vector<std::string> hosts;
  int port = 0;
  /// @throws Error{bad_argument}
  static NameServer parse(const std::string& uri);
};

/// The value of --ompi-server, read anew each time: the file's content, or the text itself. @throws Error{not_found}
std::string server_uri(const std::string& setting);
/// Whether a server listens there. At most 2 s for each address.
bool answers(const NameServer& server);

} // namespace blacs_dyn
