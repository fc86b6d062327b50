// SPDX-License-Identifier: BSD-3-Clause
// What `dyngrid watch` draws, as text: the picture of the grid, the lines of a job, the list of jobs, keys; and how
// times are written.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "base/parse_json.hpp"
#include "dyngrid/job_text.hpp"
#include "dyngrid/watch_view.hpp"
#include "shared/text.hpp"

namespace {

using base::Json;
using command::Key;
using command::Screen;
using command::ViewLine;

std::string joined(const std::vector<ViewLine>& lines, const Screen& screen) {
  std::string text;
  for (const ViewLine& line : lines) text += command::drawn(line, screen) + "\n";
  return text;
}

Json status(int nprow, int npcol) {
  return {{"job", "lake"},
          {"app", "pdgemm"},
          {"size", "3*d96x96/8x8"},
          {"host", "here"},
          {"uptime_s", 12.3},
          {"grid", {nprow, npcol}},
          {"step", 17},
          {"steps", 68},
          {"parked", 2},
          {"step_s", 0.000124},
          {"mean_step_s", 0.0123},
          {"matrix_bytes", 15400000},
          {"rss_bytes", 20000000},
          {"pending", nullptr},
          {"last_resize",
           {{"from", {1, 2}},
            {"grid", {nprow, npcol}},
            {"spawn_s", 0.4},
            {"merge_s", 0.01},
            {"plan_s", 0.0001},
            {"exchange_s", 0.02},
            {"total_s", 1.43},
            {"moved_bytes", 1000000},
            {"released", 3}}}};
}

TEST(Watch, WhoWaitsIsShown) {
  EXPECT_EQ(command::waiting_text(Json::object()), "");
  EXPECT_EQ(command::waiting_text({{"parked", 2}}), "2 parked");
  EXPECT_EQ(command::waiting_text({{"parked", 5}, {"kept", 3}, {"warm", 2}, {"starting", 1}}),
            "5 parked (3 kept), 2 spare, 1 starting");
  EXPECT_EQ(command::waiting_text({{"warm", 1}}), "1 spare");
  EXPECT_EQ(command::waiting_text({{"event", "waiting"}, {"warm", 0}, {"starting", 0}, {"kept", 4}}),
            "4 parked (4 kept)");
}

TEST(Watch, TimesAreReadable) {
  EXPECT_EQ(command::duration_text(0.000124), "0.124 ms");
  EXPECT_EQ(command::duration_text(0.0123), "12.3 ms");
  EXPECT_EQ(command::duration_text(0.9994), "999 ms");
  EXPECT_EQ(command::duration_text(0.9996), "0.9996 s");
  EXPECT_EQ(command::duration_text(1.23449), "1.234 s");
  EXPECT_EQ(command::duration_text(12345.6), "12346 s");
  EXPECT_EQ(command::duration_text(0), "0 s");
  EXPECT_EQ(command::duration_text(-0.5), "-500 ms");
  EXPECT_EQ(command::duration_text(INFINITY), "inf s");
}

TEST(Watch, TheGridIsDrawnWithRanks) {
  const std::vector<std::string> expected{"┌───┬───┬───┐", "│ 0 │ 1 │ 2 │", "├───┼───┼───┤", "│ 3 │ 4 │ 5 │",
                                          "└───┴───┴───┘"};
  EXPECT_EQ(command::grid_picture(2, 3, 13, 5), expected);
  const std::vector<std::string> wide{"┌────┬────┐", "│  0 │  1 │"}; // as wide as the largest rank
  const auto tall = command::grid_picture(6, 2, 80, 17);
  ASSERT_EQ(tall.size(), 13U);
  EXPECT_EQ(tall[0], wide[0]);
  EXPECT_EQ(tall[1], wide[1]);
}

TEST(Watch, ALargeGridIsDrawnSmaller) {
  EXPECT_EQ(command::grid_picture(2, 3, 12, 5), (std::vector<std::string>{"■ ■ ■ ", "■ ■ ■ "}));
  EXPECT_EQ(command::grid_picture(2, 3, 80, 4), (std::vector<std::string>{"■ ■ ■ ", "■ ■ ■ "}));
  EXPECT_EQ(command::grid_picture(100, 100, 8, 3), (std::vector<std::string>{"■ ■ · ■ ", "· · · · ", "■ ■ · ■ "}));
  EXPECT_TRUE(command::grid_picture(2, 2, 0, 5).empty());
  EXPECT_TRUE(command::grid_picture(2, 2, 80, -3).empty());
  EXPECT_TRUE(command::grid_picture(0, 0, 80, 20).empty());
}

TEST(Watch, AJobIsShown) {
  command::JobView view;
  EXPECT_FALSE(view.is_known());
  EXPECT_TRUE(view.lines({}, "keys").empty());
  view.take(status(2, 3));
  const std::string text = joined(view.lines({100, 30, false}, "q quits"), {100, 30, false});
  for (const char* word :
       {"job lake  pdgemm  3*d96x96/8x8  on here  12 s\n",
        "grid     2x3, 6 processes, 2 parked, 3 released at the last change\n", "         │ 3 │ 4 │ 5 │\n",
        "step     17 of 68 (25 %), the last 0.124 ms, 12.3 ms on average on this grid\n",
        "change   1x2 -> 2x3 in 1.43 s, 1.0 MB moved\n         spawn 400 ms, merge 10 ms, plan 0.1 ms, exchange 20 ms, "
        "other 0.9999 s\n",
        "memory   15.4 MB in matrices, 20.0 MB in process 0\n", "asked    nothing\nq quits\n"})
    EXPECT_TRUE(says(text, word)) << word << "is not in\n" << text;
  EXPECT_EQ(text.find('\033'), std::string::npos);
  const std::string narrow = joined(view.lines({80, 30, false}, ""), {80, 30, false});
  EXPECT_TRUE(says(narrow,
                   "change   1x2 -> 2x3 in 1.43 s, 1.0 MB moved\n         spawn 400 ms, merge 10 ms, plan 0.1 ms, "
                   "exchange 20 ms, other 0.9999 s\n"));
}

TEST(Watch, EventsAsLines) {
  const auto line = [](const Json& event) { return command::event_line(event); };
  EXPECT_EQ(line({{"event", "skipped"}, {"events", 120}}), "skipped 120 steps");
  EXPECT_EQ(line({{"event", "skipped"}, {"events", 500}, {"of", "others"}}), "skipped 500 other events");
  EXPECT_EQ(line({{"event", "late"}, {"request", 4}}), "late 4");
  EXPECT_EQ(line({{"event", "outcome"}, {"request", 3}, {"outcome", "failed"}, {"reason", "no room"}}),
            "outcome 3 failed: no room");
  EXPECT_EQ(line({{"event", "end"}}), "end");
}

TEST(Watch, EventsChangeIt) {
  command::JobView view;
  view.take(status(2, 2));
  const Screen screen{100, 40, false};
  const auto text = [&] { return joined(view.lines(screen, ""), screen); };
  view.take({{"event", "step"}, {"step", 20}, {"grid", {2, 2}}, {"step_s", 0.25}, {"t", 1.0}});
  view.take({{"event", "step"}, {"step", 21}, {"grid", {2, 2}}, {"step_s", 0.5}, {"t", 1.5}});
  EXPECT_TRUE(says(text(), "step     22 of 68 (32 %), the last 500 ms"));
  EXPECT_TRUE(says(text(), "         ▅█\n"));
  view.take({{"event", "request"}, {"request", 3}, {"from", {2, 2}}, {"grid", {3, 3}}});
  EXPECT_TRUE(says(text(), "asked    3x3\n"));
  view.take({{"event", "outcome"}, {"request", 3}, {"outcome", "failed"}, {"reason", "no slots"}});
  EXPECT_TRUE(says(text(), "asked    failed: no slots\n"));
  view.take({{"event", "resize"},
             {"grid", {3, 3}},
             {"from", {2, 2}},
             {"report", {{"from", {2, 2}}, {"grid", {3, 3}}, {"total_s", 0.5}}}});
  EXPECT_TRUE(says(text(), "│ 6 │ 7 │ 8 │"));
  EXPECT_TRUE(says(text(), "asked    nothing\n"));
  EXPECT_EQ(view.processes(), 9);
  EXPECT_EQ(view.least_step(), 3);
  // a growth that measured slower: why it goes back stays on the screen
  view.take({{"event", "undo"},
             {"request", 3},
             {"from", {3, 3}},
             {"grid", {2, 2}},
             {"step_s", 0.269},
             {"before_step_s", 0.114}});
  view.take({{"event", "resize"},
             {"grid", {2, 2}},
             {"from", {3, 3}},
             {"report", {{"from", {3, 3}}, {"grid", {2, 2}}, {"total_s", 0.5}}}});
  EXPECT_TRUE(says(text(), "asked    3x3 is taken back: 269 ms a step, 114 ms on 2x2\n"));
}

TEST(Watch, NothingIsWiderOrLongerThanTheTerminal) {
  for (const int width : {1, 2, 10, 21, 40, 80, 200})
    for (const int height : {2, 5, 8, 12, 24, 60})
      for (const auto& [p, q] : {std::pair<int, int>{1, 1}, {2, 3}, {1, 40}, {40, 1}, {300, 300}}) {
        command::JobView view;
        view.take(status(p, q));
        for (int k = 0; k < 300; ++k)
          view.take({{"event", "step"}, {"step", k}, {"grid", {p, q}}, {"step_s", 0.1 * k}});
        const Screen screen{width, height, false};
        const auto lines = view.lines(screen, "+ larger  - smaller  p holds the picture  J another job  q quits");
        EXPECT_LT(static_cast<int>(lines.size()), height);
        for (const ViewLine& line : lines) {
          int columns = 0;
          for (const char c : command::drawn(line, screen))
            columns += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
          EXPECT_LT(columns, std::max(width, 2)) << line.text;
        }
      }
}

TEST(Watch, ColourIsAroundTheTextOnly) {
  const ViewLine label{"grid     2x2", ViewLine::Style::good};
  EXPECT_EQ(command::drawn(label, {80, 24, false}), "grid     2x2");
  EXPECT_EQ(command::drawn(label, {80, 24, true}), "\033[2mgrid     \033[0m\033[36m2x2\033[0m");
  EXPECT_EQ(command::drawn(label, {5, 24, true}), "\033[2mgrid\033[0m");
  // a job with a name that is a trick
  EXPECT_EQ(command::drawn({"a\033[31mb", ViewLine::Style::title}, {80, 24, true}), "\033[1ma\\x1b[31mb\033[0m");
}

TEST(Watch, JobsToChooseFrom) {
  std::vector<Json> jobs{status(2, 2), {{"job", "gone"}, {"error", "no answer"}}};
  const Screen screen{100, 24, false};
  EXPECT_EQ(joined(command::chooser_lines(jobs, 1, screen), screen),
            "Which job?\n  1  lake  pdgemm  3*d96x96/8x8  2x2  step 17\n> 2  gone  no answer\nup, down or a number; "
            "enter takes it, q quits\n");
  for (int k = 0; k < 50; ++k) jobs.push_back({{"job", "job" + std::to_string(k)}, {"error", ""}});
  for (const std::size_t chosen : {0UL, 20UL, 51UL}) { // the chosen one can be seen
    const auto lines = command::chooser_lines(jobs, chosen, {80, 10, false});
    EXPECT_LT(lines.size(), 10U);
    int marked = 0;
    for (const ViewLine& line : lines) marked += line.text[0] == '>' ? 1 : 0;
    EXPECT_EQ(marked, 1);
  }
}

TEST(Watch, Keys) {
  const auto kinds = [](std::string bytes) {
    std::vector<Key> list;
    for (const auto& press : command::keys_of(bytes)) list.push_back(press.key);
    return list;
  };
  EXPECT_EQ(kinds("q+-p J\r"),
            (std::vector<Key>{Key::quit, Key::grow, Key::shrink, Key::pause, Key::pause, Key::jobs, Key::enter}));
  EXPECT_EQ(kinds("\033[A\033OB"), (std::vector<Key>{Key::up, Key::down}));
  EXPECT_TRUE(kinds("\033[15~\033[1;5C\033xyz").empty()); // F5 and others are none of ours
  EXPECT_TRUE(kinds("\033").empty());
  std::string typed = "7\033";
  EXPECT_EQ(command::keys_of(typed).at(0).digit, 7);
  typed += "["; // in pieces, as over a slow line
  EXPECT_TRUE(command::keys_of(typed).empty());
  typed += "B";
  ASSERT_EQ(command::keys_of(typed).size(), 1U);
  EXPECT_TRUE(typed.empty());
}

} // namespace
