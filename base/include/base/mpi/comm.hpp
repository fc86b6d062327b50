// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

namespace base {

/// Owner of one communicator. Freeing is collective, so `close()` is the normal way out; the destructor is the net
/// under it, and leaks on purpose after MPI_Finalize or while an exception unwinds, because a leak can be counted and a
/// hang cannot.
class Comm {
public:
  Comm() = default;
  static Comm adopt(MPI_Comm comm);     ///< MPI then returns the errors of this communicator
  static Comm duplicate(MPI_Comm comm); ///< collective over comm
  Comm(Comm&& other) noexcept : comm_(other.release()) {}
  Comm& operator=(Comm&& other) noexcept;
  ~Comm();

  MPI_Comm get() const { return comm_; }
  explicit operator bool() const { return comm_ != MPI_COMM_NULL; }
  int rank() const;
  int size() const;
  void close();      ///< MPI_Comm_free
  void disconnect(); ///< MPI_Comm_disconnect: for the intercommunicator between a process group and its owner only
  MPI_Comm release() noexcept { return std::exchange(comm_, MPI_COMM_NULL); }

private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Owner of one group of processes. All is local.
class Group {
public:
  Group() = default;
  static Group of(MPI_Comm comm);
  Group with_ranks(const std::vector<int>& ranks) const; ///< those, in their order
  Group common_with(const Group& other) const;
  Group(Group&& other) noexcept : group_(std::exchange(other.group_, MPI_GROUP_NULL)) {}
  Group& operator=(Group&& other) noexcept;
  ~Group();

  MPI_Group get() const { return group_; }
  int size() const;
  bool is_same_as(const Group& other) const; ///< in their order, too

private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

} // namespace base
