// SPDX-License-Identifier: BSD-3-Clause
// New layouts on the present grid.
// relayout sequence 2x3 1x4 ...: matrices of all types through other block sizes and rules, element by element, on each
// grid of a sequence, and back by dyngrid_pop.
// relayout statuses: an error on one process is the same error on all, and nothing was changed.
// relayout soak N [--strict]: N times, the cost for the first process.
// relayout checkpoint FILE.
// relayout cost [BATCHES CALLS]: with nothing to move, against MPI_Allreduce of 8 bytes.
#include <algorithm>
#include <array>
#include <fstream>

#include <dirent.h>

#include "base/mpi/blacs.hpp"
#include "dyngrid.hpp"
#include "figures.hpp"
#include "follow.hpp"

extern "C" {
void Cpdgemr2d(int, int, void*, int, int, int*, void*, int, int, int*, int);
void pdgeadd_(const char*, const int*, const int*, const double*, const double*, const int*, const int*, const int*,
              const double*, double*, const int*, const int*, const int*);
}

namespace {

using follow::agreed;
using follow::expect;
using follow::Figures;
using follow::figures;

constexpr int m = 37, n = 29;
constexpr std::array<std::array<std::int64_t, 2>, 5> blocks{{{1, 1}, {3, 5}, {64, 7}, {40, 30}, {2, 1}}};
constexpr std::array<char, 5> types{'s', 'd', 'c', 'z', 'i'};

int forty_two = 42;
int notices = 0;

struct Set {
  std::array<dyngrid_matrix*, 5> of{};
  Set() {
    for (std::size_t t = 0; t < types.size(); ++t)
      expect(dyngrid_matrix_create(std::string(1, types[t]).c_str(), types[t], m, n, 4, 3, &of[t]) == 0, "create");
  }
  void fill(int salt) const {
    for (std::size_t t = 0; t < types.size(); ++t) follow::fill(of[t], types[t], salt);
  }
  void check(int salt, const std::string& what) const {
    for (std::size_t t = 0; t < types.size(); ++t)
      expect(follow::wrong(of[t], types[t], salt) == 0, what + ", type " + types[t]);
  }
};

/// Two more communicators' worth of BLACS contexts of the program's own, which a relayout does not change.
struct OwnContext {
  int number = -1;
  OwnContext() {
    int nprow = 0, npcol = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    Cblacs_get(0, 0, &number);
    Cblacs_gridinit(&number, "C", 1, nprow * npcol);
  }
  ~OwnContext() { Cblacs_gridexit(number); }
};

/// Copies a to b by p?gemr2d over that context and to c by PBLAS, whose descriptors hold the grid's own.
void use_contexts(int context, const dyngrid_matrix* a, dyngrid_matrix* b, int salt) {
  follow::fill_as<double>(b, -1);
  Cpdgemr2d(m, n, dyngrid_local(a), 1, 1, const_cast<int*>(dyngrid_desc(a)), dyngrid_local(b), 1, 1,
            const_cast<int*>(dyngrid_desc(b)), context);
  expect(follow::wrong_as<double>(b, salt) == 0, "p?gemr2d over a context that was kept");
  const double one = 1, zero = 0;
  const int rows = m, cols = n, i1 = 1;
  expect(dyngrid_desc(a)[0] == 1, "a descriptor that ScaLAPACK takes");
  follow::fill_as<double>(b, -1);
  expect(dyngrid_matrix_reblock(b, dyngrid_desc(a)[4], dyngrid_desc(a)[5]) >= 0, "b as a");
  pdgeadd_("N", &rows, &cols, &one, static_cast<double*>(dyngrid_local(a)), &i1, &i1, dyngrid_desc(a), &zero,
           static_cast<double*>(dyngrid_local(b)), &i1, &i1, dyngrid_desc(b));
  expect(follow::wrong_as<double>(b, salt) == 0, "PBLAS on the grid's context, which was kept");
}

void one_grid(const Set& set, dyngrid_matrix* other, int salt) {
  const int context = dyngrid_context();
  const MPI_Comm comm = dyngrid_comm();
  const OwnContext own;
  set.check(salt, "followed");
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const auto [mb, nb] = blocks[k];
    for (std::size_t t = 0; t < types.size(); ++t) { // one after the other: the rest stays where it is
      const void* neighbour = dyngrid_local(set.of[(t + 1) % types.size()]);
      const int before = notices;
      expect(dyngrid_matrix_reblock(set.of[t], mb, nb) == DYNGRID_RESIZED, "reblock");
      expect(notices == before + 11, "before and after were called once each");
      expect(dyngrid_local(set.of[(t + 1) % types.size()]) == neighbour, "another matrix was not touched");
      const int* d = dyngrid_desc(set.of[t]);
      expect(d[0] == 1 && d[1] == context && d[4] == mb && d[5] == nb, "descriptor");
      expect(dyngrid_matrix_reblock(set.of[t], mb, nb) == DYNGRID_SAME && notices == before + 11, "nothing to move");
    }
    set.check(salt, "reblocked");
    expect(dyngrid_context() == context && dyngrid_comm() == comm, "context and communicator stay");
    if (k < 2) use_contexts(own.number, set.of[1], other, salt);
    expect(dyngrid_copy(set.of[1], other) == 0 && follow::wrong_as<double>(other, salt) == 0, "copy");
  }
  // one size by a rule, unequal ones, and a rule that changes its answers
  expect(dyngrid_matrix_set_rule(set.of[1], dyngrid_block_rule, nullptr) == DYNGRID_RESIZED, "block rule");
  use_contexts(own.number, set.of[1], other, salt);
  for (dyngrid_matrix* a : set.of)
    expect(dyngrid_matrix_set_rule(a, follow::unequal, &forty_two) == DYNGRID_RESIZED, "set_rule");
  set.check(salt, "by a rule");
  dyngrid_resize_report report;
  expect(dyngrid_last_resize(&report) == 0 && report.from_nprow == report.to_nprow && report.spawned == 0 &&
             report.moved_bytes + report.kept_bytes == std::int64_t{4} * m * n,
         "report of the last, of 32-bit integers");
  expect(dyngrid_relayout() == DYNGRID_SAME && dyngrid_relayout() == DYNGRID_SAME, "all lie so");
  for (dyngrid_matrix* a : set.of) expect(dyngrid_matrix_reblock(a, 4, 3) == DYNGRID_RESIZED, "back");
  expect(dyngrid_relayout() == DYNGRID_SAME, "blocks of one size have no rule to ask");
  set.check(salt, "back");
}

int sequence(int argc, char** argv) {
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  dyngrid_on_change([](void*) { notices += 1; }, [](void*) { notices += 10; }, &notices);
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  const Set set;
  // as it was made, on new processes too: the block sizes that the others have given it since are used
  dyngrid_matrix *ruled = nullptr, *changed = nullptr;
  dyngrid_matrix* other = follow::create("other", 'd', m, n, 5, 6);
  expect(!dyngrid_matrix_create_by("ruled", 'd', m, n, follow::unequal, &forty_two, &ruled), "create_by");
  expect(!dyngrid_matrix_create("changed", 'd', m, n, 5, 6, &changed), "create");
  bool is_new = dyngrid_is_newcomer() != 0;
  if (!is_new) {
    set.fill(7);
    follow::fill_as<double>(ruled, 8);
    follow::fill_as<double>(changed, 9);
  }
  expect(dyngrid_relayout() >= 0, "on a new process it does nothing");
  const bool stays = follow::on_each_grid([&] {
    one_grid(set, other, 7);
    expect(follow::wrong_as<double>(ruled, 8) == 0 && follow::wrong_as<double>(changed, 9) == 0, "the others");
    if (step == 0) expect(dyngrid_matrix_reblock(ruled, 2, 9) == DYNGRID_RESIZED, "no rule any more");
    expect(dyngrid_desc(ruled)[0] == 1 && dyngrid_desc(ruled)[4] == 2, "it has none on new processes either");
    expect(dyngrid_matrix_reblock(changed, 1 + step, 2 + step) == DYNGRID_RESIZED, "other blocks on each grid");
    return follow::request_next(argc - 2, argv + 2, step);
  });
  if (!stays) return dyngrid_finalize();
  if (dyngrid_depth() > 1) { // a growth is undone after a relayout
    for (dyngrid_matrix* a : set.of) expect(dyngrid_matrix_reblock(a, 2, 2) == DYNGRID_RESIZED, "reblock");
    const int outcome = dyngrid_pop();
    expect(outcome == DYNGRID_LEAVE || outcome == DYNGRID_RESIZED, "pop");
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
    expect(dyngrid_desc(set.of[0])[4] == 2, "the blocks stay");
    set.check(7, "undone");
  }
  return follow::all_right();
}

std::int64_t sizes_given = 3; ///< by the rule below; negative: it fails
std::int64_t as_told(void*, char, std::int64_t, int, int, std::int64_t* sizes) {
  if (sizes_given < 0) return -1;
  if (sizes) *sizes = sizes_given;
  return 1;
}

int statuses() {
  expect(dyngrid_relayout() == DYNGRID_ERR_STATE, "before dyngrid_init");
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  const int rank = follow::world_rank();
  const bool is_bad = rank == 2;
  dyngrid_matrix *told = nullptr, *gone = nullptr;
  dyngrid_matrix *a = follow::create("a", 'd', m, n, 4, 3), *b = follow::create("b", 'd', m, n, 4, 3);
  expect(!dyngrid_matrix_create_by("told", 'd', m, n, as_told, nullptr, &told), "create_by");
  expect(!dyngrid_matrix_create("gone", 'd', m, n, 4, 3, &gone), "create");
  dyngrid_matrix* const old = gone;
  expect(!dyngrid_matrix_free(&gone), "free");
  for (dyngrid_matrix* x : {a, b, told}) follow::fill_as<double>(x, 3);
  const auto untouched = [&](const std::string& what) {
    for (dyngrid_matrix* x : {a, b, told}) {
      const std::int64_t first = x == told ? 3 : 4;
      expect(dyngrid_desc(x)[4] == first && follow::wrong_as<double>(x, 3) == 0, what + ": nothing was changed");
    }
    sizes_given = 3;
    agreed(dyngrid_relayout(), DYNGRID_SAME, what + ": and nothing is to be done");
  };
  agreed(dyngrid_matrix_reblock(is_bad ? nullptr : a, 2, 2), DYNGRID_ERR_NULL, "null on one");
  untouched("null");
  agreed(dyngrid_matrix_reblock(is_bad ? old : a, 2, 2), DYNGRID_ERR_NOT_FOUND, "a freed one on one");
  untouched("freed");
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31}) {
    agreed(dyngrid_matrix_reblock(a, is_bad ? size : 2, 2), DYNGRID_ERR_ARGUMENT, "mb on one");
    agreed(dyngrid_matrix_reblock(a, 2, is_bad ? size : 2), DYNGRID_ERR_ARGUMENT, "nb on one");
    agreed(dyngrid_matrix_reblock(a, size, 2), DYNGRID_ERR_ARGUMENT, "mb on all");
    untouched("sizes");
  }
  agreed(dyngrid_matrix_reblock(a, is_bad ? 5 : 2, 2), DYNGRID_ERR_MISMATCH, "another mb on one");
  agreed(dyngrid_matrix_reblock(is_bad ? b : a, 2, 2), DYNGRID_ERR_MISMATCH, "another matrix on one");
  untouched("mismatch");
  agreed(dyngrid_matrix_set_rule(a, is_bad ? nullptr : as_told, nullptr), DYNGRID_ERR_NULL, "no rule on one");
  untouched("no rule");
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{5}}) {
    sizes_given = is_bad ? bad : 2;
    const int wanted = bad == 5 ? DYNGRID_ERR_MISMATCH : DYNGRID_ERR_ARGUMENT;
    agreed(dyngrid_relayout(), wanted, "a rule that fails or differs on one");
    untouched("rule");
    sizes_given = is_bad ? bad : 2;
    agreed(dyngrid_matrix_set_rule(a, as_told, nullptr), wanted, "the same for one matrix");
    untouched("rule of one");
  }
  const std::int64_t too_large = std::int64_t{1} << 31; // for a descriptor
  for (dyngrid_matrix* x : {a, told}) {
    sizes_given = too_large;
    agreed(x == a ? dyngrid_matrix_set_rule(a, as_told, nullptr) : dyngrid_relayout(), DYNGRID_ERR_ARGUMENT, "2^31");
    untouched("2^31");
  }
  sizes_given = too_large;
  agreed(dyngrid_resize(1, 4, DYNGRID_OPTIMAL), DYNGRID_ERR_ARGUMENT, "2^31 on the next grid");
  untouched("2^31 on the next grid");
  sizes_given = 2;
  agreed(dyngrid_resize(2, 2, DYNGRID_OPTIMAL), DYNGRID_RESIZED,
         "to the grid there is, with a rule that says otherwise");
  expect(dyngrid_desc(told)[4] == 2 && follow::wrong_as<double>(told, 3) == 0, "laid out anew");
  agreed(dyngrid_resize(2, 2, DYNGRID_OPTIMAL), DYNGRID_SAME, "to the grid there is");
  dyngrid_on_change([](void* data) { *static_cast<int*>(data) = dyngrid_relayout(); }, nullptr, &notices);
  agreed(dyngrid_matrix_reblock(a, 2, 2), DYNGRID_RESIZED, "with a routine that wants it too");
  agreed(notices, DYNGRID_ERR_STATE, "inside a change");
  return follow::all_right();
}

int soak(int count, bool is_strict) {
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  dyngrid_matrix *a = follow::create("a", 'd', 200, 120, 8, 8), *b = follow::create("b", 'd', 200, 120, 9, 7);
  follow::fill(a, 'd', 1);
  Figures first{};
  for (int k = 0; k < count; ++k) {
    if (k % 10 == 9)
      expect(dyngrid_matrix_set_rule(a, follow::unequal, &forty_two) == DYNGRID_RESIZED, "set_rule");
    else
      expect(dyngrid_matrix_reblock(a, 1 + k % 13, 1 + (k + 1) % 11) == DYNGRID_RESIZED, "reblock");
    expect(dyngrid_copy(a, b) == 0, "copy");
    expect(follow::wrong(a, 'd', 1) == 0 && follow::wrong(b, 'd', 1) == 0, "elements");
    if (k == 30) first = figures();
  }
  const Figures last = figures();
  if (dyngrid_is_first() != 0) std::printf("%d relayouts: %s\n", count, follow::in_words(first, last).c_str());
  if (is_strict) follow::expect_flat(first, last);
  return dyngrid_finalize();
}

/// Written with other blocks than the program makes; read back into the present ones.
int checkpoint(const char* file) {
  expect(dyngrid_init_grid(2, 3) == 0, "dyngrid_init_grid");
  const Set set;
  set.fill(5);
  for (dyngrid_matrix* a : set.of) expect(dyngrid_matrix_reblock(a, 7, 2) == DYNGRID_RESIZED, "reblock");
  expect(dyngrid_checkpoint(file) == 0, "checkpoint");
  set.fill(6);
  expect(dyngrid_matrix_reblock(set.of[0], 3, 3) == DYNGRID_RESIZED, "reblock");
  expect(dyngrid_matrix_set_rule(set.of[1], follow::unequal, &forty_two) == DYNGRID_RESIZED, "set_rule");
  expect(dyngrid_restore(file) == 0, "restore");
  set.check(5, "restored");
  expect(dyngrid_desc(set.of[0])[4] == 3 && dyngrid_desc(set.of[2])[4] == 7, "lying as before the restore");
  for (dyngrid_matrix* a : set.of) expect(dyngrid_matrix_reblock(a, 4, 3) == DYNGRID_RESIZED, "reblock");
  set.check(5, "reblocked after it");
  return follow::all_right();
}

int cost(int batches, int calls) {
  expect(dyngrid_init() == 0, "dyngrid_init");
  dyngrid_matrix *a = nullptr, *b = nullptr;
  expect(!dyngrid_matrix_create("a", 'd', 64, 64, 8, 8, &a) &&
             !dyngrid_matrix_create_by("b", 'd', 64, 64, follow::unequal, &forty_two, &b),
         "create");
  std::vector<double> ratio;
  for (int batch = -1; batch < batches; ++batch) { // the first one opens connections
    long long mine = batch, sum = 0;
    MPI_Barrier(dyngrid_comm());
    const double begun = MPI_Wtime();
    for (int i = 0; i < calls; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_MAX, dyngrid_comm());
    const double between = MPI_Wtime();
    for (int i = 0; i < calls; ++i) expect(dyngrid_relayout() == DYNGRID_SAME, "nothing to move");
    if (batch >= 0) ratio.push_back((MPI_Wtime() - between) / (between - begun));
  }
  std::sort(ratio.begin(), ratio.end());
  if (dyngrid_is_first() != 0)
    std::printf(
        "dyngrid_relayout with nothing to move takes %.2f times MPI_Allreduce of 8 bytes (median of %d; %.2f .. "
        "%.2f)\n",
        ratio[ratio.size() / 2], batches, ratio.front(), ratio.back());
  return dyngrid_finalize();
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  int status = -1;
  if (what == "sequence") status = sequence(argc, argv);
  if (what == "statuses") status = statuses();
  if (what == "soak") status = soak(number > 0 ? number : 1000, argc > 3 && !std::strcmp(argv[3], "--strict"));
  if (what == "checkpoint" && argc > 2) status = checkpoint(argv[2]);
  if (what == "cost") status = cost(number > 0 ? number : 21, argc > 3 ? std::atoi(argv[3]) : 500);
  expect(status == 0, "expected sequence GRIDS, statuses, soak N, checkpoint FILE or cost, and dyngrid_finalize");
  MPI_Finalize();
  return 0;
}
