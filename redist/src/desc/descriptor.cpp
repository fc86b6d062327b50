// SPDX-License-Identifier: BSD-3-Clause
#include "redist/descriptor.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/status.hpp"

namespace redist {
namespace {

using base::Error;
using base::Status;
using gridmap::Axis;

// 0-based places of the entries
enum Entry { dtype_ = 0, ctxt_, m_, n_, mb_, nb_, rsrc_, csrc_, lld_, sizes_ };

constexpr int most_positions = 1 << 30; ///< of a grid along an axis, so that sums of two positions fit into an int
constexpr std::size_t as_many_as_it_says = std::numeric_limits<std::size_t>::max();

Axis axis_of(const int* desc, int n, int count_or_size, const int* sizes, int src, int nprocs) {
  std::vector<std::int64_t> list(1, count_or_size);
  if (desc[dtype_] == Descriptor::heterogeneous) list.assign(sizes, sizes + count_or_size);
  return {n, std::move(list), src, nprocs};
}

Axis rows_of(const int* desc, int nprow) {
  return axis_of(desc, desc[m_], desc[mb_], desc + sizes_, desc[rsrc_], nprow);
}

Axis cols_of(const int* desc, int npcol) {
  const int* sizes = desc[dtype_] == Descriptor::heterogeneous ? desc + sizes_ + desc[mb_] : nullptr;
  return axis_of(desc, desc[n_], desc[nb_], sizes, desc[csrc_], npcol);
}

/// 1-based place of the first entry that is not valid, 0 when all are.
int first_bad(const int* desc, std::size_t length, const GridPosition& grid) {
  if (length == 0) length = as_many_as_it_says;
  if (length < sizes_) return dtype_ + 1;
  if (desc[dtype_] != Descriptor::block_cyclic && desc[dtype_] != Descriptor::heterogeneous) return dtype_ + 1;
  const bool outside = grid.nprow == -1;
  const int nprow = outside ? most_positions : grid.nprow, npcol = outside ? most_positions : grid.npcol;
  if (!outside && (nprow < 1 || npcol < 1 || nprow > most_positions || npcol > most_positions || grid.myrow >= nprow ||
                   grid.mycol >= npcol))
    return ctxt_ + 1;
  if (desc[m_] < 0) return m_ + 1;
  if (desc[n_] < 0) return n_ + 1;
  if (desc[mb_] < 1) return mb_ + 1;
  if (desc[nb_] < 1) return nb_ + 1;
  const bool listed = desc[dtype_] == Descriptor::heterogeneous;
  if (listed && desc[mb_] > Axis::most_sizes) return mb_ + 1;
  if (listed && desc[nb_] > Axis::most_sizes) return nb_ + 1;
  if (listed && length != as_many_as_it_says) {
    if (static_cast<std::size_t>(desc[mb_]) > length - sizes_) return mb_ + 1;
    if (static_cast<std::size_t>(desc[nb_]) > length - sizes_ - static_cast<std::size_t>(desc[mb_])) return nb_ + 1;
  }
  if (desc[rsrc_] < 0 || desc[rsrc_] >= nprow) return rsrc_ + 1;
  if (desc[csrc_] < 0 || desc[csrc_] >= npcol) return csrc_ + 1;
  if (listed) {
    const int* list = desc + sizes_;
    int entry = sizes_ + 1;
    for (const auto& [count, n, positions] : {std::tuple{desc[mb_], desc[m_], outside ? desc[rsrc_] + 1 : nprow},
                                              std::tuple{desc[nb_], desc[n_], outside ? desc[csrc_] + 1 : npcol}}) {
      std::int64_t sum = 0, whole = 0;
      for (int k = 0; k < count; ++k) {
        if (list[k] < 0) return entry + k;
        sum += list[k];
      }
      // the index maps count in whole cycles
      if (__builtin_mul_overflow(sum, std::int64_t{positions}, &whole)) return entry;
      if (n > 0 && std::all_of(list, list + count, [](int size) { return size == 0; })) return entry;
      list += count;
      entry += count;
    }
  }
  const std::int64_t rows = outside || grid.myrow < 0 ? 0 : rows_of(desc, grid.nprow).local_size(grid.myrow);
  if (desc[lld_] < std::max<std::int64_t>(1, rows)) return lld_ + 1;
  return 0;
}

const char* name_of(int entry) {
  static const char* const names[] = {"DTYPE_", "CTXT_", "M_", "N_", "MB_", "NB_", "RSRC_", "CSRC_", "LLD_"};
  return entry <= sizes_ ? names[entry - 1] : "a block size";
}

int to_int(std::int64_t value, const char* what) {
  if (value > std::numeric_limits<int>::max())
    throw Error(Status::shape_mismatch, "redist: {} is {}, expected one that fits into the integers of a descriptor",
                what, value);
  return static_cast<int>(value);
}

} // namespace

bool has_wide_integers(const int* desc) {
  const bool is_every_second_zero = desc[1] == 0 && desc[3] == 0 && desc[5] == 0 && desc[7] == 0;
  // M_, N_ and MB_ of 8 bytes stand where MB_, RSRC_ and LLD_ of 4 would
  return is_every_second_zero && desc[m_] >= 0 && desc[mb_] >= 0 && desc[rsrc_] >= 0 && desc[lld_] >= 1 &&
         (desc[dtype_] == Descriptor::block_cyclic || desc[dtype_] == Descriptor::heterogeneous);
}

int check_descriptor(const int* desc, std::size_t length, const GridPosition& grid, int argument) {
  const int entry = first_bad(desc, length, grid);
  return entry == 0 ? 0 : -(100 * argument + entry);
}

Descriptor read_descriptor(const int* desc, std::size_t length, const GridPosition& grid) {
  if (desc == nullptr) throw Error(Status::null_pointer, "redist: descriptor is null, expected an array of integers");
  const int entry = first_bad(desc, length, grid);
  if (entry != 0) {
    if (length > 0 && length < sizes_)
      throw Error(Status::bad_descriptor, "redist: descriptor has {} entries, expected at least 9", length);
    if (has_wide_integers(desc)) throw Error(Status::bad_descriptor, std::string("redist: ") + wide_integers);
    throw Error(Status::bad_descriptor, "redist: descriptor entry {} ({}) is {}, which is not valid on a {}x{} grid",
                entry, name_of(entry), desc[entry - 1], grid.nprow, grid.npcol);
  }
  // Outside the grid positions are not used; the axes are there for their sizes.
  return {desc[dtype_], desc[ctxt_], rows_of(desc, std::max(grid.nprow, desc[rsrc_] + 1)),
          cols_of(desc, std::max(grid.npcol, desc[csrc_] + 1)), desc[lld_]};
}

std::vector<int> write_descriptor(const Descriptor& descriptor) {
  const Axis &rows = descriptor.rows, &cols = descriptor.cols;
  const bool listed = descriptor.dtype == Descriptor::heterogeneous;
  if (!listed && !(rows.is_uniform() && cols.is_uniform()))
    throw Error(Status::shape_mismatch,
                "redist: descriptor of type {} with {} row and {} column sizes, expected one of each", descriptor.dtype,
                rows.sizes.size(), cols.sizes.size());
  std::vector<int> desc{listed ? Descriptor::heterogeneous : Descriptor::block_cyclic,
                        descriptor.ctxt,
                        to_int(rows.n, "M_"),
                        to_int(cols.n, "N_"),
                        listed ? to_int(static_cast<std::int64_t>(rows.sizes.size()), "the number of row sizes")
                               : to_int(rows.sizes[0], "MB_"),
                        listed ? to_int(static_cast<std::int64_t>(cols.sizes.size()), "the number of column sizes")
                               : to_int(cols.sizes[0], "NB_"),
                        rows.src,
                        cols.src,
                        descriptor.lld};
  if (listed) {
    for (const std::int64_t size : rows.sizes) desc.push_back(to_int(size, "a row size"));
    for (const std::int64_t size : cols.sizes) desc.push_back(to_int(size, "a column size"));
  }
  return desc;
}

} // namespace redist
