// SPDX-License-Identifier: BSD-3-Clause
// The journal cut at every byte, and with every bit flipped; which job has which processors; command lines; timelines.
#include "sched/journal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../errors.hpp"
#include "sched/job_table.hpp"
#include "sched/launch.hpp"
#include "sched/timeline.hpp"

namespace {

using namespace sched;

JobSpec spec_of(const char* name, std::vector<std::string> command) {
  JobSpec spec;
  spec.name = name;
  spec.allow = "1:4";
  spec.folder = "/tmp";
  spec.variables = {"A=1", "B=two words"};
  spec.command = std::move(command);
  return spec;
}

/// A day of a machine with 8 processors, every kind of entry in it.
struct Day {
  JobTable table;
  std::vector<std::string> lines;
  std::vector<std::string> after; ///< what the table looked like after each line

  static std::string shown(const JobTable& table) {
    std::string text = std::to_string(table.next_id()) + " " + table.policy() + "\n";
    for (const auto& [id, job] : table.jobs())
      text += std::to_string(id) + " " + job.spec.name + " " + to_string(job.phase) + " [" + join_ids(job.processors) +
              "] [" + join_ids(job.reserved) + "] " + std::to_string(job.target) + " " + std::to_string(job.pid) + " " +
              job.status + " " + job.why + " " + std::to_string(job.spec.finish_by_s) + " " + job.spec.seconds +
              (job.is_cancelled ? " cancelled " : " ") + std::to_string(job.resizes) + " " + job.spec.command.back() +
              "\n";
    for (const Segment& s : table.segments())
      text += std::to_string(s.job) + " " + std::to_string(s.begin_s) + " " + std::to_string(s.end_s) + " " +
              join_ids(s.processors) + "\n";
    return text;
  }
  void add(const Entry& entry) {
    lines.push_back(encode(entry));
    table.apply(entry);
    after.push_back(shown(table));
  }
  Day() {
    after.push_back(shown(table));
    lines.emplace_back();
    add(table.open(1, 8, "rs", "boot"));
    add(table.submit(2, spec_of("first", {"prog", "-x", "with space", "tab\tand\nline\\end"})));
    add(table.start(3, 1, 4, 100, 5000));
    add(table.submit(4, spec_of("second", {"/bin/other"})));
    add(table.start(5, 2, 4, 101, 5001));
    add(table.submit(6, spec_of("third", {"x"})));
    JobSpec timed = spec_of("third", {"x"});
    timed.finish_by_s = 1000.5;
    timed.seconds = "1=20,2=11";
    add(table.finish(6, 3, timed));
    add(table.ask(7, 1, 2));
    add(table.size(8, 1, 2));
    add(table.start(9, 3, 2, 102, 5002));
    add(table.requeue(10, 3));
    add(table.ask(11, 1, 4));
    add(table.answer(12, 1, "expired: too late", 42));
    add(table.cancel(13, 2));
    add(table.end(14, 2, "143", "cancelled"));
    add(table.open(15, 8, "as", "boot"));
    add(table.end(16, 1, "0", ""));
  }
  std::string text() const {
    std::string all;
    for (const auto& line : lines) all += line;
    return all;
  }
};

TEST(Journal, CutAtEveryByte) {
  const Day day;
  const std::string all = day.text();
  std::size_t whole = 0, good = 0; // lines that end at or before the cut, and where the last of them ends
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    while (whole + 1 < day.lines.size() && good + day.lines[whole + 1].size() <= cut) good += day.lines[++whole].size();
    const ReadJournal read = read_journal(std::string_view(all).substr(0, cut));
    ASSERT_EQ(read.good_bytes, good) << "cut at " << cut;
    JobTable table;
    for (const Entry& entry : read.entries) table.apply(entry);
    ASSERT_EQ(Day::shown(table), day.after[whole]) << "cut at " << cut;
  }
}

std::string refusal(const std::string& text) {
  return message_of([&] { read_journal(text); });
}

TEST(Journal, CutAtEveryByteOfTheFirstLine) {
  const std::string head = journal_head(journal_version);
  for (std::size_t cut = 0; cut < head.size(); ++cut) {
    const ReadJournal read = read_journal(std::string_view(head).substr(0, cut));
    EXPECT_EQ(read.good_bytes, 0u);
    EXPECT_TRUE(read.entries.empty());
  }
  EXPECT_EQ(read_journal(head).good_bytes, head.size());
  const Day day;
  const ReadJournal read = read_journal(head + day.text());
  EXPECT_EQ(read.entries.size(), day.lines.size() - 1);
  EXPECT_EQ(read.good_bytes, head.size() + day.text().size());
}

TEST(Journal, EveryFlippedBitIsNoticed) {
  const Day day;
  for (const std::string& all : {day.text(), journal_head(journal_version) + day.text(), journal_head(journal_version)})
    for (std::size_t at = 0; at < all.size(); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        std::string wrong = all;
        wrong[at] = static_cast<char>(wrong[at] ^ (1 << bit));
        EXPECT_NE(refusal(wrong), "no error") << "byte " << at << " of " << all.size() << ", bit " << bit;
      }
}

TEST(Journal, DamageIsNamedWithItsPlace) {
  const Day day;
  const std::string head = journal_head(journal_version), all = head + day.text();
  std::string wrong = all;
  wrong[all.size() - 3] ^= 4; // the last line, whole: what it says was acted on
  EXPECT_TRUE(says(refusal(wrong), "line 18"));
  EXPECT_TRUE(says(refusal(wrong), "checksum"));
  wrong = all;
  wrong[head.size() + 20] ^= 4;
  EXPECT_TRUE(says(refusal(wrong), fmt::format("line 2 (from byte {})", head.size())));
  wrong = all;
  wrong.back() = ' ';
  EXPECT_TRUE(says(refusal(wrong), "line end"));
  EXPECT_EQ(refusal(all + "0123abcd submit\t1.0"), "no error");
}

TEST(Journal, OtherBytesAreRefused) {
  const Day day;
  const std::string head = journal_head(journal_version);
  for (const std::string& all : {day.text(), head + day.text(), day.lines[1], head}) {
    std::string crlf;
    for (const char c : all) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
    EXPECT_TRUE(says(refusal(crlf), "CR LF"));
  }
  for (const std::string& junk :
       {std::string("\x7f"
                    "ELF\x02\x01\0\0\xff\xfe",
                    10),
        std::string(100, '\0'), std::string("hello"), std::string("hello\nworld\n"), std::string("\n"),
        std::string("{}"), std::string("zzzzzzzz open\t1"), std::string("01234567 submit\t")})
    EXPECT_TRUE(says(refusal(junk), "no journal of dyngrid-sched")) << junk;
  for (const int version : {3, 0, 1, 20}) EXPECT_TRUE(says(refusal(journal_head(version)), "of version")) << version;
  EXPECT_TRUE(says(refusal(journal_head(journal_version + 1) + day.text()), "of version"));
  EXPECT_NE(refusal("dyngrid-sched journal two\n"), "no error");
  EXPECT_EQ(refusal(""), "no error");
}

TEST(Journal, EntriesThatDoNotAddUp) {
  Day day;
  EXPECT_THROW(day.table.apply(day.table.end(20, 1, "0", "")), base::Error);
  EXPECT_THROW(day.table.apply(day.table.end(20, 9, "0", "")), base::Error);
  EXPECT_THROW(day.table.apply({Entry::Kind::start, 20, 1, {"0", "1", "2"}}), base::Error);
  EXPECT_THROW(day.table.apply({Entry::Kind::submit, 20, 1, {}}), base::Error);
  EXPECT_THROW(split_ids("1,x"), base::Error);
  EXPECT_THROW(split_ids("1;2"), base::Error);
  EXPECT_EQ(split_ids("0,1,22"), (std::vector<int>{0, 1, 22}));
  EXPECT_EQ(split_ids(""), (std::vector<int>{}));
}

TEST(JobTable, NumbersGoOnAfterARestart) {
  Day day;
  EXPECT_EQ(day.table.next_id(), 4);
  JobTable other;
  other.apply(day.table.open(1, 4, "rs", "boot"));
  EXPECT_EQ(other.next_id(), 4) << "also in a journal begun anew";
}

TEST(JobTable, WhoGetsWhichProcessors) {
  JobTable table;
  table.apply(table.open(0, 10, "rs", "boot"));
  const auto start = [&](int n) {
    const Entry e = table.submit(0, spec_of("job", {"x"}));
    table.apply(e);
    table.apply(table.start(0, e.job, n, 1, 1));
    return e.job;
  };
  const auto a = start(3), b = start(2), c = start(3);
  EXPECT_EQ(table.find(a)->processors, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(table.find(b)->processors, (std::vector<int>{3, 4}));
  EXPECT_EQ(table.find(c)->processors, (std::vector<int>{5, 6, 7}));
  table.apply(table.end(1, b, "0", ""));
  EXPECT_EQ(table.choose(2), (std::vector<int>{3, 4}));
  EXPECT_EQ(table.choose(1), (std::vector<int>{3})) << "pieces of equal size: the first";
  EXPECT_EQ(table.choose(3), (std::vector<int>{3, 4, 8})) << "no piece is large enough";
  EXPECT_THROW(table.choose(5), base::Error);
  table.apply(table.ask(2, c, 5)); // 8 and 9 or 3 and 4 are promised
  EXPECT_EQ(table.find(c)->reserved, (std::vector<int>{3, 4}));
  EXPECT_EQ(table.choose(2), (std::vector<int>{8, 9}));
  table.apply(table.size(3, c, 5));
  EXPECT_EQ(table.find(c)->processors, (std::vector<int>{3, 4, 5, 6, 7}));
  table.apply(table.size(4, a, 7)); // grew without having been asked: two are free, the rest it shares
  EXPECT_EQ(table.find(a)->processors, (std::vector<int>{0, 1, 2, 8, 9}));
  EXPECT_EQ(table.find(a)->procs, 7);
  table.apply(table.size(5, a, 1));
  EXPECT_EQ(table.find(a)->processors, (std::vector<int>{0}));
  EXPECT_EQ(table.segments().size(), 6u);
}

// It grew when no processor was free: it has four processes on two processors.
TEST(JobTable, RequestsCountFromTheProcessesOfAJob) {
  JobTable table;
  table.apply(table.open(0, 8, "rs", "boot"));
  for (const int n : {2, 6}) {
    const Entry e = table.submit(0, spec_of("job", {"x"}));
    table.apply(e);
    table.apply(table.start(0, e.job, n, 1, 1));
  }
  const JobRecord& job = *table.find(1);
  table.apply(table.size(1, 1, 4));
  EXPECT_EQ(job.processors, (std::vector<int>{0, 1}));
  table.apply(table.ask(2, 1, 3)); // a shrink reserves nothing
  EXPECT_EQ(job.target, 3);
  EXPECT_TRUE(job.reserved.empty());
  table.apply(table.end(3, 2, "0", ""));
  table.apply(table.ask(4, 1, 6));
  EXPECT_EQ(job.reserved, (std::vector<int>{2, 3})) << "only those for its further processes";
  table.apply(table.narrow(5, 1, {3}));
  EXPECT_EQ(job.target, 5) << "still a growth";
}

TEST(JobTable, AGrowthGoesOnWhenTheJobShrinksByItself) {
  JobTable table;
  table.apply(table.open(0, 6, "rs", "boot"));
  const Entry e = table.submit(0, spec_of("job", {"x"}));
  table.apply(e);
  table.apply(table.start(0, e.job, 3, 1, 1));
  table.apply(table.ask(1, e.job, 5));
  const Entry size = table.size(2, e.job, 2);
  const Entry on = table.ask_on(size);
  table.apply(size);
  table.apply(on);
  const JobRecord& job = *table.find(e.job);
  EXPECT_EQ(job.processors, (std::vector<int>{0, 1}));
  EXPECT_EQ(job.reserved, (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(job.target, 5);
  EXPECT_EQ(table.choose(1), std::vector<int>{5});
}

TEST(JobTable, AStoppedJobLendsProcessors) {
  JobTable table;
  table.apply(table.open(0, 5, "rs", "boot"));
  const auto start = [&](int n) {
    const Entry e = table.submit(0, spec_of("job", {"x"}));
    table.apply(e);
    table.apply(table.start(0, e.job, n, 1, 1));
    return e.job;
  };
  const auto a = start(4);
  table.apply(table.ask(1, a, 1));
  table.apply(table.suspend(2, a, 1));
  EXPECT_EQ(table.find(a)->processors, std::vector<int>{0});
  EXPECT_EQ(table.find(a)->procs, 4) << "its processes are there";
  EXPECT_EQ(table.find(a)->target, 0);
  EXPECT_THROW(table.apply(table.suspend(2, a, 1)), base::Error);
  const auto b = start(2);
  EXPECT_FALSE(table.can_resume(*table.find(a))); // two are free, three are lent
  EXPECT_THROW(table.resume(3, a), base::Error);
  table.apply(table.end(3, b, "0", ""));
  ASSERT_TRUE(table.can_resume(*table.find(a)));
  table.apply(table.resume(4, a));
  EXPECT_EQ(table.find(a)->processors.size(), 4u);
  EXPECT_FALSE(table.can_resume(*table.find(a)));
  table.apply(table.suspend(5, a, 1));
  table.apply(table.size(6, a, 1)); // its last words: it had shrunk before it was stopped
  EXPECT_TRUE(table.can_resume(*table.find(a)));
  table.apply(table.resume(7, a));
  EXPECT_EQ(table.find(a)->processors, std::vector<int>{0});
  table.apply(table.suspend(8, a, 0));
  table.apply(table.end(9, a, "-", "killed"));
  EXPECT_EQ(table.choose(5).size(), 5u);
}

TEST(Launch, OneMachine) {
  JobSpec spec = spec_of("x", {"./prog", "--n", "5"});
  spec.steps = 7;
  const Launch launch = make_launch(spec, "s3", "2x2", {0, 1, 2, 3}, {});
  EXPECT_EQ(launch.command, (std::vector<std::string>{"mpirun", "--oversubscribe", "--bind-to", "none", "-np", "4",
                                                      "./prog", "--n", "5"}));
  EXPECT_EQ(launch.variables,
            (std::vector<std::string>{"A=1", "B=two words", "DYNGRID_JOB=s3", "DYNGRID_SCHED=on", "DYNGRID_ALLOW=1:4",
                                      "DYNGRID_DECIDE=steps=7", "DYNGRID_GRID=2x2"}));
}

TEST(Launch, Hosts) {
  LaunchOptions options;
  options.hosts = Hosts::parse("node1:4,node2:2,node3");
  EXPECT_EQ(options.hosts.procs(), 7);
  options.mpirun = "/opt/mpirun";
  options.mpirun_options = {};
  JobSpec spec;
  spec.command = {"prog"};
  const Launch launch = make_launch(spec, "s1", "", {2, 3, 4, 6}, options);
  EXPECT_EQ(launch.command,
            (std::vector<std::string>{"/opt/mpirun", "--host", "node1:2,node2:1,node3:1", "-x", "DYNGRID_JOB", "-x",
                                      "DYNGRID_SCHED", "-x", "DYNGRID_HOSTS", "-np", "4", "prog"}));
  EXPECT_EQ(launch.variables,
            (std::vector<std::string>{"DYNGRID_JOB=s1", "DYNGRID_SCHED=on", "DYNGRID_HOSTS=node1:4,node2:2,node3:1"}));
  for (const char* wrong : {"", "a:0", "a:x", ":4", "a,,b", "-x:2", "a:-1", "a:4,b,a:2"})
    EXPECT_THROW(Hosts::parse(wrong), base::Error) << wrong;
}

TEST(TimelineText, TextAndPicture) {
  Timeline t;
  t.procs = 4;
  t.begin_s = 100;
  t.end_s = 110;
  t.segments = {{1, 100, 105, {0, 1, 2, 3}}, {1, 105, 110, {0, 1}}, {2, 105, 0, {2}}};
  t.names = {{1, "a<b"}, {2, "two"}};
  EXPECT_EQ(timeline_text(t, 10).substr(0, 4 * 18),
            "   3 |AAAAA.....|\n   2 |AAAAABBBBB|\n   1 |AAAAAAAAAA|\n   0 |AAAAAAAAAA|\n");
  EXPECT_TRUE(says(timeline_text(t, 10), "B job 2 two"));
  EXPECT_TRUE(says(timeline_text(t, 10), "1 processors: 2"));
  const std::string svg = timeline_svg(t);
  EXPECT_TRUE(says(svg, "job 1 a&lt;b: 4 processors, 0.00 to 5.00 s"));
  EXPECT_TRUE(says(svg, "job 2 two: 1 processors, 5.00 to 10.00 s"));
  EXPECT_FALSE(says(svg, "a<b"));
  Timeline nothing;
  nothing.procs = 1;
  EXPECT_FALSE(timeline_svg(nothing).empty());
  EXPECT_FALSE(timeline_text(nothing).empty());
}

} // namespace
