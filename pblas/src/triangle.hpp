// SPDX-License-Identifier: BSD-3-Clause
// C := alpha A B + beta C where only a part of C is there to be changed.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "blas.hpp"

namespace pblas {

enum class Part { all, lower, upper };

/// One process's rows and columns of a matrix, as the matrix counts them, ascending.
struct Indices {
  const std::int64_t* rows = nullptr;
  const std::int64_t* cols = nullptr;
};

/// C := alpha A op(B) + C, m x n, in one triangle of the whole matrix: elements with row >= column, or row <= column.
/// Columns go in strips: what is whole of a strip is one product, where the diagonal goes through it another, of which
/// a triangle is taken.
template <class T>
void update_part(Part part, const Indices& at, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a,
                 std::int64_t lda, char op_b, const T* b, std::int64_t ldb, T* c, std::int64_t ldc) {
  if (m == 0 || n == 0 || k == 0) return;
  const T one{1}, zero{0};
  if (part == Part::all) return blas::gemm('N', op_b, m, n, k, alpha, a, lda, b, ldb, one, c, ldc);
  constexpr std::int64_t strip = 96;
  std::vector<T> crossed;
  for (std::int64_t j = 0; j < n; j += strip) {
    const std::int64_t width = std::min(strip, n - j);
    const T* b_strip = op_b == 'N' ? b + j * ldb : b + j;
    // rows before `above` are above the diagonal in all columns of the strip, from `below` on below it or on it
    const std::int64_t above = std::lower_bound(at.rows, at.rows + m, at.cols[j]) - at.rows;
    const std::int64_t below = std::upper_bound(at.rows, at.rows + m, at.cols[j + width - 1]) - at.rows;
    const std::int64_t first = part == Part::lower ? below : 0, last = part == Part::lower ? m : above;
    blas::gemm('N', op_b, last - first, width, k, alpha, a + first, lda, b_strip, ldb, one, c + first + j * ldc, ldc);
    const std::int64_t height = below - above;
    if (height == 0) continue;
    crossed.resize(static_cast<std::size_t>(height * width));
    blas::gemm('N', op_b, height, width, k, alpha, a + above, lda, b_strip, ldb, zero, crossed.data(), height);
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t y = 0; y < height; ++y) {
        const std::int64_t row = at.rows[above + y], col = at.cols[j + x];
        if (part == Part::lower ? row >= col : row <= col)
          c[above + y + (j + x) * ldc] += crossed[static_cast<std::size_t>(y + x * height)];
      }
  }
}

/// C := beta C in the part. beta = 0 makes zeros of anything.
template <class T>
void scale_part(Part part, const Indices& at, std::int64_t m, std::int64_t n, T beta, T* c, std::int64_t ldc) {
  if (beta == T{1}) return;
  for (std::int64_t j = 0; j < n; ++j) {
    std::int64_t first = 0, last = m;
    if (part == Part::lower) first = std::lower_bound(at.rows, at.rows + m, at.cols[j]) - at.rows;
    if (part == Part::upper) last = std::upper_bound(at.rows, at.rows + m, at.cols[j]) - at.rows;
    T* column = c + j * ldc;
    if (beta == T{0})
      std::fill(column + first, column + last, T{0});
    else
      for (std::int64_t i = first; i < last; ++i) column[i] *= beta;
  }
}

} // namespace pblas
