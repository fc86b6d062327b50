// SPDX-License-Identifier: BSD-3-Clause
#include "grid/borders.hpp"

#include <algorithm>
#include <new>
#include <string_view>

#include <fmt/format.h>

#include "base/fnv1a.hpp"
#include "base/memory.hpp"
#include "base/status.hpp"
#include "processes/mpi_util.hpp"

using base::Error;
using base::Status;

std::int64_t dyngrid_borders::print() const {
  return base::Fnv1a()
      .text(matrix->name)
      .number(redist::number_of(sides, neighbours))
      .number(fits() ? 1 : 0)
      .text(std::string_view(boundary.data(), boundary.size()))
      .positive();
}

void dyngrid_borders::make(MPI_Comm comm) {
  close();
  std::optional<redist::HaloPlan> plan;
  base::together(comm, [&] { plan.emplace(matrix->halo_plan(sides, neighbours)); });
  halo.emplace(dyngrid_halo{redist::Halo(comm, *plan, static_cast<int>(boundary.size()))});
  const auto elements = static_cast<std::size_t>(halo->halo.rows() * halo->halo.cols());
  const std::size_t bytes = std::max<std::size_t>(1, elements) * boundary.size(); // so that it is not null in the grid
  try {
    base::together(comm, [&] {
      try {
        ghosted = redist::SharedArray(bytes, redist::Sharing::no);
      } catch (const std::bad_alloc&) {
        throw base::out_of_memory(fmt::format("the borders of matrix \"{}\" on this process", matrix->name), bytes);
      }
      halo->halo.fill(ghosted.data(), boundary.data());
      rows = matrix->layout.rows;
      cols = matrix->layout.cols;
    });
  } catch (const Error& error) {
    if (error.status() != Status::mpi_failure) close();
    throw;
  }
}

void dyngrid_borders::close() {
  if (halo) halo->halo.close();
  halo.reset();
  ghosted.clear();
}

namespace blacs_dyn {

dyngrid_borders* Borders::create(dyngrid_matrix* matrix, const Asked& asked, const void* boundary) {
  std::unique_ptr<dyngrid_borders> made;
  const auto read = [&] {
    require("dyngrid_borders_create", matrix, asked);
    made = std::make_unique<dyngrid_borders>();
    all_.reserve(all_.size() + 1);
    made->matrix = matrix;
    made->matrix_number = matrix->number;
    made->sides = redist::sides_of(matrix->dims(), asked.lo, asked.hi, asked.periodic);
    made->neighbours = redist::neighbours_of(asked.neighbours);
    made->boundary.resize(element_bytes(matrix->type));
    const auto* const element = static_cast<const char*>(boundary);
    if (element) std::copy(element, element + made->boundary.size(), made->boundary.begin());
    // for its checks; without a layout, before the first resize point of a new process, the first update makes them
    if (matrix->is_placed) static_cast<void>(matrix->halo_plan(made->sides, made->neighbours));
    return made->print();
  };
  if (!grid_.has_me())
    read();
  else
    together_on_number(grid_.comm(), read,
                       "blacs-dyn: dyngrid_borders_create: matrix, lo, hi, periodic, neighbours or boundary differ "
                       "between the processes of the grid, expected the same");
  all_.push_back(std::move(made));
  return all_.back().get();
}

redist::HaloPlan Borders::halo_plan(const dyngrid_matrix* matrix, const Asked& asked) const {
  std::optional<redist::HaloPlan> plan;
  const auto make = [&] {
    require("dyngrid_matrix_halo", matrix, asked);
    const std::vector<redist::HaloSides> sides = redist::sides_of(matrix->dims(), asked.lo, asked.hi, asked.periodic);
    const redist::Neighbours neighbours = redist::neighbours_of(asked.neighbours);
    if (!matrix->is_placed)
      throw Error(Status::bad_state,
                  "blacs-dyn: dyngrid_matrix_halo: matrix \"{}\" has no part here before the first resize point",
                  matrix->name);
    plan.emplace(matrix->halo_plan(sides, neighbours));
    return base::Fnv1a().text(matrix->name).number(redist::number_of(sides, neighbours)).positive();
  };
  together_on_number(grid_.comm(), make,
                     "blacs-dyn: dyngrid_matrix_halo: matrix, lo, hi, periodic or neighbours differ between the "
                     "processes of the grid, expected the same");
  return std::move(*plan);
}

void Borders::require(const char* routine, const dyngrid_matrix* matrix, const Asked& asked) const {
  matrices_.require(routine, matrix);
  if (!asked.has_place) throw Error(Status::null_pointer, "blacs-dyn: {}: the place for the handle is null", routine);
}

void Borders::require(const char* routine, const dyngrid_borders* borders) const {
  if (!borders) throw Error(Status::null_pointer, "blacs-dyn: {}: borders is null", routine);
  if (std::none_of(all_.begin(), all_.end(), [&](const auto& one) { return one.get() == borders; }))
    throw Error(Status::not_found, "blacs-dyn: {}: the handle is of no living borders", routine);
  if (!matrices_.has(borders->matrix) || borders->matrix->number != borders->matrix_number)
    throw Error(Status::not_found,
                "blacs-dyn: {}: the matrix of these borders was freed, which ends them; free them, too", routine);
}

void Borders::require_current(const char* routine, const dyngrid_borders* borders) const {
  require(routine, borders);
  if (!borders->is_current())
    throw Error(
        Status::bad_state,
        "blacs-dyn: {}: there is no ghosted array of matrix \"{}\" as it lies now; call dyngrid_borders_update first",
        routine, borders->matrix->name);
}

void* Borders::update(dyngrid_borders* borders) const {
  const auto check = [&] {
    require("dyngrid_borders_update", borders);
    return borders->print();
  };
  if (!grid_.has_me()) {
    check();
    return nullptr;
  }
  together_on_number(grid_.comm(), check,
                     "blacs-dyn: dyngrid_borders_update: called for different borders on different processes");
  if (!borders->fits()) borders->make(grid_.comm());
  const Matrix& of = *borders->matrix;
  borders->placements = of.placements;
  borders->halo->halo.to_ghosted(of.local.data(), of.lld(), borders->ghosted.data());
  borders->halo->halo.exchange(borders->ghosted.data());
  return borders->ghosted.data();
}

void Borders::exchange(dyngrid_borders* borders) const {
  require_current("dyngrid_borders_exchange", borders);
  borders->halo->halo.exchange(borders->ghosted.data());
}

void Borders::store(const dyngrid_borders* borders) const {
  require_current("dyngrid_borders_store", borders);
  Matrix& to = *borders->matrix;
  borders->halo->halo.from_ghosted(borders->ghosted.data(), to.local.data(), to.lld());
  ++to.writes;
}

dyngrid_halo* Borders::halo(dyngrid_borders* borders) const {
  require_current("dyngrid_borders_halo", borders);
  return &*borders->halo;
}

void Borders::free(dyngrid_borders* borders) {
  const auto at = std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one.get() == borders; });
  if (at == all_.end())
    throw Error(Status::not_found, "blacs-dyn: dyngrid_borders_free: the handle is of no living borders");
  (*at)->close();
  all_.erase(at);
}

void Borders::close() {
  for (const auto& one : all_) one->close();
}

} // namespace blacs_dyn
