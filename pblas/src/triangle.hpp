// SPDX-License-Identifier: BSD-3-Clause
// C := alpha A B + beta C where only a part of C is there to be changed.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "blas.hpp"

namespace pblas {

enum class Part { all, lower, upper };

/// A part of a matrix, and one process's rows and columns of it, as the matrix counts them, ascending: looked at where
/// it is a triangle.
struct Region {
  Part part = Part::all;
  const std::int64_t* rows = nullptr;
  const std::int64_t* cols = nullptr;
};

/// C := alpha A op(B) + C in one triangle of the whole matrix: elements with row >= column, or row <= column. A has k
/// columns. With op 'C' B has in each row what A has in the row of the same number. The columns are divided, between
/// neighbouring blocks where there are several, until the diagonal goes through none of them, or through a square on
/// it, or few are left: what is whole beside each part is one product. Where the diagonal goes through the last ones, a
/// product of its own is made, of which a triangle is taken.
template <class T> class TriangleUpdate {
public:
  TriangleUpdate(const Region& at, std::int64_t k, T alpha, const blas::Panel<T>& a, const blas::Panel<T>& b,
                 const blas::Block<T>& c)
      : at_(at), k_(k), alpha_(alpha), a_(a), b_(b), c_(c) {}

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
    if (at_.part == Part::lower)
      add(split, last, begin, middle);
    else
      add(first, split, middle, end);
  }

private:
  static constexpr std::int64_t fewest = 32;

  /// B is A, adjoint, and the rows are the columns: the BLAS have a routine for it.
  bool is_square(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) const {
    return b_.op == 'C' && end > begin && last - first == end - begin && alpha_ == T(std::real(alpha_)) &&
           std::equal(at_.rows + first, at_.rows + last, at_.cols + begin);
  }
  void square(std::int64_t first, std::int64_t begin, std::int64_t end) {
    blas::herk<T>(at_.part == Part::lower ? 'L' : 'U', k_, std::real(alpha_), {a_.data + first, a_.ld},
                  part_of_c(first, first + end - begin, begin, end));
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
  blas::Block<T> part_of_c(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) const {
    return {c_.data + first + begin * c_.ld, c_.ld, last - first, end - begin};
  }
  /// The product's rows from `first` on and columns from `begin` on, as many as c has.
  void multiply(std::int64_t first, std::int64_t begin, T beta, const blas::Block<T>& c) {
    blas::gemm<T>(k_, alpha_, {a_.data + first, a_.ld},
                  {b_.data + (b_.op == 'N' ? begin * b_.ld : begin), b_.ld, b_.op}, beta, c);
  }
  void add(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) {
    multiply(first, begin, T{1}, part_of_c(first, last, begin, end));
  }
  /// The diagonal goes through rows above .. below-1.
  void cross(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end, std::int64_t above,
             std::int64_t below) {
    if (at_.part == Part::lower)
      add(below, last, begin, end);
    else
      add(first, above, begin, end);
    if (above == below) return;
    if (is_square(above, below, begin, end)) return square(above, begin, end);
    const std::int64_t height = below - above;
    crossed_.resize(static_cast<std::size_t>(height * (end - begin)));
    multiply(above, begin, T{0}, {crossed_.data(), height, height, end - begin});
    for (std::int64_t j = begin; j < end; ++j)
      for (std::int64_t i = above; i < below; ++i)
        if (at_.part == Part::lower ? at_.rows[i] >= at_.cols[j] : at_.rows[i] <= at_.cols[j])
          c_.data[i + j * c_.ld] += crossed_[static_cast<std::size_t>(i - above + (j - begin) * height)];
  }

  Region at_;
  std::int64_t k_;
  T alpha_;
  blas::Panel<T> a_, b_;
  blas::Block<T> c_;
  std::vector<T> crossed_;
};

/// C := alpha A op(B) + C in a part of the whole matrix. A has k columns.
template <class T>
void update_part(const Region& at, std::int64_t k, T alpha, const blas::Panel<T>& a, const blas::Panel<T>& b,
                 const blas::Block<T>& c) {
  if (c.m == 0 || c.n == 0 || k == 0) return;
  if (at.part == Part::all) return blas::gemm(k, alpha, a, b, T{1}, c);
  TriangleUpdate<T>(at, k, alpha, a, b, c).run(0, c.m, 0, c.n);
}

/// C := beta C in the part. beta = 0 makes zeros of anything.
template <class T> void scale_part(const Region& at, T beta, const blas::Block<T>& c) {
  if (beta == T{1}) return;
  for (std::int64_t j = 0; j < c.n; ++j) {
    std::int64_t first = 0, last = c.m;
    if (at.part == Part::lower) first = std::lower_bound(at.rows, at.rows + c.m, at.cols[j]) - at.rows;
    if (at.part == Part::upper) last = std::upper_bound(at.rows, at.rows + c.m, at.cols[j]) - at.rows;
    T* column = c.data + j * c.ld;
    if (beta == T{0})
      std::fill(column + first, column + last, T{0});
    else
      for (std::int64_t i = first; i < last; ++i) column[i] *= beta;
  }
}

} // namespace pblas
