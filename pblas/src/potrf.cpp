// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "base/index.hpp"
#include "factor.hpp"
#include "relay.hpp"
#include "ring.hpp"
#include "triangle.hpp"
#include "trsm.hpp"

namespace pblas {

using base::at;

namespace {

constexpr std::int64_t widest_factored = 64;
constexpr std::int64_t trailing_width = 128; ///< columns that are updated between two looks at the next panel

/// One factorization under way. The upper one is the lower one with rows and columns exchanged: a panel goes along
/// `far`, the rows (lower) or the columns (upper), and lies across `near`.
template <class T> class Cholesky : public Factorization {
public:
  Cholesky(bool is_lower, Operand<T> a, Progress& progress)
      : Factorization(progress, a.n()), a_(std::move(a)), is_lower_(is_lower), far_(is_lower ? a_.rows : a_.cols),
        near_(is_lower ? a_.cols : a_.rows), my_far_(is_lower ? a_.myrow() : a_.mycol()),
        my_near_(is_lower ? a_.mycol() : a_.myrow()), along_(is_lower ? a_.grid->col() : a_.grid->row()),
        across_(is_lower ? a_.grid->row() : a_.grid->col()), rows_(a_.rows.indices(a_.myrow())),
        cols_(a_.cols.indices(a_.mycol())), widest_(width_of_messages(widest_factored, a_.rows, a_.cols)),
        near_of_far_(far_.owners_in(near_, my_far_)), far_of_near_(near_.owners_in(far_, my_near_)),
        slices_(along_, my_far_, size_along(), is_lower_ ? a_.grid->col_processes() : a_.grid->row_processes()),
        panels_{travelling(), travelling()} {}

  bool is_done() const override { return progress_.info != 0 || Factorization::is_done(); }

  void step(bool works_ahead) override {
    Travelling& now = panels_[turn_];
    if (!is_ahead_) send(now, progress_.next);
    is_ahead_ = false;
    now.relay.receive();
    if (const T info = now.panel.back(); info != T{0}) {
      now.relay.finish();
      progress_.info = now.first + static_cast<std::int64_t>(std::real(info));
      return;
    }
    const std::int64_t first = progress_.next = now.first + now.width;
    const std::int64_t near = near_.count_before(my_near_, first);
    begin_to_turn(now);
    const std::vector<T> turned = turn(now);
    const std::int64_t breadth = near_.local_count(my_near_) - near;
    std::int64_t done = 0, end = 0;
    is_ahead_ = works_ahead && !is_done();
    Travelling& next = panels_[1 - turn_];
    if (is_ahead_) {
      if (near_.owner(first) == my_near_) {
        done = near_.count_before(my_near_, end_of_panel(first)) - near;
        update(now, near, turned, 0, done);
      }
      send(next, first);
    }
    for (; done < breadth; done = end) {
      end = is_ahead_ && !has_been_turned(next) ? std::min(done + trailing_width, breadth) : breadth;
      update(now, near, turned, done, end);
    }
    now.relay.finish();
    turn_ = 1 - turn_;
  }

  /// After a failure: leaves of its block what ScaLAPACK leaves, the columns before the pivot that failed, and the
  /// pivot.
  void factor_failed_block() {
    const std::int64_t first = progress_.next;
    if (a_.rows.owner(first) != a_.myrow() || a_.cols.owner(first) != a_.mycol()) return;
    T* mine = a_.local(a_.rows.count_before(a_.myrow(), first), a_.cols.count_before(a_.mycol(), first));
    blas::potf2(is_lower_ ? 'L' : 'U', end_of_panel(first) - first, mine, a_.lld);
  }

private:
  /// A panel on its way across the grid: my part of it below the diagonal block (lower), or the adjoint of that beside
  /// it (upper), height x width; then info.
  struct Travelling {
    std::int64_t first = 0, width = 0;
    std::int64_t far = 0, height = 0; ///< local: before it, and of it
    std::vector<T> panel;
    std::vector<T> slices; ///< of turn(), from all processes that the panel goes along, by `offsets`
    std::vector<std::int64_t> offsets;
    bool is_turning = false;
    Panels<T> relay;

    Travelling(MPI_Comm across, int rank, int size, const std::vector<std::int64_t>& processes)
        : relay(across, rank, size, processes) {}
  };

  int size_along() const { return is_lower_ ? a_.grid->here().nprow : a_.grid->here().npcol; }

  Travelling travelling() const {
    const Position& here = a_.grid->here();
    return {across_, my_near_, is_lower_ ? here.npcol : here.nprow,
            is_lower_ ? a_.grid->row_processes() : a_.grid->col_processes()};
  }

  std::int64_t end_of_panel(std::int64_t first) const {
    return std::min({first + widest_, far_.end_of_piece(first), near_.end_of_piece(first), columns_});
  }

  /// Factors the panel where it is, and sends it to the others.
  void send(Travelling& travelling, std::int64_t first) {
    travelling.first = first;
    travelling.width = end_of_panel(first) - first;
    travelling.far = far_.count_before(my_far_, first + travelling.width);
    travelling.height = far_.local_count(my_far_) - travelling.far;
    travelling.panel.resize(at(travelling.height * travelling.width) + 1);
    travelling.panel.back() = T{0};
    if (near_.owner(first) == my_near_) factor_panel(travelling);
    travelling.relay.start(travelling.panel.data(), static_cast<std::int64_t>(travelling.panel.size()),
                           near_.owner(first));
  }

  void factor_panel(Travelling& travelling) {
    const std::int64_t first = travelling.first, width = travelling.width, height = travelling.height;
    const std::int64_t begin = near_.count_before(my_near_, first);
    std::vector<T> block(at(width * width) + 1, T{0});
    if (far_.owner(first) == my_far_) {
      const std::int64_t above = far_.count_before(my_far_, first);
      T* mine = is_lower_ ? a_.local(above, begin) : a_.local(begin, above);
      blas::pack<T>({mine, a_.lld, width, width}, block.data());
      block.back() = T(static_cast<blas::Real<T>>(blas::potrf(is_lower_ ? 'L' : 'U', width, block.data(), width)));
      for (std::int64_t j = 0; j < width && block.back() == T{0}; ++j)
        std::copy_n(block.data() + j * width, width, mine + j * a_.lld);
    }
    base::check_mpi(MPI_Bcast(block.data(), blas::to_count(static_cast<std::int64_t>(block.size())),
                              blas::mpi_type<T>(), far_.owner(first), along_),
                    "MPI_Bcast");
    travelling.panel.back() = block.back();
    if (block.back() != T{0}) return;
    T* mine = is_lower_ ? a_.local(travelling.far, begin) : a_.local(begin, travelling.far);
    std::vector<T>& panel = travelling.panel;
    if (is_lower_) {
      blas::trsm<T>('R', 'L', 'N', {block.data(), width, 'C'}, {mine, a_.lld, height, width});
      blas::pack<T>({mine, a_.lld, height, width}, panel.data());
    } else {
      blas::trsm<T>('L', 'U', 'N', {block.data(), width, 'C'}, {mine, a_.lld, width, height});
      for (std::int64_t i = 0; i < height; ++i)
        for (std::int64_t j = 0; j < width; ++j) panel[at(i + j * height)] = blas::conj(mine[j + i * a_.lld]);
    }
  }

  /// Rows of the panel on their way to the processes that it goes along: those whose numbers are my columns (lower) or
  /// rows (upper) that come after it.
  void begin_to_turn(Travelling& travelling) {
    if (std::exchange(travelling.is_turning, true)) return;
    const std::int64_t width = travelling.width, height = travelling.height;
    const std::int64_t near = near_.count_before(my_near_, travelling.first + width);
    std::vector<std::int64_t> lengths(at(size_along()), 0);
    for (std::size_t i = at(near); i < far_of_near_.size(); ++i) lengths[at(far_of_near_[i])] += width;
    travelling.offsets = offsets_of(lengths);
    travelling.slices.resize(at(travelling.offsets.back()));
    std::vector<std::size_t> mine_at;
    for (std::int64_t i = 0; i < height; ++i)
      if (near_of_far_[at(travelling.far + i)] == my_near_) mine_at.push_back(at(i));
    T* to = travelling.slices.data() + travelling.offsets[at(my_far_)];
    for (std::size_t j = 0; j < at(width); ++j)
      for (const std::size_t i : mine_at) *to++ = travelling.panel[i + j * at(height)];
    if (size_along() > 1) slices_.start(travelling.slices.data(), travelling.offsets.data());
  }

  /// Goes on with that when the panel has come, without waiting. @return whether nothing more can be done
  bool has_been_turned(Travelling& travelling) {
    if (!travelling.relay.has_come()) return false;
    if (travelling.panel.back() != T{0}) return true; // it will not be used
    begin_to_turn(travelling);
    if (size_along() > 1) slices_.advance();
    return size_along() == 1 || slices_.is_done();
  }

  /// These rows in the order of my columns or rows.
  std::vector<T> turn(Travelling& travelling) {
    travelling.is_turning = false;
    if (size_along() == 1) return std::move(travelling.slices);
    slices_.finish();
    const std::int64_t width = travelling.width, total = travelling.offsets.back() / width;
    const std::size_t near = far_of_near_.size() - at(total);
    std::vector<std::int64_t> counts;
    for (std::size_t p = 0; p < at(size_along()); ++p)
      counts.push_back((travelling.offsets[p + 1] - travelling.offsets[p]) / width);
    std::vector<T> ordered(at(total * width));
    for (std::int64_t j = 0; j < width; ++j) {
      std::vector<std::int64_t> next(travelling.offsets.begin(), travelling.offsets.end() - 1);
      for (std::int64_t i = 0; i < total; ++i) {
        const std::size_t from = at(far_of_near_[near + at(i)]);
        ordered[at(i + j * total)] = travelling.slices[at(next[from]++ + j * counts[from])];
      }
    }
    return ordered;
  }

  /// Columns (lower) or rows (upper) begin .. end-1 of those that come after the panel.
  void update(const Travelling& travelling, std::int64_t near, const std::vector<T>& turned, std::int64_t begin,
              std::int64_t end) {
    const std::int64_t far = travelling.far, height = travelling.height, width = travelling.width;
    const std::int64_t breadth = near_.local_count(my_near_) - near;
    if (height == 0 || begin >= end) return;
    if (is_lower_)
      TriangleUpdate<T>({Part::lower, rows_.data() + far, cols_.data() + near}, width, T{-1},
                        {travelling.panel.data(), height}, {turned.data(), breadth, 'C'},
                        {a_.local(far, near), a_.lld, height, breadth})
          .run(0, height, begin, end);
    else
      TriangleUpdate<T>({Part::upper, rows_.data() + near, cols_.data() + far}, width, T{-1}, {turned.data(), breadth},
                        {travelling.panel.data(), height, 'C'}, {a_.local(near, far), a_.lld, breadth, height})
          .run(begin, end, 0, height);
  }

  const Operand<T> a_;
  bool is_lower_;
  const AxisWindow &far_, &near_;
  int my_far_, my_near_;
  MPI_Comm along_, across_;
  std::vector<std::int64_t> rows_, cols_;
  std::int64_t widest_;                        ///< panel
  std::vector<int> near_of_far_, far_of_near_; ///< of what I have, where the other axis has it
  Slices<T> slices_;
  Travelling panels_[2];
  int turn_ = 0;
};

} // namespace

template <class T> std::unique_ptr<Factorization> cholesky(bool is_lower, Operand<T> a, Progress& progress) {
  return std::make_unique<Cholesky<T>>(is_lower, std::move(a), progress);
}

template <class T> std::int64_t potrf(bool is_lower, const Operand<T>& a) {
  Progress progress;
  Cholesky<T> factorization(is_lower, a, progress);
  factorization.run();
  if (progress.info != 0) factorization.factor_failed_block();
  return progress.info;
}

template <class T> void potrs(bool is_lower, const Operand<const T>& a, const Operand<T>& b) {
  const Triangle triangle{true, is_lower, false};
  const Op turned = blas::is_complex<T> ? Op::conjugate_transpose : Op::transpose;
  trsm(triangle, is_lower ? Op::none : turned, T{1}, a, b);
  trsm(triangle, is_lower ? turned : Op::none, T{1}, a, b);
}

#define DYNGRID_INSTANTIATE(T)                                                                                         \
  template std::unique_ptr<Factorization> cholesky(bool, Operand<T>, Progress&);                                       \
  template std::int64_t potrf(bool, const Operand<T>&);                                                                \
  template void potrs(bool, const Operand<const T>&, const Operand<T>&);
DYNGRID_FOR_ELEMENTS(DYNGRID_INSTANTIATE)
#undef DYNGRID_INSTANTIATE

} // namespace pblas
