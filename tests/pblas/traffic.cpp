// SPDX-License-Identifier: BSD-3-Clause
// What a product sends, counted at MPI: as much as SUMMA, whose broadcasts bring every panel of A to the other columns
// of the grid and every panel of B to the other rows.
#include <algorithm>
#include <vector>

#include "spread.hpp"

namespace {

struct Traffic {
  std::int64_t messages = 0, collectives = 0; ///< bytes that this process causes
} traffic;

std::int64_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return std::int64_t{count} * size;
}
int others(MPI_Comm comm) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  return size - 1;
}

} // namespace

// Stand before MPI's; of a collective the bytes that the plainest algorithm sends.
extern "C" {
int MPI_Isend(const void* x, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  traffic.messages += bytes_of(count, type);
  return PMPI_Isend(x, count, type, to, tag, comm, request);
}
int MPI_Send(const void* x, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  traffic.messages += bytes_of(count, type);
  return PMPI_Send(x, count, type, to, tag, comm);
}
int MPI_Allreduce(const void* x, void* y, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  traffic.collectives += others(comm) > 0 ? 2 * bytes_of(count, type) : 0;
  return PMPI_Allreduce(x, y, count, type, op, comm);
}
int MPI_Bcast(void* x, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (rank == root) traffic.collectives += others(comm) * bytes_of(count, type);
  return PMPI_Bcast(x, count, type, root, comm);
}
int MPI_Allgather(const void* x, int count, MPI_Datatype type, void* y, int count_y, MPI_Datatype type_y,
                  MPI_Comm comm) {
  traffic.collectives += others(comm) * bytes_of(count_y, type_y);
  return PMPI_Allgather(x, count, type, y, count_y, type_y, comm);
}
int MPI_Allgatherv(const void* x, int count, MPI_Datatype type, void* y, const int* counts, const int* offsets,
                   MPI_Datatype type_y, MPI_Comm comm) {
  traffic.collectives += others(comm) * bytes_of(count, type);
  return PMPI_Allgatherv(x, count, type, y, counts, offsets, type_y, comm);
}
int MPI_Alltoallv(const void* x, const int* counts, const int* offsets, MPI_Datatype type, void* y, const int* counts_y,
                  const int* offsets_y, MPI_Datatype type_y, MPI_Comm comm) {
  for (int r = 0; r <= others(comm); ++r) traffic.messages += bytes_of(counts[r], type);
  return PMPI_Alltoallv(x, counts, offsets, type, y, counts_y, offsets_y, type_y, comm);
}
}

namespace {

using Sizes = std::vector<int>;

/// Local array and descriptor of zeros, which cost as much to send.
struct Spread {
  std::vector<int> desc;
  std::vector<double> local;
  Spread(const spread::Grid& grid, int m, int n, const Sizes& rows, const Sizes& cols) {
    const int m_loc = spread::Axis(m, rows, 0, grid.nprow).count[static_cast<std::size_t>(grid.myrow)];
    const int n_loc = spread::Axis(n, cols, 0, grid.npcol).count[static_cast<std::size_t>(grid.mycol)];
    const int lld = std::max(1, m_loc);
    desc = {601, grid.ctxt, m, n, static_cast<int>(rows.size()), static_cast<int>(cols.size()), 0, 0, lld};
    desc.insert(desc.end(), rows.begin(), rows.end());
    desc.insert(desc.end(), cols.begin(), cols.end());
    local.assign(static_cast<std::size_t>(lld) * static_cast<std::size_t>(std::max(1, n_loc)), 0);
  }
};

struct Product {
  int m, n, k;
  Sizes rows, cols, inner_of_a, inner_of_b;
};

std::int64_t all(std::int64_t mine) {
  PMPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return mine;
}

TEST(Traffic, OfAProductIsThatOfSumma) {
  const Product products[] = {{600, 600, 600, {64}, {64}, {64}, {64}},
                              {600, 500, 800, {64}, {64}, {64}, {64}},
                              {600, 500, 700, {64}, {32}, {100}, {7}},
                              {601, 503, 577, {90, 10, 30, 0, 200}, {5, 70}, {64, 0, 3}, {1000}},
                              {300, 900, 257, {300}, {450, 450}, {50}, {257}}};
  const double one = 1, zero = 0;
  const int from = 1;
  for (const auto& [p, q] : {std::pair{2, 3}, {3, 2}, {1, 6}, {6, 1}}) {
    const spread::Grid grid(p, q);
    for (const Product& x : products) {
      const Spread a(grid, x.m, x.k, x.rows, x.inner_of_a), b(grid, x.k, x.n, x.inner_of_b, x.cols);
      Spread c(grid, x.m, x.n, x.rows, x.cols);
      traffic = {};
      dyngrid_pdgemm_("N", "N", &x.m, &x.n, &x.k, &one, a.local.data(), &from, &from, a.desc.data(), b.local.data(),
                      &from, &from, b.desc.data(), &zero, c.local.data(), &from, &from, c.desc.data());
      const Traffic seen = traffic;
      const std::int64_t messages = all(seen.messages), collectives = all(seen.collectives);
      const std::int64_t m = x.m, n = x.n, k = x.k, summa = 8 * (m * k * (q - 1) + k * n * (p - 1));
      EXPECT_EQ(messages, summa) << p << "x" << q << ", m = " << m;
      EXPECT_LE(10 * (messages + collectives), 11 * summa) << p << "x" << q << ", m = " << m;
    }
  }
}

} // namespace
