// SPDX-License-Identifier: BSD-3-Clause
// on_change SPARE: an object of another library uses a duplicate of dyngrid_comm, with its part of the data, as a
// factorization of MUMPS or a matrix of PETSc does. dyngrid_on_change destroys it before each change, its content moves
// in a matrix, and builds it again after it. This covers growths and shrinks in which processes are spawned, leave,
// are parked and wake. SPARE processes of mpirun sleep at first.
#include <algorithm>
#include <set>

#include <unistd.h>

#include "dyngrid.hpp"
#include "follow.hpp"

namespace {

using follow::expect;

const int n = 40, nb = 3;
std::vector<std::string> order; ///< of the routines

/// A library without knowledge of dyngrid. Exists only between two changes.
struct Library {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<double> content;

  double sum() const {
    double mine = 0, all = 0;
    for (const double x : content) mine += x;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm); // hangs when one of its processes is gone
    return all;
  }
};

struct Solver {
  dyngrid_matrix* matrix = nullptr;
  Library library;
  int built = 0, taken_down = 0;

  std::size_t size() const {
    std::int64_t m_loc = 0, n_loc = 0;
    dyngrid_matrix_shape(matrix, &m_loc, &n_loc, nullptr);
    return static_cast<std::size_t>(m_loc * n_loc);
  }
  double* local() const { return static_cast<double*>(dyngrid_local(matrix)); }
  void build() {
    expect(library.comm == MPI_COMM_NULL, "built once");
    MPI_Comm_dup(dyngrid_comm(), &library.comm);
    library.content.assign(local(), local() + size());
    std::fill(local(), local() + size(), -1.0); // only the library has it now
    ++built;
  }
  void take_down() {
    expect(library.comm != MPI_COMM_NULL && library.content.size() == size(), "on the old grid");
    expect(library.sum() == n * n * (n * n - 1) / 2.0, "the library can still talk");
    int outcome = MPI_UNEQUAL;
    MPI_Comm_compare(library.comm, dyngrid_comm(), &outcome);
    expect(outcome == MPI_CONGRUENT, "dyngrid_comm is the old one");
    // a leading dimension of at least 1 is the number of rows: the local array has no gaps
    std::copy(library.content.begin(), library.content.end(), local());
    MPI_Comm_free(&library.comm);
    library.content.clear();
    ++taken_down;
  }
};

/// Numbers of the processes of the grid. Collective over it.
std::set<int> processes() {
  int size = 0, mine = getpid();
  MPI_Comm_size(dyngrid_comm(), &size);
  std::vector<int> all(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, dyngrid_comm());
  return {all.begin(), all.end()};
}

/// An exchange over a duplicate from an earlier grid works while all of that grid are in the present one. Otherwise it
/// is refused: no process waits.
struct Kept {
  MPI_Comm duplicate = MPI_COMM_NULL;
  dyngrid_executor* executor = nullptr;
  std::set<int> members;

  void make() {
    members = processes();
    MPI_Comm_dup(dyngrid_comm(), &duplicate);
    expect(!dyngrid_executor_create(duplicate, nullptr, &executor) && use() == DYNGRID_SUCCESS, "an executor");
  }
  int use() const { return dyngrid_execute(executor, 0, nullptr, nullptr); }
  int look(const std::set<int>& here) {
    if (!executor) return 0;
    const bool is_whole = std::includes(here.begin(), here.end(), members.begin(), members.end());
    expect(use() == (is_whole ? DYNGRID_SUCCESS : DYNGRID_ERR_STATE), "an exchange over a kept duplicate");
    dyngrid_executor* another = nullptr;
    expect(dyngrid_executor_create(duplicate, nullptr, &another) == (is_whole ? DYNGRID_SUCCESS : DYNGRID_ERR_STATE),
           "another executor over it");
    expect(!another || !dyngrid_executor_destroy(&another), "destroy");
    return is_whole ? 1 : 0;
  }
  void end() {
    if (executor) expect(!dyngrid_executor_destroy(&executor), "destroyed by each process for itself");
    if (duplicate != MPI_COMM_NULL) MPI_Comm_free(&duplicate);
  }
};

Solver solver;
Kept first_grid, second_grid; ///< of step 0 and 2
bool looks_inside = true;
dyngrid_matrix* freed_inside = nullptr; ///< by a routine that is called after it was laid out anew

void before(void* data) {
  order.push_back("first before");
  auto* a = static_cast<Solver*>(data);
  if (looks_inside) { // calls that would change the grid or the matrices are refused
    dyngrid_matrix* made = nullptr;
    int value = 0;
    expect(dyngrid_resize_point() == DYNGRID_ERR_STATE && dyngrid_resize(1, 1, 0) == DYNGRID_ERR_STATE &&
               dyngrid_pop() == DYNGRID_ERR_STATE,
           "no change inside");
    expect(dyngrid_finalize() == DYNGRID_ERR_STATE && dyngrid_restore("x") == DYNGRID_ERR_STATE, "no end inside");
    expect(dyngrid_matrix_create("b", 'd', 4, 4, 2, 2, &made) == DYNGRID_ERR_STATE && !made, "no matrix before");
    expect(dyngrid_share("b", &value, sizeof value) == DYNGRID_ERR_STATE &&
               dyngrid_unshare("step") == DYNGRID_ERR_STATE,
           "nothing shared before");
    made = a->matrix;
    expect(dyngrid_matrix_free(&made) == DYNGRID_ERR_STATE && made == a->matrix, "no matrix freed before");
  }
  a->take_down();
}
void after(void* data) {
  order.push_back("first after");
  expect(dyngrid_resize_point() == DYNGRID_ERR_STATE, "no change inside");
  static_cast<Solver*>(data)->build();
}

} // namespace

int main(int argc, char** argv) {
  const int spare = argc > 1 ? std::atoi(argv[1]) : 0;
  int step = 0, whole = 0;
  dyngrid::Application app(1, 2);
  expect(!dyngrid_matrix_create("a", 'd', n, n, nb, nb, &solver.matrix), "create");
  expect(!dyngrid_share("step", &step, sizeof step), "share");
  expect(!dyngrid_on_change(before, after, &solver), "on_change");
  app.on_change(
      [] {
        order.push_back("second before");
        throw 1;
      },
      [] {
        order.push_back("second after");
        throw std::runtime_error("on purpose");
      });
  app.on_change(nullptr, [] { order.push_back("third after"); });
  if (app.grid().is_mine()) {
    follow::fill(solver.matrix, 'd', 0);
    solver.build();
  }
  const std::vector<std::string> befores{"second before", "first before"},
      afters{"first after", "second after", "third after"};
  auto both = befores;
  both.insert(both.end(), afters.begin(), afters.end());

  const std::vector<std::pair<int, int>> shapes{{1, 2}, {1, 2}, {2, 2}, {1, 1}, {3, 2}, {2, 3}, {1, 2}, {2, 2}};
  if (app.grid().is_mine()) { // an impossible change is no exception, and no change
    app.request(1000, 1000);
    expect(app.resize_point_at("refused") == dyngrid::Outcome::same, "a refused growth");
    expect(app.last_message().find("1000000") != std::string::npos && dyngrid_was_refused(), app.last_message());
    expect(order.empty(), "no notice of what was refused");
    expect(app.resize_point_at("refused") == dyngrid::Outcome::same && app.last_message().empty(), "none was refused");
    bool was_thrown = false; // an error of the program
    try {
      app.resize_point_at(std::string(100, 'x'));
    } catch (const dyngrid::Error& error) {
      was_thrown = error.status() == DYNGRID_ERR_ARGUMENT && !dyngrid_was_refused() && app.last_message().empty();
    }
    expect(was_thrown, "a name that is too long is thrown");
  }
  for (;;) {
    const bool was_member = app.grid().is_mine();
    if (was_member) { // step 0: a request for the present grid; nothing happens, and no callback runs
      const auto to = shapes[static_cast<std::size_t>(step)];
      app.request(to.first, to.second);
      expect(app.pending(), "pending");
    }
    order.clear();
    const auto outcome = app.resize_point();
    if (outcome == dyngrid::Outcome::leave) {
      first_grid.look({});
      second_grid.look({});
      first_grid.end();
      second_grid.end();
      expect(solver.library.comm == MPI_COMM_NULL && solver.taken_down == solver.built, "taken down where it is left");
      expect(order == (was_member ? befores : std::vector<std::string>()),
             "called before it left, or never in the grid");
      break;
    }
    expect(!app.pending(), "nothing is pending after it");
    if (outcome == dyngrid::Outcome::same) {
      expect(order.empty(), "no notice without a change");
    } else {
      expect(order == (was_member ? both : afters), "the order of notices, of those that slept in between too");
    }
    const auto want = shapes[static_cast<std::size_t>(step)];
    expect(app.grid().nprow == want.first && app.grid().npcol == want.second, "grid");
    expect(solver.library.sum() == n * n * (n * n - 1) / 2.0, "the library's data");
    if (step == 0) first_grid.make();
    if (step == 2) second_grid.make();
    const std::set<int> here = processes();
    whole += first_grid.look(here) + second_grid.look(here);
    if (step + 1 == static_cast<int>(shapes.size())) break;
    ++step;
    looks_inside = step < 3;
  }
  if (app.grid().is_mine()) {
    if (app.grid().myrow == 0 && app.grid().mycol == 0)
      std::printf("on_change with %d spare: built %d times, %d times all of an earlier grid\n", spare, solver.built,
                  whole);
    first_grid.end();
    second_grid.end();
    // a refused change calls no callback
    order.clear();
    expect(dyngrid_resize(0, 1, 0) == DYNGRID_ERR_ARGUMENT && order.empty(), "no notice of what is refused");
    // forgotten
    std::copy(solver.library.content.begin(), solver.library.content.end(), solver.local());
    MPI_Comm_free(&solver.library.comm);
    expect(!dyngrid_on_change(nullptr, nullptr, &solver), "forget");
    // two are forgotten inside, before their turn: one before the change, one after it
    dyngrid_matrix* b = nullptr;
    expect(!dyngrid_matrix_create("b", 'd', n, n, nb, nb, &b), "create");
    const auto is_forgotten = [](void*) { expect(false, "a routine that was forgotten inside"); };
    int early = 0, late = 0;
    expect(!dyngrid_on_change(is_forgotten, is_forgotten, &early), "on_change");
    expect(!dyngrid_on_change([](void* other) { expect(!dyngrid_on_change(nullptr, nullptr, other), "forget inside"); },
                              nullptr, &early),
           "on_change");
    expect(!dyngrid_on_change(
               nullptr, [](void* other) { expect(!dyngrid_on_change(nullptr, nullptr, other), "late"); }, &late) &&
               !dyngrid_on_change(nullptr, is_forgotten, &late),
           "on_change");
    expect(dyngrid_matrix_reblock(b, nb + 1, nb + 1) == DYNGRID_RESIZED, "reblock");
    expect(dyngrid_on_change(nullptr, nullptr, &early) == DYNGRID_ERR_NOT_FOUND &&
               dyngrid_on_change(nullptr, nullptr, &late) == DYNGRID_ERR_NOT_FOUND,
           "both are forgotten");
    // the matrix that is laid out anew is freed inside
    expect(!dyngrid_matrix_create("freed", 'd', n, n, nb, nb, &freed_inside), "create");
    expect(!dyngrid_on_change(
               nullptr, [](void*) { expect(!dyngrid_matrix_free(&freed_inside), "freed inside"); }, &freed_inside),
           "on_change");
    expect(dyngrid_matrix_reblock(freed_inside, nb + 1, nb + 1) == DYNGRID_RESIZED && !freed_inside, "reblock");
    expect(!dyngrid_on_change(nullptr, nullptr, &freed_inside), "forget");
  }
  app.finalize();
  return 0;
}
