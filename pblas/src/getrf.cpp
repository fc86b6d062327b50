// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>

#include "base/index.hpp"
#include "factor.hpp"
#include "gather.hpp"
#include "lu_panel.hpp"
#include "relay.hpp"
#include "rows.hpp"
#include "trsm.hpp"

namespace pblas {

using base::at;

namespace {

constexpr std::int64_t widest_panel = 64;

/// One factorization under way: panel by panel, the next one factored while the matrix is still updated with this one.
template <class T> class Lu : public Factorization {
public:
  Lu(Operand<T> a, Progress& progress)
      : Factorization(progress, std::min(a.m(), a.n())), a_(std::move(a)), rows_(a_.rows.indices(a_.myrow())),
        widest_(width_of_messages(widest_panel, a_.rows, a_.cols, 2)),
        search_(a_.grid->col(), widest_), panels_{Travelling(a_), Travelling(a_)} {
    const std::vector<std::int64_t>& processes = a_.grid->col_processes();
    if (!processes.empty()) upper_in_place_.emplace(a_.grid->col(), a_.myrow(), a_.grid->here().nprow, processes);
  }

  void step(bool works_ahead) override {
    Travelling& now = panels_[turn_];
    if (!is_ahead_) send(now, progress_.next);
    now.receive();
    const std::vector<std::int64_t> chosen = now.panel.pivot_rows();
    progress_.pivots.insert(progress_.pivots.end(), chosen.begin(), chosen.end());
    if (progress_.info == 0) progress_.info = static_cast<std::int64_t>(now.panel.pivots.back());
    interchange(now.panel, chosen);
    share_upper(now.panel);
    const std::int64_t right = a_.n_loc() - upper_width_;
    progress_.next += now.panel.width;
    is_ahead_ = works_ahead && !is_done();
    std::int64_t done = right;
    if (is_ahead_) {
      const std::int64_t first = progress_.next;
      if (a_.cols.owner(first) == a_.mycol()) {
        done = std::min(right + end_of_panel(first) - first, a_.n_loc());
        update(now.panel, right, done);
      }
      send(panels_[1 - turn_], first);
    }
    update(now.panel, done, a_.n_loc());
    now.finish();
    if (upper_in_place_) upper_in_place_->finish();
    turn_ = 1 - turn_;
  }

private:
  struct Travelling {
    LuPanel<T> panel;
    Panels<T> elements;
    Relay<double> pivots;

    explicit Travelling(const Operand<T>& a)
        : elements(a.grid->row(), a.mycol(), a.grid->here().npcol, a.grid->row_processes()),
          pivots(a.grid->row(), a.mycol(), a.grid->here().npcol, base::tag_pivots) {}
    void receive() {
      pivots.receive();
      elements.receive();
    }
    void finish() {
      pivots.finish();
      elements.finish();
    }
  };

  /// A panel ends where another process begins, in either direction: its diagonal block is on one process.
  std::int64_t end_of_panel(std::int64_t first) const {
    return std::min({first + widest_, a_.cols.end_of_piece(first), a_.rows.end_of_piece(first), columns_});
  }

  /// Factors the panel where it is, and sends it to the others.
  void send(Travelling& travelling, std::int64_t first) {
    LuPanel<T>& panel = travelling.panel;
    panel.first = first;
    panel.width = end_of_panel(first) - first;
    panel.prow = a_.rows.owner(first);
    panel.pcol = a_.cols.owner(first);
    panel.row = a_.rows.count_before(a_.myrow(), first);
    panel.col = a_.cols.count_before(a_.mycol(), first);
    panel.height = a_.m_loc() - panel.row - (panel.prow == a_.myrow() ? panel.width : 0);
    panel.elements.resize(at(panel.width * (panel.width + panel.height)));
    panel.pivots.resize(at(panel.width) + 1);
    if (panel.pcol == a_.mycol()) factor(a_, rows_, search_, panel);
    travelling.pivots.start(panel.pivots.data(), panel.width + 1, panel.pcol);
    travelling.elements.start(panel.elements.data(), panel.width * (panel.width + panel.height), panel.pcol);
  }

  /// The rows that changed places in the panel, in all other columns.
  void interchange(const LuPanel<T>& panel, const std::vector<std::int64_t>& chosen) {
    const std::int64_t own = panel.pcol == a_.mycol() ? panel.width : 0;
    move_rows(a_, moves_of(panel.first, chosen), {{0, panel.col}, {panel.col + own, a_.n_loc()}});
  }

  /// The rows of U beside the panel's diagonal block: solved where they are, and given to the whole column of the grid.
  void share_upper(const LuPanel<T>& panel) {
    const std::int64_t right = panel.col + (panel.pcol == a_.mycol() ? panel.width : 0);
    upper_width_ = a_.n_loc() - right;
    upper_.resize(at(panel.width * upper_width_));
    if (panel.prow == a_.myrow()) {
      T* mine = a_.local(panel.row, right);
      blas::trsm<T>('L', 'L', 'U', {panel.block(), panel.width}, {mine, a_.lld, panel.width, upper_width_});
      blas::pack<T>({mine, a_.lld, panel.width, upper_width_}, upper_.data());
    }
    if (a_.grid->here().nprow == 1 || upper_width_ == 0) return;
    if (upper_in_place_) {
      upper_in_place_->start(upper_.data(), static_cast<std::int64_t>(upper_.size()), panel.prow);
      upper_in_place_->receive();
    } else {
      base::check_mpi(MPI_Bcast(upper_.data(), blas::to_count(static_cast<std::int64_t>(upper_.size())),
                                blas::mpi_type<T>(), panel.prow, a_.grid->col()),
                      "MPI_Bcast");
    }
  }

  /// Local columns begin .. end-1.
  void update(const LuPanel<T>& panel, std::int64_t begin, std::int64_t end) {
    const std::int64_t right = a_.n_loc() - upper_width_;
    blas::gemm<T>(panel.width, T{-1}, {panel.below(), panel.height},
                  {upper_.data() + (begin - right) * panel.width, panel.width}, T{1},
                  {a_.local(a_.m_loc() - panel.height, begin), a_.lld, panel.height, end - begin});
  }

  const Operand<T> a_;
  std::vector<std::int64_t> rows_;
  std::int64_t widest_; ///< each of its columns may interchange two rows
  PivotSearch<T> search_;
  Travelling panels_[2];
  std::vector<T> upper_; ///< of the panel in use: width x upper_width_, my last columns
  std::optional<Panels<T>> upper_in_place_;
  std::int64_t upper_width_ = 0;
  int turn_ = 0;
};

/// Interchanges in portions, so that not all of B is on its way at once.
template <class T> void interchange(const std::vector<std::int64_t>& pivots, bool backwards, const Operand<T>& b) {
  const std::int64_t portion = width_of_messages(256, b.rows, b.cols, 2);
  const auto count = static_cast<std::int64_t>(pivots.size());
  const std::int64_t portions = (count + portion - 1) / portion;
  for (std::int64_t t = 0; t < portions; ++t) {
    const std::int64_t first = (backwards ? portions - 1 - t : t) * portion, end = std::min(count, first + portion);
    move_rows(b, moves_of(first, {pivots.begin() + first, pivots.begin() + end}, backwards), {{0, b.n_loc()}});
  }
}

} // namespace

template <class T> std::unique_ptr<Factorization> lu(Operand<T> a, Progress& progress) {
  return std::make_unique<Lu<T>>(std::move(a), progress);
}

template <class T> std::int64_t getrf(const Operand<T>& a, std::vector<std::int64_t>& pivots) {
  Progress progress;
  Lu<T>(a, progress).run();
  pivots = std::move(progress.pivots);
  return progress.info;
}

template <class T>
void getrs(Op op, const Operand<const T>& a, const std::vector<std::int64_t>& pivots, const Operand<T>& b) {
  if (b.m() == 0 || b.n() == 0) return;
  const Triangle lower{true, true, true}, upper{true, false, false};
  if (op == Op::none) {
    interchange(pivots, false, b);
    trsm(lower, op, T{1}, a, b);
    trsm(upper, op, T{1}, a, b);
  } else {
    trsm(upper, op, T{1}, a, b);
    trsm(lower, op, T{1}, a, b);
    interchange(pivots, true, b);
  }
}

#define DYNGRID_INSTANTIATE(T)                                                                                         \
  template std::unique_ptr<Factorization> lu(Operand<T>, Progress&);                                                   \
  template std::int64_t getrf(const Operand<T>&, std::vector<std::int64_t>&);                                          \
  template void getrs(Op, const Operand<const T>&, const std::vector<std::int64_t>&, const Operand<T>&);
DYNGRID_FOR_ELEMENTS(DYNGRID_INSTANTIATE)
#undef DYNGRID_INSTANTIATE

} // namespace pblas
