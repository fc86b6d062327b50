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
#include <string>
#include <vector>

#include "dyngrid.h"
#include "gridmap/axis.hpp"

namespace follow {

/// Ends the whole job with a word; a test that fails must not leave others waiting.
[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "FAILED: %s [%s]\n", what.c_str(), dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}
inline void expect(bool is_true, const std::string& what) {
  if (!is_true) fail(what);
}
/// All processes of MPI_COMM_WORLD have this status, and each a message where it is an error.
inline void agreed(int status, int wanted, const std::string& what) {
  int least = 0, most = 0;
  MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  expect(least == wanted && most == wanted, what + ": " + std::to_string(least) + " .. " + std::to_string(most));
  expect(status >= 0 || std::strlen(dyngrid_last_message()) > 15, what + ": a message");
}

/// Numbers of the processes of the grid, row-major, as they say themselves.
inline std::vector<int> ids_here() {
  int size = 0;
  MPI_Comm_size(dyngrid_comm(), &size);
  std::vector<int> ids(static_cast<std::size_t>(size));
  const int mine = dyngrid_process_id();
  MPI_Allgather(&mine, 1, MPI_INT, ids.data(), 1, MPI_INT, dyngrid_comm());
  return ids;
}

/// Asks for a grid that is written as 2x3.
inline void request(const char* grid) {
  int nprow = 0, npcol = 0;
  expect(std::sscanf(grid, "%dx%d", &nprow, &npcol) == 2, "a grid as 2x3");
  expect(dyngrid_request(nprow, npcol) == 0, "request");
}

/// Calls f(local index, global row, global column) for every element of mine.
template <class F> void for_mine(const dyngrid_matrix* a, F&& f) {
  const int* d = dyngrid_desc(a);
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  if (myrow < 0) return;
  std::int64_t m_loc = 0, n_loc = 0, lld = 0;
  dyngrid_matrix_shape(a, &m_loc, &n_loc, &lld);
  const bool is_listed = d[0] == DYNGRID_DTYPE;
  const auto axis = [&](int n, int nb, const int* sizes, int nprocs) {
    return is_listed ? gridmap::Axis::heterogeneous(n, {sizes, sizes + nb}, nprocs)
                     : gridmap::Axis::block_cyclic(n, nb, nprocs);
  };
  const auto rows = axis(d[2], d[4], d + 9, nprow), cols = axis(d[3], d[5], d + 9 + (is_listed ? d[4] : 0), npcol);
  expect(m_loc == rows.local_size(myrow) && n_loc == cols.local_size(mycol), "local size");
  for (std::int64_t j = 0; j < n_loc; ++j)
    for (std::int64_t i = 0; i < m_loc; ++i) f(i + j * lld, rows.to_global(i, myrow), cols.to_global(j, mycol));
}

template <class T> T value(std::int64_t i, std::int64_t j, std::int64_t n, int salt) {
  const auto v = static_cast<double>(i * n + j + salt);
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return T(static_cast<typename T::value_type>(v), static_cast<typename T::value_type>(-v - 1));
  else
    return static_cast<T>(v);
}

template <class T> void fill_as(dyngrid_matrix* a, int salt) {
  auto* x = static_cast<T*>(dyngrid_local(a));
  const int n = dyngrid_desc(a)[3];
  for_mine(a, [&](std::int64_t at, std::int64_t i, std::int64_t j) { x[at] = value<T>(i, j, n, salt); });
}
template <class T> std::int64_t wrong_as(const dyngrid_matrix* a, int salt) {
  const auto* x = static_cast<const T*>(dyngrid_local(a));
  const int n = dyngrid_desc(a)[3];
  std::int64_t wrong = 0;
  for_mine(a, [&](std::int64_t at, std::int64_t i, std::int64_t j) { wrong += x[at] != value<T>(i, j, n, salt); });
  return wrong;
}

/// Unequal blocks that change with the grid: rows in one block for each grid row, as 1 : 2 : 3 ..., the last one taking
/// what is left; columns in blocks of 2, 0, 1, 2, 0, 1 ... for grid columns 0, 1, 2 ..., over and over.
inline std::int64_t unequal(void* context, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes) {
  const int nprocs = axis == 'R' ? nprow : npcol;
  if (*static_cast<const int*>(context) != 42) return -1;
  std::int64_t left = length;
  for (int p = 0; p < nprocs && sizes; ++p) {
    sizes[p] = axis == 'R' ? (p == nprocs - 1 ? left : length * (p + 1) / (std::int64_t{nprocs} * (nprocs + 1) / 2))
                           : (p + 2) % 3 + (nprocs == 2 && p == 0);
    left -= sizes[p];
  }
  return nprocs;
}

inline void fill(dyngrid_matrix* a, char type, int salt) {
  switch (type) {
  case 's':
    return fill_as<float>(a, salt);
  case 'd':
    return fill_as<double>(a, salt);
  case 'c':
    return fill_as<std::complex<float>>(a, salt);
  case 'z':
    return fill_as<std::complex<double>>(a, salt);
  default:
    return fill_as<std::int32_t>(a, salt);
  }
}
inline std::int64_t wrong(const dyngrid_matrix* a, char type, int salt) {
  switch (type) {
  case 's':
    return wrong_as<float>(a, salt);
  case 'd':
    return wrong_as<double>(a, salt);
  case 'c':
    return wrong_as<std::complex<float>>(a, salt);
  case 'z':
    return wrong_as<std::complex<double>>(a, salt);
  default:
    return wrong_as<std::int32_t>(a, salt);
  }
}

} // namespace follow
