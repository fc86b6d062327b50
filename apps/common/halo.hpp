// SPDX-License-Identifier: BSD-3-Clause
// Borders of block-cyclic matrices: the elements just outside every block of mine, corners included.
//
// All blocks of one grid row have their upper neighbours on one other grid row (the one above, cyclically), so each process exchanges
// one message with each of its four neighbours however many blocks it has. Columns go second and take the rows just received along:
// that brings the corners.
#pragma once

#include <dyngrid.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace apps {

/// My blocks, each with a border of one element around it. Elements outside the matrix are `outside`. Made for one grid and one matrix
/// shape: make it anew after a change of the grid.
template <class Element> class Bordered {
public:
  /// Local. `type` is the MPI datatype of Element.
  Bordered(const dyngrid_matrix* matrix, MPI_Datatype type, Element outside) : type_(type), outside_(outside) {
    const int* desc = dyngrid_desc(matrix);
    dyngrid_grid(&rows_.procs, &columns_.procs, &rows_.me, &columns_.me);
    rows_.set(desc[2], desc[4]);
    columns_.set(desc[3], desc[5]);
    dyngrid_matrix_shape(matrix, nullptr, nullptr, &lld_);
    stride_ = rows_.padded();
    padded_.resize(static_cast<std::size_t>(stride_ * columns_.padded()));
  }

  /// Takes the blocks of `local` (the matrix' local array) and fetches their borders. Collective over the current grid.
  void fetch(const Element* local) {
    std::fill(padded_.begin(), padded_.end(), outside_);
    for (std::int64_t j = 0; j < columns_.count; ++j)
      for (std::int64_t i = 0; i < rows_.count; ++i) padded_[at(i, j)] = local[i + j * lld_];
    const MPI_Comm comm = dyngrid_comm();
    // rows: neighbours are npcol ranks apart (ranks are row-major in the grid)
    exchange(rows_, comm, columns_.procs, columns_.me, columns_.padded(),
             [this](std::int64_t row, std::int64_t k) -> Element& { return padded_[static_cast<std::size_t>(row + k * stride_)]; });
    exchange(columns_, comm, 1, rows_.me * columns_.procs, rows_.padded(),
             [this](std::int64_t column, std::int64_t k) -> Element& { return padded_[static_cast<std::size_t>(k + column * stride_)]; });
  }

  /// Calls visit(i_loc, j_loc, centre, stride): centre points to my element (i_loc, j_loc); its neighbours are centre[-1], centre[+1]
  /// (rows) and centre[-stride], centre[+stride] (columns). Local.
  template <class Visit> void for_each(Visit visit) const {
    for (std::int64_t j = 0; j < columns_.count; ++j)
      for (std::int64_t i = 0; i < rows_.count; ++i) visit(i, j, &padded_[at(i, j)], stride_);
  }

private:
  struct Axis {
    int procs = 1, me = 0;
    std::int64_t block = 1, blocks = 0, count = 0, last_size = 0, all_blocks = 0; ///< mine, except all_blocks
    void set(std::int64_t n, std::int64_t nb) {
      block = nb;
      all_blocks = (n + nb - 1) / nb;
      blocks = me < all_blocks ? (all_blocks - 1 - me) / procs + 1 : 0;
      last_size = blocks == 0 ? 0 : std::min(nb, n - ((blocks - 1) * procs + me) * nb);
      count = blocks == 0 ? 0 : (blocks - 1) * nb + last_size;
    }
    std::int64_t size(std::int64_t b) const { return b + 1 == blocks ? last_size : block; }
    std::int64_t start(std::int64_t b) const { return b * (block + 2) + 1; } ///< of block b, in the padded array
    std::int64_t padded() const { return blocks * (block + 2); }
  };

  std::size_t at(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(rows_.start(i / rows_.block) + i % rows_.block + (columns_.start(j / columns_.block) + j % columns_.block) * stride_);
  }

  // One axis: my first and last lines go to the neighbours before and after me, theirs come into my borders. A line is `length` elements.
  template <class Line> void exchange(const Axis& axis, MPI_Comm comm, int rank_step, int rank_base, std::int64_t length, Line line) {
    const auto line_count = static_cast<std::size_t>(axis.blocks * length);
    const int before = rank_base + (axis.me + axis.procs - 1) % axis.procs * rank_step, after = rank_base + (axis.me + 1) % axis.procs * rank_step;
    std::vector<Element> first(line_count), last(line_count);
    for (std::int64_t b = 0; b < axis.blocks; ++b)
      for (std::int64_t k = 0; k < length; ++k) {
        first[static_cast<std::size_t>(b * length + k)] = line(axis.start(b), k);
        last[static_cast<std::size_t>(b * length + k)] = line(axis.start(b) + axis.size(b) - 1, k);
      }
    // the other process may have one block more or less than I have
    const auto blocks_of = [&](int proc) { return proc < axis.all_blocks ? (axis.all_blocks - 1 - proc) / axis.procs + 1 : 0; };
    std::vector<Element> from_before(static_cast<std::size_t>(blocks_of((axis.me + axis.procs - 1) % axis.procs) * length));
    std::vector<Element> from_after(static_cast<std::size_t>(blocks_of((axis.me + 1) % axis.procs) * length));
    MPI_Sendrecv(last.data(), static_cast<int>(last.size()), type_, after, 1, from_before.data(), static_cast<int>(from_before.size()), type_, before, 1, comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(first.data(), static_cast<int>(first.size()), type_, before, 2, from_after.data(), static_cast<int>(from_after.size()), type_, after, 2, comm,
                 MPI_STATUS_IGNORE);
    for (std::int64_t b = 0; b < axis.blocks; ++b) {
      const std::int64_t b_before = axis.me > 0 ? b : b - 1, b_after = axis.me + 1 < axis.procs ? b : b + 1; // local number on the neighbour
      const bool has_after = b * axis.procs + axis.me + 1 < axis.all_blocks;
      for (std::int64_t k = 0; k < length; ++k) {
        if (b_before >= 0) line(axis.start(b) - 1, k) = from_before[static_cast<std::size_t>(b_before * length + k)];
        if (has_after) line(axis.start(b) + axis.size(b), k) = from_after[static_cast<std::size_t>(b_after * length + k)];
      }
    }
  }

  Axis rows_, columns_;
  MPI_Datatype type_;
  Element outside_;
  std::int64_t lld_ = 1, stride_ = 1;
  std::vector<Element> padded_;
};

} // namespace apps
