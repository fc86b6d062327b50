// SPDX-License-Identifier: BSD-3-Clause
// fields sequence GRID...: fields of one to five dimensions through these grids, every element and every range.
// fields extents FILE: a checkpoint with a field of other extents is refused.
// fields write FILE and fields read FILE: a checkpoint, and a restart from it; half of the fields are not made there.
// fields random SEED COUNT MOST [FILE [COLUMNS ELEMENTS]]: sequences of changes drawn at random on grids of at most
// MOST processes, with all other kinds of matrices in the same program, borders, and sparse columns; with FILE through
// checkpoints, too. The sparse columns of DRMS, section 8: 35588 5308247.
// fields statuses: arguments that are wrong on one process or on all are the same error on all.
// What is expected is counted here index by index, from the definition in dyngrid/layout.h.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <random>

#include "bordered.hpp"
#include "dyngrid.hpp"
#include "follow.hpp"
#include "forms.hpp"

namespace {

using follow::agreed;
using follow::below;
using follow::expect;

/// A field as it should be; shared, so that new processes have it.
struct Form {
  int dims = 1;
  std::int64_t extents[5] = {1, 1, 1, 1, 1}, blocks[5] = {};
  int process_dims[5] = {};
  int salt = 0;

  std::int64_t elements() const {
    std::int64_t product = 1;
    for (int d = 0; d < dims; ++d) product *= extents[d];
    return product;
  }
};

dyngrid_matrix* make(const std::string& name, const Form& f) {
  dyngrid_matrix* a = nullptr;
  expect(dyngrid_field_create(name.c_str(), 'd', f.dims, f.extents, f.blocks, f.process_dims, &a) == 0,
         "create " + name + ": " + dyngrid_last_message());
  return a;
}

using Indices = std::vector<std::vector<std::int64_t>>; ///< of each dimension, mine

/// f(place in the local array, number of the element in the whole field).
template <class F> void for_mine(const Form& f, const Indices& mine, F&& call) {
  std::int64_t count = 1;
  for (const auto& list : mine) count *= static_cast<std::int64_t>(list.size());
  for (std::int64_t at = 0; at < count; ++at) {
    std::int64_t rest = at, number = 0, stride = 1;
    for (std::size_t d = 0; d < mine.size(); ++d) {
      const auto size = static_cast<std::int64_t>(mine[d].size());
      number += stride * mine[d][static_cast<std::size_t>(rest % size)];
      rest /= size;
      stride *= f.extents[d];
    }
    call(at, number);
  }
}

Indices ranges(const dyngrid_matrix* a, int dims) {
  Indices mine(static_cast<std::size_t>(dims));
  std::int64_t i = 0, end = 0;
  for (int d = 0; d < dims; ++d)
    for (std::int64_t k = 0; dyngrid_field_range(a, d, k, &i, &end) == 1; ++k)
      for (; i < end; ++i) mine[static_cast<std::size_t>(d)].push_back(i);
  return mine;
}

double value(const Form& f, std::int64_t number) {
  return static_cast<double>(number + 100000 * f.salt);
}

void fill(dyngrid_matrix* a, const Form& f) {
  auto* x = static_cast<double*>(dyngrid_local(a));
  for_mine(f, ranges(a, f.dims), [&](std::int64_t at, std::int64_t number) { x[at] = value(f, number); });
}

void check(const std::string& name, const dyngrid_matrix* a, const Form& f) {
  expect(a != nullptr, name + " is there");
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0, parts[5] = {}, coordinates[5] = {};
  std::int64_t extents[5] = {};
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  expect(dyngrid_field_shape(a, extents, parts, coordinates) == f.dims, name + ": dims");
  int last = -1, count = 0, rest = myrow; // of the dimensions that may be cut
  for (int d = 0; d < f.dims; ++d)
    if (f.process_dims[d] != 1) last = d, ++count;
  expect(count > 1 || nprow * npcol == 1 || last >= 0, name + ": no cut");
  int product = 1;
  for (int d = 0; d < f.dims; ++d) {
    expect(f.process_dims[d] == 0 || parts[d] == f.process_dims[d], name + ": a cut that was asked for");
    int c = 0;
    if (count == 1 && d == last) {
      expect(parts[d] == nprow * npcol, name + ": one cut goes over all processes");
      c = myrow * npcol + mycol;
    } else if (d == last) {
      expect(parts[d] == npcol, name + ": the last cut goes over grid columns");
      c = mycol;
    } else if (count > 1 && d < last) {
      product *= parts[d];
      c = rest % parts[d];
      rest /= parts[d];
    } else {
      expect(parts[d] == 1, name + ": not cut");
    }
    expect(coordinates[d] == c, name + ": coordinates");
  }
  expect(count < 2 || product == nprow, name + ": the other cuts go over grid rows");
  Indices mine(static_cast<std::size_t>(f.dims));
  for (int d = 0; d < f.dims; ++d) {
    const std::int64_t n = f.extents[d],
                       nb = f.blocks[d] > 0 ? f.blocks[d] : std::max<std::int64_t>(1, (n + parts[d] - 1) / parts[d]);
    for (std::int64_t i = 0; i < n; ++i)
      if (i / nb % parts[d] == coordinates[d]) mine[static_cast<std::size_t>(d)].push_back(i);
    expect(extents[d] == static_cast<std::int64_t>(mine[static_cast<std::size_t>(d)].size()), name + ": local extent");
  }
  expect(ranges(a, f.dims) == mine, name + ": dyngrid_field_range");
  const auto* x = static_cast<const double*>(dyngrid_field_local(a, extents));
  for_mine(f, mine, [&](std::int64_t at, std::int64_t number) {
    expect(x[at] == value(f, number), name + ": element " + std::to_string(number));
  });
}

const std::vector<std::pair<std::string, Form>> one_of_each{
    {"vector", {1, {37}, {3}, {}, 1}},
    {"plane", {2, {13, 11}, {2, 3}, {}, 2}},
    {"slices", {2, {13, 11}, {}, {1, 0}, 3}},
    {"cells", {4, {5, 6, 7, 8}, {}, {1, 0, 0, 0}, 4}},
    {"cyclic", {3, {7, 6, 9}, {1, 2, 1}, {}, 5}},
    {"pencils", {3, {9, 4, 10}, {}, {1, 0, 0}, 6}},
    {"first two", {4, {6, 5, 2, 3}, {1, 0, 0, 0}, {0, 0, 1, 1}, 7}},
    {"five", {5, {3, 4, 2, 5, 6}, {0, 1, 0, 2, 1}, {}, 8}},
    {"empty", {3, {4, 0, 5}, {}, {}, 9}},
    {"one in the middle", {3, {3, 20, 4}, {0, 2, 0}, {1, 0, 1}, 10}}};

int sequence(int argc, char** argv) {
  expect(dyngrid_init_grid(1, 1) == 0, "dyngrid_init_grid");
  Form forms[16];
  std::vector<dyngrid_matrix*> a;
  for (std::size_t k = 0; k < one_of_each.size(); ++k) {
    forms[k] = one_of_each[k].second;
    const bool is_declared = k % 2 == 0 || !dyngrid_is_newcomer(); // a new process need not
    a.push_back(is_declared ? make(one_of_each[k].first, forms[k]) : nullptr);
  }
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  if (!dyngrid_is_newcomer())
    for (std::size_t k = 0; k < a.size(); ++k) fill(a[k], forms[k]);
  const bool stays = follow::on_each_grid([&] {
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (!a[k]) a[k] = dyngrid_matrix_find(one_of_each[k].first.c_str());
      check(one_of_each[k].first, a[k], forms[k]);
    }
    expect(dyngrid_relayout() == DYNGRID_SAME, "relayout");
    return follow::request_next(argc - 2, argv + 2, step);
  });
  if (!stays) return dyngrid_finalize();
  if (dyngrid_is_first()) std::printf("all right after %d grids\n", step + 1);
  return dyngrid_finalize();
}

// ---- random

constexpr int most_fields = 5;

struct State : follow::Sequences<Form, most_fields> {
  std::int64_t owners = 1;
};

/// Beside the fields: an ordinary matrix, one with any owners, one of each shape, one in the program's own memory, and
/// sparse columns as a vector of their elements, each column on any process.
struct Other {
  std::string name;
  int salt;
  std::int64_t m = 19, n = 14;

  double value(std::int64_t i, std::int64_t j) const { return static_cast<double>(i * n + j) + 1e7 * salt; }
};
std::vector<Other> others{{"ordinary", 1},
                          {"owned", 2},
                          {"row", 3},
                          {"column", 4},
                          {"first", 5},
                          {"all", 6},
                          {"each row", 7},
                          {"each column", 8},
                          {"part", 9},
                          {"adopted", 10},
                          {"sparse", 11, 1, 20011}};
std::int64_t sparse_columns = 700;

const Other& other(const std::string& name) {
  return *std::find_if(others.begin(), others.end(), [&](const Other& o) { return o.name == name; });
}

std::int64_t any_owner(void* context, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes,
                       int* owners) {
  const auto seed = static_cast<std::uint32_t>(static_cast<const State*>(context)->owners);
  std::mt19937 random(seed + (axis == 'R' ? 0 : 7));
  for (std::int64_t k = 0; k < length && sizes; ++k) {
    sizes[k] = 1;
    owners[k] = static_cast<int>(below(random, axis == 'R' ? nprow : npcol));
  }
  return length;
}

std::int64_t any_owner_of_columns(void* context, char axis, std::int64_t length, int nprow, int npcol,
                                  std::int64_t* sizes, int* owners) {
  if (axis == 'R') return any_owner(context, axis, length, nprow, npcol, sizes, owners);
  std::mt19937 lengths(1), random(static_cast<std::uint32_t>(static_cast<const State*>(context)->owners));
  for (std::int64_t k = 0, rest = length; k < sparse_columns && sizes; ++k) { // some are empty
    const std::int64_t to_come = sparse_columns - k;
    sizes[k] = to_come == 1 ? rest : below(lengths, std::min(rest, 2 * rest / to_come) + 1);
    rest -= sizes[k];
    owners[k] = static_cast<int>(below(random, npcol));
  }
  return sparse_columns;
}

/// What is kept beside the matrices through all changes.
struct Kept {
  std::vector<double> array;
  std::optional<dyngrid::Matrix<double>> adopted;
  dyngrid_borders* borders = nullptr;
};
constexpr double outside = -1;
const follow::Bordered bordered{"ordinary", {19, 14}, {2, 0}, {1, 3}, {1, 0}, DYNGRID_NEIGHBOURS_EIGHT};

void make_others(State& state, Kept& kept) {
  const auto [m, n] = std::pair(other("ordinary").m, other("ordinary").n);
  dyngrid_matrix* a = nullptr;
  expect(dyngrid_matrix_create_owned("owned", 'd', m, n, any_owner, &state, &a) == 0, "create owned");
  const std::vector<std::pair<const char*, int>> shapes{
      {"row", DYNGRID_ON_ROW}, {"column", DYNGRID_ON_COLUMN},     {"first", DYNGRID_ON_FIRST},
      {"all", DYNGRID_ON_ALL}, {"each row", DYNGRID_ON_EACH_ROW}, {"each column", DYNGRID_ON_EACH_COLUMN}};
  for (const auto& [name, shape] : shapes)
    expect(dyngrid_matrix_create_on(name, 'd', m, n, 2, 3, shape, &a) == 0, "create on a shape");
  expect(dyngrid_matrix_create_on_part("part", 'd', m, n, 2, 2, 2, 3, &a) == 0, "create on a part");
  expect(dyngrid_matrix_create_on("sparse", 'd', 1, other("sparse").n, 1, 64, DYNGRID_ON_ROW, &a) == 0 &&
             dyngrid_matrix_set_owner_rule(a, any_owner_of_columns, &state) >= 0,
         dyngrid_last_message());

  int desc[9] = {1, dyngrid_context(), static_cast<int>(m), static_cast<int>(n), 4, 3, 0, 0, 1};
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  if (myrow >= 0) {
    desc[8] = static_cast<int>(gridmap::Axis::block_cyclic(m, 4, nprow).local_size(myrow));
    kept.array.resize(static_cast<std::size_t>(desc[8] * gridmap::Axis::block_cyclic(n, 3, npcol).local_size(mycol)));
  }
  kept.adopted.emplace(dyngrid::adopt("adopted", kept.array, desc));

  expect(dyngrid_matrix_create("ordinary", 'd', m, n, 3, 2, &a) == 0, "create");
  expect(dyngrid_borders_create(a, bordered.lo.data(), bordered.hi.data(), bordered.periodic.data(),
                                bordered.neighbours, &outside, &kept.borders) == 0,
         dyngrid_last_message());
}

void fill_others() {
  for (const Other& o : others)
    dyngrid::for_each<double>(dyngrid_matrix_find(o.name.c_str()),
                              [&](std::int64_t i, std::int64_t j, double& x) { x = o.value(i, j); });
}

void check_others(const Kept& kept) {
  std::vector<std::int64_t> count(others.size(), 0);
  int nprow = 0, npcol = 0;
  dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
  const std::map<std::string, int> copies{{"all", nprow * npcol}, {"each row", nprow}, {"each column", npcol}};
  for (std::size_t k = 0; k < others.size(); ++k)
    dyngrid::for_each<double>(
        dyngrid_matrix_find(others[k].name.c_str()), [&](std::int64_t i, std::int64_t j, const double& x) {
          if (x != others[k].value(i, j))
            follow::fail(others[k].name + ": element " + std::to_string(i) + ", " + std::to_string(j));
          ++count[k];
        });
  MPI_Allreduce(MPI_IN_PLACE, count.data(), static_cast<int>(count.size()), MPI_INT64_T, MPI_SUM, dyngrid_comm());
  for (std::size_t k = 0; k < others.size(); ++k)
    expect(count[k] == others[k].m * others[k].n * (copies.count(others[k].name) ? copies.at(others[k].name) : 1),
           others[k].name + ": number of elements");

  expect(kept.adopted->local() == (kept.array.empty() ? nullptr : kept.array.data()), "adopted: the program's memory");
  void* u = nullptr;
  expect(dyngrid_borders_update(kept.borders, &u) == 0, dyngrid_last_message());
  follow::compare_ghosted(
      bordered, follow::places_of(bordered, dyngrid_borders_halo(kept.borders)), static_cast<const double*>(u), outside,
      [](std::int64_t number) {
        return other(bordered.name).value(number % bordered.extents[0], number / bordered.extents[0]);
      });
}

/// Borders of any width around a field, as long as the check lasts.
void check_borders(const std::string& name, dyngrid_matrix* a, const Form& f, std::uint32_t seed) {
  std::mt19937 random(seed);
  follow::Bordered b{name, {f.extents, f.extents + f.dims}, {}, {}, {}, 0};
  for (int d = 0; d < f.dims; ++d) {
    b.lo.push_back(d == 0 ? 1 : static_cast<int>(below(random, 3)));
    b.hi.push_back(static_cast<int>(below(random, 3)));
    b.periodic.push_back(static_cast<int>(below(random, 2)));
  }
  b.neighbours = below(random, 2) == 0 ? DYNGRID_NEIGHBOURS_FOUR : DYNGRID_NEIGHBOURS_EIGHT;
  dyngrid_borders* borders = nullptr;
  void* u = nullptr;
  expect(dyngrid_borders_create(a, b.lo.data(), b.hi.data(), b.periodic.data(), b.neighbours, &outside, &borders) ==
                 0 &&
             dyngrid_borders_update(borders, &u) == 0,
         name + ": " + dyngrid_last_message());
  follow::compare_ghosted(b, follow::places_of(b, dyngrid_borders_halo(borders)), static_cast<const double*>(u),
                          outside, [&](std::int64_t number) { return value(f, number); });
  expect(dyngrid_borders_free(&borders) == 0, "free");
}

void begin_sequence(State& state, std::mt19937& random) {
  state.begin([&](int k, Form& f) {
    f.dims = k < 3 ? 3 + k : 1 + static_cast<int>(below(random, 4));
    for (int d = 0; d < f.dims; ++d) {
      f.extents[d] = below(random, 30) == 0 ? 0 : 1 + below(random, f.dims > 3 ? 6 : 12);
      f.blocks[d] = below(random, 2) * (1 + below(random, 4));
      f.process_dims[d] = below(random, 3) == 0 ? 1 : 0;
    }
    if (k == 4) { // of the extents of the one before, for copies
      f = state.forms[3];
      for (int d = 0; d < f.dims; ++d) {
        f.blocks[d] = below(random, 5);
        f.process_dims[d] = below(random, 2) == 0 ? 1 : 0;
      }
    }
    f.process_dims[below(random, f.dims)] = 0;
    f.salt = static_cast<int>(below(random, 1000));
  });
}

void take_step(State& state, std::mt19937& random, int most, const char* file) {
  if (state.steps_left-- == 0) begin_sequence(state, random);
  switch (below(random, file ? 7 : 6)) {
  case 0:
  case 1:
  case 2:
    follow::request_any(random, most);
    ++state.changes;
    break;
  case 3:
    expect(dyngrid_copy(state.matrix(3), state.matrix(4)) == 0, "copy");
    state.forms[4].salt = state.forms[3].salt;
    ++state.copies;
    break;
  case 4: { // b = 2 b - a
    const double two = 2, minus = -1;
    expect(dyngrid_add('N', &minus, state.matrix(4), &two, state.matrix(3)) == 0, "add");
    state.forms[3].salt = 2 * state.forms[3].salt - state.forms[4].salt;
    break;
  }
  case 5:
    ++state.owners;
    expect(dyngrid_relayout() >= 0, "relayout");
    ++state.relayouts;
    break;
  default:
    follow::restore_all(state, file, [&] {
      for (int k = 0; k < state.made; ++k) {
        Form spoilt = state.forms[k];
        spoilt.salt = -1;
        fill(state.matrix(k), spoilt);
      }
      for (const Other& o : others)
        dyngrid::for_each<double>(dyngrid_matrix_find(o.name.c_str()), [](auto, auto, double& x) { x = -1; });
    });
  }
}

void check_all(const State& state, const Kept& kept) {
  for (int k = 0; k < state.made; ++k) {
    const std::string name = "seed " + std::to_string(state.seed) + ", " + state.name(k);
    check(name, state.matrix(k), state.forms[k]);
    if (k == static_cast<int>(state.seed % most_fields)) // of one in turn
      check_borders(name, state.matrix(k), state.forms[k], state.seed);
  }
  check_others(kept);
}

int at_random(std::uint32_t seed, int count, int most, const char* file) {
  expect(dyngrid_init_grid(1, 2) == 0, "dyngrid_init_grid");
  State state;
  state.seed = seed;
  expect(dyngrid_share("state", &state, sizeof state) == 0, "share");
  {
    Kept kept;
    make_others(state, kept);
    if (!dyngrid_is_newcomer()) fill_others();
    const bool stays = follow::at_random(
        state, count, [&] { check_all(state, kept); },
        [&](std::mt19937& random) { take_step(state, random, most, file); });
    if (!stays) return dyngrid_finalize();
    expect(dyngrid_borders_free(&kept.borders) == 0, "free");
  }
  return follow::all_right(state);
}

// ---- statuses

int statuses() {
  const std::int64_t good[] = {6, 5, 4, 3, 2, 1}, negative[] = {6, -5, 4}, other[] = {6, 5, 3},
                     huge[] = {1 << 16, 1 << 16, 4}, cyclic[] = {1, 1, 1}, long_list[] = {(1 << 25) + 1, 3, 8};
  const int fits[] = {1, 2, 2}, differs[] = {1, 2, 3}, whole[] = {1, 1, 1}, along[] = {2, 1, 2};
  dyngrid_matrix* a = nullptr;
  expect(dyngrid_field_create("a", 'd', 3, good, nullptr, nullptr, &a) == DYNGRID_ERR_STATE, "before dyngrid_init");
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  const int rank = follow::world_rank();
  const bool bad = rank == 2;
  const auto create = [&](int dims, const std::int64_t* extents, const std::int64_t* blocks, const int* cut) {
    return dyngrid_field_create("a", 'd', dims, extents, blocks, cut, &a);
  };
  const auto says = [](const char* words) {
    expect(std::strstr(dyngrid_last_message(), words) != nullptr,
           std::string("message has: ") + words + ", it is " + dyngrid_last_message());
  };
  for (const int dims : {0, -1, 6}) {
    agreed(create(dims, good, nullptr, nullptr), DYNGRID_ERR_ARGUMENT, "dims");
    says("expected 1 .. 5");
    agreed(create(bad ? dims : 3, good, nullptr, nullptr), DYNGRID_ERR_ARGUMENT, "dims on one process");
    says("expected 1 .. 5");
  }
  agreed(create(3, bad ? negative : good, nullptr, nullptr), DYNGRID_ERR_ARGUMENT, "an extent below 0");
  says("extents[1] is -5");
  agreed(create(3, good, bad ? negative : cyclic, nullptr), DYNGRID_ERR_ARGUMENT, "a block below 0");
  says("blocks[1] is -5");
  agreed(create(3, bad ? nullptr : good, nullptr, nullptr), DYNGRID_ERR_NULL, "extents null");
  agreed(dyngrid_field_create("a", 'd', 3, good, nullptr, nullptr, bad ? nullptr : &a), DYNGRID_ERR_NULL, "null");
  agreed(create(3, bad ? other : good, nullptr, nullptr), DYNGRID_ERR_MISMATCH, "extents that differ");
  says("extents[2] differs between the processes of the grid (3 .. 4)");
  agreed(create(bad ? 2 : 3, good, nullptr, nullptr), DYNGRID_ERR_MISMATCH, "dims that differ");
  says("dims differs");
  agreed(create(3, good, bad ? cyclic : nullptr, nullptr), DYNGRID_ERR_MISMATCH, "blocks that differ");
  agreed(create(3, good, nullptr, bad ? fits : nullptr), DYNGRID_ERR_MISMATCH, "process_dims that differ");
  agreed(create(3, good, nullptr, differs), DYNGRID_ERR_ARGUMENT, "process_dims that do not give the grid");
  says("field \"a\" on a 2x2 grid");
  agreed(create(3, good, nullptr, bad ? differs : fits), DYNGRID_ERR_MISMATCH, "on one process");
  agreed(create(3, good, nullptr, whole), DYNGRID_ERR_ARGUMENT, "nothing may be cut");
  agreed(create(3, huge, nullptr, nullptr), DYNGRID_ERR_ARGUMENT, "more rows than fit");
  says("65536 x 65536");
  agreed(create(3, long_list, cyclic, along), DYNGRID_ERR_ARGUMENT, "a list that is too long");
  says("expected at most 16777216");

  expect(create(3, good, nullptr, fits) == 0, "create");
  agreed(dyngrid_matrix_reblock(a, 1, 1), DYNGRID_ERR_UNSUPPORTED, "reblock");
  agreed(dyngrid_matrix_set_rule(a, dyngrid_block_rule, nullptr), DYNGRID_ERR_UNSUPPORTED, "set_rule");
  int pivots[40], info = 0;
  agreed(dyngrid_lu(a, 0, pivots, &info), DYNGRID_ERR_UNSUPPORTED, "LU");
  dyngrid_phase* phase = nullptr;
  expect(dyngrid_phase_create("phase", &phase) == 0, "phase");
  agreed(dyngrid_phase_uses(phase, a, DYNGRID_READ), DYNGRID_ERR_UNSUPPORTED, "phase_uses");
  std::int64_t first = 0, last = 0;
  agreed(dyngrid_field_range(a, 3, 0, &first, &last), DYNGRID_ERR_ARGUMENT, "dim");
  agreed(dyngrid_field_range(a, 0, -1, &first, &last), DYNGRID_ERR_ARGUMENT, "k");
  agreed(dyngrid_field_range(nullptr, 0, 0, &first, &last), DYNGRID_ERR_NULL, "null");
  dyngrid_matrix* plain = follow::create("plain", 'd', 4, 4, 2, 2);
  agreed(dyngrid_field_shape(plain, nullptr, nullptr, nullptr), DYNGRID_ERR_ARGUMENT, "not a field");
  // a grid on which process_dims do not fit: refused, the old one stays
  fill(a, {3, {6, 5, 4}, {}, {1, 2, 2}, 3});
  expect(dyngrid_request(1, 4) == 0 && dyngrid_resize_point() < 0 && dyngrid_was_refused(), "refused");
  says("field \"a\" on a 1x4 grid: gridmap: dimensions of extents 4 cannot be cut over 4 processes by process_dims 2");
  check("a", a, {3, {6, 5, 4}, {}, {1, 2, 2}, 3});
  expect(dyngrid_matrix_free(&a) == 0 && dyngrid_matrix_free(&plain) == 0, "free");

  // as a matrix of any split of its dimensions
  const Form of_cells{3, {6, 5, 4}, {}, {1, 2, 2}, 3}, of_pairs{2, {30, 4}, {4, 1}, {}, 0};
  dyngrid_matrix *cells = make("cells", of_cells), *pairs = make("pairs", of_pairs),
                 *turned = follow::create("turned", 'd', 20, 6, 3, 2);
  fill(cells, of_cells);
  expect(dyngrid_copy(cells, pairs) == 0, "to a field of the same rows");
  const double one = 1, zero = 0;
  expect(dyngrid_add('T', &one, cells, &zero, turned) == 0, "to a matrix, transposed");
  dyngrid::for_each<double>(turned, [&](std::int64_t j, std::int64_t i, const double& y) {
    expect(y == value(of_cells, i + 6 * j), "the transposed");
  });
  fill(cells, {3, {6, 5, 4}, {}, {1, 2, 2}, 0});
  expect(dyngrid_copy(pairs, cells) == 0, "and back");
  check("cells", cells, of_cells);
  agreed(dyngrid_copy(turned, pairs), DYNGRID_ERR_SHAPE, "another shape");
  says("\"turned\" is 20 x 6 and \"pairs\" 30 x 4, expected 20 x 6");
  agreed(dyngrid_add('T', &one, turned, &zero, pairs), DYNGRID_ERR_SHAPE, "another shape");
  says("\"pairs\" 30 x 4, expected 6 x 20");
  for (dyngrid_matrix** gone : {&cells, &pairs, &turned}) expect(dyngrid_matrix_free(gone) == 0, "free");

  // C++: by the view and by for_each
  const std::vector<double> speeds(4, 1.0);
  dyngrid::Field<double> u("u", {5, 6, 7}, {0, 2}, {1}), v("v", {5, 6, 7}, {0, 1, 1}, {1});
  expect(u.parts() == std::vector<int>{1, 2, 2} && u.coordinates() == std::vector<int>{0, rank / 2, rank % 2}, "parts");
  std::int64_t count = 0;
  dyngrid::for_each(u, [&](const auto& i, double& x) {
    x = static_cast<double>(i[0] + 10 * i[1] + 100 * i[2]);
    ++count;
  });
  // wrong on one process: the same error on all, and the reason there
  const auto refused_everywhere = [&](const char* words, const auto& make) {
    try {
      make();
      expect(false, words);
    } catch (const dyngrid::Error& error) {
      expect(error.status() == DYNGRID_ERR_NULL, error.what());
      expect(!bad || std::strstr(error.what(), words) != nullptr, error.what());
    }
  };
  refused_everywhere("expected no more blocks or process_dims than extents", [&] {
    dyngrid::Field<double>("w", {5, 6}, std::vector<std::int64_t>(bad ? 3 : 2, 1));
  });
  refused_everywhere("expected one for each of 3 dimensions", [&] {
    dyngrid::Borders<double>(u, std::vector<int>(bad ? 2 : 3, 1), {1, 1, 1});
  });
  refused_everywhere("rule",
                     [&] { dyngrid::Matrix<double>("w", 5, 6, bad ? dyngrid::Rule() : dyngrid::by_speed(speeds)); });
  const auto x = u.view();
  expect(count == x.extents[0] * x.extents[1] * x.extents[2] && x.extents[0] == 5, "all elements of mine");
  const std::vector<dyngrid::Range> rows = u.ranges(1), planes = u.ranges(2);
  expect(x(3, 0, 0) == static_cast<double>(3 + 10 * rows[0].first + 100 * planes[0].first), "the view");
  dyngrid::copy(u, v);
  dyngrid::for_each(v, [&](const auto& i, double& y) {
    expect(y == static_cast<double>(i[0] + 10 * i[1] + 100 * i[2]), "the copy");
  });
  if (rank == 0) std::printf("all right\n");
  return 0;
}

/// A field of other extents that has as many rows and columns as a matrix is not filled from a checkpoint.
int other_extents(const char* file) {
  expect(dyngrid_init() == 0, "init");
  const std::int64_t there[] = {8, 8, 16}, here[] = {4, 16, 16};
  dyngrid_matrix* u = nullptr;
  expect(dyngrid_field_create("u", 'i', 3, there, nullptr, nullptr, &u) == 0, "create");
  expect(dyngrid_checkpoint(file) == 0 && dyngrid_matrix_free(&u) == 0, "checkpoint");
  expect(dyngrid_field_create("u", 'i', 3, here, nullptr, nullptr, &u) == 0, "create");
  auto* x = static_cast<int*>(dyngrid_local(u));
  *x = 5;
  follow::agreed(dyngrid_restore(file), DYNGRID_ERR_MISMATCH, "a field of other extents");
  expect(std::strstr(dyngrid_last_message(), "8 x 8 x 16 there and 4 x 16 x 16") != nullptr, dyngrid_last_message());
  expect(x == dyngrid_local(u) && *x == 5, "nothing was changed");
  return dyngrid_finalize();
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string kind = argc > 1 ? argv[1] : "";
  int status = -1;
  if (kind == "sequence") status = sequence(argc, argv);
  if (kind == "write") status = follow::write_all(argv[2], one_of_each);
  if (kind == "extents") status = other_extents(argv[2]);
  if (kind == "read") status = follow::read_all(argv[2], one_of_each, [](std::size_t k) { return k % 2 == 0; });
  if (argc > 7) {
    sparse_columns = std::atoll(argv[6]);
    others.back().n = std::atoll(argv[7]);
  }
  if (kind == "random")
    status = at_random(static_cast<std::uint32_t>(std::atoi(argv[2])), std::atoi(argv[3]), std::atoi(argv[4]),
                       argc > 5 ? argv[5] : nullptr);
  if (kind == "statuses") status = statuses() || dyngrid_finalize();
  expect(status == 0, "dyngrid_finalize");
  MPI_Finalize();
  return 0;
}
