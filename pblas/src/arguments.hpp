// SPDX-License-Identifier: BSD-3-Clause
// The arguments of ScaLAPACK's routines, checked as it checks them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "operand.hpp"

namespace pblas {

/// A matrix among the arguments of a routine: (A, IA, JA, DESCA).
struct MatrixArgument {
  const void* data;
  const int *i, *j, *desc;
  int position; ///< of DESCA, from 1

  int ctxt() const { return desc[1]; }
};
/// A size, and which argument it is.
struct SizeArgument {
  const int* value;
  int position;
};

/// The first argument that is not valid.
class Blame {
public:
  /// Whose words: ScaLAPACK blames the size of a sub-matrix that is partly outside. The PBLAS blame where it begins,
  /// and count the entries of DTYPE_ 1 as of their own type, with two sizes more: LLD_ is the 11th.
  enum class Words { scalapack, pblas };
  explicit Blame(Words words = Words::scalapack) : is_pblas_(words == Words::pblas) {}

  void argument(bool is_valid, int position) { set(is_valid, 100 * position); }
  void entry(bool is_valid, int position, int place) { set(is_valid, 100 * position + place); }
  bool is_clean() const { return first_ == none; }
  /// -i for argument i, -(100 i + j) for entry j of descriptor i, 0.
  int info() const { return is_clean() ? 0 : first_ % 100 == 0 ? -first_ / 100 : -first_; }
  /// Of a letter; `letters` are capitals.
  void letter(char given, const char* letters, int position);
  /// A sub-matrix of m x n. The routine is called in ctxt, where this process stands at `all`; to the PBLAS a matrix of
  /// another context is a mistake.
  void matrix(const MatrixArgument& a, SizeArgument m, SizeArgument n, int ctxt, const Position& all);
  void context(const MatrixArgument& a, int ctxt) { entry(a.ctxt() == ctxt, a.position, 2); }
  /// Collective: the first that any process found, or that differs between processes. Pairs of a value and 100 times
  /// its argument's position, or that and the place of an entry.
  void agree(MPI_Comm comm, const std::vector<std::pair<std::int64_t, int>>& same);

private:
  void corners(const MatrixArgument& a, SizeArgument m, SizeArgument n, int least);
  static constexpr int none = std::numeric_limits<int>::max();
  void set(bool is_valid, int code) {
    if (!is_valid) first_ = std::min(first_, code);
  }
  bool is_pblas_;
  int first_ = none;
};

char capital(char letter);
inline Op op_of(char letter) {
  return capital(letter) == 'N' ? Op::none : capital(letter) == 'T' ? Op::transpose : Op::conjugate_transpose;
}
template <class T> const T& value(const void* pointer) {
  return *static_cast<const T*>(pointer);
}
/// The info of a process that is outside the grid of the descriptor at `position`.
inline int outside(int position) {
  return -(100 * position + 2);
}
/// As ScaLAPACK says it of its own routines, on standard error.
void report(int ctxt, const char* name, int info);

/// What all processes must say alike of a matrix.
void add_same(std::vector<std::pair<std::int64_t, int>>& same, const MatrixArgument& a);

/// True for DTYPE_ 601.
bool is_listed(const MatrixArgument& a);
/// False for what only ScaLAPACK's own knows: replicated matrices, other types.
bool is_known(const MatrixArgument& a);

/// Whether rows (columns) of two matrices of DTYPE_ 1 in one context lie alike because they begin at the same index of
/// the same blocks.
bool have_equal_rows(const MatrixArgument& a, const MatrixArgument& b);
bool have_equal_columns(const MatrixArgument& a, const MatrixArgument& b);
/// What ScaLAPACK's factorizations take: a matrix of DTYPE_ 1 in square blocks, of at most `widest`, that begins with
/// one.
bool begins_with_a_square_block(const MatrixArgument& a, int widest = std::numeric_limits<int>::max());

/// The axes of a checked descriptor. lld: where this process has no columns LLD_ need not be long enough, this is.
struct Axes {
  gridmap::Axis rows, cols;
  std::int64_t lld = 1;
};
Axes axes_of(const int* desc, const Position& here);

/// Of m x n elements; none where one of them is 0: then the other may be larger than the matrix.
template <class T> Operand<T> operand(Grid& grid, const MatrixArgument& a, std::int64_t m, std::int64_t n) {
  Axes axes = axes_of(a.desc, grid.here());
  const bool is_empty = m == 0 || n == 0;
  return {&grid, AxisWindow(std::move(axes.rows), is_empty ? 0 : *a.i - 1, is_empty ? 0 : m),
          AxisWindow(std::move(axes.cols), is_empty ? 0 : *a.j - 1, is_empty ? 0 : n),
          static_cast<T*>(const_cast<void*>(a.data)), axes.lld};
}

} // namespace pblas
