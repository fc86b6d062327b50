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

/// C := alpha A op(B) + C in one triangle of the whole matrix: elements with row >= column, or row <= column. With op
/// 'C' B has in each row what A has in the row of the same number. The columns are divided, between neighbouring blocks
/// where there are several, until the diagonal goes through none of them, or through a square on it, or few are left:
/// what is whole beside each part is one product. Where the diagonal goes through the last ones, a product of its own
/// is made, of which a triangle is taken.
template <class T> class TriangleUpdate {
public:
  TriangleUpdate(Part part, const Indices& at, std::int64_t k, T alpha, const T* a, std::int64_t lda, char op_b,
                 const T* b, std::int64_t ldb, T* c, std::int64_t ldc)
      : part_(part), at_(at), k_(k), alpha_(alpha), a_(a), lda_(lda), op_b_(op_b), b_(b), ldb_(ldb), c_(c), ldc_(ldc) {}

  /// Rows first .. last-1 of columns begin .. end-1.
  void run(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) {
    if (first == last || begin == end) return;
    if (is_square(first, last, begin, end)) return square(first, begin, end);
    const std::int64_t above = row_from(at_.cols[begin], first, last);
    const std::int64_t below = row_from(at_.cols[end - 1] + 1, first, last);
    if (above == below || is_square(above, below, begin, end) ||
        end - begin <= (are_neighbours(begin, end) ? fewest : fewest / 2))
      return cross(first, last, begin, end, above, below);
    const std::int64_t middle = middle_of(begin, end);
    // above the diagonal in all columns of the right half; the others are below it in all of the left one
    const std::int64_t split = row_from(at_.cols[middle], first, last);
    run(first, split, begin, middle);
    run(split, last, middle, end);
    if (part_ == Part::lower)
      multiply(split, last, begin, middle, T{1}, c_ + split + begin * ldc_, ldc_);
    else
      multiply(first, split, middle, end, T{1}, c_ + first + middle * ldc_, ldc_);
  }

private:
  static constexpr std::int64_t fewest = 32;

  /// B is A, adjoint, and the rows are the columns: the BLAS have a routine for it.
  bool is_square(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) const {
    return op_b_ == 'C' && end > begin && last - first == end - begin && alpha_ == T(std::real(alpha_)) &&
           std::equal(at_.rows + first, at_.rows + last, at_.cols + begin);
  }
  void square(std::int64_t first, std::int64_t begin, std::int64_t end) {
    blas::herk(part_ == Part::lower ? 'L' : 'U', end - begin, k_, std::real(alpha_), a_ + first, lda_,
               c_ + first + begin * ldc_, ldc_);
  }
  /// No other process has a column between them.
  bool are_neighbours(std::int64_t begin, std::int64_t end) const {
    return at_.cols[end - 1] - at_.cols[begin] == end - 1 - begin;
  }
  /// The border of blocks that is nearest to the middle, or the middle. Rows of other columns between those of a part
  /// would be computed for nothing.
  std::int64_t middle_of(std::int64_t begin, std::int64_t end) const {
    const std::int64_t middle = (begin + end) / 2;
    if (are_neighbours(begin, end)) return middle;
    const auto is_border = [&](std::int64_t j) { return j > begin && j < end && !are_neighbours(j - 1, j + 1); };
    for (std::int64_t away = 0;; ++away) {
      if (is_border(middle - away)) return middle - away;
      if (is_border(middle + away)) return middle + away;
    }
  }
  std::int64_t row_from(std::int64_t index, std::int64_t first, std::int64_t last) const {
    return std::lower_bound(at_.rows + first, at_.rows + last, index) - at_.rows;
  }
  void multiply(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end, T beta, T* c,
                std::int64_t ldc) {
    blas::gemm('N', op_b_, last - first, end - begin, k_, alpha_, a_ + first, lda_,
               op_b_ == 'N' ? b_ + begin * ldb_ : b_ + begin, ldb_, beta, c, ldc);
  }
  /// The diagonal goes through rows above .. below-1.
  void cross(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end, std::int64_t above,
             std::int64_t below) {
    if (part_ == Part::lower)
      multiply(below, last, begin, end, T{1}, c_ + below + begin * ldc_, ldc_);
    else
      multiply(first, above, begin, end, T{1}, c_ + first + begin * ldc_, ldc_);
    if (above == below) return;
    if (is_square(above, below, begin, end)) return square(above, begin, end);
    const std::int64_t height = below - above;
    crossed_.resize(static_cast<std::size_t>(height * (end - begin)));
    multiply(above, below, begin, end, T{0}, crossed_.data(), height);
    for (std::int64_t j = begin; j < end; ++j)
      for (std::int64_t i = above; i < below; ++i)
        if (part_ == Part::lower ? at_.rows[i] >= at_.cols[j] : at_.rows[i] <= at_.cols[j])
          c_[i + j * ldc_] += crossed_[static_cast<std::size_t>(i - above + (j - begin) * height)];
  }

  Part part_;
  Indices at_;
  std::int64_t k_;
  T alpha_;
  const T* a_;
  std::int64_t lda_;
  char op_b_;
  const T* b_;
  std::int64_t ldb_;
  T* c_;
  std::int64_t ldc_;
  std::vector<T> crossed_;
};

/// C := alpha A op(B) + C, m x n, in a part of the whole matrix.
template <class T>
void update_part(Part part, const Indices& at, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a,
                 std::int64_t lda, char op_b, const T* b, std::int64_t ldb, T* c, std::int64_t ldc) {
  if (m == 0 || n == 0 || k == 0) return;
  if (part == Part::all) return blas::gemm('N', op_b, m, n, k, alpha, a, lda, b, ldb, T{1}, c, ldc);
  TriangleUpdate<T>(part, at, k, alpha, a, lda, op_b, b, ldb, c, ldc).run(0, m, 0, n);
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
