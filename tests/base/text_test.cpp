// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../errors.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/names.hpp"
#include "base/statistics.hpp"

namespace {

TEST(Environment, ListsOfEntries) {
  using Entries = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(base::entries_of(""), Entries{});
  EXPECT_EQ(base::entries_of("a,b/c.h5,every=3"), (Entries{{"", "a,b/c.h5"}, {"every", "3"}}));
  EXPECT_EQ(base::entries_of("experiment=1x2,2x3@2,per-core=,undo=off"),
            (Entries{{"experiment", "1x2,2x3@2"}, {"per-core", ""}, {"undo", "off"}}));
  setenv("DYNGRID_TEST_LIST", "local1,keep-first=on,keep-first=off,empty=", 1);
  EXPECT_EQ(base::environment("DYNGRID_TEST_LIST", ""), "local1");
  EXPECT_EQ(base::environment("DYNGRID_TEST_LIST", "keep-first"), "off");
  EXPECT_EQ(base::environment("DYNGRID_TEST_LIST", "empty"), std::nullopt);
  EXPECT_EQ(base::environment("DYNGRID_TEST_LIST", "first"), std::nullopt);
  unsetenv("DYNGRID_TEST_LIST");
  EXPECT_EQ(base::environment("DYNGRID_TEST_LIST", "keep-first"), std::nullopt);
  EXPECT_EQ(base::with_entry(nullptr, "a", "1"), "a=1");
  EXPECT_EQ(base::with_entry("x", "a", "1"), "x,a=1");
  EXPECT_EQ(base::entries_of("unit=1,command=a -x b=c,d=e;f"), (Entries{{"unit", "1"}, {"command", "a -x b=c,d=e;f"}}));
  EXPECT_EQ(base::with_entry("x,command=a,b=c", "unit", "1"), "x,unit=1,command=a,b=c");
  EXPECT_EQ(base::with_entry("command=a", "unit", "1"), "unit=1,command=a");
  EXPECT_EQ(base::with_entry("unit=1,command=a", "command", "b,c=d"), "unit=1,command=b,c=d");
}

TEST(Environment, Switches) {
  for (const char* on : {"on", "1"}) EXPECT_TRUE(base::parse_switch("V", on, false)) << on;
  for (const char* off : {"off", "0"}) EXPECT_FALSE(base::parse_switch("V", off, true)) << off;
  EXPECT_TRUE(base::parse_switch("V", std::nullopt, true));
  EXPECT_FALSE(base::parse_switch("V", "", false));
  EXPECT_THROW(base::parse_switch("V", "yes", false), base::Error);
}

TEST(Text, IsTrimmedAndSplit) {
  EXPECT_EQ(base::trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(base::trimmed(" \n"), "");
  EXPECT_EQ(base::split("a, b ,,c", ','), (std::vector<std::string>{"a", "b", "", "c"}));
  EXPECT_EQ(base::split("a,", ','), (std::vector<std::string>{"a", ""}));
  EXPECT_TRUE(base::split("", ',').empty());
  EXPECT_EQ(base::words_in(" ssh  -x\tnode1\n"), (std::vector<std::string>{"ssh", "-x", "node1"}));
  EXPECT_TRUE(base::words_in(" ").empty());
}

TEST(Text, AWholeNumberIsThatAndNothingElse) {
  EXPECT_EQ(base::whole_number("12"), 12);
  EXPECT_EQ(base::whole_number("-3"), -3);
  for (const char* bad : {"", " 12", "12 ", "+12", "1e3", "0x10", "9223372036854775808"})
    EXPECT_FALSE(base::whole_number(bad)) << bad;
  EXPECT_FALSE(base::whole_number<int>("2147483648"));
}

TEST(Text, ANumberBeyondItsLimitsNamesThem) {
  EXPECT_EQ(base::parse_whole_number("8", "--units", 1, 8), 8);
  const base::Error error = thrown_by([] { base::parse_whole_number("9", "--units", 1, 8); });
  EXPECT_EQ(error.status(), base::Status::bad_argument);
  EXPECT_STREQ(error.what(), "--units is \"9\", expected a whole number 1 .. 8");
}

TEST(Text, AShellReadsBackWhatWasQuoted) {
  EXPECT_EQ(base::shell_quoted("a/b.c=1"), "a/b.c=1");
  EXPECT_EQ(base::shell_quoted(""), "''");
  EXPECT_EQ(base::shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(base::shell_line({"echo", "a b"}), "echo 'a b'");
}

TEST(Statistics, MedianOfOddEvenAndNone) {
  EXPECT_EQ(base::median({3, 1, 2}), 2);
  EXPECT_EQ(base::median({4, 1, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(base::median({})));
}

TEST(Clock, TextAndPatience) {
  EXPECT_EQ(base::utc_text(0), "1970-01-01T00:00:00Z");
  const double then = base::monotonic_s();
  EXPECT_LE(then, base::monotonic_s());
  EXPECT_EQ(base::Deadline(-1).left_ms(), -1);
  EXPECT_FALSE(base::Deadline(-1).is_over());
  EXPECT_TRUE(base::Deadline(0).is_over());
  EXPECT_EQ(base::Deadline(0).left_ms(), 0);
  EXPECT_GT(base::Deadline(100).left_s(), 90);
}

TEST(Names, AreFoundBothWays) {
  enum class Colour { red, green, blue, none };
  const base::Names names{"red", "green", "blue"};
  for (const Colour colour : {Colour::red, Colour::green, Colour::blue})
    EXPECT_EQ(base::value_of_name<Colour>(base::name_of(colour, names), names, "x"), colour);
  EXPECT_STREQ(base::name_of(Colour::none, names), "?");
  EXPECT_STREQ(base::name_of(static_cast<Colour>(-1), names), "?");
  EXPECT_EQ(base::any_of({"off"}), "off");
  const base::Error error = thrown_by([&] { base::number_of_name("Red", names, "--colour"); });
  EXPECT_EQ(error.status(), base::Status::bad_argument);
  EXPECT_STREQ(error.what(), "--colour is \"Red\", expected red, green or blue");
}

} // namespace
