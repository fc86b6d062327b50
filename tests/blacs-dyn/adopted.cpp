// SPDX-License-Identifier: BSD-3-Clause
// Matrices in memory of the program's own (dyngrid_matrix_adopt). The allocator counts: every array is freed once, none
// while it counts.
// adopted moves FILE: all elements after every kind of change; FILE: for a checkpoint, "-": none.
// adopted refused FILE: the allocator of one process has no memory, in each kind of change.
// adopted restarted: with DYNGRID_RESTORE, after `moves FILE`, on another grid.
// adopted bad: arguments that do not fit, the same error on all processes.
// adopted phases: a cycle in two layouts, on processes that adopted the matrix and on one that did not.
// adopted new KIND: the new process has no memory (fails), has not adopted it (made), has an array already
// (given), or adopts what the others made (alone).
#include <algorithm>
#include <map>
#include <stdexcept>

#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#include "dyngrid/layout.h"
#include "dyngrid/phases.h"
#include "follow.hpp"

namespace {

using follow::expect;

constexpr int forty_two = 42;
constexpr int garbage = 0x5a;

/// Memory of the program for one matrix, and what its allocator was asked.
struct Pool {
  explicit Pool(std::size_t of_element) : element(of_element) {}
  const std::size_t element;
  std::map<void*, std::size_t> living; ///< bytes
  void* current = nullptr;             ///< what counts, as the calls say
  void* asked_for = nullptr;
  int asked = 0, committed = 0, abandoned = 0;
  bool has_memory = true;
  bool throws_at_end = false; ///< when it has freed an array

  /// No stretch of zeros, which pages that were given back have. No two elements in turn are zero in these tests.
  bool is_whole(void* array) const {
    const auto* const bytes = static_cast<const char*>(array);
    constexpr std::int64_t longest = 64;
    return std::search_n(bytes, bytes + living.at(array), longest, 0) == bytes + living.at(array);
  }
  void* add(std::size_t bytes) {
    void* const made = std::malloc(std::max<std::size_t>(1, bytes));
    std::memset(made, garbage, bytes);
    living[made] = bytes;
    return made;
  }
  void* get(std::size_t bytes, std::int64_t lld, std::int64_t columns) {
    expect(bytes == static_cast<std::size_t>(lld * columns) * element, "bytes of lld x columns elements");
    expect(asked_for == nullptr, "one new array at a time");
    ++asked;
    return has_memory ? asked_for = add(bytes) : nullptr;
  }
  void free(void* old) {
    const bool is_abandoned = old != nullptr && old == asked_for;
    expect(old == nullptr || living.count(old) == 1, "an array that lives is freed");
    expect(is_abandoned || old == current, "the array that counted is freed, or the one that was asked for");
    if (old && !is_abandoned) expect(is_whole(old), "no page of an old array is given back");
    if (old) std::memset(old, garbage, living[old]);
    living.erase(old);
    std::free(old);
    is_abandoned ? ++abandoned : ++committed;
    if (!is_abandoned) current = asked_for;
    asked_for = nullptr;
    if (throws_at_end) throw std::runtime_error("of the program");
  }
  /// What the program knows is what dyngrid has, and there is nothing else.
  void check(const dyngrid_matrix* a, const std::string& what) const {
    expect(dyngrid_local(a) == current && !asked_for, what + ": the program has the address");
    const std::size_t count = current ? 1 : 0;
    expect(living.size() == count, what + ": " + std::to_string(living.size()) + " arrays live");
  }
};

void* allocate(void* data, void* old, std::size_t bytes, std::int64_t lld, std::int64_t columns) {
  auto& pool = *static_cast<Pool*>(data);
  if (bytes == 0) {
    pool.free(old);
    return nullptr;
  }
  expect(old == nullptr, "nothing is freed when memory is asked for");
  return pool.get(bytes, lld, columns);
}

std::int64_t local_count(int n, int nb, int at, int nprocs) {
  return gridmap::Axis::block_cyclic(n, nb, nprocs).local_size(at);
}

/// A matrix that the program allocated, with `extra` rows between the columns.
struct Own {
  Own(const char* as, char of_type, int m, int n, int mb, int nb, int extra)
      : name(as), type(of_type), desc{1, dyngrid_context(), m, n, mb, nb, 0, 0, 1}, pool(of_type == 'z'   ? 16
                                                                                         : of_type == 'd' ? 8
                                                                                                          : 4) {
    int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
    dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
    if (myrow < 0) return;
    const std::int64_t rows = local_count(m, mb, myrow, nprow), cols = local_count(n, nb, mycol, npcol);
    desc[8] = static_cast<int>(std::max<std::int64_t>(1, rows) + extra);
    const std::int64_t elements = rows * cols == 0 ? 0 : desc[8] * (cols - 1) + rows; // not a byte more than needed
    bytes = static_cast<std::size_t>(elements) * pool.element;
    if (bytes > 0) pool.current = pool.add(bytes);
  }
  int adopt() { return dyngrid_matrix_adopt(name, type, desc, pool.current, bytes, allocate, &pool, &a); }
  void check(const std::string& what) const {
    expect(follow::wrong(a, type, 3) == 0, what + ": the elements of " + name);
    pool.check(a, what + ": " + name);
  }

  const char* name;
  char type;
  int desc[9];
  Pool pool;
  std::size_t bytes = 0;
  dyngrid_matrix* a = nullptr;
};

int turn = 0;

/// A rule that changes its answer at each turn.
std::int64_t turning(void*, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes) {
  int context = forty_two;
  return turn % 2 == 0 ? follow::unequal(&context, axis, length, nprow, npcol, sizes)
                       : dyngrid_block_rule(nullptr, axis, length, nprow, npcol, sizes);
}

int moves(const std::string& file) {
  expect(dyngrid_init_grid(1, 2) == 0, "init");
  // of the second one most processes have no element
  Own large("large", 'd', 61, 47, 5, 4, 3), small("small", 'z', 3, 2, 8, 8, 0), whole("whole", 'i', 40, 9, 7, 2, 0);
  int step = 0;
  expect(large.adopt() == 0 && small.adopt() == 0 && whole.adopt() == 0, "adopt");
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  Own* const all[] = {&large, &small, &whole};
  const auto check = [&](const std::string& what) {
    for (const Own* one : all) one->check(what);
  };
  std::int64_t lld = 0;
  if (dyngrid_context() >= 0) { // of the first grid
    expect(large.pool.asked == 0 && large.pool.committed == 0, "nothing is asked for at the adoption");
    expect(dyngrid_local(large.a) == large.pool.current, "the array is the program's");
    expect(dyngrid_matrix_shape(large.a, nullptr, nullptr, &lld) == 0 && lld == large.desc[8], "its LLD_");
    expect(std::equal(large.desc, large.desc + 9, dyngrid_desc(large.a)), "its descriptor");
    for (Own* one : all) follow::fill(one->a, one->type, 3);
    check("adopted");
    dyngrid_matrix* copy = follow::create("copy", 'd', 61, 47, 8, 8);
    expect(dyngrid_copy(large.a, copy) == 0 && follow::wrong(copy, 'd', 3) == 0, "copied from it");
    follow::fill(large.a, 'd', -1);
    expect(dyngrid_copy(copy, large.a) == 0 && dyngrid_matrix_free(&copy) == 0, "copied into it");
    check("copied");
    if (file != "-") { // with rows between the columns
      expect(dyngrid_checkpoint(file.c_str()) == 0, "checkpoint");
      for (Own* one : all) follow::fill(one->a, one->type, -1);
      expect(dyngrid_restore(file.c_str()) == 0, "restore");
      check("restored at once");
    }
  }
  struct Step {
    const char* grid;
    bool has_others;
  };
  // grows, is parked, wakes and leaves
  const std::vector<Step> steps{{"1x2", false}, {"2x2", true}, {"1x1", false}, {"1x3", true},
                                {"2x2", false}, {"3x1", true}, {"2x1", false}, {"2x3", true}};
  while (step < static_cast<int>(steps.size())) {
    const Step& now = steps[static_cast<std::size_t>(step)];
    if (dyngrid_context() >= 0) ++step;
    if (dyngrid_context() >= 0) follow::request(now.grid);
    const int outcome = dyngrid_resize_point_at("change");
    if (outcome == DYNGRID_LEAVE) break;
    expect(outcome >= 0, std::string(now.grid) + ": " + dyngrid_last_message());
    const Step& done = steps[static_cast<std::size_t>(step - 1)];
    check(done.grid);
    if (step > 1) {
      std::int64_t rows = 0;
      expect(dyngrid_matrix_shape(large.a, &rows, nullptr, &lld) == 0 && lld == std::max<std::int64_t>(1, rows),
             "LLD_ after a change");
    }
    if (!done.has_others) continue;
    expect(dyngrid_matrix_reblock(large.a, 7, 3) == DYNGRID_RESIZED, "reblock");
    check("reblock");
    turn = 0;
    expect(dyngrid_matrix_set_rule(large.a, turning, nullptr) == DYNGRID_RESIZED, "rule");
    check("rule");
    turn = 1;
    expect(dyngrid_relayout() == DYNGRID_RESIZED, "relayout");
    check("relayout");
    expect(dyngrid_matrix_reblock(large.a, 5, 4) == DYNGRID_RESIZED, "back");
    check("back");
    if (file == "-") continue;
    expect(dyngrid_checkpoint(file.c_str()) == 0, "checkpoint");
    for (Own* one : all) follow::fill(one->a, one->type, -1);
    expect(dyngrid_restore(file.c_str()) == 0, "restore");
    check("restored");
  }
  for (Own* one : all) {
    expect((one->pool.current != nullptr) == (dyngrid_context() >= 0), "an array in the grid, none outside");
    expect(one->pool.abandoned == 0, "all that was asked for was used");
  }
  if (dyngrid_context() >= 0) {
    const auto* const x = static_cast<const double*>(large.pool.current);
    const std::vector<double> before(x, x + large.pool.living.begin()->second / 8);
    const int committed = large.pool.committed;
    expect(dyngrid_matrix_free(&large.a) == 0 && large.pool.committed == committed, "free does not free the array");
    expect(std::equal(before.begin(), before.end(), x), "its elements stay");
  }
  const int status = dyngrid_finalize();
  for (Own* one : all) {
    expect(one->pool.living.size() == (one->pool.current ? 1 : 0), "finalize leaves the array to the program");
    if (one->pool.current) std::free(one->pool.current);
  }
  return status;
}

/// The checkpoint of moves() into arrays of the program on another grid.
int restarted() {
  expect(dyngrid_init_grid(3, 1) == 0, "init");
  Own large("large", 'd', 61, 47, 5, 4, 1), whole("whole", 'i', 40, 9, 7, 2, 0);
  expect(large.adopt() == 0 && whole.adopt() == 0, "adopt");
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0 && dyngrid_is_restarted() == 1, "a run that goes on");
  expect(dyngrid_resize_point_at("change") == DYNGRID_RESIZED && step > 0, "restored");
  for (const Own* one : {&large, &whole}) {
    one->check("restored");
    expect(one->pool.asked == 1 && one->pool.committed == 1, "into new arrays of the program");
  }
  dyngrid_matrix* small = dyngrid_matrix_find("small"); // which this program has not made
  expect(small && follow::wrong(small, 'z', 3) == 0, "the library's");
  return dyngrid_finalize();
}

/// All processes have the error of the one that has no memory, and go on with what they had.
template <class Change> void no_memory(Own& own, int who, const std::string& what, Change&& change) {
  const std::string where = what + " without memory on " + std::to_string(who);
  const void* const before = own.pool.current;
  const int committed = own.pool.committed;
  own.pool.has_memory = dyngrid_process_id() != who;
  follow::agreed(change(), DYNGRID_ERR_MEMORY, where);
  const std::string text = dyngrid_last_message();
  expect(text.find("matrix \"own\"") < text.size() && text.find("the program's allocator") < text.size(), text);
  own.pool.has_memory = true;
  expect(own.pool.current == before && own.pool.committed == committed, where + ": the old array counts");
  own.check(where);
}

int refused(const std::string& file) {
  expect(dyngrid_init_grid(1, 2) == 0, "init");
  Own own("own", 'd', 61, 47, 5, 4, 2);
  expect(own.adopt() == 0, "adopt");
  dyngrid_matrix* other = nullptr; // of the library's memory
  expect(dyngrid_matrix_create("other", 's', 30, 30, 4, 4, &other) == 0, "create");
  if (dyngrid_is_newcomer()) {
    int outcome = DYNGRID_SAME;
    while ((outcome = dyngrid_resize_point_at("growth")) == DYNGRID_RESIZED) own.check("on a new process");
    expect(outcome == DYNGRID_LEAVE, "a new process leaves");
    return dyngrid_finalize();
  }
  follow::fill(own.a, 'd', 3);
  follow::fill(other, 's', 4);
  dyngrid_phase* phase = nullptr;
  expect(dyngrid_phase_create("phase", &phase) == 0 && dyngrid_phase_uses(phase, own.a, DYNGRID_READ) == 0 &&
             dyngrid_phase_layout(phase, own.a, 9, 9) == 0,
         "phase");
  for (int who = 0; who < 2; ++who) {
    no_memory(own, who, "reblock", [&] { return dyngrid_matrix_reblock(own.a, 3, 3); });
    no_memory(own, who, "rule", [&] { return dyngrid_matrix_set_rule(own.a, turning, nullptr); });
    no_memory(own, who, "another grid", [] { return dyngrid_resize(2, 1, DYNGRID_OPTIMAL); });
    no_memory(own, who, "a growth", [] {
      expect(dyngrid_request(1, 3) == 0, "request");
      return dyngrid_resize_point_at("growth");
    });
    no_memory(own, who, "a phase", [&] { return dyngrid_phase_begin(phase); });
    if (file == "-") continue;
    expect(dyngrid_checkpoint(file.c_str()) == 0, "checkpoint");
    no_memory(own, who, "restore", [&] { return dyngrid_restore(file.c_str()); });
  }
  expect(dyngrid_matrix_set_rule(own.a, turning, nullptr) == DYNGRID_RESIZED, "rule");
  turn = 1;
  for (int who = 0; who < 2; ++who) no_memory(own, who, "relayout", [] { return dyngrid_relayout(); });
  expect(own.pool.abandoned >= 5, "what was asked for was given back");
  expect(follow::wrong(other, 's', 4) == 0, "the other matrix");
  expect(dyngrid_matrix_reblock(own.a, 3, 3) == DYNGRID_RESIZED, "all goes on");
  own.check("at last");
  return dyngrid_finalize();
}

int bad() {
  expect(dyngrid_init_grid(2, 2) == 0, "init");
  const int me = dyngrid_process_id();
  /// An adoption that is wrong on process 2 only, or on all.
  const auto wrong = [&](int status, const std::string& what, const char* text, auto&& spoil, bool is_on_all = false) {
    Own own("own", 'd', 61, 47, 5, 4, 1);
    if (is_on_all || me == 2) spoil(own);
    follow::agreed(own.adopt(), status, what);
    expect(std::strstr(dyngrid_last_message(), text) != nullptr, what + ": " + dyngrid_last_message());
    expect(!own.a && own.pool.asked == 0 && own.pool.committed == 0, what + ": the array is the program's");
    std::free(own.pool.current);
  };
  wrong(DYNGRID_ERR_SHAPE, "a byte too few", "expected at least", [](Own& o) { --o.bytes; });
  wrong(DYNGRID_ERR_SHAPE, "no array", "at a null pointer", [](Own& o) {
    std::free(o.pool.current);
    o.pool.current = nullptr;
  });
  wrong(
      DYNGRID_ERR_SHAPE, "2^64 bytes and 32", "expected at least",
      [](Own& o) {
        o.type = 'z';
        o.desc[2] = o.desc[4] = 2;
        o.desc[3] = o.desc[5] = (1 << 30) + 1;
        o.desc[8] = 1 << 30;
      },
      true);
  wrong(DYNGRID_ERR_DESCRIPTOR, "another context", "CTXT_ is", [](Own& o) { o.desc[1] += 1; });
  wrong(DYNGRID_ERR_DESCRIPTOR, "LLD_ below the rows", "LLD_", [](Own& o) { o.desc[8] -= 2; });
  wrong(DYNGRID_ERR_DESCRIPTOR, "RSRC_", "RSRC_ and CSRC_", [](Own& o) { o.desc[6] = 1; });
  wrong(DYNGRID_ERR_DESCRIPTOR, "DTYPE_", "DTYPE_", [](Own& o) { o.desc[0] = 2; });
  wrong(DYNGRID_ERR_DESCRIPTOR, "MB_", "MB_", [](Own& o) { o.desc[4] = 0; });
  wrong(DYNGRID_ERR_MISMATCH, "another M_", "m differs", [](Own& o) {
    o.desc[2] = 60;
    o.desc[8] += 1;
  });
  wrong(DYNGRID_ERR_TYPE, "type", "type is 'x'", [](Own& o) { o.type = 'x'; });
  wrong(
      DYNGRID_ERR_ARGUMENT, "no name", "name", [](Own& o) { o.name = ""; }, true);
  Own own("own", 'd', 61, 47, 5, 4, 1);
  const auto with = [&](const int* desc, dyngrid_allocator allocator, dyngrid_matrix** handle) {
    return dyngrid_matrix_adopt("own", 'd', desc, own.pool.current, own.bytes, allocator, &own.pool, handle);
  };
  follow::agreed(with(me == 1 ? nullptr : own.desc, allocate, &own.a), DYNGRID_ERR_NULL, "no descriptor");
  follow::agreed(with(own.desc, me == 1 ? nullptr : allocate, &own.a), DYNGRID_ERR_NULL, "no allocator");
  follow::agreed(with(own.desc, allocate, me == 1 ? nullptr : &own.a), DYNGRID_ERR_NULL, "no place for the handle");
  follow::agreed(own.adopt(), DYNGRID_SUCCESS, "adopt");
  wrong(DYNGRID_ERR_ARGUMENT, "a name that is there", "already", [](Own&) {});
  follow::fill(own.a, 'd', 3);
  own.check("after all");
  own.pool.throws_at_end = true;
  follow::agreed(dyngrid_matrix_reblock(own.a, 3, 3), DYNGRID_RESIZED, "an allocator that throws when it has freed");
  own.check("after its exception");
  return dyngrid_finalize();
}

/// Two phases in two layouts. The program has one array of the matrix at any time. The fifth process wakes without
/// having adopted it, so that its array is the library's.
int phases() {
  expect(dyngrid_init_grid(2, 2) == 0, "init");
  Own own("own", 'd', 61, 47, 5, 4, 2);
  const bool has_adopted = dyngrid_context() >= 0;
  if (has_adopted) {
    expect(own.adopt() == 0, "adopt");
    follow::fill(own.a, 'd', 3);
  }
  dyngrid_phase* phase[2] = {};
  const auto declare = [&] {
    own.a = dyngrid_matrix_find("own");
    for (const int k : {0, 1})
      expect(dyngrid_phase_create(k == 0 ? "first" : "second", &phase[k]) == 0 &&
                 dyngrid_phase_uses(phase[k], own.a, DYNGRID_READ | (k == 0 ? DYNGRID_WRITE : 0)) == 0 &&
                 dyngrid_phase_layout(phase[k], own.a, 3 + 5 * k, 4) == 0,
             "phase");
  };
  if (has_adopted) declare();
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  const std::vector<const char*> grids{"2x2", "1x2", "1x5", "2x2", "5x1"};
  while (step < static_cast<int>(grids.size())) {
    if (dyngrid_context() >= 0) follow::request(grids[static_cast<std::size_t>(step++)]);
    if (dyngrid_resize_point_at("change") == DYNGRID_LEAVE) break;
    if (!phase[0]) declare();
    for (int cycle = 0; cycle < 6; ++cycle)
      for (dyngrid_phase* one : phase) {
        expect(dyngrid_phase_begin(one) == 0, "begin");
        expect(follow::wrong(own.a, 'd', 3) == 0, "the elements in a phase");
        if (has_adopted) own.check("in a phase");
        expect(dyngrid_phase_end(one) == 0, "end");
      }
    expect(dyngrid_phases_plan(5) == 0, "plan");
  }
  expect(has_adopted || own.pool.asked + own.pool.committed == 0, "what was not adopted is the library's");
  return dyngrid_finalize();
}

int joins(const std::string& kind) {
  expect(dyngrid_init_grid(1, 2) == 0, "init");
  Own own("own", 'd', 61, 47, 5, 4, 0);
  const bool is_new = dyngrid_is_newcomer() != 0;
  const auto create = [&] { return dyngrid_matrix_create("own", 'd', 61, 47, 5, 4, &own.a); };
  void* given = nullptr;
  if (is_new && kind == "given") given = own.pool.current = own.pool.add(own.bytes = 100);
  const bool is_made = kind == (is_new ? "made" : "alone");
  expect((is_made ? create() : own.adopt()) == 0, "adopt");
  own.pool.has_memory = !(is_new && kind == "fails");
  const bool is_refused = kind == "fails" || kind == "alone";
  if (!is_new) {
    follow::fill(own.a, 'd', 3);
    expect(dyngrid_request(1, 3) == 0, "request");
  }
  const int outcome = dyngrid_resize_point_at("change");
  if (is_new && is_refused) {
    expect(outcome == DYNGRID_LEAVE, "the new process leaves");
  } else if (is_refused) {
    expect(outcome == (kind == "fails" ? DYNGRID_ERR_MEMORY : DYNGRID_ERR_MISMATCH),
           std::to_string(outcome) + ": " + dyngrid_last_message());
  } else {
    expect(outcome == DYNGRID_RESIZED, dyngrid_last_message());
    expect(!given || own.pool.living.count(given) == 0, "what had no elements is freed");
  }
  if (outcome != DYNGRID_LEAVE) expect(follow::wrong(own.a, 'd', 3) == 0, "the elements");
  if (!is_made) own.pool.check(own.a, "at the end");
  return dyngrid_finalize();
}

} // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "", more = argc > 2 ? argv[2] : "-";
  return mode == "moves"       ? moves(more)
         : mode == "refused"   ? refused(more)
         : mode == "restarted" ? restarted()
         : mode == "phases"    ? phases()
         : mode == "new"       ? joins(more)
                               : bad();
}
