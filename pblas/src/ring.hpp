// SPDX-License-Identifier: BSD-3-Clause
// Slices of all processes of a row or a column of the grid, on each of them.
#pragma once
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

/// Hands slices round a ring: in each step each process sends on what it received last. start(), any number of
/// advance(), finish(). One round at a time on a communicator.
template <class T> class Ring {
public:
  /// @param rank, size  of this process in comm, and of comm
  Ring(MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank), size_(size) {}
  ~Ring() { base::call_off(2, requests_); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// Slice r is elements offsets[r] .. offsets[r+1]-1 of buffer; mine is at `mine`, there or elsewhere. All stay until
  /// finish().
  void start(T* buffer, const std::int64_t* offsets, const T* mine) {
    buffer_ = buffer;
    offsets_ = offsets;
    mine_ = mine;
    step_ = 0;
    post();
  }
  /// Does what can be done without waiting.
  void advance() {
    while (step_ < size_ - 1) {
      int is_done = 0;
      base::check_mpi(MPI_Testall(2, requests_, &is_done, MPI_STATUSES_IGNORE), "MPI_Testall");
      if (!is_done) return;
      ++step_;
      post();
    }
  }
  void finish() {
    while (step_ < size_ - 1) {
      base::check_mpi(MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE), "MPI_Waitall");
      ++step_;
      post();
    }
  }
  bool is_done() const { return step_ >= size_ - 1; }

private:
  /// Empty slices are not sent.
  void post() {
    requests_[0] = requests_[1] = MPI_REQUEST_NULL;
    if (step_ >= size_ - 1) return;
    const int out = (rank_ - step_ + size_) % size_, in = (rank_ - step_ - 1 + size_) % size_;
    const int next = (rank_ + 1) % size_, before = (rank_ - 1 + size_) % size_;
    const auto length = [&](int r) { return blas::to_count(offsets_[r + 1] - offsets_[r]); };
    if (length(in) > 0)
      base::check_mpi(MPI_Irecv(buffer_ + offsets_[in], length(in), blas::mpi_type<T>(), before, base::tag_panel, comm_,
                                &requests_[0]),
                      "MPI_Irecv");
    if (length(out) > 0)
      base::check_mpi(MPI_Isend(step_ == 0 ? mine_ : buffer_ + offsets_[out], length(out), blas::mpi_type<T>(), next,
                                base::tag_panel, comm_, &requests_[1]),
                      "MPI_Isend");
  }

  MPI_Comm comm_;
  int rank_, size_, step_ = 0;
  T* buffer_ = nullptr;
  const std::int64_t* offsets_ = nullptr;
  const T* mine_ = nullptr;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

/// A Ring, or where there are processes to read, InPlace.
template <class T> class Slices {
public:
  Slices(MPI_Comm comm, int rank, int size, const std::vector<std::int64_t>& processes)
      : rank_(base::at(rank)), ring_(comm, rank, size) {
    if (!processes.empty()) in_place_.emplace(comm, rank, processes);
  }
  /// Mine is in the buffer, which may be filled anew after finish().
  void start(T* buffer, const std::int64_t* offsets) {
    if (in_place_)
      in_place_->start(reinterpret_cast<char*>(buffer), offsets, sizeof(T));
    else
      ring_.start(buffer, offsets, buffer + offsets[rank_]);
  }
  /// Mine stays as it is until it has been read.
  void start(T* buffer, const std::int64_t* offsets, const T* mine) {
    if (in_place_)
      in_place_->start(reinterpret_cast<char*>(buffer), offsets, sizeof(T), mine);
    else
      ring_.start(buffer, offsets, mine);
  }
  /// Whether others have read my slice of the round that began last, or of the one before it. After finish().
  bool has_been_read(Round round, bool waits) { return !in_place_ || in_place_->has_been_read(round, waits); }
  void advance() { in_place_ ? in_place_->advance() : ring_.advance(); }
  void finish() { in_place_ ? in_place_->finish() : ring_.finish(); }
  bool is_done() const { return in_place_ ? in_place_->is_done() : ring_.is_done(); }

private:
  std::size_t rank_;
  Ring<T> ring_;
  std::optional<InPlace> in_place_;
};

/// The lengths of slices as Ring wants them: where each begins, and the end of the last.
inline std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> offsets(lengths.size() + 1, 0);
  for (std::size_t r = 0; r < lengths.size(); ++r) offsets[r + 1] = offsets[r] + lengths[r];
  return offsets;
}

} // namespace pblas
