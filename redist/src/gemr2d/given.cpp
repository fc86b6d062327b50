// SPDX-License-Identifier: BSD-3-Clause
#include "gemr2d/given.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "base/status.hpp"
#include "exec/mpi_check.hpp"
#include "redist/blacs.hpp"
#include "redist/descriptor.hpp"

namespace redist::detail {

using base::Error;
using base::Status;
using gridmap::Axis;

namespace {

Axis axis_of_sizes(int n, const int* sizes, int count, int nprocs, int src) {
  return Axis::heterogeneous(n, {sizes, sizes + count}, nprocs, src);
}

} // namespace

void stop(const std::string& message, int code) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::fflush(stderr);
  std::exit(code);
}

GivenDescriptor given_by(const int* desc, int i, int j) {
  GivenDescriptor s;
  const GridPosition here = position_in(desc[ctxt_at]);
  if (!here.is_inside()) return s;
  s = {here.nprow,  here.npcol,  here.myrow,    here.mycol,    desc[m_at], desc[n_at],
       desc[mb_at], desc[nb_at], desc[rsrc_at], desc[csrc_at], i - 1,      j - 1};
  s.listed = desc[dtype_at] == Descriptor::heterogeneous ? 1 : 0;
  return s;
}

void check_given(GivenDescriptor& s, const int* desc, const char* letter, const std::string& name) {
  if (s.nprow < 0) return;
  std::int64_t rows = 0;
  if (s.listed != 0) {
    const GridPosition grid{s.nprow, s.npcol, s.myrow, s.mycol};
    const int entry = -check_descriptor(desc, 0, grid, 0);
    if (entry != 0 && entry != lld_at + 1) {
      try {
        read_descriptor(desc, 0, grid);
      } catch (const Error& error) {
        stop(fmt::format("{}: {}: {} [process ({}, {})]", name, letter, error.what(), s.myrow, s.mycol), 1);
      }
    }
    std::uint64_t hash = 1469598103934665603u; // FNV-1a over the sizes
    for (std::int64_t k = 0; k < std::int64_t{s.mb} + s.nb; ++k)
      hash = (hash ^ static_cast<std::uint32_t>(desc[Descriptor::fixed + k])) * 1099511628211u;
    s.sizes_hash[0] = static_cast<int>(hash & 0x7fffffff);
    s.sizes_hash[1] = static_cast<int>(hash >> 33);
    if (entry == 0) return;
    rows = axis_of_sizes(desc[m_at], desc + Descriptor::fixed, s.mb, s.nprow, s.rsrc).local_size(s.myrow);
  } else {
    if (s.mb < 1 || s.rsrc < 0 || s.rsrc >= s.nprow || s.m < 0) return;
    rows = Axis::block_cyclic(s.m, s.mb, s.nprow, s.rsrc).local_size(s.myrow);
  }
  if (desc[lld_at] < rows || (s.listed != 0 && desc[lld_at] < 1))
    stop(fmt::format("{}: LLD of {} is {}, expected at least {} [process ({}, {})]", name, letter, desc[lld_at],
                     std::max<std::int64_t>(rows, s.listed), s.myrow, s.mycol),
         1);
}

std::string assemble(const std::vector<CallOfRank>& calls, GivenDescriptor Call::*which, const char* letter,
                     AgreedMatrix& made) {
  Grid& grid = made.layout.grid;
  for (std::size_t r = 0; r < calls.size(); ++r) {
    const GivenDescriptor& s = calls[r].call.*which;
    if (s.nprow < 0) continue;
    if (made.given == nullptr) {
      made.given = &s;
      made.root = static_cast<int>(r);
      grid.nprow = s.nprow;
      grid.npcol = s.npcol;
      grid.ranks.assign(static_cast<std::size_t>(s.nprow) * static_cast<std::size_t>(s.npcol), -1);
    }
    if (!s.is_alike(*made.given)) return fmt::format("{}: its descriptor or corner differs between processes", letter);
    grid.ranks[static_cast<std::size_t>(s.myrow * s.npcol + s.mycol)] = static_cast<int>(r);
  }
  if (made.given == nullptr) return fmt::format("{}: no process of the context is in its grid", letter);
  const GivenDescriptor& s = *made.given;
  if (std::find(grid.ranks.begin(), grid.ranks.end(), -1) != grid.ranks.end())
    return fmt::format("{}: the context does not hold all {} x {} processes of its grid", letter, s.nprow, s.npcol);
  const int m = calls[0].call.m, n = calls[0].call.n;
  if (s.rsrc < 0 || s.rsrc >= s.nprow || s.csrc < 0 || s.csrc >= s.npcol)
    return fmt::format("{}: first process is ({}, {}), expected one of the {} x {} grid", letter, s.rsrc, s.csrc,
                       s.nprow, s.npcol);
  if (s.mb < 1 || s.nb < 1) return fmt::format("{}: blocks are {} x {}, expected at least 1 x 1", letter, s.mb, s.nb);
  if (s.i < 0 || s.j < 0 || m < 0 || n < 0 || static_cast<std::int64_t>(s.i) + m > s.m ||
      static_cast<std::int64_t>(s.j) + n > s.n)
    return fmt::format("{}: {} x {} elements from ({}, {}) on do not lie in {} x {}", letter, m, n, s.i + 1, s.j + 1,
                       s.m, s.n);
  made.window = {s.i, s.j, m, n};
  return {};
}

void fill_axes(AgreedMatrix& made, const int* desc, const GivenDescriptor& mine, MPI_Comm comm) {
  const GivenDescriptor& s = *made.given;
  if (s.listed == 0) {
    made.layout.rows = Axis::block_cyclic(s.m, s.mb, s.nprow, s.rsrc);
    made.layout.cols = Axis::block_cyclic(s.n, s.nb, s.npcol, s.csrc);
    return;
  }
  std::vector<int> sizes(static_cast<std::size_t>(s.mb) + static_cast<std::size_t>(s.nb));
  if (mine.nprow >= 0) std::copy_n(desc + Descriptor::fixed, sizes.size(), sizes.begin());
  check(MPI_Bcast(sizes.data(), static_cast<int>(sizes.size()), MPI_INT, made.root, comm), "MPI_Bcast");
  made.layout.rows = axis_of_sizes(s.m, sizes.data(), s.mb, s.nprow, s.rsrc);
  made.layout.cols = axis_of_sizes(s.n, sizes.data() + s.mb, s.nb, s.npcol, s.csrc);
}

} // namespace redist::detail
