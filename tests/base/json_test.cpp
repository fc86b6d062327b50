// SPDX-License-Identifier: BSD-3-Clause
// Values as in JSON: what each reads and writes as. Texts are those of RFC 8259, written by hand.
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace {

using base::Json;

TEST(Json, IsWrittenAsItWasMade) {
  const Json made{{"name", "a\"\n"}, {"on", true},   {"none", nullptr},
                  {"grid", {2, 3}},  {"share", 0.5}, {"in", {{"x", -1}}}};
  EXPECT_EQ(made.dump(), R"({"name":"a\"\n","on":true,"none":null,"grid":[2,3],"share":0.5,"in":{"x":-1}})");
  EXPECT_EQ(Json({{"a", {1, 2}}}).dump(1), "{\n \"a\": [\n  1,\n  2\n ]\n}");
  EXPECT_EQ(Json("broken \xff here").dump(), "\"broken \xef\xbf\xbd here\"");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
  EXPECT_EQ(Json(1.0).dump(), "1.0");
  EXPECT_EQ(Json::array().dump() + Json::object().dump() + Json().dump(), "[]{}null");
}

TEST(Json, TakesNumbersAndContainers) {
  EXPECT_EQ(Json(std::vector<double>{0.25, 2}).dump(), "[0.25,2.0]");
  EXPECT_EQ(Json(std::vector<std::vector<int>>{{1}, {}}).dump(), "[[1],[]]");
  EXPECT_EQ(Json(std::vector<bool>{true, false}).dump(), "[true,false]");
  EXPECT_EQ(Json(std::map<std::string, int>{{"b", 2}, {"a", 1}}).dump(), R"({"a":1,"b":2})");
  EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).dump(), "18446744073709551615");
  EXPECT_EQ(Json(std::numeric_limits<std::int64_t>::min()).dump(), "-9223372036854775808");
  EXPECT_TRUE(Json(true).is_boolean());
  EXPECT_TRUE(Json('a').is_number_integer());
  EXPECT_TRUE(Json(0.5F).is_number());
}

TEST(Json, AnArrayOfPairsIsOneWhenToldSo) {
  EXPECT_EQ(Json({{"a", 1}, {"b", 2}}).dump(), R"({"a":1,"b":2})");
  EXPECT_EQ(Json::array({{"a", 1}, {"b", 2}}).dump(), R"([["a",1],["b",2]])");
  EXPECT_EQ(Json({"a", 1}).dump(), R"(["a",1])");
}

TEST(Json, IsReadInTheOrderOfTheText) {
  const Json read = Json::parse(R"( {"z": [1, -2, 3.5, 1e3], "a": {"deep": [[], {}]}, "t": "\u00e9\/"} )");
  EXPECT_EQ(read.dump(), "{\"z\":[1,-2,3.5,1000.0],\"a\":{\"deep\":[[],{}]},\"t\":\"\xc3\xa9/\"}");
  EXPECT_EQ(read["z"][1].get<int>(), -2);
  EXPECT_EQ(read["a"]["deep"].size(), 2U);
  EXPECT_TRUE(read["absent"].is_null());
  EXPECT_EQ(Json::parse(R"({"a":1,"b":2,"a":3,"b":4,"c":5})").dump(), R"({"a":3,"b":4,"c":5})");
  std::string many = "{";
  for (int i = 0; i < 200000; ++i) many += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  EXPECT_EQ(Json::parse(many + "}").size(), 200000U);
}

TEST(Json, WhatIsNoneIsRefused) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":}", "nul", "1 2", "\"\xff\"", "'a'", "[1}", "01"}) {
    EXPECT_THROW(Json::parse(text), Json::Error) << text;
    EXPECT_TRUE(Json::parse_or_null(text).is_null()) << text;
  }
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  EXPECT_EQ(Json::parse(deep).dump(), deep);
  EXPECT_THROW(Json::parse("[" + deep + "]"), Json::TooDeep);
  EXPECT_THROW(Json::parse(std::string(1000000, '[')), Json::TooDeep);
  EXPECT_THROW(Json::parse("[[1]]", 1), Json::TooDeep);
}

TEST(Json, SaysWhatItIsNot) {
  const auto what = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const Json::Error& error) {
      return error.what();
    }
    return "";
  };
  const Json grid{{"nprow", 2}, {"job", "lake"}};
  EXPECT_EQ(what([&] { grid.at("npcol"); }), "JSON object has no member \"npcol\"");
  EXPECT_EQ(what([&] { grid["job"].get<int>(); }), "JSON value is a string, expected a number");
  EXPECT_EQ(what([&] { grid["nprow"].text(); }), "JSON value is a number, expected a string");
  EXPECT_EQ(what([&] { Json(300).get<std::int8_t>(); }), "JSON number is 300, expected one from -128 to 127");
  EXPECT_EQ(what([&] { Json(-1).get<unsigned>(); }), "JSON number is -1, expected one from 0 to 4294967295");
  EXPECT_EQ(what([&] { Json({1, 2}).at(2); }), "JSON array has 2 elements, not one of index 2");
  EXPECT_EQ(what([&] { Json(1e300).get<std::int64_t>(); }),
            "JSON number is 1e+300, expected one from -9223372036854775808 to 9223372036854775807");
  EXPECT_EQ(what([&] { grid.value("job", 1); }), "JSON value is a string, expected a number");
  EXPECT_EQ(grid.value("npcol", 7), 7);
  EXPECT_EQ(grid.value("job", "none"), "lake");
}

TEST(Json, IsChangedInPlace) {
  Json value;
  value["list"].push_back(1);
  value["list"].push_back("two");
  value["other"]["deep"] = 3;
  EXPECT_EQ(value.dump(), R"({"list":[1,"two"],"other":{"deep":3}})");
  value.update({{"other", 0}, {"new", nullptr}});
  value.erase("list");
  EXPECT_EQ(value.dump(), R"({"other":0,"new":null})");
  EXPECT_EQ(Json({1, 2}).get<std::vector<int>>(), (std::vector<int>{1, 2}));
  EXPECT_EQ(Json({{"a", 1}}).get<decltype(std::map<std::string, int>())>(), (std::map<std::string, int>{{"a", 1}}));
}

TEST(Json, IsEqualByValue) {
  EXPECT_EQ(Json::parse(R"({"a":1,"b":[2.0,"x"]})"), Json::parse(R"({"b":[2,"x"],"a":1.0})"));
  EXPECT_EQ(Json(1), Json(1U));
  EXPECT_NE(Json(-1), Json(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json({1, 2}), Json({1, 2, 3}));
  EXPECT_NE(Json({{"a", 1}}), Json({{"b", 1}}));
}

} // namespace
