// SPDX-License-Identifier: BSD-3-Clause
// My part of a distributed matrix with the neighbours' elements around its blocks: redist's halo exchange, and a loop
// over it.
#pragma once

#include "app.hpp"

#include <dyngrid.h>
#include <dyngrid/halo.h>

#include <cstdint>
#include <vector>

namespace apps {

/// Made for one grid and one matrix: replace it after a change of the grid. Elements outside the matrix are `outside`.
template <class Element> class Ghosted {
public:
  /// Collective over the current grid. neighbours: DYNGRID_NEIGHBOURS_FOUR or DYNGRID_NEIGHBOURS_EIGHT.
  Ghosted(const dyngrid_matrix* matrix, int neighbours, Element outside) {
    int nprow = 0, npcol = 0;
    dyngrid_layout* layout = nullptr;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    dyngrid_matrix_shape(matrix, nullptr, nullptr, &lld_local_);
    require(dyngrid_layout_create(dyngrid_desc(matrix), nprow, npcol, nullptr, &layout), "dyngrid_layout_create");
    require(dyngrid_halo_create(dyngrid_comm(), layout, 1, neighbours, 0, 0, sizeof(Element), &halo_),
            "dyngrid_halo_create");
    dyngrid_layout_destroy(&layout);
    std::int64_t rows = 0, columns = 0;
    int row_count = 0, column_count = 0;
    dyngrid_halo_shape(halo_, &rows, &columns, &row_count, &column_count);
    stride_ = rows;
    cells_.resize(static_cast<std::size_t>(rows * columns));
    dyngrid_halo_fill(halo_, cells_.data(), stride_, &outside);
    rows_.resize(static_cast<std::size_t>(row_count));
    columns_.resize(static_cast<std::size_t>(column_count));
    for (int k = 0; k < row_count; ++k) read('R', k, rows_[static_cast<std::size_t>(k)]);
    for (int k = 0; k < column_count; ++k) read('C', k, columns_[static_cast<std::size_t>(k)]);
  }
  Ghosted(const Ghosted&) = delete;
  Ghosted& operator=(const Ghosted&) = delete;
  ~Ghosted() { dyngrid_halo_destroy(&halo_); }

  /// Takes the matrix's local array and fetches the borders. Collective; waits for the neighbours only.
  void fetch(const Element* local) {
    require(dyngrid_halo_to_ghosted(halo_, local, lld_local_, cells_.data(), stride_), "dyngrid_halo_to_ghosted");
    exchange();
  }
  /// Fetches the borders of the ghosted array's contents. As fetch.
  void exchange() { require(dyngrid_halo_exchange(halo_, cells_.data(), stride_), "dyngrid_halo_exchange"); }
  /// The ghosted array back into the matrix's local array. Local.
  void store(Element* local) const {
    require(dyngrid_halo_from_ghosted(halo_, cells_.data(), stride_, local, lld_local_), "dyngrid_halo_from_ghosted");
  }

  /// Calls visit(i_loc, j_loc, count, centre, stride) for pieces of my columns: `count` elements from local (i_loc,
  /// j_loc) on. `centre` points to the first in the ghosted array. The neighbours of centre[i] are centre[i-1],
  /// centre[i+1] (rows) and centre[i-stride], centre[i+stride] (columns). Local. `columns`: only this many of my
  /// columns, from the first.
  template <class Visit> void for_each_piece(Visit visit, std::int64_t columns = INT64_MAX) const {
    for (const Stretch& c : columns_)
      for (std::int64_t j = 0; j < c.size && c.loc + j < columns; ++j)
        for (const Stretch& r : rows_)
          visit(r.loc, c.loc + j, r.size, &cells_[static_cast<std::size_t>(r.ghosted + (c.ghosted + j) * stride_)],
                stride_);
  }

  /// Work in place: calls visit(i_glo, j_glo, count, centre, stride) for pieces of my columns, `count` elements from
  /// global (i_glo, j_glo) on; `centre` as above, and may be written to. Local.
  template <class Visit> void for_each_in_place(Visit visit) {
    for (const Stretch& c : columns_)
      for (std::int64_t j = 0; j < c.size; ++j)
        for (const Stretch& r : rows_)
          visit(r.glo, c.glo + j, r.size, &cells_[static_cast<std::size_t>(r.ghosted + (c.ghosted + j) * stride_)],
                stride_);
  }

private:
  struct Stretch {
    std::int64_t glo = 0, loc = 0, ghosted = 0, size = 0;
  };
  void read(char axis, int k, Stretch& s) const {
    dyngrid_halo_stretch(halo_, axis, k, &s.glo, &s.loc, &s.ghosted, &s.size);
  }

  dyngrid_halo* halo_ = nullptr;
  std::int64_t lld_local_ = 1, stride_ = 1;
  std::vector<Element> cells_;
  std::vector<Stretch> rows_, columns_;
};

} // namespace apps
