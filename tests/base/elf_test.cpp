// SPDX-License-Identifier: BSD-3-Clause
// What stands in the files of programs and libraries.
#include <elf.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "../temporary_folder.hpp"
#include "base/elf.hpp"

namespace {

using base::defined_in;

std::string own_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

TEST(Elf, ThisProgram) {
  EXPECT_TRUE(base::is_elf(own_program()));
  EXPECT_TRUE(std::filesystem::exists(base::loader_of(own_program())));
  EXPECT_EQ(defined_in(own_program(), {"main", "printf"}), std::set<std::string>{"main"}) << "printf is only needed";
  EXPECT_EQ(base::file_of(reinterpret_cast<const void*>(&own_program)), own_program());
}

TEST(Elf, LibrariesInTheOrderOfTheLoader) {
  const std::vector<std::string> files = base::files_of_program(own_program());
  ASSERT_GT(files.size(), 1u);
  EXPECT_EQ(files[0], own_program());
  const std::string c_library = base::file_that_answers("gnu_get_libc_version"); // which no sanitizer replaces
  EXPECT_TRUE(says(c_library, "libc.so"));
  EXPECT_EQ(defined_in(c_library, {"gnu_get_libc_version", "no_such_routine"}),
            std::set<std::string>{"gnu_get_libc_version"});
}

TEST(Elf, OtherFiles) {
  for (const char* file : {"/no/such/file", "/etc/passwd", "/"}) {
    EXPECT_FALSE(base::is_elf(file)) << file;
    EXPECT_EQ(base::loader_of(file), "") << file;
    EXPECT_TRUE(defined_in(file, {"main"}).empty()) << file;
    EXPECT_TRUE(base::files_of_program(file).empty()) << file;
  }
}

TEST(Elf, BrokenFiles) {
  const TemporaryFolder folder;
  const std::string file = folder.path + "/broken";
  std::ifstream self(own_program(), std::ios::binary);
  std::string bytes(1 << 16, '\0');
  self.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string broken = bytes.substr(0, 64 + random() % bytes.size());
    for (int i = 0; i < 4; ++i) broken[16 + random() % 48] = static_cast<char>(random());
    std::ofstream(file, std::ios::binary) << broken;
    base::loader_of(file); // no crash, no endless loop
    defined_in(file, {"main"});
  }
}

} // namespace
