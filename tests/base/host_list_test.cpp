// SPDX-License-Identifier: BSD-3-Clause
#include "base/host_list.hpp"

#include <gtest/gtest.h>

#include "../errors.hpp"

TEST(HostList, ThreeForms) {
  const auto hosts = base::parse_hosts("node1, node-2.cluster:4 ,node_3:65536:1.5", "--hosts");
  ASSERT_EQ(hosts.size(), 3u);
  EXPECT_EQ(hosts[0].name, "node1");
  EXPECT_FALSE(hosts[0].slots || hosts[0].speed);
  EXPECT_EQ(hosts[1].name, "node-2.cluster");
  EXPECT_EQ(hosts[1].slots, 4);
  EXPECT_FALSE(hosts[1].speed);
  EXPECT_EQ(hosts[2].slots, 65536);
  EXPECT_EQ(hosts[2].speed, 1.5);
  EXPECT_TRUE(base::parse_hosts("", "--hosts").empty());
}

TEST(HostList, DomainsOnOneSide) {
  EXPECT_TRUE(base::is_same_host("node1", "node1"));
  EXPECT_TRUE(base::is_same_host("node1.cluster", "node1"));
  EXPECT_TRUE(base::is_same_host("node1", "node1.cluster"));
  EXPECT_FALSE(base::is_same_host("node1.cluster", "node1.other"));
  EXPECT_FALSE(base::is_same_host("node1", "node10.cluster"));
  EXPECT_FALSE(base::is_same_host("", "node1"));
}

TEST(HostList, LocalhostIsAHostToo) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(base::named_twice(Names{"localhost", "b", "a"}, "a"), "a (localhost)");
  EXPECT_EQ(base::named_twice(Names{"a.cluster", "localhost"}, "a"), "a.cluster (localhost)");
  EXPECT_EQ(base::named_twice(Names{"localhost", "localhost"}, "a"), "localhost");
  EXPECT_EQ(base::named_twice(Names{"localhost", "localhost"}, "localhost"), "localhost");
  EXPECT_FALSE(base::named_twice(Names{"localhost", "b"}, "a"));
  EXPECT_FALSE(base::named_twice(Names{"b", "a"}, "a"));
  EXPECT_FALSE(base::named_twice(Names{"localhost", "a"})); // which host is local is not known
}

TEST(HostList, WhatIsWrongIsSaid) {
  const auto said = [](const std::string& text) -> std::string {
    const base::Error error = thrown_by([&] { base::parse_hosts(text, "--hosts"); });
    EXPECT_EQ(error.status(), base::Status::bad_argument);
    return error.what();
  };
  for (const char* wrong :
       {"a,",   ",a",   "a,,b",  ":3",     "a:",    "a:0",    "a:-1",    "a:x",     "a:65537", "a:99999999999",
        "a::2", "a:1:", "a:1:0", "a:1:-2", "a:1:x", "a:1:2x", "a:1:inf", "a:1:nan", "a:1:2:3", "-a:1",
        "a b",  "a;b",  "a/b"})
    EXPECT_TRUE(says(said(wrong), "--hosts: host is \"")) << wrong << ": " << said(wrong);
  EXPECT_TRUE(says(said(std::string(256, 'a')), "expected NAME"));
  EXPECT_EQ(said("a:1,b,a:2"), "--hosts: a is there twice");
  EXPECT_EQ(said("a,a-1,a.cluster:2"), "--hosts: a is there twice");
  EXPECT_EQ(base::parse_hosts("a.one,a.two,10.0.0.1,10.0.0.2", "--hosts").size(), 4u);
}
