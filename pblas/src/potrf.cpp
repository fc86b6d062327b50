// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <complex>

#include "base/index.hpp"
#include "factor.hpp"
#include "gather.hpp"
#include "triangle.hpp"
#include "trsm.hpp"

namespace pblas {

using base::at;

namespace {

constexpr std::int64_t widest = 64;

/// One factorization under way. The upper one is the lower one with rows and columns exchanged: a panel goes along
/// `far`, the rows (lower) or the columns (upper), and lies across `near`.
template <class T> class Cholesky {
public:
  Cholesky(bool is_lower, const Operand<T>& a)
      : a_(a), is_lower_(is_lower), far_(is_lower ? a.rows : a.cols), near_(is_lower ? a.cols : a.rows),
        my_far_(is_lower ? a.myrow() : a.mycol()), my_near_(is_lower ? a.mycol() : a.myrow()),
        along_(is_lower ? a.grid->col() : a.grid->row()), across_(is_lower ? a.grid->row() : a.grid->col()),
        rows_(a.rows.indices(a.myrow())), cols_(a.cols.indices(a.mycol())),
        near_of_far_(far_.owners_in(near_, my_far_)), far_of_near_(near_.owners_in(far_, my_near_)) {}

  std::int64_t run() {
    for (std::int64_t first = 0, end = 0; first < a_.n(); first = end) {
      end = std::min({first + widest, far_.end_of_piece(first), near_.end_of_piece(first), a_.n()});
      if (const std::int64_t info = step(first, end - first); info != 0) return first + info;
    }
    return 0;
  }

private:
  std::int64_t step(std::int64_t first, std::int64_t width) {
    const std::int64_t far = far_.count_before(my_far_, first + width);
    const std::int64_t near = near_.count_before(my_near_, first + width);
    const std::int64_t height = far_.local_count(my_far_) - far;
    panel_.assign(at(height * width) + 1, T{0});
    if (near_.owner(first) == my_near_) factor_panel(first, width, far, height);
    broadcast(panel_, near_.owner(first), across_);
    if (panel_.back() != T{0}) return static_cast<std::int64_t>(std::real(panel_.back()));
    const std::vector<T> turned = gather_near(width, far, height, near);
    update(width, far, height, near, turned);
    return 0;
  }

  /// panel_: my part of it below the diagonal block (lower), or the adjoint of that beside it (upper), height x width;
  /// then info.
  void factor_panel(std::int64_t first, std::int64_t width, std::int64_t far, std::int64_t height) {
    const std::int64_t begin = near_.count_before(my_near_, first);
    std::vector<T> block(at(width * width) + 1, T{0});
    if (far_.owner(first) == my_far_) {
      const std::int64_t above = far_.count_before(my_far_, first);
      T* mine = is_lower_ ? a_.local(above, begin) : a_.local(begin, above);
      block.back() = T(static_cast<blas::Real<T>>(blas::potrf(is_lower_ ? 'L' : 'U', width, mine, a_.lld)));
      for (std::int64_t j = 0; j < width; ++j) std::copy_n(mine + j * a_.lld, width, block.data() + j * width);
    }
    broadcast(block, far_.owner(first), along_);
    panel_.back() = block.back();
    if (block.back() != T{0}) return;
    T* mine = is_lower_ ? a_.local(far, begin) : a_.local(begin, far);
    if (is_lower_) {
      blas::trsm('R', 'L', 'C', 'N', height, width, block.data(), width, mine, a_.lld);
      for (std::int64_t j = 0; j < width; ++j) std::copy_n(mine + j * a_.lld, height, panel_.data() + j * height);
    } else {
      blas::trsm('L', 'U', 'C', 'N', width, height, block.data(), width, mine, a_.lld);
      for (std::int64_t i = 0; i < height; ++i)
        for (std::int64_t j = 0; j < width; ++j) panel_[at(i + j * height)] = blas::conj(mine[j + i * a_.lld]);
    }
  }

  /// The rows of the panel whose numbers are my columns (lower) or rows (upper) that come after it.
  std::vector<T> gather_near(std::int64_t width, std::int64_t far, std::int64_t height, std::int64_t near) {
    const int size = is_lower_ ? a_.grid->here().nprow : a_.grid->here().npcol;
    std::vector<std::int64_t> mine_at;
    for (std::int64_t i = 0; i < height; ++i)
      if (near_of_far_[at(far + i)] == my_near_) mine_at.push_back(i);
    std::vector<T> mine(mine_at.size() * at(width));
    for (std::size_t i = 0; i < mine_at.size(); ++i)
      for (std::size_t j = 0; j < at(width); ++j)
        mine[i + j * mine_at.size()] = panel_[at(mine_at[i]) + j * at(height)];
    std::vector<std::int64_t> counts(at(size), 0), lengths;
    for (std::size_t i = at(near); i < far_of_near_.size(); ++i) ++counts[at(far_of_near_[i])];
    for (const std::int64_t count : counts) lengths.push_back(count * width);
    const std::vector<T> all = size == 1 ? mine : gathered(mine, lengths, along_);
    const std::vector<std::int64_t> offsets = offsets_of(lengths);
    const std::int64_t total = offsets.back() / width;
    std::vector<T> ordered(at(total * width));
    std::vector<std::int64_t> next(at(size), 0);
    for (std::int64_t i = 0; i < total; ++i) {
      const std::size_t from = at(far_of_near_[at(near + i)]);
      const std::int64_t place = offsets[from] + next[from]++;
      for (std::int64_t j = 0; j < width; ++j) ordered[at(i + j * total)] = all[at(place + j * counts[from])];
    }
    return ordered;
  }

  void update(std::int64_t width, std::int64_t far, std::int64_t height, std::int64_t near,
              const std::vector<T>& turned) {
    const std::int64_t breadth = near_.local_count(my_near_) - near;
    if (is_lower_)
      update_part(Part::lower, {rows_.data() + far, cols_.data() + near}, height, breadth, width, T{-1}, panel_.data(),
                  height, 'C', turned.data(), breadth, a_.local(far, near), a_.lld);
    else
      update_part(Part::upper, {rows_.data() + near, cols_.data() + far}, breadth, height, width, T{-1}, turned.data(),
                  breadth, 'C', panel_.data(), height, a_.local(near, far), a_.lld);
  }

  void broadcast(std::vector<T>& elements, int root, MPI_Comm comm) {
    base::check_mpi(MPI_Bcast(elements.data(), blas::to_int(static_cast<std::int64_t>(elements.size())),
                              blas::mpi_type<T>(), root, comm),
                    "MPI_Bcast");
  }

  const Operand<T>& a_;
  bool is_lower_;
  const AxisWindow &far_, &near_;
  int my_far_, my_near_;
  MPI_Comm along_, across_;
  std::vector<std::int64_t> rows_, cols_;
  std::vector<int> near_of_far_, far_of_near_; ///< of what I have, where the other axis has it
  std::vector<T> panel_;
};

} // namespace

template <class T> std::int64_t potrf(bool is_lower, const Operand<T>& a) {
  return Cholesky<T>(is_lower, a).run();
}

template <class T> void potrs(bool is_lower, const Operand<const T>& a, const Operand<T>& b) {
  const Triangle triangle{true, is_lower, false};
  const Op turned = blas::is_complex<T> ? Op::conjugate_transpose : Op::transpose;
  trsm(triangle, is_lower ? Op::none : turned, T{1}, a, b);
  trsm(triangle, is_lower ? turned : Op::none, T{1}, a, b);
}

#define DYNGRID_INSTANTIATE(T)                                                                                         \
  template std::int64_t potrf(bool, const Operand<T>&);                                                                \
  template void potrs(bool, const Operand<const T>&, const Operand<T>&);
DYNGRID_INSTANTIATE(float)
DYNGRID_INSTANTIATE(double)
DYNGRID_INSTANTIATE(std::complex<float>)
DYNGRID_INSTANTIATE(std::complex<double>)
#undef DYNGRID_INSTANTIATE

} // namespace pblas
