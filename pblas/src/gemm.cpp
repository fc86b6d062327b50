// SPDX-License-Identifier: BSD-3-Clause
#include "gemm.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/index.hpp"
#include "base/mpi/check.hpp"
#include "base/mpi/wait.hpp"
#include "base/tags.hpp"
#include "ring.hpp"
#include "room.hpp"

namespace pblas {

using base::at;

namespace {

// A product has at most two panels of A and two of B beside the matrices: 2 kb (m_loc + n_loc) elements. Where there
// are several, they are less wide, for lists of indices, and grids of 2, 3, 4 and 6 divide them.
constexpr std::int64_t kb = 256, several_kb = 252;
constexpr std::int64_t strip_width = 384; ///< columns of C between two looks at the messages
constexpr std::int64_t least_depth = 32;  ///< of a product of a part of a panel
constexpr std::int64_t least_mean = 128;  ///< width of panels that are what each process has

std::int64_t div_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Panels are as wide as each other, but for the last one.
std::int64_t width_of_panels(std::int64_t k) {
  if (k <= kb) return std::max<std::int64_t>(1, k);
  const std::int64_t panels = div_up(k, several_kb), multiple = 12;
  return div_up(div_up(k, panels), multiple) * multiple;
}

/// What each process of a row or column of the grid has of a panel, in a buffer, one after the other.
struct SlicesOf {
  std::vector<std::int64_t> counts, offsets; ///< columns of A or rows of B; elements

  /// Columns or rows k .. k_end-1, each of `length` elements here.
  SlicesOf(const AxisWindow& window, int processes, std::int64_t length, std::int64_t k, std::int64_t k_end) {
    std::vector<std::int64_t> lengths;
    for (int p = 0; p < processes; ++p) {
      counts.push_back(window.count_before(p, k_end) - window.count_before(p, k));
      lengths.push_back(length * counts.back());
    }
    offsets = offsets_of(lengths);
  }
};

/// Panels of A on every process of a row of the grid: my rows by the columns of the panel, those of each owner
/// together. Where one process has all columns they are used where they lie.
template <class T> class PanelsOfA {
public:
  PanelsOfA(const Operand<const T>& a, std::int64_t panel_k)
      : a_(a), size_(a.grid->here().npcol), height_(a.m_loc()),
        slices_(a.grid->row(), a.mycol(), size_, a.grid->row_processes()) {
    const int count = size_ == 1 ? 0 : a.n() > panel_k ? 2 : 1;
    for (int k = 0; k < count; ++k) buffers_[k] = Room::of<T>(height_ * std::min(panel_k, a.n()));
  }
  /// Columns k .. k_end-1 are sent for.
  void start(std::int64_t k, std::int64_t k_end) {
    if (size_ == 1) {
      next_ = a_.local(0, k);
      return;
    }
    turn_ = 1 - turn_;
    slices_.has_been_read(Round::before_last, true); // it is in this buffer
    T* buffer = buffers_[turn_].template as<T>();
    const SlicesOf slices(a_.cols, size_, height_, k, k_end);
    offsets_ = slices.offsets;
    T* mine = buffer + offsets_[at(a_.mycol())];
    blas::pack<T>({a_.local(0, a_.cols.count_before(a_.mycol(), k)), a_.lld, height_, slices.counts[at(a_.mycol())]},
                  mine);
    next_ = buffer;
    slices_.start(buffer, offsets_.data(), mine);
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

/// Panels of B on every process of a column of the grid: the rows of the panel by my columns, the rows in the order in
/// which A's panel has its columns.
template <class T> class PanelsOfB {
public:
  PanelsOfB(const Operand<const T>& b, const AxisWindow& order, std::int64_t panel_k)
      : b_(b), order_(order), size_(b.grid->here().nprow), width_(b.n_loc()),
        slices_(b.grid->col(), b.myrow(), size_, b.grid->col_processes()) {
    const std::int64_t most = width_ * std::min(panel_k, b.m());
    if (size_ > 1) packed_ = Room::of<T>(most);
    if (is_unpacked()) panel_ = Room::of<T>(most);
  }
  /// Rows k .. k_end-1 are requested as soon as no process reads mine of the panel before.
  void start(std::int64_t k, std::int64_t k_end) {
    k_ = k, k_end_ = k_end;
    is_held_ = size_ > 1;
    send(false);
  }
  void advance() {
    send(false);
    if (size_ > 1 && !is_held_) slices_.advance();
  }
  /// The panel that was sent for last; good until the next one.
  const T* finish() {
    send(true);
    if (size_ > 1) slices_.finish();
    if (!is_unpacked()) return b_.local(k_, 0);
    unpack();
    return panel_.template as<T>();
  }
  bool is_idle() const { return size_ == 1 || (!is_held_ && slices_.is_done()); }
  std::int64_t ld() const { return is_unpacked() ? k_end_ - k_ : b_.lld; }

private:
  bool is_unpacked() const { return size_ > 1 || order_.axis().nprocs > 1; }

  void send(bool waits) {
    if (!is_held_ || !slices_.has_been_read(Round::last, waits)) return;
    is_held_ = false;
    const SlicesOf slices(b_.rows, size_, width_, k_, k_end_);
    offsets_ = slices.offsets;
    T* mine = packed_.template as<T>() + offsets_[at(b_.myrow())];
    blas::pack<T>({b_.local(b_.rows.count_before(b_.myrow(), k_), 0), b_.lld, slices.counts[at(b_.myrow())], width_},
                  mine);
    slices_.start(packed_.template as<T>(), offsets_.data(), mine);
  }

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
  bool is_held_ = false; ///< not yet sent for
  Room packed_, panel_;  ///< before what writes to them
  Slices<T> slices_;
  std::vector<std::int64_t> offsets_;
};

/// Columns of A that one process of each row has together, and the rows of B to them, which one of each column has.
struct Stretch {
  int col = 0, row = 0;                       ///< of the grid
  std::int64_t of_a = 0, of_b = 0, count = 0; ///< local: where they begin
};

/// All columns of A; those that follow each other on both processes are one stretch.
std::vector<Stretch> stretches_of(const AxisWindow& cols, const AxisWindow& rows) {
  std::vector<Stretch> all;
  for (const auto& col : cols.pieces())
    for (const auto& row : rows.pieces_between(col.first, col.last())) {
      const Stretch next{col.owner, row.owner, col.local + row.first - col.first, row.local, row.count};
      const auto before = std::find_if(all.begin(), all.end(), [&](const Stretch& s) {
        return s.col == next.col && s.row == next.row && s.of_a + s.count == next.of_a && s.of_b + s.count == next.of_b;
      });
      if (before != all.end())
        before->count += next.count;
      else
        all.push_back(next);
    }
  return all;
}

/// What all processes of a row or column of the grid have of the only panel of a short product: mine where it lies.
template <class T> class WholeSlices {
public:
  WholeSlices(MPI_Comm comm, int rank, const std::vector<std::int64_t>& processes, const SlicesOf& slices,
              const blas::Block<const T>& mine)
      : rank_(rank), size_(static_cast<int>(slices.counts.size())), slices_of_(slices), mine_(mine.data),
        slices_(comm, rank, size_, processes) {
    if (size_ == 1) return;
    buffer_ = Room::of<T>(slices_of_.offsets.back());
    const T* together = mine.data;
    if (mine.ld != mine.m && mine.n > 1) {
      T* packed = buffer_.template as<T>() + slices_of_.offsets[at(rank)];
      blas::pack<T>(mine, packed);
      together = packed;
    }
    slices_.start(buffer_.template as<T>(), slices_of_.offsets.data(), together);
  }
  void finish() {
    if (size_ > 1) slices_.finish();
  }
  bool is_mine(int rank) const { return rank == rank_; }
  const T* of(int rank) const {
    return is_mine(rank) ? mine_ : buffer_.template as<T>() + slices_of_.offsets[at(rank)];
  }
  std::int64_t count(int rank) const { return slices_of_.counts[at(rank)]; }

private:
  int rank_, size_;
  SlicesOf slices_of_;
  const T* mine_;
  Room buffer_; ///< before what writes to it
  Slices<T> slices_;
};

/// C := alpha A B + C in a part of C, of operands that lie as C does.
template <class T> struct Product {
  T alpha;
  const Operand<const T>&a, &b;
  const Operand<T>& c;
  Region region; ///< of C here
};

/// A product of one panel whose columns are in few stretches: no slice is brought into another order, and what this
/// process has itself is multiplied where it lies, while the rest travels.
template <class T> void multiply_at_once(const Product<T>& product, const std::vector<Stretch>& stretches) {
  const Operand<const T>&a = product.a, &b = product.b;
  const Operand<T>& c = product.c;
  const std::int64_t m = c.m_loc(), n = c.n_loc(), k = a.n();
  const Position& here = c.grid->here();
  const SlicesOf cols(a.cols, here.npcol, m, 0, k), rows(b.rows, here.nprow, n, 0, k);
  WholeSlices<T> of_a(c.grid->row(), here.mycol, c.grid->row_processes(), cols,
                      {a.local(), a.lld, m, cols.counts[at(here.mycol)]});
  WholeSlices<T> of_b(c.grid->col(), here.myrow, c.grid->col_processes(), rows,
                      {b.local(), b.lld, rows.counts[at(here.myrow)], n});
  const auto add = [&](bool own) {
    for (const Stretch& s : stretches) {
      const bool mine_a = of_a.is_mine(s.col), mine_b = of_b.is_mine(s.row);
      if ((mine_a && mine_b) != own) continue;
      const std::int64_t lda = mine_a ? a.lld : m, ldb = mine_b ? b.lld : of_b.count(s.row);
      update_part<T>(product.region, s.count, product.alpha, {of_a.of(s.col) + s.of_a * lda, lda},
                     {of_b.of(s.row) + s.of_b, ldb}, {c.local(), c.lld, m, n});
    }
  };
  add(true);
  of_a.finish();
  of_b.finish();
  add(false);
}

/// Adds the product of two panels to C, in strips while messages are under way.
/// @param advance  looks at the messages; whether none is under way
template <class T, class Advance>
void update_in_strips(const Product<T>& product, const blas::Panel<T>& a, const blas::Panel<T>& b, std::int64_t depth,
                      Advance&& advance) {
  const Operand<T>& c = product.c;
  const Region& region = product.region;
  const std::int64_t n = c.n_loc();
  for (std::int64_t j = 0, width = 0; j < n; j += width) {
    width = advance() ? n - j : std::min(strip_width, n - j);
    update_part<T>({region.part, region.rows, region.cols == nullptr ? nullptr : region.cols + j}, depth, product.alpha,
                   a, {b.data + j * b.ld, b.ld}, {c.local(0, j), c.lld, c.m_loc(), width});
  }
}

/// What each process of the only row or column of a grid has of the operand that moves, which is a panel: from where it
/// lies to all processes. In step s a process gets that of the s-th one after it.
template <class T> class PanelsOfOwners {
public:
  /// Mine stays as it is until the end of this.
  PanelsOfOwners(MPI_Comm comm, int rank, std::vector<std::int64_t> lengths, const blas::Block<const T>& mine)
      : comm_(comm), rank_(rank), size_(static_cast<int>(lengths.size())), lengths_(std::move(lengths)),
        mine_(mine.data), requests_(at(size_), MPI_REQUEST_NULL) {
    const bool is_together = mine.ld == mine.m || mine.n <= 1;
    const std::int64_t count = mine.m * mine.n;
    const T* together = mine.data;
    if (!is_together) {
      packed_ = Room::of<T>(count);
      blas::pack<T>(mine, packed_.template as<T>());
      together = packed_.template as<T>();
    }
    buffers_.resize(is_together ? 2 : 1); // with the copy these are the two panels that there may be
    const std::int64_t most = *std::max_element(lengths_.begin(), lengths_.end());
    for (Room& buffer : buffers_) buffer = Room::of<T>(most);
    for (int step = 1; step < size_; ++step) { // first to the process that uses it first
      const int to = (rank_ - step + size_) % size_;
      if (count > 0)
        base::check_mpi(MPI_Isend(together, blas::to_count(count), blas::mpi_type<T>(), to, base::tag_panel, comm_,
                                  &requests_[at(step)]),
                        "MPI_Isend");
    }
  }
  ~PanelsOfOwners() { base::call_off(size_, requests_.data()); }
  PanelsOfOwners(const PanelsOfOwners&) = delete;
  PanelsOfOwners& operator=(const PanelsOfOwners&) = delete;

  int owner(int step) const { return (rank_ + step) % size_; }
  /// Of each step in turn; good until the next one. In the first one it is mine where it lies.
  const T* of(int step) {
    const bool is_one = buffers_.size() == 1;
    if (is_one) fetch(step);
    base::check_mpi(MPI_Wait(&requests_[0], MPI_STATUS_IGNORE), "MPI_Wait");
    if (!is_one) fetch(step + 1);
    return step == 0 ? mine_ : buffer(step);
  }
  /// @return whether nothing is under way
  bool advance() {
    int is_done = 0;
    base::check_mpi(MPI_Testall(size_, requests_.data(), &is_done, MPI_STATUSES_IGNORE), "MPI_Testall");
    return is_done != 0;
  }
  /// All have mine.
  void finish() { base::check_mpi(MPI_Waitall(size_, requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall"); }

private:
  T* buffer(int step) const { return buffers_[at(step) % buffers_.size()].template as<T>(); }
  void fetch(int step) {
    const std::int64_t length = step == 0 || step >= size_ ? 0 : lengths_[at(owner(step))];
    if (length > 0)
      base::check_mpi(MPI_Irecv(buffer(step), blas::to_count(length), blas::mpi_type<T>(), owner(step), base::tag_panel,
                                comm_, &requests_[0]),
                      "MPI_Irecv");
  }

  MPI_Comm comm_;
  int rank_, size_;
  std::vector<std::int64_t> lengths_; ///< elements of each process
  const T* mine_;
  Room packed_;
  std::vector<Room> buffers_;
  std::vector<MPI_Request> requests_; ///< the first: what comes
};

/// A grid of one row or one column, and each process has about a panel of the operand that moves, at most `most`.
bool is_panel_each(const Position& here, const AxisWindow& moving, std::int64_t k, std::int64_t most) {
  if ((here.nprow == 1) == (here.npcol == 1)) return false;
  const int size = here.nprow * here.npcol;
  for (int p = 0; p < size; ++p)
    if (moving.local_count(p) > most) return false;
  return k >= least_mean * size;
}

/// A product whose panels are what each process has of the operand that moves: each process copies it
/// once, from its owner, and waits for no neighbour to hand it on. The other operand, of which a process has all k, is
/// put into its order.
template <class T> void multiply_by_owners(const Product<T>& product) {
  const Operand<const T>&a = product.a, &b = product.b;
  const Operand<T>& c = product.c;
  const std::int64_t m = c.m_loc(), n = c.n_loc();
  const Position& here = c.grid->here();
  const bool b_moves = here.nprow > 1;
  const int size = here.nprow * here.npcol, rank = here.myrow + here.mycol;
  const AxisWindow& moving = b_moves ? b.rows : a.cols;
  std::vector<std::int64_t> depths, lengths;
  for (int p = 0; p < size; ++p) {
    depths.push_back(moving.local_count(p));
    lengths.push_back(depths.back() * (b_moves ? n : m));
  }
  const std::int64_t most = *std::max_element(depths.begin(), depths.end());
  const Room room = Room::of<T>(most * (b_moves ? m : n));
  T* const other = room.as<T>();
  const blas::Block<const T> mine_of_a{a.local(), a.lld, m, depths[at(rank)]},
      mine_of_b{b.local(), b.lld, depths[at(rank)], n};
  PanelsOfOwners<T> panels(b_moves ? c.grid->col() : c.grid->row(), rank, lengths, b_moves ? mine_of_b : mine_of_a);
  for (int step = 0; step < size; ++step) {
    const int owner = panels.owner(step);
    const T* const moved = panels.of(step);
    const std::int64_t depth = depths[at(owner)];
    for (const auto& piece : moving.pieces()) {
      if (piece.owner != owner) continue;
      if (b_moves)
        blas::pack<T>({a.local(0, piece.first), a.lld, m, piece.count}, other + piece.local * m);
      else
        for (std::int64_t j = 0; j < n; ++j)
          std::copy_n(b.local(piece.first, j), piece.count, other + piece.local + j * depth);
    }
    const blas::Panel<T> panel_a{b_moves ? other : moved, b_moves || step > 0 ? m : a.lld};
    const blas::Panel<T> panel_b{b_moves ? moved : other, b_moves && step == 0 ? b.lld : depth};
    update_in_strips(product, panel_a, panel_b, depth, [&] { return panels.advance(); });
  }
  panels.finish();
}

template <class T> void multiply(const Product<T>& product) {
  const Operand<const T>&a = product.a, &b = product.b;
  const std::int64_t k_all = a.n(), most = width_of_messages(kb, product.c.rows, product.c.cols),
                     panel_k = std::min(width_of_panels(k_all), most);
  if (k_all <= panel_k) {
    const std::vector<Stretch> stretches = stretches_of(a.cols, b.rows);
    if (static_cast<std::int64_t>(stretches.size() - 1) * least_depth < k_all)
      return multiply_at_once(product, stretches);
  } else if (const Grid& grid = *product.c.grid;
             grid.row_processes().empty() && grid.col_processes().empty() &&
             is_panel_each(grid.here(), grid.here().nprow > 1 ? b.rows : a.cols, k_all, most)) {
    return multiply_by_owners(product);
  }
  PanelsOfA<T> of_a(a, panel_k);
  PanelsOfB<T> of_b(b, a.cols, panel_k);
  const auto start = [&](std::int64_t k) {
    if (k >= k_all) return;
    of_a.start(k, std::min(k_all, k + panel_k));
    of_b.start(k, std::min(k_all, k + panel_k));
  };
  start(0);
  for (std::int64_t k = 0; k < k_all; k += panel_k) {
    const std::int64_t depth = std::min(panel_k, k_all - k);
    const blas::Panel<T> panel_a{of_a.finish(), of_a.ld()}, panel_b{of_b.finish(), of_b.ld()};
    start(k + panel_k);
    update_in_strips(product, panel_a, panel_b, depth, [&] {
      of_a.advance();
      of_b.advance();
      return of_a.is_idle() && of_b.is_idle();
    });
  }
}

/// How the columns of a copy of A lie when A's own may not: in equal parts of every panel.
AxisWindow even_axis(std::int64_t n, int nprocs) {
  const std::int64_t nb = div_up(width_of_panels(n), nprocs);
  return {gridmap::Axis::block_cyclic(n, nb, nprocs), 0, n};
}

} // namespace

template <class T> void gemm(T alpha, const Turned<T>& a, const Turned<T>& b, T beta, const Operand<T>& c, Part part) {
  const std::int64_t k = a.op == Op::none ? a.of.n() : a.of.m();
  std::vector<std::int64_t> rows, cols;
  Region region;
  if (part != Part::all) {
    rows = c.rows.indices(c.myrow()), cols = c.cols.indices(c.mycol());
    region = {part, rows.data(), cols.data()};
  }
  scale_part<T>(region, beta, {c.local(), c.lld, c.m_loc(), c.n_loc()});
  if (k == 0 || alpha == T{0} || c.m() == 0 || c.n() == 0) return;
  const Position& here = c.grid->here();
  std::optional<Temporary<T>> copy_a, copy_b;
  Operand<const T> x = a.of, y = b.of;
  if (a.op != Op::none || !x.rows.lies_as(c.rows)) {
    copy_a.emplace(moved<T>(x, a.op, c.rows, a.op == Op::none ? x.cols : even_axis(k, here.npcol)));
    x = as_source(copy_a->operand);
  }
  if (b.op != Op::none || !y.cols.lies_as(c.cols)) {
    copy_b.emplace(moved<T>(y, b.op, b.op == Op::none ? y.rows : even_axis(k, here.nprow), c.cols));
    y = as_source(copy_b->operand);
  }
  multiply(Product<T>{alpha, x, y, c, region});
}

/// What of the diagonal of C is here loses its imaginary part.
template <class T> void make_diagonal_real(const Operand<T>& c) {
  for (const auto& piece : c.rows.pieces()) {
    if (piece.owner != c.myrow()) continue;
    for (const auto& col : c.cols.pieces_between(piece.first, piece.last()))
      for (std::int64_t i = 0; col.owner == c.mycol() && i < col.count; ++i) {
        T& x = *c.local(piece.local + col.first + i - piece.first, col.local + i);
        x = x.real();
      }
  }
}

template <class T> void syrk(Part part, bool is_adjoint, T alpha, const Turned<T>& a, T beta, const Operand<T>& c) {
  const Op turned = is_adjoint ? Op::conjugate_transpose : Op::transpose;
  const Op first = a.op == Op::none ? Op::none : turned, second = a.op == Op::none ? turned : Op::none;
  const std::int64_t k = a.op == Op::none ? a.of.n() : a.of.m();
  const bool is_real = is_adjoint && (beta != T{1} || (alpha != T{0} && k > 0)); // else C stays as it is
  if constexpr (blas::is_complex<T>)
    if (is_real) make_diagonal_real(c); // as the BLAS assume of it; else a NaN there would come into the real part
  gemm<T>(alpha, {first, a.of}, {second, a.of}, beta, c, part);
  if constexpr (blas::is_complex<T>)
    if (is_real) make_diagonal_real(c);
}

#define DYNGRID_INSTANTIATE(T)                                                                                         \
  template void gemm(T, const Turned<T>&, const Turned<T>&, T, const Operand<T>&, Part);                               \
  template void syrk(Part, bool, T, const Turned<T>&, T, const Operand<T>&);
DYNGRID_FOR_ELEMENTS(DYNGRID_INSTANTIATE)
#undef DYNGRID_INSTANTIATE

} // namespace pblas
