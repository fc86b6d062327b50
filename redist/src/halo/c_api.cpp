// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <vector>

#include "base/fnv1a.hpp"
#include "base/mpi/agree.hpp"
#include "base/status.hpp"
#include "desc/handles.hpp"
#include "redist/grid_life.hpp"
#include "redist/halo_handle.hpp"

namespace {

using base::Error;
using base::Status;
using base::detail::guard;
using base::detail::not_null;

/// Of a dimension; none outside the grid, and of a dimension that a field does not have.
std::vector<redist::HaloStretch> stretches(const redist::Halo& halo, std::size_t dimension) {
  return halo.parts().size() <= dimension ? std::vector<redist::HaloStretch>() : halo.parts()[dimension].stretches;
}

/// To compare between processes: a message would be waited for, or have another size, where they differ.
std::int64_t number_of(const redist::Layout& layout) {
  base::Fnv1a hash;
  hash.number(redist::fingerprint({&layout}));
  for (const gridmap::Axis* axis : {&layout.rows, &layout.cols})
    hash.number(axis->n).number(axis->src).number(axis->nprocs).number(static_cast<std::int64_t>(axis->owners.size()));
  for (const int rank : layout.grid.ranks) hash.number(rank);
  return hash.positive();
}

/// Any pointer may be null.
void give(const redist::HaloStretch& one, int64_t* i_glo, int64_t* i_loc, int64_t* i_ghosted, int64_t* size) {
  if (i_glo != nullptr) *i_glo = one.glo;
  if (i_loc != nullptr) *i_loc = one.loc;
  if (i_ghosted != nullptr) *i_ghosted = one.ghosted;
  if (size != nullptr) *size = one.size;
}

} // namespace

redist::Neighbours redist::neighbours_of(int number) {
  if (number != DYNGRID_NEIGHBOURS_FOUR && number != DYNGRID_NEIGHBOURS_EIGHT)
    throw Error(Status::bad_argument, "redist: halo: neighbours is {}, expected 4 or 8", number);
  return number == DYNGRID_NEIGHBOURS_FOUR ? Neighbours::four : Neighbours::eight;
}

std::vector<redist::HaloSides> redist::sides_of(std::size_t dims, const int* lo, const int* hi, const int* periodic) {
  not_null(lo, "redist: halo: lo");
  not_null(hi, "redist: halo: hi");
  std::vector<HaloSides> sides;
  for (std::size_t d = 0; d < dims; ++d) sides.push_back({lo[d], hi[d], periodic != nullptr && periodic[d] != 0});
  return sides;
}

std::int64_t redist::number_of(const std::vector<HaloSides>& sides, Neighbours neighbours) {
  base::Fnv1a hash;
  hash.number(static_cast<std::int64_t>(neighbours));
  for (const HaloSides& side : sides) hash.number(side.lo).number(side.hi).number(side.periodic ? 1 : 0);
  return hash.positive();
}

int dyngrid_halo_create(MPI_Comm comm, const dyngrid_layout* layout, int width, int neighbours, int periodic_rows,
                        int periodic_cols, int element_bytes, dyngrid_halo** halo) {
  const int sides[2] = {width, width}, periodic[2] = {periodic_rows, periodic_cols};
  return dyngrid_halo_create_sides(comm, layout, sides, sides, periodic, neighbours, element_bytes, halo);
}

int dyngrid_halo_create_sides(MPI_Comm comm, const dyngrid_layout* layout, const int* lo, const int* hi,
                              const int* periodic, int neighbours, int element_bytes, dyngrid_halo** halo) {
  return guard([&] {
    std::unique_ptr<redist::HaloPlan> plan;
    redist::require_whole_grid(comm, "halo");
    const auto make = [&] {
      not_null(layout, "redist: layout");
      not_null(halo, "redist: place for the halo");
      const std::vector<redist::HaloSides> sides = redist::sides_of(2, lo, hi, periodic);
      const redist::HaloOptions options{sides[0], sides[1], redist::neighbours_of(neighbours)};
      plan = std::make_unique<redist::HaloPlan>(layout->layout, options);
      return base::Fnv1a()
          .number(number_of(layout->layout))
          .number(redist::number_of(sides, options.neighbours))
          .number(element_bytes)
          .positive();
    };
    base::together_on_number(comm, make,
                             "redist: halo: the layout, widths, periodic, neighbours or element_bytes differ between "
                             "the processes of the communicator, expected the same");
    *halo = new dyngrid_halo{redist::Halo(comm, *plan, element_bytes)};
  });
}

int dyngrid_halo_create_f(MPI_Fint comm, const dyngrid_layout* layout, int width, int neighbours, int periodic_rows,
                          int periodic_cols, int element_bytes, dyngrid_halo** halo) {
  return dyngrid_halo_create(MPI_Comm_f2c(comm), layout, width, neighbours, periodic_rows, periodic_cols, element_bytes,
                             halo);
}

int dyngrid_halo_create_sides_f(MPI_Fint comm, const dyngrid_layout* layout, const int* lo, const int* hi,
                                const int* periodic, int neighbours, int element_bytes, dyngrid_halo** halo) {
  return dyngrid_halo_create_sides(MPI_Comm_f2c(comm), layout, lo, hi, periodic, neighbours, element_bytes, halo);
}

int dyngrid_halo_shape(const dyngrid_halo* halo, int64_t* rows, int64_t* cols, int* row_stretches, int* col_stretches) {
  return guard([&] {
    const redist::Halo& of = not_null(halo, "redist: halo").halo;
    if (rows != nullptr) *rows = of.rows();
    if (cols != nullptr) *cols = of.cols();
    if (row_stretches != nullptr) *row_stretches = static_cast<int>(stretches(of, 0).size());
    if (col_stretches != nullptr) *col_stretches = static_cast<int>(stretches(of, 1).size());
  });
}

int dyngrid_halo_stretch(const dyngrid_halo* halo, char axis, int k, int64_t* i_glo, int64_t* i_loc, int64_t* i_ghosted,
                         int64_t* size) {
  return guard([&] {
    const redist::Halo& of = not_null(halo, "redist: halo").halo;
    if (axis != 'R' && axis != 'r' && axis != 'C' && axis != 'c')
      throw Error(Status::bad_argument, "redist: halo: axis is '{}', expected R or C", axis);
    const auto all = stretches(of, axis == 'R' || axis == 'r' ? 0 : 1);
    if (k < 0 || static_cast<std::size_t>(k) >= all.size())
      throw Error(Status::bad_argument, "redist: halo: stretch {} of axis {}, expected one below {}", k, axis,
                  all.size());
    give(all[static_cast<std::size_t>(k)], i_glo, i_loc, i_ghosted, size);
  });
}

int dyngrid_halo_extents(const dyngrid_halo* halo, int64_t* extents) {
  return guard([&] {
    const auto& parts = not_null(halo, "redist: halo").halo.parts();
    for (std::size_t d = 0; d < parts.size() && extents != nullptr; ++d) extents[d] = parts[d].ghosted;
    return static_cast<int>(parts.size());
  });
}

int dyngrid_halo_range(const dyngrid_halo* halo, int dim, int64_t k, int64_t* i_glo, int64_t* i_loc, int64_t* i_ghosted,
                       int64_t* size) {
  return guard([&] {
    const auto& parts = not_null(halo, "redist: halo").halo.parts();
    if (parts.empty()) return 0;
    if (dim < 0 || static_cast<std::size_t>(dim) >= parts.size() || k < 0)
      throw Error(Status::bad_argument,
                  "redist: halo: stretch {} of dimension {}, expected one from 0 of a dimension below {}", k, dim,
                  parts.size());
    const auto& all = parts[static_cast<std::size_t>(dim)].stretches;
    if (static_cast<std::size_t>(k) >= all.size()) return 0;
    give(all[static_cast<std::size_t>(k)], i_glo, i_loc, i_ghosted, size);
    return 1;
  });
}

int dyngrid_halo_exchange(dyngrid_halo* halo, void* ghosted, int64_t lld) {
  return guard([&] { not_null(halo, "redist: halo").halo.exchange(ghosted, lld); });
}

int dyngrid_halo_start(dyngrid_halo* halo, void* ghosted, int64_t lld) {
  return guard([&] { not_null(halo, "redist: halo").halo.start(ghosted, lld); });
}

int dyngrid_halo_finish(dyngrid_halo* halo) {
  return guard([&] { not_null(halo, "redist: halo").halo.finish(); });
}

int dyngrid_halo_to_ghosted(const dyngrid_halo* halo, const void* local, int64_t lld_local, void* ghosted,
                            int64_t lld) {
  return guard([&] { not_null(halo, "redist: halo").halo.to_ghosted(local, lld_local, ghosted, lld); });
}

int dyngrid_halo_from_ghosted(const dyngrid_halo* halo, const void* ghosted, int64_t lld, void* local,
                              int64_t lld_local) {
  return guard([&] { not_null(halo, "redist: halo").halo.from_ghosted(ghosted, local, lld_local, lld); });
}

int dyngrid_halo_fill(const dyngrid_halo* halo, void* ghosted, int64_t lld, const void* value) {
  return guard([&] { not_null(halo, "redist: halo").halo.fill(ghosted, value, lld); });
}

int dyngrid_halo_destroy(dyngrid_halo** halo) {
  return guard([&] {
    not_null(halo, "redist: address of the halo");
    const std::unique_ptr<dyngrid_halo> gone(*halo);
    *halo = nullptr;
    if (gone) gone->halo.close();
  });
}
