// SPDX-License-Identifier: BSD-3-Clause
#include "gemm.hpp"

#include <algorithm>
#include <complex>
#include <optional>
#include <vector>

#include "base/index.hpp"
#include "ring.hpp"
#include "room.hpp"

namespace pblas {

using base::at;

namespace {

constexpr std::int64_t panel_width = 256;
constexpr std::int64_t strip_width = 384; ///< columns of C between two looks at the messages

/// Panels of A on every process of a row of the grid: my rows by the kb columns of the panel, those of each owner
/// together. Where one process has all columns they are used where they lie.
template <class T> class PanelsOfA {
public:
  PanelsOfA(const Operand<const T>& a)
      : a_(a), size_(a.grid->here().npcol), height_(a.m_loc()),
        slices_(a.grid->row(), a.mycol(), size_, a.grid->row_processes()) {
    const int count = size_ == 1 ? 0 : a.n() > panel_width ? 2 : 1;
    for (int k = 0; k < count; ++k) buffers_[k] = Room::of<T>(height_ * std::min(panel_width, a.n()));
  }
  /// Columns k .. k_end-1 are sent for.
  void start(std::int64_t k, std::int64_t k_end) {
    if (size_ == 1) {
      next_ = a_.local(0, k);
      return;
    }
    turn_ = 1 - turn_;
    T* buffer = buffers_[turn_].template as<T>();
    std::vector<std::int64_t> lengths;
    for (int q = 0; q < size_; ++q)
      lengths.push_back(height_ * (a_.cols.count_before(q, k_end) - a_.cols.count_before(q, k)));
    offsets_ = offsets_of(lengths);
    const T* mine = a_.local(0, a_.cols.count_before(a_.mycol(), k));
    T* to = buffer + offsets_[at(a_.mycol())];
    for (std::int64_t j = 0; height_ > 0 && j < lengths[at(a_.mycol())] / height_; ++j)
      std::copy_n(mine + j * a_.lld, height_, to + j * height_);
    next_ = buffer;
    slices_.start(buffer, offsets_.data());
  }
  void advance() {
    if (size_ > 1) slices_.advance();
  }
  /// The panel that was sent for last; good until the next but one.
  const T* finish() {
    if (size_ > 1) slices_.finish();
    return next_;
  }
  bool is_idle() const { return size_ == 1 || slices_.is_done(); }
  std::int64_t ld() const { return size_ == 1 ? a_.lld : height_; }

private:
  const Operand<const T>& a_;
  int size_, turn_ = 1;
  std::int64_t height_;
  Room buffers_[2]; ///< before what writes to them
  Slices<T> slices_;
  std::vector<std::int64_t> offsets_;
  const T* next_ = nullptr;
};

/// Panels of B on every process of a column of the grid: the kb rows of the panel by my columns, the rows in the order
/// in which A's panel has its columns.
template <class T> class PanelsOfB {
public:
  PanelsOfB(const Operand<const T>& b, const AxisWindow& order)
      : b_(b), order_(order), size_(b.grid->here().nprow), width_(b.n_loc()),
        slices_(b.grid->col(), b.myrow(), size_, b.grid->col_processes()) {
    const std::int64_t most = width_ * std::min(panel_width, b.m());
    if (size_ > 1) packed_ = Room::of<T>(most);
    if (is_unpacked()) panel_ = Room::of<T>(most);
  }
  void start(std::int64_t k, std::int64_t k_end) {
    k_ = k, k_end_ = k_end;
    if (size_ == 1) return;
    std::vector<std::int64_t> lengths;
    for (int p = 0; p < size_; ++p)
      lengths.push_back(width_ * (b_.rows.count_before(p, k_end) - b_.rows.count_before(p, k)));
    offsets_ = offsets_of(lengths);
    const std::int64_t rows = width_ > 0 ? lengths[at(b_.myrow())] / width_ : 0;
    const T* mine = b_.local(b_.rows.count_before(b_.myrow(), k), 0);
    T* to = packed_.template as<T>() + offsets_[at(b_.myrow())];
    for (std::int64_t j = 0; rows > 0 && j < width_; ++j) std::copy_n(mine + j * b_.lld, rows, to + j * rows);
    slices_.start(packed_.template as<T>(), offsets_.data());
  }
  void advance() {
    if (size_ > 1) slices_.advance();
  }
  /// The panel that was sent for last; good until the next one.
  const T* finish() {
    if (size_ > 1) slices_.finish();
    if (!is_unpacked()) return b_.local(k_, 0);
    unpack();
    return panel_.template as<T>();
  }
  bool is_idle() const { return size_ == 1 || slices_.is_done(); }
  std::int64_t ld() const { return is_unpacked() ? k_end_ - k_ : b_.lld; }

private:
  bool is_unpacked() const { return size_ > 1 || order_.axis().nprocs > 1; }

  /// Rows of all owners to where A's panel has these columns.
  void unpack() {
    std::vector<std::int64_t> place(at(order_.axis().nprocs) + 1, 0); // where the next column of each owner stands
    const std::vector<AxisWindow::Piece> columns = order_.pieces_between(k_, k_end_);
    for (const auto& piece : columns) place[at(piece.owner) + 1] += piece.count;
    for (std::size_t q = 1; q < place.size(); ++q) place[q] += place[q - 1];
    const std::int64_t height = k_end_ - k_;
    for (const auto& column : columns) {
      for (const auto& row : b_.rows.pieces_between(column.first, column.last())) {
        const std::int64_t to = place[at(column.owner)] + row.first - column.first;
        const std::int64_t before = b_.rows.count_before(row.owner, k_);
        const std::int64_t ld = size_ == 1 ? b_.lld : b_.rows.count_before(row.owner, k_end_) - before;
        const T* from = size_ == 1 ? b_.local(row.local, 0)
                                   : packed_.template as<T>() + offsets_[at(row.owner)] + row.local - before;
        for (std::int64_t j = 0; j < width_; ++j)
          std::copy_n(from + j * ld, row.count, panel_.template as<T>() + to + j * height);
      }
      place[at(column.owner)] += column.count;
    }
  }

  const Operand<const T>& b_;
  const AxisWindow& order_;
  int size_;
  std::int64_t width_, k_ = 0, k_end_ = 0;
  Room packed_, panel_; ///< before what writes to them
  Slices<T> slices_;
  std::vector<std::int64_t> offsets_;
};

/// The product of operands that lie as C does.
template <class T>
void multiply(T alpha, const Operand<const T>& a, const Operand<const T>& b, const Operand<T>& c, Part part) {
  const std::int64_t k_all = a.n(), m = c.m_loc(), n = c.n_loc();
  const std::vector<std::int64_t> rows = c.rows.indices(c.myrow()), cols = c.cols.indices(c.mycol());
  PanelsOfA<T> of_a(a);
  PanelsOfB<T> of_b(b, a.cols);
  const auto start = [&](std::int64_t k) {
    if (k >= k_all) return;
    of_a.start(k, std::min(k_all, k + panel_width));
    of_b.start(k, std::min(k_all, k + panel_width));
  };
  start(0);
  for (std::int64_t k = 0; k < k_all; k += panel_width) {
    const std::int64_t depth = std::min(panel_width, k_all - k);
    const T *panel_a = of_a.finish(), *panel_b = of_b.finish();
    const std::int64_t ld_a = of_a.ld(), ld_b = of_b.ld();
    start(k + panel_width);
    for (std::int64_t j = 0, width = 0; j < n; j += width) {
      of_a.advance();
      of_b.advance();
      width = of_a.is_idle() && of_b.is_idle() ? n - j : std::min(strip_width, n - j);
      update_part(part, {rows.data(), cols.data() + j}, m, width, depth, alpha, panel_a, ld_a, 'N', panel_b + j * ld_b,
                  ld_b, c.local(0, j), c.lld);
    }
  }
}

/// How the columns of a copy of A lie when A's own may not: in equal parts of every panel.
AxisWindow even_axis(std::int64_t n, int nprocs) {
  const std::int64_t nb = std::max<std::int64_t>(1, panel_width / nprocs);
  return {gridmap::Axis::block_cyclic(n, nb, nprocs), 0, n};
}

} // namespace

template <class T>
void gemm(Op op_a, Op op_b, T alpha, const Operand<const T>& a, const Operand<const T>& b, T beta, const Operand<T>& c,
          Part part) {
  const std::int64_t k = op_a == Op::none ? a.n() : a.m();
  const std::vector<std::int64_t> rows = c.rows.indices(c.myrow()), cols = c.cols.indices(c.mycol());
  scale_part(part, {rows.data(), cols.data()}, c.m_loc(), c.n_loc(), beta, c.local(), c.lld);
  if (k == 0 || alpha == T{0} || c.m() == 0 || c.n() == 0) return;
  const Position& here = c.grid->here();
  std::optional<Temporary<T>> copy_a, copy_b;
  Operand<const T> x = a, y = b;
  if (op_a != Op::none || !a.rows.lies_as(c.rows)) {
    copy_a.emplace(moved<T>(a, op_a, c.rows, op_a == Op::none ? a.cols : even_axis(k, here.npcol)));
    x = as_source(copy_a->operand);
  }
  if (op_b != Op::none || !b.cols.lies_as(c.cols)) {
    copy_b.emplace(moved<T>(b, op_b, op_b == Op::none ? b.rows : even_axis(k, here.nprow), c.cols));
    y = as_source(copy_b->operand);
  }
  multiply(alpha, x, y, c, part);
}

template <class T>
void syrk(Part part, Op op, bool is_adjoint, T alpha, const Operand<const T>& a, T beta, const Operand<T>& c) {
  const Op turned = is_adjoint ? Op::conjugate_transpose : Op::transpose;
  const Op first = op == Op::none ? Op::none : turned, second = op == Op::none ? turned : Op::none;
  gemm(first, second, alpha, a, a, beta, c, part);
  if constexpr (blas::is_complex<T>) {
    if (!is_adjoint) return;
    for (const auto& piece : c.rows.pieces()) {
      if (piece.owner != c.myrow()) continue;
      for (const auto& col : c.cols.pieces_between(piece.first, piece.last()))
        for (std::int64_t i = 0; col.owner == c.mycol() && i < col.count; ++i) {
          T& x = *c.local(piece.local + col.first + i - piece.first, col.local + i);
          x = x.real();
        }
    }
  }
}

#define DYNGRID_INSTANTIATE(T)                                                                                         \
  template void gemm(Op, Op, T, const Operand<const T>&, const Operand<const T>&, T, const Operand<T>&, Part);         \
  template void syrk(Part, Op, bool, T, const Operand<const T>&, T, const Operand<T>&);
DYNGRID_FOR_ELEMENTS(DYNGRID_INSTANTIATE)
#undef DYNGRID_INSTANTIATE

} // namespace pblas
