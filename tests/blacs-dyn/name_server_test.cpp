// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/join/name_server.hpp"

#include <gtest/gtest.h>

#include "base/status.hpp"

TEST(NameServer, AddressesInText) {
  const auto server = blacs_dyn::NameServer::parse("2005.0;tcp://10.0.0.1,10.0.1.1:4711;tcp6://[::1]:4712");
  EXPECT_EQ(server.hosts, (std::vector<std::string>{"10.0.0.1", "10.0.1.1"}));
  EXPECT_EQ(server.port, 4711);
  for (const char* bad :
       {"", "x", "1.0;tcp://10.0.0.1", "1.0;tcp://10.0.0.1:", "1.0;tcp://10.0.0.1:47x", "1.0;tcp://10.0.0.1:0",
        "1.0;tcp://10.0.0.1:70000", "1.0;tcp://:4711", "1.0;tcp://10.0.0.1:99999999999"})
    EXPECT_THROW(blacs_dyn::NameServer::parse(bad), base::Error) << bad;
}
