// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/join/name_server.hpp"

#include <fstream>
#include <string_view>

#include "base/status.hpp"
#include "base/tcp.hpp"
#include "base/text.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

NameServer NameServer::parse(const std::string& uri) {
  const auto bad = [&] {
    return Error(Status::bad_argument,
                 "blacs-dyn: address of an ompi-server is \"{}\", expected NUMBER.0;tcp://HOST:PORT", uri);
  };
  NameServer server;
  const std::size_t dot = uri.find('.'), tcp = uri.find("tcp://");
  if (dot == std::string::npos || dot == 0 || tcp == std::string::npos) throw bad();
  const std::string where =
      uri.substr(tcp + 6, uri.find(';', tcp) == std::string::npos ? std::string::npos : uri.find(';', tcp) - tcp - 6);
  const std::size_t colon = where.rfind(':');
  if (colon == std::string::npos) throw bad();
  server.hosts = base::split(where.substr(0, colon), ',');
  server.port = base::whole_number<int>(std::string_view(where).substr(colon + 1)).value_or(0);
  if (server.hosts.empty() || server.port < 1 || server.port > 65535) throw bad();
  return server;
}

std::string server_uri(const std::string& setting) {
  if (setting.rfind("file:", 0) != 0 && setting.rfind("FILE:", 0) != 0) return setting;
  std::ifstream file(setting.substr(5));
  std::string uri;
  if (!std::getline(file, uri))
    throw Error(Status::not_found, "blacs-dyn: the ompi-server's address is to be in {}, which cannot be read",
                setting.substr(5));
  return uri;
}

bool answers(const NameServer& server) {
  for (const std::string& host : server.hosts)
    if (base::connect_tcp(host, server.port, base::Deadline(2))) return true;
  return false;
}

} // namespace blacs_dyn
