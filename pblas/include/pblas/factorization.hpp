// SPDX-License-Identifier: BSD-3-Clause
// LU and Cholesky panel by panel: between two panels the matrix may move to other processes, where another object goes
// on.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace pblas {

/// State between two panels, the same on all processes.
struct Progress {
  std::int64_t next = 0;            ///< columns that are done
  std::int64_t info = 0;            ///< as getrf's or potrf's
  std::vector<std::int64_t> pivots; ///< LU: the row that each of the first `next` rows changed places with, from 0
};

/// A factorization under way. Collective over the grid of the matrix, steps and end.
class Factorization {
public:
  /// progress: of this one so far; is kept up to date, and outlives it. columns: of the whole factorization
  Factorization(Progress& progress, std::int64_t columns) : progress_(progress), columns_(columns) {}
  virtual ~Factorization() = default;
  Factorization(const Factorization&) = delete;
  Factorization& operator=(const Factorization&) = delete;

  /// The next panel, and what it changes in the matrix. works_ahead: the panel after it is factored and sent meanwhile;
  /// the matrix is not whole then before the step after this one. @throws Error{mpi_failure}, bad_alloc: not agreed
  virtual void step(bool works_ahead) = 0;
  virtual bool is_done() const { return progress_.next >= columns_; }
  bool is_whole() const { return !is_ahead_; }
  void run() {
    while (!is_done()) step(true);
  }

protected:
  Progress& progress_;
  const std::int64_t columns_;
  bool is_ahead_ = false;
};

enum class FactorKind : int { lu, lower, upper, none }; ///< Cholesky in one of the triangles

/// Of the whole matrix that a descriptor (DTYPE_ 1 or 601) and this process's local array describe, type s d c z; from
/// column progress.next on. Collective over the descriptor's context.
std::unique_ptr<Factorization> go_on(FactorKind kind, char type, void* local, const int* desc, Progress& progress);

/// IPIV as p?getrs wants it for the rows of this process; pivots count from 0. @param ipiv  LOCr(M_A) integers at least
void local_pivots(const int* desc, const std::vector<std::int64_t>& pivots, int* ipiv);

} // namespace pblas
