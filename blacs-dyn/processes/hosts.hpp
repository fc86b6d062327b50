// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <string>
#include <vector>

#include <mpi.h>

#include "processes/names.hpp"

namespace blacs_dyn {

/// Where mpirun started what: found once, at the start.
class Hosts {
public:
  /// On several hosts every group gets one of them, since children of one spawn must not span hosts: `policy` receives
  /// the hosts. Collective over world, the processes of mpirun or the part of them that begins a pool. @return cores of
  /// the hosts where processes are or may come; 0: of one of them it is not known. Each process asks what
  /// started it, and may get another answer. @throws Error{bad_argument}, the same on all, for a host with two names
  int find(MPI_Comm world, GroupPolicy& policy);
  bool are_several() const { return are_several_; } ///< of mpirun; those of other pools too
  /// Of a host; one that was not seen yet is taken for one like this. 0: not known.
  int cores_of(const std::string& host) const;
  const std::vector<std::string>& of_ranks() const { return of_ranks_; } ///< of world

private:
  /// What the processes on it call a host that the user may write in another way; "localhost" is that of process 0.
  std::string known_as(const std::string& name) const;

  bool are_several_ = false;
  std::map<std::string, int> cores_;
  std::vector<std::string> of_ranks_;
};

} // namespace blacs_dyn
