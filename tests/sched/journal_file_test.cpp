// SPDX-License-Identifier: BSD-3-Clause
// The journal on a disk that is full, or fails: what append() returned from is there, what it threw for is not.
#include "sched/journal_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../errors.hpp"
#include "../temporary_folder.hpp"
#include "base/files.hpp"
#include "sched/job_table.hpp"
#include "sched/process.hpp"

namespace {

using namespace sched;
using base::content_of;

/// A disk with a number of bytes left, whose other calls can be made to fail.
struct Disk {
  std::size_t room = 1 << 20;
  bool syncs = true, cuts = true;
  JournalCalls calls() {
    JournalCalls own;
    own.write = [this](int fd, const void* from, std::size_t size) -> ssize_t {
      const auto n = std::min(size, room);
      if (n == 0) return errno = ENOSPC, -1;
      room -= n;
      return ::write(fd, from, n);
    };
    own.sync = [this](int fd) { return syncs ? ::fdatasync(fd) : (errno = EIO, -1); };
    own.cut = [this](int fd, off_t size) { return cuts ? ::ftruncate(fd, size) : (errno = EIO, -1); };
    return own;
  }
};

class JournalOnDisk : public testing::Test {
protected:
  std::string opened() {
    return message_of([&] {
      ReadJournal read;
      const JournalFile file(path_, read);
    });
  }
  static std::string line(const char* boot) { return encode(JobTable().open(1, 4, "rs", boot)); }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path + "/journal";
  ReadJournal read_;
};

TEST_F(JournalOnDisk, BeginsWithItsVersion) {
  JournalFile file(path_, read_);
  EXPECT_EQ(content_of(path_), "");
  file.append(line("a"));
  file.append(line("b"));
  EXPECT_EQ(content_of(path_), journal_head(journal_version) + line("a") + line("b"));
  JournalFile again(path_, read_);
  EXPECT_EQ(read_.entries.size(), 2u);
  again.append(line("c"));
  EXPECT_EQ(content_of(path_), journal_head(journal_version) + line("a") + line("b") + line("c"));
}

TEST_F(JournalOnDisk, AnOlderOneGoesOnAsItIs) {
  std::ofstream(path_) << line("a");
  JournalFile file(path_, read_);
  EXPECT_EQ(read_.entries.size(), 1u);
  file.append(line("b"));
  EXPECT_EQ(content_of(path_), line("a") + line("b"));
}

TEST_F(JournalOnDisk, AFullDiskLeavesWholeLinesOnly) {
  const std::string before = journal_head(journal_version) + line("a");
  for (std::size_t room = 0; room < line("b").size(); ++room) {
    ::unlink(path_.c_str());
    Disk disk;
    JournalFile file(path_, read_, disk.calls());
    file.append(line("a"));
    disk.room = room;
    EXPECT_THROW(file.append(line("b")), NoRoom) << room;
    EXPECT_EQ(content_of(path_), before) << room;
    EXPECT_TRUE(file.why_broken().empty());
    disk.room = 1000;
    file.append(line("c"));
    EXPECT_EQ(content_of(path_), before + line("c"));
  }
}

TEST_F(JournalOnDisk, ALimitOfTheFilesSize) {
  JournalFile file(path_, read_);
  file.append(line("a"));
  const std::string before = content_of(path_);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit low{before.size() + 7, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  EXPECT_THROW(file.append(line("b")), NoRoom);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(content_of(path_), before);
  file.append(line("b"));
  EXPECT_EQ(content_of(path_), before + line("b"));
}

// Five descriptors are left: for both outputs, the input and the gate, and none for the start time of the process.
TEST_F(JournalOnDisk, AJobWhoseStartTimeIsNotKnownDoesNotBegin) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  std::vector<Fd> free;
  for (int k = 0; k < 5; ++k) free.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const rlimit low{static_cast<rlim_t>(free.back().get()) + 1, old.rlim_max};
  free.clear();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const std::string text = message_of<NoRoom>([&] { const Leader leader(folder_.path + "/1", "/", {"true"}, {}); });
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_TRUE(says(text, "start time"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "it is collected";
}

TEST_F(JournalOnDisk, AFailedSyncIsTheEnd) {
  Disk disk;
  JournalFile file(path_, read_, disk.calls());
  file.append(line("a"));
  const std::string before = content_of(path_);
  disk.syncs = false;
  try {
    file.append(line("b"));
    FAIL();
  } catch (const NoRoom&) {
    FAIL() << "it must not be tried again";
  } catch (const base::Error& error) {
    EXPECT_TRUE(says(error.what(), "forced to the disk"));
  }
  EXPECT_EQ(content_of(path_), before);
  disk.syncs = true;
  EXPECT_FALSE(file.why_broken().empty());
  EXPECT_THROW(file.append(line("c")), base::Error) << "no sync makes up for the one that failed";
  EXPECT_EQ(content_of(path_), before);
}

TEST_F(JournalOnDisk, HalfALineThatStaysIsTheEndToo) {
  Disk disk;
  JournalFile file(path_, read_, disk.calls());
  file.append(line("a"));
  disk.room = 5;
  disk.cuts = false;
  EXPECT_THROW(file.append(line("b")), base::Error);
  EXPECT_FALSE(file.why_broken().empty());
  disk = Disk();
  EXPECT_THROW(file.append(line("b")), base::Error) << "or the half line would be in the middle";
  JournalFile again(path_, read_); // and a restart cuts it off
  EXPECT_EQ(again.cut_bytes(), 5u);
  EXPECT_EQ(content_of(path_), journal_head(journal_version) + line("a"));
}

TEST_F(JournalOnDisk, WhatIsRefusedIsKept) {
  std::string flipped = journal_head(journal_version) + line("a") + line("b");
  flipped[flipped.size() - 2] ^= 1;
  for (const std::string& wrong :
       {flipped,
        std::string("\x7f"
                    "ELF\0\xff",
                    6),
        std::string("hello\n"), journal_head(9), journal_head(journal_version) + line("a") + "\r\n"}) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << wrong;
    EXPECT_TRUE(says(opened(), path_));
    EXPECT_EQ(content_of(path_), wrong);
  }
}

TEST_F(JournalOnDisk, OnlyARegularFile) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_TRUE(says(opened(), "no regular file"));
  ::unlink(path_.c_str());
  ASSERT_EQ(::symlink("/dev/full", path_.c_str()), 0);
  EXPECT_TRUE(says(opened(), "no regular file"));
}

} // namespace
