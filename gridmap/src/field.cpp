// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/field.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.hpp"
#include "base/status.hpp"

namespace gridmap {

using base::at;
using base::Error;
using base::Status;
namespace {

double elements_with_border(const FieldDimension& dimension, int parts) {
  return static_cast<double>(axis_of(dimension, parts).local_size(0)) + 2; // no position has more
}

/// Tries all products of the free dimensions from `next` on.
struct Search {
  const FieldDimensions& dimensions;
  std::vector<int> now, best;
  double least = std::numeric_limits<double>::infinity();

  void go_on(std::size_t next, int rest, double elements) {
    if (next == dimensions.size()) {
      if (rest != 1 || elements >= least) return;
      best = now;
      least = elements;
      return;
    }
    const int fixed = dimensions[next].parts;
    for (int parts = fixed > 0 ? fixed : 1; parts <= rest; ++parts) {
      if (rest % parts == 0) {
        now[next] = parts;
        go_on(next + 1, rest / parts, elements * elements_with_border(dimensions[next], parts));
      }
      if (fixed > 0) return;
    }
  }
};

std::int64_t count_of_blocks(const Axis& axis) {
  std::int64_t period = 0;
  for (const std::int64_t size : axis.sizes) period += size;
  return (axis.n + period - 1) / period * static_cast<std::int64_t>(axis.sizes.size());
}

/// Index i + inner.n j lies on position p + inner.nprocs q where i lies on p and j on q.
Axis times(const Axis& inner, const Axis& outer) {
  const std::int64_t n = inner.n * outer.n;
  const int nprocs = inner.nprocs * outer.nprocs;
  if (n == 0) return Axis::block_cyclic(0, 1, nprocs);
  if (inner.nprocs == 1) { // whole slices
    Axis axis = outer;
    axis.n = n;
    for (std::int64_t& size : axis.sizes) size *= inner.n;
    return axis;
  }
  const bool is_outer_whole = outer.nprocs == 1;
  if (is_outer_whole && inner.is_uniform() && inner.n % (inner.sizes[0] * inner.nprocs) == 0) {
    Axis axis = inner;
    axis.n = n;
    return axis;
  }
  const std::int64_t repeats = is_outer_whole ? 1 : outer.n; // in the list; the list itself repeats, too
  const std::int64_t runs = count_of_blocks(inner);
  if (runs > Axis::most_sizes / repeats)
    throw Error(Status::bad_argument,
                "gridmap: a field of {} x {} elements needs a list of {} x {} runs, expected at most {}; choose larger "
                "blocks, or cut later dimensions alone",
                inner.n, outer.n, runs, repeats, Axis::most_sizes);
  std::vector<std::int64_t> sizes;
  std::vector<int> owners;
  for (std::int64_t j = 0; j < repeats; ++j) {
    const int first = outer.owner(j) * inner.nprocs;
    std::int64_t rest = inner.n;
    for (std::int64_t k = 0; k < runs; ++k) {
      const std::size_t block = at(k) % inner.sizes.size();
      sizes.push_back(std::min(inner.sizes[block], rest));
      rest -= sizes.back();
      owners.push_back(first +
                       (inner.owners.empty() ? static_cast<int>((inner.src + k) % inner.nprocs) : inner.owners[block]));
    }
  }
  if (!is_outer_whole) return Axis::owned(std::move(sizes), std::move(owners), nprocs);
  return {n, std::move(sizes), 0, nprocs, std::move(owners)};
}

} // namespace

std::vector<int> parts_of(const FieldDimensions& dimensions, int nprocs) {
  Search search{dimensions, std::vector<int>(dimensions.size(), 1), {}};
  search.go_on(0, nprocs, 1);
  if (search.best.empty() && (nprocs != 1 || !dimensions.empty())) {
    std::vector<int> parts;
    for (const FieldDimension& dimension : dimensions) parts.push_back(dimension.parts);
    throw Error(Status::bad_argument,
                "gridmap: dimensions of extents {} cannot be cut over {} processes by process_dims {}, expected "
                "numbers whose product is {} or, with 0 among them, divides it",
                extents_text(dimensions), nprocs, fmt::join(parts, " x "), nprocs);
  }
  return search.best;
}

Axis axis_of(const FieldDimension& dimension, int parts) {
  if (dimension.block == 0) return Axis::block(dimension.extent, parts);
  return Axis::block_cyclic(dimension.extent, std::min(dimension.block, std::max<std::int64_t>(1, dimension.extent)),
                            parts);
}

std::vector<int> coordinates(const std::vector<int>& parts, int p) {
  std::vector<int> at_parts;
  for (const int count : parts) {
    at_parts.push_back(p % count);
    p /= count;
  }
  return at_parts;
}

Axis field_axis(const FieldDimensions& dimensions, int nprocs) {
  const std::vector<int> parts = parts_of(dimensions, nprocs);
  Axis all = Axis::block_cyclic(1, 1, 1);
  for (std::size_t d = 0; d < parts.size(); ++d) all = times(all, axis_of(dimensions[d], parts[d]));
  return all;
}

int count_cut(const FieldDimensions& all) {
  return static_cast<int>(std::count_if(all.begin(), all.end(), [](const FieldDimension& d) { return d.parts != 1; }));
}

std::pair<FieldDimensions, FieldDimensions> rows_and_columns(const FieldDimensions& all) {
  std::size_t rows = all.size();
  while (rows > 1 && all[rows - 1].parts == 1) --rows;
  if (count_cut(all) > 1) --rows;
  const auto split = all.begin() + static_cast<std::ptrdiff_t>(rows);
  return {{all.begin(), split}, {split, all.end()}};
}

std::string extents_text(const FieldDimensions& dimensions) {
  std::vector<std::int64_t> extents;
  for (const FieldDimension& dimension : dimensions) extents.push_back(dimension.extent);
  return extents.empty() ? "1" : fmt::format("{}", fmt::join(extents, " x "));
}

} // namespace gridmap
