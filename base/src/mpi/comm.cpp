// SPDX-License-Identifier: BSD-3-Clause
#include "base/mpi/comm.hpp"

#include <exception>

#include "base/mpi/check.hpp"

namespace base {

Comm Comm::adopt(MPI_Comm comm) {
  Comm owner;
  owner.comm_ = comm;
  if (comm != MPI_COMM_NULL) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return owner;
}

Comm Comm::duplicate(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  return adopt(copy);
}

Comm& Comm::operator=(Comm&& other) noexcept {
  if (this != &other) {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    comm_ = other.release();
  }
  return *this;
}

Comm::~Comm() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (comm_ == MPI_COMM_NULL || finalized || std::uncaught_exceptions() > 0) return;
  MPI_Comm_free(&comm_);
}

int Comm::rank() const {
  int rank = -1;
  check_mpi(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
  return rank;
}

int Comm::size() const {
  int size = 0;
  check_mpi(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
  return size;
}

void Comm::close() {
  if (comm_ != MPI_COMM_NULL) check_mpi(MPI_Comm_free(&comm_), "MPI_Comm_free");
}

void Comm::disconnect() {
  if (comm_ != MPI_COMM_NULL) check_mpi(MPI_Comm_disconnect(&comm_), "MPI_Comm_disconnect");
}

Group Group::of(MPI_Comm comm) {
  Group owner;
  check_mpi(MPI_Comm_group(comm, &owner.group_), "MPI_Comm_group");
  return owner;
}

Group Group::with_ranks(const std::vector<int>& ranks) const {
  Group owner;
  check_mpi(MPI_Group_incl(group_, static_cast<int>(ranks.size()), ranks.data(), &owner.group_), "MPI_Group_incl");
  return owner;
}

Group Group::common_with(const Group& other) const {
  Group owner;
  check_mpi(MPI_Group_intersection(group_, other.group_, &owner.group_), "MPI_Group_intersection");
  return owner;
}

Group& Group::operator=(Group&& other) noexcept {
  std::swap(group_, other.group_);
  return *this;
}

Group::~Group() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (group_ != MPI_GROUP_NULL && group_ != MPI_GROUP_EMPTY && !finalized) MPI_Group_free(&group_);
}

int Group::size() const {
  int size = 0;
  if (group_ != MPI_GROUP_NULL) check_mpi(MPI_Group_size(group_, &size), "MPI_Group_size");
  return size;
}

bool Group::is_same_as(const Group& other) const {
  int how = MPI_UNEQUAL;
  check_mpi(MPI_Group_compare(group_, other.group_, &how), "MPI_Group_compare");
  return how == MPI_IDENT;
}

} // namespace base
