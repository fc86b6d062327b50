// SPDX-License-Identifier: BSD-3-Clause
// borders GRID...: the borders of a matrix and of fields of one, three and five dimensions on each of these grids: as
// they are kept through the changes (dyngrid_borders), and by a halo that is made on each grid. Every place of the
// ghosted array is compared with what the definition in dyngrid/halo.h says of its indices.
// borders refused: arguments that are wrong on one process are the same error on all. mpirun -np 4.
#include <string>
#include <vector>

#include "bordered.hpp"
#include "dyngrid.hpp"
#include "follow.hpp"

namespace {

using follow::agreed;
using follow::expect;
using follow::for_places;
using follow::number_of;
using follow::Place;
using follow::Places;
using follow::places_of;
using Case = follow::Bordered;

constexpr double outside = -1;

const std::vector<Case> cases = {
    {"matrix", {13, 11}, {2, 0}, {1, 3}, {1, 0}, DYNGRID_NEIGHBOURS_EIGHT},
    {"field1", {17}, {2}, {1}, {1}, DYNGRID_NEIGHBOURS_FOUR},
    {"field3", {3, 8, 9}, {0, 1, 2}, {0, 2, 1}, {0, 1, 0}, DYNGRID_NEIGHBOURS_EIGHT},
    {"field5", {2, 4, 1, 5, 3}, {0, 1, 0, 1, 0}, {1, 1, 1, 0, 0}, {0, 0, 1, 1, 0}, DYNGRID_NEIGHBOURS_FOUR},
};

void compare(const Case& c, const Places& mine, const double* u, double factor) {
  follow::compare_ghosted(c, mine, u, outside,
                          [=](std::int64_t number) { return factor * static_cast<double>(number); });
}

void set(const Case& c, const Places& mine, double* local, double factor) {
  for_places(mine.local, [&](std::size_t k, const std::vector<Place>& at) {
    local[k] = factor * static_cast<double>(number_of(c, at));
  });
}

void compare_local(const Case& c, const Places& mine, const double* local, double factor) {
  for_places(mine.local, [&](std::size_t k, const std::vector<Place>& at) {
    expect(local[k] == factor * static_cast<double>(number_of(c, at)), c.name + ": from the ghosted array");
  });
}

/// Multiplies my elements in the ghosted array.
void scale(const Places& mine, double* u, double factor) {
  for_places(mine.ghosted, [&](std::size_t k, const std::vector<Place>& at) {
    bool is_mine = true;
    for (const Place& place : at) is_mine = is_mine && !place.is_border;
    if (is_mine) u[k] *= factor;
  });
}

/// A halo of now, and an array of this program's.
void check_halo(const Case& c, dyngrid_matrix* a) {
  dyngrid_halo* halo = nullptr;
  expect(dyngrid_matrix_halo(a, c.lo.data(), c.hi.data(), c.periodic.data(), c.neighbours, &halo) == 0,
         std::string("halo: ") + dyngrid_last_message());
  const Places mine = places_of(c, halo);
  auto* local = static_cast<double*>(dyngrid_local(a));
  set(c, mine, local, 1);
  std::vector<double> u(mine.elements);
  std::int64_t lld = 0;
  dyngrid_matrix_shape(a, nullptr, nullptr, &lld);
  expect(dyngrid_halo_fill(halo, u.data(), 0, &outside) == 0, "fill");
  expect(dyngrid_halo_to_ghosted(halo, local, lld, u.data(), 0) == 0, "to ghosted");
  expect(dyngrid_halo_exchange(halo, u.data(), 0) == 0, "exchange");
  compare(c, mine, u.data(), 1);
  scale(mine, u.data(), 2);
  expect(dyngrid_halo_from_ghosted(halo, u.data(), 0, local, lld) == 0, "from ghosted");
  compare_local(c, mine, local, 2);
  expect(dyngrid_halo_destroy(&halo) == 0, "destroy");
}

/// What follows the grid. The elements have the values that the last grid left.
void check_kept(const Case& c, dyngrid_matrix* a, dyngrid_borders* borders, double factor) {
  void* array = nullptr;
  expect(dyngrid_borders_update(borders, &array) == 0 && array, dyngrid_last_message());
  auto* const u = static_cast<double*>(array);
  const Places mine = places_of(c, dyngrid_borders_halo(borders));
  compare(c, mine, u, factor);
  scale(mine, u, 2);
  expect(dyngrid_borders_exchange(borders) == 0, "exchange");
  compare(c, mine, u, 2 * factor);
  expect(dyngrid_borders_store(borders) == 0, "store");
  auto* const local = static_cast<double*>(dyngrid_local(a));
  compare_local(c, mine, local, 2 * factor);
  set(c, mine, local, factor + 1);
  void* again = nullptr;
  expect(dyngrid_borders_update(borders, &again) == 0 && again == array, "nothing changed: the same array");
  compare(c, mine, u, factor + 1);
}

std::vector<dyngrid_matrix*> make() {
  std::vector<dyngrid_matrix*> all(cases.size());
  expect(dyngrid_matrix_create("matrix", 'd', cases[0].extents[0], cases[0].extents[1], 3, 2, &all[0]) == 0, "create");
  for (std::size_t k = 1; k < cases.size(); ++k)
    expect(dyngrid_field_create(cases[k].name.c_str(), 'd', static_cast<int>(cases[k].extents.size()),
                                cases[k].extents.data(), nullptr, nullptr, &all[k]) == 0,
           dyngrid_last_message());
  return all;
}

dyngrid_borders* borders_of(const Case& c, dyngrid_matrix* a) {
  dyngrid_borders* made = nullptr;
  expect(dyngrid_borders_create(a, c.lo.data(), c.hi.data(), c.periodic.data(), c.neighbours, &outside, &made) == 0,
         dyngrid_last_message());
  return made;
}

/// To another layout and back, as phases do: the array is kept, with what the program wrote where no neighbour does.
void check_there_and_back() {
  const int one[] = {1, 1};
  dyngrid_matrix* a = nullptr;
  dyngrid_borders* borders = nullptr;
  expect(dyngrid_matrix_create("back", 'd', 8, 8, 2, 2, &a) == 0, "create");
  expect(dyngrid_borders_create(a, one, one, nullptr, DYNGRID_NEIGHBOURS_FOUR, nullptr, &borders) == 0, "create");
  void* u = nullptr;
  expect(dyngrid_borders_update(borders, &u) == 0, "update");
  *static_cast<double*>(u) = 7; // the first corner
  expect(dyngrid_matrix_reblock(a, 1, 3) >= 0 && dyngrid_matrix_reblock(a, 2, 2) >= 0, dyngrid_last_message());
  expect(dyngrid_borders_update(borders, &u) == 0 && *static_cast<double*>(u) == 7, "the array is kept");
  expect(dyngrid_borders_free(&borders) == 0 && dyngrid_matrix_free(&a) == 0, "free");
}

/// Another layout on the same grid, and a matrix that is freed.
void check_layouts() {
  const Case& c = cases[0];
  dyngrid_matrix* a = follow::create("other", 'd', c.extents[0], c.extents[1], 3, 2);
  dyngrid_borders* borders = borders_of(c, a);
  void* u = nullptr;
  expect(dyngrid_borders_update(borders, &u) == 0, "update");
  set(c, places_of(c, dyngrid_borders_halo(borders)), static_cast<double*>(dyngrid_local(a)), 1);
  const int outcome = dyngrid_matrix_reblock(a, 2, 4);
  expect(outcome == DYNGRID_RESIZED || outcome == DYNGRID_SAME, dyngrid_last_message());
  if (outcome == DYNGRID_RESIZED) {
    expect(dyngrid_borders_exchange(borders) == DYNGRID_ERR_STATE, "exchange in another layout");
    expect(std::string(dyngrid_last_message()).find("dyngrid_borders_update") != std::string::npos, "says what to do");
    expect(dyngrid_borders_store(borders) == DYNGRID_ERR_STATE, "store in another layout");
    expect(!dyngrid_borders_halo(borders), "no halo of now");
  }
  check_kept(c, a, borders, 1);
  expect(dyngrid_matrix_free(&a) == 0, "free");
  expect(dyngrid_matrix_create("other", 'd', 4, 4, 1, 1, &a) == 0, "another one, perhaps at its address");
  expect(dyngrid_borders_update(borders, &u) == DYNGRID_ERR_NOT_FOUND, "the matrix was freed");
  expect(std::string(dyngrid_last_message()).find("was freed") != std::string::npos, dyngrid_last_message());
  dyngrid_borders* const ended = borders;
  expect(dyngrid_borders_free(&borders) == 0 && !borders, "free the borders");
  expect(dyngrid_borders_update(ended, &u) == DYNGRID_ERR_NOT_FOUND, "borders that were freed");
  expect(dyngrid_matrix_free(&a) == 0, "free");
}

void walk(int count, char** grids) {
  static int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  const std::vector<dyngrid_matrix*> all = make();
  std::vector<dyngrid_borders*> kept;
  for (std::size_t k = 0; k < cases.size(); ++k) kept.push_back(borders_of(cases[k], all[k]));
  const int none[] = {0, 0};
  dyngrid_halo* halo = nullptr;
  void* u = &halo;
  if (dyngrid_is_newcomer()) {
    expect(dyngrid_matrix_halo(all[0], none, none, nullptr, DYNGRID_NEIGHBOURS_FOUR, &halo) == DYNGRID_ERR_STATE,
           "before the first resize point");
    expect(dyngrid_borders_update(kept[0], &u) == 0 && !u, "nothing before the first resize point");
    expect(!dyngrid_borders_halo(kept[0]), "no halo before the first resize point");
  } else {
    for (std::size_t k = 0; k < cases.size(); ++k) { // zero so far: then the values
      expect(dyngrid_borders_update(kept[k], nullptr) == 0, dyngrid_last_message());
      set(cases[k], places_of(cases[k], dyngrid_borders_halo(kept[k])), static_cast<double*>(dyngrid_local(all[k])), 2);
    }
  }
  while (true) {
    if (!dyngrid_is_newcomer() && step < count) follow::request(grids[step]);
    const int outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE) return;
    expect(outcome >= 0, dyngrid_last_message());
    if (outcome == DYNGRID_RESIZED)
      expect(dyngrid_borders_exchange(kept[0]) == DYNGRID_ERR_STATE, "exchange after a change");
    for (std::size_t k = 0; k < cases.size(); ++k) {
      check_kept(cases[k], all[k], kept[k], 2);
      check_halo(cases[k], all[k]); // leaves twice the values
    }
    check_layouts();
    check_there_and_back();
    if (step == count) return;
    ++step;
  }
}

void refused() {
  const std::vector<dyngrid_matrix*> all = make();
  const int one[] = {1, 1, 1, 1, 1}, two[] = {2, 2, 2, 2, 2}, below[] = {1, -1, 1, 1, 1}, none[5] = {};
  dyngrid_halo* halo = nullptr;
  const int rank = follow::world_rank();
  const bool is_wrong = rank == 2;
  agreed(dyngrid_matrix_halo(is_wrong ? nullptr : all[2], one, one, nullptr, 8, &halo), DYNGRID_ERR_NULL, "matrix");
  agreed(dyngrid_matrix_halo(all[2], is_wrong ? nullptr : one, one, nullptr, 8, &halo), DYNGRID_ERR_NULL, "lo");
  agreed(dyngrid_matrix_halo(all[2], one, one, nullptr, is_wrong ? 6 : 8, &halo), DYNGRID_ERR_ARGUMENT, "neighbours");
  agreed(dyngrid_matrix_halo(all[2], one, is_wrong ? below : one, nullptr, 8, &halo), DYNGRID_ERR_ARGUMENT, "below 0");
  agreed(dyngrid_matrix_halo(all[2], none, none, nullptr, 8, &halo), DYNGRID_ERR_ARGUMENT, "no border");
  dyngrid_matrix *whole = nullptr, *copies = nullptr;
  expect(dyngrid_matrix_create_on("whole", 'd', 4, 4, 2, 2, DYNGRID_ON_ALL, &whole) == 0, "create");
  agreed(dyngrid_matrix_halo(whole, one, one, nullptr, 8, &halo), DYNGRID_ERR_ARGUMENT, "all have all");
  expect(dyngrid_matrix_create_on("copies", 'd', 4, 4, 2, 2, DYNGRID_ON_EACH_COLUMN, &copies) == 0, "create");
  agreed(dyngrid_matrix_halo(copies, one, one, nullptr, 8, &halo), DYNGRID_ERR_ARGUMENT, "copies");
  agreed(dyngrid_matrix_halo(all[2], is_wrong ? two : one, one, nullptr, 8, &halo), DYNGRID_ERR_MISMATCH, "widths");
  agreed(is_wrong ? dyngrid_copy(all[0], all[0]) : dyngrid_matrix_halo(all[2], one, one, nullptr, 8, &halo),
         DYNGRID_ERR_MISMATCH, "another call");
  const dyngrid_matrix* const freed = copies;
  expect(dyngrid_matrix_free(&copies) == 0, "free");
  agreed(dyngrid_matrix_halo(freed, one, one, nullptr, 8, &halo), DYNGRID_ERR_NOT_FOUND, "freed");
  expect(halo == nullptr, "no halo");

  dyngrid_borders* made = nullptr;
  const double other = is_wrong ? 1 : 2;
  const auto create = [&](dyngrid_matrix* a, const int* lo, const int* hi, int neighbours, const void* boundary,
                          dyngrid_borders** place) {
    return dyngrid_borders_create(a, lo, hi, nullptr, neighbours, boundary, place);
  };
  agreed(create(is_wrong ? nullptr : all[2], one, one, 8, nullptr, &made), DYNGRID_ERR_NULL, "matrix");
  agreed(create(all[2], one, is_wrong ? nullptr : one, 8, nullptr, &made), DYNGRID_ERR_NULL, "hi");
  agreed(create(all[2], one, one, 8, nullptr, is_wrong ? nullptr : &made), DYNGRID_ERR_NULL, "place");
  agreed(create(all[2], one, one, is_wrong ? 6 : 8, nullptr, &made), DYNGRID_ERR_ARGUMENT, "neighbours");
  agreed(create(all[2], is_wrong ? below : one, one, 8, nullptr, &made), DYNGRID_ERR_ARGUMENT, "below 0");
  agreed(create(all[2], none, none, 8, nullptr, &made), DYNGRID_ERR_ARGUMENT, "no border");
  agreed(create(whole, one, one, 8, nullptr, &made), DYNGRID_ERR_ARGUMENT, "all have all");
  agreed(create(all[2], one, is_wrong ? none : one, 8, nullptr, &made), DYNGRID_ERR_MISMATCH, "other widths");
  agreed(create(all[2], one, one, 8, &other, &made), DYNGRID_ERR_MISMATCH, "another boundary");
  expect(!made, "no borders");
  dyngrid_borders *field = nullptr, *matrix = nullptr;
  agreed(create(all[2], one, one, 8, nullptr, &field), DYNGRID_SUCCESS, "create");
  agreed(create(all[0], one, one, 8, nullptr, &matrix), DYNGRID_SUCCESS, "create");
  void* u = nullptr;
  agreed(dyngrid_borders_exchange(field), DYNGRID_ERR_STATE, "no update yet");
  agreed(dyngrid_borders_store(field), DYNGRID_ERR_STATE, "no update yet");
  agreed(dyngrid_borders_update(is_wrong ? nullptr : field, &u), DYNGRID_ERR_NULL, "borders");
  agreed(dyngrid_borders_update(is_wrong ? matrix : field, &u), DYNGRID_ERR_MISMATCH, "other borders");
  agreed(is_wrong ? dyngrid_copy(all[0], all[0]) : dyngrid_borders_update(field, &u), DYNGRID_ERR_MISMATCH,
         "another call");
  expect(!u, "no array");
  agreed(dyngrid_borders_update(field, &u), DYNGRID_SUCCESS, dyngrid_last_message());
  agreed(dyngrid_borders_free(&field), DYNGRID_SUCCESS, "free");
  expect(dyngrid_borders_free(&field) == 0 && dyngrid_borders_free(nullptr) == 0, "free nothing");
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
