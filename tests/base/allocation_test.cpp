// SPDX-License-Identifier: BSD-3-Clause
#include "base/allocation.hpp"

#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "../temporary_folder.hpp"

namespace {

using Variables = std::map<std::string, std::string>;
using Hosts = std::vector<std::string>;

base::VariableOf of(const Variables& variables) {
  return [&variables](const char* name) {
    const auto set = variables.find(name);
    return set == variables.end() ? "" : set->second;
  };
}
Hosts hosts(const Variables& variables) {
  return base::allocated_hosts(of(variables));
}
int count(const Variables& variables) {
  return base::count_allocated_hosts(of(variables));
}

/// Lists of hosts in files of a test.
class Allocation : public testing::Test {
protected:
  std::string file(const std::string& content) {
    const std::string path = folder_.path + "/hosts" + std::to_string(files_++);
    std::ofstream(path) << content;
    return path;
  }
  int files_ = 0;
  TemporaryFolder folder_;
};

TEST_F(Allocation, NoneWithoutABatchSystem) {
  EXPECT_TRUE(hosts({}).empty());
  EXPECT_EQ(count({}), 0);
  EXPECT_EQ(count({{"PBS_NODEFILE", folder_.path + "/nothing"}}), 0); // of another host
  EXPECT_EQ(count({{"PBS_NODEFILE", file("")}, {"LSB_MCPU_HOSTS", ""}}), 0);
}

TEST_F(Allocation, NodesOfSlurm) {
  EXPECT_EQ(count({{"SLURM_JOB_NUM_NODES", "3"}}), 3);
  EXPECT_EQ(count({{"SLURM_JOB_NUM_NODES", "many"}}), 0);
  EXPECT_TRUE(hosts({{"SLURM_JOB_NUM_NODES", "3"}}).empty()); // it has no list of them
}

TEST_F(Allocation, ALineForEachSlot) {
  const std::string list = file("n2\nn2\nn1.cluster\nn1\n\nn2\n");
  for (const char* name : {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"}) {
    EXPECT_EQ(hosts({{name, list}}), (Hosts{"n2", "n1.cluster"})) << name;
    EXPECT_EQ(count({{name, list}}), 2) << name;
  }
  EXPECT_EQ(count({{"PBS_NODEFILE", file("n1\nn1")}}), 1);
}

TEST_F(Allocation, GridEngine) {
  const std::string list = file("n1.cluster 4 all.q@n1.cluster UNDEFINED\nn2.cluster 2 all.q@n2.cluster <NULL>\n");
  EXPECT_EQ(hosts({{"PE_HOSTFILE", list}}), (Hosts{"n1.cluster", "n2.cluster"}));
}

TEST_F(Allocation, LsfWithoutAFile) {
  EXPECT_EQ(hosts({{"LSB_MCPU_HOSTS", "n1 8 n2 4 n3 1"}}), (Hosts{"n1", "n2", "n3"}));
  EXPECT_EQ(count({{"LSB_MCPU_HOSTS", "n1 8"}}), 1);
  EXPECT_EQ(hosts({{"LSB_MCPU_HOSTS", "n1 8 n2 4"}, {"LSB_DJOB_HOSTFILE", file("n5\n")}}), Hosts{"n5"});
}

TEST_F(Allocation, VariablesByWhichMpirunFindsIt) {
  for (const char* name : {"SLURM_JOB_ID", "PBS_ENVIRONMENT", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE"})
    EXPECT_TRUE(base::is_of_an_allocation(name)) << name;
  for (const char* name : {"PATH", "PBS_DEFAULT", "PBS_O_WORKDIR", "LSB_DEFAULTQUEUE", "SGE_ROOT"}) // of the clients
    EXPECT_FALSE(base::is_of_an_allocation(name)) << name;
}

} // namespace
