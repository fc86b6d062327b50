// SPDX-License-Identifier: BSD-3-Clause
#include "lu_panel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/index.hpp"
#include "base/mpi/check.hpp"
#include "blas.hpp"

namespace pblas {

using base::at;
using base::check_mpi;

namespace {

constexpr std::int64_t inner_width = 16; ///< columns that are updated one by one

/// What precedes the two rows in a message of the search.
struct Head {
  double size = -1; ///< of the candidate; -1: none
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
  std::int64_t has_top = 0;
};

template <class T> void take_better(void* in, void* inout, int* count, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  const std::size_t row = (at(bytes) - sizeof(Head)) / 2;
  for (int k = 0; k < *count; ++k) {
    const char* x = static_cast<const char*>(in) + at(k) * at(bytes);
    char* y = static_cast<char*>(inout) + at(k) * at(bytes);
    Head a, b;
    std::memcpy(&a, x, sizeof a);
    std::memcpy(&b, y, sizeof b);
    if (a.has_top != 0) {
      std::memcpy(y + sizeof b + row, x + sizeof a + row, row);
      b.has_top = 1;
    }
    if (a.size > b.size || (a.size == b.size && a.row < b.row)) {
      std::memcpy(y + sizeof b, x + sizeof a, row);
      b.size = a.size, b.row = a.row;
    }
    std::memcpy(y, &b, sizeof b);
  }
}

/// As the BLAS's i?amax compares; what is no number counts as largest, so that all see it.
template <class T> double size_of(T x) {
  double size = 0;
  if constexpr (blas::is_complex<T>)
    size = static_cast<double>(std::abs(x.real()) + std::abs(x.imag())); // in T's precision
  else
    size = static_cast<double>(std::abs(x));
  return std::isnan(size) ? std::numeric_limits<double>::infinity() : size;
}

/// All rows are mine.
template <class T> void factor_alone(const Operand<T>& a, LuPanel<T>& panel) {
  const std::int64_t height = panel.width + panel.height;
  std::vector<int> pivots(at(panel.width));
  T* top = a.local(panel.row, panel.col);
  const int info = blas::getrf(height, panel.width, top, a.lld, pivots.data());
  for (std::int64_t t = 0; t < panel.width; ++t)
    panel.pivots[at(t)] = static_cast<double>(panel.first + pivots[at(t)] - 1);
  panel.pivots.back() = info > 0 ? static_cast<double>(panel.first + info) : 0;
  blas::pack<T>({top, a.lld, panel.width, panel.width}, panel.elements.data());
}

/// Column t of the panel's columns up to end-1: scaled, and out of those after it. `active`: local rows that are not
/// pivots yet.
template <class T>
void eliminate(const blas::Block<T>& panel, std::int64_t active, std::int64_t t, std::int64_t end, const T* pivot_row) {
  const std::int64_t ld = panel.ld, m = panel.m;
  T* column = panel.data + t * ld;
  if (pivot_row[t] != T{0}) {
    const T pivot = pivot_row[t];
    // as LAPACK does it, where the reciprocal is a number
    if (std::abs(pivot) >= std::numeric_limits<blas::Real<T>>::min())
      blas::scale(m - active, T{1} / pivot, column + active);
    else
      for (std::int64_t i = active; i < m; ++i) column[i] /= pivot;
  }
  blas::rank_one<T>(T{-1}, column + active, pivot_row + t + 1, {column + active + ld, ld, m - active, end - t - 1});
}

} // namespace

template <class T>
PivotSearch<T>::PivotSearch(MPI_Comm comm, std::int64_t widest)
    : comm_(comm), widest_(widest), mine_(sizeof(Head) + 2 * at(widest) * sizeof(T)), best_(mine_.size()) {
  check_mpi(MPI_Type_contiguous(static_cast<int>(mine_.size()), MPI_BYTE, &type_), "MPI_Type_contiguous");
  check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  check_mpi(MPI_Op_create(take_better<T>, 1, &op_), "MPI_Op_create");
}

template <class T> PivotSearch<T>::~PivotSearch() {
  if (op_ != MPI_OP_NULL) MPI_Op_free(&op_);
  if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
}

template <class T>
void PivotSearch<T>::search(std::int64_t row, const T* x, std::int64_t column, const T* top, std::int64_t lda,
                            std::int64_t width) {
  Head head;
  const auto put = [&](const T* from, std::int64_t place) {
    T* to = reinterpret_cast<T*>(mine_.data() + sizeof(Head)) + place;
    for (std::int64_t j = 0; j < width; ++j) to[j] = from[j * lda];
  };
  if (row >= 0) {
    head.size = size_of(x[column * lda]);
    head.row = row;
    put(x, 0);
  }
  if (top != nullptr) {
    head.has_top = 1;
    put(top, widest_);
  }
  std::memcpy(mine_.data(), &head, sizeof head);
  check_mpi(MPI_Allreduce(mine_.data(), best_.data(), 1, type_, op_, comm_), "MPI_Allreduce");
}

template <class T> std::int64_t PivotSearch<T>::pivot_row() const {
  Head head;
  std::memcpy(&head, best_.data(), sizeof head);
  return head.row;
}
template <class T> const T* PivotSearch<T>::pivot() const {
  return reinterpret_cast<const T*>(best_.data() + sizeof(Head));
}
template <class T> const T* PivotSearch<T>::top() const {
  return pivot() + widest_;
}

namespace {

/// The panel in blocks of some columns. Pivot rows are kept by all in the panel's diagonal block, so each process can
/// update its rows without communication.
template <class T>
void factor_together(const Operand<T>& a, const std::vector<std::int64_t>& rows, PivotSearch<T>& search,
                     LuPanel<T>& panel) {
  T* const mine = a.local(panel.row, panel.col);
  const std::int64_t ld = a.lld, w = panel.width, m = a.m_loc() - panel.row;
  const bool has_block = a.myrow() == panel.prow;
  const auto active_from = [&](std::int64_t t) { return has_block ? t : 0; };
  T* const block = panel.elements.data();
  const auto put_row = [&](const T* from, std::int64_t i) {
    for (std::int64_t j = 0; j < w; ++j) mine[i + j * ld] = from[j];
  };
  for (std::int64_t from = 0; from < w; from += inner_width) {
    const std::int64_t end = std::min(w, from + inner_width);
    for (std::int64_t t = from; t < end; ++t) {
      const std::int64_t active = active_from(t), k = blas::largest(m - active, mine + active + t * ld);
      const std::int64_t candidate = k < 0 ? -1 : active + k;
      search.search(k < 0 ? -1 : rows[at(panel.row + candidate)], mine + std::max<std::int64_t>(candidate, 0), t,
                    has_block ? mine + t : nullptr, ld, w);
      const std::int64_t pivot = search.pivot_row();
      panel.pivots[at(t)] = static_cast<double>(pivot);
      const T* const row = search.pivot();
      for (std::int64_t j = 0; j < w; ++j) block[t + j * w] = row[j];
      if (row[t] == T{0} && panel.pivots.back() == 0) panel.pivots.back() = static_cast<double>(panel.first + t + 1);
      if (pivot != panel.first + t) {
        if (candidate >= 0 && rows[at(panel.row + candidate)] == pivot) put_row(search.top(), candidate);
        if (has_block) put_row(row, t);
      }
      eliminate<T>({mine, ld, m, w}, active_from(t + 1), t, end, row);
    }
    blas::trsm<T>('L', 'L', 'U', {block + from + from * w, w}, {block + from + end * w, w, end - from, w - end});
    if (has_block)
      for (std::int64_t j = end; j < w; ++j) std::copy_n(block + from + j * w, end - from, mine + from + j * ld);
    const std::int64_t active = active_from(end);
    blas::gemm<T>(end - from, T{-1}, {mine + active + from * ld, ld}, {block + from + end * w, w}, T{1},
                  {mine + active + end * ld, ld, m - active, w - end});
  }
}

} // namespace

template <class T>
void factor(const Operand<T>& a, const std::vector<std::int64_t>& rows, PivotSearch<T>& search, LuPanel<T>& panel) {
  panel.pivots.back() = 0;
  if (a.grid->here().nprow == 1)
    factor_alone(a, panel);
  else
    factor_together(a, rows, search, panel);
  const T* below = a.local(a.m_loc() - panel.height, panel.col);
  blas::pack<T>({below, a.lld, panel.height, panel.width}, panel.elements.data() + panel.width * panel.width);
}

#define DYNGRID_INSTANTIATE(T)                                                                                         \
  template class PivotSearch<T>;                                                                                       \
  template void factor(const Operand<T>&, const std::vector<std::int64_t>&, PivotSearch<T>&, LuPanel<T>&);
DYNGRID_FOR_ELEMENTS(DYNGRID_INSTANTIATE)
#undef DYNGRID_INSTANTIATE

} // namespace pblas
