// SPDX-License-Identifier: BSD-3-Clause
// How much memory is left, by the system and by control groups. All expected values are computed by hand.
#include "base/memory.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../errors.hpp"
#include "../fake_system.hpp"

namespace {

TEST(Memory, OfAControlGroupOfTheSecondVersion) {
  const FakeSystem f;
  f.put("/proc/self/cgroup", "0::/slice/job\n");
  f.put("/proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:   8000 kB\n");
  f.put("/sys/fs/cgroup/slice/memory.max", "5000000\n");
  f.put("/sys/fs/cgroup/slice/memory.current", "4000000\n");
  f.put("/sys/fs/cgroup/slice/memory.stat", "anon 2000000\nfile 1900000\nshmem 500000\n");
  f.put("/sys/fs/cgroup/slice/job/memory.max", "max\n");
  EXPECT_EQ(base::free_memory(f.root).bytes, 2500000); // cached memory is available
  EXPECT_EQ(base::free_memory(f.root).of, "/sys/fs/cgroup/slice/memory.max");
  EXPECT_EQ(base::memory_left(f.root), "2 MiB are free (/sys/fs/cgroup/slice/memory.max)");
  EXPECT_NO_THROW(base::require_memory("a matrix", 2500000, f.root));
  const base::Error error = thrown_by([&] { base::require_memory("a matrix", 3 << 20, f.root); });
  EXPECT_EQ(error.status(), base::Status::out_of_memory);
  EXPECT_STREQ(error.what(), "dyngrid: no memory for a matrix: 3.0 MiB are needed, 2.4 MiB are free "
                             "(/sys/fs/cgroup/slice/memory.max)");
  f.put("/sys/fs/cgroup/slice/memory.stat", ""); // unreadable: nothing is known of the group
  EXPECT_EQ(base::free_memory(f.root).bytes, 8000 * 1024);
}

TEST(Memory, OfAControlGroupOfTheFirstVersion) {
  const FakeSystem f;
  f.put("/proc/self/cgroup", "4:memory:/a/b\n0::/\n");
  f.put("/proc/meminfo", "MemAvailable: 8000 kB\n");
  f.put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  f.put("/sys/fs/cgroup/memory/a/memory.stat", "rss 1\ntotal_rss 1000\ntotal_shmem 200\n");
  EXPECT_EQ(base::free_memory(f.root).bytes, 8000 * 1024);
  f.put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2000\n");
  EXPECT_EQ(base::free_memory(f.root).bytes, 800);
}

TEST(Memory, ALimitBelowTheTotalAndAboveWhatIsAvailable) {
  const FakeSystem f;
  f.put("/proc/self/cgroup", "0::/job\n");
  f.put("/proc/meminfo", "MemTotal: 9000 kB\nMemAvailable: 2000 kB\n");
  f.put("/sys/fs/cgroup/job/memory.stat", "anon 6000000\nshmem 0\n");
  f.put("/sys/fs/cgroup/job/memory.max", "7000000\n");
  EXPECT_EQ(base::free_memory(f.root).bytes, 1000000);
  f.put("/sys/fs/cgroup/job/memory.max", "11264000\n"); // total and available: it has no effect
  EXPECT_EQ(base::free_memory(f.root).of, "MemAvailable");
}

TEST(Memory, ThatAVirtualMachineHasLentComesBack) {
  const FakeSystem f;
  const std::string lent = "MemTotal: 1000 kB\nMemAvailable: 0 kB\nAnonPages: 100 kB\nShmem: 20 kB\nBalloon: 700 kB\n";
  f.put("/proc/meminfo", lent);
  EXPECT_EQ(base::free_memory(f.root).of, "MemAvailable");
  EXPECT_EQ(base::free_memory(f.root).bytes, 700 * 1024);
  f.put("/proc/meminfo", "MemTotal: 300 kB\nMemAvailable: 0 kB\nAnonPages: 100 kB\nBalloon: 700 kB\n"); // gone for good
  EXPECT_EQ(base::free_memory(f.root).bytes, 200 * 1024);
}

// The first look finds none, the second finds some: the file is a pipe, so that the looks need not be in time.
TEST(Memory, IsLookedAtAgainBeforeItIsCalledTooLittle) {
  const FakeSystem f;
  std::filesystem::create_directories(f.root + "/proc");
  const std::string meminfo = f.root + "/proc/meminfo", next = meminfo + ".next";
  ASSERT_EQ(mkfifo(meminfo.c_str(), 0600), 0);
  std::thread kernel([&] {
    for (const char* text : {"MemAvailable: 0 kB\nBalloon: 0 kB\n", "MemAvailable: 5000 kB\nBalloon: 0 kB\n"}) {
      const int fd = open(meminfo.c_str(), O_WRONLY | O_CLOEXEC); // each look opens it once
      EXPECT_EQ(mkfifo(next.c_str(), 0600), 0);
      EXPECT_EQ(rename(next.c_str(), meminfo.c_str()), 0); // the next one that opens it gets another pipe
      EXPECT_EQ(write(fd, text, std::strlen(text)), static_cast<ssize_t>(std::strlen(text)));
      close(fd);
    }
  });
  EXPECT_EQ(base::free_memory_soon(1 << 20, f.root).bytes, 5000 * 1024);
  kernel.join();
}

TEST(Memory, UnknownIsNotTooLittle) {
  const FakeSystem f;
  EXPECT_EQ(base::memory_left(f.root), "how much is left is not known");
  EXPECT_NO_THROW(base::require_memory("a matrix", std::int64_t{1} << 60, f.root));
}

TEST(Memory, OfThisProcess) {
  EXPECT_GT(base::free_memory().bytes, 0);
}

} // namespace
