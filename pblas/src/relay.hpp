// SPDX-License-Identifier: BSD-3-Clause
// A buffer from one process of a row of the grid to all others, from neighbour to neighbour.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <mpi.h>

#include "base/index.hpp"
#include "base/mpi/check.hpp"
#include "base/mpi/wait.hpp"
#include "base/tags.hpp"
#include "blas.hpp"
#include "in_place.hpp"

namespace pblas {

/// start() on all, receive() when the data are needed, has_come() any number of times before, finish() before the
/// buffer is used for something else.
template <class T> class Relay {
public:
  Relay(MPI_Comm comm, int rank, int size, int tag) : comm_(comm), rank_(rank), size_(size), tag_(tag) {}
  ~Relay() {
    for (MPI_Request* request : {&in_, &out_}) base::call_off(1, request);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  void start(T* buffer, std::int64_t count, int root) {
    buffer_ = buffer, count_ = blas::to_count(count), root_ = root;
    if (size_ == 1 || count_ == 0) return;
    if (rank_ == root_)
      send();
    else
      base::check_mpi(MPI_Irecv(buffer_, count_, blas::mpi_type<T>(), (rank_ - 1 + size_) % size_, tag_, comm_, &in_),
                      "MPI_Irecv");
  }
  void receive() {
    if (in_ == MPI_REQUEST_NULL) return;
    base::check_mpi(MPI_Wait(&in_, MPI_STATUS_IGNORE), "MPI_Wait");
    pass_on();
  }
  /// receive() without waiting. @return whether the buffer is there
  bool has_come() {
    if (in_ == MPI_REQUEST_NULL) return true;
    int is_done = 0;
    base::check_mpi(MPI_Test(&in_, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    if (is_done != 0) pass_on();
    return is_done != 0;
  }
  void finish() {
    receive();
    base::check_mpi(MPI_Wait(&out_, MPI_STATUS_IGNORE), "MPI_Wait");
  }

private:
  void pass_on() {
    if ((rank_ + 1) % size_ != root_) send();
  }
  void send() {
    base::check_mpi(MPI_Isend(buffer_, count_, blas::mpi_type<T>(), (rank_ + 1) % size_, tag_, comm_, &out_),
                    "MPI_Isend");
  }

  MPI_Comm comm_;
  int rank_, size_, tag_, count_ = 0, root_ = 0;
  T* buffer_ = nullptr;
  MPI_Request in_ = MPI_REQUEST_NULL, out_ = MPI_REQUEST_NULL;
};

/// A panel from the process that has it to all others of comm: a Relay, or where there are processes to read, InPlace.
/// One at a time between two processes. What was started is finished before this ends, unless by an exception.
template <class T> class Panels {
public:
  Panels(MPI_Comm comm, int rank, int size, const std::vector<std::int64_t>& processes)
      : relay_(comm, rank, size, base::tag_relay), offsets_(base::at(size) + 1) {
    if (!processes.empty()) in_place_.emplace(comm, rank, processes, base::tag_relay, base::tag_relay_read);
  }
  void start(T* buffer, std::int64_t count, int root) {
    if (!in_place_) return relay_.start(buffer, count, root);
    // of all slices the one of root is not empty
    std::fill(offsets_.begin(), offsets_.begin() + root + 1, 0);
    std::fill(offsets_.begin() + root + 1, offsets_.end(), count);
    in_place_->start(reinterpret_cast<char*>(buffer), offsets_.data(), sizeof(T), buffer);
  }
  void receive() { in_place_ ? in_place_->finish() : relay_.receive(); }
  bool has_come() {
    if (!in_place_) return relay_.has_come();
    in_place_->advance();
    return in_place_->is_done();
  }
  void finish() {
    if (!in_place_) return relay_.finish();
    in_place_->finish();
    in_place_->has_been_read(Round::last, true);
  }

private:
  Relay<T> relay_;
  std::vector<std::int64_t> offsets_;
  std::optional<InPlace> in_place_;
};

} // namespace pblas
