// SPDX-License-Identifier: BSD-3-Clause
// A program is examined before it is started, and the loader lists its libraries only when they may have changed.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/status.hpp"
#include "processes/preflight.hpp"

namespace {

namespace fs = std::filesystem;
using blacs_dyn::check_program;

/// CPU time of child processes that were waited for.
long children_so_far() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return used.ru_minflt;
}

bool starts_a_process(const std::string& program) {
  const long before = children_so_far();
  check_program(program);
  return children_so_far() > before;
}

class Preflight : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "dyngrid-preflight-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    other_ = (folder_ / "other").string();
    fs::copy_file(blacs_dyn::own_program(), other_); // linked with MPI
    const char* path = std::getenv("LD_LIBRARY_PATH");
    library_path_ = path ? path : "";
  }
  void TearDown() override {
    fs::remove_all(folder_);
    setenv("LD_LIBRARY_PATH", library_path_.c_str(), 1);
  }
  fs::path folder_;
  std::string other_, library_path_;
};

TEST_F(Preflight, OwnProgramIsKnownToLink) {
  EXPECT_FALSE(starts_a_process(blacs_dyn::own_program()));
}

TEST_F(Preflight, OwnProgramIsLookedAtWhereLibrariesAreLookedForElsewhere) {
  setenv("LD_LIBRARY_PATH", folder_.c_str(), 1);
  EXPECT_TRUE(starts_a_process(blacs_dyn::own_program()));
}

TEST_F(Preflight, AnotherProgramIsLookedAtOnce) {
  EXPECT_TRUE(starts_a_process(other_));
  EXPECT_FALSE(starts_a_process(other_));
}

TEST_F(Preflight, HostsOfABatchSystem) {
  const std::string list = (folder_ / "hosts").string();
  std::ofstream(list) << "n1\nn1\nn2\n";
  setenv("PBS_NODEFILE", list.c_str(), 1);
  EXPECT_TRUE(blacs_dyn::has_other_hosts({"n1"}));
  EXPECT_FALSE(blacs_dyn::has_other_hosts({"n1", "n2"}));
  unsetenv("PBS_NODEFILE");
  EXPECT_FALSE(blacs_dyn::has_other_hosts({"n1"}));
}

TEST(Launcher, HostsOfItsOwnOptions) {
  using blacs_dyn::hosts_given_to;
  using Words = std::vector<std::string>;
  EXPECT_EQ(hosts_given_to({"mpirun", "-H", "a:2,b", "-np", "2", "./solver"}, {}), (Words{"a", "b"}));
  EXPECT_EQ(hosts_given_to({"mpirun", "--hostfile", "hosts", "./solver"}, {}), std::nullopt);
  EXPECT_EQ(hosts_given_to({"mpirun", "-H"}, {}), Words{});
  EXPECT_EQ(hosts_given_to({}, {"-n"}), Words{});
  for (const char* program : {"./solver", "./script.sh"}) { // which runs the solver with its own arguments
    EXPECT_EQ(hosts_given_to({"mpirun", "-host", "a", program, "-H", "100"}, {"-H", "100"}), Words{"a"});
    EXPECT_EQ(hosts_given_to({"mpirun", program, "--hostfile", "x"}, {"--hostfile", "x"}), Words{});
    EXPECT_EQ(hosts_given_to({"mpirun", program, "-H", "5", ":", "-H", "b", "./other"}, {"-H", "5"}), Words{"b"});
  }
}

TEST_F(Preflight, AnotherProgramIsLookedAtAgainWhenItHasChanged) {
  check_program(other_);
  fs::last_write_time(other_, fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_TRUE(starts_a_process(other_));
  fs::permissions(other_, fs::perms::owner_read);
  EXPECT_THROW(check_program(other_), base::Error);
}

} // namespace
