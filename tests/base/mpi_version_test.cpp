// SPDX-License-Identifier: BSD-3-Clause
#include "base/mpi_version.hpp"

#include <gtest/gtest.h>

using base::Mpi;
using base::mpi_version_in;
using base::Version;
using base::version_in;

TEST(MpiVersion, FirstNumbersOfAText) {
  EXPECT_EQ(version_in("mpirun (Open MPI) 4.1.4\n"), (Version{4, 1, 4}));
  EXPECT_EQ(version_in("OpenPMIx 4.2.2, repo rev"), (Version{4, 2, 2}));
  EXPECT_EQ(version_in("Version:   4.0rc1 of 7"), (Version{4, 0, 0}));
  EXPECT_EQ(version_in("none here, 7 times"), (Version{0, 0, 0}));
  EXPECT_EQ(version_in("v 12.0.31.9"), (Version{12, 0, 31}));
}

TEST(MpiVersion, WhoseText) {
  EXPECT_EQ(mpi_version_in("mpirun (Open MPI) 4.1.4\n\nReport bugs to ...\n").mpi, Mpi::open_mpi);
  EXPECT_EQ(mpi_version_in("mpiexec (OpenRTE) 4.1.4\n").mpi, Mpi::open_mpi);
  EXPECT_EQ(mpi_version_in("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4").version, (Version{4, 1, 4}));
  EXPECT_EQ(mpi_version_in("HYDRA build details:\n    Version:               4.0.2\n").mpi, Mpi::mpich);
  EXPECT_EQ(mpi_version_in("").mpi, Mpi::unknown);
}

TEST(MpiVersion, WhichMpichSpawns) {
  const auto over_ucx = [](const std::string& version) {
    return base::starts_processes(mpi_version_in("MPICH Version:\t" + version + "\nMPICH Device:\tch4:ucx\n"));
  };
  EXPECT_FALSE(over_ucx("3.4.1"));
  EXPECT_FALSE(over_ucx("4.0.2"));
  EXPECT_FALSE(over_ucx("4.2.1")); // Debian 13
  EXPECT_TRUE(over_ucx("4.3.0"));
  const std::string hydra = "HYDRA build details:\n    Version:     4.2.1\n    Configure options: '--with-device=ch4:";
  EXPECT_FALSE(base::starts_processes(mpi_version_in(hydra + "ucx'\n")));
  EXPECT_TRUE(base::starts_processes(mpi_version_in(hydra + "ofi'\n")));
  EXPECT_TRUE(base::starts_processes(mpi_version_in("MPICH Version:\t4.0.2\nMPICH Device:\tch4:ofi\n")));
  EXPECT_TRUE(base::starts_processes(mpi_version_in("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4")));
  EXPECT_TRUE(base::starts_processes(mpi_version_in("")));
}

TEST(MpiVersion, WhichOpenMpiHasPrrte) {
  EXPECT_TRUE(base::is_open_mpi_5(mpi_version_in("Open MPI v5.0.7, package: Debian OpenMPI, ident: 5.0.7")));
  EXPECT_TRUE(base::is_open_mpi_5(mpi_version_in("mpirun (Open MPI) 6.0.0\n")));
  EXPECT_FALSE(base::is_open_mpi_5(mpi_version_in("mpirun (Open MPI) 4.1.6\n")));
  EXPECT_FALSE(base::is_open_mpi_5(mpi_version_in("MPICH Version:\t5.0.0\n")));
}

TEST(MpiVersion, WhichOpenMpiSpawnsOnOtherHosts) {
  EXPECT_TRUE(base::starts_processes_elsewhere(mpi_version_in("mpirun (Open MPI) 4.1.6\n")));
  EXPECT_FALSE(base::starts_processes_elsewhere(mpi_version_in("mpirun (Open MPI) 5.0.7\n")));
  EXPECT_TRUE(base::starts_processes_elsewhere(mpi_version_in("Open MPI v6.0.0rc2, package: Debian OpenMPI")));
  EXPECT_TRUE(base::starts_processes_elsewhere(mpi_version_in("MPICH Version:\t5.0.0\n")));
}
