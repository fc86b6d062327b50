// SPDX-License-Identifier: BSD-3-Clause
// Checkpoint files by themselves: writers that meet at one path, and files whose fields contradict themselves.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "../refused_system_calls.hpp"
#include "../temporary_folder.hpp"
#include "control/checkpoint_file.hpp"

namespace {
std::string without_room; ///< the file that lies on a full disk; empty: none

ssize_t write_where_there_is_room(int fd, const void* bytes, std::size_t count, std::int64_t at) {
  struct stat mine {
  }, full{};
  const bool is_full = !without_room.empty() && fstat(fd, &mine) == 0 && stat(without_room.c_str(), &full) == 0 &&
                       mine.st_dev == full.st_dev && mine.st_ino == full.st_ino;
  if (!is_full) return syscall(SYS_pwrite64, fd, bytes, count, at);
  errno = ENOSPC;
  return -1;
}
} // namespace

// HDF5 writes by one of them
extern "C" ssize_t pwrite(int fd, const void* bytes, std::size_t count, off_t at) {
  return write_where_there_is_room(fd, bytes, count, at);
}
extern "C" ssize_t pwrite64(int fd, const void* bytes, std::size_t count, off64_t at) {
  return write_where_there_is_room(fd, bytes, count, at);
}

namespace {

using control::CheckpointReader;
using control::CheckpointWriter;
using control::SavedMatrix;
using control::SavedState;
namespace fs = std::filesystem;

SavedMatrix of_size(std::int64_t m, std::int64_t n) {
  SavedMatrix matrix;
  matrix.name = "u";
  matrix.m = m;
  matrix.n = n;
  return matrix;
}

class CheckpointFile : public testing::Test {
protected:
  void SetUp() override {
    if (control::checkpoint_library().empty()) GTEST_SKIP() << "this dyngrid was built without HDF5";
  }
  /// A writer that has still to commit, of a program that has passed `points` resize points.
  CheckpointWriter begin(int points) const {
    CheckpointWriter writer(path_);
    SavedState state;
    state.resize_points = points;
    writer.describe(state);
    return writer;
  }
  std::int64_t points() const { return CheckpointReader(path_).state().resize_points; }
  bool is_clean() const { return !fs::exists(path_ + ".writing"); }
  /// Writes a file with one matrix. @return the error of reading it, "" without one
  std::string reading(const SavedMatrix& matrix) const {
    SavedState state;
    state.matrices = {matrix};
    CheckpointWriter writer(path_);
    writer.describe(state);
    writer.begin_matrix(matrix, {0, 0, matrix.m, matrix.n});
    writer.commit();
    try {
      CheckpointReader reader(path_);
      EXPECT_EQ(reader.state().matrices.at(0).field, matrix.field);
      return "";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::io_failure);
      return error.what();
    }
  }

  /// Of matrices, of shared state, of the rest.
  bool refuse_without_room() const {
    std::vector<double> elements(100 * 100, 7);
    const control::Slab all{0, 0, 100, 100};
    SavedMatrix next = of_size(1, 1);
    next.name = "v";
    SavedState state;
    state.shared.push_back({"s", static_cast<std::int64_t>(elements.size() * sizeof(double)), elements.data()});
    bool is_refused = true;
    const auto refuses = [&](std::unique_ptr<CheckpointWriter> writer, auto&& step) {
      without_room = path_ + ".writing";
      is_refused = is_refused && status_of([&] { step(*writer); }) == base::Status::io_failure;
      writer.reset();
      without_room.clear();
    };
    auto with_matrix = std::make_unique<CheckpointWriter>(begin(2));
    with_matrix->begin_matrix(of_size(100, 100), all);
    with_matrix->write(all, elements.data());
    refuses(std::move(with_matrix), [&](CheckpointWriter& writer) { writer.begin_matrix(next, {0, 0, 1, 1}); });
    refuses(std::make_unique<CheckpointWriter>(path_), [&](CheckpointWriter& writer) { writer.describe(state); });
    refuses(std::make_unique<CheckpointWriter>(begin(3)), [](CheckpointWriter& writer) { writer.commit(); });
    return is_refused;
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path + "/state";
};

TEST_F(CheckpointFile, TheSecondWriterOfAPathStopsTheFirst) {
  begin(1).commit();
  CheckpointWriter first = begin(2), second = begin(3);
  const base::Error error = thrown_by([&] { first.commit(); });
  EXPECT_EQ(error.status(), base::Status::io_failure);
  EXPECT_TRUE(says(error.what(), "another program has replaced"));
  EXPECT_EQ(points(), 1) << "the whole file is still there";
  second.commit();
  EXPECT_EQ(points(), 3);
  EXPECT_TRUE(is_clean());
}

TEST_F(CheckpointFile, AWriterThatGivesUpLeavesTheFileOfAnother) {
  auto first = std::make_unique<CheckpointWriter>(begin(2));
  CheckpointWriter second = begin(3);
  first.reset();
  EXPECT_FALSE(is_clean());
  second.commit();
  EXPECT_EQ(points(), 3);
  EXPECT_TRUE(is_clean());
  SavedMatrix bad = of_size(1, 1);
  bad.type = '?';
  EXPECT_THROW(begin(4).begin_matrix(bad, {0, 0, 1, 1}), base::Error);
  EXPECT_TRUE(is_clean()) << "nothing is left of a writer that has the path alone";
}

TEST_F(CheckpointFile, NothingIsLeftWhereHdf5CannotCreateIt) {
  fs::permissions(folder_.path, fs::perms::all);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
    umask(0777); // the new file cannot be opened again
    try {
      CheckpointWriter writer(path_);
    } catch (const base::Error&) {
      _exit(0);
    }
    _exit(1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "the writer began, or this is a root that cannot become somebody else";
  EXPECT_TRUE(is_clean());
}

TEST_F(CheckpointFile, OnAFileSystemWithoutLocks) {
  const pid_t child = fork();
  if (child == 0) {
    unsetenv("HDF5_USE_FILE_LOCKING");
    if (!refuse_system_call(SYS_flock, ENOLCK)) _exit(77);
    try {
      begin(4).commit();
      _exit(points() == 4 ? 0 : 1);
    } catch (const base::Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(2);
    }
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_EQ(status, 0);
}

/// HDF5 keeps small ones until they are closed, and a close that fails leaves it with an object that it has freed.
TEST_F(CheckpointFile, WhatFindsNoRoomIsNotLeftOut) {
  begin(1).commit();
  std::fflush(nullptr);
  const pid_t child = fork(); // to its exit, when HDF5 closes all
  if (child == 0) std::exit(refuse_without_room() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(points(), 1) << "the whole file is still there";
  EXPECT_TRUE(is_clean());
}

TEST_F(CheckpointFile, SizesFitIntoADescriptor) {
  constexpr std::int64_t too_large = std::int64_t{1} << 31;
  EXPECT_EQ(reading(of_size(too_large - 1, 0)), "");
  EXPECT_TRUE(says(reading(of_size(too_large, 0)), "matrix \"u\" is 2147483648 x 0"));
  SavedMatrix matrix = of_size(12, 5);
  matrix.mb = too_large;
  matrix.nb = 4;
  EXPECT_TRUE(says(reading(matrix), "in blocks of 2147483648 x 4, expected sizes of 0 .. 2147483647"));
  matrix.mb = -1;
  EXPECT_TRUE(says(reading(matrix), "in blocks of -1 x 4"));
}

TEST_F(CheckpointFile, TheDimensionsOfAFieldMakeItsMatrix) {
  SavedMatrix field = of_size(12, 5);
  field.field = {{3, 1, 1}, {4, 0, 0}, {5, 0, 0}}; // 3 x 4 rows, 5 columns
  EXPECT_EQ(reading(field), "");
  field.m = 13;
  EXPECT_TRUE(says(reading(field), "field \"u\" of 3 x 4 x 5 is 13 x 5 elements"));
  field.m = 12;
  field.field[1].block = -1;
  EXPECT_TRUE(says(reading(field), "dimension 1 has extent 4, block -1 and 0 parts"));
}

} // namespace
