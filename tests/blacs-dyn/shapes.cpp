// SPDX-License-Identifier: BSD-3-Clause
// shapes sequence GRID...: a matrix of each shape (DYNGRID_ON_*) beside an ordinary one through these grids, reblocked
// on the way, every element and every descriptor on each grid, routines of ScaLAPACK in the contexts of the shapes.
// shapes write FILE and shapes read FILE: a checkpoint, and a restart from it; four of the matrices not made there.
// shapes random SEED COUNT MOST [FILE]: sequences of changes drawn at random, with copies between random pairs, on
// grids of at most MOST processes; with FILE through checkpoints, too.
// shapes statuses: arguments that are wrong on one process or on all are the same error on all.
// What is expected is counted here element by element, from the definition of the block-cyclic distribution.
#include <cmath>
#include <cstring>
#include <random>

#include "../../apps/common/scalapack.h"
#include "base/mpi/blacs.hpp"
#include "dyngrid.hpp"
#include "dyngrid/halo.h"
#include "follow.hpp"
#include "forms.hpp"

extern "C" {
void pdnrm2_(const int*, double*, const double*, const int*, const int*, const int*, const int*);
double pdlange_(const char*, const int*, const int*, const double*, const int*, const int*, const int*, double*);
}

namespace {

using follow::agreed;
using follow::below;
using follow::expect;

constexpr int on_part = -1; ///< dyngrid_matrix_create_on_part

/// A matrix as it should be; shared, so that new processes have it.
struct Form {
  int shape = DYNGRID_ON_GRID, nprow = 1, npcol = 1; // of a part
  std::int64_t m = 0, n = 0, mb = 1, nb = 1;
  int salt = 0;
};

dyngrid_matrix* make(const std::string& name, const Form& f) {
  dyngrid_matrix* a = nullptr;
  const int status = f.shape == on_part
                         ? dyngrid_matrix_create_on_part(name.c_str(), 'd', f.m, f.n, f.mb, f.nb, f.nprow, f.npcol, &a)
                         : dyngrid_matrix_create_on(name.c_str(), 'd', f.m, f.n, f.mb, f.nb, f.shape, &a);
  expect(status == 0, "create " + name);
  return a;
}

/// The processes of a shape on the current grid, and this one's place among them; p = -1: it is not among them.
struct Arrangement {
  int nprow = 0, npcol = 0, p = -1, q = -1;
};

Arrangement arrangement_of(const Form& f) {
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  const int number = myrow * npcol + mycol, size = nprow * npcol;
  switch (f.shape) {
  case DYNGRID_ON_ROW:
    return {1, size, 0, number};
  case DYNGRID_ON_COLUMN:
    return {size, 1, number, 0};
  case DYNGRID_ON_ALL:
    return {1, 1, 0, 0};
  case DYNGRID_ON_EACH_ROW:
    return {1, npcol, 0, mycol};
  case DYNGRID_ON_EACH_COLUMN:
    return {nprow, 1, myrow, 0};
  case DYNGRID_ON_GRID:
    return {nprow, npcol, myrow, mycol};
  default: {
    const Form one{on_part, 1, 1};
    const Form& part = f.shape == on_part ? f : one;
    Arrangement a{std::min(part.nprow, nprow), std::min(part.npcol, npcol), myrow, mycol};
    if (myrow >= a.nprow || mycol >= a.npcol) a.p = a.q = -1;
    return a;
  }
  }
}

std::vector<std::int64_t> mine_of(std::int64_t n, std::int64_t nb, int nprocs, int p) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < n && p >= 0; ++i)
    if (i / nb % nprocs == p) indices.push_back(i);
  return indices;
}

std::vector<std::int64_t> ranges(const dyngrid_matrix* a, char axis) {
  std::vector<std::int64_t> indices;
  std::int64_t i = 0, end = 0;
  for (std::int64_t k = 0; dyngrid_my_range(a, axis, k, &i, &end) == 1; ++k)
    for (; i < end; ++i) indices.push_back(i);
  return indices;
}

double value(const Form& f, std::int64_t i, std::int64_t j) {
  return static_cast<double>(i * f.n + j + 100000 * f.salt);
}

void fill(dyngrid_matrix* a, const Form& f) {
  dyngrid::for_each<double>(a, [&](std::int64_t i, std::int64_t j, double& x) { x = value(f, i, j); });
}

void check(const std::string& name, const dyngrid_matrix* a, const Form& f) {
  expect(a != nullptr, name + " is there");
  const Arrangement at = arrangement_of(f);
  const auto rows = mine_of(f.m, f.mb, at.nprow, at.p), cols = mine_of(f.n, f.nb, at.npcol, at.q);
  std::int64_t m_loc = 0, n_loc = 0, lld = 0;
  expect(dyngrid_matrix_shape(a, &m_loc, &n_loc, &lld) == 0, "shape");
  const bool has_part = at.p >= 0;
  expect(m_loc == static_cast<std::int64_t>(rows.size()) && n_loc == static_cast<std::int64_t>(cols.size()),
         name + ": local size");
  if (has_part) expect(ranges(a, 'R') == rows && ranges(a, 'C') == cols, name + ": dyngrid_my_range");
  expect(has_part || (ranges(a, 'R').empty() && ranges(a, 'C').empty()), name + ": no range without a part");
  const auto* x = static_cast<const double*>(dyngrid_local(a));
  for (std::size_t j = 0; j < cols.size(); ++j)
    for (std::size_t i = 0; i < rows.size(); ++i)
      expect(x[static_cast<std::int64_t>(i) + static_cast<std::int64_t>(j) * lld] == value(f, rows[i], cols[j]),
             name + ": element " + std::to_string(rows[i]) + ", " + std::to_string(cols[j]));
  const int* d = dyngrid_desc(a);
  expect(d[0] == 1 && d[2] == f.m && d[3] == f.n && d[4] == f.mb && d[5] == f.nb && d[6] == 0 && d[7] == 0 &&
             d[8] == lld && lld == std::max<std::int64_t>(1, m_loc),
         name + ": descriptor");
  if (!has_part || f.shape == DYNGRID_ON_ALL) {
    expect(d[1] == -1, name + ": no context");
    return;
  }
  Arrangement is;
  Cblacs_gridinfo(d[1], &is.nprow, &is.npcol, &is.p, &is.q);
  expect(is.nprow == at.nprow && is.npcol == at.npcol && is.p == at.p && is.q == at.q, name + ": context");
}

// ---- one of each

const std::vector<std::pair<std::string, Form>> one_of_each{
    {"grid", {DYNGRID_ON_GRID, 1, 1, 23, 17, 3, 2, 1}},
    {"row", {DYNGRID_ON_ROW, 1, 1, 24, 24, 5, 2, 2}},
    {"column", {DYNGRID_ON_COLUMN, 1, 1, 49, 1, 3, 1, 3}},
    {"first", {DYNGRID_ON_FIRST, 1, 1, 7, 5, 2, 2, 4}},
    {"all", {DYNGRID_ON_ALL, 1, 1, 11, 13, 4, 4, 5}},
    {"part", {on_part, 2, 2, 19, 21, 2, 3, 6}},
    {"narrow", {on_part, 1, 3, 8, 40, 8, 1, 7}},
    {"empty", {DYNGRID_ON_ROW, 1, 1, 0, 9, 1, 1, 8}},
    {"all empty", {DYNGRID_ON_ALL, 1, 1, 6, 0, 1, 1, 9}},
    {"each row", {DYNGRID_ON_EACH_ROW, 1, 1, 2, 37, 1, 3, 10}},
    {"each column", {DYNGRID_ON_EACH_COLUMN, 1, 1, 41, 3, 4, 2, 11}}};

/// Norms and a product with known results, in the contexts of a row, a column, a part of the processes and a copy.
void use_scalapack(dyngrid_matrix* row, dyngrid_matrix* column, dyngrid_matrix* part, dyngrid_matrix* copies,
                   const Form& f, const Form& v) {
  const int one_i = 1, n = static_cast<int>(f.n), length = static_cast<int>(v.m);
  const double one = 1, zero = 0;
  dyngrid::for_each<double>(column, [&](std::int64_t, std::int64_t, double& x) { x = 1; });
  double norm = -1;
  pdnrm2_(&length, &norm, static_cast<double*>(dyngrid_local(column)), &one_i, &one_i, dyngrid_desc(column), &one_i);
  expect(norm == 7, "pdnrm2 of 49 ones");
  dyngrid::for_each<double>(copies, [&](std::int64_t, std::int64_t j, double& x) { x = j == 1 ? 1 : 5; });
  const int two_i = 2, of_copies = 36;
  pdnrm2_(&of_copies, &norm, static_cast<double*>(dyngrid_local(copies)), &one_i, &two_i, dyngrid_desc(copies), &one_i);
  expect(norm == 6, "pdnrm2 of 36 ones in each copy");
  // a cyclic shift: its square has the single ones two columns on
  dyngrid::for_each<double>(row, [&](std::int64_t i, std::int64_t j, double& x) { x = j == (i + 1) % n; });
  dyngrid_matrix* product = nullptr;
  expect(dyngrid_matrix_create_on("product", 'd', n, n, f.mb, f.nb, DYNGRID_ON_ROW, &product) == 0, "create product");
  expect(dyngrid_desc(product)[1] == dyngrid_desc(row)[1], "matrices of one shape have one context");
  auto* x = static_cast<double*>(dyngrid_local(row));
  pdgemm_("N", "N", &n, &n, &n, &one, x, &one_i, &one_i, dyngrid_desc(row), x, &one_i, &one_i, dyngrid_desc(row), &zero,
          static_cast<double*>(dyngrid_local(product)), &one_i, &one_i, dyngrid_desc(product));
  dyngrid::for_each<double>(product, [&](std::int64_t i, std::int64_t j, double& y) {
    expect(y == (j == (i + 2) % n ? 1.0 : 0.0), "the product on one row of processes");
  });
  expect(dyngrid_matrix_free(&product) == 0, "free");
  dyngrid::for_each<double>(part, [](std::int64_t, std::int64_t j, double& y) { y = j == 5 ? -2 : 1; });
  if (const int* d = dyngrid_desc(part); d[1] >= 0) {
    std::vector<double> work(static_cast<std::size_t>(d[2] + d[3]));
    const double largest =
        pdlange_("1", &d[2], &d[3], static_cast<double*>(dyngrid_local(part)), &one_i, &one_i, d, work.data());
    expect(largest == 2.0 * d[2], "pdlange of a part of the grid");
  }
}

int sequence(int argc, char** argv) {
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  Form forms[16];
  std::vector<dyngrid_matrix*> a;
  for (std::size_t k = 0; k < one_of_each.size(); ++k) {
    forms[k] = one_of_each[k].second;
    if (one_of_each[k].first != "narrow" || !dyngrid_is_newcomer()) // a new process need not declare it
      a.push_back(make(one_of_each[k].first, forms[k]));
    else
      a.push_back(nullptr);
  }
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0 && dyngrid_share("forms", forms, sizeof forms) == 0, "share");
  if (!dyngrid_is_newcomer())
    for (std::size_t k = 0; k < a.size(); ++k) fill(a[k], forms[k]);
  const bool stays = follow::on_each_grid([&] {
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (!a[k]) a[k] = dyngrid_matrix_find(one_of_each[k].first.c_str());
      check(one_of_each[k].first, a[k], forms[k]);
    }
    const auto reblock = [&](std::size_t k, std::int64_t mb, std::int64_t nb) {
      forms[k].mb = mb;
      forms[k].nb = nb;
      expect(dyngrid_matrix_reblock(a[k], mb, nb) >= 0, "reblock");
    };
    const std::size_t k = static_cast<std::size_t>(step) % a.size();
    reblock(k, 1 + step % 4, 2 + step % 3);
    expect(dyngrid_relayout() == DYNGRID_SAME, "relayout");
    use_scalapack(a[1], a[2], a[5], a[10], forms[1], forms[2]);
    for (const std::size_t used : {1, 2, 5, 10}) fill(a[used], forms[used]);
    for (std::size_t l = 0; l < a.size(); ++l) check(one_of_each[l].first, a[l], forms[l]);
    return follow::request_next(argc - 2, argv + 2, step);
  });
  if (!stays) return dyngrid_finalize();
  if (dyngrid_is_first()) std::printf("all right after %d grids\n", step + 1);
  return dyngrid_finalize();
}

// ---- random

using State = follow::Sequences<Form, 10>;

void begin_sequence(State& state, std::mt19937& random) {
  const bool are_vectors = below(random, 3) == 0;
  const std::int64_t m = below(random, 50), n = are_vectors ? 1 : below(random, 30); // of all: they are copied
  state.begin([&](int k, Form& f) {
    f.shape = k < 7 ? k : k == 7 ? on_part : static_cast<int>(below(random, 8)) - 1; // one of each, and two more
    f.nprow = 1 + static_cast<int>(below(random, 4));
    f.npcol = 1 + static_cast<int>(below(random, 4));
    f.m = m;
    f.n = n;
    f.mb = 1 + below(random, 9);
    f.nb = 1 + below(random, 9);
    f.salt = static_cast<int>(below(random, 1000));
  });
}

void take_step(State& state, std::mt19937& random, int most, const char* file) {
  if (state.steps_left-- == 0) begin_sequence(state, random);
  const int k = static_cast<int>(below(random, state.made)), l = static_cast<int>(below(random, state.made));
  Form& f = state.forms[k];
  switch (below(random, file ? 8 : 7)) {
  case 0:
  case 1:
  case 2:
    follow::request_any(random, most);
    ++state.changes;
    break;
  case 3:
    f.mb = 1 + below(random, 9);
    f.nb = 1 + below(random, 9);
    expect(dyngrid_matrix_reblock(state.matrix(k), f.mb, f.nb) >= 0, "reblock");
    ++state.relayouts;
    break;
  case 4:
  case 5:
    expect(dyngrid_copy(state.matrix(k), state.matrix(l)) == 0, "copy");
    state.forms[l].salt = f.salt;
    ++state.copies;
    break;
  case 6:
    f.salt = static_cast<int>(below(random, 1000));
    fill(state.matrix(k), f);
    expect(dyngrid_relayout() == DYNGRID_SAME, "relayout");
    break;
  default:
    follow::restore_all(state, file, [&] {
      for (int i = 0; i < state.made; ++i) fill(state.matrix(i), Form{0, 1, 1, 0, 0, 1, 1, 7});
    });
  }
}

void check_all(const State& state) {
  for (int k = 0; k < state.made; ++k) {
    const Form& f = state.forms[k];
    check("seed " + std::to_string(state.seed) + ", " + state.name(k) + " of shape " + std::to_string(f.shape),
          state.matrix(k), f);
  }
}

int at_random(std::uint32_t seed, int count, int most, const char* file) {
  expect(dyngrid_init_grid(1, 2) == 0, "dyngrid_init_grid");
  State state;
  state.seed = seed;
  expect(dyngrid_share("state", &state, sizeof state) == 0, "share");
  const bool stays = follow::at_random(
      state, count, [&] { check_all(state); }, [&](std::mt19937& random) { take_step(state, random, most, file); });
  return stays ? follow::all_right(state) : dyngrid_finalize();
}

// ---- statuses

int statuses() {
  dyngrid_matrix* a = nullptr;
  expect(dyngrid_matrix_create_on("a", 'd', 4, 4, 1, 1, DYNGRID_ON_ROW, &a) == DYNGRID_ERR_STATE,
         "before dyngrid_init");
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  const int rank = follow::world_rank();
  const bool bad = rank == 2;
  const auto on = [&](int shape) { return dyngrid_matrix_create_on("a", 'd', 9, 8, 2, 2, shape, &a); };
  const auto on_part_of = [&](int p, int q) { return dyngrid_matrix_create_on_part("a", 'd', 9, 8, 2, 2, p, q, &a); };
  for (const int shape : {-1, 7, 1 << 30}) {
    agreed(on(shape), DYNGRID_ERR_ARGUMENT, "an unknown shape");
    agreed(on(bad ? shape : DYNGRID_ON_ROW), DYNGRID_ERR_ARGUMENT, "an unknown shape on one process");
  }
  agreed(on(bad ? DYNGRID_ON_COLUMN : DYNGRID_ON_ROW), DYNGRID_ERR_MISMATCH, "shapes that differ");
  expect(std::strstr(dyngrid_last_message(), "shape differs") != nullptr, "the message names the shape");
  agreed(on(bad ? DYNGRID_ON_ALL : DYNGRID_ON_GRID), DYNGRID_ERR_MISMATCH, "shapes that differ");
  agreed(on(bad ? DYNGRID_ON_EACH_ROW : DYNGRID_ON_EACH_COLUMN), DYNGRID_ERR_MISMATCH, "shapes that differ");
  agreed(on_part_of(2, bad ? 3 : 2), DYNGRID_ERR_MISMATCH, "parts that differ");
  for (const int least : {0, -1}) {
    agreed(on_part_of(least, 2), DYNGRID_ERR_ARGUMENT, "a part of no rows");
    agreed(on_part_of(1, bad ? least : 1), DYNGRID_ERR_ARGUMENT, "a part of no columns on one process");
  }
  agreed(dyngrid_matrix_create_on("a", 'd', 9, 8, bad ? 0 : 2, 2, DYNGRID_ON_ALL, &a), DYNGRID_ERR_ARGUMENT, "mb = 0");
  agreed(dyngrid_matrix_create_on("a", 'd', 9, 8, 2, 2, DYNGRID_ON_ALL, bad ? nullptr : &a), DYNGRID_ERR_NULL, "null");

  for (const int shape :
       {int{DYNGRID_ON_ROW}, int{DYNGRID_ON_ALL}, int{DYNGRID_ON_FIRST}, int{DYNGRID_ON_EACH_COLUMN}}) {
    expect(on(shape) == 0, "create");
    int pivots[9], info = 0;
    dyngrid_phase* phase = nullptr;
    agreed(dyngrid_lu(a, 0, pivots, &info), DYNGRID_ERR_UNSUPPORTED, "LU");
    expect(dyngrid_phase_create(("phase " + std::to_string(shape)).c_str(), &phase) == 0, "phase");
    agreed(dyngrid_phase_uses(phase, a, DYNGRID_READ), DYNGRID_ERR_UNSUPPORTED, "phase_uses");
    agreed(dyngrid_phase_layout(phase, a, 1, 1), DYNGRID_ERR_UNSUPPORTED, "phase_layout");
    expect(dyngrid_matrix_free(&a) == 0, "free");
  }

  // the copy of each process is its own
  dyngrid::Matrix<double> all("all", 8, 8, 2, 2, dyngrid::On::all), row("row", 8, 8, 8, 1, dyngrid::On::row),
      part("part", 8, 8, 2, 2, dyngrid::Part{1, 2});
  dyngrid::for_each(all, [&](auto, auto, double& x) { x = rank; });
  dyngrid::copy(all, row);
  dyngrid::for_each(row, [&](auto, auto j, double& x) { expect(x == static_cast<double>(j % 4), "its own copy"); });
  dyngrid::copy(row, all);
  dyngrid::for_each(all, [&](auto, auto j, double& x) { expect(x == static_cast<double>(j % 4), "all copies"); });
  dyngrid::copy(all, part);
  dyngrid::for_each(part, [&](auto, auto j, double& x) { expect(x == static_cast<double>(j % 4), "a part"); });
  expect(part.rows() == (rank < 2 ? 8 : 0) && part.columns() == (rank < 2 ? 4 : 0), "the part of each");

  // each process takes the copy that it has a part of
  const int p = rank / 2, q = rank % 2;
  dyngrid::Matrix<double> each_column("each column", 8, 3, 2, 2, dyngrid::On::each_column),
      each_row("each row", 8, 3, 2, 2, dyngrid::On::each_row), grid("grid", 8, 3, 1, 1);
  dyngrid::for_each(each_column, [&](auto, auto, double& x) { x = q; });
  dyngrid::copy(each_column, grid);
  dyngrid::for_each(grid, [&](auto, auto, double& x) { expect(x == q, "from its own column"); });
  dyngrid::for_each(each_row, [&](auto, auto, double& x) { x = p; });
  dyngrid::copy(each_row, each_column);
  dyngrid::for_each(each_column, [&](auto, auto, double& x) { expect(x == p, "from its own row"); });
  dyngrid::add(2, grid, 1, each_column);
  dyngrid::for_each(each_column,
                    [&](auto, auto j, double& x) { expect(x == p + (j % 2 == 0 ? 0 : 2), "added to each"); });
  const auto by_column = [](dyngrid::Axis axis, std::int64_t length, int nprow, int npcol) {
    const bool is_row = axis == dyngrid::Axis::rows;
    expect(nprow == 2 && npcol == (is_row ? 2 : 1), "the rule is asked for rows with 2 x 2, for columns with 2 x 1");
    return is_row ? std::vector<std::int64_t>{3, 5} : std::vector<std::int64_t>{length};
  };
  expect(each_column.set_rule(by_column) == dyngrid::Outcome::resized, "set_rule");
  dyngrid::for_each(each_column, [&](auto, auto j, double&) { expect(j < 3, "by a rule"); });
  expect(each_column.rows() == (p == 0 ? 3 : 5) && each_column.columns() == 3, "rows by the rule");

  // a rule is asked for the processes of the shape
  expect(row.set_rule([](dyngrid::Axis axis, std::int64_t length, int nprow, int npcol) {
    expect(nprow == 1 && npcol == 4, "the rule is asked with 1 x 4");
    return axis == dyngrid::Axis::rows ? std::vector<std::int64_t>{length} : std::vector<std::int64_t>{0, 5, 1, 2};
  }) == dyngrid::Outcome::resized,
         "set_rule");
  dyngrid::for_each(row, [&](auto, auto j, double& x) { expect(x == static_cast<double>(j % 4), "by a rule"); });
  const std::int64_t sizes[] = {0, 5, 1, 2};
  expect(row.rows() == 8 && row.columns() == sizes[rank], "columns by the rule");
  expect(row.set_rule([](dyngrid::Axis axis, std::int64_t length, int, int) {
    return axis == dyngrid::Axis::rows ? dyngrid::Owned{{length}, {0}} : dyngrid::Owned{{3, 2, 1, 2}, {3, 1, 3, 0}};
  }) == dyngrid::Outcome::resized,
         "set_rule with owners");
  dyngrid::for_each(row, [&](auto, auto j, double& x) { expect(x == static_cast<double>(j % 4), "by owners"); });
  const std::int64_t owned[] = {2, 2, 0, 4};
  expect(row.columns() == owned[rank], "columns by the owners");

  // borders of rows that lie on one column of processes
  dyngrid::Matrix<double> rows("rows", 12, 3, 3, 3, dyngrid::On::column);
  dyngrid::for_each(rows, [](auto i, auto j, double& x) { x = static_cast<double>(10 * i + j); });
  dyngrid_layout* layout = nullptr;
  dyngrid_halo* halo = nullptr;
  expect(dyngrid_layout_create(rows.desc(), 4, 1, nullptr, &layout) == 0 &&
             dyngrid_halo_create(dyngrid_comm(), layout, 1, DYNGRID_NEIGHBOURS_FOUR, 0, 0, sizeof(double), &halo) == 0,
         "a halo of rows");
  double framed[5 * 5] = {};
  expect(dyngrid_halo_to_ghosted(halo, rows.local(), rows.lld(), framed, 5) == 0 &&
             dyngrid_halo_exchange(halo, framed, 5) == 0,
         "exchange");
  for (int i = 0; i < 5; ++i) {
    const int i_glo = 3 * rank + i - 1;
    if (i_glo >= 0 && i_glo < 12) expect(framed[i + 2 * 5] == 10 * i_glo + 1, "a row of a neighbour");
  }
  expect(dyngrid_halo_destroy(&halo) == 0 && dyngrid_layout_destroy(&layout) == 0, "destroy");
  if (rank == 0) std::printf("all right\n");
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string kind = argc > 1 ? argv[1] : "";
  int status = -1;
  if (kind == "sequence") status = sequence(argc, argv);
  if (kind == "write") status = follow::write_all(argv[2], one_of_each);
  if (kind == "read")
    status =
        follow::read_all(argv[2], one_of_each, [](std::size_t k) { return k != 1 && k != 4 && k != 5 && k != 10; });
  if (kind == "random")
    status = at_random(static_cast<std::uint32_t>(std::atoi(argv[2])), std::atoi(argv[3]), std::atoi(argv[4]),
                       argc > 5 ? argv[5] : nullptr);
  if (kind == "statuses") status = statuses() || dyngrid_finalize();
  expect(status == 0, "dyngrid_finalize");
  MPI_Finalize();
  return 0;
}
