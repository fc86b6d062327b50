// SPDX-License-Identifier: BSD-3-Clause
#include "arguments.hpp"

#include <cctype>
#include <cstring>

#include "base/fnv1a.hpp"
#include "base/index.hpp"
#include "base/mpi/check.hpp"
#include "redist/descriptor.hpp"

namespace pblas {

using base::at;
using gridmap::Axis;

namespace {

// entries of a descriptor, from 0; those of the PBLAS's own type, whose first blocks have sizes of their own
enum Entry { dtype_, ctxt_, m_, n_, mb_, nb_, rsrc_, csrc_, lld_, sizes_ };
enum FirstBlockEntry { imb_ = 4, inb_, mb2_, nb2_, rsrc2_, csrc2_, lld2_ };
constexpr int with_first_block = 2;

redist::GridPosition in_grid(const Position& here) {
  return {here.nprow, here.npcol, here.myrow, here.mycol};
}

Axis axis_with_first_block(std::int64_t n, int first, int nb, int src, int nprocs) {
  std::vector<std::int64_t> sizes{first};
  for (std::int64_t done = first; done < n; done += nb) sizes.push_back(nb);
  return {n, std::move(sizes), src, nprocs};
}

/// Whether the PBLAS's own type can be read; which entry is wrong they say themselves.
bool is_readable(const int* desc, const Position& here) {
  if (desc[m_] < 0 || desc[n_] < 0 || desc[imb_] < 1 || desc[inb_] < 1 || desc[mb2_] < 1 || desc[nb2_] < 1)
    return false;
  if (desc[rsrc2_] < 0 || desc[rsrc2_] >= here.nprow || desc[csrc2_] < 0 || desc[csrc2_] >= here.npcol) return false;
  const std::int64_t rows =
      axis_with_first_block(desc[m_], desc[imb_], desc[mb2_], desc[rsrc2_], here.nprow).local_size(here.myrow);
  return desc[lld2_] >= std::max<std::int64_t>(1, rows);
}

} // namespace

char capital(char letter) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
}

void Blame::letter(char given, const char* letters, int position) {
  argument(given != '\0' && std::strchr(letters, capital(given)) != nullptr, position);
}

void Blame::matrix(const MatrixArgument& a, SizeArgument m, SizeArgument n, int ctxt, const Position& here) {
  argument(*m.value >= 0, m.position);
  argument(*n.value >= 0, n.position);
  argument(*a.i >= 1, a.position - 2);
  argument(*a.j >= 1, a.position - 1);
  if (a.desc[dtype_] == with_first_block)
    entry(is_readable(a.desc, here), a.position, dtype_ + 1);
  else if (const int wrong = redist::check_descriptor(a.desc, 0, in_grid(here), a.position); wrong != 0)
    entry(false, -wrong / 100, -wrong % 100 + (is_pblas_ && !is_listed(a) && -wrong % 100 > mb_ ? 2 : 0));
  entry(a.desc[ctxt_] == ctxt, a.position, ctxt_ + 1);
  if (*m.value <= 0 || *n.value <= 0) return;
  argument(*a.i <= a.desc[m_], a.position - 2);
  argument(*a.j <= a.desc[n_], a.position - 1);
  // a corner that is outside is blamed alone
  argument(*a.i > a.desc[m_] || std::int64_t{*a.i} + *m.value - 1 <= a.desc[m_],
           is_pblas_ ? a.position - 2 : m.position);
  argument(*a.j > a.desc[n_] || std::int64_t{*a.j} + *n.value - 1 <= a.desc[n_],
           is_pblas_ ? a.position - 1 : n.position);
}

void Blame::agree(MPI_Comm comm, const std::vector<std::pair<std::int64_t, int>>& said) {
  std::vector<std::int64_t> least{first_};
  for (const auto& [value, code] : said) least.insert(least.end(), {value, -value});
  base::check_mpi(MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT64_T, MPI_MIN, comm),
                  "MPI_Allreduce");
  first_ = static_cast<int>(least[0]);
  for (std::size_t k = 0; k < said.size(); ++k) set(least[2 * k + 1] == -least[2 * k + 2], said[k].second);
}

void report(int ctxt, const char* name, int info) {
  const int argument = -info;
  pxerbla_(&ctxt, name, &argument, std::strlen(name));
}

void add_said(std::vector<std::pair<std::int64_t, int>>& said, const MatrixArgument& a) {
  said.emplace_back(*a.i, 100 * (a.position - 2));
  said.emplace_back(*a.j, 100 * (a.position - 1));
  for (const int place : {dtype_, m_, n_, mb_, nb_, rsrc_, csrc_})
    said.emplace_back(a.desc[place], 100 * a.position + place + 1);
  base::Fnv1a sizes;
  const bool has_sizes = is_listed(a) && a.desc[mb_] > 0 && a.desc[nb_] > 0 && a.desc[mb_] <= Axis::most_sizes &&
                         a.desc[nb_] <= Axis::most_sizes;
  for (int k = 0; has_sizes && k < a.desc[mb_] + a.desc[nb_]; ++k) sizes.number(a.desc[sizes_ + k]);
  said.emplace_back(sizes.positive(), 100 * a.position + sizes_ + 1);
}

bool is_listed(const MatrixArgument& a) {
  return a.desc[dtype_] == redist::Descriptor::heterogeneous;
}

bool is_known(const MatrixArgument& a) {
  const int* d = a.desc;
  if (d[dtype_] == with_first_block) return d[rsrc2_] >= 0 && d[csrc2_] >= 0;
  return is_listed(a) || (d[dtype_] == redist::Descriptor::block_cyclic && d[rsrc_] >= 0 && d[csrc_] >= 0);
}

Axes axes_of(const int* desc, const Position& here) {
  if (desc[dtype_] == with_first_block)
    return {axis_with_first_block(desc[m_], desc[imb_], desc[mb2_], desc[rsrc2_], here.nprow),
            axis_with_first_block(desc[n_], desc[inb_], desc[nb2_], desc[csrc2_], here.npcol), desc[lld2_]};
  redist::Descriptor read = redist::read_descriptor(desc, 0, in_grid(here));
  return {std::move(read.rows), std::move(read.cols), read.lld};
}

} // namespace pblas
