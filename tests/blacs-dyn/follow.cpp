// SPDX-License-Identifier: BSD-3-Clause
#include "follow.hpp"

#include <cstdio>
#include <fstream>

#include "dyngrid/control.h"
#include "dyngrid/redist.h"

namespace follow {

void fail(const std::string& what) {
  std::fprintf(stderr, "FAILED: %s [%s]\n", what.c_str(), dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

dyngrid_matrix* create(const std::string& name, char type, std::int64_t m, std::int64_t n, std::int64_t mb,
                       std::int64_t nb) {
  dyngrid_matrix* a = nullptr;
  expect(dyngrid_matrix_create(name.c_str(), type, m, n, mb, nb, &a) == 0, "create " + name);
  return a;
}

int all_right() {
  if (dyngrid_is_first() != 0) std::printf("all right\n");
  return dyngrid_finalize();
}

void agreed(int status, int wanted, const std::string& what) {
  int least = 0, most = 0;
  MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  expect(least == wanted && most == wanted, what + ": " + std::to_string(least) + " .. " + std::to_string(most));
  expect(status >= 0 || std::strlen(dyngrid_last_message()) > 15, what + ": a message");
}

std::vector<int> ids_here() {
  int size = 0;
  MPI_Comm_size(dyngrid_comm(), &size);
  std::vector<int> ids(static_cast<std::size_t>(size));
  const int mine = dyngrid_process_id();
  MPI_Allgather(&mine, 1, MPI_INT, ids.data(), 1, MPI_INT, dyngrid_comm());
  return ids;
}

bool has_ended(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return true;
  const std::size_t end = text.rfind(')');
  char state = 0;
  long threads = 0; // the last one closes the sockets; the first is often a zombie before that
  return end == std::string::npos ||
         std::sscanf(text.c_str() + end + 2, "%c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
                     &state, &threads) != 2 ||
         (state == 'Z' && threads <= 1);
}

void request(const char* grid) {
  int nprow = 0, npcol = 0;
  expect(std::sscanf(grid, "%dx%d", &nprow, &npcol) == 2, "a grid as 2x3");
  expect(dyngrid_request(nprow, npcol) == 0, "request");
}

bool request_next(int count, char** grids, int& step) {
  if (step == count) return false;
  request(grids[step++]);
  return true;
}

void for_mine(const dyngrid_matrix* a, const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& f) {
  const int* d = dyngrid_desc(a);
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  if (myrow < 0) return;
  std::int64_t m_loc = 0, n_loc = 0, lld = 0;
  dyngrid_matrix_shape(a, &m_loc, &n_loc, &lld);
  const bool is_listed = d[0] == DYNGRID_DTYPE;
  const auto axis = [&](int n, int nb, const int* sizes, int nprocs, int src) {
    return is_listed ? gridmap::Axis::heterogeneous(n, {sizes, sizes + nb}, nprocs, src)
                     : gridmap::Axis::block_cyclic(n, nb, nprocs, src);
  };
  const auto rows = axis(d[2], d[4], d + 9, nprow, d[6]),
             cols = axis(d[3], d[5], d + 9 + (is_listed ? d[4] : 0), npcol, d[7]);
  expect(m_loc == rows.local_size(myrow) && n_loc == cols.local_size(mycol), "local size");
  for (std::int64_t j = 0; j < n_loc; ++j)
    for (std::int64_t i = 0; i < m_loc; ++i) f(i + j * lld, rows.to_global(i, myrow), cols.to_global(j, mycol));
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

template void fill_as<float>(dyngrid_matrix*, int);
template std::int64_t wrong_as<float>(const dyngrid_matrix*, int);
template void fill_as<double>(dyngrid_matrix*, int);
template std::int64_t wrong_as<double>(const dyngrid_matrix*, int);
template void fill_as<std::complex<float>>(dyngrid_matrix*, int);
template std::int64_t wrong_as<std::complex<float>>(const dyngrid_matrix*, int);
template void fill_as<std::complex<double>>(dyngrid_matrix*, int);
template std::int64_t wrong_as<std::complex<double>>(const dyngrid_matrix*, int);
template void fill_as<std::int32_t>(dyngrid_matrix*, int);
template std::int64_t wrong_as<std::int32_t>(const dyngrid_matrix*, int);

std::int64_t unequal(void* context, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes) {
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

void fill(dyngrid_matrix* a, char type, int salt) {
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
std::int64_t wrong(const dyngrid_matrix* a, char type, int salt) {
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
