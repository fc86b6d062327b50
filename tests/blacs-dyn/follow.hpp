// SPDX-License-Identifier: BSD-3-Clause
// Test programs of blacs-dyn run as the user's would: the spawned processes are the same program with the same
// arguments.
#pragma once
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "dyngrid.h"
#include "gridmap/axis.hpp"

namespace follow {

/// Ends the whole job with a message; a failing test must not leave others waiting.
[[noreturn]] void fail(const std::string& what);
inline void expect(bool is_true, const std::string& what) {
  if (!is_true) fail(what);
}
int world_rank();
/// Collective. The same as dyngrid_matrix_create.
dyngrid_matrix* create(const std::string& name, char type, std::int64_t m, std::int64_t n, std::int64_t mb,
                       std::int64_t nb);
/// The end of a program: the first process of the grid says so. @return the status of dyngrid_finalize
int all_right();

/// All processes of MPI_COMM_WORLD have this status, and each a message where it is an error.
void agreed(int status, int wanted, const std::string& what);

/// Numbers of the processes of the grid, row-major, as reported by themselves.
std::vector<int> ids_here();

/// Whether a process is gone with all its threads, or only its parent has not collected it yet.
bool has_ended(int pid);

/// Requests a grid that is written as 2x3.
void request(const char* grid);
/// Requests the next one of `count` grids. @return whether there is one
bool request_next(int count, char** grids, int& step);

/// Calls visit() on the first grid and after each change, on the processes of the grid, until it returns false. visit
/// asks for the next grid. A new process comes in at its first resize point. @return false: this process has left
template <class Visit> bool on_each_grid(Visit&& visit) {
  for (bool is_new = dyngrid_is_newcomer() != 0;; is_new = false) {
    if (!is_new && dyngrid_context() >= 0 && !visit()) return true;
    const int outcome = dyngrid_resize_point();
    expect(outcome >= 0, "resize point");
    if (outcome == DYNGRID_LEAVE) return false;
  }
}

/// Calls f(local index, global row, global column) for every element of mine.
void for_mine(const dyngrid_matrix* a, const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& f);

template <class T> T value(std::int64_t i, std::int64_t j, std::int64_t n, int salt) {
  const auto v = static_cast<double>(i * n + j + salt);
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return T(static_cast<typename T::value_type>(v), static_cast<typename T::value_type>(-v - 1));
  else
    return static_cast<T>(v);
}

// for float, double, both complex ones and int32
template <class T> void fill_as(dyngrid_matrix* a, int salt);
template <class T> std::int64_t wrong_as(const dyngrid_matrix* a, int salt);
void fill(dyngrid_matrix* a, char type, int salt);
std::int64_t wrong(const dyngrid_matrix* a, char type, int salt);

/// Unequal blocks that change with the grid. Rows in one block for each grid row, as 1 : 2 : 3 ..., the last one taking
/// the rest. Columns in blocks of 2, 0, 1, 2, 0, 1 ... for grid columns 0, 1, 2 ..., over and over.
std::int64_t unequal(void* context, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes);

} // namespace follow
