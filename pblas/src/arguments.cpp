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

Axis axis_with_first_block(std::int64_t n, int first, int nb, int src, int nprocs) {
  std::vector<std::int64_t> sizes{first};
  for (std::int64_t done = first; done < n; done += nb) sizes.push_back(nb);
  return {n, std::move(sizes), src, nprocs};
}

/// A descriptor whose LLD_ is long enough.
std::vector<int> with_long_columns(const int* desc) {
  const auto has_list = [](int count) { return count > 0 && count <= Axis::most_sizes; };
  int length = sizes_;
  if (desc[dtype_] == redist::Descriptor::heterogeneous && has_list(desc[mb_]) && has_list(desc[nb_]))
    length += desc[mb_] + desc[nb_];
  std::vector<int> copy(desc, desc + length);
  copy[lld_] = std::numeric_limits<int>::max();
  return copy;
}

/// The first entry that is not valid, from 1, but for LLD_; or 0.
int wrong_entry(const int* desc, const Position& here) {
  return -redist::check_descriptor(with_long_columns(desc).data(), 0, here, 0);
}

/// LLD_ is for the columns that this process has.
bool is_long_enough(const int* desc, const Position& here) {
  const Axes axes = axes_of(desc, here);
  return desc[lld_] >= 1 && (axes.cols.local_size(here.mycol) == 0 || desc[lld_] >= axes.rows.local_size(here.myrow));
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

bool is_block_cyclic(const MatrixArgument& a) {
  return a.desc[dtype_] == redist::Descriptor::block_cyclic;
}

} // namespace

char capital(char letter) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
}

void Blame::letter(char given, const char* letters, int position) {
  argument(given != '\0' && std::strchr(letters, capital(given)) != nullptr, position);
}

void Blame::matrix(const MatrixArgument& a, SizeArgument m, SizeArgument n, int ctxt, const Position& all) {
  const int* d = a.desc;
  const Position here = d[ctxt_] == ctxt ? all : position_in(d[ctxt_]);
  const bool has_type = d[dtype_] == with_first_block || is_block_cyclic(a) || is_listed(a);
  if (has_type || is_pblas_) {
    argument(*m.value >= 0, m.position);
    argument(*n.value >= 0, n.position);
    argument(*a.i >= 1, a.position - 2);
    argument(*a.j >= 1, a.position - 1);
  }
  entry(has_type, a.position, dtype_ + 1);
  if (is_pblas_ && has_type) entry(d[ctxt_] == ctxt, a.position, ctxt_ + 1);
  if (is_pblas_ && (!has_type || d[ctxt_] != ctxt)) return; // nothing else is looked at
  int wrong = 0;
  if (d[dtype_] == with_first_block)
    wrong = is_readable(d, here) ? 0 : dtype_ + 1;
  else if (has_type)
    wrong = wrong_entry(d, here);
  if (!here.is_inside() && (wrong == 0 || wrong > rsrc_ + 1)) wrong = rsrc_ + 1; // of a grid without rows
  const int more = is_pblas_ && !is_listed(a) ? with_first_block : 0;
  entry(wrong == 0, a.position, wrong + (wrong > nb_ + 1 ? more : 0));
  const bool is_empty = *m.value == 0 || *n.value == 0;
  corners(a, m, n, is_empty ? 0 : 1);
  if (d[dtype_] == with_first_block || !has_type || wrong != 0) return;
  if (is_pblas_ && is_empty ? d[lld_] < 1 : (!is_pblas_ || is_clean()) && !is_long_enough(d, here))
    entry(false, a.position, lld_ + 1 + more);
}

/// Whether the sub-matrix is inside. A corner that is outside is blamed alone.
void Blame::corners(const MatrixArgument& a, SizeArgument m, SizeArgument n, int least) {
  const std::int64_t rows = a.desc[m_], cols = a.desc[n_];
  entry(rows >= least, a.position, m_ + 1);
  entry(cols >= least, a.position, n_ + 1);
  if (least == 0 || rows < least || cols < least) return;
  const bool has_rows = *a.i + std::int64_t{*m.value} - 1 <= rows, has_cols = *a.j + std::int64_t{*n.value} - 1 <= cols;
  if (is_pblas_ || *a.i > rows || *a.j > cols) {
    argument(is_pblas_ ? has_rows : *a.i <= rows, a.position - 2);
    argument(is_pblas_ ? has_cols : *a.j <= cols, a.position - 1);
  } else {
    argument(has_rows, m.position);
    argument(has_cols, n.position);
  }
}

void Blame::agree(MPI_Comm comm, const std::vector<std::pair<std::int64_t, int>>& same) {
  std::vector<std::int64_t> least{first_};
  for (const auto& [value, code] : same) least.insert(least.end(), {value, -value});
  base::check_mpi(MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT64_T, MPI_MIN, comm),
                  "MPI_Allreduce");
  first_ = static_cast<int>(least[0]);
  for (std::size_t k = 0; k < same.size(); ++k) set(least[2 * k + 1] == -least[2 * k + 2], same[k].second);
}

void report(int ctxt, const char* name, int info) {
  const int argument = -info;
  pxerbla_(&ctxt, name, &argument, std::strlen(name));
}

void add_same(std::vector<std::pair<std::int64_t, int>>& same, const MatrixArgument& a) {
  same.emplace_back(*a.i, 100 * (a.position - 2));
  same.emplace_back(*a.j, 100 * (a.position - 1));
  for (const int place : {dtype_, m_, n_, mb_, nb_, rsrc_, csrc_})
    same.emplace_back(a.desc[place], 100 * a.position + place + 1);
  base::Fnv1a sizes;
  const bool has_sizes = is_listed(a) && a.desc[mb_] > 0 && a.desc[nb_] > 0 && a.desc[mb_] <= Axis::most_sizes &&
                         a.desc[nb_] <= Axis::most_sizes;
  for (int k = 0; has_sizes && k < a.desc[mb_] + a.desc[nb_]; ++k) sizes.number(a.desc[sizes_ + k]);
  same.emplace_back(sizes.positive(), 100 * a.position + sizes_ + 1);
}

bool is_listed(const MatrixArgument& a) {
  return a.desc[dtype_] == redist::Descriptor::heterogeneous;
}

bool is_known(const MatrixArgument& a) {
  const int* d = a.desc;
  if (d[dtype_] == with_first_block) return d[rsrc2_] >= 0 && d[csrc2_] >= 0;
  return is_listed(a) || (is_block_cyclic(a) && d[rsrc_] >= 0 && d[csrc_] >= 0);
}

bool have_equal_rows(const MatrixArgument& a, const MatrixArgument& b) {
  return is_block_cyclic(a) && is_block_cyclic(b) && a.ctxt() == b.ctxt() && *a.i == *b.i &&
         a.desc[mb_] == b.desc[mb_] && a.desc[rsrc_] == b.desc[rsrc_];
}

bool have_equal_columns(const MatrixArgument& a, const MatrixArgument& b) {
  return is_block_cyclic(a) && is_block_cyclic(b) && a.ctxt() == b.ctxt() && *a.j == *b.j &&
         a.desc[nb_] == b.desc[nb_] && a.desc[csrc_] == b.desc[csrc_];
}

bool begins_with_a_square_block(const MatrixArgument& a, int widest) {
  const int nb = a.desc[nb_];
  return is_block_cyclic(a) && nb >= 1 && nb <= widest && a.desc[mb_] == nb && (*a.i - 1) % nb == 0 &&
         (*a.j - 1) % nb == 0;
}

Axes axes_of(const int* desc, const Position& here) {
  if (desc[dtype_] == with_first_block)
    return {axis_with_first_block(desc[m_], desc[imb_], desc[mb2_], desc[rsrc2_], here.nprow),
            axis_with_first_block(desc[n_], desc[inb_], desc[nb2_], desc[csrc2_], here.npcol), desc[lld2_]};
  redist::Descriptor read = redist::read_descriptor(with_long_columns(desc).data(), 0, here);
  const std::int64_t lld = std::max<std::int64_t>(desc[lld_], here.is_inside() ? read.rows.local_size(here.myrow) : 1);
  return {std::move(read.rows), std::move(read.cols), lld};
}

} // namespace pblas
