// SPDX-License-Identifier: BSD-3-Clause
// A sub-matrix as the kernels see it, and the copies of those that do not lie as they must.
#pragma once
#include <algorithm>
#include <cstdint>

#include "axis_window.hpp"
#include "blas.hpp"
#include "grid.hpp"
#include "redist/plan.hpp"
#include "redist/shared_array.hpp"

namespace pblas {

using redist::Op;

/// rows x cols of a matrix on a grid. This process's part is the rectangle of the local array that begins at data.
template <class T> struct Operand {
  Grid* grid = nullptr;
  AxisWindow rows, cols;
  T* data = nullptr; ///< of the whole local array
  std::int64_t lld = 1;

  std::int64_t m() const { return rows.count(); }
  std::int64_t n() const { return cols.count(); }
  int myrow() const { return grid->here().myrow; }
  int mycol() const { return grid->here().mycol; }
  std::int64_t m_loc() const { return rows.local_count(myrow()); }
  std::int64_t n_loc() const { return cols.local_count(mycol()); }
  T* local() const { return data + rows.local_first(myrow()) + cols.local_first(mycol()) * lld; }
  T* local(std::int64_t i, std::int64_t j) const { return local() + i + j * lld; }
};

template <class T> Operand<const T> as_source(const Operand<T>& a) {
  return {a.grid, a.rows, a.cols, a.data, a.lld};
}

/// How wide panels of a matrix are, `widest` at most: `times` that many of its local rows or columns are one message on
/// all processes.
inline std::int64_t width_of_messages(std::int64_t widest, const AxisWindow& rows, const AxisWindow& cols,
                                      std::int64_t times = 1) {
  const std::int64_t longest = std::max({rows.most_local(), cols.most_local(), widest});
  return std::clamp<std::int64_t>((blas::most_elements() - 1) / (times * longest), 1, widest);
}

/// A matrix of its own, zero at first.
template <class T> class Temporary {
public:
  Temporary(Grid& grid, AxisWindow rows, AxisWindow cols) {
    const auto whole = [](const AxisWindow& w, int p) { return w.axis().local_size(p); };
    const std::int64_t m_loc = whole(rows, grid.here().myrow), n_loc = whole(cols, grid.here().mycol);
    const std::int64_t lld = m_loc > 1 ? m_loc : 1;
    memory_ = redist::SharedArray(static_cast<std::size_t>(lld * (n_loc > 1 ? n_loc : 1)) * sizeof(T));
    operand = {&grid, std::move(rows), std::move(cols), static_cast<T*>(memory_.data()), lld};
  }
  Operand<T> operand;

private:
  redist::SharedArray memory_;
};

/// Copies op(from) to `to`, both on one grid. Collective.
template <class T> void copy(const Operand<const T>& from, Op op, const Operand<T>& to);

/// op(a), with rows and columns as they are given. Collective.
template <class T>
Temporary<T> moved(const Operand<const T>& a, Op op, const AxisWindow& rows, const AxisWindow& cols) {
  Temporary<T> made(*a.grid, rows.trimmed(), cols.trimmed());
  copy<T>(a, op, made.operand);
  return made;
}

} // namespace pblas
