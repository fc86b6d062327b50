// SPDX-License-Identifier: BSD-3-Clause
// What our use of nlohmann-json adds: limits of what is read, numbers that are checked, text that is repaired.
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "base/parse_json.hpp"

namespace {

using base::Json;
using base::json_text;
using base::parse_json;

TEST(Json, IsWrittenInTheOrderInWhichItWasMade) {
  const Json made{{"name", "a\"\n"}, {"on", true},   {"none", nullptr},
                  {"grid", {2, 3}},  {"share", 0.5}, {"in", {{"x", -1}}}};
  EXPECT_EQ(json_text(made), R"({"name":"a\"\n","on":true,"none":null,"grid":[2,3],"share":0.5,"in":{"x":-1}})");
  EXPECT_EQ(json_text({{"a", {1, 2}}}, 1), "{\n \"a\": [\n  1,\n  2\n ]\n}");
  EXPECT_EQ(json_text("broken \xff here"), "\"broken \xef\xbf\xbd here\"");
  EXPECT_EQ(json_text(std::numeric_limits<double>::infinity()), "null");
}

TEST(Json, NumbersKeepTheirValue) {
  EXPECT_EQ(json_text(1.0), "1.0");
  EXPECT_EQ(json_text(std::vector<double>{0.25, 2}), "[0.25,2.0]");
  EXPECT_EQ(json_text(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(json_text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308})
    EXPECT_EQ(parse_json(json_text(value)).get<double>(), value);
  EXPECT_EQ(parse_json("18446744073709551615").get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_json("9007199254740993").get<std::int64_t>(), 9007199254740993);
}

TEST(Json, IsReadInTheOrderOfTheText) {
  const Json read = parse_json(R"( {"z": [1, -2, 3.5, 1e3], "a": {"deep": [[], {}]}, "t": "\u00e9\/"} )");
  EXPECT_EQ(json_text(read), "{\"z\":[1,-2,3.5,1000.0],\"a\":{\"deep\":[[],{}]},\"t\":\"\xc3\xa9/\"}");
  EXPECT_EQ(json_text(parse_json(R"({"a":1,"b":2,"a":3,"b":4,"c":5})")), R"({"a":3,"b":4,"c":5})");
}

TEST(Json, WhatIsNoneIsRefused) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":}", "nul", "1 2", "\"\xff\"", "'a'", "[1}", "01", "1e999"}) {
    EXPECT_THROW(parse_json(text), Json::exception) << text;
    EXPECT_TRUE(base::parse_json_or_null(text).is_null()) << text;
  }
}

TEST(Json, NestingAndSizeHaveLimits) {
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  EXPECT_EQ(json_text(parse_json(deep)), deep);
  EXPECT_THROW(parse_json("[" + deep + "]"), std::runtime_error);
  EXPECT_THROW(parse_json(std::string(1000000, '[')), std::runtime_error);
  EXPECT_THROW(parse_json("[[1]]", 1), std::runtime_error);
  EXPECT_THROW(parse_json("[{\"a\":1}]", 1), std::runtime_error);
  EXPECT_EQ(json_text(parse_json("[1]", 1)), "[1]");
  EXPECT_THROW(parse_json(std::string(base::largest_json + 1, ' ')), std::runtime_error);
  EXPECT_TRUE(base::parse_json_or_null("[" + deep + "]").is_null());
}

TEST(Json, SaysWhatItIsNot) {
  const auto what = [](auto&& call) { return message_of<std::runtime_error>(call); };
  const Json grid{{"nprow", 2}, {"job", "lake"}, {"on", true}};
  EXPECT_EQ(what([&] { grid.at("job").get<int>(); }), "JSON value is a string, expected a number");
  EXPECT_EQ(what([&] { grid.at("on").get<int>(); }), "JSON value is a boolean, expected a number");
  EXPECT_EQ(what([&] { grid.at("nprow").get<bool>(); }), "JSON value is a number, expected a boolean");
  EXPECT_EQ(what([&] { grid.at("nprow").get<std::string>(); }), "JSON value is a number, expected a string");
  EXPECT_EQ(what([&] { grid.get<double>(); }), "JSON value is an object, expected a number");
  EXPECT_EQ(what([&] { Json(nullptr).get<double>(); }), "JSON value is null, expected a number");
  EXPECT_EQ(what([&] { Json(300).get<std::int8_t>(); }), "JSON number is 300, expected one from -128 to 127");
  EXPECT_EQ(what([&] { Json(-1).get<unsigned>(); }), "JSON number is -1, expected one from 0 to 4294967295");
  EXPECT_EQ(what([&] {
              Json({1, 300}).get<std::vector<std::int8_t>>();
            }),
            "JSON number is 300, expected one from -128 to 127");
  EXPECT_EQ(what([&] { Json(1e300).get<std::int64_t>(); }),
            "JSON number is 1e+300, expected one from -9223372036854775808 to 9223372036854775807");
  EXPECT_EQ(what([&] { Json(2.5).get<int>(); }), "JSON number is 2.5, expected a whole number");
  EXPECT_EQ(what([&] { Json(-0.5).get<unsigned>(); }), "JSON number is -0.5, expected a whole number");
  EXPECT_EQ(Json(2.0).get<int>(), 2);
  EXPECT_EQ(what([&] { grid.value("job", 1); }), "JSON value is a string, expected a number");
  EXPECT_THROW(grid.at("npcol"), Json::exception);
  EXPECT_EQ(grid.value("npcol", 7), 7);
  EXPECT_EQ(grid.value("job", "none"), "lake");
}

} // namespace
