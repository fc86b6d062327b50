// SPDX-License-Identifier: BSD-3-Clause
// Problems of a Slurm configuration for applications that grow and shrink, and their remedies: pure.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shared/findings.hpp"
#include "shared/launch.hpp"
#include "words.hpp"

namespace slurm {

/// The findings.
struct Site {
  std::vector<std::string> missing; ///< commands that are not there
  std::string trouble;              ///< not empty: the reason why the controller does not answer
  std::map<std::string, std::string> config;
  std::vector<Partition> partitions;
  std::string launcher_trouble; ///< not empty: no mpirun
  command::Mpi mpi = command::Mpi::open_mpi;
  command::Version mpi_version{};
  bool has_ompi_server = true;
  std::vector<std::pair<std::string, std::string>> interfaces; ///< name, IPv4 address
};

/// In the order of need. `request`: partitions and interface that the user named.
std::vector<command::Finding> judge(const Site& site, const Request& request);

} // namespace slurm
