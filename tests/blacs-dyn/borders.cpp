// SPDX-License-Identifier: BSD-3-Clause
// borders GRID...: the halo of a matrix and of fields of one, three and five dimensions on each of these grids. Every
// place of the ghosted array is compared with what the definition in dyngrid/halo.h says of its indices.
// borders refused: arguments that are wrong on one process are the same error on all. mpirun -np 4.
#include <string>
#include <vector>

#include "dyngrid.hpp"
#include "follow.hpp"

namespace {

using follow::agreed;
using follow::expect;

constexpr double outside = -1;

/// What has borders: its extents, and the sides of each dimension.
struct Case {
  const char* name;
  std::vector<std::int64_t> extents;
  std::vector<int> lo, hi, periodic;
  int neighbours;
};
const std::vector<Case> cases = {
    {"matrix", {13, 11}, {2, 0}, {1, 3}, {1, 0}, DYNGRID_NEIGHBOURS_EIGHT},
    {"field1", {17}, {2}, {1}, {1}, DYNGRID_NEIGHBOURS_FOUR},
    {"field3", {3, 8, 9}, {0, 1, 2}, {0, 2, 1}, {0, 1, 0}, DYNGRID_NEIGHBOURS_EIGHT},
    {"field5", {2, 4, 1, 5, 3}, {0, 1, 0, 1, 0}, {1, 1, 1, 0, 0}, {0, 0, 1, 1, 0}, DYNGRID_NEIGHBOURS_FOUR},
};

/// Of the element with these indices.
double value(const Case& c, const std::vector<std::int64_t>& index) {
  double number = 0;
  for (std::size_t d = c.extents.size(); d-- > 0;)
    number = number * static_cast<double>(c.extents[d]) + static_cast<double>(index[d]);
  return number;
}

/// A place of one dimension of the ghosted array; -1: outside.
struct Place {
  std::int64_t glo = -1;
  bool is_border = true;
};

/// Calls f(k, places) for all places of a dense array, the first dimension running fastest.
template <class F> void for_places(const std::vector<std::vector<Place>>& of, F&& f) {
  std::size_t count = 1;
  for (const auto& list : of) count *= list.size();
  std::vector<Place> at(of.size());
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t rest = k;
    for (std::size_t d = 0; d < of.size(); ++d) {
      at[d] = of[d][rest % of[d].size()];
      rest /= of[d].size();
    }
    f(k, at);
  }
}

std::vector<std::int64_t> indices(const std::vector<Place>& places) {
  std::vector<std::int64_t> all;
  for (const Place& place : places) all.push_back(place.glo);
  return all;
}

void check(const Case& c, dyngrid_matrix* a) {
  const std::size_t dims = c.extents.size();
  dyngrid_halo* halo = nullptr;
  expect(dyngrid_matrix_halo(a, c.lo.data(), c.hi.data(), c.periodic.data(), c.neighbours, &halo) == 0,
         std::string("halo: ") + dyngrid_last_message());
  std::int64_t extents[DYNGRID_FIELD_DIMS] = {}, lld = 0, elements = 1;
  expect(dyngrid_halo_extents(halo, extents) == static_cast<int>(dims), "dimensions");
  int row_stretches = -1, col_stretches = -1;
  expect(dyngrid_halo_shape(halo, nullptr, nullptr, &row_stretches, &col_stretches) == 0, "shape");
  expect(row_stretches >= 0 && (dims == 1 ? col_stretches == 0 : col_stretches >= 0), "stretches");
  std::vector<std::vector<Place>> local(dims), ghosted(dims);
  for (std::size_t d = 0; d < dims; ++d) {
    ghosted[d].resize(static_cast<std::size_t>(extents[d]));
    elements *= extents[d];
    std::int64_t glo = 0, loc = 0, at = 0, size = 0;
    for (std::int64_t k = 0; dyngrid_halo_range(halo, static_cast<int>(d), k, &glo, &loc, &at, &size) == 1; ++k) {
      expect(loc == static_cast<std::int64_t>(local[d].size()), "stretches follow each other in the local array");
      for (std::int64_t i = -c.lo[d]; i < size + c.hi[d]; ++i) {
        const bool is_border = i < 0 || i >= size;
        const std::int64_t n = c.extents[d], index = glo + i;
        const bool is_there = c.periodic[d] != 0 || (index >= 0 && index < n);
        const Place place{is_there ? (index % n + n) % n : -1, is_border};
        ghosted[d][static_cast<std::size_t>(at + i)] = place;
        if (!is_border) local[d].push_back(place);
      }
    }
  }
  auto* mine = static_cast<double*>(dyngrid_local(a));
  for_places(local, [&](std::size_t k, const std::vector<Place>& at) { mine[k] = value(c, indices(at)); });
  std::vector<double> u(static_cast<std::size_t>(elements));
  dyngrid_matrix_shape(a, nullptr, nullptr, &lld);
  expect(dyngrid_halo_fill(halo, u.data(), 0, &outside) == 0, "fill");
  expect(dyngrid_halo_to_ghosted(halo, mine, lld, u.data(), 0) == 0, "to ghosted");
  expect(dyngrid_halo_exchange(halo, u.data(), 0) == 0, "exchange");
  for_places(ghosted, [&](std::size_t k, const std::vector<Place>& at) {
    int borders = 0;
    bool is_there = true;
    for (const Place& place : at) {
      borders += place.is_border ? 1 : 0;
      is_there = is_there && place.glo >= 0;
    }
    is_there = is_there && (borders < 2 || c.neighbours == DYNGRID_NEIGHBOURS_EIGHT);
    expect(u[k] == (is_there ? value(c, indices(at)) : outside), std::string(c.name) + ": place " + std::to_string(k));
    u[k] *= 2;
  });
  expect(dyngrid_halo_from_ghosted(halo, u.data(), 0, mine, lld) == 0, "from ghosted");
  for_places(local, [&](std::size_t k, const std::vector<Place>& at) {
    expect(mine[k] == 2 * value(c, indices(at)), std::string(c.name) + ": from the ghosted array");
  });
  expect(dyngrid_halo_destroy(&halo) == 0, "destroy");
}

std::vector<dyngrid_matrix*> make() {
  std::vector<dyngrid_matrix*> all(cases.size());
  expect(dyngrid_matrix_create("matrix", 'd', cases[0].extents[0], cases[0].extents[1], 3, 2, &all[0]) == 0, "create");
  for (std::size_t k = 1; k < cases.size(); ++k)
    expect(dyngrid_field_create(cases[k].name, 'd', static_cast<int>(cases[k].extents.size()), cases[k].extents.data(),
                                nullptr, nullptr, &all[k]) == 0,
           dyngrid_last_message());
  return all;
}

void walk(int count, char** grids) {
  static int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  const std::vector<dyngrid_matrix*> all = make();
  const int none[] = {0, 0};
  dyngrid_halo* halo = nullptr;
  if (dyngrid_is_newcomer())
    expect(dyngrid_matrix_halo(all[0], none, none, nullptr, DYNGRID_NEIGHBOURS_FOUR, &halo) == DYNGRID_ERR_STATE,
           "before the first resize point");
  while (true) {
    if (!dyngrid_is_newcomer() && step < count) follow::request(grids[step]);
    const int outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE) return;
    expect(outcome >= 0, dyngrid_last_message());
    for (std::size_t k = 0; k < cases.size(); ++k) check(cases[k], all[k]);
    if (step == count) return;
    ++step;
  }
}

void refused() {
  const std::vector<dyngrid_matrix*> all = make();
  const int one[] = {1, 1, 1, 1, 1}, below[] = {1, -1, 1, 1, 1}, none[5] = {};
  dyngrid_halo* halo = nullptr;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_wrong = rank == 2;
  agreed(dyngrid_matrix_halo(is_wrong ? nullptr : all[2], one, one, nullptr, 8, &halo), DYNGRID_ERR_NULL, "matrix");
  agreed(dyngrid_matrix_halo(all[2], is_wrong ? nullptr : one, one, nullptr, 8, &halo), DYNGRID_ERR_NULL, "lo");
  agreed(dyngrid_matrix_halo(all[2], one, one, nullptr, is_wrong ? 6 : 8, &halo), DYNGRID_ERR_ARGUMENT, "neighbours");
  agreed(dyngrid_matrix_halo(all[2], one, is_wrong ? below : one, nullptr, 8, &halo), DYNGRID_ERR_ARGUMENT, "below 0");
  agreed(dyngrid_matrix_halo(all[2], none, none, nullptr, 8, &halo), DYNGRID_ERR_ARGUMENT, "no border");
  dyngrid_matrix* whole = nullptr;
  expect(dyngrid_matrix_create_on("whole", 'd', 4, 4, 2, 2, DYNGRID_ON_ALL, &whole) == 0, "create");
  agreed(dyngrid_matrix_halo(whole, one, one, nullptr, 8, &halo), DYNGRID_ERR_ARGUMENT, "all have all");
  expect(halo == nullptr, "no halo");
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect(dyngrid_init() == 0, dyngrid_last_message());
  if (argc > 1 && std::string(argv[1]) == "refused")
    refused();
  else
    walk(argc - 1, argv + 1);
  dyngrid_finalize();
  MPI_Finalize();
  return 0;
}
