// SPDX-License-Identifier: BSD-3-Clause
#include "trsm.hpp"

#include <optional>

#include "gather.hpp"
#include "triangle.hpp"

namespace pblas {
namespace {

constexpr std::int64_t widest_panel = 64;

struct Range {
  std::int64_t first = 0, end = 0;

  std::int64_t count() const { return end - first; }
};

/// Panels of the n rows or columns of B. op(A) is lower: X of the panels before is known. Upper: from the last one on.
template <class T, class Step> void for_panels(const Operand<T>& b, std::int64_t n, bool ascending, Step&& step) {
  const std::int64_t panel_width = width_of_messages(widest_panel, b.rows, b.cols);
  const std::int64_t panels = (n + panel_width - 1) / panel_width;
  for (std::int64_t t = 0; t < panels; ++t) {
    const std::int64_t k = (ascending ? t : panels - 1 - t) * panel_width;
    step(k, std::min(n, k + panel_width));
  }
}

/// A X = B, A as it lies, its rows where those of B are.
template <class T> void solve_left(bool is_lower, char diag, const Operand<const T>& a, const Operand<T>& b) {
  const Operand<const T> source = as_source(b);
  Gatherings by(*b.grid);
  for_panels(b, b.m(), is_lower, [&](std::int64_t k, std::int64_t k_end) {
    const std::int64_t depth = k_end - k, n = b.n_loc(), before = b.rows.count_before(b.myrow(), k),
                       after = b.rows.count_before(b.myrow(), k_end);
    const Range rest = is_lower ? Range{after, b.m_loc()} : Range{0, before};
    const std::vector<T> block = gather_block(by, a, k, k_end);
    std::vector<T> x = gather_rows(by, source, k, k_end, 0, n);
    blas::trsm<T>('L', is_lower ? 'L' : 'U', diag, {block.data(), depth}, {x.data(), depth, depth, n});
    for (const auto& piece : b.rows.pieces_between(k, k_end))
      for (std::int64_t j = 0; piece.owner == b.myrow() && j < n; ++j)
        std::copy_n(x.data() + piece.first - k + j * depth, piece.count, b.local(piece.local, j));
    const std::vector<T> panel = gather_cols(by, a, k, k_end, rest.first, rest.end);
    blas::gemm<T>(depth, T{-1}, {panel.data(), rest.count()}, {x.data(), depth}, T{1},
                  {b.local(rest.first, 0), b.lld, rest.count(), n});
  });
}

/// X A = B, A as it lies, its columns where those of B are.
template <class T> void solve_right(bool is_lower, char diag, const Operand<const T>& a, const Operand<T>& b) {
  const Operand<const T> source = as_source(b);
  Gatherings by(*b.grid);
  for_panels(b, b.n(), !is_lower, [&](std::int64_t k, std::int64_t k_end) {
    const std::int64_t depth = k_end - k, m = b.m_loc(), before = b.cols.count_before(b.mycol(), k),
                       after = b.cols.count_before(b.mycol(), k_end);
    const Range rest = is_lower ? Range{0, before} : Range{after, b.n_loc()};
    const std::vector<T> block = gather_block(by, a, k, k_end);
    std::vector<T> x = gather_cols(by, source, k, k_end, 0, m);
    blas::trsm<T>('R', is_lower ? 'L' : 'U', diag, {block.data(), depth}, {x.data(), m, m, depth});
    for (const auto& piece : b.cols.pieces_between(k, k_end))
      for (std::int64_t j = 0; piece.owner == b.mycol() && j < piece.count; ++j)
        std::copy_n(x.data() + (piece.first - k + j) * m, m, b.local(0, piece.local + j));
    const std::vector<T> panel = gather_rows(by, a, k, k_end, rest.first, rest.end);
    blas::gemm<T>(depth, T{-1}, {x.data(), m}, {panel.data(), depth}, T{1},
                  {b.local(0, rest.first), b.lld, m, rest.count()});
  });
}

} // namespace

template <class T> void trsm(Triangle what, Op op, T alpha, const Operand<const T>& a, const Operand<T>& b) {
  scale_part<T>({}, alpha, {b.local(), b.lld, b.m_loc(), b.n_loc()});
  if (alpha == T{0} || b.m() == 0 || b.n() == 0) return;
  std::optional<Temporary<T>> copy_a;
  Operand<const T> x = a;
  const AxisWindow& same = what.is_left ? b.rows : b.cols;
  if (op != Op::none || !(what.is_left ? a.rows : a.cols).lies_as(same)) {
    const Position& here = b.grid->here();
    const AxisWindow other{
        gridmap::Axis::block_cyclic(same.count(), widest_panel, what.is_left ? here.npcol : here.nprow), 0,
        same.count()};
    copy_a.emplace(what.is_left ? moved<T>(a, op, same, other) : moved<T>(a, op, other, same));
    x = as_source(copy_a->operand);
  }
  const bool is_lower = what.is_lower == (op == Op::none);
  const char diag = what.is_unit ? 'U' : 'N';
  if (what.is_left)
    solve_left(is_lower, diag, x, b);
  else
    solve_right(is_lower, diag, x, b);
}

#define DYNGRID_INSTANTIATE(T) template void trsm(Triangle, Op, T, const Operand<const T>&, const Operand<T>&);
DYNGRID_FOR_ELEMENTS(DYNGRID_INSTANTIATE)
#undef DYNGRID_INSTANTIATE

} // namespace pblas
